"""A model's files as the rules read them: within bounds, each small document once, and an unreadable file as empty."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager, suppress
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

from inspector.auditing import limits
from inspector.errors import InspectorError
from inspector.opening import configs
from inspector.sources import Place, Source
from inspector.sources.filenames import INDEX, OTHERS, PICKLED, WEIGHTS
from inspector.sources.listing import Entry
from inspector.sources.local import LocalPlace
from inspector.sources.places import Narrowed


class Extent(NamedTuple):
    """What is examined of a listing, and what may be read of the rest."""

    entries: Sequence[Entry]  # examined by the rules
    alone: str | None  # the one file that the target names; None for a folder, and for a set of shards
    is_set: bool  # whether the target names a shard, which stands for its set
    members: frozenset[str]  # the named file, or the set; empty for a folder, and for an index
    ends: tuple[str, ...]  # suffixes of other models' files, which are not read with one of several
    unread: AbstractSet[str]  # files not examined, except siblings of the named weights
    total: int  # files that would be examined if there were no limit

    def may_read(self, path: str) -> bool:
        """Whether a file is part of the model, or a document next to the named weights."""
        beside = bool(self.members) and path not in self.members and path.endswith(self.ends)
        return not beside and path not in self.unread


def extent_of(selected: str | None, listed: Sequence[Entry], members: frozenset[str] | None) -> Extent:
    """The extent of a target.

    Args:
        selected: the file that the target names.
        members: the files of its set, if it names a shard.
    """
    names_weights = selected is not None and not selected.endswith(INDEX)
    alone = selected if names_weights and members is None else None
    own = members or (frozenset({alone}) if alone else frozenset[str]())
    covered = [entry for entry in listed if not own or entry.path in own]
    entries = _most_important(covered)
    examined = {entry.path for entry in entries}
    unread = frozenset[str]() if names_weights else {entry.path for entry in listed} - examined
    ends = (*WEIGHTS, ".index.json") if names_weights else (*WEIGHTS, *PICKLED, *OTHERS, ".index.json")
    unread -= {entry.path for entry in listed if members and entry.path not in own}
    return Extent(entries, alone, names_weights and members is not None, own, ends, unread, len(covered))


def _most_important(entries: list[Entry]) -> list[Entry]:
    """As many files as are examined, weights and documents first."""
    if len(entries) <= limits.MAX_FILES:
        return entries
    ends = (*WEIGHTS, ".json")
    important = sorted(entries, key=lambda entry: (not entry.path.endswith(ends), entry.path.count("/")))
    return important[: limits.MAX_FILES]


class Files:
    """The files at a target. Nothing is read before a rule needs it."""

    def __init__(
        self, place: Place, listed: Sequence[Entry], root: str | None = None, members: frozenset[str] | None = None
    ) -> None:
        """
        Args:
            root: the base of relative paths; None if it is not on this machine.
            members: if the target names a shard, the files of its set.
        """
        self._whole = place
        self.root = root
        self.by_path: Mapping[str, Entry] = {entry.path: entry for entry in listed}
        self._paths = sorted(self.by_path)
        self.extent = extent_of(place.selected, listed, members)
        self.entries = self.extent.entries
        self.alone = self.extent.alone
        self.members = self.extent.members
        #: What loaders see: without hidden files. A set of shards is selected by the names of its files.
        self.place: Place = Narrowed(place, self.readable, selected=not self.extent.is_set)
        self._lower: defaultdict[str, list[tuple[int, str, Entry]]] = defaultdict(list)  # by what follows the last dot
        for at, entry in enumerate(self.entries):
            name = entry.name.lower()
            self._lower[name.rpartition(".")[2]].append((at, name, entry))
        self._starts: dict[str, bytes] = {}  # path → the first bytes
        self._documents: dict[str, dict[str, Any]] = {}  # path → a parsed document
        self.unread: dict[str, int] = {}  # path of a text larger than a rule reads → the bytes it would have read

    def readable(self, path: str) -> bool:
        """Whether a file is of this model, and of the kind that an audit reads."""
        entry = self.by_path.get(path)
        listed = entry is not None and entry.kind == "file" and not entry.outside
        return listed and self.extent.may_read(path)

    def named(self, *ends: str) -> Iterator[Entry]:
        """Entries whose lower-case name has one of these suffixes, as words: config.json is in adapter_config.json."""
        last, found = tuple(end.rpartition(".")[2] for end in ends), list[tuple[int, str, Entry]]()
        for kind, listed in self._lower.items():
            if f".{kind}" in ends:  # all of them, but for one that has no dot
                found += [each for each in listed if each[1] != kind or kind in ends]
            elif kind.endswith(last):
                some = (each for each in listed if each[1].endswith(ends))
                found += [each for each in some if any(_has(each[1], end) for end in ends)]
        return (entry for _, _, entry in sorted(found))

    def regular(self, *ends: str) -> Iterator[Entry]:
        """Entries that are files within the folder: all, or those with one of these suffixes."""
        listed = self.named(*ends) if ends else self.entries
        return (entry for entry in listed if entry.kind == "file" and not entry.outside)

    def head(self, path: str, length: int) -> bytes:
        """A file's first bytes, fewer of a shorter one; none of a file that cannot be read."""
        if length > limits.START:
            return self.span(path, 0, length)
        if path not in self._starts:
            self._starts[path] = self.span(path, 0, limits.START)
        return self._starts[path][:length]

    def names_in(self, folder: str) -> frozenset[str]:
        """Names of a folder's entries, those of other models included; "" is the target's own folder."""
        within = slice(bisect_left(self._paths, f"{folder}/"), bisect_left(self._paths, f"{folder}0"))  # 0 follows /
        own = frozenset(path[len(folder) + 1 :] for path in self._paths[within]) if folder else frozenset(self.by_path)
        if (own and folder) or self.root is None or ".." in folder or "\0" in folder or folder.startswith("/"):
            return own
        try:
            os.lstat(os.path.join(self.root, folder))  # noqa: PTH118  most are absent, and following links takes long
            real = real_path(self.root, folder)
            return own if real is None else frozenset(os.listdir(real))  # noqa: PTH208  the path is a string
        except (OSError, ValueError):  # absent, or not encodable in the system's file names
            return own

    def folders_in(self, folder: str) -> frozenset[str]:
        """Names of the subfolders of a folder of a local target, given as in entries: "" or ending in "/"."""
        try:
            with os.scandir(os.path.join(self.root or "", folder)) as found:  # noqa: PTH118  the path is a string
                return frozenset(each.name for each in found if each.is_dir(follow_symlinks=False))
        except (OSError, ValueError):
            return frozenset()

    def names_beside(self, entry: Entry) -> frozenset[str]:
        """Names in a file's own folder."""
        return self.names_in(entry.folder.rstrip("/")) if entry.folder else frozenset(self.by_path)

    @property
    def is_local(self) -> bool:
        """Whether the files are on this machine."""
        return isinstance(self._whole, LocalPlace)

    def on_disk(self, path: str) -> Path | None:
        """The location of a file of the model; None if it is not local, or must not be read."""
        try:
            full = self._local_path(path)
        except InspectorError:
            return None
        return None if full is None else Path(full)

    def _local_path(self, path: str) -> str | None:
        """As `on_disk`. Raises TargetError for a name such as `\\x`, which is a path out of the folder elsewhere."""
        if not isinstance(self._whole, LocalPlace) or not self.readable(path):
            return None
        return self._whole.full(path)

    def refusal(self, entry: Entry) -> str | None:
        """Why a local file cannot be read as listed; None if it can."""
        try:
            full = self._local_path(entry.path)
        except InspectorError:
            return "its name is a path out of the folder on other systems"
        if full is None:
            return None
        try:
            size = os.stat(full).st_size  # noqa: PTH116  the same
        except OSError:
            return "it was deleted while other files were read"
        if size < entry.size:
            return "it was truncated while other files were read"
        may = os.access(full, os.R_OK, effective_ids=os.access in os.supports_effective_ids)
        return None if may else "its permissions forbid reading"

    def span(self, path: str, start: int, length: int) -> bytes:
        """Bytes of a file from `start`; none of a file that cannot be read."""
        if not self.readable(path) or min(length, self.by_path[path].size - start) <= 0:
            return b""
        with self.reading(path) as read:
            return read(start, length)

    def whole(self, entry: Entry, limit: int) -> bytes:
        """All bytes of a file; none of one that cannot be read, or is too large, of which `unread` keeps a note."""
        if entry.size > limit and self.readable(entry.path):
            self.unread.setdefault(entry.path, limit)
            return b""
        return self.span(entry.path, 0, entry.size)

    @contextmanager
    def reading(self, path: str) -> Iterator[Callable[[int, int], bytes]]:
        """Reads from one file, opened once: start and length → bytes, empty if they cannot be read."""
        source: Source | None = None
        if self.readable(path):
            with suppress(InspectorError):
                source = self._whole.open(path)
        size = source.size if source else 0

        def read(start: int, length: int) -> bytes:
            length = min(length, size - start)
            if source is None or length <= 0 or start < 0:
                return b""
            try:
                return source.read(start, length)
            except InspectorError:
                return b""

        try:
            yield read
        finally:
            if source:
                source.close()

    def text(self, path: str, limit: int = limits.MAX_DOCUMENT) -> str | None:
        """A small text file; None if it is absent, not text, or too large, of which `unread` keeps a note."""
        if not self.readable(path):
            return None
        if self.by_path[path].size > limit:
            self.unread.setdefault(path, limit)
            return None
        try:
            return self._whole.read_text(path, limit)
        except InspectorError:
            return None

    def document(self, path: str) -> dict[str, Any]:
        """A JSON object next to the weights; empty if it cannot be read."""
        if path not in self._documents:
            if len(self._documents) >= limits.KEPT_DOCUMENTS:
                self._documents.pop(next(iter(self._documents)))
            entry = self.by_path.get(path)
            own = None if entry is None or self.too_large(entry) else self.json(path)
            self._documents[path] = own if isinstance(own, dict) else {}
        return self._documents[path]

    def json(self, path: str, limit: int = limits.MAX_DOCUMENT) -> Any:
        """A JSON document of any kind, read each time; None if it cannot be read."""
        try:
            return configs.loads(self.text(path, limit) or "null")
        except ValueError:
            return None

    def too_large(self, entry: Entry) -> bool:
        """Whether a document is skipped: it is larger than any real one, or exceeds the number of them."""
        return entry.kind == "file" and (entry.size > limits.MAX_DOCUMENT or entry.path in self._documents_beyond_limit)

    @cached_property
    def _documents_beyond_limit(self) -> frozenset[str]:
        """Documents after the first `MAX_DOCUMENTS` bytes of them."""
        documents = list(self.named("config.json", "modules.json", "model_index.json", "template.json"))
        sums = accumulate(entry.size for entry in documents)
        return frozenset(
            entry.path for entry, total in zip(documents, sums, strict=True) if total > limits.MAX_DOCUMENTS
        )


def _has(name: str, end: str) -> bool:
    """Whether a name ends in a suffix, or in the words of another name."""
    before = name[: -len(end)][-1:]
    return name.endswith(end) and not (before.isalnum() and end[0].isalnum())


def real_path(root: str, path: str) -> str | None:
    """Where a path below `root` leads if links are followed; None if out of it."""
    base = os.path.realpath(root)
    real = os.path.realpath(os.path.join(base, path))  # noqa: PTH118  the path is a string
    return real if os.path.commonpath((base, real)) == base else None
