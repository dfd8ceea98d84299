"""Faults of weights: indexes, headers, data, names, pickles. Each is `change(folder, path, others, draw)`."""

from __future__ import annotations

import json
import pickle
import random
import re
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

from faulty import Done, written


def tensor(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done:
    """A tensor is dropped, renamed, of another shape or dtype, or there is one more."""
    raw = path.read_bytes()
    length = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8 : 8 + length])
    metadata = header.pop("__metadata__", None)
    tensors = {name: (each["dtype"], each["shape"], raw[8 + length :][slice(*each["data_offsets"])]) for name, each in header.items()}  # fmt: skip
    name = draw.choice(sorted(tensors))
    dtype, shape, data = tensors[name]
    how = draw.choice(("dropped", "renamed", "another shape", "transposed", "another dtype", "one more", "one of 2 layers", "no metadata"))  # fmt: skip
    if how == "dropped":
        del tensors[name]
    elif how == "renamed":
        new = draw.choice((name + "x", "model." + name, name.removeprefix("model."), name.replace(".weight", ".w")))
        tensors = {new if key == name else key: value for key, value in tensors.items()}
    elif how == "another shape":
        rows = max(1, shape[0] + draw.choice((-1, 1, shape[0]))) if shape else 1
        width = len(data) // (shape[0] if shape else 1)
        tensors[name] = dtype, [rows, *shape[1:]], (data * 3)[: rows * width]
    elif how == "transposed":
        tensors[name] = dtype, shape[::-1], data
    elif how == "another dtype":
        other = {"F32": "I32", "BF16": "F16", "F16": "BF16", "U8": "I8"}.get(dtype, dtype)
        tensors[name] = other, shape, data
    elif how == "one more":
        tensors["extra.weight"] = "F32", [4], bytes(16)
    elif how == "one of 2 layers":
        tensors = {key: value for key, value in tensors.items() if ".1." not in key}
    else:
        metadata = draw.choice((None, {"format": "tf"}, {"format": "xx"}, {}))
    _write_tensors(path, tensors, metadata)
    return f"tensor {how}" if how != "no metadata" else "metadata changed", f"{name} {dtype} {shape}" if how != "no metadata" else str(metadata)  # fmt: skip


def _write_tensors(path: Path, tensors: dict[str, tuple[str, list[int], bytes]], metadata: Any) -> None:
    header: dict[str, Any] = {} if metadata is None else {"__metadata__": metadata}
    at = 0
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(data for _, _, data in tensors.values()))


#: dtype → (dtype, how many bytes of a value are kept, of how many); the bits are not converted.
_NARROWER = {"F32": ("F16", 2, 4), "F16": ("F32", 4, 2), "BF16": ("F8_E4M3", 1, 2), "F8_E4M3": ("BF16", 2, 1)}


