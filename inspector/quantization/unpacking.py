"""Tries one scheme on a checkpoint's tensors: units by stem, and the weights that they encode.

Where several widths fit, each is tried on the whole checkpoint, and the widths of the norms decide: a projection's
input is as wide as a norm of its layer. A projection whose output width differs from the norms' must read theirs, so
its columns determine its bits; one whose output has that width (`o_proj`, `down_proj`) has no constraint on its input,
so it follows its neighbours. Mixed precision is settled module by module: attention may be wider than the feed-forward.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import prod
from operator import ge, itemgetter
from typing import TypeAlias

from inspector.model import Tensor
from inspector.quantization.scheme import COMMON_BITS, COMMON_GROUPS, FLOATS, Declared, Scheme, Unit, Weight, Width

_NUMBER = re.compile(r"\d+")
# `mlp.experts` of `mlp.experts.0.up_proj`: the module that holds the experts.
_EXPERT = re.compile(r"(.+)\.\d+\.[^.]+$")

#: Patterns of names with one stem: the suffix and the positions of each.
_Columns: TypeAlias = "list[tuple[str, Sequence[int]]]"


class Listed:
    """A checkpoint's tensors, whose names were sorted into patterns, and the form of each."""

    def __init__(self, tensors: Sequence[Tensor], patterns: Mapping[str, Sequence[int]]) -> None:
        """
        Args:
            patterns: the tensors' names, with numbers replaced by `{}` → their positions.
        """
        self.tensors = tensors
        self.patterns = patterns
        self.names = [tensor.name for tensor in tensors]
        forms: dict[Hashable, int] = {}
        self._forms = [forms.setdefault((each.dtype, each.shape, each.nbytes), len(forms)) for each in tensors]
        self._of_units: dict[Hashable, int] = {}

    def form_of(self, ends: Iterable[str], places: Iterable[int]) -> int:
        """`Unit.form` of the tensors at these positions, which have these suffixes."""
        return self._form(tuple(ends), tuple(map(self._forms.__getitem__, places)))

    def _form(self, ends: tuple[str, ...], forms: tuple[int, ...]) -> int:
        return self._of_units.setdefault((ends, forms), len(self._of_units))

    def units(self, scheme: Scheme) -> list[Unit]:
        """Tensors by stem, in order of the first: a weight and its side data, or one alone. None if all are alone."""
        patterns = self._by_stem_pattern(scheme)
        bare = self.patterns.keys() & patterns.keys() if "" in scheme.weights else frozenset[str]()
        if not bare and all(len(columns) == 1 for columns in patterns.values()):
            return []
        found: list[tuple[int, Unit]] = []
        for stem, columns in patterns.items():
            units = self._alike(columns) or self._one_by_one(columns)
            found += self._with_bare(units, scheme, self.patterns[stem]) if stem in bare else units
        found.sort(key=itemgetter(0))
        return [unit for _, unit in found]

    def possible(self, scheme: Scheme) -> int:
        """How many tensors the scheme can account for at most, by their suffixes."""
        if "" in scheme.weights:
            return len(self.tensors)
        end_of = _SuffixOf(_ends_of(scheme))
        return sum(len(places) for pattern, places in self.patterns.items() if end_of(pattern))

    def loose(self, scheme: Scheme) -> list[tuple[str, str, str]]:
        """Side data without a weight of its own, as `Unpacked.loose` has it."""
        end_of = _SuffixOf(_ends_of(scheme))
        found = [(at, end) for each, places in self.patterns.items() if (end := end_of(each)) for at in places]
        return [(self.names[at], "", scheme.loose[end]) for at, end in sorted(found) if end in scheme.loose]

    def _by_stem_pattern(self, scheme: Scheme) -> Mapping[str, _Columns]:
        """Stems' pattern → their tensors' suffixes, and the positions of those with each."""
        end_of = _SuffixOf(_ends_of(scheme))
        groups: dict[str, _Columns] = {}
        for pattern, places in self.patterns.items():
            end = end_of(pattern)
            if end is not None and end not in scheme.loose:
                groups.setdefault(pattern[: -len(end)], []).append((end, places))
        return groups

    def _alike(self, columns: _Columns) -> list[tuple[int, Unit]]:
        """The units of patterns of which each unit has all; empty if some lack one."""
        columns = sorted(columns, key=lambda column: column[1][0])
        ends = tuple(end for end, _ in columns)
        stems = self._stems(*columns[0])
        for at, (end, places) in enumerate(columns):
            if (own := self._stems(end, places)) != stems:  # as where the end of a shard parts a unit
                place_of = dict(zip(own, places, strict=True))
                if not len(place_of) == len(own) == len(stems) or place_of.keys() != set(stems):
                    return []
                columns[at] = end, [*map(place_of.__getitem__, stems)]
        forms = [*zip(*(map(self._forms.__getitem__, places) for _, places in columns), strict=True)]
        form_of = {each: self._form(ends, each) for each in dict.fromkeys(forms)}
        tensors = zip(*(map(self.tensors.__getitem__, places) for _, places in columns), strict=True)
        pieces = [dict(zip(ends, each, strict=True)) for each in tensors]
        units = [*zip(columns[0][1], map(Unit, stems, pieces, map(form_of.__getitem__, forms)), strict=True)]
        for at in {at for (_, a), (_, b) in pairwise(columns) for at, later in enumerate(map(ge, a, b)) if later}:
            places_of = sorted((places[at], end) for end, places in columns)
            units[at] = places_of[0][0], self._unit(stems[at], {end: place for place, end in places_of})
        return units

    def _stems(self, end: str, places: Sequence[int]) -> list[str]:
        names, cut = self.names, -len(end)
        return [names[at][:cut] for at in places]

    def _one_by_one(self, columns: _Columns) -> list[tuple[int, Unit]]:
        """The units of any patterns."""
        groups: dict[str, dict[str, int]] = {}
        for at, end in sorted((at, end) for end, places in columns for at in places):
            groups.setdefault(self.names[at][: -len(end)], {})[end] = at
        return [(next(iter(each.values())), self._unit(stem, each)) for stem, each in groups.items()]

    def _unit(self, stem: str, places: Mapping[str, int]) -> Unit:
        pieces = {end: self.tensors[at] for end, at in places.items()}
        return Unit(stem, pieces, self.form_of(places, places.values()))

    def _with_bare(
        self, units: Iterable[tuple[int, Unit]], scheme: Scheme, places: Iterable[int]
    ) -> Iterator[tuple[int, Unit]]:
        """The units, with weights at these positions that are named by the stem alone: `experts.gate_up_proj`."""
        whole = {self.names[at]: at for at in places}
        for first, unit in units:
            at = whole.get(unit.stem)
            if at is None or not unit.pieces.keys().isdisjoint(scheme.weights):
                yield first, unit
            else:
                pieces = {**unit.pieces, "": self.tensors[at]}
                yield first, Unit(unit.stem, pieces, self._form((*unit.pieces, ""), (unit.form, self._forms[at])))


