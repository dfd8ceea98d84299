"""What is given to a worker: one folder, lone file or repository, with what tells later whether it changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple


class Unit(NamedTuple):
    """A place with at least one checkpoint, or one at which something is wrong."""

    kind: str  # "folder", "files" (some of a folder), "store" (of fsspec) or "target" (whatever `inspect audit` takes)
    where: str  # folder, URL or target
    target: str  # what to type for it
    root: str  # the ROOT below which it was found
    stamp: str | None = None  # digest of sizes, times and ETags, or the commit; None: the worker will know
    files: tuple[tuple[str, int], ...] = ()  # path → bytes, where they are not all that lies below `where`
    cache_name: str | None = None  # `org/name` of a repository in the Hub's cache
    error: str | None = None  # why there is nothing to look at
    error_kind: str | None = None

    @property
    def name(self) -> str:
        """The target as the tables have it."""
        return held(self.target)

    def packed(self) -> list[Any]:
        """As JSON has it."""
        return list(self)

    @staticmethod
    def unpacked(values: Sequence[Any]) -> Unit:
        kind, where, target, root, stamp, files, cache_name, error, error_kind = values
        listed = tuple((path, size) for path, size in files)
        return Unit(kind, where, target, root, stamp, listed, cache_name, error, error_kind)


def held(text: str) -> str:
    """A text as a table can hold it: bytes of a file's name that are no UTF-8, and halves of pairs, are escaped."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def short_digest(*texts: str) -> str:
    """16 hexadecimal digits of texts, which may hold halves of surrogate pairs."""
    joined = "\0".join(texts).encode("utf-8", "surrogatepass")
    return blake2b(joined, digest_size=8).hexdigest()


def stamp_of(files: Iterable[tuple[str, int, str]]) -> str:
    """A digest of paths, sizes and what changes with a file's content: its time, or its ETag."""
    return short_digest(*(f"{path}\0{size}\0{version}" for path, size, version in sorted(files)))
