"""One random fault in a download: `mutate(folder, others, draw)` makes it and describes it, as (class, detail)."""

from __future__ import annotations

import gzip
import pickle
import random
import struct
from fnmatch import fnmatch
from pathlib import Path

from fault import BYTES, FAULTS, Change, Done, Place, Table, Way, drawn
from faults_of_documents import DOCUMENTS
from faults_of_gguf import GGUFS
from faults_of_tokenizers import TOKENIZERS
from faults_of_weights import WEIGHTS

#: The probability that a fault is one of the whole file.
WHOLE_FILE = 0.2


def mutate(folder: Path, others: list[Path], draw: random.Random) -> Done:
    """Change one thing. Drawn again if the drawn change applies to nothing."""
    while True:
        path = draw.choice(sorted(each for each in folder.rglob("*") if each.is_file() and each.name != "README.md"))
        whole, inside = _changes(path, FILES), _changes(path, [*DOCUMENTS, *TOKENIZERS, *WEIGHTS, *GGUFS])
        change = draw.choice(inside if inside and draw.random() >= WHOLE_FILE else whole)
        before = path.read_bytes()
        done = change(Place(folder, path, others), draw)
        if done is not None and not (path.is_file() and path.read_bytes() == before):
            return done[0], f"{path.relative_to(folder)}: {done[1]}"


def _changes(path: Path, table: Table) -> list[Change]:
    """The changes that apply to a file, repeated by their weights."""
    return [change for pattern, weight, change in table if fnmatch(path.name, pattern) for _ in range(weight)]


# --- whole files ----------------------------------------------------------------------------------

HTML = b"<!DOCTYPE html>\n<html><head><title>403 Forbidden</title></head><body>Access is restricted</body></html>\n"
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"ab" * 32 + b"\nsize 499723\n"
#: Replacements of a whole file.
INSTEAD = (
    ("web page", HTML),
    ("LFS pointer", POINTER),
    ("server's message", b'{"error":"Invalid username or password."}'),
    ("server's message", b"Entry not found"),
    *(("other JSON", text) for text in (b"[]", b"null", b"{}")),
    ("other kind", pickle.dumps({"a": [1, 2]}, 2)),
    ("other kind", b"PK\x05\x06" + bytes(18)),
    ("other kind", b"\x89HDF\r\n\x1a\n" + bytes(200)),
    ("other kind", struct.pack("<4sIQQ", b"GGUF", 3, 0, 0)),
    ("other kind", struct.pack("<Q", 2) + b"{}"),
)


def _delete(place: Place, draw: random.Random) -> Done:
    place.path.unlink()
    return "file deleted", "deleted"


def _cut(place: Place, draw: random.Random) -> Done:
    raw = place.path.read_bytes()
    at = draw.choice((0, 1, len(raw) // 2, len(raw) - 1, draw.randrange(len(raw) + 1)))
    zeroed = draw.random() < 0.3
    place.path.write_bytes(raw[:at] + bytes(len(raw) - at if zeroed else 0))
    return f"file {'zeroed' if zeroed else 'truncated'}", f"from byte {at} of {len(raw)}"


def _replace(place: Place, draw: random.Random) -> Done:
    what, content = draw.choice(INSTEAD)
    place.path.write_bytes(content)
    return "file replaced", f"{what} {content[:12]!r}"


def _rename(place: Place, draw: random.Random) -> Done:
    path = place.path
    new = draw.choice(FAULTS["renamed"]).format(path.name, stem=path.name[: -len(path.suffix)], end=path.suffix)
    path.rename(path.with_name(new))
    return "file renamed", new


def _take_another(place: Place, draw: random.Random) -> Done | None:
    """Use the file of the same name of another download."""
    found = place.elsewhere()
    if not found:
        return None
    other = draw.choice(found)
    place.path.write_bytes(other.read_bytes())
    return "file of another download", other.parent.name


def _move(place: Place, draw: random.Random) -> Done:
    """Move the file a folder deeper, change its name's case, or replace it by a folder or a dangling link."""
    path, raw = place.path, place.path.read_bytes()
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


def _in_code(code: str) -> Way:
    """A text in another encoding; None if it is no text."""

    def way(raw: bytes, _: random.Random) -> bytes | None:
        try:
            return raw.decode().encode(code, "replace")
        except ValueError:
            return None

    return way


#: Changes that editors and shells make to a text.
_encoded = drawn(
    "text {}",
    BYTES,
    {
        **{code: _in_code(code) for code in ("utf-8-sig", "utf-16", "latin-1")},
        "crlf": lambda raw, _: raw.replace(b"\n", b"\r\n"),
        "null at the end": lambda raw, draw: raw + bytes(draw.choice((1, 512))),
        "blank": lambda _, draw: draw.choice((b" ", b"\n\n")),
        "text after it": lambda raw, draw: raw + draw.choice((b"\n", b"\n}\n", b"EOF\n", raw)),
        "cut and closed": lambda raw, draw: raw[: draw.randrange(len(raw) + 1)] + b"}",
    },
)
#: The file compressed under its name; or the file twice, or as its own first part.
_shifted = drawn(
    "bytes {}",
    BYTES,
    {
        "gzip": lambda raw, _: gzip.compress(raw, mtime=0),
        "twice": lambda raw, _: raw + raw,
        "padded": lambda raw, _: raw + bytes(4096),
        "shifted": lambda raw, _: b"\n" + raw,
    },
)

FILES: Table = [
    *(("*", 1, change) for change in (_delete, _cut, _replace, _rename, _take_another, _move)),
    *((pattern, 1, _encoded) for pattern in ("*.json", "*.txt", "*.jinja")),
    *((pattern, 1, _shifted) for pattern in ("*.safetensors", "*.gguf", "*.bin", "*.pt", "*.model", "*.spm")),
]
