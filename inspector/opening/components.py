"""Composite repositories: a model made of several, each with its own weights.

model_index.json    diffusers: {"unet": ["diffusers", "UNet2DConditionModel"], …}, a folder each
modules.json        sentence-transformers: [{"path": "2_Dense", "type": "….Dense"}, …], the first in the place itself
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from inspector.errors import FormatError, SourceError
from inspector.model import Variant
from inspector.opening.variants import variants
from inspector.sources import Place
from inspector.sources.filenames import WEIGHTS

INDEXES = ("model_index.json", "modules.json")
#: An index is a page of names; a larger file is not one. In bytes.
MAX_INDEX = 1 << 20
#: Parts that are read; real pipelines have a dozen.
MAX_PARTS = 64


class Part(NamedTuple):
    """One model among several in a place, by file names."""

    name: str  # "unet"
    kind: str  # the class that loads it: "UNet2DConditionModel"
    folder: str  # "" or ending in "/"
    main: Variant
    copies: tuple[Variant, ...]  # the same part in other precisions


class Composite(NamedTuple):
    """The contents of an index of parts."""

    parts: tuple[Part, ...] = ()
    kind: str | None = None  # the class that puts the parts together: "StableDiffusionPipeline"


def composite_of(place: Place) -> Composite:
    """The parts that have weights; None if the place has no index of parts, or only one has weights."""
    if place.selected is not None:
        return Composite()
    index = next((name for name in INDEXES if name in place.files), None)
    if index is None:
        return Composite()
    read = _read(place, index)
    parts = tuple(_with_weights(place, _entries(read)))
    kind = read.get("_class_name") if isinstance(read, dict) else None
    return Composite(parts, kind if isinstance(kind, str) else None) if len(parts) > 1 else Composite()


def _read(place: Place, index: str) -> Any:
    """The index's JSON; None if it cannot be read, in which case the folders are used alone."""
    try:
        return json.loads(place.read_text(index, MAX_INDEX))
    except (SourceError, FormatError, ValueError, RecursionError):
        return None


def _entries(index: Any) -> Iterator[tuple[str, str, str]]:
    """(name, class, folder) of each part."""
    if isinstance(index, dict):
        for name, value in index.items():
            match value:
                case [str(), str(kind)]:
                    yield name, kind, name + "/"
    for entry in index if isinstance(index, list) else ():
        match entry:
            case {"path": str(path), "type": str(type_)}:
                kind = type_.rpartition(".")[2]
                yield path or kind.lower(), kind, path + "/" if path else ""


def _with_weights(place: Place, entries: Iterator[tuple[str, str, str]]) -> Iterator[Part]:
    for (name, kind, folder), _ in zip(entries, range(MAX_PARTS), strict=False):
        here = {
            path: size
            for path, size in place.files.items()
            if path.startswith(folder) and "/" not in path[len(folder) :] and path.endswith(WEIGHTS)
        }
        found = variants(here)
        if found:
            yield Part(name, kind, folder, found[0], found[1:])
