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
from inspector.auditing.values.numbers.facts import Run
from inspector.auditing.values.numbers.peers import PAGE, SPARSE, Peers, TensorData, all_tensors, each_tensor
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


# --- NaN, infinity, scales --------------------------------------------------------------------------


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


# --- zeros and constants ----------------------------------------------------------------------------


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
    filled = sum(not other.facts.all_zero for other in others)
    return filled * 2 > len(others) and filled >= 2 and not _is_identity(seen, found)


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


# --- implausible sizes ------------------------------------------------------------------------------


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


#: The fewest numbers with the same bit that rule out chance.
ENOUGH = 1024
#: The fewest distinct values in a range with fewer than this many constant bits, because numbers rounded to a few steps
#: share bits by chance; and the fewest distinct values that have a bit which varies.
LEAST_VALUES, MANY_BITS, LEAST_HAVING = 256, 3, 48
#: A bit varies if more than this share of the numbers has it, and as many lack it; otherwise it may be constant in a
#: range by chance.
SELDOM = 0.2
#: Bytes of a range that are read again, and bytes that each step of the search for its exact ends reads.
PART, BESIDE = 65536, 4096
#: The fewest bytes of a range, and the largest share of a tensor in ranges: anything more frequent is intended.
LEAST_RANGE, MOST_SHARE = 8192, 0.5
#: The most ranges of a tensor that are examined, the longest first.
MOST_RANGES = 8
#: The fewest bits that a whole tensor must lack: freshly initialized numbers lack F32's last bit, which training sets.
LEAST_LOST = 7
#: Numbers beyond an end whose bit may be the same by chance; fewer if several bits must be.
CHANCE = 12
#: Groups of roles whose matrices have numbers of both signs.
TWO_SIDED = frozenset({"attention", "feed_forward"})
SIGN = {"BF16": 0x8000, "F16": 0x8000, "F32": 0x80000000}
#: Variance relative to that of noise: learned codes stay below the first, noise is above the second.
LEARNT_CODES, NOISE = 0.6, 0.85


@rule("lost-bits", "data", "error")
@each_tensor
def lost_bits(seen: TensorData, found: Peers, subject: Subject) -> str | None:
    """A bit is the same in all numbers of a tensor, or of part of one, but varies elsewhere.

    A truncated mantissa, a lost sign, a stuck line of memory or of a bus: each number by itself looks plausible.
    Deliberate rounding affects whole rows, a whole layer, or the same role in many layers, and is not reported.
    Download the file again, or convert it again.
    """
    if not (seen.is_learnt or seen.is_packed) or not _varies(seen) or seen.is_scrambled:
        return None
    return _in_tensor(seen, found, subject) or next(_in_ranges(seen, subject), None)


def _varies(seen: TensorData) -> bool:
    """Whether there are enough numbers, most of them not zero."""
    facts = seen.facts
    enough = facts.numbers > 0 and seen.nbytes >= 2 * LEAST_RANGE
    return enough and not facts.constant and facts.sparsity <= SPARSE


def _watched(seen: TensorData) -> tuple[int, int]:
    """The bytes of a number, and which of its bits are examined."""
    from inspector.auditing.values.numbers.pieces import WATCHED  # needs NumPy

    watch = WATCHED.get(seen.dtype)
    if watch is None:
        return 1, 0
    sign = SIGN.get(seen.dtype, 0)
    two_sided = seen.labelled.group in TWO_SIDED and not seen.is_table
    return watch.width, watch.mask if two_sided else watch.mask & ~sign


def _constant_bits(seen: TensorData) -> int:
    """The bits that are the same in all numbers of a tensor."""
    return _watched(seen)[1] & (~seen.facts.ever | seen.facts.always)


def _in_tensor(seen: TensorData, found: Peers, subject: Subject) -> str | None:
    """Bits that vary in the same role of other layers, and in the other matrices of the layer."""
    still = _constant_bits(seen)
    if still & SIGN.get(seen.dtype, 0):
        return "all numbers have the same sign, which no trained projection has"
    if seen.is_block and still:
        return f"{_bits_in_words(still)} of its bytes {_is_or_are(still)} the same throughout, which no writer produces"
    if still & LEAST_LOST != LEAST_LOST:
        return None
    beside = [each for each in found.layers[seen.key.tower, seen.key.layer] if each.is_learnt and each is not seen]
    for others in (found.of(seen), [each for each in beside if each.dtype == seen.dtype]):
        vary = [each for each in others if _varies(each) and not _constant_bits(each) & still]
        if len(others) < peers.LEAST_PEERS or len(vary) < len(others) - len(others) // 4:
            return None
        if any(_bits_that_vary(still, each, each.extent, subject) != still for each in vary[: peers.LEAST_PEERS]):
            return None
    of = "number" if seen.dtype in SIGN else "byte"
    return f"{_bits_in_words(still)} of each {of} {_is_or_are(still)} the same throughout: in other layers they vary"


