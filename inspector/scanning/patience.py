"""Time limits for listings, so that one that never returns does not hold up the scan: it is abandoned."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

from inspector.scanning.trees import Node, Tree

_Call = Callable[[], Any]


class Patience:
    """Makes calls in a separate thread, replaced by a new one after each abandoned call. Not thread-safe."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._calls: SimpleQueue[tuple[_Call, SimpleQueue[tuple[Any, BaseException | None]]] | None] | None = None

    def call(self, function: _Call) -> Any:
        """The result or exception of a call.

        Raises:
            TimeoutError: it takes too long.
        """
        if self._calls is None:
            self._calls = SimpleQueue()
            Thread(target=_make_calls, args=(self._calls,), daemon=True).start()
        answer: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()
        self._calls.put((function, answer))
        try:
            found, error = answer.get(timeout=self._seconds)
        except Empty:
            self.end()
            raise TimeoutError(f"does not answer within {self._seconds:g} seconds") from None
        if error is not None:
            raise error
        return found

    def end(self) -> None:
        """Release the thread: now, or when its pending call returns."""
        if self._calls is not None:
            self._calls.put(None)
            self._calls = None


def _make_calls(calls: SimpleQueue[Any]) -> None:
    while (order := calls.get()) is not None:
        function, answer = order
        try:
            answer.put((function(), None))
        except BaseException as error:  # raised in the waiting thread
            answer.put((None, error))


class PatientTree:
    """A tree whose folders are listed with a time limit."""

    def __init__(self, tree: Tree, patience: Patience) -> None:
        self._tree, self._patience = tree, patience
        self.kind = tree.kind
        self.join = tree.join

    def list(self, folder: str) -> Sequence[Node]:
        """As for the tree, but may also raise TimeoutError."""
        found: Sequence[Node] = self._patience.call(lambda: self._tree.list(folder))
        return found
