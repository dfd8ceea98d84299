"""The store of tables: documents by kind and name, read from one packed file made from the folder of tables.

    data/tables/families/llama.json     →  ("families", "llama")
    data/tables/families/clip.json      →  ("families", "clip"), ("families", "clip_vision"): a file may hold several
    data/tables/blocks/gguf.json        →  ("blocks", "gguf_mlp") and the other blocks in it

The packed file, `data/tables.pack`, is a line of JSON about itself; two JSON objects with an entry a line, which table
has a model type and where each document is; what documents have in common (RFC 1950's preset dictionary); then the
documents, deflated in groups of neighbours, so that few others are inflated with the requested one. A wheel contains
only the packed file; in a source tree it is a cache next to the folder, and rebuilt when the folder has changed.
"""

from __future__ import annotations

import json
import mmap
import os
import zlib
from collections.abc import Collection, Iterator, Mapping
from functools import cache, cached_property
from itertools import accumulate, groupby
from pathlib import Path
from typing import Any

from inspector.errors import TableError

#: The source files, and the packed file made from them.
FOLDER = Path(__file__).parent / "data" / "tables"
PACKED = FOLDER.with_suffix(".pack")
#: Kinds whose files always hold several documents, each under its name.
SEVERAL = frozenset({"blocks", "adapters", "dialects", "conversions", "checked", "learned"})
#: What hands add to derived tables: a file for each, read as a table `like` it.
OVERLAYS = "overlays"
#: Fields of which every table has one: a file without them holds several tables, each under its name.
ONE = frozenset({"types", "like", "part", "rows"})


#: Pieces of a document that others may share, and the most bytes of a preset dictionary (RFC 1951, 2).
_PIECE = rb'\{[^{}\[\]]*\}|\[[^\[\]{}]*\]|"[^"]{12,}"'
_MOST_COMMON = 32_768
#: Bytes of documents that are deflated together: the file is a fifth smaller than with each document on its own, and
#: reading a table takes 0.1 ms longer. At most this many groups stay inflated.
_TOGETHER, _INFLATED = 16_000, 16


class Store:
    """Documents, and an index by model type."""

    def __init__(self, home: Path, content: bytes | mmap.mmap, beyond: Store | None = None) -> None:
        """Read the first line of a file written by `packed`.

        Args:
            home: the folder that it was made from, or the packed file.
            beyond: a fallback store.

        Raises:
            ValueError, KeyError, TypeError: it is not a packed file.
        """
        start = content.find(b"\n") + 1
        about = json.loads(content[:start])
        self.home = home
        self.beyond = beyond
        self.stamp: list[int] | None = about["stamp"]
        #: Model types that are tried if there is no configuration; the first of equals wins.
        self.inferable: tuple[str, ...] = tuple(about["inferable"])
        #: For some of them, the name patterns that identify files without a configuration.
        self.signs: Mapping[str, list[str]] = about.get("signs", {})
        self._types = _Entries(content, start, start + about["types"])
        self._places = _Entries(content, self._types.end, self._types.end + about["places"])
        self._start = self._places.end + about["common"]
        self._groups: list[int] = about["groups"]
        self._inflated: dict[int, bytes] = {}
        self._content = content

    def find(self, kind: str, name: str) -> Mapping[str, Any]:
        """A table's or a block's document. Raises KeyError if there is none."""
        place = self._places.get(f"{kind}/{name}")
        if place is None and self.beyond:
            return self.beyond.find(kind, name)
        if place is None:
            raise KeyError(name)
        group, start, size = place
        document = json.loads(self._group(group)[start : start + size])
        assert isinstance(document, dict)
        return document

    def _group(self, number: int) -> bytes:
        """The texts of a group of documents. Threads may do this twice, to the same end."""
        found = self._inflated.get(number)
        if found is None:
            if len(self._inflated) >= _INFLATED:
                self._inflated.clear()
            start = self._start + sum(self._groups[:number])
            deflated = self._content[start : start + self._groups[number]]
            found = self._inflated[number] = zlib.decompressobj(zdict=self._common).decompress(deflated)
        return found

    @cached_property
    def _common(self) -> bytes:
        return self._content[self._places.end : self._start]

    def has(self, kind: str, name: str) -> bool:
        """Whether such a document exists here."""
        return self._places.get(f"{kind}/{name}") is not None

    def table_of(self, model_type: str) -> str | None:
        """The table for a model type."""
        table = self._types.get(model_type)
        return table if table is None else str(table)

    @cached_property
    def types(self) -> Mapping[str, str]:
        """All model types with their tables, in alphabetical order."""
        return self._types.all()

    def names(self, kind: str) -> list[str]:
        """The names of all documents of a kind."""
        return [name for home, _, name in (place.partition("/") for place in self._places.all()) if home == kind]