def _ends_of(scheme: Scheme) -> tuple[str, ...]:
    """All suffixes that a scheme knows."""
    return (*scheme.weights, *scheme.side, *scheme.loose)


@dataclass(slots=True)
class Unpacked:
    """One scheme's reading of a checkpoint."""

    scheme: Scheme
    weights: list[tuple[Unit, Weight]] = field(default_factory=list)
    loose: list[tuple[str, str, str]] = field(default_factory=list)  # (tensor, the weight it serves or "", what it is)
    idle: list[Unit] = field(default_factory=list)  # units from which no weight could be derived
    _forms: list[tuple[tuple[Unit, Weight], int]] | None = None  # once computed

    @property
    def explained(self) -> int:
        """Tensors that the scheme accounts for."""
        return sum(len(unit.pieces) for unit, _ in self.weights) + len(self.loose)

    @property
    def usual(self) -> tuple[int, int | None, str]:
        """Bits, group size and variant of most packed weights, by elements."""
        elements: Counter[tuple[int, int | None, str]] = Counter()
        for (_, weight), times in self.forms():
            elements[weight.bits, weight.group_size, weight.variant] += prod(weight.shape) * times
        return elements.most_common(1)[0][0]

    def forms(self) -> list[tuple[tuple[Unit, Weight], int]]:
        """An example of each form of packed weight, in order of the first, and how many have it."""
        if self._forms is None:
            forms = [(unit.form, id(weight)) for unit, weight in self.weights]
            examples = dict(zip(reversed(forms), reversed(self.weights), strict=True))
            self._forms = [(examples[form], times) for form, times in Counter(forms).items()]
        return self._forms

    def change(self, weights: list[tuple[Unit, Weight]]) -> None:
        """Read the units as these weights."""
        self.weights, self._forms = weights, None


