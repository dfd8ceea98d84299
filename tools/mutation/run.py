"""Small faults put into the code, to see whether a test notices: `make mutants`, or `make mutants ONLY=bridge SAMPLE=150 SEED=7`.

    python tools/mutation/run.py FOLDER [GROUP…] [--sample N] [--seed S] [--seconds T]

mutmut makes the faults, in a copy of the project (`mutated`). The tests of a group (`[tool.mutants]` in pyproject.toml)
are run once to learn which lines each test runs; a mutant then gets those that run its line, T seconds of processor of
them at most, in a fork of a process that has collected them (`watching`), or in a process of its own where the line
is run when modules are imported. Prints a table; `FOLDER/GROUP/survivors.txt`
has the lines that no test noticed. What is known of them is in docs/internals.md.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import mutated
import pytest
from coverage import CoverageData
from mutated import Fault

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib

PROJECT = Path(__file__).parents[2]
#: Outcomes of a mutant that a test noticed.
KILLED = frozenset({"killed", "timeout", "crashed"})
_PYTEST = ("-p", "no:cacheprovider", "-p", "no:xdist", "-p", "watching", "-q", "-o", "tmp_path_retention_policy=none")


def main(arguments: Sequence[str]) -> None:
    groups: dict[str, Any] = tomllib.loads((PROJECT / "pyproject.toml").read_text())["tool"]["mutants"]
    parser = argparse.ArgumentParser(description="Put small faults into the code, and see whether a test notices.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=" ".join(groups))
    parser.add_argument("--sample", type=int, default=0, help="so many mutants of each group; 0: all")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--seconds", type=float, default=4.0, help="of tests for each mutant, at most")
    given = parser.parse_args(arguments)
    folder = given.folder.absolute()
    os.chdir(PROJECT)  # where mutmut looks for its settings
    for name in given.groups or groups:
        work = folder / name
        modules = _copied(work, groups[name]["modules"])
        covering, durations = _watched(work, modules, groups[name]["tests"])
        made = [fault for module in modules for fault in mutated.put_into(work, module)]
        drawn = random.Random(given.seed).sample(made, given.sample) if 0 < given.sample < len(made) else made
        plan = {each.name: _tests(each, covering[each.module], durations, given.seconds) for each in drawn}
        early = {each.name for each in drawn if _is_early(each, covering[each.module])}
        _report(work, name, drawn, _run(work, plan, early, groups[name]["tests"]), len(made))


def _copied(work: Path, patterns: Sequence[str]) -> list[str]:
    """Copy the project; the modules of the group."""
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(PROJECT, work, ignore=shutil.ignore_patterns(".*", "__pycache__"))
    return sorted({str(path.relative_to(work)) for pattern in patterns for path in work.glob(pattern)})


def _watched(
    work: Path, modules: Sequence[str], tests: Sequence[str]
) -> tuple[dict[str, Mapping[int, Collection[str]]], dict[str, float]]:
    """The tests that run each line, by module; and each test's seconds."""
    settings = work / "coverage.ini"
    settings.write_text("[run]\ninclude =\n" + "".join(f"    {module}\n" for module in modules))
    coverage = ("--cov", f"--cov-config={settings}", "--cov-context=test", "--cov-report=")
    _pytest(work, "watched", *coverage, *tests, may_fail=True, WATCH=work / "durations.json")
    data = CoverageData(basename=str(work / ".coverage"))
    data.read()
    covering: dict[str, Mapping[int, Collection[str]]] = {}
    for module in modules:
        lines = data.contexts_by_lineno(str(work / module))
        covering[module] = {line: {each.rpartition("|")[0] for each in found} for line, found in lines.items()}
    return covering, json.loads((work / "durations.json").read_text())


