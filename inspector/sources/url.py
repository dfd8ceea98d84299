"""One weight file at an http(s) URL, on any server that supports range requests."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from inspector.errors import TargetError
from inspector.model import Origin
from inspector.sources import decoded
from inspector.sources.answers import Link, shown_url
from inspector.sources.http import Wire
from inspector.sources.remote import RemoteFile, has_long_header
from inspector.units import escape


class UrlPlace:
    """A single file as a place. No token is sent."""

    parallel = 1

    def __init__(self, url: str) -> None:
        self._url = url
        self._wire = Wire(home=url)
        self.selected: str | None = PurePosixPath(unquote(urlsplit(url).path)).name or "file"
        self._file = RemoteFile(self._wire, Link(url), streamed=has_long_header(self.selected))
        self.name = PurePosixPath(self.selected).stem
        self.files: Mapping[str, int] = {self.selected: self._file.size}

    def open(self, path: str) -> RemoteFile:
        if path != self.selected:
            raise TargetError(f"{escape(path)} is not at {shown_url(self._url)}: a URL names one file")
        return self._file

    def read_bytes(self, path: str, limit: int) -> bytes:  # noqa: ARG002  a place's signature
        raise TargetError(f"{escape(path)} is not read from {shown_url(self._url)}: a URL names one weight file")

    def read_text(self, path: str, limit: int) -> str:
        return decoded(self.read_bytes(path, limit), path)

    def origin(self) -> Origin:
        wire = self._wire
        return Origin("url", shown_url(self._url), None, wire.requests, wire.bytes_read, wire.redirects)

    def close(self) -> None:
        self._wire.close()
        self._file.close()
