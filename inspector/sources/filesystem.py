"""Object stores and whatever else fsspec opens: `s3://bucket/model`, `gs://…`, `az://…`, `sftp://…`.

Listings and byte ranges come from fsspec's file systems, which find credentials as their own tools do. The kind of
store may need a package: s3fs, gcsfs or adlfs (`pip install 'checkpoint-inspector[s3]'`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Lock
from typing import Any

from inspector.errors import NetworkError, SourceError, TargetError, UsageError, install_command
from inspector.model import Origin
from inspector.sources import Readable, check_end, check_size, workers
from inspector.sources.remote import FIRST, MAX_KEPT, has_long_header
from inspector.units import escape, integer

#: The most files that one place may have, as on a disk.
MAX_FILES = 200_000
#: The start of a file is requested in pieces whose size doubles up to this, in bytes.
LONGEST_STEP = 32 << 20
#: Header bytes to expect if they include a vocabulary.
LONG_HEADER = 8 << 20
#: Files that are read concurrently.
PARALLEL = 16
#: Scheme → the extra of this package that installs what fsspec needs for it.
EXTRAS = {"s3": "s3", "s3a": "s3", "gs": "gs", "gcs": "gs", "az": "az", "abfs": "az", "abfss": "az", "adl": "az"}
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*)(?:::|://)", re.IGNORECASE)


def scheme_of(target: str) -> str | None:
    """The scheme that a target begins with: "s3" of `s3://bucket/key`; None if it is not a URL."""
    found = _SCHEME.match(target)
    return found[1].lower() if found else None


class FilesystemPlace(Readable):
    """A folder, or one file in its folder, on one of fsspec's file systems."""

    parallel = PARALLEL

    def __init__(self, url: str, files: Mapping[str, int] | None = None) -> None:
        """
        Args:
            files: the folder's files, if already known.

        Raises:
            UsageError: fsspec does not know the scheme, or lacks the package for it.
            TargetError: nothing is there.
            NetworkError: the store does not answer.
        """
        self._fs, path = open_url(url)
        self._lock, self._requests, self._bytes = Lock(), 0, 0
        self._url = escape(url.split("?", 1)[0] if "@" not in url else f"{scheme_of(url)}://…/{path}", 500)
        self._server = scheme_of(url) or ""
        path = path.rstrip("/")
        if files is not None:
            self.selected: str | None = None
            self._root, self.name = f"{path}/", path.rsplit("/", 1)[-1]
            self.files: Mapping[str, int] = files
            return
        with self.request(self._url):
            found = self._fs.info(path)
        is_file = found.get("type") == "file"
        folder, slash, last = path.rpartition("/")
        self.selected = last if is_file else None
        self._root = (folder + slash) if is_file else f"{path}/"
        self.name = self._root.rstrip("/").rsplit("/", 1)[-1] or last
        self.files = dict(self._listing(recursive=not is_file))
        if is_file:
            self.files = {last: int(found["size"]), **self.files}

    def _listing(self, *, recursive: bool) -> Iterator[tuple[str, int]]:
        """Path → bytes of each file, hidden ones left out."""
        root, number = self._root.rstrip("/"), 0
        with self.request(self._url):
            for folder, inner, files in self._fs.walk(root, maxdepth=None if recursive else 1, detail=True):
                for hidden in [name for name in inner if name.startswith(".")]:
                    del inner[hidden]
                within = folder.strip("/")[len(root.strip("/")) :].strip("/")
                for name, entry in files.items():
                    number += 1
                    if number > MAX_FILES:
                        raise TargetError(f"{self._url} holds more than {integer(MAX_FILES)} files: name a folder")
                    if name and not name.startswith(".") and isinstance(entry.get("size"), int):
                        yield f"{within}/{name}".lstrip("/"), entry["size"]

    def open(self, path: str) -> FilesystemFile:
        if path not in self.files:
            raise TargetError(f"{self._url} has no file {escape(path)}")
        return FilesystemFile(self, path, self.files[path])

    def read_bytes(self, path: str, limit: int) -> bytes:
        size = self.open(path).size
        check_size(size, limit, path)
        return self.range(path, 0, size)

    def range(self, path: str, start: int, end: int) -> bytes:
        """Bytes of a file. Raises SourceError if there are fewer, NetworkError if they cannot be fetched."""
        if start >= end:
            return b""
        with self.request(f"{self._url}: {escape(path)}"):
            data: bytes = self._fs.cat_file(self._root + path, start=start, end=end)
        with self._lock:
            self._bytes += len(data)
        if len(data) != end - start:
            raise SourceError(f"{escape(path)} returned {integer(len(data))} of {integer(end - start)} bytes")
        return data

    @contextmanager
    def request(self, what: str) -> Iterator[None]:
        """One request, counted; any exception of a file system becomes one of our errors."""
        workers.wait_for_turn(self._server)
        with self._lock:
            self._requests += 1
        try:
            yield
        except (TargetError, SourceError):
            raise
        except FileNotFoundError as error:
            raise TargetError(f"{what}: no such file or folder") from error
        except PermissionError as error:
            raise TargetError(f"{what}: no access: {_reason(error)}") from error
        except Exception as error:  # the package for each kind of store has its own exceptions
            raise NetworkError(f"{what}: {_reason(error)}") from error

    def origin(self) -> Origin:
        return Origin("url", self._url, None, self._requests, self._bytes)

    def close(self) -> None:
        """Do nothing: no connection stays open between requests."""


