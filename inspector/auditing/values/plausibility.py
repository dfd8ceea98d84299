"""Is the data itself sound? Numbers that no training produces. Only with `--data`.

What is normal is not known in advance: a tensor is compared with its own numbers and with its role in other layers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import prod
from typing import NamedTuple

from inspector.auditing.rule import Found, rule
from inspector.auditing.subject import Subject
from inspector.auditing.values.misplaced_bytes import is_hole, runs_of_zeros
from inspector.auditing.values.numbers import peers
from inspector.auditing.values.numbers.peers import Peers, TensorData, all_tensors, each_tensor
from inspector.formats import training
from inspector.units import integer, plural, size

#: The farthest that a sound number is above its tensor's median magnitude, in powers of two: outliers reach 2**12.
OWN_REACH = 18.0
#: The same for F16, whose highest exponent bit makes a number 2**16 times as large.
HALF_REACH = 15.0
#: The most numbers near the largest for it to be damaged: more are a table's (a distribution's values, clamped).
FEW = 16.0
#: How far a tensor's largest number and its overall size may be from those of other layers, in powers of two and in
#: deviations of these, before it counts as implausible.
LARGEST_APART, SIZE_APART, NORMS_APART, DEVIATIONS = 9.0, 6.5, 9.0, 8.0
#: Numbers with a median below this, in powers of two, are what weight decay left.
DECAYED = -40.0
#: Quartiles closer than this, in powers of two, where others' are twice as far apart, and a median this far above
#: theirs: BF16 read as F16.
NARROW, APART = 0.6, 3.0
#: Ratio of mean to size of numbers that are on one side of zero.
ONE_SIDED = 0.8
#: How far a first layer's norm is below the others, in powers of two, for its signs to mean nothing: SmolLM2's is 3.
#: Of 291 norms of nine trained models it is the only one whose mean is below 0.4 of its size with all channels alive.
SHRUNK = 2.0
#: How far a norm's largest number is above its median, in powers of two, if half of its channels are dead: IgFold's is
#: 9 to 19, that of others below 5.
DEAD = 7.0
#: The fewest equal numbers for a matrix to count as constant.
LEAST_CONSTANT = 16


@rule("not-finite", "data", "error")
@each_tensor
def not_finite(seen: TensorData, found: Peers, subject: Subject) -> str | None:
    """NaN or infinity among weights.

    Whatever is computed from it becomes NaN too. Training diverged, a conversion chose a dtype that cannot hold the
    numbers, or the file is damaged; llama.cpp refuses such blocks with `--check-tensors`. Masks of minus infinity are
    sound.
    """
    facts = seen.facts
    if facts.is_finite or seen.is_scrambled or _is_mask(seen):
        return None
    counts = ((facts.nan, "NaN"), (facts.inf, "infinity"), (facts.minus_inf, "minus infinity"))
    what = ", ".join(f"{integer(number)} {word}" for number, word in counts if number)
    of, unit = ("the scales of blocks", "block") if seen.is_block else (plural(facts.numbers, "number"), "element")
    return f"{what} in {of}; the first is that of {unit} {integer(facts.first_odd or 0)}"


def _is_mask(seen: TensorData) -> bool:
    """Whether minus infinity occurs only together with zeros or ones, or in a buffer."""
    facts = seen.facts
    return not facts.nan and not facts.inf and (facts.largest in (0.0, 1.0) or seen.labelled.group == "buffer")


@rule("packed-scale", "data", "error")
@all_tensors
def packed_scale(found: Peers, subject: Subject) -> Iterator[Found]:
    """Side data of packed weights that no writer produces: scales of zero or below, or an order beyond the groups.

    All weights of such a group become zero, NaN, or those of another group. Libraries give a group of zeros a scale of
    one, or a tiny one; bitsandbytes and llama.cpp do write zero for a block of zeros, but then all of its codes are
    zero too. Download the file again, or quantize again.
    """
    for each in found.all:
        if each.facts.unscaled:
            what = f"{plural(each.facts.unscaled, 'block')} of non-zero codes whose scale, and so every weight, is zero"
            yield Found(f"{what}; the first is block {integer(each.facts.first_unscaled or 0)}", each.path, each.name)
        packing = found.packing_of(each)
        if packing is not None:
            of_scales = each.side == "scales" and not each.is_scrambled
            if odd := _odd_scale(each, packing.scheme) if of_scales else _odd_order(each, found):
                yield Found(odd, each.path, each.name)


#: Schemes whose scales are magnitudes, without a sign. Those of AutoRound's symmetric weights have one, in whichever
#: layout it exports them (`quant_tensor_sym` of auto-round 0.16): GPTQ's, AWQ's, compressed-tensors' packed integers.
_POSITIVE = ("fp8", "modelopt", "compressed-tensors-float", "compressed-tensors-nv", "bitsandbytes")


def _odd_scale(seen: TensorData, scheme: str) -> str | None:
    facts = seen.facts
    if seen.dtype == "U8" and "mx" in scheme and facts.most_bits == 255:
        return "a scale of 255, which stands for NaN"
    if not seen.is_float or facts.least_bits is None or facts.most_bits is None:
        return None
    if facts.least_bits == 0 and not scheme.startswith("bitsandbytes"):
        return "a scale of zero: the weights of its group are lost"
    sign = 1 << (seen.nbytes * 8 // max(facts.numbers, 1) - 1)
    if scheme.startswith(_POSITIVE) and facts.most_bits > sign and not facts.nan:
        return "a negative scale"
    return None


def _odd_order(seen: TensorData, found: Peers) -> str | None:
    """A GPTQ weight's column order that names a group that does not exist."""
    if not seen.name.endswith(".g_idx") or seen.side is None or seen.facts.most_bits is None:
        return None
    scales = found.by_name.get(seen.name[:-5] + "scales")
    groups = scales.labelled.tensor.shape[0] if scales and scales.labelled.tensor.shape else 0
    if not groups or seen.facts.most_bits < groups:
        return None
    return f"it names group {integer(seen.facts.most_bits)} of {integer(groups)}"


