"""A tree of folders → units, one after another: never more than one unit's files in memory.

A folder is one unit if something in it says so: an index, a configuration next to weights, files with standard names.
It includes everything below. Elsewhere the files of a folder are a unit, without what is below it, and so is each
model of Ollama's store and each snapshot in the Hub's cache. A unit's checkpoints are those that `opening.models` finds
in it. Links to folders are not followed.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, NamedTuple, Protocol

from inspector.opening.models import PACKAGE, marks_a_model
from inspector.opening.selection import kind_of
from inspector.scanning.unit import Unit, stamp_of
from inspector.sources.filenames import COLLECTED, COLLECTIVE, PICKLED, WEIGHTS, rank_of, shard_of
from inspector.sources.listing import SKIPPED

#: The most files of a folder that is one unit; one with more is searched folder by folder.
MOST_FILES = 10_000
#: The deepest nesting of folders that is entered.
DEEPEST = 64
#: Files that make a folder one unit, with weights next to or below them.
_WHOLES = frozenset({"model_index.json", "modules.json", "trainer_state.json", "latest", "saved_model.pb", COLLECTIVE})
#: Files that make a folder one unit if there are weights next to them.
_CONFIGS = frozenset({"config.json", "params.json", "adapter_config.json"})
#: Stems of weight files that do not identify the model: its folder's name does.
_USUAL = frozenset({"model", "pytorch_model", "diffusion_pytorch_model", "adapter_model", "consolidated", "flax_model"})


class Node(NamedTuple):
    """One entry of a folder."""

    name: str
    is_folder: bool
    size: int = 0  # bytes
    version: str = ""  # changes with the content: the time in nanoseconds, or an ETag


class Tree(Protocol):
    """Folders in some kind of storage."""

    kind: str

    def list(self, folder: str) -> Sequence[Node]:
        """The contents of a folder, by name. Raises OSError or InspectorError if it cannot be listed."""

    def join(self, folder: str, name: str) -> str:
        """The address of an entry in a folder."""


class LocalTree:
    """Folders on this machine."""

    kind = "folder"

    def list(self, folder: str) -> Sequence[Node]:
        with os.scandir(folder) as found:
            return [node for each in sorted(found, key=lambda each: each.name) if (node := _node(each))]

    def join(self, folder: str, name: str) -> str:
        return os.path.join(folder, name)  # noqa: PTH118  a string is at hand


def _node(entry: os.DirEntry[str]) -> Node | None:
    try:
        if entry.is_dir(follow_symlinks=False):
            return Node(entry.name, is_folder=True) if entry.name not in SKIPPED else None
        status = entry.stat()
    except OSError:  # a dangling link, or deleted
        return Node(entry.name, is_folder=False, version="broken")
    if stat.S_ISDIR(status.st_mode):
        return None
    return Node(entry.name, is_folder=False, size=status.st_size, version=str(status.st_mtime_ns))


class Listed(NamedTuple):
    """A file of a unit."""

    path: str
    size: int
    version: str


def units(
    tree: Tree, root: str, top: str, special: Callable[[str, Sequence[Node]], Iterator[Unit] | None]
) -> Iterator[Unit]:
    """The units below a folder, ordered by name.

    Args:
        root: as typed, for the rows.
        top: the folder's address.
        special: returns the units of a folder that is a program's store; None for any other.
    """
    pending = [(top, 0)]
    while pending:
        folder, depth = pending.pop()
        try:
            nodes = tree.list(folder)
        except Exception as error:  # from any file system
            yield unlisted(folder, root, error)
            continue
        if (own := special(folder, nodes)) is not None:
            yield from own
            continue
        files = [Listed(node.name, node.size, node.version) for node in nodes if not node.is_folder]
        inner = [node.name for node in nodes if node.is_folder]
        if _is_whole(files, inner) and (everything := _below(tree, folder, files, inner)) is not None:
            yield _whole(tree, folder, root, everything)
            continue
        yield from _loose(tree, folder, root, files, bool(inner))
        if depth < DEEPEST:
            pending.extend((tree.join(folder, name), depth + 1) for name in reversed(inner))


def whole(tree: Tree, folder: str, root: str) -> Unit | None:
    """A folder as one unit, regardless of its contents; None if it has no files, or too many for a checkpoint."""
    nodes = tree.list(folder)
    files = [Listed(node.name, node.size, node.version) for node in nodes if not node.is_folder]
    everything = _below(tree, folder, files, [node.name for node in nodes if node.is_folder])
    return _whole(tree, folder, root, everything) if everything else None


def unlisted(target: str, root: str, error: Exception) -> Unit:
    """A unit for a place that cannot be read."""
    reason = getattr(error, "strerror", None) or " ".join(str(error).split()) or type(error).__name__
    kind = "Timeout" if isinstance(error, TimeoutError) else type(error).__name__
    return Unit("target", target, target, root, error=f"{reason}"[:500], error_kind=kind)


def _is_whole(files: Sequence[Listed], inner: Sequence[str]) -> bool:
    names = {each.path for each in files}
    weights = [name for name in names if _is_weight(name)]
    if not names.isdisjoint(_WHOLES) and (weights or inner):
        return True
    if weights and not names.isdisjoint(_CONFIGS):
        return True
    if any(name.endswith((".index.json", COLLECTED)) for name in names) or any(map(PACKAGE.fullmatch, inner)):
        return True
    lone = len(weights) == 1 and not inner
    return lone or any(name.partition(".")[0] in _USUAL or rank_of(name) for name in weights)


def _is_weight(name: str) -> bool:
    return name.endswith((*WEIGHTS, *PICKLED)) and kind_of(name) != "state"


def _below(tree: Tree, folder: str, files: Iterable[Listed], inner: Iterable[str]) -> list[Listed] | None:
    """All files in and below a folder; None if there are too many for a checkpoint."""
    found = list(files)
    pending = [(name, 1) for name in inner]
    while pending:
        path, depth = pending.pop()
        nodes: Sequence[Node] = ()
        with suppress(Exception):  # of any file system; the audit of the unit reports it
            nodes = tree.list(tree.join(folder, path))
        for node in nodes:
            if not node.is_folder:
                found.append(Listed(f"{path}/{node.name}", node.size, node.version))
            elif depth < DEEPEST:
                pending.append((f"{path}/{node.name}", depth + 1))
        if len(found) > MOST_FILES:
            return None
    return found


def _whole(tree: Tree, folder: str, root: str, files: Sequence[Listed]) -> Unit:
    listed = tuple((each.path, each.size) for each in files) if tree.kind != "folder" else ()
    return Unit(tree.kind, folder, folder, root, stamp_of(files), listed)


def _loose(tree: Tree, folder: str, root: str, files: Sequence[Listed], inner: bool) -> Iterator[Unit]:
    """The files of a folder that is not one unit with what is below it, if they may be models'."""
    if not any(marks_a_model(each.path) for each in files):
        return
    if not inner:
        yield _whole(tree, folder, root, files)
        return
    listed = tuple((each.path, each.size) for each in files)
    yield Unit("files" if tree.kind == "folder" else tree.kind, folder, folder, root, stamp_of(files), listed)


def set_of(files: Iterable[Listed], name: str) -> list[Listed]:
    """A file, with the other shards of its set."""
    own = shard_of(name)
    alike = (each for each in files if own and (other := shard_of(each.path)) and other[:1] == own[:1])
    return list(alike) or [each for each in files if each.path == name]


# --- time limits ----------------------------------------------------------------------------------
# A listing that never returns is abandoned, and does not hold up the scan.

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
