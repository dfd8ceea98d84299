"""A pytest plugin: the cost of each test; or the mutants of a plan, each with its tests in a fork of this process.

Forks avoid starting Python and collecting tests for every mutant, and whatever a mutant breaks stays in its process.
"""

from __future__ import annotations

import json
import os
import resource
import signal
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

#: Seconds of processor time and of wall time after which a mutant counts as endless; and bytes that it may allocate.
_PROCESSOR, _LONGEST, _MEMORY = 40, 900, 4 << 30
_durations: dict[str, float] = {}
_unfit: set[str] = set()  # tests that fail without a mutant, or are skipped


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Processor seconds, including processes that the test starts: a busy machine changes nothing."""
    before = sum(os.times()[:4])
    yield
    _durations[item.nodeid] = sum(os.times()[:4]) - before


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if not report.passed:
        _unfit.add(report.nodeid)


def pytest_sessionfinish() -> None:
    if path := os.environ.get("MUTATION_WATCH"):
        fit = {test: seconds for test, seconds in _durations.items() if test not in _unfit}
        Path(path).write_text(json.dumps(fit))


def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Runs the mutants, instead of the tests once, if there is a plan."""
    if not (path := os.environ.get("MUTATION_PLAN")):
        return None
    items = {item.nodeid: item for item in session.items}
    plan = json.loads(Path(path).read_text())
    verdicts, target = {}, Path(os.environ["MUTATION_VERDICTS"])
    for mutant, names in plan.items():
        chosen = [items[name] for name in names if name in items]
        verdicts[mutant] = _forked(session, mutant, chosen) if chosen else "no tests"
        target.write_text(json.dumps(verdicts, indent=0))
    return True


def _forked(session: pytest.Session, mutant: str, items: Sequence[Any]) -> str:
    child = os.fork()
    if not child:
        os.setpgid(0, 0)
        code = 3
        try:
            code = _tests_fail(session, mutant, items)
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # processes that its tests left running
    if os.WIFSIGNALED(status):
        return "timeout" if os.WTERMSIG(status) in (signal.SIGALRM, signal.SIGXCPU) else "crashed"
    return {0: "survived", 1: "killed"}.get(os.WEXITSTATUS(status), "crashed")


def _tests_fail(session: pytest.Session, mutant: str, items: Sequence[Any]) -> bool:
    """Whether one of the tests fails with the mutant, which stays switched on in this process."""
    os.environ["MUTANT_UNDER_TEST"] = mutant
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (_PROCESSOR, _PROCESSOR + 1))
    signal.alarm(_LONGEST)
    for item, following in zip(items, (*items[1:], None), strict=True):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.testsfailed:
            return True
    return False
