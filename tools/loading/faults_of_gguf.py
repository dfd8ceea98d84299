"""Faults of GGUF files: key-values, tensors, the head. Each is `change(folder, path, others, draw)`."""

from __future__ import annotations

import random
import struct
from pathlib import Path
from typing import Any

from faulty import Done, other_value


def _gguf_parts(path: Path) -> tuple[list[list[Any]], list[list[Any]]]:
    """[key, types, value] and [name, shape, type, bytes], of a small file, by the `gguf` package's reader."""
    import gguf

    reader = gguf.GGUFReader(path)
    keys = [[key, [int(each) for each in field.types], field.contents()] for key, field in reader.fields.items() if not key.startswith("GGUF.")]  # fmt: skip
    tensors = [[each.name, [int(size) for size in each.shape], int(each.tensor_type), bytes(each.data)] for each in reader.tensors]  # fmt: skip
    return keys, tensors


_FORMS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}


def _packed(types: list[int], value: Any) -> bytes:
    if types[0] == 8:
        raw = str(value).encode()
        return struct.pack("<Q", len(raw)) + raw
    if types[0] == 9:
        inner = types[1]
        items = b"".join(_packed([inner], each) for each in value)
        return struct.pack("<IQ", inner, len(value)) + items
    return struct.pack("<" + _FORMS[types[0]], value)


def _write_gguf(path: Path, keys: list[list[Any]], tensors: list[list[Any]]) -> None:
    out = struct.pack("<4sIQQ", b"GGUF", 3, len(tensors), len(keys))
    for key, types, value in keys:
        raw = key.encode()
        out += struct.pack("<Q", len(raw)) + raw + struct.pack("<I", types[0]) + _packed(types, value)
    at, data = 0, b""
    for name, shape, kind, content in tensors:
        raw = name.encode()
        out += struct.pack("<Q", len(raw)) + raw + struct.pack(f"<I{len(shape)}Q", len(shape), *shape) + struct.pack("<IQ", kind, at)  # fmt: skip
        content += bytes(-len(content) % 32)
        data, at = data + content, at + len(content)
    path.write_bytes(out + bytes(-len(out) % 32) + data)


def gguf_key(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done | None:
    """A key-value is gone, or has another value or type; a list is longer or shorter."""
    try:
        keys, tensors = _gguf_parts(path)
    except Exception:
        return None
    place = draw.randrange(len(keys))
    key, types, value = keys[place]
    how = draw.choice(("gone", "value", "value", "type"))
    if how == "gone":
        del keys[place]
    elif types[0] == 9:
        keys[place][2] = draw.choice((value[:-1], value + value[-1:], [], value[: len(value) // 2]))
    elif how == "type":
        keys[place][1:] = draw.choice(([[8], "x"], [[4], 7], [[6], 0.5], [[7], True], [[9, 4], [1, 2]]))
    else:
        new = other_value(value, draw)
        width = {0: 8, 2: 16, 4: 32, 10: 64}.get(types[0])
        keys[place][2] = max(0, int(new)) % 2**width if width else new
    if how != "gone" and keys[place][1:] == [types, value]:
        return None
    _write_gguf(path, keys, tensors)
    return f"key-value {how}", f"{key} {str(value)[:40]!r}" + (
        "" if how == "gone" else f" → {str(keys[place][2])[:40]!r}"
    )


def gguf_tensor(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done | None:
    try:
        keys, tensors = _gguf_parts(path)
    except Exception:
        return None
    if not tensors:
        return None
    place = draw.randrange(len(tensors))
    name, shape, kind, data = tensors[place]
    how = draw.choice(("dropped", "renamed", "another shape", "another type", "twice", "one more"))
    if how == "dropped":
        del tensors[place]
    elif how == "renamed":
        tensors[place][0] = draw.choice((name + "x", name.replace("blk.", "block."), name.replace(".weight", ".bias")))
    elif how == "another shape":
        rows = draw.choice((shape[-1] + 1, shape[-1] * 2, max(1, shape[-1] - 1)))
        tensors[place][1], tensors[place][3] = [*shape[:-1], rows], (data * 2)[: len(data) // shape[-1] * rows]
    elif how == "another type":
        tensors[place][2], tensors[place][3] = (1, data[: len(data) // 2]) if kind == 0 else (0, data * 2)
    elif how == "twice":
        tensors.append(tensors[place])
    else:
        tensors.append(["extra.weight", [32], 0, bytes(128)])
    _write_gguf(path, keys, tensors)
    return f"GGUF tensor {how}", f"{name} {shape}"


def gguf_entry(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done | None:
    """A key-value of another model, of another width, twice, or under another architecture's name."""
    try:
        keys, tensors = _gguf_parts(path)
    except Exception:
        return None
    place = draw.randrange(len(keys))
    key, types, value = keys[place]
    how = draw.choice(("wider", "twice", "renamed", "architecture", "as text", "more", "empty text", "number"))
    if how == "wider" and types[0] in (4, 5):
        keys[place][1] = [10 if types[0] == 4 else 11]
    elif how == "twice":
        keys.append(keys[place])
    elif how == "renamed":
        keys[place][0] = draw.choice((key.upper(), key.replace("llama", "qwen2"), "x." + key, key + "s"))
    elif how == "architecture":
        for each in keys:
            if each[0] == "general.architecture":
                each[2] = draw.choice(("llama", "qwen2", "gemma", "phi3", "bert", "nothing"))
    elif how == "as text" and types[0] not in (8, 9):
        keys[place][1:] = [[8], str(value)]
    elif how == "more":
        keys.append(["my.key", [8], "text"])
    elif how == "empty text" and types[0] == 8:
        keys[place][2] = ""
    elif how == "number" and types[0] in (4, 10):
        keys[place][2] = draw.choice((value * 2, value + 1, max(0, value - 1), 3))
    else:
        return None
    _write_gguf(path, keys, tensors)
    return f"key-value: {how}", f"{key} {str(value)[:40]!r}"


def gguf_bytes(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done:
    """The head's own numbers, or bytes at the end."""
    raw = bytearray(path.read_bytes())
    how = draw.choice(("version", "tensors", "keys", "magic", "more at the end", "version 2"))
    if how == "version":
        raw[4:8] = struct.pack("<I", draw.choice((0, 1, 4, 3 << 24)))
    elif how == "version 2":
        raw[4:8] = struct.pack("<I", 2)
    elif how in ("tensors", "keys"):
        at = 8 if how == "tensors" else 16
        (old,) = struct.unpack("<Q", raw[at : at + 8])
        raw[at : at + 8] = struct.pack("<Q", max(0, old + draw.choice((-1, 1, 2**40))))
    elif how == "magic":
        raw[:4] = draw.choice((b"ggjt", b"GGML", b"GGUf"))
    else:
        raw += bytes(draw.choice((1, 100)))
    path.write_bytes(bytes(raw))
    return f"GGUF bytes: {how}", how
