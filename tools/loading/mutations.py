"""One random fault in a download: `mutate(folder, others, draw)` changes it and says what it did, as (class, detail)."""

from __future__ import annotations

import json
import pickle
import random
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Done = tuple[str, str]

HTML = b"<!DOCTYPE html>\n<html><head><title>403 Forbidden</title></head><body>Access is restricted</body></html>\n"
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"ab" * 32 + b"\nsize 499723\n"
#: What stands in a file's place.
INSTEAD = (
    ("web page", HTML),
    ("LFS pointer", POINTER),
    ("server's message", b'{"error":"Invalid username or password."}'),
    ("server's message", b"Entry not found"),
    ("other JSON", b"[]"),
    ("other JSON", b"null"),
    ("other JSON", b"{}"),
    ("other kind", pickle.dumps({"a": [1, 2]}, 2)),
    ("other kind", b"PK\x05\x06" + bytes(18)),
    ("other kind", b"\x89HDF\r\n\x1a\n" + bytes(200)),
    ("other kind", struct.pack("<4sIQQ", b"GGUF", 3, 0, 0)),
    ("other kind", struct.pack("<Q", 2) + b"{}"),
)
#: Names that programs give to what they have not finished, or have twice; and people to what they keep.
RENAMED = (
    *(
        "{}.part",
        "{}.tmp",
        "{}.incomplete",
        "{}.crdownload",
        "{}.download",
        "{}.aria2",
        "{}.1",
        "{}.2",
        "{}~",
        "{}.bak",
    ),
    *("{}.old", "{}.orig", "{}.swp", ".{}.swp", "tmp_{}", "tmp{}", "~{}", "._{}", "{} (1)", "Copy of {}", "{}.zip"),
    *(
        "{stem} (1){end}",
        "{stem}(2){end}",
        "{stem} copy{end}",
        "{stem} - Copy{end}",
        "{stem}_old{end}",
        "{stem}-1{end}",
    ),
    *("{stem}.tmp{end}", "{}.temp", "{}.partial", "{}.uploading", "{}.a8F3xQ", ".{}.a8F3xQ", "{}.0", "{}.gz"),
)


def mutate(folder: Path, others: list[Path], draw: random.Random) -> Done:
    """Change one thing. Drawn again where there is nothing that the drawn change applies to."""
    while True:
        path = draw.choice(sorted(each for each in folder.rglob("*") if each.is_file() and each.name != "README.md"))
        whole: tuple[Callable[..., Done | None], ...] = (
            _gone,
            _cut,
            _instead,
            _renamed,
            _another,
            _elsewhere,
            _encoded,
        )
        inside = _inside(path)
        change = draw.choice(whole) if draw.random() < 0.3 or not inside else draw.choice(inside)
        before = path.read_bytes()
        done = change(folder, path, others, draw)
        if done is not None and not (path.is_file() and path.read_bytes() == before):
            return done[0], f"{path.relative_to(folder)}: {done[1]}"


def _inside(path: Path) -> tuple[Callable[..., Done | None], ...]:
    """The changes within a file of a kind; the more often it is listed, the more often it is drawn."""
    if path.name.endswith(".index.json"):
        return (_field, _moved, _moved, _lost, _lost)
    if path.name == "tokenizer.json":
        return (_field, _vocabulary, _vocabulary, _token, _merges)
    if path.suffix == ".json":
        return (_field, _field, _written_otherwise)
    if path.suffix == ".safetensors":
        return (_tensor, _tensor, _converted)
    if path.suffix == ".bin":
        return (_pickled,)
    if path.suffix == ".model":
        return (_pieces,)
    if path.suffix == ".gguf":
        return (_gguf_key, _gguf_key, _gguf_tensor)
    if path.name in ("vocab.txt", "merges.txt"):
        return (_lines,)
    return ()


# --- whole files ----------------------------------------------------------------------------------


