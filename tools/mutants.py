"""Small faults put into the code, to see whether a test notices: `make mutants`, or `make mutants ONLY="bridge units"`.

    python tools/mutants.py FOLDER [GROUP[:COUNT]…]   works in FOLDER, prints a table, writes the survivors' differences
    python tools/mutants.py FOLDER bridge naming:100  all of one group, and 100 mutants of another, evenly spaced

mutmut makes the faults, in a copy of the project. Each group of modules (`[tool.mutants]` in pyproject.toml) is run with
the few tests that are about it, so that a mutant takes about a second. What survives is told in docs/mutants.md.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib

PROJECT = Path(__file__).parents[1]
COPIED = ("inspector", "tests", "fixtures", "tools", "README.md", "hatch_build.py")
#: mutmut's words for a mutant that a test noticed.
KILLED = frozenset({"killed", "timeout", "segfault", "caught by type check"})

_CONFIGURATION = """
[tool.mutmut]
source_paths = ["inspector"]
only_mutate = {modules}
also_copy = ["inspector", "fixtures", "tools", "README.md"]
pytest_add_cli_args = ["-p", "no:cacheprovider", "-q", "-x"]
pytest_add_cli_args_test_selection = {tests}
track_dependencies = false
use_setproctitle = false
"""

#: What `mutmut show` does, for the names on standard input: a process for each would take seconds.
_SHOW = "import sys; from mutmut.__main__ import show; [show.callback(name) for name in sys.stdin.read().split()]"


def main(folder: Path, wanted: list[str]) -> None:
    groups: dict[str, Any] = tomllib.loads((PROJECT / "pyproject.toml").read_text())["tool"]["mutants"]
    for each in wanted or groups:
        name, _, count = each.partition(":")
        _run(folder / name, groups[name], int(count or 0))
        report(folder / name, name)


def _run(work: Path, group: dict[str, list[str]], count: int) -> None:
    """Copy the project, and let mutmut work in the copy."""
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    for name in COPIED:
        source = PROJECT / name
        if source.is_dir():
            shutil.copytree(source, work / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, work / name)
    configuration = _CONFIGURATION.format(modules=group["modules"], tests=group["tests"])
    (work / "pyproject.toml").write_text((PROJECT / "pyproject.toml").read_text() + configuration)
    run = ("run", "--max-children", "1")
    if count:
        _mutmut(work, *run, "none.such")  # makes the mutants, and runs none
    _mutmut(work, *run, *_sample(work, count))


def _sample(work: Path, count: int) -> list[str]:
    """So many of the mutants that were made, evenly spaced; none, which means all, for 0."""
    made = [
        mutant
        for path in sorted((work / "mutants").rglob("*.meta"))
        for mutant in json.loads(path.read_text())["exit_code_by_key"]
    ]
    return made[:: max(len(made) // count, 1)][:count] if count else []


def _mutmut(work: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "mutmut", *arguments]
    done = subprocess.run(command, cwd=work, text=True, capture_output=True, check=False)
    (work / f"{arguments[0]}.log").write_text(done.stdout[-100_000:] + done.stderr[-20_000:])
    return done.stdout


def report(work: Path, name: str) -> None:
    """A line a module, and the survivors in `FOLDER/GROUP/survivors.txt`."""
    made: Counter[str] = Counter()
    killed: Counter[str] = Counter()
    left: list[str] = []
    for mutant, verdict in _verdicts(work):
        module = mutant.rpartition(".")[0]
        made[module] += 1
        if verdict in KILLED:
            killed[module] += 1
        else:
            left.append(mutant)
    show = [sys.executable, "-c", _SHOW]
    done = subprocess.run(show, cwd=work, input="\n".join(left), text=True, capture_output=True, check=False)
    (work / "survivors.txt").write_text(done.stdout)
    for module in sorted(made):
        print(f"{name:<12} {module:<50} {made[module]:>5} {killed[module]:>5}")
    share = killed.total() / max(made.total(), 1)
    print(f"{name:<12} {'all':<50} {made.total():>5} {killed.total():>5} {share:>7.1%}", flush=True)


def _verdicts(work: Path) -> Iterator[tuple[str, str]]:
    """Each mutant with what became of it."""
    for line in _mutmut(work, "results", "--all", "true").splitlines():
        mutant, colon, verdict = line.strip().rpartition(": ")
        if colon and verdict != "not checked":
            yield mutant, verdict


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
