"""Several checkpoints in one place: quantizations, precisions, folders. Recognised by file names alone.

variants(files) → every checkpoint with its files, the main one first
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from inspector.model import Reconciliation, Variant
from inspector.sources.filenames import TYPE, WEIGHTS, format_of, rank_of, shard_of, type_of

#: Which of several types the overview shows: llama.cpp's default download, then other common ones.
PREFERRED = ("Q4_K_M", "Q8_0", "Q4_0", "BF16", "F16", "F32")
#: Names of files that accompany a model: its image encoder, the statistics of its quantization, an adapter.
_ACCESSORIES = re.compile(
    r"^(mmproj|imatrix|adapter_model|training_args|optimizer|scheduler|rng_state)|imatrix$", re.IGNORECASE
)
#: Folders of a pipeline, the one that its name refers to first.
_PARTS = ("transformer", "unet")
#: One model in two layouts, next to each other.
_LAYOUTS = {"consolidated": "model", "pytorch_model": "model"}


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
        bool(_ACCESSORIES.search(last)),
        part if folder else -1,
        last not in ("model", "pytorch_model", "flax_model", "tf_model"),
        preferred,
        -variant.size,
        variant.name,
    )


#: Bits of the widest dtype of stored weights.
WIDEST = 64


def bits_per_weight(variant: Variant, result: Reconciliation) -> float | None:
    """Bits per parameter, counted for the inspected variant and inferred for the others of its model.

    Everything besides weights is assumed to be as large as in the inspected file: in GGUF it is the same vocabulary.
    None for another model (a file too large for these parameters is one too), for a pipeline's part, and if no
    parameters were counted.
    """
    inspected = result.checkpoint.variants[0]
    if not result.logical or (variant.model, variant.format) != (inspected.model, inspected.format):
        return None
    if result.on_disk != inspected.size:  # of several models together
        return None
    bits = max(0, variant.size - (result.on_disk - result.weight_bytes)) * 8 / result.logical
    return bits if bits <= WIDEST else None
