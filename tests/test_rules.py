"""Every rule: what trips it, what nearly does, and what is said of it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import hostile
import pytest
from conftest import Ran

import inspector
from inspector.auditing.catalogue import all_rules
from inspector.auditing.run import Audit, audit
from inspector.report.audit import handbook

Run = Callable[..., Ran]
PACKAGE = Path(inspector.__file__).parent


def codes(result: Audit) -> set[str]:
    return {finding.rule for model in result.checkpoints for finding in model.findings}


def test_every_rule_has_a_case() -> None:
    """A rule without a fixture is no rule."""
    assert hostile.CASES.keys() == all_rules().keys()


#: Rules that point at what is left where something else was changed: the index of a shard that is gone, the weights
#: without a configuration, one of two that disagree; and those that an option trips.
ELSEWHERE = frozenset(
    (
        "chat-template", "checksum", "dtype", "file-name", "folder-for-file", "lone-shard", "missing-blob", "missing-config", "missing-shard", "no-access", "no-config",
        "no-index", "no-weights", "packing-declared", "unfinished-download", "unknown-checksum", "unindexed-file", "unindexed-tensors",
    )
)  # fmt: skip


def points_at_the_change(code: str, paths: Iterable[str | None], change: hostile.Change) -> bool:
    """Whether the findings of a rule are about files that the change touched, where they are about a file."""
    before, after = hostile.sound(), hostile.sound()
    change(after)
    changed = [path for path in before.keys() | after.keys() if before.get(path) != after.get(path)]
    return code in ELSEWHERE or all(
        path is None or any(each == path or each.endswith("/" + path) for each in changed) for path in paths
    )


@pytest.mark.parametrize("code", sorted(hostile.CASES))
def test_trips(code: str, tmp_path: Path, inspect: Run) -> None:
    """The change that a rule is about is found under its code, in the file that was changed."""
    change = hostile.CASES[code].trips
    found = told(inspect, change, hostile.CASES[code].options, tmp_path)
    assert code in found
    assert points_at_the_change(code, found[code], change)


@pytest.mark.parametrize("code", sorted(hostile.CASES))
def test_near_miss(code: str, tmp_path: Path, inspect: Run) -> None:
    """The same done rightly is not found, and is not the sound model as it was."""
    before, after = hostile.sound(), hostile.sound()
    hostile.CASES[code].misses(after)
    assert before != after
    assert code not in told(inspect, hostile.CASES[code].misses, hostile.CASES[code].options, tmp_path)


def told(
    inspect: Run, change: hostile.Change, options: tuple[str, ...], folder: Path
) -> Mapping[str, Sequence[str | None]]:
    """Code of what `inspect audit` finds with a case's options → the files that it is about."""
    hostile.make(change, folder)
    arguments = [each if "*" not in each else next(folder.glob(each.removeprefix("{}/"))) for each in options]
    ran = inspect("audit", *(folder if each == "{}" else each for each in arguments), "--json")
    found: dict[str, list[str | None]] = {}
    for finding in (finding for model in ran.json["checkpoints"] for finding in model["findings"]):
        found.setdefault(finding["rule"], []).append(finding["path"])
    return found


@pytest.mark.parametrize(("code", "change"), hostile.MORE, ids=[f"{n}-{c}" for n, (c, _) in enumerate(hostile.MORE)])
def test_further_ways(code: str, change: hostile.Change, tmp_path: Path) -> None:
    """Other forms of the same damage are found under the same code, in the file that was changed."""
    result = audit([hostile.make(change, tmp_path)])
    found = [each for model in result.checkpoints for each in model.findings if each.rule == code]
    assert found
    assert points_at_the_change(code, [each.path for each in found], change)


def test_the_sound_model_is_sound(tmp_path: Path) -> None:
    """Not a word is said about the model that all cases start from."""
    assert codes(audit([hostile.make(hostile.nothing, tmp_path)])) == set()


@pytest.mark.parametrize("name", sorted(hostile.UNUSUAL))
def test_the_unusual_is_sound(name: str, tmp_path: Path) -> None:
    """No error and no warning on what is sound and seldom seen."""
    found = audit([hostile.make(hostile.UNUSUAL[name], tmp_path)])
    assert [each for model in found.checkpoints for each in model.findings if each.severity != "info"] == []


def test_severities_are_kept(tmp_path: Path) -> None:
    """No finding is graver than its rule says it can be."""
    order = ["error", "warning", "info"]
    for number, (_, change) in enumerate(hostile.MORE):
        for model in audit([hostile.make(change, tmp_path / str(number))]).checkpoints:
            for finding in model.findings:
                assert order.index(finding.severity) >= order.index(all_rules()[finding.rule].severity), finding


def test_every_code_in_the_source_has_a_rule() -> None:
    """Whatever a reader, the selection or the bridge reports is documented as a rule."""
    known = all_rules().keys()
    for path in set(PACKAGE.rglob("*.py")) - set((PACKAGE / "sizing").rglob("*.py")):  # no audit asks what fits
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and len(node.args) >= 3:
                code, severity = node.args[:2]
                made = isinstance(severity, ast.Constant) and severity.value in ("error", "warning", "info")
                if made and isinstance(code, ast.Constant) and isinstance(code.value, str):
                    assert code.value in known, f"{path.name}: {code.value}"


@pytest.mark.parametrize("code", sorted(all_rules()))
def test_rules_are_documented(code: str) -> None:
    """A title that is one sentence on one line, and a paragraph that says why and what to do."""
    rule = all_rules()[code]
    assert re.fullmatch(r"[A-Z`].{10,110}\.", rule.title)
    assert len(rule.documentation.split("\n\n")) >= 2
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", code)


def test_the_handbook_is_current() -> None:
    """docs/rules.md is what `tools/write_rules.py` makes of the docstrings."""
    assert (Path(__file__).parents[1] / "docs" / "rules.md").read_text() == handbook()