class _Entries:
    """A JSON object with one entry per line; entries are found by text search, because parsing all takes longer."""

    def __init__(self, content: bytes | mmap.mmap, start: int, end: int) -> None:
        self._content = content
        self._start = start
        self.end = end
        self._found: dict[str, Any] = {}

    def get(self, name: str) -> Any:
        if name in self._found:
            return self._found[name]
        key = f"\n{json.dumps(name)}:".encode()
        found = self._content.find(key, self._start, self.end)
        if found < 0:
            return None
        value = found + len(key)
        self._found[name] = json.loads(self._content[value : self._content.find(b"\n", value)].rstrip(b","))
        return self._found[name]

    def all(self) -> dict[str, Any]:
        entries = json.loads(self._content[self._start : self.end])
        assert isinstance(entries, dict)
        return entries


@cache
def store() -> Store:
    """The package's tables."""
    stamp = _stamp(FOLDER)
    if stamp is None:  # a wheel
        return Store(PACKED, _mapped())
    found = _packed_already(stamp)
    if found is not None:
        return found
    content = packed(FOLDER, stamp)
    _keep(content)
    return Store(FOLDER, content)


def _packed_already(stamp: list[int]) -> Store | None:
    """The packed file; None if it does not match the folder."""
    try:
        found = Store(FOLDER, _mapped())
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found if found.stamp == stamp else None


def _mapped() -> mmap.mmap:
    """The packed file's content, read on demand, which stays unchanged when the file is replaced."""
    with PACKED.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def of_folder(folder: Path) -> Store:
    """A folder of the user's own tables, which may inherit from the package's and use its blocks. Raises TableError."""
    if not folder.is_dir():
        raise TableError(f"{folder} is not a folder of tables")
    return Store(folder, packed(folder), beyond=store())


def _stamp(folder: Path) -> list[int] | None:
    """A stamp of the folder: the number of files, their total size, the last modification. None without a folder."""
    try:
        kinds = [entry.path for entry in os.scandir(folder) if entry.is_dir()]
    except FileNotFoundError:
        return None
    files = [entry.stat() for kind in kinds for entry in os.scandir(kind)]
    return [len(files), sum(file.st_size for file in files), max((file.st_mtime_ns for file in files), default=0)]


def packed(folder: Path, stamp: list[int] | None = None) -> bytes:
    """The packed file of a folder of tables; deterministic. Raises TableError.

    Args:
        stamp: the folder's stamp, for a cache.
    """
    types: dict[str, str] = {}
    inferable: dict[str, int] = {}
    signs: dict[str, list[str]] = {}
    coverage: dict[str, Any] = {}
    texts: dict[str, bytes] = {}
    found = list(documents(folder))
    overlays = {name: document for _, kind, name, document in found if kind == OVERLAYS}
    tables = (each for each in found if each[1] != OVERLAYS)
    for _, kind, name, document in (*tables, (folder, "made", "coverage", coverage)):
        if kind == "families":
            if name in overlays:
                document["overlay"] = overlays.pop(name)
            types.update(dict.fromkeys(document["types"], name))
            inferable.update(document.get("inferable", {}))
            signs.update(document.get("signs", {}))
            coverage.update(_coverage(document))
        without_notes = {field: value for field, value in document.items() if field != "notes"}
        texts[f"{kind}/{name}"] = json.dumps(without_notes, separators=(",", ":"), ensure_ascii=False).encode()
    if overlays:
        raise TableError(f"{folder}: there is no table for the overlay {min(overlays)}")
    common = _common(texts.values())
    places = dict(_places(texts))
    groups = [
        b"".join(texts[place] for place, _ in group) for _, group in groupby(places.items(), lambda each: each[1][0])
    ]
    pieces = [_deflated(group, common) for group in groups]
    entries = [_entries(dict(sorted(types.items()))), _entries(places)]
    about = {
        "stamp": stamp,
        "inferable": sorted(inferable, key=inferable.__getitem__),
        "signs": signs,
        "types": len(entries[0]),
        "places": len(entries[1]),
        "common": len(common),
        "groups": list(map(len, pieces)),
    }
    return b"".join([json.dumps(about, separators=(",", ":")).encode(), b"\n", *entries, common, *pieces])


