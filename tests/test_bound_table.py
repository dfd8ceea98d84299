"""The table of bounds is complete, and each bound that an audit may reach is reported when it is lowered."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import bounds_table
import hostile
import pytest
from every import every

import inspector
from inspector.auditing import catalogue
from inspector.auditing.readers import templates

TABLE = bounds_table.table()
TRIPS = {name: row for name, row in TABLE.items() if "trip" in row}


def test_every_bound_is_in_the_table() -> None:
    """No bound is missing from `fixtures/bounds.jsonl`, and each one there is in the code."""
    assert {bound.name for bound in bounds_table.bounds()} == TABLE.keys()


def test_each_bound_is_described() -> None:
    """Each says what it limits, and what happens there: a rule's finding, or one of eight words."""
    words = {*bounds_table.SAID, *catalogue.all_rules()}
    assert not [bound.name for bound in bounds_table.bounds() if not TABLE[bound.name].get("what", bound.comment)]
    assert not {name: row["met"] for name, row in TABLE.items() if row["met"] not in words}


def holders(name: str) -> Iterator[str]:
    """The modules that have a bound: its own, and those that import it by name."""
    home, _, own = f"inspector.{name}".rpartition(".")
    yield f"{home}.{own}"
    for module, loaded in list(sys.modules.items()):
        if module.startswith("inspector.") and module != home and own in vars(loaded):
            source = Path(loaded.__file__ or "").read_text("utf-8")
            if re.search(rf"from {re.escape(home)} import [^\n]*\b{own}\b", source):
                yield f"{module}.{own}"


def reported(folder: Path) -> set[tuple[str, str]]:
    """Rule and message of each finding, or of the error if that is all there is."""
    templates.judge.cache_clear()  # results for a template that was judged under other bounds
    try:
        models = inspector.audit([folder]).checkpoints
    except inspector.InspectorError as error:
        return {("refused", str(error))}
    return {(each.rule, each.message) for model in models for each in model.findings}


@every("name", list(TRIPS), parts=4)
@pytest.mark.gate
def test_a_bound_that_is_met_is_reported(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once a bound is lowered, the audit of a folder has a further finding."""
    row = TRIPS[name]
    case = hostile.CASES[row["trip"].removeprefix("miss:")]
    folder = hostile.make(case.misses if row["trip"].startswith("miss:") else case.trips, tmp_path / "m")
    before = reported(folder)
    for holder in holders(name):
        monkeypatch.setattr(holder, row["low"])
    new = reported(folder) - before
    assert any(rule == row.get("rule", row["met"]) for rule, _ in new), new
    assert not any("internal error" in message for _, message in new)
