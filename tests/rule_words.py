"""The findings of each hostile case under the code of its rule (fixtures/said.jsonl), and rules run alone.

PYTHONPATH=fixtures python tests/rule_words.py    writes the present findings; review the changes of the file
"""

from __future__ import annotations

import io
import json
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import hostile

from inspector import __main__ as main
from inspector.auditing import targets
from inspector.auditing.catalogue import all_rules
from inspector.auditing.subject import Subject
from inspector.auditing.values.numbers.reading import read
from inspector.model import Finding
from inspector.sources.listing import entries
from inspector.sources.local import LocalPlace

SAID = Path(__file__).parents[1] / "fixtures" / "said.jsonl"
#: Characters of a text that are kept: some cases have names of a megabyte.
_KEPT = 200
#: Cases whose findings depend on the file system, or on where the cache is.
ELSEWHERE = frozenset(("no-access", "broken-cache", "missing-blob"))

Words = list[list["str | None"]]  # severity, message, path and tensor of each finding


class Case(NamedTuple):
    """A way to trigger a rule."""

    name: str  # the rule's code, and a number where it has several cases
    code: str
    change: hostile.Change
    options: tuple[str, ...]  # of the command

    def arguments(self, folder: Path) -> list[str]:
        """The options, with the folder for `{}`."""
        named = (next(folder.glob(each.removeprefix("{}/"))) if "*" in each else each for each in self.options)
        return ["audit", *(str(folder) if each == "{}" else str(each) for each in named), "--json"]


def cases() -> list[Case]:
    """Each way to trigger a rule: its own case, then further ones."""
    known = [(code, case.trips, case.options) for code, case in sorted(hostile.CASES.items())]
    known += [(code, change, ("{}",)) for code, change in hostile.MORE]
    seen = Counter[str]()
    found = []
    for code, change, options in known:
        seen[code] += 1
        found.append(Case(f"{code} {seen[code]}" if seen[code] > 1 else code, code, change, options))
    return found


def own_cases() -> Iterator[Case]:
    """The cases of rules that need no other option than `--data` and find something themselves."""
    for case in cases():
        if case.options in (("{}",), ("{}", "--data")) and all_rules()[case.code].check and case.code not in ELSEWHERE:
            yield case


def expected() -> dict[str, Words]:
    """Case → its expected findings."""
    return {line["case"]: line["said"] for line in map(json.loads, SAID.read_text().splitlines())}


def words(code: str, document: Mapping[str, Any], folder: Path) -> Words:
    """The findings under a code in the JSON of an audit, in order; long texts are cut."""
    found = (each for model in document["checkpoints"] for each in model["findings"] if each["rule"] == code)
    return [
        [each["severity"], *(_short(each[field], folder) for field in ("message", "path", "tensor"))] for each in found
    ]


def said_alone(case: Case, folder: Path) -> Words:
    """The findings of the rule on the case when no other rule runs."""
    hostile.make(case.change, folder)
    found: Words = []
    for subject in targets.subjects(str(folder)):
        assert not isinstance(subject, targets.Failed)
        if "--data" in case.options:
            list(read(subject))
        for each in all_rules()[case.code].findings(subject):
            found.append([each.severity, *(_short(text, folder) for text in (each.message, each.path, each.tensor))])
    return found


def messages(code: str, change: hostile.Change, folder: Path) -> list[str]:
    """The messages of a single rule on a folder that may have no weights."""
    return [found.message for found in findings(code, change, folder)]


def lines(code: str, files: Mapping[str, Any], folder: Path) -> list[str]:
    """Findings as `path: severity: message` in a folder of these files alone; what is not text or bytes becomes JSON."""

    def alone(made: hostile.Files) -> None:
        made.clear()
        made.update({name: _bytes(each) for name, each in files.items()})

    return [f"{each.path}: {each.severity}: {each.message}" for each in findings(code, alone, folder)]


def subject_of(folder: Path, files: Mapping[str, Any]) -> Subject:
    """A folder of these files as rules receive it; what is not text or bytes becomes JSON."""
    hostile.files.write({name: _bytes(each) for name, each in files.items()}, folder)
    listed = list(entries(folder))
    return Subject(LocalPlace(folder, targets.listed_files(listed)), listed, str(folder), str(folder))


def _bytes(content: Any) -> Any:
    if isinstance(content, str):
        return content.encode()
    return hostile.dump(content) if isinstance(content, dict | list | int | None) else content


def findings(code: str, change: hostile.Change, folder: Path) -> list[Finding]:
    """The findings of a rule in a folder that may have no weights."""
    hostile.make(change, folder)
    listed = list(entries(folder))
    with closing(LocalPlace(folder, targets.listed_files(listed))) as place:
        return list(all_rules()[code].findings(Subject(place, listed, str(folder), str(folder))))


def _short(text: str | None, folder: Path) -> str | None:
    return text and text.replace(str(folder), "{}")[:_KEPT]


def write() -> None:
    """Audit every case, and write the findings."""
    with SAID.open("w") as file:
        for case in cases():
            if case.code in ELSEWHERE:
                continue
            with (
                tempfile.TemporaryDirectory() as name,
                redirect_stderr(io.StringIO()),
                redirect_stdout(io.StringIO()) as out,
            ):
                main.run(case.arguments(hostile.make(case.change, Path(name))))
            reported = words(case.code, json.loads(out.getvalue()), Path(name))
            file.write(json.dumps({"case": case.name, "said": reported}, ensure_ascii=True) + "\n")


if __name__ == "__main__":
    write()
