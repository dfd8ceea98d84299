"""What fits: the longest context, the most sequences, the layers that a device has room for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from inspector.architectures.caches import PER_SEQUENCE, Kept
from inspector.model import Finding
from inspector.sizing.engines.engine import Engine, Request
from inspector.sizing.weights import Weights


def largest(fits: Callable[[int], bool], most: int) -> int | None:
    """The largest number up to `most` that fits, assuming all smaller ones do; None if not even 1 fits."""
    if not fits(1):
        return None
    low, high = 1, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def odd_blocks(kept: Sequence[Kept], runs: Engine, request: Request) -> Iterator[Finding]:
    """Heads whose width is not a multiple of the cache type's block, which llama.cpp refuses."""
    for kind, sizes in ((request.keys, "keys"), (request.values, "values")):
        for group in kept:
            elements = getattr(group, sizes)
            one = elements // group.heads if group.heads else elements
            if group.kind not in PER_SEQUENCE and one and not kind.fits(one):
                why = (
                    f"{runs.name} cannot keep {sizes} of {one} elements per head in {kind.name}: blocks "
                    f"have {kind.block}"
                )
                yield Finding("cache-type", "error", why)
                break


def offloaded(kept: Sequence[Kept], runs: Engine, request: Request, weights: Weights, layers: int, room: int) -> int:
    """llama.cpp's `-ngl`: layers that fit on a device, the last ones first, counting the head as one more."""
    _, head = weights.outside()
    cache = by_layer(kept, runs, request)
    taken, number = 0, 0
    for layer in (None, *reversed(range(layers))):
        taken += head if layer is None else weights.of_layer(layer) + cache.get(layer, 0)
        if taken > room:
            return number
        number += 1
    return number


def by_layer(kept: Sequence[Kept], runs: Engine, request: Request) -> dict[int, int]:
    """Layer → bytes of its cache."""
    found: dict[int, int] = {}
    for each in runs.hold(kept, request):
        for layer in each.layers:
            found[layer] = found.get(layer, 0) + each.nbytes // len(each.layers)
    return found
