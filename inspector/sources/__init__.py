"""Where bytes come from. A `Place` lists files and opens them; a `Source` reads one file's bytes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from inspector.errors import FormatError, SourceError
from inspector.model import Origin
from inspector.units import escape, integer


class Source(Protocol):
    """Random access to the bytes of one file."""

    @property
    def size(self) -> int:
        """The file's size in bytes."""

    def read(self, offset: int, length: int) -> bytes:
        """Exactly `length` bytes from `offset`.

        Raises:
            SourceError: the file has fewer, or cannot be read.
        """

    def prefix(self, length: int) -> memoryview:
        """At least the first `length` bytes, or all of a shorter file.

        For formats whose header does not state its own length: ask for more as parsing proceeds. Bytes already fetched
        are not fetched again; a local file is read ahead, and only `length` is counted as read.
        """

    def close(self) -> None:
        """Close the file. Memory views of it stay valid: the memory is freed with the last of them."""


class Place(Protocol):
    """A folder, one file, a repository or a URL: a listing, and a way to open each file.

    Paths are relative, "/"-separated, and never leave the place.
    """

    @property
    def name(self) -> str:
        """The display name: the last part of the folder's or repository's path."""

    @property
    def files(self) -> Mapping[str, int]:
        """Path → size in bytes."""

    @property
    def selected(self) -> str | None:
        """The one file that the target named; None for the whole place."""

    @property
    def parallel(self) -> int:
        """How many files to read concurrently: 1 on a disk, more where each request has latency."""

    def open(self, path: str) -> Source:
        """Raises SourceError if the file cannot be opened, TargetError if it is not in the place."""

    def read_bytes(self, path: str, limit: int) -> bytes:
        """A small file, whole. Raises SourceError if it exceeds `limit` bytes or cannot be read."""

    def read_text(self, path: str, limit: int) -> str:
        """A small file, whole, as UTF-8.

        Raises:
            SourceError: more than `limit` bytes, or unreadable.
            FormatError: not UTF-8.
        """

    def origin(self) -> Origin:
        """Where this is, and what reading has cost so far."""

    def close(self) -> None:
        """Close what is open."""


class Readable:
    """The text of a place's small files, for classes that read their bytes."""

    def read_bytes(self, path: str, limit: int) -> bytes:
        """As in `Place`."""
        raise NotImplementedError

    def read_text(self, path: str, limit: int) -> str:
        """As in `Place`; a byte order mark is left out."""
        try:
            return self.read_bytes(path, limit).decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise FormatError(f"{escape(path)} is not UTF-8 text: byte {error.start}") from error


def check_end(end: int, size: int, shown: str) -> None:
    """Raises SourceError for bytes beyond a file's end."""
    if end > size:
        lacking = f"{integer(end - size)} short of what its header asks for"
        raise SourceError(f"{shown} ends at byte {integer(size)}, {lacking}")


def check_size(size: int, limit: int, path: str) -> None:
    """Raises SourceError for a file of more bytes than are read."""
    if size > limit:
        raise SourceError(f"{escape(path)} has {integer(size)} bytes; at most {integer(limit)} are read")
