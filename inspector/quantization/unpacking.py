"""Tries one scheme on a checkpoint's tensors: units by stem, and the weights that they encode.

Where several widths fit, each is tried on the whole checkpoint, and the widths of the norms decide: a projection's
input is as wide as a norm of its layer. A projection whose output width differs from the norms' must read theirs, so
its columns determine its bits; one whose output has that width (`o_proj`, `down_proj`) has no constraint on its input,
so it follows its neighbours. Mixed precision is settled module by module: attention may be wider than the feed-forward.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod

from inspector.model import Tensor
from inspector.quantization.scheme import COMMON_BITS, COMMON_GROUPS, FLOATS, Declared, Scheme, Unit, Weight, Width

_NUMBER = re.compile(r"\d+")
# `mlp.experts` of `mlp.experts.0.up_proj`: the module that holds the experts.
_EXPERT = re.compile(r"(.+)\.\d+\.[^.]+$")


@dataclass(slots=True)
class Unpacked:
    """One scheme's reading of a checkpoint."""

    scheme: Scheme
    weights: list[tuple[Unit, Weight]] = field(default_factory=list)
    loose: list[tuple[str, str, str]] = field(default_factory=list)  # (tensor, the weight it serves or "", what it is)
    idle: list[Unit] = field(default_factory=list)  # units from which no weight could be derived

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
    found = _read_as(scheme, tensors, declared)
    _choose_widths(found, tensors, declared)
    if "" in scheme.weights:
        found.idle += _bare(found, tensors)
    alone = [*_without_side_data(found.weights, found.idle)]
    served = {unit.stem for unit, _ in alone}
    found.weights += alone
    found.loose += _unused_side_data(scheme, found.weights, [unit for unit in found.idle if unit.stem not in served])
    return found


def _choose_widths(first: Unpacked, tensors: Sequence[Tensor], declared: Declared) -> None:
    """Choose between the widths that fit."""
    possible = _possible_widths(weight for _, weight in first.weights)
    if not possible:
        return
    tries = [_read_as(first.scheme, tensors, replace(declared, assumed=width)).weights for width in possible]
    stems = [unit.stem for unit, _ in first.weights]
    chosen = _fitting_tries(stems, [[weight for _, weight in each] for each in tries], _norm_lengths(tensors))
    for at, number in enumerate(chosen):
        if number is not None and not first.weights[at][1].sure:
            first.weights[at] = tries[number][at]


def _read_as(scheme: Scheme, tensors: Sequence[Tensor], declared: Declared) -> Unpacked:
    result = Unpacked(scheme)
    for unit in _grouped_by_stem(scheme, tensors, result.loose):
        weight = scheme.unpack(unit, declared) if len(unit.pieces) > 1 else None
        if weight is not None and all(weight.shape) and weight.bits > 0:
            result.weights.append((unit, weight))
        else:
            result.idle.append(unit)
    return result


def _bare(found: Unpacked, tensors: Sequence[Tensor]) -> Iterator[Unit]:
    """Tensors that may be packed weights named by a stem alone, without any side data."""
    dtypes = {unit.pieces[""].dtype for unit, weight in found.weights if not weight.end} - FLOATS
    if dtypes:
        units = (*(unit for unit, _ in found.weights), *found.idle)
        read = {tensor.name for unit in units for tensor in unit.pieces.values()}
        yield from (Unit(each.name, {"": each}) for each in tensors if each.dtype in dtypes and each.name not in read)


def _without_side_data(weights: Sequence[tuple[Unit, Weight]], idle: Iterable[Unit]) -> Iterator[tuple[Unit, Weight]]:
    """Packed weights without their side data, as when its shard is missing; they are read as in other layers."""
    kinds = {_form_of(unit, weight.end) for unit, weight in weights}
    alone = [(unit, end) for unit in idle for end in unit.pieces if _form_of(unit, end) in kinds]
    if not alone:
        return
    known = {(_stem_in_any_layer(unit), _form_of(unit, weight.end)): weight for unit, weight in weights}
    for unit, end in alone:
        weight = known.get((_stem_in_any_layer(unit), _form_of(unit, end)))
        if weight:
            yield unit, weight


def lacking(found: Unpacked, declared: Declared) -> dict[str, tuple[str, ...]]:
    """Name of a packed weight → suffixes of the pieces that the scheme needs and the weight lacks.

    Of pieces of which one is enough, the one that most weights have is named. A tensor like packed weights of its name
    and dtype needs what they need.
    """
    usual = Counter((weight.end, end) for unit, weight in found.weights for end in unit.pieces)
    alike = Counter((weight.variant, end) for unit, weight in found.weights for end in unit.pieces)
    result: dict[str, tuple[str, ...]] = {}
    for unit, weight in (*found.weights, *_like_packed(found)):
        missing = []
        for ends in found.scheme.needs(unit, weight, declared).split():
            choices = ends.removesuffix("?").split("|")
            end = max((usual[weight.end, each], -at, each) for at, each in enumerate(choices))[-1]
            most = alike[weight.variant, end] * 2 > alike[weight.variant, weight.end]
            if unit.pieces.keys().isdisjoint(choices) and (most or not ends.endswith("?")):
                missing.append(end)
        if missing:
            result[unit.pieces[weight.end].name] = tuple(missing)
    return result