class FilesystemFile:
    """A `Source` over one file of a file system. Nothing is fetched twice."""

    def __init__(self, place: FilesystemPlace, path: str, size: int) -> None:
        self.size = size
        self._place, self._path = place, path
        self._kept = bytearray()
        self._step = LONG_HEADER if has_long_header(path) else FIRST

    def read(self, offset: int, length: int) -> bytes:
        end = offset + length
        check_end(end, self.size, escape(self._path))
        if end > len(self._kept) and offset > len(self._kept):
            return self._place.range(self._path, offset, end)
        self.prefix(end)
        return bytes(memoryview(self._kept)[offset:end])

    def prefix(self, length: int) -> memoryview:
        length = min(length, self.size)
        if length > MAX_KEPT:
            raise SourceError(f"{escape(self._path)}: a header of more than {integer(MAX_KEPT)} bytes is not read")
        if length > len(self._kept):
            have, end = len(self._kept), min(self.size, max(length, len(self._kept) + self._step))
            more = self._place.range(self._path, have, end)
            self._kept = self._kept + more  # a new buffer: views keep the old one alive
            self._step = min(self._step * 2, LONGEST_STEP)
        return memoryview(self._kept).toreadonly()

    def close(self) -> None:
        """Release the bytes that were read."""
        self._kept = bytearray()


def open_url(url: str) -> tuple[Any, str]:
    """The file system and the path on it."""
    from fsspec.core import url_to_fs  # 0.05 s, and a package for the kind of store

    scheme = scheme_of(url) or ""
    try:
        fs, path = url_to_fs(url)
    except ImportError as error:
        extra = EXTRAS.get(scheme)
        way = f"`{install_command(extra)}`" if extra else escape(_reason(error), 200)
        raise UsageError(f"{escape(scheme, 20)}:// needs a package that is not installed: {way}") from error
    except ValueError as error:
        raise UsageError(f"{escape(url, 200)}: {escape(_reason(error), 200)}") from error
    except Exception as error:
        raise NetworkError(f"{escape(url, 200)}: {escape(_reason(error), 300)}") from error
    return fs, path if isinstance(path, str) else path[0]


def _reason(error: Exception) -> str:
    """An error in one line."""
    return escape(" ".join(str(error).split()) or type(error).__name__, 300)