@rule("zero-tensor", "data", "error")
@all_tensors
def zero_tensor(found: Peers, subject: Subject) -> Iterator[Found]:
    """A weight is all zeros, although those of other layers are not.

    A download whose file was created at full size and never filled, or a conversion that lost a tensor. Intended zeros
    are not reported: biases, the second half of a fresh LoRA, gates, layers that were added as the identity.
    """
    for header in found.headers:
        own = found.files[header.path]
        weights = [each for each in own.tensors if each.is_weight]
        if weights and all(each.facts.all_zero for each in weights) and not _is_adapter(weights):
            what = f"nothing but zeros in {plural(len(weights), 'weight')}, {size(header.size)}"
            yield Found(f"{what}: a file that was never filled", header.path)
            continue
        holes = [run for run in runs_of_zeros(own.tensors) if is_hole(run, own.touched(run), found)]
        for each in own.tensors:
            in_hole = any(each.is_covered_by(run) for run in holes)
            if each.facts.all_zero and not in_hole and _should_not_be_zero(each, found):
                what = "all zeros" if each.key.layer is None else "all zeros, although other layers have numbers"
                yield Found(what, header.path, each.name)


def _is_adapter(weights: Sequence[TensorData]) -> bool:
    return all(each.labelled.group == "adapter" for each in weights)


def _should_not_be_zero(seen: TensorData, found: Peers) -> bool:
    if seen.is_table and seen.is_weight:
        return True
    if not seen.is_norm and not seen.is_learnt:
        return False
    others = found.of(seen)
    if seen.is_norm and not others and seen.name.endswith("weight"):
        return _are_positive_norms(found, seen)
    if seen.is_norm and _is_zero_everywhere(found, seen):
        return False
    filled = sum(not other.facts.all_zero for other in others)
    return filled * 2 > len(others) and filled >= 2 and not _is_identity(seen, found)


