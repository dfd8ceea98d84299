"""Faults of weights: indexes, headers, data, names, pickles; and of models of SentencePiece."""

from __future__ import annotations

import json
import pickle
import random
import re
import struct
from collections.abc import Callable
from math import prod
from pathlib import Path
from typing import Any

from fault import JSON, Codec, Done, Place, Table, Way, drawn, write_json

# --- safetensors ----------------------------------------------------------------------------------

#: (dtype, shape, bytes)
Tensor = tuple[str, list[int], bytes]
#: A file's tensors by name, and its metadata.
Tensors = tuple[dict[str, Tensor], Any]


def _header(path: Path) -> tuple[dict[str, Any], bytes]:
    raw = path.read_bytes()
    length = int.from_bytes(raw[:8], "little")
    return json.loads(raw[8 : 8 + length]), raw[8 + length :]


def _read_tensors(path: Path) -> Tensors:
    header, data = _header(path)
    metadata = header.pop("__metadata__", None)
    return {
        name: (each["dtype"], each["shape"], data[slice(*each["data_offsets"])]) for name, each in header.items()
    }, metadata


def _write_tensors(path: Path, file: Tensors) -> None:
    tensors, metadata = file
    header: dict[str, Any] = {} if metadata is None else {"__metadata__": metadata}
    at = 0
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(data for _, _, data in tensors.values()))


SAFETENSORS = Codec(_read_tensors, _write_tensors)


def _one(change: Callable[[Tensor, random.Random], Tensor | None]) -> Way:
    """Replace one tensor by the result of a function; None if it does not apply to it."""

    def way(file: Tensors, draw: random.Random) -> Tensors | None:
        name = draw.choice(sorted(file[0]))
        new = change(file[0][name], draw)
        return None if new is None else (file[0] | {name: new}, file[1])

    return way


def _all(change: Callable[[dict[str, Tensor]], dict[str, Tensor]]) -> Way:
    """Replace the tensors by the result of a function."""

    def way(file: Tensors, draw: random.Random) -> Tensors | None:
        after = change(file[0])
        return (after, file[1]) if after and list(after.items()) != list(file[0].items()) else None

    return way


def _renamed(*pairs: tuple[str, str]) -> Way:
    """Replace a text in all names."""

    def way(file: Tensors, draw: random.Random) -> Tensors | None:
        old, new = draw.choice(pairs)
        return _all(lambda tensors: {name.replace(old, new, 1): each for name, each in tensors.items()})(file, draw)

    return way


def _name(file: Tensors, draw: random.Random) -> Tensors:
    """Rename one tensor."""
    name = draw.choice(sorted(file[0]))
    new = draw.choice((name + "x", "model." + name, name.removeprefix("model."), name.replace(".weight", ".w")))
    return {new if key == name else key: value for key, value in file[0].items()}, file[1]


def _without_one(file: Tensors, draw: random.Random) -> Tensors:
    gone = draw.choice(sorted(file[0]))
    return {name: each for name, each in file[0].items() if name != gone}, file[1]


def _rows(tensor: Tensor, draw: random.Random) -> Tensor:
    dtype, shape, data = tensor
    rows = max(1, shape[0] + draw.choice((-1, 1, shape[0]))) if shape else 1
    width = len(data) // (shape[0] if shape else 1)
    return dtype, [rows, *shape[1:]], (data * 3)[: rows * width]


def _exchanged(file: Tensors, draw: random.Random) -> Tensors | None:
    tensors = file[0]
    one, two = draw.sample(sorted(tensors), 2) if len(tensors) > 1 else (next(iter(tensors)),) * 2
    if tensors[one][1] == tensors[two][1]:
        return None
    return tensors | {one: tensors[two], two: tensors[one]}, file[1]


#: dtype → (dtype, how many bytes of a value are kept, of how many); the bits are not converted.
_WIDTHS = {"F32": ("F16", 2, 4), "F16": ("F32", 4, 2), "BF16": ("F8_E4M3", 1, 2), "F8_E4M3": ("BF16", 2, 1)}