def _places(texts: Mapping[str, bytes]) -> Iterator[tuple[str, tuple[int, int, int]]]:
    """Each document with its group, and its start and size in it. A group has neighbours of one kind."""
    number, size, before = -1, 0, ""
    for place, text in texts.items():
        kind = place.partition("/")[0]
        if kind != before or size + len(text) > _TOGETHER:
            number, size, before = number + 1, 0, kind
        yield place, (number, size, len(text))
        size += len(text)


def _common(texts: Collection[bytes]) -> bytes:
    """A preset dictionary: what many documents share, the most frequent last, where references are short."""
    import re  # only where a table has changed
    from collections import Counter

    pieces = Counter(each for text in texts for each in set(re.findall(_PIECE, text)))
    gains = sorted(((number * len(each), each) for each, number in pieces.items() if number > 1), reverse=True)
    sizes = accumulate(len(each) for _, each in gains)
    return b"".join(reversed([each for (_, each), size in zip(gains, sizes, strict=True) if size <= _MOST_COMMON]))


def _deflated(text: bytes, common: bytes) -> bytes:
    deflate = zlib.compressobj(9, zdict=common)
    return deflate.compress(text) + deflate.flush()


def _entries(entries: Mapping[str, Any]) -> bytes:
    """The text of an index that `_Entries` reads."""
    lines = (f"{json.dumps(name)}:{json.dumps(value, separators=(',', ':'))}" for name, value in entries.items())
    return "\n".join(("{", ",\n".join(lines), "}\n")).encode()


def _coverage(document: Mapping[str, Any]) -> dict[str, list[int | None]]:
    """How far the types of a family are covered: fully by default, if a library has them; otherwise in its cases."""
    outside = document.get("outside", ())
    whole = {each: [100, None, 100, None] if each in outside else [100] * 4 for each in document["types"]}
    return {**whole, **document.get("coverage", {})}


def documents(folder: Path) -> Iterator[tuple[Path, str, str, dict[str, Any]]]:
    """File, kind, name and document of every table, including each of several in one file.

    Families may be in the folder itself.

    Raises:
        TableError: a file is not a table.
    """
    for path in sorted((*folder.glob("*.json"), *folder.glob("*/*.json"))):
        kind = "families" if path.parent == folder else path.parent.name
        found = [(path.stem, _document(path))] if kind == OVERLAYS else _in_file(path, several=kind in SEVERAL)
        for name, document in found:
            if kind == "families" and not isinstance(document.get("types"), dict):
                raise TableError(f"{path} names no model types: `types` is missing")
            yield path, kind, name, document


def _in_file(path: Path, *, several: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    """The tables in a file by name: a single one is named like the file."""
    document = _document(path)
    if several or not ONE & document.keys():
        yield from ((name, each) for name, each in document.items() if isinstance(each, dict))
    else:
        yield path.stem, document


def _document(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise TableError(f"{path}: {error}") from error
    if not isinstance(document, dict):
        raise TableError(f"{path} is not a table: one JSON object is expected")
    return document


def _keep(content: bytes) -> None:
    """Save the packed file for the next start, if permitted."""
    import tempfile  # only where a table has changed

    try:
        with tempfile.NamedTemporaryFile(dir=PACKED.parent, delete=False) as file:
            file.write(content)
        Path(file.name).replace(PACKED)
    except OSError:
        pass
