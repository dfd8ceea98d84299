"""Every rule: what triggers it, what nearly does, its finding in every form, and what other commands make of it.

Each case of the hostile corpus is made once and audited once; `inspect` here is the command.
"""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, get_args

import hostile
import pytest
import rule_words
import safetensors
import sarif_om
import sarif_schema
from conftest import Ran, snapshot
from every import every
from rule_words import Case
from test_damage import clear

import inspector
from inspector.auditing import data
from inspector.auditing.catalogue import all_rules
from inspector.auditing.run import Audit, audit
from inspector.model.codes import Code
from inspector.report import audit as report
from inspector.report import sarif

Run = Callable[..., Ran]
SEVERITIES = ["error", "warning", "info"]
CASES = rule_words.cases()
EXPECTED = rule_words.expected()


def test_every_rule_has_a_case() -> None:
    """Each rule has a case, and the findings of each case are on record."""
    assert hostile.CASES.keys() == all_rules().keys()
    assert [*EXPECTED] == [case.name for case in CASES if case.code not in rule_words.ELSEWHERE]


#: Severity → what a loader does that earns it (auditing/data/seen.json).
EARNED = {
    "error": {"fails", "runs", "spoils"},
    "warning": {"changes", "fails"},
}


def test_a_severity_is_earned() -> None:
    """Each error and warning names a loader and its release that were tried, and what it does."""
    for rule in all_rules().values():
        if rule.severity in EARNED:
            whats = {each.partition(": ")[0] for each in rule.seen}
            assert whats & EARNED[rule.severity], rule.code
        for each in rule.seen:
            assert re.search(r"\d", each.partition(": ")[2]), each
    named = [code for loaders in list(data.table("seen").values())[1:] for codes in loaders.values() for code in codes]
    assert set(named) <= all_rules().keys()


#: Rules that point at a consequence of the change: the index of a missing shard, the weights
#: without a configuration, one of two that disagree; and those that an option triggers.
ELSEWHERE = frozenset(
    (
        "chat-template", "checksum", "dtype", "file-name", "folder-for-file", "lone-shard", "missing-blob", "missing-config", "missing-shard", "no-access",
        "no-index", "no-weights", "packing-declared", "unfinished-download", "unknown-checksum", "unindexed-file", "unindexed-tensors",
    )
)  # fmt: skip


def points_at_the_change(code: str, paths: Iterable[str | None], change: hostile.Change) -> bool:
    """Whether the findings of a rule that name files name those that were changed."""
    before, after = hostile.sound(), hostile.sound()
    change(after)
    changed = [path for path in before.keys() | after.keys() if before.get(path) != after.get(path)]
    return code in ELSEWHERE or all(
        path is None or any(each == path or each.endswith("/" + path) for each in changed) for path in paths
    )


class Judged(NamedTuple):
    """A case on disk, and the result of `inspect audit`."""

    case: Case
    folder: Path
    ran: Ran
    audit: Audit  # the source of the command's JSON
    changed: bool  # whether anything in the folder is another

    @property
    def found(self) -> list[inspector.Finding]:
        """The findings of the case's rule."""
        return [each for model in self.audit.checkpoints for each in model.findings if each.rule == self.case.code]


Judge = Callable[[Case, Path], Judged]


@pytest.fixture
def judge(inspect: Run, monkeypatch: pytest.MonkeyPatch) -> Judge:
    """Create a case, and audit it once, by the command, which has no network."""
    seen: list[Audit] = []
    document = report.document

    def noted(result: Audit) -> object:
        seen.append(result)
        return document(result)

    def refuse(*_: object) -> None:
        raise AssertionError("the network was used")

    monkeypatch.setattr(report, "document", noted)
    monkeypatch.setattr(socket.socket, "connect", refuse)

    def judged(case: Case, folder: Path) -> Judged:
        before = snapshot(hostile.make(case.change, folder))
        ran = inspect(*case.arguments(folder))
        return Judged(case, folder, ran, seen.pop(), before != snapshot(folder))

    return judged


def is_found_where_it_was_made(judged: Judged) -> None:
    """The change is found under the rule's code, in the file that was changed."""
    assert judged.found
    assert points_at_the_change(judged.case.code, [each.path for each in judged.found], judged.case.change)


def is_said_as_on_record(judged: Judged) -> None:
    """The findings are those on record: after a deliberate change, write the file anew and review its changes."""
    if judged.case.code not in rule_words.ELSEWHERE:
        assert rule_words.words(judged.case.code, judged.ran.json, judged.folder) == EXPECTED[judged.case.name]


def is_no_graver_than_the_rule(judged: Judged) -> None:
    """Except for a vocabulary that is too small, which has the code of a padded one."""
    if judged.case.name == "vocab-padding":
        return
    for each in (finding for model in judged.audit.checkpoints for finding in model.findings):
        assert SEVERITIES.index(each.severity) >= SEVERITIES.index(all_rules()[each.rule].severity), each


