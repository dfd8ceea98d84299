"""Faults of GGUF files: key-values, tensors, and the numbers of the header."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fault import BYTES, Codec, Table, Way, drawn, other_value

#: [[key, types, value], …] and [[name, shape, type, bytes], …]
Gguf = tuple[list[list[Any]], list[list[Any]]]


def _read_gguf(path: Path) -> Gguf | None:
    """A small file, by the `gguf` package's reader; None if that refuses it."""
    import gguf

    try:
        reader = gguf.GGUFReader(path)
    except Exception:
        return None
    fields = [(key, field) for key, field in reader.fields.items() if not key.startswith("GGUF.")]
    keys = [[key, [int(each) for each in field.types], field.contents()] for key, field in fields]
    return keys, [
        [each.name, [int(size) for size in each.shape], int(each.tensor_type), bytes(each.data)]
        for each in reader.tensors
    ]


_FORMS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_TEXT, _LIST = 8, 9


def _packed(types: list[int], value: Any) -> bytes:
    if types[0] == _TEXT:
        raw = str(value).encode()
        return struct.pack("<Q", len(raw)) + raw
    if types[0] == _LIST:
        items = b"".join(_packed(types[1:], each) for each in value)
        return struct.pack("<IQ", types[1], len(value)) + items
    return struct.pack("<" + _FORMS[types[0]], value)


def _write_gguf(path: Path, file: Gguf) -> None:
    keys, tensors = file
    out = struct.pack("<4sIQQ", b"GGUF", 3, len(tensors), len(keys))
    for key, types, value in keys:
        out += _packed([_TEXT], key) + struct.pack("<I", types[0]) + _packed(types, value)
    data = b""
    for name, shape, kind, content in tensors:
        dimensions = struct.pack(f"<I{len(shape)}Q", len(shape), *shape)
        out += _packed([_TEXT], name) + dimensions + struct.pack("<IQ", kind, len(data))
        data += content + bytes(-len(content) % 32)
    path.write_bytes(out + bytes(-len(out) % 32) + data)


GGUF = Codec(_read_gguf, _write_gguf)
Entry = list[Any]


def _each(place: int, change: Callable[[Entry, random.Random], list[Entry] | None]) -> Way:
    """Replace a key-value (place 0) or a tensor (1) by the result of a function; None if it does not apply."""

    def way(file: Gguf, draw: random.Random) -> Gguf | None:
        entries = file[place]
        if not entries:
            return None
        at = draw.randrange(len(entries))
        new = change(entries[at], draw)
        if new is None or new == [entries[at]]:
            return None
        after = [*entries[:at], *new, *entries[at + 1 :]]
        return (after, file[1]) if place == 0 else (file[0], after)

    return way


