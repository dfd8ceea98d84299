"""Graphs of ONNX, TensorFlow and TensorFlow Lite: the texts in them, without their tensors.

Protocol Buffers (https://protobuf.dev/programming-guides/encoding): a table says which fields contain messages of which
type; all other fields, especially tensors' bytes, are skipped unread. FlatBuffers (https://flatbuffers.dev/internals):
a table begins with the distance to its list of fields; each field is an offset from its own position.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from inspector.auditing import data
from inspector.formats.zips import Read

#: The most fields examined in one file.
MAX_FIELDS = 500_000
#: The deepest nesting of messages: graphs in the attributes of nodes of graphs.
MAX_DEPTH = 40
#: Bytes of a message's fields fetched at once.
_WINDOW = 1 << 16

#: Message type → field number → the message type, or text, that it contains.
Schema = Mapping[str, Mapping[int, str]]


def _schema(name: str) -> Schema:
    """From `data/names.json`, whose keys are texts."""
    kinds = data.names("graphs")[name].items()
    return {kind: {int(number): inner for number, inner in fields.items()} for kind, fields in kinds}


#: onnx.proto: the locations of tensors, and the entries with the name of their file.
ONNX = _schema("onnx")
#: saved_model.proto, meta_graph.proto, graph.proto, function.proto: the locations of operations' names.
SAVED_MODEL = _schema("saved_model")


class Text(NamedTuple):
    """A string that the table selects."""

    kind: str  # ".operation", ".key", …; ".bytes" has a letter for each byte
    value: str
    parent: int  # where its message starts: entries of one message share it


class DamageError(ValueError):
    """The bytes are not such a message, or are more than the audit reads."""


def texts(read: Read, size: int, schema: Schema, kind: str = "model") -> Iterator[Text]:
    """Every string that the table selects, in the file's order. Raises DamageError."""
    budget = [MAX_FIELDS]
    yield from _of_message(_Window(read, size), 0, size, schema, kind, budget, 0)


def reads(raw: bytes) -> Read:
    """Reads of bytes in memory."""
    return lambda at, length: raw[at : at + length]


def is_message(raw: bytes) -> bool:
    """Whether bytes are a message that ends exactly at the end of its last field."""
    try:
        return not any(texts(reads(raw), len(raw), {"model": {}}))
    except DamageError:
        return False


def _of_message(
    window: _Window, start: int, end: int, schema: Schema, kind: str, budget: list[int], depth: int
) -> Iterator[Text]:
    if depth > MAX_DEPTH:
        raise DamageError("implausibly deep messages")
    at = start
    while at < end:
        budget[0] -= 1
        if budget[0] < 0:
            raise DamageError("more fields than the audit reads")
        tag, at = window.number(at)
        wire, number = tag & 7, tag >> 3
        if not number or wire not in _FIXED:
            raise DamageError("an invalid field")
        if wire == 0:
            _, at = window.number(at)
            continue
        length, at = window.number(at) if wire == 2 else (_FIXED[wire], at)
        if length > end - at:
            raise DamageError("a field longer than its message")
        inner = schema[kind].get(number, "") if wire == 2 else ""
        if inner == ".bytes":
            yield Text(inner, window.take(at, length).decode("latin-1"), start)
        elif inner.startswith("."):
            yield Text(inner, window.take(at, min(length, 16_384)).decode("utf-8", "replace"), start)
        elif inner:
            yield from _of_message(window, at, at + length, schema, inner, budget, depth + 1)
        at += length


#: The kinds of fields, and the bytes of those with a fixed number of them; the other two are numbers and lengths.
_FIXED = {0: 0, 1: 8, 2: 0, 5: 4}


class _Window:
    """Bytes by position, fetched a block at a time."""

    def __init__(self, read: Read, size: int) -> None:
        self._read, self._size = read, size
        self._data, self._start = b"", 0

    def take(self, at: int, length: int) -> bytes:
        if not self._start <= at <= at + length <= self._start + len(self._data):
            self._data = self._read(at, min(max(length, _WINDOW), self._size - at))
            self._start = at
        found = self._data[at - self._start : at - self._start + length]
        if len(found) < length:
            raise DamageError("it is truncated")
        return found

    def number(self, at: int) -> tuple[int, int]:
        """A varint, and the position after it."""
        value, near = 0, at - self._start
        if 0 <= near < len(self._data) and (byte := self._data[near]) < 0x80:
            return byte, at + 1
        for place in range(10):
            byte = self.take(at, 1)[0]
            at += 1
            value |= (byte & 0x7F) << 7 * place
            if byte < 0x80:
                return value, at
        raise DamageError("an implausibly long number")


#: The most custom operations of one model, and characters of a name.
MAX_OPERATIONS, MAX_NAME = 10_000, 200
#: tensorflow/lite/schema/schema.fbs: `Model.operator_codes` is field 1, and so is `OperatorCode.custom_code`.
_OPERATOR_CODES = _CUSTOM_CODE = 1


def custom_operations(read: Read) -> Iterator[str]:
    """Names of operations other than TensorFlow Lite's own. Raises ValueError if it is not such a model."""
    start = read(0, 8)
    if start[4:8] != b"TFL3":
        raise ValueError("not a TensorFlow Lite model")
    vector = _field(read, int.from_bytes(start[:4], "little"), _OPERATOR_CODES)
    if vector is None:
        return
    count = _number(read, vector)
    if count > MAX_OPERATIONS:
        raise ValueError("implausibly many operations")
    for place in range(vector + 4, vector + 4 + 4 * count, 4):
        name = _field(read, place + _number(read, place), _CUSTOM_CODE)
        if name is not None:
            yield read(name + 4, min(_number(read, name), MAX_NAME)).decode("utf-8", "replace")


def _field(read: Read, table: int, number: int) -> int | None:
    """The position of a field's value that is a vector, text or table; None if the table lacks it."""
    fields = table - int.from_bytes(_exactly(read, table, 4), "little", signed=True)
    size = int.from_bytes(_exactly(read, fields, 2), "little")
    if size < 6 + 2 * number:
        return None
    offset = int.from_bytes(_exactly(read, fields + 4 + 2 * number, 2), "little")
    return table + offset + _number(read, table + offset) if offset else None


def _number(read: Read, at: int) -> int:
    return int.from_bytes(_exactly(read, at, 4), "little")


def _exactly(read: Read, at: int, length: int) -> bytes:
    found = read(at, length) if at >= 0 else b""
    if len(found) < length:
        raise ValueError("it is truncated")
    return found
