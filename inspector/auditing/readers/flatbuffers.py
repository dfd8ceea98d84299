"""FlatBuffers, as far as needed for TensorFlow Lite: the names of a model's custom operations.

https://flatbuffers.dev/internals: a table begins with the distance to its list of fields; each field is an offset from
its own position. tensorflow/lite/schema/schema.fbs: `Model.operator_codes` is field 1, and so is
`OperatorCode.custom_code`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

Read = Callable[[int, int], bytes]

#: The most operations of one model, and characters of a name.
MAX_OPERATIONS, MAX_NAME = 10_000, 200
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