def _other_number(entry: Entry, draw: random.Random) -> list[Entry]:
    key, types, value = entry
    if types[0] == _LIST:
        return [[key, types, draw.choice((value[:-1], value + value[-1:], [], value[: len(value) // 2]))]]
    new = other_value(value, draw)
    width = {0: 8, 2: 16, 4: 32, 10: 64}.get(types[0])
    return [[key, types, max(0, int(new)) % 2**width if width else new]]


def _renamed_key(entry: Entry, draw: random.Random) -> list[Entry]:
    key = entry[0]
    return [[draw.choice((key.upper(), key.replace("llama", "qwen2"), "x." + key, key + "s")), *entry[1:]]]


OTHER_TYPES = ([[8], "x"], [[4], 7], [[6], 0.5], [[7], True], [[9, 4], [1, 2]])
ARCHITECTURES = ("llama", "qwen2", "gemma", "phi3", "bert", "nothing")


def _where(types: tuple[int, ...], change: Callable[[Entry, random.Random], Entry]) -> Way:
    """Change a key-value of one of these types."""
    return _each(0, lambda entry, draw: [change(entry, draw)] if entry[1][0] in types else None)


def _architecture(file: Gguf, draw: random.Random) -> Gguf:
    name = draw.choice(ARCHITECTURES)
    return [[*each[:2], name] if each[0] == "general.architecture" else each for each in file[0]], file[1]


#: Change a key-value's value, type or width, take another model's, repeat it, or rename its architecture.
_keys = drawn(
    "key-value: {}",
    GGUF,
    {
        "gone": _each(0, lambda entry, draw: []),
        "value": _each(0, _other_number),
        "type": _each(0, lambda entry, draw: [[entry[0], *draw.choice(OTHER_TYPES)]]),
        "wider": _where((4, 5), lambda entry, draw: [entry[0], [entry[1][0] + 6], entry[2]]),
        "twice": _each(0, lambda entry, draw: [entry, entry]),
        "renamed": _each(0, _renamed_key),
        "architecture": _architecture,
        "as text": _where((*_FORMS,), lambda entry, draw: [entry[0], [_TEXT], str(entry[2])]),
        "more": lambda file, draw: ([*file[0], ["my.key", [_TEXT], "text"]], file[1]),
        "empty text": _where((_TEXT,), lambda entry, draw: [*entry[:2], ""]),
        "number": _where(
            (4, 10),
            lambda entry, draw: [*entry[:2], draw.choice((entry[2] * 2, entry[2] + 1, max(0, entry[2] - 1), 3))],
        ),
    },
)


def _gguf_rows(entry: Entry, draw: random.Random) -> list[Entry]:
    name, shape, kind, data = entry
    rows = draw.choice((shape[-1] + 1, shape[-1] * 2, max(1, shape[-1] - 1)))
    return [[name, [*shape[:-1], rows], kind, (data * 2)[: len(data) // shape[-1] * rows]]]


def _gguf_name(entry: Entry, draw: random.Random) -> list[Entry]:
    name = entry[0]
    forms = (name + "x", name.replace("blk.", "block."), name.replace(".weight", ".bias"))
    return [[draw.choice(forms), *entry[1:]]]


def _gguf_type(entry: Entry, draw: random.Random) -> list[Entry]:
    name, shape, kind, data = entry
    return [[name, shape, 1, data[: len(data) // 2]] if kind == 0 else [name, shape, 0, data * 2]]


_gguf_tensors = drawn(
    "GGUF tensor: {}",
    GGUF,
    {
        "dropped": _each(1, lambda entry, draw: []),
        "renamed": _each(1, _gguf_name),
        "another shape": _each(1, _gguf_rows),
        "another type": _each(1, _gguf_type),
        "twice": _each(1, lambda entry, draw: [entry, entry]),
        "one more": _each(1, lambda entry, draw: [entry, ["extra.weight", [32], 0, bytes(128)]]),
    },
)


def _count_at(at: int) -> Way:
    """Change a count in the header."""

    def way(raw: bytes, draw: random.Random) -> bytes:
        (old,) = struct.unpack_from("<Q", raw, at)
        return raw[:at] + struct.pack("<Q", max(0, old + draw.choice((-1, 1, 2**40)))) + raw[at + 8 :]

    return way


#: Numbers of the header, or bytes at the end.
_gguf_bytes = drawn(
    "GGUF bytes: {}",
    BYTES,
    {
        "version": lambda raw, draw: raw[:4] + struct.pack("<I", draw.choice((0, 1, 2, 4, 3 << 24))) + raw[8:],
        "tensors": _count_at(8),
        "keys": _count_at(16),
        "magic": lambda raw, draw: draw.choice((b"ggjt", b"GGML", b"GGUf")) + raw[4:],
        "more at the end": lambda raw, draw: raw + bytes(draw.choice((1, 100))),
    },
)

GGUFS: Table = [
    ("*.gguf", 4, _keys),
    ("*.gguf", 1, _gguf_tensors),
    ("*.gguf", 1, _gguf_bytes),
]