def _bits_that_vary(still: int, seen: TensorData, run: Run, subject: Subject) -> int:
    """Which of these bits vary within a range: many of its numbers have them, and many do not."""
    import numpy as np

    width, _ = _watched(seen)
    numbers = np.frombuffer(subject.span(seen.path, run.start, min(run.size, PART) // width * width), f"<u{width}")
    found = 0
    for bit in (1 << place for place in range(8 * width) if still >> place & 1):
        having = numbers[numbers & numbers.dtype.type(bit) != 0]
        usual = SELDOM < having.size / max(numbers.size, 1) < 1 - SELDOM
        found |= bit if usual and np.unique(having).size >= LEAST_HAVING else 0
    return found


def _bits_in_words(mask: int) -> str:
    number = mask.bit_count()
    if mask == (1 << number) - 1 and number > 1:
        return f"the lowest {integer(number)} bits"
    return "the lowest bit" if mask == 1 else f"{plural(number, 'bit')}"


def _is_or_are(mask: int) -> str:
    return "are" if mask.bit_count() > 1 else "is"


def _in_ranges(seen: TensorData, subject: Subject) -> Iterator[str]:
    """Ranges that begin or end within a row and have constant bits that vary elsewhere."""
    width, mask = _watched(seen)
    for each in _longest(seen.facts.constant_bits):
        still = mask & (each.never & seen.facts.ever | each.always & ~seen.facts.always)
        alike = sum(other.size for other in seen.facts.constant_bits if (other.never | other.always) & still)
        if not still or each.size < LEAST_RANGE or alike > MOST_SHARE * seen.nbytes:
            continue
        still = _bits_that_vary(still, seen, _longer_side(seen, each), subject)
        whole = _exact_range(seen, each, still, width, subject) if still else None
        if whole is None:
            continue
        near = -(-CHANCE // still.bit_count()) * width
        if not all(seen.is_row_end(end, near) for end in (whole.start, whole.end)):
            of = "numbers" if seen.dtype in SIGN else "bytes"
            where = f"of the {of} from byte {integer(whole.start)} on, {size(whole.size)}"
            yield f"{_bits_in_words(still)} {where}: the same in all of them, but not in the rest"


def _longer_side(seen: TensorData, run: Run) -> Run:
    """The data before or after a range, whichever is longer."""
    before, after = Run(seen.extent.start, run.start), Run(run.end, seen.extent.end)
    return Run(max(before.start, before.end - PART), before.end) if before.size > after.size else after


def _longest(runs: list[Run], number: int = MOST_RANGES) -> list[Run]:
    return sorted(runs, key=lambda each: -each.size)[:number]


def _exact_range(seen: TensorData, run: Run, still: int, width: int, subject: Subject) -> Run | None:
    """The exact start and end of a range; None if it has few numbers, or few that differ."""
    import numpy as np

    with subject.reading(seen.path) as read:
        inside = np.frombuffer(read(run.start, min(run.size, PART) // width * width), f"<u{width}")
        few = width > 1 and still.bit_count() < MANY_BITS and np.unique(inside).size < LEAST_VALUES
        if np.count_nonzero(inside) < ENOUGH or few:
            return None
        bits = inside.dtype.type(still)
        value, start, end = inside[0] & bits, run.start, run.end
        while start > seen.extent.start:
            first = max(seen.extent.start, start - BESIDE)
            other = np.flatnonzero(np.frombuffer(read(first, start - first), bits.dtype) & bits != value)
            start = first + (int(other[-1]) + 1) * width if other.size else first
            if other.size:
                break
        while step := min(seen.extent.end - end, BESIDE) // width * width:
            other = np.flatnonzero(np.frombuffer(read(end, step), bits.dtype) & bits != value)
            end += int(other[0]) * width if other.size else step
            if other.size:
                break
    return Run(start, end)


@rule("noise", "data", "error")
@each_tensor
def noise(seen: TensorData, found: Peers, subject: Subject) -> str | None:
    """Packed codes are as uniform as noise, although those of the rest of the tensor, or of its role, are not.

    Codes of trained weights are more frequent in the middle of the scale than at its ends; bytes of an archive, an
    encrypted file or another file are not. Download the file again.
    """
    if not seen.facts.cells or not seen.is_packed:
        return None
    return _noise_throughout(seen, found, subject) if _share(seen) > NOISE else _noise_within(seen, subject)


def _share(seen: TensorData) -> float:
    return seen.facts.evenness / seen.facts.cells if seen.facts.cells else 1.0


def _is_noise(seen: TensorData, run: Run, subject: Subject) -> bool:
    from inspector.auditing.values.numbers.pieces import is_even  # needs NumPy

    return is_even(subject.span(seen.path, run.start, min(run.size, PART)), seen.dtype)


def _likely_noise(run: Run) -> Iterator[Run]:
    """A run of pages, its interior, and the groups of pages at its ends, which may only partly be noise."""
    yield run
    if run.size > 2 * PAGE:
        yield Run(run.start + PAGE, run.end - PAGE)
    if PAGE < run.size <= 3 * PAGE:
        yield from (Run(start, start + PAGE) for start in range(run.start, run.end, PAGE))


def _noise_throughout(seen: TensorData, found: Peers, subject: Subject) -> str | None:
    others = found.of(seen)
    learnt = sum(_share(each) < LEARNT_CODES for each in others)
    if (
        learnt < peers.LEAST_PEERS
        or learnt < len(others) - len(others) // 4
        or not _is_noise(seen, seen.extent, subject)
    ):
        return None
    return "all codes are equally frequent, as in noise; in other layers they are not"


def _noise_within(seen: TensorData, subject: Subject) -> str | None:
    facts = seen.facts
    if _share(seen) > LEARNT_CODES or sum(run.size for run in facts.even) > MOST_SHARE * seen.nbytes:
        return None
    for run in (part for whole in _longest(facts.even, 2 * MOST_RANGES) for part in _likely_noise(whole)):
        if _is_noise(seen, run, subject):
            what = "whose codes are all equally frequent, as in noise"
            return f"{size(run.size)} from byte {integer(run.start)} on {what}, unlike the rest"
    return None