def converted(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done | None:
    """All tensors, or those of a layer, have another width; or two tensors have each other's names."""
    raw = path.read_bytes()
    length = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8 : 8 + length])
    metadata = header.pop("__metadata__", None)
    tensors = {name: (each["dtype"], each["shape"], raw[8 + length :][slice(*each["data_offsets"])]) for name, each in header.items()}  # fmt: skip
    how = draw.choice(("width of all", "width of a layer", "exchanged names", "names of another class", "empty"))
    if how == "exchanged names":
        one, two = draw.sample(sorted(tensors), 2) if len(tensors) > 1 else (None, None)
        if one is None or two is None or tensors[one][1] == tensors[two][1]:
            return None
        tensors[one], tensors[two] = tensors[two], tensors[one]
    elif how == "names of another class":
        old, new = draw.choice(((".self_attn.", ".attention."), ("layers.", "h."), (".weight", ".kernel"), ("model.", "module.model."), ("", "_orig_mod.")))  # fmt: skip
        tensors = {name.replace(old, new, 1): each for name, each in tensors.items()}
    elif how == "empty":
        name = draw.choice(sorted(tensors))
        tensors[name] = tensors[name][0], [0, *tensors[name][1][1:]], b""
    else:
        some = [name for name in tensors if how == "width of all" or ".1." in name]
        for name in some:
            dtype, shape, data = tensors[name]
            if dtype in _NARROWER:
                new, keep, of = _NARROWER[dtype]
                wide = (data * 2)[: len(data) // of * keep]
                tensors[name] = new, shape, wide
    _write_tensors(path, tensors, metadata)
    return f"tensors: {how}", how


def pickled(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done:
    """A file of PyTorch with a tensor less, more, of another shape or name; or wrapped as trainers do."""
    import torch

    tensors: Any = torch.load(path, weights_only=True)
    name = draw.choice(sorted(tensors))
    how = draw.choice(("dropped", "renamed", "another shape", "wrapped", "a list", "one alone", "old form"))
    if how == "dropped":
        del tensors[name]
    elif how == "renamed":
        tensors[name + "x"] = tensors.pop(name)
    elif how == "another shape":
        tensors[name] = tensors[name].repeat(2, *[1] * (tensors[name].dim() - 1))
    elif how == "wrapped":
        tensors = {draw.choice(("state_dict", "model", "module")): tensors, "epoch": 3}
    elif how == "a list":
        tensors = list(tensors.values())
    elif how == "one alone":
        tensors = tensors[name]
    torch.save(tensors, path, _use_new_zipfile_serialization=how != "old form")
    return f"pickle: {how}", name


def pieces(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done:
    """A model of SentencePiece with pieces less or more, twice, or of another kind."""
    from sentencepiece import sentencepiece_model_pb2 as protobuf

    own = protobuf.ModelProto()
    own.ParseFromString(path.read_bytes())
    how = draw.choice(("fewer", "more", "twice", "no unknown piece", "none"))
    if how == "fewer":
        del own.pieces[len(own.pieces) // 2 :]
    elif how == "more":
        for number in range(draw.choice((1, 400))):
            own.pieces.add(piece=f"zz{number}", score=-99.0)
    elif how == "twice":
        own.pieces.add(piece=own.pieces[-1].piece, score=-99.0)
    elif how == "no unknown piece":
        own.pieces[0].type = 1
    else:
        del own.pieces[:]
    path.write_bytes(own.SerializeToString())
    return f"pieces: {how}", how


def moved(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done | None:
    """The index puts a tensor, or all, elsewhere; or two shards have each other's names."""
    document = json.loads(path.read_text())
    files = sorted(set(document["weight_map"].values()))
    if len(files) < 2:
        return None
    if draw.random() < 0.4:
        one, two = (path.parent / each for each in draw.sample(files, 2))
        aside = path.parent / "aside"
        one.rename(aside), two.rename(one), aside.rename(two)
        return "shards swapped", f"{one.name} and {two.name}"
    name = draw.choice(sorted(document["weight_map"]))
    new = draw.choice([each for each in files if each != document["weight_map"][name]] + ["none.safetensors", "../x.safetensors"])  # fmt: skip
    document["weight_map"][name] = new
    written(path, document)
    return "index entry moved", f"{name} to {new}"


def lost(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done:
    """A tensor, or a whole shard, stands in no entry; or there is an entry more."""
    document = json.loads(path.read_text())
    entries = document["weight_map"]
    name = draw.choice(sorted(entries))
    how = draw.randrange(3)
    if how == 0:
        del entries[name]
    elif how == 1:
        document["weight_map"] = {key: file for key, file in entries.items() if file != entries[name]}
    else:
        entries["extra.weight"] = entries[name]
    written(path, document)
    return "index entries", ("one gone", "those of a shard gone", "one more")[how] + f" {name}"


def index(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done:
    values = json.loads(path.read_text())
    entries = values["weight_map"]
    how = draw.choice(("empty", "absolute", "null", "total", "no metadata", "prefix", "plain shard", "list", "one file"))  # fmt: skip
    if how == "empty":
        values["weight_map"] = {}
    elif how == "absolute":
        values["weight_map"] = {key: f"/models/{file}" for key, file in entries.items()}
    elif how == "null":
        entries[draw.choice(sorted(entries))] = None
    elif how == "total":
        values["metadata"]["total_size"] = draw.choice((0, 10**15, "many", -1, 1.5))
    elif how == "no metadata":
        del values["metadata"]
    elif how == "prefix":
        values["weight_map"] = {f"model.{key}": file for key, file in entries.items()}
    elif how == "plain shard":
        first = path.parent / sorted(set(entries.values()))[0]
        (path.parent / "model.safetensors").write_bytes(first.read_bytes())
        values["note"] = 1
    elif how == "list":
        values["weight_map"] = [[key, file] for key, file in entries.items()]
    else:
        first_name = sorted(set(entries.values()))[0]
        values["weight_map"] = dict.fromkeys(entries, first_name)
    written(path, values)
    return f"index: {how}", how


def _opened(path: Path) -> tuple[dict[str, tuple[str, list[int], bytes]], Any]:
    raw = path.read_bytes()
    length = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8 : 8 + length])
    metadata = header.pop("__metadata__", None)
    rest = raw[8 + length :]
    return {name: (each["dtype"], each["shape"], rest[slice(*each["data_offsets"])]) for name, each in header.items()}, metadata  # fmt: skip


def header(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done:
    """The header's own bytes."""
    raw = path.read_bytes()
    length = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8 : 8 + length])
    rest = raw[8 + length :]
    how = draw.choice(("gap", "overlap", "unknown dtype", "lower dtype", "number metadata", "more fields", "no shape", "length", "indented", "unsorted", "size as text"))  # fmt: skip
    name = draw.choice(sorted(each for each in header if each != "__metadata__"))
    if how == "gap":
        rest += bytes(16)
        header["zz.gap"] = {"dtype": "U8", "shape": [8], "data_offsets": [len(rest) - 8, len(rest)]}
    elif how == "overlap":
        header["zz.tied"] = dict(header[name])
    elif how == "unknown dtype":
        header[name]["dtype"] = draw.choice(("F24", "INT4", "torch.float32", "F8", "COMPLEX"))
    elif how == "lower dtype":
        header[name]["dtype"] = header[name]["dtype"].lower()
    elif how == "number metadata":
        header["__metadata__"] = {**(header.get("__metadata__") or {}), "step": 100}
    elif how == "more fields":
        header[name]["strides"] = [1]
    elif how == "no shape":
        del header[name]["shape"]
    elif how == "size as text":
        header[name]["shape"] = [str(each) for each in header[name]["shape"]] or ["1"]
    elif how == "unsorted":
        header = dict(sorted(header.items(), reverse=True))
    text = json.dumps(header, indent=1 if how == "indented" else None).encode()
    path.write_bytes(struct.pack("<Q", len(text) + (8 if how == "length" else 0)) + text + rest)
    return f"header: {how}", name


def data(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done | None:
    """Values that are no numbers, all zeros, or in the other order of bytes."""
    tensors, metadata = _opened(path)
    name = draw.choice(sorted(tensors))
    dtype, shape, data = tensors[name]
    how = draw.choice(("NaN", "zeros", "big-endian", "negative", "large"))
    width = {"F32": 4, "F16": 2, "BF16": 2}.get(dtype, 0)
    if not width or not data:
        return None
    if how == "NaN":
        data = {"F32": b"\0\0\xc0\x7f", "F16": b"\0\x7e", "BF16": b"\xc0\x7f"}[dtype] * (len(data) // width)
    elif how == "zeros":
        data = bytes(len(data))
    elif how == "big-endian":
        data = b"".join(data[at : at + width][::-1] for at in range(0, len(data), width))
    elif how == "negative":
        data = b"".join(data[at : at + width - 1] + bytes([data[at + width - 1] ^ 128]) for at in range(0, len(data), width))  # fmt: skip
    else:
        data = {"F32": b"\xff\xff\x7f\x7f", "F16": b"\xff\x7b", "BF16": b"\x7f\x7f"}[dtype] * (len(data) // width)
    tensors[name] = dtype, shape, data
    _write_tensors(path, tensors, metadata)
    return f"values: {how}", name


Tensors = dict[str, tuple[str, list[int], bytes]]


def names(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done | None:
    """Names and shapes as another exporter writes them; layers missing, doubled or renumbered; parts joined or flat."""
    before, metadata = _opened(path)
    how = draw.choice((*_RENAMED, "flat", "one-dimensional", "doubled width", "joined", "head more", "suffix", "float64"))  # fmt: skip
    if how in _RENAMED:
        after = _RENAMED[how](before)
    elif how == "suffix":
        old, new = draw.choice(((".weight", ""), ("weight", "gamma"), (".bias", ".beta"), ("_", "."), ("lora_A.", "lora_A.default."), ("base_model.model.", "")))  # fmt: skip
        after = {name.replace(old, new): each for name, each in before.items()}
    elif how == "joined":
        name = next((each for each in before if "q_proj" in each or "query" in each), "")
        joined = name.replace("q_proj", "qkv_proj").replace("query", "qkv")
        after = {joined if each == name else each: value for each, value in before.items()}
    elif how == "head more":
        dtype = next(iter(before.values()))[0]
        after = {**before, "lm_head.bias": (dtype, [8], bytes(8 * {"F32": 4, "F16": 2, "BF16": 2}.get(dtype, 1)))}
    elif how == "float64":
        after = {name: ("F64", shape, data * 2) if dtype == "F32" else (dtype, shape, data) for name, (dtype, shape, data) in before.items()}  # fmt: skip
    else:
        name = draw.choice(sorted(before))
        dtype, shape, data = before[name]
        changed = {"flat": [_product(shape)], "one-dimensional": [1, *shape], "doubled width": [*shape[:-1], 2 * _product(shape[-1:])]}  # fmt: skip
        after = {**before, name: (dtype, changed[how], data * 2 if how == "doubled width" else data)}
    if after == before or not after:
        return None
    _write_tensors(path, after, metadata)
    return f"names: {how}", how


def _second(tensors: Tensors, new: str) -> Tensors:
    return {re.sub(r"\.1\.", new, name, count=1): each for name, each in tensors.items()}


_RENAMED: dict[str, Callable[[Tensors], Tensors]] = {
    "a layer gone": lambda all_of: {name: each for name, each in all_of.items() if ".1." not in name},
    "renumbered": lambda all_of: _second(all_of, ".2."),
    "a layer more": lambda all_of: {**all_of, **_second(all_of, ".2.")},
    "prefix gone": lambda all_of: {name.partition(".")[2] or name: each for name, each in all_of.items()},
    "head gone": lambda all_of: {
        name: each for name, each in all_of.items() if not re.search(r"head|classifier|embed", name)
    },
    "biases gone": lambda all_of: {name: each for name, each in all_of.items() if not name.endswith("bias")},
}


def _product(shape: list[int]) -> int:
    total = 1
    for each in shape:
        total *= each
    return total


def other_pickle(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done | None:
    """A file of PyTorch with something else among its tensors, of another protocol, or of another dtype."""
    import torch

    tensors: Any = torch.load(path, weights_only=True)
    if not isinstance(tensors, dict):
        return None
    how = draw.choice(("null", "number", "nested", "bfloat16", "int", "a list of one", "bare pickle", "name of number", "parameters"))  # fmt: skip
    name = draw.choice(sorted(tensors))
    if how == "null":
        tensors[name] = None
    elif how == "number":
        tensors["step"] = 100
    elif how == "nested":
        tensors = {"optimizer": {"lr": 0.1}, "model_state": tensors}
    elif how == "bfloat16":
        tensors = {key: each.bfloat16() for key, each in tensors.items()}
    elif how == "int":
        tensors[name] = tensors[name].int()
    elif how == "a list of one":
        tensors = [tensors]
    elif how == "name of number":
        tensors = dict(enumerate(tensors.values()))
    elif how == "parameters":
        tensors = {key: torch.nn.Parameter(each) for key, each in tensors.items()}
    else:
        path.write_bytes(pickle.dumps({key: each.tolist() for key, each in tensors.items()}))
        return f"pickle: {how}", name
    torch.save(tensors, path)
    return f"pickle: {how}", name