def _is_zero_everywhere(found: Peers, seen: TensorData) -> bool:
    """Whether all norms under this name are zeros, as residual networks begin: timm's `zero_init_last`."""
    own = seen.name.split(".")[-2:]
    alike = [each for each in found.all if each.is_norm and each.name.split(".")[-2:] == own]
    return len(alike) > 1 and all(each.facts.all_zero for each in alike)


def _are_positive_norms(found: Peers, seen: TensorData) -> bool:
    """Whether the tower's other norms have positive numbers, as all have except those that are added to one."""
    of_tower = [each for each in found.all if each.is_norm and each.key.tower == seen.key.tower and each is not seen]
    norms = [each.facts for each in of_tower if each.facts.size]
    return len(norms) >= peers.LEAST_PEERS and all(each.mean > ONE_SIDED * each.size for each in norms)


#: Output projections of a layer's two halves: if both are zero, the layer is the identity.
_OUTPUTS = frozenset({"o_proj", "down_proj"})


def _is_identity(seen: TensorData, found: Peers) -> bool:
    if seen.key.role not in _OUTPUTS:
        return False
    layer = found.layers[seen.key.tower, seen.key.layer]
    outputs = [each for each in layer if each.key.role in _OUTPUTS and each.is_weight]
    others = [each for each in layer if each.is_learnt and each.key.role not in _OUTPUTS]
    return all(each.facts.all_zero for each in outputs) and not all(each.facts.all_zero for each in others)


@rule("constant-tensor", "data", "error")
@each_tensor
def constant_tensor(seen: TensorData, found: Peers, subject: Subject) -> str | None:
    """All numbers of a matrix are the same.

    No trained weight looks like this: the tensor was created and never filled, or was overwritten. Norms of one, and
    scales and biases of one value, are sound.
    """
    facts = seen.facts
    if not seen.is_learnt or seen.is_block or seen.is_packed or facts.nan or facts.all_zero:
        return None
    return f"every number is {facts.mean:.4g}" if facts.constant and facts.numbers > LEAST_CONSTANT else None


@rule("value-scale", "data", "error")
@all_tensors
def value_scale(found: Peers, subject: Subject) -> Iterator[Found]:
    """Numbers beyond any sane scale for their role.

    Judged against the tensor's own median and the same role in other layers: a flipped bit makes one number 2**64 times
    as large, a wrong conversion a whole tensor. Outlier channels and norms that grow from layer to layer are sound, and
    a layer whose numbers have all decayed is a note.
    """
    for group in found.groups.values():
        judged = [each for each in group if _can_be_judged(each)]
        for each in judged:
            if _is_decayed(each):
                left = f"numbers of about {each.facts.size:.2g}: what weight decay leaves of a layer that does nothing"
                yield Found(left, each.path, each.name, "info")
        judged = [each for each in judged if not _is_decayed(each)]
        whole = Usual.of(judged) if len(judged) > peers.MOST_PEERS else None
        for each in judged:
            others = whole or Usual.of([other for other in judged if other is not each])
            if what := _far_above_median(each) or _unlike_other_layers(each, others):
                yield Found(what, each.path, each.name)


class Usual(NamedTuple):
    """Statistics of a role's tensors: medians and deviations, in powers of two."""

    number: int
    largest: tuple[float, float] | None
    size: tuple[float, float] | None
    side: float  # the least ratio of mean to size of any of them: 1 for constants
    spread: float | None  # medians of their interquartile ranges and of their medians
    middle: float | None
    mean: float

    @classmethod
    def of(cls, seen: Sequence[TensorData]) -> Usual:
        from statistics import median  # slow to import, and most audits read no data

        facts = [each.facts for each in seen]
        middles = [each.middle for each in facts if each.middle is not None]
        return cls(
            len(facts),
            _median_and_deviation(each.largest for each in facts),
            _median_and_deviation(each.size for each in facts),
            min((each.mean / each.size for each in facts if each.size), default=0.0),
            median(each.spread for each in facts) if facts else None,
            median(middles) if middles else None,
            median(each.mean for each in facts) if facts else 0.0,
        )