def is_the_same_in_json(judged: Judged) -> None:
    """The command's document contains every finding, and counts them."""
    findings = [each for model in judged.audit.checkpoints for each in model.findings]
    written = [each for model in judged.ran.json["checkpoints"] for each in model["findings"]]
    assert [each["rule"] for each in written] == [each.rule for each in findings]
    assert [each["severity"] for each in written] == [each.severity for each in findings]
    reported: list[str] = [each.severity for each in findings]
    assert judged.ran.json["counts"] == {severity: reported.count(severity) for severity in SEVERITIES}
    assert judged.ran.code == (2 if judged.audit.failed else "error" in reported)


def is_valid_sarif(judged: Judged) -> None:
    """Whatever the findings and names, the document follows the schema."""
    document = json.loads(json.dumps(sarif.document(judged.audit)))
    sarif_schema.check(document, sarif_om.SarifLog, "log")
    codes = [each.rule for model in judged.audit.checkpoints for each in model.findings]
    assert [each["ruleId"] for each in document["runs"][0]["results"]] == codes


def is_what_the_reference_reader_does(judged: Judged) -> None:
    """The statements about the `safetensors` package are what it does."""
    for model in judged.audit.checkpoints:
        for verdict in model.verdicts:
            if verdict.reader == "safetensors" and verdict.accepts is not None:
                assert verdict.accepts == opens(Path(model.root or "", verdict.path)), verdict


def changes_nothing(judged: Judged) -> None:
    """Nothing is written, touched or removed."""
    assert not judged.changed


def has_no_internal_error(judged: Judged) -> None:
    """No rule or check fails with an exception, whatever else is reported."""
    assert not [
        each for model in judged.audit.checkpoints for each in model.findings if "internal error" in each.message
    ]


def opens(path: Path) -> bool:
    try:
        with safetensors.safe_open(path, "np"):
            return True
    except (safetensors.SafetensorError, OSError):
        return False


COMMON = (
    has_no_internal_error,
    changes_nothing,
    is_no_graver_than_the_rule,
    is_the_same_in_json,
    is_what_the_reference_reader_does,
)
TRIPPED = (is_found_where_it_was_made, is_said_as_on_record, *COMMON)


def broken(judged: Judged, checks: Iterable[Callable[[Judged], None]]) -> Iterator[str]:
    """The checks that fail for a case."""
    for check in checks:
        try:
            check(judged)
        except AssertionError as error:
            yield f"{judged.case.name} {check.__name__}: {error}"


#: Its case has more files than the limit.
SLOW = "many-files"


@pytest.mark.parametrize(
    "code", [pytest.param(code, marks=[pytest.mark.gate] * (code == SLOW)) for code in sorted(hostile.CASES)]
)
def test_a_rule(code: str, tmp_path: Path, judge: Judge) -> None:
    """The case triggers it in every form; its sound counterpart does not."""
    failed: list[str] = []
    first, *further = (case for case in CASES if case.code == code)
    failed += broken(judge(first, tmp_path / "first"), (*TRIPPED, is_valid_sarif))
    for number, case in enumerate(further):
        failed += broken(judge(case, tmp_path / str(number)), TRIPPED)
    missed = judge(first._replace(name=f"{code}, nearly", change=hostile.CASES[code].misses), tmp_path / "nearly")
    failed += broken(missed, COMMON)
    assert failed == []
    assert missed.found == []


#: All but the first of each rule.
FURTHER = [case for case in CASES if case.name != case.code]


@every("case", FURTHER, ids=lambda case: case.name, parts=8)
@pytest.mark.gate
def test_other_commands_end_well(case: Case, tmp_path: Path, inspect: Run) -> None:
    """They show the damage, or one line says why they cannot."""
    folder = hostile.make(case.change, tmp_path / "model")
    for command in ([], ["--json"], ["tensors"]):
        clear(inspect(*command, folder))


@every("code", sorted(hostile.CASES))
def test_a_near_miss_is_a_change(code: str) -> None:
    """The sound counterpart is not the unchanged model."""
    before, after = hostile.sound(), hostile.sound()
    hostile.CASES[code].misses(after)
    assert before != after


def test_the_sound_model_is_sound(tmp_path: Path) -> None:
    """The model that all cases start from has no finding, and the reference reader accepts its weights."""
    (model,) = audit([hostile.make(hostile.nothing, tmp_path)]).checkpoints
    assert model.findings == ()
    assert [each.accepts for each in model.verdicts if each.reader == "safetensors"] == [True, True]


@every("name", sorted(hostile.UNUSUAL), parts=4)
def test_the_unusual_is_sound(name: str, tmp_path: Path) -> None:
    """Sound and unusual folders have no error and no warning."""
    found = audit([hostile.make(hostile.UNUSUAL[name], tmp_path)])
    assert [each for model in found.checkpoints for each in model.findings if each.severity != "info"] == []


def test_every_code_is_a_rule() -> None:
    """Each code of a reader, the selection or the bridge is documented: a type checker refuses any other."""
    assert [*all_rules()] == [*get_args(Code)]


@every("code", sorted(all_rules()))
def test_rules_are_documented(code: str) -> None:
    """A title of one sentence on one line, and a paragraph that says why and what to do."""
    rule = all_rules()[code]
    assert re.fullmatch(r"[A-Z`].{10,110}\.", rule.title)
    assert len(rule.documentation.split("\n\n")) >= 2
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", code)
