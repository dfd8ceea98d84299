"""Tries one scheme on a checkpoint's tensors: units by stem, and the weights that they encode."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import prod

from inspector.model import Tensor
from inspector.quantization import widths
from inspector.quantization.scheme import Declared, Scheme, Unit, Weight

_NUMBER = re.compile(r"\d+")


@dataclass(slots=True)
class Unpacked:
    """One scheme's reading of a checkpoint."""

    scheme: Scheme
    weights: list[tuple[Unit, Weight]] = field(default_factory=list)
    loose: list[tuple[str, str, str]] = field(default_factory=list)  # (tensor, the weight it serves or "", what it is)
    idle: list[Unit] = field(default_factory=list)  # from which no weight could be derived

    @property
    def explained(self) -> int:
        """Tensors that the scheme accounts for."""
        return sum(len(unit.pieces) for unit, _ in self.weights) + len(self.loose)

    @property
    def usual(self) -> tuple[int, int | None, str]:
        """Bits, group size and variant of most packed weights, by elements."""
        elements: Counter[tuple[int, int | None, str]] = Counter()
        for _, weight in self.weights:
            elements[weight.bits, weight.group_size, weight.variant] += prod(weight.shape)
        return elements.most_common(1)[0][0]


def unpack(scheme: Scheme, tensors: Sequence[Tensor], declared: Declared) -> Unpacked:
    """A scheme's reading of the tensors. If several widths fit, inputs as wide as the layer's norms decide."""
    found = _tried(scheme, tensors, declared)
    _settle(found, tensors, declared)
    alone = [*_like_others(found.weights, found.idle)]
    served = {unit.stem for unit, _ in alone}
    found.weights += alone
    found.loose += _idle(scheme, found.weights, [unit for unit in found.idle if unit.stem not in served])
    return found


def _settle(first: Unpacked, tensors: Sequence[Tensor], declared: Declared) -> None:
    """Choose between the widths that fit."""
    possible = widths.possible(weight for _, weight in first.weights)
    if not possible:
        return
    tries = [_tried(first.scheme, tensors, replace(declared, assumed=width)).weights for width in possible]
    stems = [unit.stem for unit, _ in first.weights]
    chosen = widths.settle(stems, [[weight for _, weight in each] for each in tries], widths.norms(tensors))
    for at, number in enumerate(chosen):
        if number is not None and not first.weights[at][1].sure:
            first.weights[at] = tries[number][at]


def _tried(scheme: Scheme, tensors: Sequence[Tensor], declared: Declared) -> Unpacked:
    result = Unpacked(scheme)
    for unit in _units(scheme, tensors, result.loose):
        weight = scheme.unpack(unit, declared) if len(unit.pieces) > 1 else None
        if weight is not None and all(weight.shape) and weight.bits > 0:
            result.weights.append((unit, weight))
        else:
            result.idle.append(unit)
    return result


def _like_others(weights: Sequence[tuple[Unit, Weight]], idle: Iterable[Unit]) -> Iterator[tuple[Unit, Weight]]:
    """Packed weights whose side data is not stored, as it may be in a missing shard: read as in other layers."""
    kinds = {_kind(unit, weight.end) for unit, weight in weights}
    alone = [(unit, end) for unit in idle for end in unit.pieces if _kind(unit, end) in kinds]
    if not alone:
        return
    known = {(_layers(unit), _kind(unit, weight.end)): weight for unit, weight in weights}
    for unit, end in alone:
        weight = known.get((_layers(unit), _kind(unit, end)))
        if weight:
            yield unit, weight


def _kind(unit: Unit, end: str) -> tuple[str, str, tuple[int, ...]]:
    """What a packed weight has in common with the same of other layers."""
    return end, unit.pieces[end].dtype, unit.pieces[end].shape


def _layers(unit: Unit) -> str:
    """`model.layers.{}.mlp.up_proj`, for a unit in any layer."""
    return _NUMBER.sub("{}", unit.stem)


def _idle(
    scheme: Scheme, weights: Iterable[tuple[Unit, Weight]], idle: Iterable[Unit]
) -> Iterator[tuple[str, str, str]]:
    """Side data of the checkpoint's scheme that serves no packed weight.

    Transformers writes scales for weights that stayed plain, and those of stacked experts although it unstacks them.
    """
    pieces = {(end, tensor.dtype) for unit, _ in weights for end, tensor in unit.pieces.items() if end in scheme.side}
    for unit in idle:
        for end, tensor in unit.pieces.items():
            known = any(tensor.dtype == dtype and (own.endswith(end) or end.endswith(own)) for own, dtype in pieces)
            if end in scheme.side and known:
                yield tensor.name, unit.stem + (".weight" if end.startswith(".") else ""), scheme.side[end]


def _units(scheme: Scheme, tensors: Sequence[Tensor], loose: list[tuple[str, str, str]]) -> Iterator[Unit]:
    """Tensors by stem: a weight and its side data, or one of these alone."""
    end_of = _Ends((*scheme.weights, *scheme.side, *scheme.loose))
    groups: dict[str, dict[str, Tensor]] = {}
    for tensor in tensors:
        end = end_of(tensor.name)
        if end is None:
            continue
        if end in scheme.loose:
            loose.append((tensor.name, "", scheme.loose[end]))
        else:
            groups.setdefault(tensor.name[: -len(end)], {})[end] = tensor
    bare = "" in scheme.weights  # a weight named by the stem alone: `experts.gate_up_proj`
    whole = {tensor.name: tensor for tensor in tensors} if bare else {}
    for stem, pieces in groups.items():
        if stem in whole and not pieces.keys() & scheme.weights.keys():
            pieces[""] = whole[stem]
        yield Unit(stem, pieces)


class _Ends:
    """Name → its longest known suffix. For most names the last word alone decides."""

    def __init__(self, ends: Iterable[str]) -> None:
        self._ends = sorted((end for end in ends if end), key=len, reverse=True)
        self._by_word: dict[str, tuple[str, ...]] = {}

    def __call__(self, name: str) -> str | None:
        word = name.rpartition(".")[2]
        candidates = self._by_word.get(word)
        if candidates is None:
            candidates = self._by_word[word] = tuple(end for end in self._ends if word_fits(word, end))
        return next((end for end in candidates if name.endswith(end) and len(name) > len(end)), None)


def word_fits(word: str, end: str) -> bool:
    """Whether a name with this last word may have this suffix: `.weight.absmax`, `_blocks`."""
    last = end.rpartition(".")[2]
    return word == last if "." in end else word.endswith(last)
