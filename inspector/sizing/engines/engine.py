"""The interface of an engine: how it stores what the layers keep."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from inspector.architectures.caches import PER_SEQUENCE, PER_SOURCE, Kept
from inspector.sizing.widths import Width
from inspector.tabular import NamedTuple

if TYPE_CHECKING:
    from inspector.sizing.devices import Device


class Request(NamedTuple):
    """What an engine is asked to hold."""

    context: int  # tokens of each sequence
    sequences: int
    source: int  # tokens of each encoder's input
    keys: Width
    values: Width
    model: Width  # the type that the model computes in, also used for states that follow it
    tp: int = 1  # devices that share the heads
    states: Width | None = None  # the configuration's type for states; None for the model's
    batch: int | None = None  # tokens processed at a time; None for the engine's default
    drafted: int = 0  # tokens of each sequence that a draft model proposes at a time
    snapshots: int = 0  # of a sequence's states, to return to when proposed tokens are refused


class Held(NamedTuple):
    """Layers with equal caches, on one device."""

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
    types: tuple[str, ...]  # supported types of a cache
    default: str  # the default type of a cache; "" for the model's own
    assumes: tuple[str, ...]
    batch: int  # tokens that it processes at a time
    share: int = 100  # percentage of a device that it uses
    over: str = "layers"  # whether it divides "layers" or "heads" among devices
    whole_heads: bool = False  # whether devices that share a layer must have as many key heads each
    offloads: bool = False  # whether it can put only some of the layers on a device
    graphs: bool = False  # whether the graphs are known for which it reserves its buffers
    version: str = ""  # the release whose buffers these are
    asked: bool = False  # whether it answered itself, instead of our rule for it
    all_outputs: bool = False  # whether it reserves logits of every token of a batch
    prefills: bool = False  # whether it computes whole prompts, of all sequences together
    samples: int = 0  # sequences whose next tokens it draws at once when it measures what it needs
    profile: Callable[[Engine, Request, int, int, int], int] | None = (
        None  # what it measures and keeps free, if it does
    )
    instead_of_f32: str = ""  # the type in which it computes models of 32 bits; "" for theirs
    defaults: Callable[[Engine, Sequence[Device]], Engine] | None = None  # itself on some devices, if they matter
    opaque: str = ""  # why it is unknown how it keeps tokens that are merged beforehand (`Kept.stride`); "" if it is


def on_devices(runs: Engine, devices: Sequence[Device]) -> Engine:
    """The engine with the defaults that it takes on these devices."""
    return runs.defaults(runs, devices) if runs.defaults and devices else runs


def tokens_of(group: Kept, request: Request) -> int:
    """Tokens that a layer keeps, before an engine's rounding."""
    if group.kind in PER_SEQUENCE:
        return 0
    if group.kind in PER_SOURCE:
        return request.source
    return request.context % group.stride if group.waiting else request.context // group.stride


def growth(groups: Iterable[Kept], request: Request) -> int:
    """Bytes for one more token of each sequence, before an engine's rounding."""
    total = 0
    for group in groups:
        full = group.waiting or (group.window and request.context >= group.window)
        if not full and group.kind not in PER_SEQUENCE | PER_SOURCE and group.elements:
            one = request.keys.bytes_of(group.keys) + request.values.bytes_of(group.values)
            total += len(group.layers) * one * request.sequences // group.stride
    return total
