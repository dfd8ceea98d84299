"""Limits on what an audit reads. They are far above real models' sizes: hostile input must not take seconds."""

from __future__ import annotations

from collections.abc import Callable

from inspector.model import Finding
from inspector.model.codes import Code
from inspector.opening.configs import FILES, MAX_CONFIG
from inspector.opening.index import MAX_INDEX
from inspector.sources.filenames import WEIGHTS
from inspector.units import integer

MAX_HEADER = 16 * 1024 * 1024  # 92,000 tensors in one file take 12 MB
MAX_TENSORS = 20_000  # in one GGUF, in which experts are stacked: real ones have 3,000
MAX_DOCUMENT = MAX_CONFIG  # configurations, tokenizer_config.json
MAX_DOCUMENTS = 16 * 1024 * 1024  # all of them together
MAX_FILES = 10_000  # of one model; the largest published ones have about 1,000
MAX_EXTRA = 500  # weight files in addition to the checkpoint's own
KEPT_DOCUMENTS = 16  # parsed ones that are kept for the next rule
START = 64  # first bytes of a file, which identify it for many rules: read once

#: The longest header that safetensors itself reads; its reader reports longer ones, and those beyond the file's end.
_POSSIBLE_HEADER = 100_000_000


def excess(path: str, size: int, head: Callable[[str, int], bytes]) -> Finding | None:
    """Describes the excess of a file that is too large to be checked.

    Args:
        size: of the file, in bytes.
        head: path and length → the file's first bytes.
    """
    if path.endswith(".index.json"):
        return _beyond(path, size, MAX_INDEX, "index")
    if path.rsplit("/", 1)[-1] in FILES:
        return _beyond(path, size, MAX_DOCUMENT, "config")
    return _of_header(path, size, head(path, 16)) if path.endswith(WEIGHTS) else None


def _of_header(path: str, size: int, first: bytes) -> Finding | None:
    """The excess of a weight file, from its first 16 bytes."""
    if first[:4] in (b"GGUF", b"FUGG"):
        tensors = min(int.from_bytes(first[8:], order) for order in ("little", "big"))
        if MAX_TENSORS < tensors < size:  # a count that exceeds the file is reported by its reader
            what = f"{integer(tensors)} tensors, but no sound file needs {integer(MAX_TENSORS)}: not checked"
            return Finding("header-size", "error", what, path)
        return None
    length = int.from_bytes(first[:8], "little")
    return _beyond(path, length, MAX_HEADER, "header-size") if length <= min(size, _POSSIBLE_HEADER) else None


def _beyond(path: str, size: int, limit: int, rule: Code) -> Finding | None:
    if size <= limit:
        return None
    what = f"{integer(size)} bytes, but no sound file needs {integer(limit)}: not checked"
    return Finding(rule, "error", what, path)