def _gone(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done:
    path.unlink()
    return "file deleted", "deleted"


def _cut(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done:
    raw = path.read_bytes()
    at = draw.choice((0, 1, len(raw) // 2, len(raw) - 1, draw.randrange(len(raw) + 1)))
    if draw.random() < 0.3:
        path.write_bytes(raw[:at] + bytes(len(raw) - at))
        return "file zeroed", f"zeros from byte {at} of {len(raw)}"
    path.write_bytes(raw[:at])
    return "file truncated", f"{at} of {len(raw)} bytes"


def _instead(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done:
    what, content = draw.choice(INSTEAD)
    path.write_bytes(content)
    return "file replaced", what + f" {content[:12]!r}"


def _renamed(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done:
    form = draw.choice(RENAMED)
    new = form.format(path.name, stem=path.name[: -len(path.suffix)], end=path.suffix)
    path.rename(path.with_name(new))
    return "file renamed", new


def _another(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done | None:
    """The file of the same name of another download."""
    found = [each / path.relative_to(folder) for each in others if (each / path.relative_to(folder)).is_file()]
    if not found:
        return None
    other = draw.choice(found)
    path.write_bytes(other.read_bytes())
    return "file of another download", str(other.parent.name)


def _elsewhere(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done:
    """The file lies a folder deeper, or its name has another case; or a folder has its name; or it is a link to nothing."""
    raw = path.read_bytes()
    how = draw.choice(("deeper", "case", "folder", "link"))
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


_CODES = ("utf-8-sig", "utf-16", "latin-1", "crlf", "null at the end", "blank", "text after it", "cut and closed")


def _encoded(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done | None:
    """A text in another encoding, or with what editors and shells add to it."""
    raw = path.read_bytes()
    how = draw.choice(_CODES)
    try:
        text = raw.decode()
    except ValueError:
        return None
    if how == "crlf":
        path.write_bytes(raw.replace(b"\n", b"\r\n"))
    elif how == "null at the end":
        path.write_bytes(raw + bytes(draw.choice((1, 512))))
    elif how == "blank":
        path.write_bytes(draw.choice((b" ", b"\n\n")))
    elif how == "text after it":
        path.write_bytes(raw + draw.choice((b"\n", b"\n}\n", b"EOF\n", raw)))
    elif how == "cut and closed":
        path.write_bytes(raw[: draw.randrange(len(raw) + 1)] + b"}")
    else:
        path.write_bytes(text.encode(how, "replace"))
    return f"text {how}", f"{how} of {len(raw)} bytes"


# --- documents ------------------------------------------------------------------------------------


def _written_otherwise(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done | None:
    """A field has another name, another field's value, its value in another form; or there is one more."""
    document = json.loads(path.read_text())
    places = [each for each in _places(document) if isinstance(each[-1], str) and each[0] != "vocab"]
    if not places:
        return None
    place = draw.choice(places)
    inner = document
    for key in place[:-1]:
        inner = inner[key]
    name, old = place[-1], inner[place[-1]]
    alike = [key for key, value in inner.items() if type(value) is type(old) and key != name and value != old]
    how = draw.choice(("renamed", "exchanged", "form", "form", "more", "of another download"))
    if how == "renamed":
        new = draw.choice((name.upper(), name + "s", name[:-1], name.replace("_", "-"), "_" + name))
        items = list(inner.items())
        inner.clear()
        inner.update({new if key == name else key: value for key, value in items})
    elif how == "exchanged" and alike:
        other = draw.choice(alike)
        inner[name], inner[other] = inner[other], old
    elif how == "form":
        forms = [str(old), [old], float(old) if isinstance(old, int) else None, {"value": old}, json.dumps(old)]
        inner[name] = draw.choice(forms)
    elif how == "more":
        inner[draw.choice(("comment", "_extra", "use_flash", "notes"))] = draw.choice((1, "text", [1, 2], {"a": None}))
    elif how == "of another download":
        found = [each / path.relative_to(folder) for each in others]
        values = [own for each in found if each.is_file() and isinstance(own := json.loads(each.read_text()), dict)]
        values = [each[name] for each in values if len(place) == 1 and name in each and each[name] != old]
        if not values:
            return None
        inner[name] = draw.choice(values)
    else:
        return None
    _written(path, document)
    now = str(inner.get(name, ""))[:40]
    return f"field {how}", f"{'.'.join(map(str, place))} {str(old)[:40]!r} → {now!r}"


def _places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a document, four deep; of long lists the first items."""
    items = value.items() if isinstance(value, dict) else enumerate(value[:3]) if isinstance(value, list) else ()
    for key, inner in list(items)[:200]:
        yield (*at, key)
        if len(at) < 4:
            yield from _places(inner, (*at, key))


def _written(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False))


def _field(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done | None:
    """A field is removed, null, of another type, or has another value."""
    document = json.loads(path.read_text())
    places = [
        each for each in _places(document) if each[0] not in ("vocab", "transformers_version", "_diffusers_version")
    ]
    if not places:
        return None
    place = draw.choice(places)
    inner = document
    for key in place[:-1]:
        inner = inner[key]
    old = inner[place[-1]]
    how = draw.choice(("removed", "null", "type", "value", "value"))
    if how == "removed":
        del inner[place[-1]]
    else:
        new = None if how == "null" else (_of_another_type if how == "type" else _other_value)(old, draw)
        if new == old and type(new) is type(old):
            return None
        inner[place[-1]] = new
    _written(path, document)
    now = "" if how == "removed" else f" {str(old)[:40]!r} → {str(inner[place[-1]])[:40]!r}"
    return (
        f"field {'of another type' if how == 'type' else 'changed' if how == 'value' else how}",
        f"{'.'.join(map(str, place))}{now}",
    )


def _of_another_type(value: Any, draw: random.Random) -> Any:
    forms: list[Any] = ["x", 3, 0.5, True, [], {}, [1], {"a": 1}, str(value)[:40]]
    return draw.choice([each for each in forms if type(each) is not type(value)])


def _other_value(value: Any, draw: random.Random) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return draw.choice((value + 1, value - 1, value * 2, value // 2, 0, -1, 10**6))
    if isinstance(value, str):
        return draw.choice((value + "x", value[:-1], "", value.upper(), "unknown"))
    if isinstance(value, list):
        return draw.choice((value[:-1], value + value[-1:], [], value * 2))
    if isinstance(value, dict):
        return dict(list(value.items())[:-1])
    return draw.choice((0, 1, "x", True))


# --- tokenizers -----------------------------------------------------------------------------------


def _vocabulary(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done:
    """The vocabulary of tokenizer.json is some tokens shorter or longer."""
    document = json.loads(path.read_text())
    vocab = document["model"]["vocab"]
    count = draw.choice((1, 3, 40, 200))
    more = draw.random() < 0.5
    if isinstance(vocab, dict):
        if more:
            highest = max(vocab.values())
            vocab |= {f"zz{number}": highest + 1 + number for number in range(count)}
        else:
            for token in draw.sample(sorted(vocab), min(count, len(vocab) - 1)):
                del vocab[token]
    else:
        document["model"]["vocab"] = (
            vocab + [[f"zz{number}", -9.0] for number in range(count)] if more else vocab[:-count]
        )
    _written(path, document)
    return "vocabulary ±k", f"{'+' if more else '-'}{count}"


def _token(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done | None:
    """An added token has another id or text, or is gone; or there is one more."""
    document = json.loads(path.read_text())
    added = document["added_tokens"]
    if not added:
        return None
    token = draw.choice(added)
    how = draw.randrange(4)
    if how == 0:
        token["id"] = draw.choice((token["id"] + 1, 5000, len(added)))
    elif how == 1:
        token["content"] += "x"
    elif how == 2:
        added.remove(token)
    else:
        added.append({**token, "id": draw.choice((310, 999)), "content": "<|more|>"})
    _written(path, document)
    return "added tokens", ("id", "text", "gone", "more")[how] + f" {token['content']}"


def _merges(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done | None:
    document = json.loads(path.read_text())
    merges = document["model"].get("merges")
    if not merges:
        return None
    how = draw.randrange(3)
    if how == 0:
        del document["model"]["merges"]
    elif how == 1:
        merges.append(["qq", "zz"])
    else:
        document["model"]["merges"] = merges[: len(merges) // 2]
    _written(path, document)
    return "merges", ("gone", "unknown pieces", "half of them")[how]


def _lines(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done:
    """A list of tokens or merges is shorter, longer, or has a line twice."""
    lines = path.read_text().splitlines()
    count = draw.choice((1, 10, 300))
    how = draw.randrange(3)
    if how == 0:
        lines = lines[: max(1, len(lines) - count)]
    elif how == 1:
        lines += [f"zz{number} yy" if path.name == "merges.txt" else f"zz{number}" for number in range(count)]
    else:
        lines.insert(draw.randrange(len(lines)), lines[-1])
    path.write_text("\n".join(lines) + "\n")
    return "lines of a list", ("fewer", "more", "twice")[how] + f" {count}"


# --- weights --------------------------------------------------------------------------------------


def _tensor(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done:
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


def _converted(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done | None:
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


def _pickled(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done:
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


def _pieces(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done:
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


def _moved(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done | None:
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
    _written(path, document)
    return "index entry moved", f"{name} to {new}"


def _lost(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done:
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
    _written(path, document)
    return "index entries", ("one gone", "those of a shard gone", "one more")[how] + f" {name}"


# --- GGUF -----------------------------------------------------------------------------------------


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


def _gguf_key(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done | None:
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
        new = _other_value(value, draw)
        width = {0: 8, 2: 16, 4: 32, 10: 64}.get(types[0])
        keys[place][2] = max(0, int(new)) % 2**width if width else new
    if how != "gone" and keys[place][1:] == [types, value]:
        return None
    _write_gguf(path, keys, tensors)
    return f"key-value {how}", f"{key} {str(value)[:40]!r}" + (
        "" if how == "gone" else f" → {str(keys[place][2])[:40]!r}"
    )


def _gguf_tensor(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done | None:
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
