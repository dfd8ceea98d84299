"""What a worker receives: one folder, file or repository, with a stamp that later shows whether it changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple


class Unit(NamedTuple):
    """A place with at least one checkpoint, or with an error."""

    kind: str  # "folder", "files" (some in a folder), "store" (on fsspec) or "target" (any target of `inspect audit`)
    where: str  # folder, URL or target
    target: str  # the target to type for it
    root: str  # the ROOT below which it was found
    stamp: str | None = None  # digest of sizes, times and ETags, or the commit; None if only the worker learns it
    files: tuple[tuple[str, int], ...] = ()  # path → bytes, unless they are everything below `where`
    cache_name: str | None = None  # `org/name` of a repository in the Hub's cache
    error: str | None = None  # why it cannot be inspected
    error_kind: str | None = None

    @property
    def name(self) -> str:
        """The target as stored in the tables."""
        return storable(self.target)

    def packed(self) -> list[Any]:
        """As JSON."""
        return list(self)

    @staticmethod
    def unpacked(values: Sequence[Any]) -> Unit:
        kind, where, target, root, stamp, files, cache_name, error, error_kind = values
        listed = tuple((path, size) for path, size in files)
        return Unit(kind, where, target, root, stamp, listed, cache_name, error, error_kind)


def storable(text: str) -> str:
    """A string that a table can hold: bytes of a file name that are not UTF-8, and unpaired surrogates, are escaped."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def short_digest(*texts: str) -> str:
    """16 hexadecimal digits for strings, which may have unpaired surrogates."""
    joined = "\0".join(texts).encode("utf-8", "surrogatepass")
    return blake2b(joined, digest_size=8).hexdigest()


def stamp_of(files: Iterable[tuple[str, int, str]]) -> str:
    """A digest of paths, sizes and versions: modification times or ETags."""
    return short_digest(*(f"{path}\0{size}\0{version}" for path, size, version in sorted(files)))
