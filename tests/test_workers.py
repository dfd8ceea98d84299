"""Work in threads gives the same as work in sequence."""

from __future__ import annotations

import threading
import time

import pytest
from costs import HANGS

from inspector.sources import http, workers


@pytest.mark.parametrize("count", [1, 2, 5, 50])
def test_results_are_in_order(count: int) -> None:
    """Whichever finishes first."""
    items = list(range(20))
    done: list[int] = []

    def slow(item: int) -> int:
        time.sleep((20 - item) * 0.001)
        return item * item

    assert workers.each(slow, items, count, lambda: done.append(1)) == [item * item for item in items]
    assert len(done) == 20


def test_nothing_to_do() -> None:
    assert workers.each(str, [], 4) == []


def test_many_work_at_once_and_no_more() -> None:
    """The number of workers is the stated one."""
    gate, most, now, together = threading.Lock(), [0], [0], threading.Barrier(7)

    def work(_: int) -> None:
        with gate:
            now[0] += 1
            most[0] = max(most[0], now[0])
        together.wait(HANGS)  # fewer than seven would wait for ever
        with gate:
            now[0] -= 1

    workers.each(work, range(28), 7)
    assert most == [7]


def test_the_first_failure_is_raised_and_the_rest_does_not_begin() -> None:
    begun, raised = [], threading.Event()

    def work(item: int) -> None:
        begun.append(item)
        if item == 2:
            raise ValueError("two")
        raised.wait(HANGS)

    with pytest.raises(ValueError, match="two"):
        workers.each(work, range(100), 4)
    raised.set()
    for thread in threading.enumerate():
        if thread.daemon and thread.name.endswith("(_work)"):
            thread.join(HANGS)
    assert sorted(begun) in ([0, 1, 2, 3], [0, 1, 2, 3, 4])  # a fourth may replace the one that failed


def test_without_threads_the_caller_does_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a browser none can be started: items are done in order, and a request has the browser's own time limit."""
    monkeypatch.setattr(workers, "THREADS", False)
    monkeypatch.setattr(threading, "Thread", None)
    monkeypatch.setattr(http, "Thread", None)
    assert workers.each(lambda item: item * 2, [1, 2, 3], 8) == [2, 4, 6]
    assert http.within(1.0, lambda: "answer", lambda _: None, http.Sockets()) == "answer"
