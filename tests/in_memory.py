"""Files in memory for readers: sources that record what is read, and the smallest files of some formats."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from typing import Any

import h5py
import pytest

from inspector.errors import FormatError
from inspector.units import escape


class Bytes:
    """A source in memory, which fails when it is read beyond its end."""

    def __init__(self, raw: bytes) -> None:
        self.raw, self.size, self.bytes_read = raw, len(raw), 0

    def read(self, offset: int, length: int) -> bytes:
        assert 0 <= offset <= offset + length <= self.size
        return self.raw[offset : offset + length]

    def prefix(self, length: int) -> memoryview:
        return memoryview(self.raw)[:length]

    def close(self) -> None:
        """Do nothing: no file is open."""


def refused(read: Callable[[Any, str], object], raw: bytes, path: str = "a\n.x") -> tuple[str, str]:
    """Rule and message of a file that cannot be read, with its path as `P`."""
    with pytest.raises(FormatError) as caught:
        read(Bytes(raw), path)
    assert "\n" not in str(caught.value)
    return caught.value.rule, str(caught.value).replace(escape(path), "P")


def described(
    descr: str = "'<f4'", shape: str = "(3,)", fortran: bool = False, version: int = 1, *, after: str = ", "
) -> bytes:
    """An array's header as NumPy writes it."""
    line = f"{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}{after}}}\n".encode()
    width = 2 if version == 1 else 4
    return b"\x93NUMPY" + bytes((version, 0)) + len(line).to_bytes(width, "little") + line


def zipped(members: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as file:
        for name, data in members.items():
            file.writestr(name, data)
    return out.getvalue()


def keras(write: Callable[[h5py.File], object]) -> bytes:
    out = io.BytesIO()
    with h5py.File(out, "w") as file:
        write(file)
    return out.getvalue()
