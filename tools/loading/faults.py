"""One random fault in a download: `mutate(folder, others, draw)` makes it and describes it, as (class, detail).

All faults are one table, `TABLE`: for a pattern of file names how such a file is read and written, and ways to change
what was read. A way is a function of the content and of the random generator that returns the new content, or None if
it does not apply; or the fields of a document to set. Fields whose values are words of a library are in `faults.json`.
"""

from __future__ import annotations

import gzip
import json
import pickle
import random
import re
import struct
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatch
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

Way = Callable[[Any, random.Random], Any]

#: The probability that a fault is one of the whole file.
WHOLE_FILE = 0.2


class OneOf(list[Any]):
    """Values of which one is drawn."""


#: In place of a field's value: the field is removed.
GONE = object()


def _meant(value: dict[str, Any]) -> Any:
    return OneOf(value["one of"]) if "one of" in value else GONE if "gone" in value else value


FAULTS: dict[str, Any] = json.loads(Path(__file__).with_name("faults.json").read_text(), object_hook=_meant)


class Codec(NamedTuple):
    """How a kind of file is read and written; content that is None has no fault of this kind."""

    read: Callable[[Path], Any]
    write: Callable[[Path, Any], object]


class Fault(NamedTuple):
    """Faults of files with a name: each way is as likely, and the row as its weight."""

    pattern: str
    weight: int
    title: str
    codec: Codec
    ways: Mapping[str, Way | Mapping[str, Any]]


def mutate(folder: Path, others: list[Path], draw: random.Random) -> tuple[str, str]:
    """Change one thing. Drawn again if the drawn change applies to nothing."""
    while True:
        path = draw.choice(sorted(each for each in folder.rglob("*") if each.is_file() and each.name != "README.md"))
        before = path.read_bytes()
        rows = [row for row in TABLE if fnmatch(path.name, row.pattern)]
        if not rows or draw.random() < WHOLE_FILE:
            done = draw.choice(WHOLE)(path, [each / path.relative_to(folder) for each in others], draw)
        else:
            done = _changed(path, draw.choices(rows, [row.weight for row in rows])[0], draw)
        if done is not None and not (path.is_file() and path.read_bytes() == before):
            return done[0], f"{path.relative_to(folder)}: {done[1]}"


def _changed(path: Path, row: Fault, draw: random.Random) -> tuple[str, str] | None:
    name = draw.choice(list(row.ways))
    way = row.ways[name]
    try:
        content = row.codec.read(path)
        new = way(content, draw) if callable(way) else _with_fields(content, way, draw)
    except (LookupError, TypeError, ValueError, AttributeError):  # the way is one of other content
        return None
    if new is None:
        return None
    row.codec.write(path, new)
    return row.title.format(name), name


def _with_fields(document: dict[str, Any], fields: Mapping[str, Any], draw: random.Random) -> dict[str, Any]:
    drawn = {key: draw.choice(value) if isinstance(value, OneOf) else value for key, value in fields.items()}
    return {key: value for key, value in (document | drawn).items() if value is not GONE}


# --- whole files ----------------------------------------------------------------------------------

HTML = b"<!DOCTYPE html>\n<html><head><title>403 Forbidden</title></head><body>Access is restricted</body></html>\n"
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"ab" * 32 + b"\nsize 499723\n"
#: Replacements of a whole file.
INSTEAD = {
    "web page": (HTML,),
    "LFS pointer": (POINTER,),
    "server's message": (b'{"error":"Invalid username or password."}', b"Entry not found"),
    "other JSON": (b"[]", b"null", b"{}"),
    "other kind": (
        *(pickle.dumps({"a": [1, 2]}, 2), b"PK\x05\x06" + bytes(18), b"\x89HDF\r\n\x1a\n" + bytes(200)),
        *(struct.pack("<4sIQQ", b"GGUF", 3, 0, 0), struct.pack("<Q", 2) + b"{}"),
    ),
}
#: A path, the files of its name in other downloads, the generator → the class of the fault and what was done.
Whole = Callable[[Path, list[Path], random.Random], "tuple[str, str] | None"]