def unpack(scheme: Scheme, listed: Listed, declared: Declared) -> Unpacked:
    """A scheme's reading of the tensors. If several widths fit, inputs as wide as the layer's norms decide."""
    units = listed.units(scheme)
    found = _read_as(scheme, units, declared)
    found.loose += listed.loose(scheme)
    _choose_widths(found, units, listed.tensors, declared)
    if "" in scheme.weights:
        found.idle += _bare(found, listed)
    alone = [*_without_side_data(found)]
    served = {unit.stem for unit, _ in alone}
    if alone:
        found.change(found.weights + alone)
    found.loose += _unused_side_data(found, [unit for unit in found.idle if unit.stem not in served])
    return found


def _choose_widths(first: Unpacked, units: Sequence[Unit], tensors: Sequence[Tensor], declared: Declared) -> None:
    """Choose between the widths that fit."""
    possible = _possible_widths(weight for (_, weight), _ in first.forms())
    if not possible:
        return
    tries = [_read_as(first.scheme, units, replace(declared, assumed=width)).weights for width in possible]
    stems = [unit.stem for unit, _ in first.weights]
    chosen = _fitting_tries(stems, [[weight for _, weight in each] for each in tries], _norm_lengths(tensors))
    first.change(
        [
            own if number is None or own[1].sure else tries[number][at]
            for at, (own, number) in enumerate(zip(first.weights, chosen, strict=True))
        ]
    )


def _read_as(scheme: Scheme, units: Iterable[Unit], declared: Declared) -> Unpacked:
    """The units' weights. Those of one form are one, unless the configuration says something about each module."""
    result = Unpacked(scheme)
    weights, idle = result.weights, result.idle
    known: dict[Hashable, Weight | None] = {}
    for unit in units:
        of = (unit.form, unit.stem) if scheme.by_module else unit.form
        if of not in known:
            weight = scheme.unpack(unit, declared) if len(unit.pieces) > 1 else None
            known[of] = weight if weight is not None and all(weight.shape) and weight.bits > 0 else None
        weight = known[of]
        if weight is None:
            idle.append(unit)
        else:
            weights.append((unit, weight))
    return result


def _bare(found: Unpacked, listed: Listed) -> Iterator[Unit]:
    """Tensors that may be packed weights named by a stem alone, without any side data."""
    dtypes = {unit.pieces[""].dtype for (unit, weight), _ in found.forms() if not weight.end} - FLOATS
    if dtypes:
        units = (*(unit for unit, _ in found.weights), *found.idle)
        read = {tensor.name for unit in units for tensor in unit.pieces.values()}
        for at, each in enumerate(listed.tensors):
            if each.dtype in dtypes and each.name not in read:
                yield Unit(each.name, {"": each}, listed.form_of(("",), (at,)))


def _without_side_data(found: Unpacked) -> Iterator[tuple[Unit, Weight]]:
    """Packed weights without their side data, as when its shard is missing; they are read as in other layers."""
    kinds = {_form_of(unit, weight.end) for (unit, weight), _ in found.forms()}
    ends = {end for end, _, _ in kinds}
    alone = [(unit, end) for unit in found.idle for end in unit.pieces if end in ends and _form_of(unit, end) in kinds]
    if not alone:
        return
    known = {(_stem_in_any_layer(unit), _form_of(unit, weight.end)): weight for unit, weight in found.weights}
    for unit, end in alone:
        weight = known.get((_stem_in_any_layer(unit), _form_of(unit, end)))
        if weight:
            yield unit, weight


