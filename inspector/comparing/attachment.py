"""An adapter and its base: which weight each tensor changes, and whether their shapes match."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from inspector.adapters.prediction import predict
from inspector.errors import ConfigError
from inspector.model import Key, Labelled, Reconciliation
from inspector.tabular import Tabular
from inspector.units import escape, plural

#: LoRA's two factors → the dimension shared with the weight: its inputs, its outputs.
_LORA: Mapping[str, tuple[int, int]] = {"lora_A": (1, -1), "lora_B": (0, 0)}


class Attached(NamedTuple):
    """A tensor of an adapter."""

    piece: Labelled
    base: Labelled | None  # the weight that it changes; None if the base has none
    expected: tuple[int, ...] | None  # the shape that it should have; None if unknown

    @property
    def fits(self) -> bool:
        """Whether the base has the weight, and the shapes match as far as known."""
        return self.base is not None and self.expected in (None, self.piece.tensor.shape)


@dataclass(frozen=True, slots=True)
class Attachment(Tabular):
    """An adapter and a base."""

    base: Reconciliation
    adapter: Reconciliation
    tensors: tuple[Attached, ...]

    def __repr__(self) -> str:
        base, adapter = (escape(each.checkpoint.title, 60) for each in (self.base, self.adapter))
        return f"<Attachment {adapter} on {base}: {plural(len(self.tensors), 'tensor')}, fits: {self.fits}>"

    @property
    def modules(self) -> tuple[Labelled, ...]:
        """The changed weights, each once."""
        return tuple({each.base.tensor.name: each.base for each in self.tensors if each.base}.values())

    @property
    def parameters(self) -> int:
        """Parameters that the adapter adds."""
        return sum(each.piece.parameters for each in self.tensors)

    @property
    def fits(self) -> bool:
        return all(each.fits for each in self.tensors)


def attachment(base: Reconciliation, adapter: Reconciliation) -> Attachment:
    """What an adapter changes in a base, from the headers of both.

    >>> attachment(base, adapter).fits  # doctest: +SKIP
    True
    """
    weights = {each.key._replace(part="weight"): each for each in base.tensors if each.key.part in ("weight", "bias")}
    weights |= {each.key: each for each in base.tensors}
    shapes = _predicted_shapes(base, adapter)
    packed = base.packing.shapes if base.packing else {}
    return Attachment(base, adapter, tuple(_attach(each, weights, shapes, packed) for each in adapter.tensors))


def _attach(
    piece: Labelled,
    weights: Mapping[Key, Labelled],
    shapes: Mapping[Key, tuple[int, ...]],
    packed: Mapping[str, tuple[int, ...]],
) -> Attached:
    key = piece.key
    base = weights.get(key) or weights.get(key._replace(part="weight"))
    expected = shapes.get(key)
    if expected is None and base is not None:
        expected = _lora_shape(piece, packed.get(base.tensor.name, base.tensor.shape))
    if expected is None and base is not None and key.part == "weight":
        expected = base.tensor.shape  # a weight that was trained as a whole
    return Attached(piece, base, expected)


def _lora_shape(piece: Labelled, weight: tuple[int, ...]) -> tuple[int, ...] | None:
    """The shape of one of LoRA's factors, given its own rank."""
    if piece.key.part not in _LORA or len(weight) != len(piece.tensor.shape) or len(weight) != 2:
        return None
    own, theirs = _LORA[piece.key.part]
    shape = list(piece.tensor.shape)
    shape[own] = weight[theirs]
    return tuple(shape)


def _predicted_shapes(base: Reconciliation, adapter: Reconciliation) -> dict[Key, tuple[int, ...]]:
    """The shapes that the adapter's own configuration gives its tensors on this base."""
    config = adapter.adapter.config if adapter.adapter else {}
    if base.prediction is None or not config:
        return {}
    with suppress(ConfigError):
        return dict(_shapes_by_key(base, config))
    return {}


def _shapes_by_key(base: Reconciliation, config: Mapping[str, object]) -> Iterator[tuple[Key, tuple[int, ...]]]:
    assert base.prediction is not None
    for row in predict(config, base.prediction).expected:
        for key in row.keys():
            yield key, row.shape