def _delete(path: Path, _: list[Path], draw: random.Random) -> tuple[str, str]:
    path.unlink()
    return "file deleted", "deleted"


def _cut(path: Path, _: list[Path], draw: random.Random) -> tuple[str, str]:
    raw = path.read_bytes()
    at = draw.choice((0, 1, len(raw) // 2, len(raw) - 1, draw.randrange(len(raw) + 1)))
    zeroed = draw.random() < 0.3
    path.write_bytes(raw[:at] + bytes(len(raw) - at if zeroed else 0))
    return f"file {'zeroed' if zeroed else 'truncated'}", f"from byte {at} of {len(raw)}"


def _replace(path: Path, _: list[Path], draw: random.Random) -> tuple[str, str]:
    what = draw.choice(list(INSTEAD))
    path.write_bytes(draw.choice(INSTEAD[what]))
    return "file replaced", what


def _rename(path: Path, _: list[Path], draw: random.Random) -> tuple[str, str]:
    new = draw.choice(FAULTS["renamed"]).format(path.name, stem=path.name[: -len(path.suffix)], end=path.suffix)
    path.rename(path.with_name(new))
    return "file renamed", new


def _take_another(path: Path, alike: list[Path], draw: random.Random) -> tuple[str, str] | None:
    found = [each for each in alike if each.is_file()]
    if not found:
        return None
    other = draw.choice(found)
    path.write_bytes(other.read_bytes())
    return "file of another download", other.parent.name


def _exchange(path: Path, _: list[Path], draw: random.Random) -> tuple[str, str] | None:
    """Swap the content of two files of a kind, such as two shards."""
    found = [each for each in sorted(path.parent.glob("*" + path.suffix)) if each != path]
    if not found:
        return None
    other = draw.choice(found)
    own = path.read_bytes()
    path.write_bytes(other.read_bytes())
    other.write_bytes(own)
    return "files exchanged", other.name


def _move(path: Path, _: list[Path], draw: random.Random) -> tuple[str, str]:
    """Move the file a folder deeper, change its name's case, or replace it by a folder or a dangling link."""
    raw, how = path.read_bytes(), draw.choice(("deeper", "case", "folder", "link"))
    path.unlink()
    if how == "deeper":
        below = path.parent / draw.choice(("model", "original", "tmp", "checkpoint-500"))
        below.mkdir(exist_ok=True)
        (below / path.name).write_bytes(raw)
    elif how == "case":
        path.with_name(draw.choice((path.name.upper(), path.name.capitalize()))).write_bytes(raw)
    elif how == "folder":
        path.mkdir()
    else:
        path.symlink_to("../../blobs/none")
    return f"file elsewhere: {how}", how


WHOLE: tuple[Whole, ...] = (_delete, _cut, _replace, _rename, _take_another, _exchange, _move)

# --- bytes and texts ------------------------------------------------------------------------------

BYTES = Codec(Path.read_bytes, Path.write_bytes)
TEXT = Codec(Path.read_text, Path.write_text)
LINES = Codec(lambda path: path.read_text().splitlines(), lambda path, lines: path.write_text("\n".join(lines) + "\n"))

SHIFTED: dict[str, Way] = {
    "gzip": lambda raw, _: gzip.compress(raw, mtime=0),
    "twice": lambda raw, _: raw + raw,
    "padded": lambda raw, _: raw + bytes(4096),
    "shifted": lambda raw, _: b"\n" + raw,
}
#: Changes that editors and shells make to a text.
ENCODED: dict[str, Way] = {
    "utf-8-sig": lambda raw, _: raw.decode().encode("utf-8-sig"),
    "utf-16": lambda raw, _: raw.decode().encode("utf-16"),
    "latin-1": lambda raw, _: raw.decode().encode("latin-1", "replace"),
    "crlf": lambda raw, _: raw.replace(b"\n", b"\r\n"),
    "null at the end": lambda raw, draw: raw + bytes(draw.choice((1, 512))),
    "blank": lambda _, draw: draw.choice((b" ", b"\n\n")),
    "text after it": lambda raw, draw: raw + draw.choice((b"\n", b"\n}\n", b"EOF\n", raw)),
    "cut and closed": lambda raw, draw: raw[: draw.randrange(len(raw) + 1)] + b"}",
}


def _in_one(pattern: str, put: Callable[[re.Match[str]], str]) -> Way:
    """Replace one match of a pattern, drawn of all."""

    def way(text: str, draw: random.Random) -> str:
        one = draw.choice([*re.finditer(pattern, text)])
        return text[: one.start()] + put(one) + text[one.end() :]

    return way


_NUMBER = r"(?<=: )-?[0-9.e-]+(?=[,\n}])"
#: Syntax that JSON does not have, or has in two ways.
SYNTAX: dict[str, Way] = {
    "comma": lambda text, _: re.sub(r"(\s*[}\]])\s*$", r",\1", text),
    "comment": lambda text, _: text.replace("{", "{ // as trained\n", 1),
    "single quotes": lambda text, _: text.replace('"', "'"),
    "NaN": _in_one(_NUMBER, lambda _: "NaN"),
    "Infinity": _in_one(_NUMBER, lambda _: "Infinity"),
    "twice": _in_one(r'"(\w+)": ("[^"\n]*"|[0-9.]+)(?=,\n)', lambda one: f'{one[0]}, "{one[1]}": "other"'),
    "escapes": lambda text, _: text.replace("_", "\\u005f"),
    "Python": lambda text, _: text.replace("true", "True").replace("false", "False").replace("null", "None"),
    "tabs": lambda text, _: text.replace('": "', '": "\t', 1),
    "conflict": _in_one(r"(?m)^.*\n", lambda one: f"<<<<<<< HEAD\n{one[0]}=======\n{one[0]}>>>>>>> main\n"),
}

# --- documents ------------------------------------------------------------------------------------

JSON = Codec(
    lambda path: json.loads(path.read_text()),
    lambda path, value: path.write_text(json.dumps(value, indent=2, ensure_ascii=False)),
)
#: Fields that no loader reads.
UNREAD = ("transformers_version", "_diffusers_version")


def _places(value: Any, depth: int = 0) -> Iterator[tuple[Any, Any]]:
    """Each container in a document, four levels deep, with each of its keys; of long ones the first."""
    keys = list(value) if isinstance(value, dict) else range(min(3, len(value))) if isinstance(value, list) else ()
    for key in list(keys)[:200]:
        if key not in UNREAD:
            yield value, key
            if depth < 4:
                yield from _places(value[key], depth + 1)


def _at_a_place(change: Callable[[Any, Any, random.Random], object]) -> Way:
    """Change a document at one of its places: a function of the container, the key and the generator."""

    def way(document: Any, draw: random.Random) -> Any:
        change(*draw.choice(list(_places(document))), draw)
        return document

    return way


def _set(value: Callable[[Any, random.Random], Any]) -> Way:
    """Give a place another value, a function of the old one."""
    return _at_a_place(lambda inner, key, draw: inner.__setitem__(key, value(inner[key], draw)))


def of_another_type(value: Any, draw: random.Random) -> Any:
    forms: list[Any] = ["x", 3, 0.5, True, [], {}, [1], {"a": 1}, str(value)[:40]]
    return draw.choice([each for each in forms if type(each) is not type(value)])


def other_value(value: Any, draw: random.Random) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return draw.choice((value + 1, value - 1, value * 2, value * 3 // 2, value // 2, 0, -1, 7, 10**6))
    if isinstance(value, str):
        return draw.choice((value + "x", value[:-1], "", value.upper(), "unknown", f"/models/{value}", f"../{value}"))
    if isinstance(value, list | dict):
        return _other_items(value, draw)
    return draw.choice((0, 1, "x", True))


def _rename_field(inner: Any, name: Any, draw: random.Random) -> None:
    new = draw.choice((name.upper(), name + "s", name[:-1], name.replace("_", "-"), "_" + name, "model." + name))
    items = [(new if key == name else key, value) for key, value in inner.items()]
    inner.clear()
    inner.update(items)


def _exchange_values(inner: Any, key: Any, draw: random.Random) -> None:
    """Two entries of one kind: fields, ids of tokens, files of tensors, parts of a pipeline."""
    keys = list(inner) if isinstance(inner, dict) else range(len(inner))
    other = draw.choice([each for each in keys if type(inner[each]) is type(inner[key]) and inner[each] != inner[key]])
    inner[key], inner[other] = inner[other], inner[key]


FIELD: dict[str, Way] = {
    "removed": _at_a_place(lambda inner, key, _: inner.pop(key)),
    "null": _set(lambda _, __: None),
    "of another type": _set(of_another_type),
    "changed": _set(other_value),
    "changed again": _set(other_value),
    "in another form": _set(lambda old, draw: draw.choice([str(old), [old], {"value": old}, json.dumps(old)])),
    "renamed": _at_a_place(_rename_field),
    "exchanged": _at_a_place(_exchange_values),
    "more": lambda document, draw: document | {draw.choice(("comment", "_extra", "use_flash")): draw.choice((1, "x"))},
}


def _other_items(value: Any, draw: random.Random) -> Any:
    """A list or dictionary with fewer, more, repeated or reordered items, or in the other's form."""
    listed = isinstance(value, list)
    items = value if listed else list(value.items())
    few, at = draw.choice((1, 3, 40, 200)), draw.randrange(len(items))
    last = items[-1] if listed else items[-1][1]
    grown = last + 1 if type(last) is int else last
    new: Any = draw.choice((
        items[:-few], [*items[:at], *items[at + 1 :]], items[: len(items) // 2], [], items[::-1], [*items, items[at]],
        [*items, *([grown if listed else (f"zz{number}", grown) for number in range(few)])],
        {str(each): number for number, each in enumerate(items)} if listed else [list(each) for each in items],
    ))  # fmt: skip
    return new if listed or (new and isinstance(new[0], list)) else dict(new)


def _container(document: Any, draw: random.Random) -> Any:
    """Change one of the lists and dictionaries: a vocabulary, merges, added tokens, an index, modules, layers."""
    found = [(inner, key) for inner, key in _places(document) if isinstance(inner[key], list | dict) and inner[key]]
    inner, key = draw.choice(found)
    inner[key] = _other_items(inner[key], draw)
    return document


WRAPPED: dict[str, Way] = {
    "in a list": lambda value, _: [value],
    "under a key": lambda value, draw: {draw.choice(("config", "model", "data")): value},
    "as text": lambda value, _: json.dumps(value),
    "with other items": _other_items,
}

# --- tensors --------------------------------------------------------------------------------------

#: Name → (dtype, shape, bytes)
Tensors = dict[str, "tuple[str, list[int], bytes]"]
TORCH = {"F32": "float32", "F16": "float16", "BF16": "bfloat16", "F64": "float64", "I64": "int64", "I32": "int32"}
NOT_A_NUMBER = {"F32": b"\0\0\xc0\x7f", "F16": b"\0\x7e", "BF16": b"\xc0\x7f"}
LARGEST = {"F32": b"\xff\xff\x7f\x7f", "F16": b"\xff\x7b", "BF16": b"\x7f\x7f"}


def _read_header(path: Path) -> tuple[dict[str, Any], bytes]:
    raw = path.read_bytes()
    length = int.from_bytes(raw[:8], "little")
    return json.loads(raw[8 : 8 + length]), raw[8 + length :]


def _write_header(path: Path, file: tuple[dict[str, Any], bytes]) -> None:
    """Write a header, whose key "" says how the header itself is written."""
    header, data = file
    how = header.pop("", {})
    text = json.dumps(header, indent=how.get("indent")).encode()
    path.write_bytes(struct.pack("<Q", len(text) + how.get("more", 0)) + text + data)


def _read_tensors(path: Path) -> Tensors:
    if path.suffix == ".safetensors":
        header, data = _read_header(path)
        header.pop("__metadata__", None)
        return {name: (e["dtype"], e["shape"], data[slice(*e["data_offsets"])]) for name, e in header.items()}
    import torch

    names = {name: dtype for dtype, name in TORCH.items()}
    tensors: dict[str, Any] = torch.load(path, weights_only=True)
    return {
        name: (names[str(each.dtype)[6:]], [*each.shape], each.flatten().view(torch.uint8).numpy().tobytes())
        for name, each in tensors.items()
    }


def _write_tensors(path: Path, tensors: Tensors) -> None:
    if path.suffix == ".safetensors":
        header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
        at = 0
        for name, (dtype, shape, data) in tensors.items():
            header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(data)]}
            at += len(data)
        _write_header(path, (header, b"".join(data for _, _, data in tensors.values())))
        return
    import torch

    made = {
        name: torch.frombuffer(bytearray(data), dtype=getattr(torch, TORCH[dtype])).reshape(shape)
        for name, (dtype, shape, data) in tensors.items()
    }
    torch.save(made, path)


def _one(change: Callable[[str, list[int], bytes, random.Random], tuple[str, list[int], bytes]]) -> Way:
    """Change one tensor: a function of its dtype, shape and bytes."""

    def way(tensors: Tensors, draw: random.Random) -> Tensors:
        name = draw.choice(sorted(tensors))
        return tensors | {name: change(*tensors[name], draw)}

    return way


def _renamed(*pairs: tuple[str, str], one: bool = False) -> Way:
    """Replace what a pattern finds in all names, or in one."""

    def way(tensors: Tensors, draw: random.Random) -> Tensors:
        old, new = draw.choice(pairs)
        names = [name for name in tensors if re.search(old, name)]
        chosen = [draw.choice(names)] if one else names
        return {re.sub(old, new, name, count=1) if name in chosen else name: each for name, each in tensors.items()}

    return way


def _without(pattern: str) -> Way:
    return lambda tensors, _: {name: each for name, each in tensors.items() if not re.search(pattern, name)} or None


def _rows(dtype: str, shape: list[int], data: bytes, draw: random.Random) -> tuple[str, list[int], bytes]:
    rows = max(1, shape[0] + draw.choice((-1, 1, shape[0])))
    return dtype, [rows, *shape[1:]], (data * 3)[: rows * (len(data) // shape[0])]


def _each_value(change: Callable[[bytes, str], bytes]) -> Way:
    def values(dtype: str, shape: list[int], data: bytes, _: random.Random) -> tuple[str, list[int], bytes]:
        width = len(LARGEST[dtype])
        return dtype, shape, b"".join(change(data[at : at + width], dtype) for at in range(0, len(data), width))

    return _one(values)


#: dtype → (dtype, how many bytes of a value are kept, of how many); the bits are not converted.
WIDTHS = {"F32": ("F16", 2, 4), "F16": ("F32", 4, 2), "BF16": ("F8_E4M3", 1, 2), "F8_E4M3": ("BF16", 2, 1)}
OTHER_DTYPES = {"F32": "I32", "BF16": "F16", "F16": "BF16", "U8": "I8"}


def _other_width(pattern: str) -> Way:
    def way(tensors: Tensors, _: random.Random) -> Tensors:
        new = dict(tensors)
        for name, (dtype, shape, data) in tensors.items():
            if dtype in WIDTHS and re.search(pattern, name):
                other, kept, of = WIDTHS[dtype]
                new[name] = other, shape, (data * 2)[: len(data) // of * kept]
        return new

    return way


TENSORS: dict[str, Way] = {
    "dropped": lambda tensors, draw: {n: tensors[n] for n in draw.sample(list(tensors), len(tensors) - 1)},
    "renamed": _renamed(("$", "x"), ("^", "model."), (r"^\w+\.", ""), (r"\.weight$", ".w"), one=True),
    "names of another class": _renamed(
        *((r"\.self_attn\.", ".attention."), ("layers\\.", "h."), (r"\.weight", ".kernel"), ("^", "_orig_mod.")),
        *(("^model", "module.model"), (r"\.weight$", ""), ("weight$", "gamma"), (r"\.bias$", ".beta"), ("_", ".")),
        *((r"lora_A\.", "lora_A.default."), (r"^base_model\.model\.", ""), (r"^\w+\.", ""), ("q_proj", "qkv_proj")),
    ),
    "one more": lambda tensors, _: tensors | {"extra.weight": ("F32", [4], bytes(16))},
    "head more": lambda tensors, _: tensors | {"lm_head.bias": ("F32", [8], bytes(32))},
    "a layer gone": _without(r"\.1\."),
    "head gone": _without("head|classifier|embed"),
    "biases gone": _without("bias$"),
    "renumbered": _renamed((r"\.1\.", ".2.")),
    "a layer more": lambda tensors, draw: tensors | _renamed((r"\.1\.", ".2."))(tensors, draw),
    "another shape": _one(_rows),
    "transposed": _one(lambda dtype, shape, data, _: (dtype, shape[::-1], data)),
    "flat": _one(lambda dtype, shape, data, _: (dtype, [prod(shape)], data)),
    "a dimension more": _one(lambda dtype, shape, data, _: (dtype, [1, *shape], data)),
    "empty": _one(lambda dtype, shape, _, __: (dtype, [0, *shape[1:]], b"")),
    "another dtype": _one(lambda dtype, shape, data, _: (OTHER_DTYPES[dtype], shape, data)),
    "width of all": _other_width(""),
    "width of a layer": _other_width(r"\.1\."),
    "exchanged names": lambda tensors, draw: dict(
        zip(tensors, draw.sample(list(tensors.values()), len(tensors)), strict=True)
    ),
    "NaN": _each_value(lambda _, dtype: NOT_A_NUMBER[dtype]),
    "zeros": _each_value(lambda value, _: bytes(len(value))),
    "big-endian": _each_value(lambda value, _: value[::-1]),
    "negative": _each_value(lambda value, _: value[:-1] + bytes([value[-1] ^ 128])),
    "large": _each_value(lambda _, dtype: LARGEST[dtype]),
}  # fmt: skip


def _entry(change: Callable[[dict[str, Any], random.Random], dict[str, Any]]) -> Way:
    """Replace one entry of the header by the result of a function."""

    def way(file: tuple[dict[str, Any], bytes], draw: random.Random) -> Any:
        name = draw.choice(sorted(each for each in file[0] if each != "__metadata__"))
        return file[0] | {name: change(file[0][name], draw)}, file[1]

    return way


def _with_gap(file: tuple[dict[str, Any], bytes], _: random.Random) -> Any:
    header, data = file
    size = len(data) + 16
    return header | {"zz.gap": {"dtype": "U8", "shape": [8], "data_offsets": [size - 8, size]}}, data + bytes(16)


UNKNOWN_DTYPES = ("F24", "INT4", "torch.float32", "F8", "COMPLEX")
HEADER: dict[str, Way] = {
    "gap": _with_gap,
    "overlap": lambda file, _: (file[0] | {"zz.tied": next(e for k, e in file[0].items() if k[0] != "_")}, file[1]),
    "unknown dtype": _entry(lambda entry, draw: entry | {"dtype": draw.choice(UNKNOWN_DTYPES)}),
    "lower dtype": _entry(lambda entry, _: entry | {"dtype": entry["dtype"].lower()}),
    "metadata": lambda file, draw: (
        file[0] | {"__metadata__": draw.choice((None, {}, {"format": "tf"}, {"format": "xx"}, {"step": 100}))},
        file[1],
    ),
    "more fields": _entry(lambda entry, _: entry | {"strides": [1]}),
    "no shape": _entry(lambda entry, _: {key: each for key, each in entry.items() if key != "shape"}),
    "length": lambda file, _: (file[0] | {"": {"more": 8}}, file[1]),
    "indented": lambda file, _: (file[0] | {"": {"indent": 1}}, file[1]),
    "unsorted": lambda file, _: (dict(sorted(file[0].items(), reverse=True)), file[1]),
    "size as text": _entry(lambda entry, _: entry | {"shape": [str(each) for each in entry["shape"]] or ["1"]}),
}


def _load(path: Path) -> Any:
    import torch

    tensors = torch.load(path, weights_only=True)
    return tensors if isinstance(tensors, dict) else None


def _save(path: Path, value: Any) -> None:
    import torch

    if isinstance(value, bytes):
        path.write_bytes(value)
    else:
        form, tensors = value if isinstance(value, tuple) else ({}, value)
        torch.save(tensors, path, **form)


#: Other objects than tensors by name; or wrapped as by trainers.
PICKLE: dict[str, Way] = {
    "wrapped": lambda tensors, draw: {draw.choice(("state_dict", "model", "module")): tensors, "epoch": 3},
    "a list": lambda tensors, _: list(tensors.values()),
    "a list of one": lambda tensors, _: [tensors],
    "one alone": lambda tensors, draw: tensors[draw.choice(sorted(tensors))],
    "old form": lambda tensors, _: ({"_use_new_zipfile_serialization": False}, tensors),
    "null": lambda tensors, draw: tensors | {draw.choice(sorted(tensors)): None},
    "number": lambda tensors, _: tensors | {"step": 100},
    "nested": lambda tensors, _: {"optimizer": {"lr": 0.1}, "model_state": tensors},
    "name of number": lambda tensors, _: dict(enumerate(tensors.values())),
    "parameters": lambda tensors, _: {name: each.requires_grad_() for name, each in tensors.items()},
    "bare pickle": lambda tensors, _: pickle.dumps({name: each.tolist() for name, each in tensors.items()}),
}

# --- SentencePiece --------------------------------------------------------------------------------


def _read_pieces(path: Path) -> Any:
    from sentencepiece import sentencepiece_model_pb2 as protobuf

    own = protobuf.ModelProto()
    own.ParseFromString(path.read_bytes())
    return own


def _pieces(kept: Callable[[int], int], more: Callable[[random.Random], int]) -> Way:
    """Keep this many of the pieces, and add rare ones."""

    def way(own: Any, draw: random.Random) -> Any:
        del own.pieces[kept(len(own.pieces)) :]
        for number in range(more(draw)):
            own.pieces.add(piece=f"zz{number}", score=-99.0)
        return own

    return way


def _known_pieces(own: Any, _: random.Random) -> Any:
    own.pieces[0].type = 1
    return own


PIECES: dict[str, Way] = {
    "fewer": _pieces(lambda count: count // 2, lambda _: 0),
    "more": _pieces(lambda count: count, lambda draw: draw.choice((1, 400))),
    "no unknown piece": _known_pieces,
    "none": _pieces(lambda _: 0, lambda _: 0),
}

# --- the table ------------------------------------------------------------------------------------

SPM = Codec(_read_pieces, lambda path, own: path.write_bytes(own.SerializeToString()))
TABLE = [
    *(
        Fault(pattern, weight, title, JSON, ways if isinstance(ways, dict) else {str(each): each for each in ways})
        for pattern, weight, title, ways in FAULTS["fields"]
    ),
    Fault("*.json", 4, "field {}", JSON, FIELD),
    Fault("*.json", 3, "{} of a document", JSON, {"items": _container}),
    Fault("*.json", 1, "JSON with {}", TEXT, SYNTAX),
    Fault("*.json", 1, "document {}", JSON, WRAPPED),
    *(Fault(pattern, 1, "text {}", BYTES, ENCODED) for pattern in ("*.json", "*.txt", "*.jinja")),
    Fault("*.txt", 2, "{} of a list", LINES, {"lines": _other_items}),
    *(Fault(pattern, 1, "bytes {}", BYTES, SHIFTED) for pattern in ("*.safetensors", "*.bin", "*.model", "*.spm")),
    *(Fault(pattern, 5, "tensors: {}", Codec(_read_tensors, _write_tensors), TENSORS) for pattern in ("*.safe*", "*.bin")),
    Fault("*.safetensors", 2, "header: {}", Codec(_read_header, _write_header), HEADER),
    Fault("*.bin", 3, "pickle: {}", Codec(_load, _save), PICKLE),
    *(Fault(pattern, 2, "pieces: {}", SPM, PIECES) for pattern in ("*.model", "*.spm")),
]  # fmt: skip
