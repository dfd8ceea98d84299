"""One random fault in a download: `mutate(folder, others, draw)` changes it and says what it did, as (class, detail)."""

from __future__ import annotations

import json
import pickle
import random
import struct
from collections.abc import Callable
from pathlib import Path

from faults_of_gguf import gguf_key, gguf_tensor
from faults_of_tokenizers import lines, merges, token, vocabulary
from faults_of_weights import converted, lost, moved, pickled, pieces, tensor
from faulty import Done, of_another_type, other_value, places_in, written

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
        return (_field, moved, moved, lost, lost)
    if path.name == "tokenizer.json":
        return (_field, vocabulary, vocabulary, token, merges)
    if path.suffix == ".json":
        return (_field, _field, _written_otherwise)
    if path.suffix == ".safetensors":
        return (tensor, tensor, converted)
    if path.suffix == ".bin":
        return (pickled,)
    if path.suffix == ".model":
        return (pieces,)
    if path.suffix == ".gguf":
        return (gguf_key, gguf_key, gguf_tensor)
    if path.name in ("vocab.txt", "merges.txt"):
        return (lines,)
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
    places = [each for each in places_in(document) if isinstance(each[-1], str) and each[0] != "vocab"]
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
    written(path, document)
    now = str(inner.get(name, ""))[:40]
    return f"field {how}", f"{'.'.join(map(str, place))} {str(old)[:40]!r} → {now!r}"


def _field(folder: Path, path: Path, others: list[Path], draw: random.Random) -> Done | None:
    """A field is removed, null, of another type, or has another value."""
    document = json.loads(path.read_text())
    places = [
        each for each in places_in(document) if each[0] not in ("vocab", "transformers_version", "_diffusers_version")
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
        new = None if how == "null" else (of_another_type if how == "type" else other_value)(old, draw)
        if new == old and type(new) is type(old):
            return None
        inner[place[-1]] = new
    written(path, document)
    now = "" if how == "removed" else f" {str(old)[:40]!r} → {str(inner[place[-1]])[:40]!r}"
    return (
        f"field {'of another type' if how == 'type' else 'changed' if how == 'value' else how}",
        f"{'.'.join(map(str, place))}{now}",
    )
