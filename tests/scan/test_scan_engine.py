"""The work of the process that runs a scan while its workers are busy: almost none."""

from __future__ import annotations

import gc
from time import sleep

import pytest

from inspector.errors import UsageError
from inspector.scanning import engine
from inspector.scanning.engine import Task

pytestmark = pytest.mark.gate


def test_waiting_is_not_work(one_cluster: str) -> None:
    """It checks twice a second, and whenever a task is done, so that it takes no processor time from the workers."""
    looks: list[bool] = []

    def tick(task: Task | None, _result: object) -> bool:
        looks.append(task is not None)
        return task is None

    tasks = iter([Task("nap", sleep, (2 * engine.TICK,))])
    with engine.cluster(one_cluster, None) as cluster:
        cluster.run(lambda: next(tasks, None), tick)
    assert looks[-1]
    assert len(looks) <= 5


def test_tasks_that_are_done_are_forgotten() -> None:
    """Dask logs its messages to workers, each with a whole task: memory grew with the number of checkpoints."""

    def kept() -> int:
        gc.collect()
        return sum(type(each) is dict and each.get("op") == "compute-task" for each in gc.get_objects())

    number = 0

    def tick(task: Task | None, _result: object) -> bool:
        nonlocal number
        number += task is not None
        return number < 100

    tasks = iter([Task(f"nothing-{at}", sleep, (0,)) for at in range(100)])
    with engine.cluster(None, 1) as cluster:
        cluster.run(lambda: next(tasks, None), tick)
        assert kept() < 2 * engine.LOGGED
    assert number == 100


def test_a_script_without_a_guard_is_told_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python's processes import the script that starts them; where it starts others at once, Dask raises this."""

    def fails(**_: object) -> None:
        raise RuntimeError("Nanny failed to start.")

    monkeypatch.setattr("distributed.LocalCluster", fails)
    with pytest.raises(UsageError, match="below `if __name__ == '__main__':`"), engine.cluster(None, 1):
        pass
