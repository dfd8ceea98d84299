"""One type's whole table: its includes and rows, its defaults and the rules for absent fields."""

from __future__ import annotations

import dataclasses
import pickle
import re
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from inspector.architectures import expansion, family_of, scope
from inspector.architectures.naming import by_table
from inspector.architectures.table import Family, Include, Row, nested_values
from inspector.model import Config
from zoo.derive_includes import Includer
from zoo.derive_rows import Tabler
from zoo.records import paths_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from zoo.records import Record


@dataclass
class Draft:
    """The results for one model type."""

    model_type: str
    family: Family
    missed: list[str] = field(default_factory=list)  # patterns without an explanation
    seconds: float = 0.0


def derive(model_type: str, found: list[Record], raw: Mapping[str, Any], families: Mapping[str, Family]) -> Draft:
    """One type's table."""
    started = time.monotonic()
    deriver = Tabler(model_type, found, raw)
    includer = Includer(deriver, families)
    includes = includer.find()
    rows = deriver.rows(includer.skip)
    default = next((r for r in found if r.variant == "default" and r.cls == deriver.main), found[0])
    rows = [_without_empty(deriver, row) for row in rows]
    entries: tuple[Row | Include, ...] = (*includes, *rows)
    defaults, derived = _defaults(deriver, entries, default, raw)
    family = Family(
        name=model_type,
        types={model_type: {k: raw[k] for k in sorted(derived) if raw.get(k) is not None}},
        rows=entries,
        prefix=deriver.prefix,
        prefixes=deriver.prefixes,
        classes=deriver.classes,
        head=deriver.heads[deriver.main],
        defaults=defaults,
        derived=derived,
        fields=_aliases(default, entries, derived),
    )
    return Draft(model_type, family, deriver.missed, time.monotonic() - started)


_EMPTY_OR = re.compile(r"\b(\w+) if \1 is not None else ([^,]+)|([^,]+?) if (\w+) is None else \4(?=,|$)")


def _without_empty(deriver: Tabler, row: Row) -> Row:
    """`n_inner if n_inner is not None else 4 * n_embd` becomes the rule for an empty `n_inner`."""

    def replaced(match: re.Match[str]) -> str:
        name, rule = (match[1], match[2]) if match[1] else (match[4], match[3].strip())
        known = deriver.derived.setdefault(name, rule)
        return name if known == rule else match[0]

    shape = _EMPTY_OR.sub(replaced, row.shape)
    return row._replace(shape=shape) if shape != row.shape else row


def texts_of(row: Row | Include) -> list[str]:
    """Every expression of a row."""
    if isinstance(row, Include):
        return []
    bounds = [bound for _, bound in row.indexes]
    return [t for t in (row.shape, row.when, row.tied, row.bias, row.active, row.stacked, *bounds) if t]


def used_fields(entries: Sequence[Row | Include], derived: Mapping[str, str]) -> set[str]:
    """Fields that the expressions mention, by dotted path."""
    found: set[str] = set()
    for entry in entries:
        for text in texts_of(entry):
            found |= paths_of(text)
    pending = list(found)
    while pending:
        for path in paths_of(derived.get(pending.pop(), "0")) - found - {"for", "range", "layer"}:
            found.add(path)
            pending.append(path)
    return found


def _defaults(
    deriver: Tabler, entries: Sequence[Row | Include], default: Record, raw: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Values of absent fields, and the rules for fields that follow from others."""
    used = used_fields(entries, deriver.derived)
    derived = {key: rule for key, rule in deriver.derived.items() if key in used and "." not in key}
    values: dict[str, Any] = {}
    pending = sorted(used)
    for path in pending:  # a list's rule may need further fields
        if path in derived or path == "num_labels" or path not in default.fields:
            continue
        value = raw.get(path)
        if value is None and isinstance(default.fields[path], list) and "." not in path:
            rule = deriver.list_rule(path)
            if rule:
                derived[path] = rule
                pending += sorted(paths_of(rule) - {"for", "range", "layer", *pending})
                continue
        value = default.fields[path] if value is None else value
        if value is not None and not isinstance(value, (int, float, str, bool, list, tuple)):
            continue
        *outer, last = path.split(".")
        here = values
        for word in outer:
            here = here.setdefault(word, {})
        here[last] = list(value) if isinstance(value, tuple) else value
    return values, derived


def _aliases(record: Record, entries: Sequence[Row | Include], derived: Mapping[str, str]) -> dict[str, str]:
    """Common field names → the type's own, as its configuration class maps them."""
    used = used_fields(entries, derived)
    own = record.attribute_map.get("", {})
    return {common: name for common, name in own.items() if name in used and common not in used}


def raw_defaults(model_type: str) -> dict[str, Any]:
    """The values that a configuration class declares, before it computes others from them."""

    from transformers import CONFIG_MAPPING

    def of(cls: Any) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if dataclasses.is_dataclass(cls):
            for each in dataclasses.fields(cls):
                if each.default is not dataclasses.MISSING:
                    found[each.name] = each.default
                elif each.default_factory is not dataclasses.MISSING:
                    found[each.name] = each.default_factory()
        return found

    try:
        cls = CONFIG_MAPPING[model_type]
    except KeyError:
        return {}
    found = of(cls)
    for part, inner in (getattr(cls, "sub_configs", None) or {}).items():
        found.update({f"{part}.{key}": value for key, value in of(inner).items()})
    return {key: list(value) if isinstance(value, tuple) else value for key, value in found.items()}


def load_drafts(folder: Path, only: set[str] | None = None) -> dict[str, Family]:
    """The families of all drafts, or of some model types and their parts, by model type."""
    if only is None:
        return {path.stem: pickle.loads(path.read_bytes())["family"] for path in folder.glob("*.pickle")}
    found: dict[str, Family] = {}
    pending = list(only)
    while pending:
        model_type = pending.pop()
        path = folder / f"{model_type}.pickle"
        if model_type not in found and path.exists():
            found[model_type] = pickle.loads(path.read_bytes())["family"]
            pending += [row.default_type for row in found[model_type].rows if isinstance(row, Include)]
    return found


def look_up_in(families: Mapping[str, Family]) -> None:
    """Use these families, by model type, before the package's."""

    def found(values: Mapping[str, Any]) -> Family | None:
        return families.get(str(values.get("model_type"))) or family_of(values)

    def included(include: Include, values: Mapping[str, Any]) -> tuple[Family | None, Mapping[str, Any]]:
        nested = nested_values(include, values)
        return found(nested), nested

    # Each module imports the functions by name.
    for home, name, own in (
        (Config, "find_family", found),
        (scope, "family_of", found),
        (expansion, "family_of", found),
        (by_table, "included", included),
    ):
        setattr(home, name, own)
