"""Tensors of which a file holds one part: each rank of a distributed run saves its own.

DTensor         the local tensor, the placements (`Shard(0)`, `Replicate()`) and this rank's place in the mesh
ShardedTensor   the local shards, each with its offsets in the whole (FSDP before 2.2, torch.distributed._shard)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from inspector.formats.pytorch.values import Dictionary, Made, Persistent, is_count
from inspector.formats.pytorch.views import View
from inspector.model import Piece

Maker = Callable[[str, "Made | Persistent"], "list[View] | None"]


def attribute(value: Any, name: str) -> Any:
    """An attribute of a reconstructed object, from its state; None if it has none."""
    state = value.state if isinstance(value, Made) else value
    for each in state if isinstance(state, tuple) else (state,):  # a pair if the class has slots
        if isinstance(each, Dictionary) and (found := each.get(name)) is not None:
            return found
    return None


def local_part(views_of: Maker, name: str, whole: tuple[int, ...], state: Any) -> list[View]:
    """A DTensor's local part of the whole."""
    local, spec = attribute(state, "_local_tensor"), attribute(state, "_spec")
    found = views_of(name, local) if isinstance(local, Made) else None
    if not found:
        return []
    start = _start(whole, spec)
    fits = start is not None and len(found) == 1 and _lies_within(start, found[0].shape, whole)
    return [found[0]._replace(piece=Piece(start or (), whole))] if fits else found


def own_shards(views_of: Maker, name: str, whole: tuple[int, ...], state: Any) -> list[View]:
    """This rank's shards of a ShardedTensor."""
    shards = state[0] if isinstance(state, tuple) and state else None
    found: list[View] = []
    for shard in shards if isinstance(shards, list) else ():
        local, start = attribute(shard, "tensor"), attribute(attribute(shard, "metadata"), "shard_offsets")
        views = views_of(name, local) if isinstance(local, Made) else None
        if not views or not isinstance(start, (list, tuple)) or not all(map(is_count, start)):
            continue
        fits = _lies_within(start, views[0].shape, whole)
        found += [views[0]._replace(piece=Piece(tuple(start), whole))] if fits else views
    return found


def _lies_within(start: Sequence[int], shape: Sequence[int], whole: Sequence[int]) -> bool:
    return len(start) == len(shape) == len(whole) and all(
        at + size <= total for at, size, total in zip(start, shape, whole, strict=True)
    )


def _start(whole: tuple[int, ...], spec: Any) -> tuple[int, ...] | None:
    """Where a rank's part begins; None if the file does not say.

    As `torch.chunk` does (`torch/distributed/tensor/_utils.py`, `compute_local_shape_and_global_offset`). FSDP
    over tensor parallelism writes `_StridedShard` for the last split, although its mesh dimension is first.
    """
    mesh, placements = attribute(spec, "mesh"), attribute(spec, "placements")
    sizes, place = _mesh_sizes(mesh), attribute(mesh, "_coordinate_on_dim")
    if not isinstance(placements, (tuple, list)) or sizes is None or not isinstance(place, (tuple, list)):
        return None
    if not len(placements) == len(sizes) == len(place) or not all(map(is_count, place)):
        return None
    start, left = [0] * len(whole), list(whole)
    cuts = sorted(zip(placements, sizes, place, strict=True), key=lambda cut: _class(cut[0]) == "_StridedShard")
    for placement, ranks, rank in cuts:
        if _class(placement) == "_NormPartial" or _class(placement) == "Partial":
            return None
        if _class(placement) not in ("Shard", "_StridedShard"):
            continue
        dim = attribute(placement, "dim")
        if not is_count(dim) or dim >= len(whole) or not ranks:
            return None
        chunk = -(-left[dim] // ranks)
        skipped = min(chunk * rank, left[dim])
        start[dim] += skipped
        left[dim] = min(chunk, left[dim] - skipped)
    return tuple(start)


def _class(value: Any) -> str:
    return value.path.rpartition(".")[2] if isinstance(value, Made) else ""


def _mesh_sizes(mesh: Any) -> list[int] | None:
    """Ranks along each dimension of a mesh: from its layout, or before 2.9 from its tensor of ranks."""
    layout, ranks = attribute(mesh, "_layout"), attribute(mesh, "mesh")
    if isinstance(ranks, Made) and isinstance(ranks.arguments, tuple) and len(ranks.arguments) > 2:
        return _counts(ranks.arguments[2])
    axes = attribute(layout, "axes")
    shapes = [attribute(axis, "shape") for axis in axes] if isinstance(axes, (tuple, list)) else None
    if shapes is None:
        return _counts(attribute(layout, "shape"))
    counts = [_counts(shape) for shape in shapes]
    return [prod(each) for each in counts if each is not None] if None not in counts else None


def _counts(value: Any) -> list[int] | None:
    if isinstance(value, Made) and isinstance(value.arguments, tuple) and value.arguments:
        value = value.arguments[0]
    if is_count(value):
        return [value]
    return list(value) if isinstance(value, (tuple, list)) and all(map(is_count, value)) else None