def _tests(
    fault: Fault, covering: Mapping[int, Collection[str]], durations: Mapping[str, float], seconds: float
) -> list[str]:
    """Tests that run the fault's statement: the quickest of each path through its function, longest path first.

    Then the next quickest of each, as long as there is time. A rule reads every file and has findings on a few: those
    go further through it, and would notice.
    """
    reached = {test for line in fault.lines for test in covering.get(line, ())}
    if not reached & durations.keys():  # run before any test: those that use its result
        reached = {test for line in fault.body for test in covering.get(line, ())}
    ways: dict[str, set[int]] = {test: set() for test in reached}
    for line in fault.body:
        for test in covering.get(line, ()):
            if test in ways:
                ways[test].add(line)
    turns = Counter[frozenset[int]]()
    ranked = []
    for test in sorted(ways.keys() & durations.keys(), key=lambda test: (durations[test], test)):
        way = frozenset(ways[test])
        ranked.append((turns[way], -len(way), durations[test], test))
        turns[way] += 1
    chosen: list[str] = []
    for _, _, duration, test in sorted(ranked):
        if not chosen or duration <= seconds:
            chosen.append(test)
            seconds -= duration
    return chosen


def _is_early(fault: Fault, covering: Mapping[int, Collection[str]]) -> bool:
    """Whether the fault's function is called before any test runs, when a fork would be too late for it."""
    return any("" in covering.get(line, ()) for line in fault.body)


def _run(work: Path, plan: Mapping[str, Sequence[str]], early: Collection[str], tests: Sequence[str]) -> dict[str, str]:
    """Each mutant, and its outcome."""
    (work / "plan.json").write_text(json.dumps({name: each for name, each in plan.items() if name not in early}))
    _pytest(work, "run", *tests, PLAN=work / "plan.json", VERDICTS=work / "verdicts.json")
    verdicts: dict[str, str] = json.loads((work / "verdicts.json").read_text())
    for name in early:
        code = _call(work, "early", "-x", *plan[name], mutant=name) if plan[name] else None
        verdicts[name] = {None: "no tests", 0: "survived"}.get(code, "killed")
    return verdicts


def _pytest(work: Path, log: str, *arguments: str, may_fail: bool = False, **environment: Path) -> None:
    """Run the copy's tests without a mutant.

    Args:
        may_fail: whether single tests may fail: one that exceeds a time limit on a busy machine is left out.
    """
    code = _call(work, log, *arguments, mutant="", **environment)
    if code and not (may_fail and code == pytest.ExitCode.TESTS_FAILED):
        sys.exit(f"The tests could not be run: see {work / log}.log")


def _call(work: Path, log: str, *arguments: str, mutant: str = "", **environment: Path) -> int:
    """The exit code of the copy's tests on the copy's code, also in processes that tests start."""
    paths = os.pathsep.join([str(work), str(Path(__file__).parent)])
    command = [sys.executable, "-m", "pytest", *_PYTEST, f"--basetemp={work / 'temporary'}", *arguments]
    known = {"PYTHONPATH": paths, "MUTANT_UNDER_TEST": mutant, "PYTHONDONTWRITEBYTECODE": "1"}
    given = {f"MUTATION_{key}": str(path) for key, path in environment.items()}
    with (work / f"{log}.log").open("w") as out:
        return subprocess.call(command, cwd=work, stdout=out, stderr=out, env={**os.environ, **known, **given})


def _report(work: Path, group: str, drawn: Sequence[Fault], verdicts: Mapping[str, str], made: int) -> None:
    """A line for each module, and the survivors in a file."""
    run, killed = Counter(each.module for each in drawn), Counter[str]()
    left = []
    for fault in drawn:
        verdict = verdicts.get(fault.name, "not run")
        if verdict in KILLED:
            killed[fault.module] += 1
        else:
            left.append(f"# {fault.name}: {verdict}\n{fault.module}:{fault.lines[0]}\n{fault.difference}\n")
    (work / "survivors.txt").write_text("\n".join(left))
    for line in _table(run, killed):
        print(f"{group:<12} {line}")
    share = killed.total() / max(run.total(), 1)
    print(f"{group:<12} {f'all, of {made} made':<60} {run.total():>5} {killed.total():>5} {share:>7.1%}", flush=True)


def _table(run: Mapping[str, int], killed: Mapping[str, int]) -> Iterator[str]:
    for module in sorted(run):
        yield f"{module:<60} {run[module]:>5} {killed[module]:>5}"


if __name__ == "__main__":
    main(sys.argv[1:])
