"""Reading a `*.safetensors.index.json` in little memory: the largest have some 60 MB, nearly all of it names.

    {"metadata": {"total_size": 13476835328}, "weight_map": {"lm_head.weight": "model-00002-of-00002.safetensors", …}}

The map's pairs are taken one by one from the bytes as they were read, and each file's name is kept once. What is
left of the document without them is a few fields, and read as any JSON.
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
#: Bytes of one with letters beyond ASCII, which take up to four bytes each in memory.
MAX_WIDE = 16 * 1024 * 1024
#: Bytes of what is not the map.
MAX_REST = 2 * 1024 * 1024
#: Twice the tensors of the largest published models, and many times their files.
MAX_TENSORS = 500_000
MAX_FILES = 10_000

_MAP = re.compile(rb'"weight_map"\s*:\s*\{')
# A JSON string; without the bound on escapes, one of nothing else would cost the pattern its memory.
_STRING = rb'"([^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*){0,1000})"'
_PAIR = re.compile(rb"[ \t\n\r]*" + _STRING + rb"[ \t\n\r]*:[ \t\n\r]*" + _STRING + rb"[ \t\n\r]*([,}])")
_EMPTY = re.compile(rb"[ \t\n\r]*\}")
#: What stands for the map in what is left of the document. No file's name has a zero.
_TAKEN, _TAKEN_TEXT = b'"\\u0000"', "\0"


def read_index(place: Place, path: str, findings: Findings) -> Index:
    """An index file.

    Raises:
        FormatError: not JSON, no `weight_map` of names to file names, or more of them than any model has.
        SourceError: it cannot be read.
    """
    raw = place.read_bytes(path, MAX_INDEX).removeprefix(b"\xef\xbb\xbf")
    if len(raw) > MAX_WIDE and not raw.isascii():
        raise _no_index(path, f"{integer(len(raw))} bytes with letters beyond ASCII, which no tensor's name has")
    weight_map, rest = _apart(raw, path, findings)
    parsed = _document(rest, path)
    if not isinstance(parsed, dict):
        raise _no_index(path, "no object")
    if parsed.get("weight_map") != _TAKEN_TEXT:
        weight_map = parsed.get("weight_map")
    if not isinstance(weight_map, dict) or not all(isinstance(file, str) for file in weight_map.values()):
        raise _no_index(path, "no weight_map of tensor names to file names")
    for name, differ in configs.repeated(rest.decode()):
        what = f"the field {name!r:.120} appears twice" + (" and differs" if differ else "")
        findings.add("duplicate-field", "error" if differ else "warning", what)
    metadata = parsed.get("metadata")
    return Index(path, weight_map, metadata if isinstance(metadata, dict) else {})


def _apart(raw: bytes, path: str, findings: Findings) -> tuple[dict[str, str] | None, bytes]:
    """The map, and the document without it; all of the document where it has no map that can be read so."""
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
    """`"name": "file", …}` as a dictionary, and where it ends. Raises ValueError where it is anything else."""
    weight_map: dict[str, str] = {}
    files: dict[bytes, str] = {}
    match, closing = _PAIR.match, b""
    while closing != b"}":
        found = match(raw, at)
        if found is None:
            raise ValueError("no pair of texts")
        name, file, closing = _text(found[1]), files.get(found[2]), found[3]
        if file is None:
            file = files[found[2]] = _text(found[2])
        if name in weight_map:
            _repeated(name, weight_map[name], file, findings)
        weight_map[name] = file
        at = found.end()
        if len(weight_map) > MAX_TENSORS or len(files) > MAX_FILES:
            raise _no_index(path, f"more than {integer(MAX_TENSORS)} tensors or {integer(MAX_FILES)} files")
    return weight_map, at


def _repeated(name: str, before: str, file: str, findings: Findings) -> None:
    if before != file:
        findings.add("duplicate-field", "error", f"appears twice: in {before!r:.120} and in {file!r:.120}", name)
    else:
        findings.add("duplicate-field", "warning", "appears twice in the index", name)


def _text(raw: bytes) -> str:
    """A JSON string's text. Raises ValueError for what is none."""
    text = raw.decode()
    return str(json.loads(f'"{text}"')) if "\\" in text else text


def _document(raw: bytes, path: str) -> Any:
    if len(raw) > MAX_REST:
        raise _no_index(path, f"more than {integer(MAX_REST)} bytes beside a weight_map that can be read")
    try:
        return configs.loads(raw.decode())
    except UnicodeDecodeError as error:
        raise FormatError(f"{escape(path)} is not UTF-8 text: byte {error.start}", "index") from error
    except ValueError as error:
        what = f"{error.msg} at line {error.lineno}" if isinstance(error, json.JSONDecodeError) else str(error)
        raise FormatError(f"{escape(path)} is not a JSON document: {what}", "index") from error


def _no_index(path: str, what: str) -> FormatError:
    return FormatError(f"{escape(path)} has {what}: no index", "index")
