"""Does a Keras model's configuration name code that loading calls?

A layer is `{"module": …, "class_name": …, "config": …}`; any module it names is imported (CVE-2025-1550); a
`Lambda` layer contains Python bytecode (CVE-2024-3660). The `.keras` archive stores it in config.json, an HDF5 file in
an attribute, a SavedModel in keras_metadata.pb. Binary files are searched for its keys, whose letters JSON may escape.
"""

from __future__ import annotations

import builtins
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from inspector.auditing import data
from inspector.auditing.readers.archives import Limits, Piece, in_memory, leaves, member_of
from inspector.auditing.readers.pickles import Budgets, judge
from inspector.auditing.rule import Found, rule
from inspector.auditing.safety.outside_paths import GRAPH, hdf5_parts, is_hdf5
from inspector.auditing.subject import Subject
from inspector.formats import zips
from inspector.formats.hdf5 import structure as hdf5
from inspector.formats.zips import Read
from inspector.model import Severity
from inspector.sources.listing import Entry

_OF_KERAS = data.names("keras")

#: The most bytes of a configuration that are parsed.
MAX_CONFIG = 16 * 1024 * 1024
#: The largest HDF5 file that is searched as a whole; larger ones are only checked by their attributes.
MAX_SEARCHED = 64 * 1024 * 1024
_WINDOW = 1 << 20
_OVERLAP = 4_096
#: How deeply nested JSON values are examined, and how many.
MAX_VALUES = 500_000

#: Classes that run code in their configuration, or load another file.
_RUNNING = frozenset(_OF_KERAS["running"])
#: Packages of Keras's own. Its utilities fetch and run files.
_OWN = tuple(_OF_KERAS["own"])
#: Of modules with functions that load or run something, the classes that only hold layers or numbers: every functional
#: or compiled model of Keras 3 names them, and `load_model` of Keras 3.15 makes each of them with `safe_mode=True`.
_OWN_HARMLESS = re.compile(_OF_KERAS["own_harmless"])
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
    raw = value.rstrip(b"\0")
    if raw[-1:] == b"." and (found := judge(in_memory("", raw), Budgets(), likely=True).dangerous):
        yield f"an attribute that PyTables unpickles, which reaches {found[0]:.80}"
    if value.lstrip()[:1] in (b"{", b"["):
        try:
            yield from in_config(raw)
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


@rule("keras-lambda", "safe", "error")
def keras_lambda(subject: Subject) -> Iterator[Found]:
    """A Keras model's configuration names code: a Lambda layer, or a function of any module.

    Loading imports the module and calls the function (CVE-2024-3660, CVE-2025-1550); some versions of Keras did so even
    with `safe_mode=True`. Checked in `.keras` archives, HDF5 files and keras_metadata.pb, including names with escaped
    letters. Use the safetensors files instead. A configuration that cannot be read is an error too.
    """
    for entry in subject.regular():
        found = dict.fromkeys(_in_keras(subject, entry) if _is_keras(subject, entry) else ())
        for what, damaged in list(found)[:5]:
            if damaged:
                graph = what is _LARGE and entry.name.lower() == GRAPH
                severity: Severity | None = "warning" if graph else None
                yield Found(f"its configuration could not be checked: {what:.120}", entry.path, severity=severity)
            else:
                yield Found(f"it has {what:.160}: do not load it", entry.path)


_LARGE = "implausibly large"


def _is_keras(subject: Subject, entry: Entry) -> bool:
    name = entry.name.lower()
    if name.endswith(".json"):  # `model_from_json` also accepts a bare configuration
        return _MODEL_JSON.search(name) is not None
    return name.endswith((".keras", "keras_metadata.pb")) or is_hdf5(subject, entry)


_MODEL_JSON = re.compile(
    r"^config\.json$|(?:^|[_-])(?:model|architecture|keras)(?:[_-](?:config|model|architecture))?\.json$"
)


def _in_keras(subject: Subject, entry: Entry) -> Iterator[tuple[str, bool]]:
    """Each code or file that is named, and whether the message is only about damage."""
    if entry.name.lower().endswith(".json"):
        if subject.too_large(entry):
            yield _LARGE, True
        try:
            yield from ((what, False) for what in in_document(subject.document(entry.path)))
        except ValueError as error:
            yield str(error), True
        return
    with subject.reading(entry.path) as read:
        if read(0, 2) != b"PK":
            yield from _in_file(hdf5_parts(subject, entry), read, entry.size)
            return
        try:
            for member in zips.members(read, entry.size):
                if member.name.lower().endswith(".json"):
                    raw = zips.unpacked(read, member, MAX_CONFIG)
                    yield from ((what, False) for what in in_config(raw))
                elif member.name.lower().endswith(".h5"):
                    inner = member_of(Piece("", read, entry.size), member, member.name, Limits())
                    if inner.size < member.size:
                        raise zips.ZipError(f"{member.name!r:.80} unpacks to more than the audit reads")
                    parts = tuple(hdf5.parts(inner.read, inner.size))
                    yield from _in_file(parts, inner.read, inner.size)
                    elsewhere = (each for each in parts if isinstance(each, hdf5.Elsewhere) and leaves(each.file))
                    yield from ((f"{each.what} in {each.file!r:.80}, outside the folder", False) for each in elsewhere)
        except ValueError as error:
            yield str(error), True


def _in_file(parts: Iterable[hdf5.Part], read: zips.Read, size: int) -> Iterator[tuple[str, bool]]:
    """HDF5 files are traversed; other binary files are searched for the keys of a configuration."""
    is_hdf5 = hdf5.start_of(read, size) is not None
    for each in parts if is_hdf5 else ():
        if isinstance(each, hdf5.Unread):
            yield each.why, True
        elif isinstance(each, hdf5.Attribute):
            yield from ((what, False) for what in in_attribute(each.value))
    if size <= MAX_SEARCHED or not is_hdf5:
        yield from ((what, False) for what in in_binary(read, size))
