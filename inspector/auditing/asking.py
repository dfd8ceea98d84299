"""Asks the formats' own libraries whether they would open a file. They read its header, but no tensor data.

with asking(own_process=True) as ask:
    ask.safetensors(path)      ""  it opens the file
    ask.gguf(path)             "…" the library's error; None if it is not installed
"""

from __future__ import annotations

import struct
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from inspector.formats.gguf.values import ARRAY, CODES, STRING, WIDTHS

#: The most tensors and key-values of a GGUF for which its package is run; it takes half a millisecond for each.
MOST_ENTRIES = 4_000


class Libraries(NamedTuple):
    """The libraries. Each answer is "" if the file opens, else the library's message; None if it is not installed."""

    safetensors: Callable[[Path], str | None]
    gguf: Callable[[Path], str | None]


@contextmanager
def asking(*, own_process: bool) -> Iterator[Libraries]:
    """The libraries, imported on first use.

    Args:
        own_process: whether nothing else in this process needs NumPy. `safetensors` imports it to open a file, which
            takes as long as an audit, but uses it only for tensors: an empty module replaces it in the meantime.
    """
    stand_in = own_process and "numpy" not in sys.modules

    def safetensors(path: Path) -> str | None:
        if stand_in:
            sys.modules.setdefault("numpy", ModuleType("numpy"))
        return _safetensors(path)

    def gguf(path: Path) -> str | None:
        if stand_in and not hasattr(sys.modules.get("numpy"), "ndarray"):
            sys.modules.pop("numpy", None)
        return _gguf(path)

    try:
        yield Libraries(safetensors, gguf)
    finally:
        if stand_in and not hasattr(sys.modules.get("numpy"), "ndarray"):
            sys.modules.pop("numpy", None)


def _safetensors(path: Path) -> str | None:
    try:
        from safetensors import SafetensorError, safe_open
    except ImportError:
        return None
    try:
        with safe_open(str(path), "np"):
            return ""
    except (SafetensorError, OSError) as error:
        return str(error)[:200] or type(error).__name__
    except Exception:  # e.g. NumPy is missing
        return None


def _gguf(path: Path) -> str | None:
    reader = _stepping_reader()
    if reader is None:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numbers too large for NumPy's integers
        try:
            reader(path)
        except Exception as error:  # the package checks little itself, and raises anything on a damaged file
            return " ".join(str(error).split())[:200] or type(error).__name__
    return ""


#: Bytes at the start of a GGUF: the magic, the version, and the numbers of tensors and key-values.
FIXED = 24


def few_enough(head: bytes) -> bool:
    """Whether a GGUF has few enough entries, by its first bytes, for its package to read quickly.

    The package itself determines the byte order by the version. It refuses a file that is too short for these numbers.
    """
    if len(head) < FIXED:
        return True
    order = "<" if struct.unpack_from("<I", head, 4)[0] & 0xFFFF else ">"
    return all(count <= MOST_ENTRIES for count in struct.unpack_from(f"{order}QQ", head, 8))


def _stepping_reader() -> Any:
    """The package's reader, but skipping arrays: it makes objects of their items, which takes 17 s for Llama 3's."""
    try:
        import gguf
        import numpy
    except ImportError:
        return None

    class Stepping(gguf.GGUFReader):
        def _get_field_parts(self, orig_offs: int, raw_type: int) -> Any:
            if raw_type != ARRAY:
                return super()._get_field_parts(orig_offs, raw_type)
            item = self._get(orig_offs, numpy.uint32)
            count = self._get(orig_offs + 4, numpy.uint64)
            end = _end_of(self.data, self.endianess.name, int(item[0]), int(count[0]), orig_offs + 12)
            if end is None:
                return super()._get_field_parts(orig_offs, raw_type)
            return end - orig_offs, [item, count], [], [gguf.GGUFValueType.ARRAY]

    return Stepping


def _end_of(data: Any, order: str, item: int, count: int, at: int) -> int | None:
    """The end of an array. None if the library should read it itself: it is damaged, or has nested arrays.

    Raises:
        IndexError: it ends beyond the file.
    """
    if item in CODES:
        end = at + WIDTHS[item] * count
    elif item == STRING:
        length = struct.Struct("<Q" if order == "LITTLE" else ">Q").unpack_from
        end = at
        for _ in range(count):
            if end + 8 > len(data):
                raise IndexError(_BEYOND)
            end += 8 + length(data, end)[0]
    else:
        return None
    if end > len(data):
        raise IndexError(_BEYOND)
    return end


_BEYOND = "an array ends beyond the file"