def lacking(found: Unpacked, declared: Declared) -> dict[str, tuple[str, ...]]:
    """Name of a packed weight → suffixes of the pieces that the scheme needs and the weight lacks.

    Where any one of several pieces is enough, the one that most weights have is named. A tensor with the name and dtype
    of packed weights needs what they need.
    """
    usual: Counter[tuple[str, str]] = Counter()
    alike: Counter[tuple[str, str]] = Counter()
    for (unit, weight), times in found.forms():
        for end in unit.pieces:
            usual[weight.end, end] += times
            alike[weight.variant, end] += times

    def missing(unit: Unit, weight: Weight) -> Iterator[str]:
        for ends in found.scheme.needs(unit, weight, declared).split():
            choices = ends.removesuffix("?").split("|")
            end = max((usual[weight.end, each], -at, each) for at, each in enumerate(choices))[-1]
            most = alike[weight.variant, end] * 2 > alike[weight.variant, weight.end]
            if unit.pieces.keys().isdisjoint(choices) and (most or not ends.endswith("?")):
                yield end

    result: dict[str, tuple[str, ...]] = {}
    known: dict[tuple[int, int], tuple[str, ...]] = {}
    for unit, weight in (*found.weights, *_like_packed(found)):
        form = unit.form, id(weight)
        if form not in known:
            known[form] = tuple(missing(unit, weight))
        if known[form]:
            result[unit.pieces[weight.end].name] = known[form]
    return result


def _like_packed(found: Unpacked) -> Iterator[tuple[Unit, Weight]]:
    """Tensors without side data that have the name and dtype of packed weights, each with one of these.

    Not experts whose scales are stacked in one tensor, as Transformers leaves them when it unstacks the weights.
    """
    examples = {(weight.end, unit.pieces[weight.end].dtype): weight for (unit, weight), _ in found.forms()}
    alike = [
        (unit, weight)
        for unit in found.idle
        for end, tensor in unit.pieces.items()
        if end and tensor.dtype not in FLOATS and len(tensor.shape) > 1
        if (weight := examples.get((end, tensor.dtype)))
    ]
    if not alike:
        return
    packed = {unit.stem for unit, _ in found.weights}
    stacked = {unit.stem.rpartition(".")[0] for unit in found.idle if unit.pieces.keys() <= found.scheme.side.keys()}
    for unit, weight in alike:
        expert = _EXPERT.match(unit.stem)
        if unit.stem not in packed and not (expert and expert[1] in stacked):
            yield unit, weight


def _form_of(unit: Unit, end: str) -> tuple[str, str, tuple[int, ...]]:
    """The properties that a packed weight shares with its counterparts in other layers."""
    return end, unit.pieces[end].dtype, unit.pieces[end].shape


def _stem_in_any_layer(unit: Unit) -> str:
    """`model.layers.{}.mlp.up_proj`, for a unit in any layer."""
    return _NUMBER.sub("{}", unit.stem)


def _unused_side_data(found: Unpacked, idle: Iterable[Unit]) -> Iterator[tuple[str, str, str]]:
    """Side data of the checkpoint's scheme that serves no packed weight.

    Transformers writes scales for weights that stayed plain, and those of stacked experts although it unstacks them.
    """
    side = found.scheme.side
    pieces = {
        (end, tensor.dtype) for (unit, _), _ in found.forms() for end, tensor in unit.pieces.items() if end in side
    }
    for unit in idle:
        for end, tensor in unit.pieces.items():
            if end in side and any(
                tensor.dtype == dtype and (own.endswith(end) or end.endswith(own)) for own, dtype in pieces
            ):
                yield tensor.name, unit.stem + (".weight" if end.startswith(".") else ""), side[end]


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
