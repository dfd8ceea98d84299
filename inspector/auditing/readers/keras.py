"""Keras models: their JSON configuration names classes and functions that loading calls.

A layer is `{"module": …, "class_name": …, "config": …}`; any module it names is imported (CVE-2025-1550), and a
`Lambda` layer contains Python bytecode (CVE-2024-3660). The `.keras` archive stores it in config.json, an HDF5 file in
an attribute, a SavedModel in keras_metadata.pb. Binary files are searched for its keys, whose letters JSON may escape.
"""

from __future__ import annotations

import builtins
import json
import re
from collections.abc import Iterator
from typing import Any

from inspector.auditing import data
from inspector.formats.zips import Read

_NAMES = data.names("keras")

#: The most bytes of a configuration that are parsed.
MAX_CONFIG = 16 * 1024 * 1024
#: The largest HDF5 file that is searched as a whole; larger ones are only checked by their attributes.
MAX_SEARCHED = 64 * 1024 * 1024
_WINDOW = 1 << 20
_OVERLAP = 4_096
#: How deeply nested JSON values are examined, and how many.
MAX_VALUES = 500_000

#: Classes that run code in their configuration, or load another file.
_RUNNING = frozenset(_NAMES["running"])
#: Packages of Keras's own. Its utilities fetch and run files.
_OWN = tuple(_NAMES["own"])
#: Of modules with functions that load or run something, the classes that only hold layers or numbers: every functional
#: or compiled model of Keras 3 names them, and `load_model` of Keras 3.15 makes each of them with `safe_mode=True`.
_OWN_HARMLESS = re.compile(_NAMES["own_harmless"])
_OWN_RUNNING = re.compile(r"(?:^|\.)(?:utils|saving|src\.utils|src\.saving|backend|models|ops\.core|legacy)(?:\.|$)")


def in_config(raw: bytes) -> Iterator[str]:
    """What a configuration names that runs code or reads files; raises ValueError if it is not JSON."""
    try:
        document = json.loads(raw)
    except RecursionError as error:
        raise ValueError("implausibly deeply nested") from error
    yield from in_document(document)


def in_document(document: Any) -> Iterator[str]:
    """As `in_config`, for a parsed configuration."""
    pending = [document]
    for number, value in enumerate(pending):
        if number > MAX_VALUES:
            raise ValueError("implausibly many values")
        if isinstance(value, dict):
            yield from _code_in(value)
            pending += value.values()
        elif isinstance(value, list):
            pending += value


def in_attribute(value: bytes) -> Iterator[str]:
    """As `in_config`, for an attribute of an HDF5 file: a configuration, or any other text or number."""
    if value.lstrip()[:1] in (b"{", b"["):
        try:
            yield from in_config(value.rstrip(b"\0"))
        except ValueError:
            yield from _in_bytes(value)


def _code_in(scope: dict[str, Any]) -> Iterator[str]:
    """Classes, functions and files that one object of a configuration names."""
    kind, module = scope.get("class_name"), scope.get("module")
    if isinstance(kind, str):
        if _is_code(kind):
            yield f"a {kind} layer, which is code"
        if isinstance(module, str) and module and not _is_own(module, kind):
            yield f"{kind} of the module {module}"
        if kind == "function" and module in ("builtins", None) and str(scope.get("config")) in vars(builtins):
            yield f"Python's own function {scope['config']}"
    yield from _files_of(scope, kind)
    if isinstance(scope.get("fn_name"), str) and isinstance(scope.get("module"), str) and not isinstance(kind, str):
        yield f"the function {scope['fn_name']} of the module {scope['module']}"


#: Fields of layers' own configurations that name a file which loading reads (CVE-2025-12058).
_FILES = ("vocabulary", "vocabulary_path", "merges", "proto", "idf_weights", "filepath", "filename")


def _files_of(scope: dict[str, Any], kind: Any) -> Iterator[str]:
    inner = scope.get("config")
    if isinstance(kind, str) and isinstance(inner, dict):
        for field in _FILES:
            if isinstance(inner.get(field), str) and inner[field]:
                yield f"a {kind} that reads the file {inner[field]!r:.80}"


def _is_code(kind: str) -> bool:
    return kind.rpartition(".")[2].rpartition(">")[2] in _RUNNING or kind == "__lambda__"


def _is_own(module: str, kind: str) -> bool:
    """Whether a class is one of Keras's own that only contains layers; functions have the class name `function`.

    Args:
        kind: empty where only the module's name was found.
    """
    own = module.split(".", maxsplit=1)[0] in _OWN or module.startswith(_OWN)
    if module == "builtins":
        return kind in ("function", "dict", "list", "tuple", "int", "float", "str", "bool", "slice", "NoneType", "type")
    return own and (not _OWN_RUNNING.search(module) or _OWN_HARMLESS.fullmatch(f"{module}:{kind}") is not None)


def _perhaps_escaped(word: str) -> bytes:
    """A pattern for a word in JSON, whose letters may each be written as `\\\\u0041`."""
    letters = (rf"(?:{re.escape(letter)}|\\u(?i:{ord(letter):04x}))" for letter in word)
    return "".join(letters).encode()


_QUOTED = rb'"((?:[^"\\\x00-\x1f]|\\.){0,400})"'
_CLASS = re.compile(rb'"' + _perhaps_escaped("class_name") + rb'"\s*:\s*' + _QUOTED)
_MODULE = re.compile(rb'"' + _perhaps_escaped("module") + rb'"\s*:\s*' + _QUOTED)


def in_binary(read: Read, size: int) -> Iterator[str]:
    """Names in a binary file's embedded configuration that run code, found by the configuration's keys."""
    for start in range(0, size, _WINDOW):
        data = read(start, min(_WINDOW + _OVERLAP, size - start))
        if b'"' in data:
            yield from _in_bytes(data)


def _in_bytes(data: bytes) -> Iterator[str]:
    for found in _CLASS.finditer(data):
        if _is_code(kind := _unquoted(found[1])):
            yield f"a {kind} layer, which is code"
    for found in _MODULE.finditer(data):
        module = _unquoted(found[1])
        if module and module != "builtins" and not _is_own(module, ""):
            yield f"the module {module}"


def _unquoted(raw: bytes) -> str:
    try:
        value = json.loads(b'"' + raw + b'"')
    except ValueError:
        return raw.decode("utf-8", "replace")
    return value if isinstance(value, str) else ""
