"""What an engine answers: how it holds what the layers keep."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from inspector.architectures.caches import PER_SEQUENCE, PER_SOURCE, Kept
from inspector.sizing.widths import Width


class Request(NamedTuple):
    """What is to be held."""

    context: int  # tokens of each sequence
    sequences: int
    source: int  # tokens of each encoder's input
    keys: Width
    values: Width
    model: Width  # the type that the model computes in: of states that follow it
    tp: int = 1  # devices among which heads are divided
    states: Width | None = None  # the type that the configuration names for states; None for the model's
    batch: int | None = None  # tokens that are worked on at a time; None for the engine's own default


class Held(NamedTuple):
    """Layers that hold alike, on one device."""

    kind: str
    layers: tuple[int, ...]
    tokens: int  # cells of each sequence; of an encoder's outputs for `cross`; 0 for states
    nbytes: int
    dtype: str
    formula: str


class Engine(NamedTuple):
    """One way to run models."""

    name: str
    about: str
    hold: Callable[[Sequence[Kept], Request], tuple[Held, ...]]
    types: tuple[str, ...]  # in which it keeps a cache
    default: str  # the cache's type where none is said; "" for the model's own
    assumes: tuple[str, ...]
    batch: int  # tokens that it works on at a time
    share: int = 100  # percent of a device that it takes
    over: str = "layers"  # what it divides among several devices: "layers" or "heads"
    offloads: bool = False  # whether some of the layers may be on a device, and the others not
    full_vocabulary: bool = False  # whether it keeps logits of every token of a batch


def tokens_of(group: Kept, request: Request) -> int:
    """Tokens that a layer keeps, before an engine's own rounding."""
    if group.kind in PER_SEQUENCE:
        return 0
    if group.kind in PER_SOURCE:
        return request.source
    return request.context % group.stride if group.waiting else request.context // group.stride


def growth(groups: Iterable[Kept], request: Request) -> int:
    """Bytes that one more token of each sequence asks for, before an engine's own rounding."""
    total = 0
    for group in groups:
        full = group.waiting or (group.window and request.context >= group.window)
        if not full and group.kind not in PER_SEQUENCE | PER_SOURCE and group.elements:
            one = request.keys.bytes_of(group.keys) + request.values.bytes_of(group.values)
            total += len(group.layers) * one * request.sequences // group.stride
    return total
