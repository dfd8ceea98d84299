"""What `check.py` found, as files: the package's coverage, and fixtures for tests without torch."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cases
import records
import table_text

from inspector.architectures import family_of, model_types
from inspector.architectures.prediction import predict
from inspector.architectures.store import FOLDER, store
from inspector.architectures.table import Include
from inspector.errors import ConfigError
from inspector.model import Config

if TYPE_CHECKING:
    from check import Verdict

ROOT = Path(__file__).parent.parent.parent


def coverage(table: Mapping[str, list[Verdict]]) -> None:
    """The share of records that are exact, at the default and changed, and of tensors that have a role.

    Model types that were not checked keep their line.
    """
    lines: dict[str, tuple[int | None, ...]] = {t: tuple(each) for t, each in store().find("made", "coverage").items()}
    for model_type, verdicts in sorted(table.items()):
        default = [v for v in verdicts if v.variant == "default"]
        drawn = [v for v in verdicts if _DRAWN.fullmatch(v.variant)]
        changed = [v for v in verdicts if v.variant != "default" and v not in drawn]
        keyed = sum(v.keyed for v in verdicts), sum(v.tensors for v in verdicts)
        lines[model_type] = (_percent(keyed), *(_percent(_exact(some)) for some in (default, changed, drawn)))
    for path in sorted(FOLDER.glob("families/*.json")):
        _cover(path, lines)


def _cover(path: Path, lines: Mapping[str, tuple[int | None, ...]]) -> None:
    """Write into a table which of its types are not wholly covered, and which Transformers does not have."""
    before = path.read_text()
    types = json.loads(before)["types"]
    partly = {t: lines[t] for t in types if lines.get(t, (100,) * 4) != (100,) * 4}
    after = table_text.put(before, "coverage", partly)
    after = table_text.put(after, "outside", [t for t in types if t not in lines])
    if after != before:
        path.write_text(after)


def _exact(verdicts: Iterable[Verdict]) -> tuple[int, int]:
    found = list(verdicts)
    return sum(v.exact for v in found), len(found)


def _percent(pair: tuple[int, int]) -> int | None:
    return 100 * pair[0] // pair[1] if pair[1] else None


#: Records of a type that tests run on, the first that are exact.
_WANTED = ("default", "p2", "p3", "x3", "x2", "h1", "h2")
#: Variants of `build.py --seed`.
_DRAWN = re.compile(r"h\d")
#: Cases after a type's first are kept where they are no longer than this, in characters.
_SHORT = 6000
#: A default model of more tensors than this is left to `check.py`.
_MOST_TENSORS = 1500


def fixtures(truths: Iterable[Path], table: Mapping[str, list[Verdict]]) -> None:
    """What models hold: a few configurations of each type, with names and shapes."""
    for model_type, verdicts in sorted(table.items()):
        found = [_case(truths, verdict) for verdict in _chosen(verdicts)]
        _write_cases(model_type, [case for at, case in enumerate(found) if not at or len(cases.text(case)) < _SHORT])


def _chosen(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """One exact verdict of each wanted variant, the smallest first."""
    chosen: dict[str, Verdict] = {}
    for verdict in verdicts:
        kind = verdict.variant.split("_")[0]
        small = verdict.tensors <= _MOST_TENSORS
        if verdict.exact and verdict.agree and verdict.unique and small and kind in _WANTED:
            chosen.setdefault(kind, verdict)
    return sorted(chosen.values(), key=lambda verdict: verdict.tensors)


def _case(truths: Iterable[Path], verdict: Verdict) -> cases.Case:
    name = f"{verdict.model_type}__{verdict.cls}__{verdict.variant}.json.gz"
    record = records.read(next(truth / name for truth in truths if (truth / name).exists()))
    config = pruned(record.config)
    config = config if _suffices(config, record.shapes) else record.config
    return cases.Case(f"Transformers, {verdict.cls}", config, dict(record.shapes))


def _write_cases(model_type: str, found: list[cases.Case]) -> None:
    """The cases of a type in the file of its table, in the place of those that were there."""
    path = cases.FOLDER / f"{model_types()[model_type]}.txt"
    others = [
        case for case in (cases.load(path) if path.exists() else []) if case.config.get("model_type") != model_type
    ]
    path.write_text("\n".join(map(cases.text, [*others, *found])))


def _suffices(config: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]]) -> bool:
    """Whether a pruned configuration still predicts the same."""
    try:
        prediction = predict(Config(config, "config.json"))
    except ConfigError:
        return False
    return {row.name_of(key): row.shape for row in prediction.expected for key in row.keys()} == shapes


def pruned(config: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that some expression of the family mentions, and those that tell families."""
    family = family_of(config)
    named = repr([family.rows, family.derived, family.fields]) if family else ""
    scopes = {row.scope for row in family.rows if isinstance(row, Include)} if family else set()
    always = {"model_type", "architectures", "per_layer_config", *scopes}
    kept: dict[str, Any] = {}
    for key, value in config.items():
        if key == "id2label":
            kept[key] = {str(n): "" for n in range(len(value))} if value and "num_labels" in named else value
        elif isinstance(value, Mapping) and "model_type" in value and key in scopes:
            kept[key] = pruned(value)
        elif key in always or key in named:
            kept[key] = value
    if "num_labels" not in named:
        kept.pop("id2label", None)
    return kept
