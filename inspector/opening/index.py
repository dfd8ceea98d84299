"""Reads a `*.safetensors.index.json` in little memory: the largest have some 60 MB, nearly all of it names.

    {"metadata": {"total_size": 13476835328}, "weight_map": {"lm_head.weight": "model-00002-of-00002.safetensors", …}}

The map is parsed a piece at a time, and each file name is kept once. The rest of the document
is a few fields, and parsed as ordinary JSON.
"""

from __future__ import annotations

import json
import re
from typing import Any

from inspector.errors import FormatError
from inspector.formats.findings import Findings
from inspector.model import Index
from inspector.opening import configs
from inspector.sources import Place
from inspector.units import escape, integer

#: Bytes that are read. A trillion parameters in 384 experts a layer, packed, take 20 MB.
MAX_INDEX = 64 * 1024 * 1024
#: Bytes of an index with non-ASCII characters, which take up to four bytes each in memory.
MAX_WIDE = 16 * 1024 * 1024
#: Bytes of everything except the map.
MAX_REST = 2 * 1024 * 1024
#: The most tensors and files: twice the tensors of the largest published models, and many times their files.
MAX_TENSORS = 500_000
MAX_FILES = 10_000

_MAP = re.compile(rb'"weight_map"\s*:\s*\{')
#: Bytes of the map that are parsed at once.
_WINDOW = 1 << 20
#: The placeholder for the map in the rest of the document. No file name has a NUL.
_TAKEN, _TAKEN_TEXT = b'"\\u0000"', "\0"


def read_index(place: Place, path: str, findings: Findings) -> Index:
    """An index file.

    Raises:
        FormatError: not JSON, no `weight_map` of names to file names, or an implausible number of them.
        SourceError: it cannot be read.
    """
    raw = place.read_bytes(path, MAX_INDEX).removeprefix(b"\xef\xbb\xbf")
    if len(raw) > MAX_WIDE and not raw.isascii():
        raise _no_index(path, f"{integer(len(raw))} bytes with non-ASCII characters, which no tensor's name has")
    weight_map, rest = _without_map(raw, path, findings)
    parsed = _document(rest, path)
    if not isinstance(parsed, dict):
        raise _no_index(path, "not an object")
    if parsed.get("weight_map") != _TAKEN_TEXT:
        weight_map = parsed.get("weight_map")
    if not isinstance(weight_map, dict) or not {*map(type, weight_map.values())} <= {str}:
        raise _no_index(path, "no weight_map of tensor names to file names")
    for name, differ in configs.repeated_keys(rest.decode()):
        what = f"the field {name!r:.120} appears twice" + (" and differs" if differ else "")
        findings.add("duplicate-field", "warning" if differ else "info", what)
    metadata = parsed.get("metadata")
    return Index(path, weight_map, metadata if isinstance(metadata, dict) else {})


def _without_map(raw: bytes, path: str, findings: Findings) -> tuple[dict[str, str] | None, bytes]:
    """The map, and the document without it; the whole document if no map can be extracted."""
    found = _MAP.search(raw)
    if found is None:
        return None, raw
    try:
        weight_map, end = _pairs(raw, found.end(), path, findings)
    except ValueError:
        return None, raw
    return weight_map, raw[: found.end() - 1] + _TAKEN + raw[end:]


def _pairs(raw: bytes, at: int, path: str, findings: Findings) -> tuple[dict[str, str], int]:
    """`"name": "file", …}` as a dictionary, and its end. Raises ValueError for all else, and for braces in names."""
    weight_map: dict[str, str] = {}
    files: dict[str, str] = {}
    end = raw.index(b"}", at)
    while at < end:
        stop = end if end - at <= _WINDOW else raw.rindex(b'",', at, at + _WINDOW) + 1
        pairs = json.loads(b"{%b}" % raw[at:stop], object_pairs_hook=list)
        if not pairs and weight_map:
            raise ValueError("a comma before the end")
        for name, file in pairs:
            if not isinstance(file, str):
                raise ValueError("no file's name")
            if name in weight_map:
                _add_repeated(name, weight_map[name], file, findings)
            weight_map[name] = files.setdefault(file, file)
        at = stop + 1
        if len(weight_map) > MAX_TENSORS or len(files) > MAX_FILES:
            raise _no_index(path, f"more than {integer(MAX_TENSORS)} tensors or {integer(MAX_FILES)} files")
    return weight_map, end + 1


def _add_repeated(name: str, before: str, file: str, findings: Findings) -> None:
    if before != file:
        findings.add("duplicate-field", "warning", f"appears twice: in {before!r:.120} and in {file!r:.120}", name)
    else:
        findings.add("duplicate-field", "info", "appears twice in the index", name)


def _document(raw: bytes, path: str) -> Any:
    if len(raw) > MAX_REST:
        raise _no_index(path, f"more than {integer(MAX_REST)} bytes besides a readable weight_map")
    try:
        return configs.loads(raw.decode())
    except UnicodeDecodeError as error:
        raise FormatError(f"{escape(path)} is not UTF-8 text: byte {error.start}", "index") from error
    except ValueError as error:
        what = f"{error.msg} at line {error.lineno}" if isinstance(error, json.JSONDecodeError) else str(error)
        raise FormatError(f"{escape(path)} is not a JSON document: {what}", "index") from error


def _no_index(path: str, what: str) -> FormatError:
    return FormatError(f"{escape(path)} has {what}: not an index", "index")
