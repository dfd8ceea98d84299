"""What each rule says of each hostile case, one rule at a time (fixtures/said.jsonl).

PYTHONPATH=fixtures python tests/rule_words.py    writes what is said now; what changes in the file is to be read
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import hostile

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
#: What is said depends on the file system, or is said of a cache as a whole.
_ELSEWHERE = frozenset(("no-access", "broken-cache", "missing-blob"))

Words = list[list["str | None"]]  # severity, message, path and tensor of each finding


class Said(NamedTuple):
    """A case and the rule that is asked of it."""

    name: str  # the rule's code, and a number where it has several cases
    code: str
    change: hostile.Change
    data: bool  # whether the rule judges numbers


#: Options of the command that change nothing of what a rule is asked, and whether numbers are judged.
_OPTIONS = {("{}",): False, ("{}", "--data"): True}


def cases() -> Iterator[Said]:
    """Each way to trip a rule that finds something for itself, where no other option of the command is needed."""
    known = [(code, case.trips, case.options) for code, case in sorted(hostile.CASES.items())]
    known += [(code, change, ("{}",)) for code, change in hostile.MORE]
    seen = Counter[str]()
    for code, change, options in known:
        if _is_own(code, options):
            seen[code] += 1
            yield Said(f"{code} {seen[code]}" if seen[code] > 1 else code, code, change, _OPTIONS[options])


def near_misses() -> Iterator[Said]:
    """The same done rightly, of the same rules."""
    for code, case in sorted(hostile.CASES.items()):
        if _is_own(code, case.options):
            yield Said(code, code, case.misses, _OPTIONS[case.options])


def _is_own(code: str, options: tuple[str, ...]) -> bool:
    return options in _OPTIONS and all_rules()[code].check is not None and code not in _ELSEWHERE


def said(case: Said, folder: Path) -> Words:
    """What the rule says of the case, in order; long texts cut."""
    hostile.make(case.change, folder)
    found: Words = []
    for subject in targets.subjects(str(folder)):
        if isinstance(subject, targets.Failed):
            found.append(["failed", _short(str(subject.reason), folder)])
            continue
        if case.data:
            list(read(subject))
        for each in all_rules()[case.code].findings(subject):
            found.append([each.severity, *(_short(text, folder) for text in (each.message, each.path, each.tensor))])
    return found


def messages(code: str, change: hostile.Change, folder: Path) -> list[str]:
    """The words of a rule alone, of a folder that need have no weights."""
    return [found.message for found in findings(code, change, folder)]


def lines(code: str, files: Mapping[str, Any], folder: Path) -> list[str]:
    """Findings as `path: severity: message` in a folder of these files alone; what is no text or bytes becomes JSON."""

    def alone(made: hostile.Files) -> None:
        made.clear()
        made.update({name: _bytes(each) for name, each in files.items()})

    return [f"{each.path}: {each.severity}: {each.message}" for each in findings(code, alone, folder)]


def subject_of(folder: Path, files: Mapping[str, Any]) -> Subject:
    """A folder of these files as rules see it; what is no text or bytes becomes JSON."""
    hostile.files.write({name: _bytes(each) for name, each in files.items()}, folder)
    listed = list(entries(folder))
    return Subject(LocalPlace(folder, targets.listed_files(listed)), listed, str(folder), str(folder))


def _bytes(content: Any) -> Any:
    if isinstance(content, str):
        return content.encode()
    return hostile.dump(content) if isinstance(content, dict | list | int | None) else content


def findings(code: str, change: hostile.Change, folder: Path) -> list[Finding]:
    """What a rule finds in a folder that need have no weights."""
    hostile.make(change, folder)
    listed = list(entries(folder))
    with closing(LocalPlace(folder, targets.listed_files(listed))) as place:
        return list(all_rules()[code].findings(Subject(place, listed, str(folder), str(folder))))


def _short(text: str | None, folder: Path) -> str | None:
    return text and text.replace(str(folder), "{}")[:_KEPT]


def main() -> None:
    with SAID.open("w") as out:
        for case in cases():
            with tempfile.TemporaryDirectory() as name:
                words = said(case, Path(name))
            out.write(json.dumps({"case": case.name, "said": words}, ensure_ascii=True) + "\n")


if __name__ == "__main__":
    main()
