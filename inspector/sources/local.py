"""Files on this machine. Opened for reading only; symlinks out of the folder are not followed silently."""

from __future__ import annotations

import mmap
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from contextvars import ContextVar
from pathlib import Path

from inspector.errors import SourceError, TargetError
from inspector.model import Origin
from inspector.sources import Readable, check_end, check_size
from inspector.sources.filenames import COLLECTIVE
from inspector.units import escape, integer

#: A listing of a folder stops here, in case the target is a home directory.
MAX_FILES = 200_000
#: Leading bytes that identify a file's format; a safetensors header begins after this many.
FIRST = 8
#: Bytes to read ahead in a header whose length is unknown until its end.
AHEAD = 1 << 12
CHUNK = 1 << 20
#: Bytes of address space for the buffer: at first enough for most headers, and small beside any limit on address space;
#: then enough for the longest header. So data is moved once, not at every extension.
LEAST_BUFFER, LARGE_BUFFER = 1 << 24, 100_000_000 + AHEAD

#: A pipe of this name is not waited for.
_FLAGS = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
_DRIVES = os.sep == "\\"  # whether a path may begin with a drive's letter


class LocalFile:
    """A `Source` over one regular file."""

    def __init__(self, path: Path | str) -> None:
        self.path = path  # a string if there are many files: making a Path takes as long as opening the file
        self._buffer: mmap.mmap | None = None  # the file's first bytes, in anonymous memory
        self._have = 0  # bytes of the buffer that were read
        self._prefix_read = 0  # the file's first bytes, each counted once however often it is requested
        self._read = 0  # bytes read elsewhere
        try:
            self._fd = os.open(path, _FLAGS)
        except OSError as error:
            raise _unreadable(path, error) from error
        status = os.fstat(self._fd)
        if not stat.S_ISREG(status.st_mode):
            os.close(self._fd)
            raise SourceError(f"{escape(str(path))} is not a regular file")
        self.size = status.st_size

    @property
    def bytes_read(self) -> int:
        return self._read + self._prefix_read

    def read(self, offset: int, length: int) -> bytes:
        if self._buffer is not None and offset + length <= self._have:
            self._prefix_read = max(self._prefix_read, offset + length)
            return bytes(self._buffer[offset : offset + length])
        try:
            data = os.pread(self._fd, length, offset)
        except OSError as error:
            raise _unreadable(self.path, error) from error
        end = offset + len(data)
        if offset > self._prefix_read:
            self._read += end - offset
        elif end > self._prefix_read:
            self._prefix_read = end
        if end != offset + length:
            check_end(offset + length, end, escape(str(self.path)))
        return data

    def read_into(self, buffer: memoryview, offset: int) -> int:
        """Fill a buffer from `offset` on; return its size. For large reads, without another copy.

        Raises:
            SourceError: the file has fewer bytes, or cannot be read.
        """
        done = 0
        while done < len(buffer):
            try:
                got = os.preadv(self._fd, [buffer[done:]], offset + done)
            except OSError as error:
                raise _unreadable(self.path, error) from error
            if not got:
                raise SourceError(
                    f"{escape(str(self.path))} ended at byte {integer(offset + done)} while it was being read"
                )
            done += got
        self._read += done
        return done

    def prefix(self, length: int) -> memoryview:
        """As `Source.prefix`. Not a memory map: if another program truncates the file, reading the map is fatal."""
        length = min(length, self.size)
        if length > self._have:
            self._read_ahead(min(self.size, FIRST if length <= FIRST else length + max(AHEAD, self._have >> 6)))
        self._prefix_read = max(self._prefix_read, length)
        return memoryview(self._buffer)[: self._have].toreadonly() if self._buffer else memoryview(b"")

    def _read_ahead(self, end: int) -> None:
        """Read up to byte `end`. Views keep an outgrown buffer alive."""
        before, buffer = self._buffer, self._buffer
        if buffer is None or len(buffer) < end:
            room = LEAST_BUFFER if end <= LEAST_BUFFER else min(self.size, LARGE_BUFFER)
            buffer = mmap.mmap(-1, max(end, room))  # memory is taken as it is filled
            if before is not None:
                for at in range(0, self._have, CHUNK):
                    buffer[at : min(at + CHUNK, self._have)] = before[at : min(at + CHUNK, self._have)]
        while self._have < end:
            try:
                data = os.pread(self._fd, min(CHUNK, end - self._have), self._have)
            except OSError as error:
                raise _unreadable(self.path, error) from error
            if not data:
                raise SourceError(
                    f"{escape(str(self.path))} ended at byte {integer(self._have)} while it was being read"
                )
            buffer[self._have : self._have + len(data)] = data
            self._have += len(data)
        self._buffer = buffer

    def close(self) -> None:
        """Close the file. The bytes read stay in memory while a view of them exists."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
        self._buffer = None
        self._have = 0


#: Folder → its files, while many files of one folder are opened in turn: listing it for each takes quadratic time.
_LISTINGS: ContextVar[dict[str, dict[str, int]] | None] = ContextVar("listings", default=None)


@contextmanager
def listed_once() -> Iterator[None]:
    """Inside the context a folder is listed for the first of its files only."""
    token = _LISTINGS.set({})
    try:
        yield
    finally:
        _LISTINGS.reset(token)


class LocalPlace(Readable):
    """A folder, or one file in its folder."""

    parallel = 1

    def __init__(self, path: Path, files: Mapping[str, int] | None = None) -> None:
        """
        Args:
            files: the folder's files, if already known.
        """
        try:
            # Checked before resolving: `/dev/stdin` does not resolve to a path.
            if path.is_fifo():
                raise TargetError(f"{escape(str(path))} is a pipe, and only files can be read: write it to one first")
            self.path = path.resolve(strict=True)
            is_file = self.path.is_file()
        except (OSError, RuntimeError) as error:
            raise _unreadable(path, error) from error
        if not is_file and not self.path.is_dir():
            raise TargetError(f"{escape(str(path))} is neither a file nor a folder")
        # A link (as in the Hub's cache) is read under its own name, in the folder that contains it.
        stands = path.parent.resolve() / path.name
        self.root = stands.parent if is_file else self.path
        self.selected: str | None = stands.name if is_file else None
        self.name = self.root.name
        self._opened: list[LocalFile] = []
        self._root = str(self.root)
        self.files: Mapping[str, int] = {**self._alone(), **self._sizes()} if files is None else files

    def _alone(self) -> dict[str, int]:
        """The one named file, which may be hidden."""
        return {self.selected: self.path.stat().st_size} if self.selected else {}

    def _sizes(self) -> dict[str, int]:
        known = _LISTINGS.get() if self.selected else None
        if known is None:
            return self._list()
        if self._root not in known:
            known[self._root] = self._list()
        return known[self._root]

    def _list(self) -> dict[str, int]:
        """The folder's files by path, without hidden ones and those below hidden folders."""
        found: dict[str, int] = {}
        recursive = self.selected is None
        pending = [("", self.root)]
        while pending:
            prefix, folder = pending.pop()
            try:
                entries = sorted(os.scandir(folder), key=lambda e: e.name)
            except OSError as error:
                if not prefix:
                    raise _unreadable(folder, error) from error
                continue
            for entry in entries:
                if entry.name.startswith(".") and entry.name != COLLECTIVE:
                    continue
                try:
                    if entry.is_dir(follow_symlinks=False):
                        if recursive:
                            pending.append((f"{prefix}{entry.name}/", Path(entry.path)))
                        continue
                    found[prefix + entry.name] = entry.stat().st_size
                except OSError:  # a dangling link: the audit reports it, here it is skipped
                    continue
            if len(found) > MAX_FILES:
                raise TargetError(
                    f"{escape(str(self.root))} holds more than {integer(MAX_FILES)} files: name the model's own folder"
                )
        return found

    def open(self, path: str) -> LocalFile:
        source = LocalFile(self.full(path))
        self._opened.append(source)
        return source

    def read_bytes(self, path: str, limit: int) -> bytes:
        with closing(self.open(path)) as source:
            check_size(source.size, limit, path)
            return source.read(0, source.size)

    def path_of(self, path: str) -> Path:
        """The path of a file of the place. Raises TargetError if it is outside the folder."""
        return Path(self.full(path))

    def full(self, path: str) -> str:
        """The path of a file of the place, as a string. Raises TargetError if it is outside the folder."""
        # Except on Windows, a backslash is an ordinary character.
        leads_up = ".." in path and ".." in path.replace(os.sep, "/").split("/")
        if leads_up or path.startswith(("/", os.sep)) or "\0" in path or (_DRIVES and os.path.isabs(path)):  # noqa: PTH117
            raise TargetError(f"{escape(path)} points outside {escape(str(self.root))}: not read")
        return f"{self._root}/{path}"

    def origin(self) -> Origin:
        location = self.root / self.selected if self.selected else self.root
        return Origin("local", str(location), None, None, sum(source.bytes_read for source in self._opened))

    def close(self) -> None:
        for source in self._opened:
            source.close()


def _unreadable(path: Path | str, error: Exception) -> SourceError:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return SourceError(f"{escape(str(path))}: {reason}")