def _like_packed(found: Unpacked) -> Iterator[tuple[Unit, Weight]]:
    """Tensors without side data that have the name and dtype of packed weights, each with one of these.

    Not experts whose scales are stacked in one tensor, as Transformers leaves them when it unstacks the weights.
    """
    examples = {(weight.end, unit.pieces[weight.end].dtype): weight for unit, weight in found.weights}
    packed = {unit.stem for unit, _ in found.weights}
    stacked = {unit.stem.rpartition(".")[0] for unit in found.idle if unit.pieces.keys() <= found.scheme.side.keys()}
    for unit in found.idle:
        expert = _EXPERT.match(unit.stem)
        if unit.stem in packed or (expert and expert[1] in stacked):
            continue
        for end, tensor in unit.pieces.items():
            weight = examples.get((end, tensor.dtype))
            if weight and end and tensor.dtype not in FLOATS and len(tensor.shape) > 1:
                yield unit, weight


def _form_of(unit: Unit, end: str) -> tuple[str, str, tuple[int, ...]]:
    """The properties that a packed weight shares with its counterparts in other layers."""
    return end, unit.pieces[end].dtype, unit.pieces[end].shape


def _stem_in_any_layer(unit: Unit) -> str:
    """`model.layers.{}.mlp.up_proj`, for a unit in any layer."""
    return _NUMBER.sub("{}", unit.stem)


def _unused_side_data(
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


def _grouped_by_stem(scheme: Scheme, tensors: Sequence[Tensor], loose: list[tuple[str, str, str]]) -> Iterator[Unit]:
    """Tensors by stem: a weight and its side data, or one of these alone."""
    end_of = _SuffixOf((*scheme.weights, *scheme.side, *scheme.loose))
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


class _SuffixOf:
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


# --- which of several widths ---------------------------------------------------------------------

# `model.layers.0` of `model.layers.0.mlp.up_proj`: up to the first number.
_BLOCK = re.compile(r"^.*?\.\d+(?=\.)")


def _possible_widths(weights: Iterable[Weight]) -> list[Width]:
    """The widths that unsure weights may have: 64 elements of 4 bits fill the same words as 32 of 8."""
    products = {weight.bits * weight.group_size for weight in weights if not weight.sure and weight.group_size}
    found = {Width(bits, product // bits) for product in products for bits in COMMON_BITS if product % bits == 0}
    return sorted(width for width in found if width.group in COMMON_GROUPS)


def _norm_lengths(tensors: Sequence[Tensor]) -> Mapping[str, frozenset[int]]:
    """Lengths of norms' scales by layer; those of the whole checkpoint under ""."""
    found: defaultdict[str, set[int]] = defaultdict(set)
    for tensor in tensors:
        if len(tensor.shape) == 1 and tensor.dtype in FLOATS and tensor.name.endswith(".weight"):
            found[_block_of(tensor.name)].add(tensor.shape[0])
            found[""].add(tensor.shape[0])
    return {block: frozenset(lengths) for block, lengths in found.items()}


def _block_of(name: str) -> str:
    """The layer that a name is in; "" outside of the layers."""
    match = _BLOCK.match(name)
    return match[0] if match else ""


def _fitting_tries(
    stems: Sequence[str], tried: Sequence[Sequence[Weight]], lengths: Mapping[str, frozenset[int]]
) -> list[int | None]:
    """For each weight, which of the tries fits its neighbourhood; None if none does, or several do.

    Weights that must read a norm's output vote for the tries in which they do: for their module, their layer and the
    whole checkpoint. A weight takes the winner of the nearest of these that has one.

    Args:
        tried: for each width, its reading of every weight.
        lengths: `_norm_lengths` of the checkpoint.
    """
    votes: defaultdict[str, Counter[int]] = defaultdict(Counter)
    for at, stem in enumerate(stems):
        near = lengths.get(_block_of(stem)) or lengths.get("", frozenset())
        for number, weights in enumerate(tried):
            if _reads_a_norm(weights[at], near):
                for place in _neighbourhoods(stem):
                    votes[place][number] += 1
    return [_most_votes(stem, votes) for stem in stems]


def _reads_a_norm(weight: Weight, near: frozenset[int]) -> bool:
    """Whether a weight of this shape must read, and does read, a norm's output."""
    return len(weight.shape) > 1 and weight.shape[-2] not in near and weight.shape[-1] in near


def _neighbourhoods(stem: str) -> tuple[str, str, str]:
    """The module that holds the weight, its layer, and the whole checkpoint."""
    return stem.rpartition(".")[0], f"{_block_of(stem)}.", "*"


def _most_votes(stem: str, votes: Mapping[str, Counter[int]]) -> int | None:
    """The width of most neighbours, at the nearest level with any votes."""
    for place in _neighbourhoods(stem):
        ranked = votes.get(place, Counter()).most_common(2)
        if ranked and (len(ranked) == 1 or ranked[0][1] > ranked[1][1]):
            return ranked[0][0]
    return None