def _other_width(tensor: Tensor) -> Tensor:
    dtype, shape, data = tensor
    new, kept, of = _WIDTHS.get(dtype, (dtype, 1, 1))
    return new, shape, (data * 2)[: len(data) // of * kept]


def _without(pattern: str) -> Way:
    return _all(lambda tensors: {name: each for name, each in tensors.items() if not re.search(pattern, name)})


def _second_layer(tensors: dict[str, Tensor], new: str) -> dict[str, Tensor]:
    return {re.sub(r"\.1\.", new, name, count=1): each for name, each in tensors.items()}


def _joined(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    name = next((each for each in tensors if "q_proj" in each or "query" in each), "")
    joined = name.replace("q_proj", "qkv_proj").replace("query", "qkv")
    return {joined if each == name else each: value for each, value in tensors.items()}


def _head_more(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    dtype = next(iter(tensors.values()))[0]
    return tensors | {"lm_head.bias": (dtype, [8], bytes(8 * {"F32": 4, "F16": 2, "BF16": 2}.get(dtype, 1)))}


def _double(tensor: Tensor) -> Tensor:
    dtype, shape, data = tensor
    return ("F64", shape, data * 2) if dtype == "F32" else tensor


OTHER_DTYPES = {"F32": "I32", "BF16": "F16", "F16": "BF16", "U8": "I8"}
#: One tensor, or all, removed, renamed, or with another shape, dtype or width.
_tensors = drawn(
    "tensor: {}",
    SAFETENSORS,
    {
        "dropped": _without_one,
        "renamed": _name,
        "another shape": _one(_rows),
        "transposed": _one(lambda tensor, draw: (tensor[0], tensor[1][::-1], tensor[2])),
        "another dtype": _one(lambda tensor, draw: (OTHER_DTYPES.get(tensor[0], tensor[0]), *tensor[1:])),
        "one more": _all(lambda tensors: tensors | {"extra.weight": ("F32", [4], bytes(16))}),
        "one of 2 layers": _without(r"\.1\."),
        "metadata": lambda file, draw: (file[0], draw.choice((None, {"format": "tf"}, {"format": "xx"}, {}))),
        "width of all": _all(lambda tensors: {name: _other_width(each) for name, each in tensors.items()}),
        "width of a layer": _all(
            lambda tensors: {name: _other_width(each) if ".1." in name else each for name, each in tensors.items()}
        ),
        "exchanged names": _exchanged,
        "names of another class": _renamed(
            (".self_attn.", ".attention."),
            ("layers.", "h."),
            (".weight", ".kernel"),
            ("model.", "module.model."),
            ("", "_orig_mod."),
        ),
        "empty": _one(lambda tensor, draw: (tensor[0], [0, *tensor[1][1:]], b"")),
    },
)
#: Names and shapes of another exporter; layers missing, doubled or renumbered; parts joined or flattened.
_names = drawn(
    "names: {}",
    SAFETENSORS,
    {
        "a layer gone": _without(r"\.1\."),
        "renumbered": _all(lambda tensors: _second_layer(tensors, ".2.")),
        "a layer more": _all(lambda tensors: {**tensors, **_second_layer(tensors, ".2.")}),
        "prefix gone": _all(lambda tensors: {name.partition(".")[2] or name: each for name, each in tensors.items()}),
        "head gone": _without("head|classifier|embed"),
        "biases gone": _without("bias$"),
        "flat": _one(lambda tensor, draw: (tensor[0], [prod(tensor[1])], tensor[2])),
        "one-dimensional": _one(lambda tensor, draw: (tensor[0], [1, *tensor[1]], tensor[2])),
        "doubled width": _one(
            lambda tensor, draw: (tensor[0], [*tensor[1][:-1], 2 * prod(tensor[1][-1:])], tensor[2] * 2)
        ),
        "joined": _all(_joined),
        "head more": _all(_head_more),
        "suffix": _renamed(
            (".weight", ""),
            ("weight", "gamma"),
            (".bias", ".beta"),
            ("_", "."),
            ("lora_A.", "lora_A.default."),
            ("base_model.model.", ""),
        ),
        "float64": _all(lambda tensors: {name: _double(each) for name, each in tensors.items()}),
    },
)
NOT_A_NUMBER = {"F32": b"\0\0\xc0\x7f", "F16": b"\0\x7e", "BF16": b"\xc0\x7f"}
LARGEST = {"F32": b"\xff\xff\x7f\x7f", "F16": b"\xff\x7b", "BF16": b"\x7f\x7f"}


def _values(change: Callable[[bytes, str], bytes]) -> Way:
    """Replace each value of a tensor by the result of a function of its bytes and its dtype."""

    def way(tensor: Tensor, draw: random.Random) -> Tensor | None:
        dtype, shape, data = tensor
        if dtype not in LARGEST or not data:
            return None
        width = len(LARGEST[dtype])
        new = b"".join(change(data[at : at + width], dtype) for at in range(0, len(data), width))
        return dtype, shape, new

    return _one(way)


#: Values that are NaN, all zeros, or in reverse byte order.
_data = drawn(
    "values: {}",
    SAFETENSORS,
    {
        "NaN": _values(lambda value, dtype: NOT_A_NUMBER[dtype]),
        "zeros": _values(lambda value, dtype: bytes(len(value))),
        "big-endian": _values(lambda value, dtype: value[::-1]),
        "negative": _values(lambda value, dtype: value[:-1] + bytes([value[-1] ^ 128])),
        "large": _values(lambda value, dtype: LARGEST[dtype]),
    },
)


def _write_header(path: Path, file: tuple[dict[str, Any], bytes]) -> None:
    """Write a header, whose key "" says how the header itself is written."""
    header, data = file
    how = header.pop("", {})
    text = json.dumps(header, indent=how.get("indent")).encode()
    path.write_bytes(struct.pack("<Q", len(text) + how.get("more", 0)) + text + data)


HEADER = Codec(_header, _write_header)
File = tuple[dict[str, Any], bytes]


def _entry(change: Callable[[dict[str, Any], random.Random], dict[str, Any]]) -> Way:
    """Replace one entry of the header by the result of a function."""

    def way(file: File, draw: random.Random) -> File:
        name = draw.choice(sorted(each for each in file[0] if each != "__metadata__"))
        return file[0] | {name: change(file[0][name], draw)}, file[1]

    return way


def _with_gap(file: File, draw: random.Random) -> File:
    header, data = file
    size = len(data) + 16
    return header | {"zz.gap": {"dtype": "U8", "shape": [8], "data_offsets": [size - 8, size]}}, data + bytes(16)


def _with_overlap(file: File, draw: random.Random) -> File:
    name = draw.choice(sorted(each for each in file[0] if each != "__metadata__"))
    return file[0] | {"zz.tied": file[0][name]}, file[1]


UNKNOWN_DTYPES = ("F24", "INT4", "torch.float32", "F8", "COMPLEX")
#: Bytes of the header itself.
_headers = drawn(
    "header: {}",
    HEADER,
    {
        "gap": _with_gap,
        "overlap": _with_overlap,
        "unknown dtype": _entry(lambda entry, draw: entry | {"dtype": draw.choice(UNKNOWN_DTYPES)}),
        "lower dtype": _entry(lambda entry, draw: entry | {"dtype": entry["dtype"].lower()}),
        "number metadata": lambda file, draw: (
            file[0] | {"__metadata__": {**file[0].get("__metadata__", {}), "step": 100}},
            file[1],
        ),
        "more fields": _entry(lambda entry, draw: entry | {"strides": [1]}),
        "no shape": _entry(lambda entry, draw: {key: each for key, each in entry.items() if key != "shape"}),
        "length": lambda file, draw: (file[0] | {"": {"more": 8}}, file[1]),
        "indented": lambda file, draw: (file[0] | {"": {"indent": 1}}, file[1]),
        "unsorted": lambda file, draw: (dict(sorted(file[0].items(), reverse=True)), file[1]),
        "size as text": _entry(lambda entry, draw: entry | {"shape": [str(each) for each in entry["shape"]] or ["1"]}),
    },
)

# --- the index ------------------------------------------------------------------------------------


def _map(change: Callable[[dict[str, str], random.Random], Any]) -> Way:
    """Replace the map of tensors to files by the result of a function."""

    def way(index: dict[str, Any], draw: random.Random) -> dict[str, Any] | None:
        new = change(index["weight_map"], draw)
        return None if new is None else index | {"weight_map": new}

    return way


def _any(entries: dict[str, str], draw: random.Random) -> str:
    return draw.choice(sorted(entries))


def _moved(entries: dict[str, str], draw: random.Random) -> dict[str, str]:
    name = _any(entries, draw)
    others = sorted({*entries.values()} - {entries[name]})
    return entries | {name: draw.choice([*others, "none.safetensors", "../x.safetensors"])}


def _without_shard(entries: dict[str, str], draw: random.Random) -> dict[str, str]:
    gone = entries[_any(entries, draw)]
    return {name: file for name, file in entries.items() if file != gone}


def _without_entry(entries: dict[str, str], draw: random.Random) -> dict[str, str]:
    gone = _any(entries, draw)
    return {name: file for name, file in entries.items() if name != gone}


_index = drawn(
    "index: {}",
    JSON,
    {
        "entry moved": _map(_moved),
        "entry gone": _map(_without_entry),
        "entries of a shard gone": _map(_without_shard),
        "entry more": _map(lambda entries, draw: entries | {"extra.weight": entries[_any(entries, draw)]}),
        "empty": _map(lambda entries, draw: {}),
        "absolute": _map(lambda entries, draw: {name: f"/models/{file}" for name, file in entries.items()}),
        "null": _map(lambda entries, draw: entries | {_any(entries, draw): None}),
        "total": lambda index, draw: index | {"metadata": {"total_size": draw.choice((0, 10**15, "many", -1, 1.5))}},
        "no metadata": lambda index, draw: {"weight_map": index["weight_map"]},
        "prefix": _map(lambda entries, draw: {f"model.{name}": file for name, file in entries.items()}),
        "list": _map(lambda entries, draw: [[name, file] for name, file in entries.items()]),
        "one file": _map(lambda entries, draw: dict.fromkeys(entries, min(entries.values()))),
    },
)


def _shards(place: Place, draw: random.Random) -> Done | None:
    """Swap the names of two shards, or copy one beside them as a whole model's file."""
    files = sorted(set(JSON.read(place.path)["weight_map"].values()))
    if len(files) < 2:
        return None
    one, two = (place.path.parent / each for each in draw.sample(files, 2))
    index = JSON.read(place.path)
    write_json(place.path, index | {"note": 1})
    if draw.random() < 0.3:
        (place.path.parent / "model.safetensors").write_bytes(one.read_bytes())
        return "shards: one as a whole", one.name
    first, second = one.read_bytes(), two.read_bytes()
    one.write_bytes(second)
    two.write_bytes(first)
    return "shards: swapped", f"{one.name} and {two.name}"


# --- PyTorch --------------------------------------------------------------------------------------


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


def _parameters(tensors: dict[str, Any], draw: random.Random) -> dict[str, Any]:
    import torch

    return {name: torch.nn.Parameter(each) for name, each in tensors.items()}


def _one_of_them(change: Callable[[str, Any], dict[str, Any]]) -> Way:
    """Replace a tensor by the result of a function of its name and itself."""

    def way(tensors: dict[str, Any], draw: random.Random) -> dict[str, Any]:
        name = draw.choice(sorted(tensors))
        return {key: each for key, each in tensors.items() if key != name} | change(name, tensors[name])

    return way


#: A tensor removed, added, of another shape or name; another object among them; or wrapped as by trainers.
_pickles = drawn(
    "pickle: {}",
    Codec(_load, _save),
    {
        "dropped": _one_of_them(lambda name, tensor: {}),
        "renamed": _one_of_them(lambda name, tensor: {name + "x": tensor}),
        "another shape": _one_of_them(lambda name, tensor: {name: tensor.repeat(2, *[1] * (tensor.dim() - 1))}),
        "wrapped": lambda tensors, draw: {draw.choice(("state_dict", "model", "module")): tensors, "epoch": 3},
        "a list": lambda tensors, draw: list(tensors.values()),
        "one alone": lambda tensors, draw: tensors[draw.choice(sorted(tensors))],
        "old form": lambda tensors, draw: ({"_use_new_zipfile_serialization": False}, tensors),
        "null": _one_of_them(lambda name, tensor: {name: None}),
        "number": lambda tensors, draw: tensors | {"step": 100},
        "nested": lambda tensors, draw: {"optimizer": {"lr": 0.1}, "model_state": tensors},
        "bfloat16": lambda tensors, draw: {name: each.bfloat16() for name, each in tensors.items()},
        "int": _one_of_them(lambda name, tensor: {name: tensor.int()}),
        "a list of one": lambda tensors, draw: [tensors],
        "name of number": lambda tensors, draw: dict(enumerate(tensors.values())),
        "parameters": _parameters,
        "bare pickle": lambda tensors, draw: pickle.dumps({name: each.tolist() for name, each in tensors.items()}),
    },
)

# --- SentencePiece --------------------------------------------------------------------------------


def _read_pieces(path: Path) -> Any:
    from sentencepiece import sentencepiece_model_pb2 as protobuf

    own = protobuf.ModelProto()
    own.ParseFromString(path.read_bytes())
    return own


def _pieces(change: Callable[[list[Any], random.Random], Any]) -> Way:
    """Replace the pieces by the result of a function; of a name it makes a rare one."""

    def way(own: Any, draw: random.Random) -> Any:
        new = change(list(own.pieces), draw)
        kept = [each for each in new if not isinstance(each, str)]
        del own.pieces[:]
        own.pieces.extend(kept)
        for name in new[len(kept) :]:
            own.pieces.add(piece=name, score=-99.0)
        return own

    return way


def _known_pieces(own: Any, draw: random.Random) -> Any:
    own.pieces[0].type = 1
    return own


_sentencepiece = drawn(
    "pieces: {}",
    Codec(_read_pieces, lambda path, own: path.write_bytes(own.SerializeToString())),
    {
        "fewer": _pieces(lambda pieces, draw: pieces[: len(pieces) // 2]),
        "more": _pieces(lambda pieces, draw: [*pieces, *(f"zz{number}" for number in range(draw.choice((1, 400))))]),
        "twice": _pieces(lambda pieces, draw: [*pieces, pieces[-1].piece]),
        "no unknown piece": _known_pieces,
        "none": _pieces(lambda pieces, draw: []),
    },
)

WEIGHTS: Table = [
    ("*.index.json", 5, _index),
    ("*.index.json", 2, _shards),
    ("*.safetensors", 3, _tensors),
    ("*.safetensors", 2, _names),
    ("*.safetensors", 1, _headers),
    ("*.safetensors", 1, _data),
    ("*.bin", 1, _pickles),
    ("*.model", 1, _sentencepiece),
    ("*.spm", 1, _sentencepiece),
]
