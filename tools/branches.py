"""The share of the package's branches that the tests took, from slipcover's JSON, compared with its floor.

    slipcover --branch --source DIR --json --out FILE -m pytest -n auto
    python tools/branches.py FILE                  one line; exit code 1 below the floor
    python tools/branches.py FILE --missing        the branches that no test takes, file by file

The floor is `[tool.branches]` in pyproject.toml: percent of all branches. Processes that tests start are not measured, so a
module that is only used there counts as not tested.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PROJECT = Path(__file__).parents[1]

#: Percent above the floor from which the floor should be raised.
SLACK = 0.5


class Measured(NamedTuple):
    """The branches of one file."""

    path: str
    taken: int
    missing: tuple[tuple[int, int], ...]  # line → line; 0 and below: the end of a function


def measured(report: Mapping[str, Any]) -> list[Measured]:
    """The files of a report, those with the most missing branches first."""
    found = [
        Measured(path, len(each["executed_branches"]), tuple((a, b) for a, b in each["missing_branches"]))
        for path, each in report["files"].items()
    ]
    return sorted(found, key=lambda each: (-len(each.missing), each.path))


def percent(files: Iterable[Measured]) -> float:
    """Branches taken, in percent of all; 100 where there are none."""
    taken, missing = map(sum, zip(*((each.taken, len(each.missing)) for each in files), strict=True))
    return 100 * taken / (taken + missing) if taken + missing else 100.0


def verdict(share: float, floor: float) -> str:
    """One line, which says what to do if anything has to be done."""
    stated = f"{share:.2f} % of the branches are tested; the floor is {floor:.2f} %"
    if share < floor:
        return f"{stated}: test what was added (--missing lists it)"
    return f"{stated}: raise it in pyproject.toml" if share > floor + SLACK else stated


def main(arguments: list[str]) -> int:
    """Exit code 1 if fewer branches are tested than pyproject.toml requires."""
    files = measured(json.loads(Path(arguments[0]).read_text()))
    if "--missing" in arguments:
        for each in files:
            if each.missing:
                jumps = ", ".join(f"{a}→{b if b > 0 else 'end'}" for a, b in each.missing)
                print(f"{each.path}: {len(each.missing)} of {each.taken + len(each.missing)}: {jumps}")
    floor = tomllib.loads((PROJECT / "pyproject.toml").read_text())["tool"]["branches"]["floor"]
    share = percent(files)
    print(verdict(share, floor))
    return int(share < floor)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