def _can_be_judged(seen: TensorData) -> bool:
    facts = seen.facts
    if training.is_state(seen.name):  # squares of gradients are of any size
        return False
    kind = seen.is_weight or seen.side == "scales" or seen.is_norm
    return kind and seen.is_float and facts.sampled > 0 and facts.largest > 0 and not seen.is_scrambled


def _is_decayed(seen: TensorData) -> bool:
    return (peers.octaves(seen.facts.size) or 0.0) < DECAYED


def _far_above_median(seen: TensorData) -> str | None:
    """Describes a number far larger than the others in its tensor."""
    facts, reach = seen.facts, peers.octaves(seen.facts.largest)
    if facts.middle is None or reach is None or facts.middle < DECAYED or facts.spread > peers.SCRAMBLED:
        return None
    if reach - facts.middle <= (HALF_REACH if seen.dtype == "F16" else OWN_REACH) or facts.alike_largest > FEW:
        return None
    return f"{_the_largest(seen)} is {facts.largest:.3g}, but half of the others are below {2**facts.middle:.2g}"


def _the_largest(seen: TensorData) -> str:
    return "the largest scale of a block" if seen.is_block else "the largest magnitude"


def _unlike_other_layers(seen: TensorData, others: Usual) -> str | None:
    """Describes a tensor that is unlike the others of its role."""
    facts, largest, sizes = seen.facts, others.largest, others.size
    if others.number < peers.LEAST_PEERS:
        return None
    if largest and _octaves_above(facts.largest, largest) > max(LARGEST_APART, DEVIATIONS * largest[1]):
        return f"{_the_largest(seen)} is {facts.largest:.3g}, but other layers have {2 ** largest[0]:.2g}"
    is_norm = seen.labelled.group == "norm"
    most = NORMS_APART if is_norm else SIZE_APART
    if sizes and facts.size and abs(_octaves_above(facts.size, sizes)) > max(most, DEVIATIONS * sizes[1]):
        return f"numbers of about {facts.size:.2g}, but other layers have about {2 ** sizes[0]:.2g}"
    if is_norm:
        return _not_positive(seen, others)
    if not others.spread or others.middle is None or facts.middle is None or not facts.spread or seen.is_block:
        return None
    if facts.spread < NARROW < others.spread / 2 and facts.middle - others.middle > APART:
        return f"nearly all numbers are {2**facts.middle:.2g}, as when another dtype is read as this one"
    return None


def _median_and_deviation(values: Iterable[float]) -> tuple[float, float] | None:
    """Median and deviation, in powers of two; the deviation is derived from the median absolute deviation."""
    from statistics import median  # slow to import, and most audits read no data

    logs = [each for each in map(peers.octaves, values) if each is not None]
    if not logs:
        return None
    middle = median(logs)
    return middle, 1.4826 * median(abs(each - middle) for each in logs)


def _octaves_above(value: float, usual: tuple[float, float]) -> float:
    return (peers.octaves(value) or 0.0) - usual[0]


def _not_positive(seen: TensorData, others: Usual) -> str | None:
    """A norm around or below zero among norms of positive numbers: it has another tensor's bytes, or the wrong sign.

    A first layer's scales the embedding itself, and training may shrink it until its numbers cross zero; dead channels
    are around zero, too.
    """
    own = seen.facts.mean / seen.facts.size if seen.facts.size else 1.0
    if prod(seen.labelled.tensor.shape) < LEAST_CONSTANT or others.side < ONE_SIDED or own > ONE_SIDED / 2:
        return None
    size, middle = seen.facts.size, seen.facts.middle
    shrunk = seen.key.layer == 0 and others.size is not None and _octaves_above(size, others.size) < -SHRUNK
    with_dead_channels = middle is not None and (peers.octaves(seen.facts.largest) or 0.0) - middle > DEAD
    if abs(own) < ONE_SIDED / 2 and (shrunk or with_dead_channels):
        return None
    return f"numbers around {seen.facts.mean:.2g}, but those of other layers are around {others.mean:.2g}"
