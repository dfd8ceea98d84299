"""Every bound of the package in one table: what it limits, its value, and what is reported when it is reached.

A bound is a number in capitals at the top of a module, named MAX, MOST, LONGEST, LARGEST, DEEPEST or LIMIT. What it
limits is the comment above it. `fixtures/bounds.jsonl` has what is reported, and for many a case of `hostile.CASES`
that exceeds the bound once it is lowered.
"""

from __future__ import annotations

import ast
import importlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import inspector

PACKAGE = Path(inspector.__file__).parent
ROOT = Path(__file__).parents[1]
NAMED = re.compile(r"_?(?:MAX|MOST|LONGEST|LARGEST|DEEPEST|LIMIT)(?:_\w+)?")

#: What happens when a bound is reached, other than the finding of a rule.
SAID: Mapping[str, str] = {
    "refused": "one line that names the file or option, exit code 2; in an audit a finding about the file",
    "counted": "the first are listed, the others counted",
    "shown": "the text is shortened; `--json` or the named file has all of it",
    "unknown": "the figure is unknown, or the comparison not made, and the result says so",
    "verdict": "the library is not asked, and its verdict says why",
    "split": "nothing: work is divided or kept differently, and nothing is left out",
    "left": "nothing: this one check is not made, and other rules judge the file",
    "format": "the format has no more, so what exceeds it is something else",
}


class Bound(NamedTuple):
    """One bound, as the code has it."""

    name: str  # `auditing.completeness.companions.MAX_MODULES`
    comment: str  # empty if there is none


def bounds() -> Iterator[Bound]:
    """Every bound of the package, ordered by module and line."""
    for path in sorted(PACKAGE.rglob("*.py")):
        inner = path.relative_to(PACKAGE).with_suffix("").parts
        module = ".".join(inner[:-1] if inner[-1] == "__init__" else inner)
        yield from (Bound(f"{module}.{name}", comment) for name, comment in _in_module(path.read_text("utf-8")))


def _in_module(text: str) -> Iterator[tuple[str, str]]:
    lines = text.split("\n")
    for node in ast.parse(text).body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        names = target.elts if isinstance(target, ast.Tuple) else [target]
        for each in names:
            if isinstance(each, ast.Name) and NAMED.fullmatch(each.id):
                yield each.id, _comment(lines, node.lineno - 1)


def _comment(lines: list[str], at: int) -> str:
    """The comment of an assignment: at the end of its line, or above it or above the assignments just before it."""
    _, mark, beside = lines[at].partition("  # ")
    if mark:
        return beside
    while at and re.match(r"_?[A-Z][A-Z_]+(?:, _?[A-Z_]+)* *[:=]", lines[at - 1]):
        at -= 1
    start = at
    while start and lines[start - 1].startswith("#:"):
        start -= 1
    return " ".join(line.removeprefix("#:").strip() for line in lines[start:at])


def table() -> dict[str, dict[str, Any]]:
    """The rows of `fixtures/bounds.jsonl` by the name of the bound."""
    lines = (ROOT / "fixtures" / "bounds.jsonl").read_text("utf-8").splitlines()
    return {row["bound"]: row for row in map(json.loads, lines)}


def value(name: str) -> Any:
    """The value of a bound."""
    module, _, own = name.rpartition(".")
    return getattr(importlib.import_module(f"inspector.{module}"), own)
