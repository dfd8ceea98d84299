"""What the process that runs a scan does while its workers work: next to nothing."""

from __future__ import annotations

from time import sleep

from inspector.scanning import engine
from inspector.scanning.engine import Task


def test_waiting_is_no_work(one_cluster: str) -> None:
    """It looks up twice a second, and as soon as a task is done: it takes no processor from the workers."""
    looks: list[bool] = []

    def tick(task: Task | None, _result: object) -> bool:
        looks.append(task is not None)
        return task is None

    tasks = iter([Task("nap", sleep, (2 * engine.TICK,))])
    with engine.cluster(one_cluster, None) as cluster:
        cluster.run(lambda: next(tasks, None), tick)
    assert looks[-1]
    assert len(looks) <= 5
