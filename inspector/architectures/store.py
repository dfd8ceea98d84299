"""Where the tables are: documents by kind and name, read from one packed file, which is made of the folder of tables.

    data/tables/families/llama.json     →  ("families", "llama")
    data/tables/blocks/gguf.json        →  ("blocks", "gguf_mlp") and the other blocks in it

The packed file, `data/tables.pack`, is an index as JSON on the first line, then each document by itself, deflated: one
is found without reading the others. A wheel holds the packed file alone; in a source tree it is a cache beside the
folder, and made again when the folder has changed.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from inspector.errors import TableError

#: People's files, and the file that is made of them.
FOLDER = Path(__file__).parent / "data" / "tables"
PACKED = FOLDER.with_suffix(".pack")
#: Kinds whose files hold several documents, each under its name.
SEVERAL = frozenset({"blocks", "adapters", "dialects"})


class Store(NamedTuple):
    """Documents, and which of them has a model type."""

    home: Path  # the folder, or the packed file
    places: Mapping[str, tuple[int, int]]  # "kind/name" → where its document begins after the index, and how long it is
    types: Mapping[str, str]  # model_type → the family that has it, in the order of the types
    inferable: tuple[str, ...]  # model types that are tried where there is no configuration; the first of equals wins
    start: int  # where the index ends
    content: bytes | None = None  # what `places` are in, where it is no file
    beyond: Store | None = None  # where what is not here may be

    def find(self, kind: str, name: str) -> Mapping[str, Any]:
        """A table's or a block's document. Raises KeyError where there is none."""
        place = self.places.get(f"{kind}/{name}")
        if place is None and self.beyond:
            return self.beyond.find(kind, name)
        if place is None:
            raise KeyError(name)
        document = json.loads(zlib.decompress(self._bytes(self.start + place[0], place[1])))
        assert isinstance(document, dict)
        return document

    def __hash__(self) -> int:
        return hash(self.home)

    def names(self, kind: str) -> list[str]:
        """The names of all documents of a kind."""
        return [name for home, _, name in (place.partition("/") for place in self.places) if home == kind]

    def _bytes(self, offset: int, length: int) -> bytes:
        if self.content is not None:
            return self.content[offset : offset + length]
        with self.home.open("rb") as file:
            file.seek(offset)
            return file.read(length)


@cache
def store() -> Store:
    """The package's own tables."""
    stamp = _stamp(FOLDER)
    if stamp is None:  # a wheel
        with PACKED.open("rb") as file:
            first = file.readline()
        return _store(PACKED, json.loads(first), len(first))
    content = _kept(stamp)
    if content is None:
        content = packed(FOLDER, stamp)
        _keep(content)
    return _in_memory(FOLDER, content)


def _kept(stamp: list[int]) -> bytes | None:
    """The packed file, read at once because others may make it again; None where it is not of the folder as it is."""
    try:
        content = PACKED.read_bytes()
        index = json.loads(content[: content.index(b"\n")])
        return content if index["stamp"] == stamp else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def of_folder(folder: Path) -> Store:
    """A folder of somebody's own tables, which may be like the package's, and use its blocks. Raises TableError."""
    if not folder.is_dir():
        raise TableError(f"{folder} is no folder of tables")
    return _in_memory(folder, packed(folder))._replace(beyond=store())


def _in_memory(home: Path, content: bytes) -> Store:
    first = content[: content.index(b"\n") + 1]
    return _store(home, json.loads(first), len(first))._replace(content=content)


def _store(home: Path, index: Mapping[str, Any], start: int) -> Store:
    return Store(home, index["places"], index["types"], tuple(index["inferable"]), start)


def _stamp(folder: Path) -> list[int] | None:
    """What changes when a file of the folder does: their number, their sizes' sum, the last change. None: no folder."""
    try:
        kinds = [entry.path for entry in os.scandir(folder) if entry.is_dir()]
    except FileNotFoundError:
        return None
    files = [entry.stat() for kind in kinds for entry in os.scandir(kind)]
    return [len(files), sum(file.st_size for file in files), max((file.st_mtime_ns for file in files), default=0)]


def packed(folder: Path, stamp: list[int] | None = None) -> bytes:
    """The packed file of a folder of tables, the same bytes for the same tables. Raises TableError.

    Args:
        stamp: when the folder was as it is, for a cache.
    """
    types: dict[str, str] = {}
    inferable: dict[str, int] = {}
    coverage: dict[str, Any] = {}
    places, pieces, offset = dict[str, tuple[int, int]](), list[bytes](), 0
    for kind, name, document in (*documents(folder), ("made", "coverage", coverage)):
        if kind == "families":
            types.update(dict.fromkeys(document["types"], name))
            inferable.update(document.get("inferable", {}))
            coverage.update(_coverage(document))
        told = {field: value for field, value in document.items() if field != "notes"}
        pieces.append(zlib.compress(json.dumps(told, separators=(",", ":"), ensure_ascii=False).encode(), 9))
        places[f"{kind}/{name}"] = (offset, len(pieces[-1]))
        offset += len(pieces[-1])
    index = {
        "stamp": stamp,
        "types": dict(sorted(types.items())),
        "inferable": sorted(inferable, key=inferable.__getitem__),
        "places": places,
    }
    return b"".join([json.dumps(index, separators=(",", ":")).encode(), b"\n", *pieces])


def _coverage(document: Mapping[str, Any]) -> dict[str, list[int | None]]:
    """How far the types of a family are covered: wholly, where it says nothing else, if Transformers has them."""
    checked = [model_type for model_type in document["types"] if model_type not in document.get("outside", ())]
    return {**dict.fromkeys(checked, [100] * 4), **document.get("coverage", {})}


def documents(folder: Path) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Kind, name and document of every table, and of each of several in one file.

    Families may lie in the folder itself.

    Raises:
        TableError: a file is no table.
    """
    for path in sorted((*folder.glob("*.json"), *folder.glob("*/*.json"))):
        document = _document(path)
        kind = "families" if path.parent == folder else path.parent.name
        if kind in SEVERAL:
            inner = ((name, each) for name, each in document.items() if isinstance(each, dict))
            yield from ((kind, name, each) for name, each in inner)
        elif kind == "families" and not isinstance(document.get("types"), dict):
            raise TableError(f"{path} names no model types: `types` is missing")
        else:
            yield kind, path.stem, document


def _document(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise TableError(f"{path}: {error}") from error
    if not isinstance(document, dict):
        raise TableError(f"{path} is no table: one JSON object is expected")
    return document


def _keep(content: bytes) -> None:
    """Keep the packed file for the next start, where this is allowed."""
    import tempfile  # only where a table has changed

    try:
        with tempfile.NamedTemporaryFile(dir=PACKED.parent, delete=False) as file:
            file.write(content)
        Path(file.name).replace(PACKED)
    except OSError:
        pass
