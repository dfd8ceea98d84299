"""Reads a `*.safetensors.index.json` in little memory: the largest have some 60 MB, nearly all of it names.

    {"metadata": {"total_size": 13476835328}, "weight_map": {"lm_head.weight": "model-00002-of-00002.safetensors", …}}

The map's pairs are extracted one by one from the raw bytes, and each file name is kept once. The rest of the document
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
# A JSON string; without the bound on escapes, a string of escapes alone would exhaust the pattern's memory.
_STRING = rb'"([^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*){0,1000})"'
_PAIR = rb"[ \t\n\r]*" + _STRING + rb"[ \t\n\r]*:[ \t\n\r]*" + _STRING + rb"[ \t\n\r]*([,}])"
_EMPTY = re.compile(rb"[ \t\n\r]*\}")
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
    if empty := _EMPTY.match(raw, found.end()):
        return {}, raw[: found.end() - 1] + _TAKEN + raw[empty.end() :]
    try:
        weight_map, end = _pairs(raw, found.end(), path, findings)
    except ValueError:
        return None, raw
    return weight_map, raw[: found.end() - 1] + _TAKEN + raw[end:]


def _pairs(raw: bytes, at: int, path: str, findings: Findings) -> tuple[dict[str, str], int]:
    """`"name": "file", …}` as a dictionary, and its end. Raises ValueError for anything else."""
    weight_map: dict[str, str] = {}
    files: dict[bytes, str] = {}
    match, closing = re.compile(_PAIR).match, b""  # compiled where there is an index
    while closing != b"}":
        found = match(raw, at)
        if found is None:
            raise ValueError("not a pair of strings")
        name, file, closing = _text(found[1]), files.get(found[2]), found[3]
        if file is None:
            file = files[found[2]] = _text(found[2])
        if name in weight_map:
            _add_repeated(name, weight_map[name], file, findings)
        weight_map[name] = file
        at = found.end()
        if len(weight_map) > MAX_TENSORS or len(files) > MAX_FILES:
            raise _no_index(path, f"more than {integer(MAX_TENSORS)} tensors or {integer(MAX_FILES)} files")
    return weight_map, at


def _add_repeated(name: str, before: str, file: str, findings: Findings) -> None:
    if before != file:
        findings.add("duplicate-field", "warning", f"appears twice: in {before!r:.120} and in {file!r:.120}", name)
    else:
        findings.add("duplicate-field", "info", "appears twice in the index", name)


def _text(raw: bytes) -> str:
    """A JSON string's text. Raises ValueError if it is not one."""
    text = raw.decode()
    return str(json.loads(f'"{text}"')) if "\\" in text else text


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
