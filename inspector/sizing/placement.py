"""What fits: weights and cache on devices, the longest context, the most sequences, the layers that have room.

Layers are divided among stages, the matrices of a layer among the devices of a stage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from inspector.architectures.caches import PER_SEQUENCE, Kept
from inspector.model import Finding
from inspector.sizing.engines.engine import Engine, Request
from inspector.sizing.weights import Weights

if TYPE_CHECKING:
    from inspector.sizing.devices import Device

#: Memory that a driver and its kernels use on a device: an estimate, which varies between releases.
RESERVE = 512 * 2**20
#: Contexts are searched up to this if the model names no maximum.
LONGEST = 2**24
MOST_SEQUENCES = 2**16


class Placed(NamedTuple):
    """What one device holds."""

    device: Device | None  # None if none was named
    weights: int
    cache: int | None
    activations: int  # with the engine's further buffers
    room: int | None  # bytes that the engine may use of it
    fits: bool | None
    longest_context: int | None  # for as many sequences; None if not even one token fits
    most_sequences: int | None
    layers_offloaded: int | None = None  # llama.cpp's -ngl; None for other engines
    layers_in_all: int | None = None  # as `-ngl` counts them: with the head
    bytes_offloaded: int | None = None  # what the device then holds

    @property
    def nbytes(self) -> int:
        return self.weights + (self.cache or 0) + self.activations


def placed(
    kept: Sequence[Kept] | None,
    runs: Engine,
    request: Request,
    weights: Weights,
    activations: tuple[Callable[[Request], int], Callable[[Request], int]],
    devices: Sequence[Device],
    stages: int,
    made_for: int | None,
    *,
    searched: bool = True,
    most: bool = True,
) -> tuple[Placed, ...]:
    """One device of each stage; empty if neither devices nor a division were requested.

    Args:
        activations: their bytes for a request, with those of further buffers, on each device; and on the first one.
        searched: whether to search for what else would fit: the longest context, and `-ngl`.
        most: whether to search for the most sequences, too.
    """
    named: Sequence[Device | None] = devices or (None,)
    layers = _layer_count(kept, weights)
    found: list[Placed] = []
    for stage in range(stages):
        own = range(stage * layers // stages, (stage + 1) * layers // stages)
        held = _weights_of_stage(weights, own, stage == 0, stage == stages - 1, request.tp)
        part = None if kept is None else _kept_in_layers(kept, own, layers, stage == stages - 1)
        for device in named[stage * request.tp : (stage + 1) * request.tp] or named[:1]:
            tokens = (made_for or LONGEST) if searched else 0
            one = _on_device(device, part, runs, request, held, activations[not found], tokens, most)
            if searched and runs.offloads and stages * request.tp == 1 and device and part is not None:
                room = (one.room or 0) - one.activations
                number, taken = _layers_on_device(part, runs, request, weights, layers, room)
                taken += one.activations
                one = one._replace(layers_offloaded=number, layers_in_all=layers + 1, bytes_offloaded=taken)
            found.append(one)
    return tuple(found)


def _layer_count(kept: Sequence[Kept] | None, weights: Weights) -> int:
    """How many layers there are."""
    stored = max((part.layer + 1 for part in weights.parts if part.layer is not None), default=0)
    return stored or max((layer + 1 for group in kept or () for layer in group.layers), default=0)


def _weights_of_stage(weights: Weights, layers: range, first: bool, last: bool, tp: int) -> int:
    """Bytes of one device of a stage: matrices divided, vectors repeated."""
    total = 0
    for part in weights.parts:
        here = part.layer in layers if part.layer is not None else (first if part.embedding else last)
        if here:
            total += -(-part.nbytes // tp) if part.matrix else part.nbytes
    return total


def _kept_in_layers(kept: Sequence[Kept], layers: range, number: int, last: bool) -> tuple[Kept, ...]:
    """What the layers of a stage keep; any beyond the counted ones belong to the last stage."""
    cut = (
        group._replace(layers=tuple(each for each in group.layers if each in layers or (last and each >= number)))
        for group in kept
    )
    return tuple(group for group in cut if group.layers)


def _on_device(
    device: Device | None,
    kept: Sequence[Kept] | None,
    runs: Engine,
    request: Request,
    weights: int,
    activations: Callable[[Request], int],
    most_tokens: int,
    sequences: bool,
) -> Placed:
    """One device; what else would fit is searched for up to contexts of `most_tokens`, not if that is 0."""

    def cache(asked: Request) -> int:
        return sum(each.nbytes for each in runs.hold(kept or (), asked))

    now, temporary = cache(request) if kept is not None else None, activations(request)
    if device is None:
        return Placed(None, weights, now, temporary, None, None, None, None)
    room = usable(device, runs)
    left = room - weights
    if now is None:
        return Placed(device, weights, None, temporary, room, False if left < temporary else None, None, None)

    def fits(asked: Request) -> bool:
        return cache(asked) + activations(asked) <= left

    verdict = now + temporary <= left
    if not most_tokens:
        return Placed(device, weights, now, temporary, room, verdict, None, None)
    longest = _largest_that_fits(lambda tokens: fits(request._replace(context=tokens)), most_tokens)
    number = None
    if sequences:
        number = _largest_that_fits(lambda each: fits(request._replace(sequences=each)), MOST_SEQUENCES)
    return Placed(device, weights, now, temporary, room, verdict, longest, number)


def usable(device: Device, runs: Engine) -> int:
    """Bytes of a device that an engine may use."""
    return (device.nbytes - RESERVE) * runs.share // 100


def _largest_that_fits(fits: Callable[[int], bool], most: int) -> int | None:
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


def _layers_on_device(
    kept: Sequence[Kept], runs: Engine, request: Request, weights: Weights, layers: int, room: int
) -> tuple[int, int]:
    """llama.cpp's `-ngl`, and bytes: layers that fit on a device, from the last, with the head as one more."""
    _, head = weights.outside()
    cache = _cache_by_layer(kept, runs, request)
    taken, number = 0, 0
    for layer in (None, *reversed(range(layers))):
        more = head if layer is None else weights.of_layer(layer) + cache.get(layer, 0)
        if taken + more > room:
            break
        taken, number = taken + more, number + 1
    return number, taken


def _cache_by_layer(kept: Sequence[Kept], runs: Engine, request: Request) -> dict[int, int]:
    """Layer → bytes of its cache."""
    found: dict[int, int] = {}
    for each in runs.hold(kept, request):
        for layer in each.layers:
            found[layer] = found.get(layer, 0) + each.nbytes // len(each.layers)
    return found
