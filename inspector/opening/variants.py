"""Several checkpoints in one place: quantizations, precisions, folders; and the parts of a composite repository.

variants(files)     every checkpoint with its files, the main one first; by file names alone
composite_of(place) the parts that an index lists:
  model_index.json  diffusers: {"unet": ["diffusers", "UNet2DConditionModel"], …}, a folder each
  modules.json      sentence-transformers: [{"path": "2_Dense", "type": "….Dense"}, …], the first in the place
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from inspector.errors import FormatError, SourceError
from inspector.model import Variant
from inspector.sources import Place
from inspector.sources.filenames import PICKLED, TYPE, WEIGHTS, format_of, rank_of, shard_of, type_of
from inspector.tabular import NamedTuple, Tabular
from inspector.units import escape, plural

#: Which of several types the overview shows: llama.cpp's default download, then other common ones.
PREFERRED = ("Q4_K_M", "Q8_0", "Q4_0", "BF16", "F16", "F32")
#: Names of files that accompany a model: its image encoder, the statistics of its quantization, an adapter.
_ACCESSORIES = r"(?i)^(mmproj|imatrix|adapter_model|training_args|optimizer|scheduler|rng_state)|imatrix$"
#: Folders of a pipeline, the one that its name refers to first.
_PARTS = ("transformer", "unet")
#: One model in two layouts, next to each other.
_LAYOUTS = {"consolidated": "model", "pytorch_model": "model"}


class Variants(Tabular, tuple[Variant, ...]):
    """The checkpoints at a target, the one that `open` selects first."""

    __slots__ = ()

    def __repr__(self) -> str:
        names = ", ".join(escape(each.type or each.name, 40) for each in self[:4])
        return f"<Variants: {plural(len(self), 'checkpoint')}: {names}{', …' if len(self) > 4 else ''}>"


def variants(files: Mapping[str, int], ends: tuple[str, ...] = WEIGHTS) -> tuple[Variant, ...]:
    """The checkpoints among files given as path → size, the main one first and the others by name.

    Args:
        ends: suffixes of weight files.
    """
    groups: dict[tuple[str, int, str], list[str]] = {}
    for path in sorted(files):
        if path.endswith(ends):
            groups.setdefault(_group(path), []).append(path)
    found = [_variant(key, paths, files) for key, paths in groups.items()]
    return tuple(sorted(found, key=_rank))


def _group(path: str) -> tuple[str, int, str]:
    """(name, number of shards, format): equal for the files of one checkpoint."""
    if shard := shard_of(path):
        return shard.stem, shard.total, shard.suffix[1:]
    if rank := rank_of(path):
        return rank.set.rpartition(".")[0], 0, path.rpartition(".")[2]
    stem, _, suffix = path.rpartition(".")
    return stem, 0, suffix


def _variant(key: tuple[str, int, str], paths: list[str], files: Mapping[str, int]) -> Variant:
    name, _, suffix = key
    return Variant(
        name=name,
        format=format_of(suffix),
        type=type_of(name),
        model=_model(name),
        paths=tuple(paths),
        size=sum(files[path] for path in paths),
    )


def _model(name: str) -> str:
    """The name without types and without folders that only name one: equal for the variants of one model."""
    folder, _, last = name.rpartition("/")
    folder = TYPE.sub("", folder).strip("-._/")
    last = TYPE.sub("", last).strip("-._")
    return f"{folder}/{_LAYOUTS.get(last, last) or 'model'}".strip("/")


def _rank(variant: Variant) -> tuple[bool, int, bool, int, int, str]:
    """Sorts the main one first: a model, in the place's own folder, of standard name and type; then the largest."""
    folder, _, last = variant.name.rpartition("/")
    type_ = (variant.type or "").removeprefix("UD-")
    preferred = PREFERRED.index(type_) if type_ in PREFERRED else len(PREFERRED)
    part = _PARTS.index(folder) if folder in _PARTS else len(_PARTS)
    if variant.format != "gguf":
        preferred = 0 if variant.type is None else 1 + preferred
    return (
        bool(re.search(_ACCESSORIES, last)),
        part if folder else -1,
        last not in ("model", "pytorch_model", "flax_model", "tf_model"),
        preferred,
        -variant.size,
        variant.name,
    )


# --- composite repositories: a model made of several, each with its own weights ------------------

INDEXES_OF_PARTS = ("model_index.json", "modules.json")
#: Bytes of an index, which is a page of names: a larger file is not one.
MAX_PARTS_INDEX = 1 << 20
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
    index = next((name for name in INDEXES_OF_PARTS if name in place.files), None)
    if index is None:
        return Composite()
    read = _document(place, index)
    parts = tuple(_with_weights(place, _entries(read)))
    kind = read.get("_class_name") if isinstance(read, dict) else None
    return Composite(parts, kind if isinstance(kind, str) else None) if len(parts) > 1 else Composite()


def _document(place: Place, index: str) -> Any:
    """The index's JSON; None if it cannot be read, in which case the folders are used alone."""
    try:
        return json.loads(place.read_text(index, MAX_PARTS_INDEX))
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
        here = {p: size for p, size in place.files.items() if p.startswith(folder) and "/" not in p[len(folder) :]}
        found = variants(here) or variants({p: here[p] for p in here if is_of_part(p)}, PICKLED)
        if found:
            yield Part(name, kind, folder, found[0], found[1:])


def is_of_part(path: str) -> bool:
    """Whether a file of PyTorch's own is the weights of a part, which all pipelines of before safetensors have."""
    return path.endswith(PICKLED) and not re.search(_ACCESSORIES, path.rpartition("/")[2])


def folders_of_parts(place: Place) -> frozenset[str]:
    """The folders that an index of parts lists, "" or ending in "/"; empty without one."""
    index = next((name for name in INDEXES_OF_PARTS if name in place.files), None) if place.selected is None else None
    return frozenset(folder for _, _, folder in _entries(_document(place, index))) if index else frozenset()
