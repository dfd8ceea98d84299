"""Is the data itself sound? These rules read tensors, and run with `--data` only.

What is normal is not known in advance: a tensor is compared with its own numbers and with its role in other layers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import prod
from typing import NamedTuple

from inspector.auditing.rule import Found, rule
from inspector.auditing.subject import Subject
from inspector.auditing.values.numbers.facts import Run
from inspector.auditing.values.numbers.peers import MOST_PEERS, TABLES, InFile, Peers, Seen, octaves
from inspector.model import Header
from inspector.units import escape, integer, plural, size

#: An interquartile range, in powers of two, larger than that of any learned numbers: a normal distribution's is 1.9.
SCRAMBLED = 6.0
#: With a median below this, in powers of two, numbers with that spread are of another dtype: F16 read as BF16.
MISREAD = -30.0
#: Bytes of such a tensor that are tried as other dtypes and byte orders.
PART = 32768
#: How far above their median, in powers of two, some of these numbers then are.
SCRAMBLED_REACH = 16.0
#: The farthest that a sound number is above its tensor's median magnitude, in powers of two: outliers reach 2**12.
OWN_REACH = 18.0
#: The same for F16, whose highest exponent bit makes a number 2**16 times as large.
HALF_REACH = 15.0
#: How far a tensor's largest number and its overall size may be from those of other layers, in powers of two and in
#: deviations of these, before it counts as implausible.
LARGEST_APART, SIZE_APART, NORMS_APART, DEVIATIONS = 9.0, 6.5, 9.0, 8.0
#: Numbers with a median below this, in powers of two, are what weight decay left.
DECAYED = -40.0
LEAST_PEERS = 2
#: Quartiles closer than this, in powers of two, where others' are twice as far apart, and a median this far above
#: theirs: BF16 read as F16.
NARROW, APART = 0.6, 3.0
#: The fewest duplicated rows that count.
LEAST_ROWS = 8
#: Ratio of mean to size of numbers that are on one side of zero.
ONE_SIDED = 0.8
#: The fewest equal numbers for a matrix to count as constant.
LEAST_CONSTANT = 16
#: The fewest bytes of zeros that count as a hole if they begin or end within a row.
LEAST_HOLE = 1024
#: The most bytes of padding between two tensors: GGUF aligns to 32.
PADDING = 64
#: The fewest rows with zeros in the same place for these to count as columns of the matrix.
COLUMNS = 4
#: Share of a vocabulary that may be rows of zeros, and that may be one run followed by other rows.
UNUSED, AMID = 0.3, 0.05
#: A file system's allocation unit in bytes, and the fewest units in a run.
PAGE, LEAST_PAGES = 4096, 8
#: Share of zeros in the rest of a tensor above which a run of zeros means nothing; and above which only a run of at
#: least this many bytes does.
SPARSE, THINNED, LONG = 0.5, 0.1, 65536


def peers(subject: Subject) -> Peers | None:
    """The tensors with their data; None if it was not read."""
    if subject.measured is None:
        return None
    if "peers" not in subject.memo:
        subject.memo["peers"] = Peers(subject.measured, subject.results, subject.all_headers)
    found: Peers = subject.memo["peers"]
    return found


# --- bytes in the wrong places ----------------------------------------------------------------------


@rule("scrambled-tensor", "data", "error")
def scrambled_tensor(subject: Subject) -> Iterator[Found]:
    """Numbers of every possible magnitude: a tensor's bytes are shifted, swapped or not numbers at all.

    A byte lost in transit, a wrong offset, big-endian data, or noise. Where the bytes make sense once shifted or
    swapped, the message says so. Download the file again, or convert it again.
    """
    found = peers(subject)
    for each in found.all if found else ():
        if is_scrambled(each):
            what = f"magnitudes spread over {each.facts.spread:.0f} powers of two; a sound layer's span about 2"
            yield Found(f"{what}: {_reason(subject, each)}", each.path, each.name)


def is_scrambled(seen: Seen) -> bool:
    facts = seen.facts
    if not seen.is_float or seen.labelled.group == "buffer" or facts.spread <= SCRAMBLED or facts.middle is None:
        return False
    odd = facts.nan or facts.inf or facts.minus_inf
    if seen.is_learnt and seen.key.role not in TABLES and facts.middle < MISREAD:
        return True
    return bool(odd) or ((octaves(facts.largest) or 0.0) - facts.middle > SCRAMBLED_REACH and facts.largest > 1)


def _reason(subject: Subject, seen: Seen) -> str:
    """The transformation after which a sample of the bytes would be plausible numbers."""
    from inspector.auditing.values.numbers.repairs import repair  # needs NumPy

    tensor = seen.labelled.tensor
    if seen.is_block:
        return "no plausible block scales"
    start = tensor.offset + tensor.nbytes * 3 // 4 // 64 * 64
    raw = subject.span(seen.path, start, min(PART, tensor.offset + tensor.nbytes - start))
    return repair(raw, tensor.dtype, start - tensor.offset) or "not numbers that training produces"


@rule("zero-block", "data", "error")
def zero_block(subject: Subject) -> Iterator[Found]:
    """A run of zeros, or of another number, that begins or ends within a row of a tensor.

    A download interrupted after the file had been given its full size, or a disk that lost a part: bytes that were
    never written read as zeros. Whole rows of zeros (unused tokens, pruned heads) and whole columns are sound. Download
    the file again.
    """
    found = peers(subject)
    for header in found.headers if found else ():
        yield from _holes(found, header) if found else ()


def _holes(found: Peers, header: Header) -> Iterator[Found]:
    own = found.files[header.path]
    for run in _across(own.tensors):
        touched = own.touched(run)
        if run.size < LEAST_HOLE or not _is_hole(run, touched, found):
            if told := _amid_rows(run, touched):
                yield Found(told, header.path, touched[0].name, "warning")
            continue
        inside = [each for each in touched if each.is_weight] or touched
        beyond = f" and {plural(len(touched) - 1, 'other tensor')}" if len(touched) > 1 else ""
        to_end = " to the end of the file" if run.end >= header.size - 8 else ""
        of = "zeros" if _are_zeros(inside[0], run) else "one repeated number"
        what = f"{plural(run.size, 'byte')} of {of} from byte {integer(run.start)}{to_end}"
        yield Found(f"{what}, within it{beyond}: never written", header.path, inside[0].name)


def _amid_rows(run: Run, touched: Sequence[Seen]) -> str | None:
    """Describes many rows of zeros within a table: rows reserved for new tokens are at its end."""
    seen = touched[0]
    share = run.size / max(seen.labelled.tensor.nbytes, 1)
    if len(touched) > 1 or seen.key.role not in TABLES or not seen.is_weight or not _are_zeros(seen, run):
        return None
    if share < AMID or run.size < LEAST_ROWS * seen.row or not _within(seen, run.end) or _is_pattern(seen, run):
        return None
    what = f"{plural(run.size // seen.row, 'row')} of zeros, {share:.0%} of the table, followed by other rows"
    return f"{what}: unused tokens, or a part that was never written"


def _are_zeros(seen: Seen, run: Run) -> bool:
    """Whether the numbers of a run are zeros, according to the sample."""
    share = (min(run.end, seen.extent.end) - max(run.start, seen.extent.start)) / max(seen.labelled.tensor.nbytes, 1)
    return seen.facts.sampled == 0 or seen.facts.sparsity > share / 2


def _across(seen: Sequence[Seen]) -> Iterator[Run]:
    """Runs of zeros, including those that continue across the padding into the next tensor."""
    starts = {each.extent.start for each in seen}
    last: Run | None = None
    for run in sorted(run for each in seen for run in each.facts.runs):
        if last is not None and run.start <= last.end + (PADDING if run.start in starts else 0):
            last = Run(last.start, max(last.end, run.end))
            continue
        if last is not None:
            yield last
        last = run
    if last is not None:
        yield last


def _is_hole(run: Run, touched: Sequence[Seen], found: Peers) -> bool:
    whole = [each for each in touched if each.is_weight and _covers(run, each)]
    cut = [each for each in touched if each.is_weight and not _covers(run, each) and not _is_pattern(each, run)]
    if not cut:
        return False
    if whole:
        return True
    edges = [(each, place) for each in cut for place in (run.start, run.end) if _within(each, place)]
    if _are_pages(run) and any(each.row % PAGE or each.labelled.tensor.offset % PAGE for each in cut):
        return True
    return any(not each.is_row_end(place) for each, place in edges) or any(_lost_rows(run, each, found) for each in cut)


def _are_pages(run: Run) -> bool:
    """Whether a run begins and ends at page boundaries of the file, where rows only end by chance."""
    return run.size >= LEAST_PAGES * PAGE and all(min(at % PAGE, -at % PAGE) < 8 for at in run)


def _covers(run: Run, each: Seen) -> bool:
    return run.start <= each.extent.start and each.extent.end <= run.end


def _within(each: Seen, place: int) -> bool:
    return each.extent.start < place < each.extent.end


def _is_pattern(each: Seen, run: Run) -> bool:
    """Whether such runs are everywhere in the tensor: it is sparse, has few values, or the same columns in many
    rows."""
    facts, tensor = each.facts, each.labelled.tensor
    part = min(run.end, each.extent.end) - max(run.start, each.extent.start)
    beside = facts.sparsity - part / max(tensor.nbytes, 1)
    if beside > SPARSE or (facts.middle is not None and facts.spread == 0):
        return True
    if beside > THINNED and part < LONG and not _are_pages(run):
        return True
    place = (run.start - tensor.offset) % each.row
    alike = (abs((other.start - tensor.offset) % each.row - place) < 8 for other in facts.runs)
    return sum(alike) >= COLUMNS


def _lost_rows(run: Run, each: Seen, found: Peers) -> bool:
    """Whether whole rows are zero that are not in other layers, or more of a table than is reserved for new tokens."""
    if each.key.role in TABLES:
        return min(run.end, each.extent.end) - max(run.start, each.extent.start) > UNUSED * each.labelled.tensor.nbytes
    if not each.is_learnt or each.key.layer is None:
        return False
    part = min(run.end, each.extent.end) - max(run.start, each.extent.start)
    others = found.of(each)
    alike = sum(any(other.size >= LEAST_HOLE for other in peer.facts.runs) for peer in others)
    return part >= 8 * each.row and len(others) >= LEAST_PEERS and alike * 4 < len(others)


@rule("repeated-block", "data", "error")
def repeated_block(subject: Subject) -> Iterator[Found]:
    """The same bytes in two places that are neither whole tensors nor whole rows.

    Part of a download was written twice, the second time over another part. Tensors that are equal as a whole (tied
    embeddings, repeated layers, copied experts) are sound. Download the file again.
    """
    found = peers(subject)
    if found is None:
        return
    own = found.files
    for copy in found.measured.copies:
        path, other_path = found.measured.paths[copy.file], found.measured.paths[copy.other_file]
        source, target = Run(copy.start, copy.start + copy.size), Run(copy.other, copy.other + copy.size)
        cut = [*_cut_by(target, own[other_path]), *_cut_by(source, own[path])]
        cut = cut or _of_one_layer(source, target, own[path], own[other_path], found)
        if not cut:
            continue
        there = f" of {escape(path, 100)}" if path != other_path else ""
        what = (
            f"{plural(copy.size, 'byte')} from byte {integer(copy.other)} equal those from byte {integer(copy.start)}"
        )
        written = own[other_path].touched(target)
        named = next((each for each in (*cut, *written) if each in written), None)
        yield Found(f"{what}{there}: written twice", other_path, named and named.name)


def _cut_by(run: Run, file: InFile) -> list[Seen]:
    """The weights that a copy begins or ends in, within a row."""
    return [
        each
        for each in file.touched(run)
        if each.is_weight and any(_within(each, place) and not each.is_row_end(place) for place in (run.start, run.end))
    ]


def _of_one_layer(source: Run, target: Run, own: InFile, other: InFile, found: Peers) -> list[Seen]:
    """The weight with duplicated whole rows, if no other layer has such: repeated heads occur in all layers."""
    inside = [each for each in other.touched(target) if each.is_learnt and each.key.role not in TABLES]
    inside = [each for each in inside if target.size >= LEAST_ROWS * each.row and not _covers(target, each)]
    if (
        len(inside) != 1
        or any(_covers(source, each) for each in own.touched(source))
        or len(found.of(inside[0])) < LEAST_PEERS
    ):
        return []
    alike = found.measured.copies
    peers_ = [each.extent for each in found.of(inside[0])]
    have = sum(any(run.start < copy.other + copy.size and copy.other < run.end for copy in alike) for run in peers_)
    return inside if have * 4 < len(peers_) else []


@rule("text-in-tensor", "data", "error")
def text_in_tensor(subject: Subject) -> Iterator[Found]:
    """Readable text within a tensor's numbers.

    A server's error page, or a program's log, was written into the file in place of data. Byte buffers, such as a
    tokenizer kept beside the weights, are sound. Download the file again.
    """
    found = peers(subject)
    for each in found.all if found else ():
        text = each.facts.text
        if text is not None and (each.is_weight or each.is_float or each.side == "scales"):
            at, start = text
            shown = escape(" ".join(start.decode("ascii", "replace").split()), 50)
            yield Found(f"text at byte {integer(at)} of the file: `{shown}`", each.path, each.name)


# --- NaN and infinity ------------------------------------------------------------------------------


@rule("not-finite", "data", "error")
def not_finite(subject: Subject) -> Iterator[Found]:
    """NaN or infinity among weights.

    Whatever is computed from it becomes NaN too. Training diverged, a conversion chose a dtype that cannot hold the
    numbers, or the file is damaged; llama.cpp refuses such blocks with `--check-tensors`. Masks of minus infinity are
    sound.
    """
    found = peers(subject)
    for each in found.all if found else ():
        facts = each.facts
        if not (facts.nan or facts.inf or facts.minus_inf) or is_scrambled(each) or _is_mask(each):
            continue
        told = [
            f"{integer(number)} {word}"
            for number, word in ((facts.nan, "NaN"), (facts.inf, "infinity"), (facts.minus_inf, "minus infinity"))
            if number
        ]
        of = "the scales of blocks" if each.is_block else plural(facts.numbers, "number")
        first = f"the first is that of {'block' if each.is_block else 'element'} {integer(facts.first_odd or 0)}"
        yield Found(f"{', '.join(told)} in {of}; {first}", each.path, each.name)


def _is_mask(seen: Seen) -> bool:
    """Whether minus infinity occurs only together with zeros or ones, or in a buffer."""
    facts = seen.facts
    return not facts.nan and not facts.inf and (facts.largest in (0.0, 1.0) or seen.labelled.group == "buffer")


@rule("packed-scale", "data", "error")
def packed_scale(subject: Subject) -> Iterator[Found]:
    """Side data of packed weights that no writer produces: scales of zero or below, or an order beyond the groups.

    All weights of such a group become zero, NaN, or those of another group. Libraries give a group of zeros a scale of
    one, or a tiny one; bitsandbytes and llama.cpp do write zero for a block of zeros, but then all of its codes are
    zero too. Download the file again, or quantize again.
    """
    found = peers(subject)
    for each in found.all if found else ():
        if each.facts.lost:
            what = f"{plural(each.facts.lost, 'block')} of non-zero codes whose scale, and so every weight, is zero"
            yield Found(f"{what}; the first is block {integer(each.facts.first_lost or 0)}", each.path, each.name)
        packing = found.packing_of(each) if found else None
        if found is None or packing is None:
            continue
        scheme = packing.scheme
        told = _odd_scale(each, scheme) if each.side == "scales" and not is_scrambled(each) else _odd_order(each, found)
        if told:
            yield Found(told, each.path, each.name)


#: Schemes whose scales are magnitudes, without a sign.
_POSITIVE = ("gptq", "awq", "fp8", "modelopt", "compressed-tensors", "bitsandbytes")


def _odd_scale(seen: Seen, scheme: str) -> str | None:
    facts = seen.facts
    if seen.dtype == "U8" and "mx" in scheme and facts.most_bits == 255:
        return "a scale of 255, which stands for NaN"
    if not seen.is_float or facts.least_bits is None or facts.most_bits is None:
        return None
    if facts.least_bits == 0 and not scheme.startswith("bitsandbytes"):
        return "a scale of zero: the weights of its group are lost"
    sign = 1 << (seen.labelled.tensor.nbytes * 8 // max(facts.numbers, 1) - 1)
    if scheme.startswith(_POSITIVE) and facts.most_bits > sign and not facts.nan:
        return "a negative scale"
    return None


def _odd_order(seen: Seen, found: Peers) -> str | None:
    """A GPTQ weight's column order that names a group that does not exist."""
    if not seen.name.endswith(".g_idx") or seen.side is None or seen.facts.most_bits is None:
        return None
    scales = found.by_name.get(seen.name[:-5] + "scales")
    groups = scales.labelled.tensor.shape[0] if scales and scales.labelled.tensor.shape else 0
    if not groups or seen.facts.most_bits < groups or scales is None:
        return None
    return f"it names group {integer(seen.facts.most_bits)} of {integer(groups)}"


# --- implausible numbers ---------------------------------------------------------------------------


@rule("zero-tensor", "data", "error")
def zero_tensor(subject: Subject) -> Iterator[Found]:
    """A weight is all zeros, although those of other layers are not.

    A download whose file was created at full size and never filled, or a conversion that lost a tensor. Intended zeros
    are not reported: biases, the second half of a fresh LoRA, gates, layers that were added as the identity.
    """
    found = peers(subject)
    if found is None:
        return
    for header in found.headers:
        own = found.files[header.path]
        weights = [each for each in own.tensors if each.is_weight]
        if weights and all(each.facts.all_zero for each in weights) and not _is_adapter(weights):
            what = f"nothing but zeros in {plural(len(weights), 'weight')}, {size(header.size)}"
            yield Found(f"{what}: a file that was never filled", header.path)
            continue
        holes = [run for run in _across(own.tensors) if _is_hole(run, own.touched(run), found)]
        for each in own.tensors:
            in_hole = any(_covers(run, each) for run in holes)
            if each.facts.all_zero and not in_hole and _should_not_be_zero(each, found):
                what = "all zeros" if each.key.layer is None else "all zeros, although other layers have numbers"
                yield Found(what, header.path, each.name)


def _is_adapter(weights: Sequence[Seen]) -> bool:
    return all(each.labelled.group == "adapter" for each in weights)


def _should_not_be_zero(seen: Seen, found: Peers) -> bool:
    if seen.key.role in TABLES and seen.is_weight:
        return True
    norm = seen.labelled.group == "norm" and seen.key.part == "weight"
    if not norm and not seen.is_learnt:
        return False
    others = found.of(seen)
    if norm and not others and seen.name.endswith("weight"):
        return _are_positive_norms(found, seen)
    filled = sum(not other.facts.all_zero for other in others)
    return filled * 2 > len(others) and filled >= 2 and not _is_identity(seen, found)


def _are_positive_norms(found: Peers, seen: Seen) -> bool:
    """Whether the tower's other norms have positive numbers, as all have except those that are added to one."""
    norms = [
        each.facts
        for each in found.all
        if each.labelled.group == "norm" and each.key.part == "weight" and each.key.tower == seen.key.tower
        if each is not seen and each.facts.size
    ]
    return len(norms) >= LEAST_PEERS and all(each.mean > ONE_SIDED * each.size for each in norms)


#: Output projections of a layer's two halves: if both are zero, the layer is the identity.
_OUTPUTS = frozenset({"o_proj", "down_proj"})


def _is_identity(seen: Seen, found: Peers) -> bool:
    if seen.key.role not in _OUTPUTS:
        return False
    layer = found.layers[seen.key.tower, seen.key.layer]
    outputs = [each for each in layer if each.key.role in _OUTPUTS and each.is_weight]
    others = [each for each in layer if each.is_learnt and each.key.role not in _OUTPUTS]
    return all(each.facts.all_zero for each in outputs) and not all(each.facts.all_zero for each in others)


@rule("constant-tensor", "data", "error")
def constant_tensor(subject: Subject) -> Iterator[Found]:
    """All numbers of a matrix are the same.

    No trained weight looks like this: the tensor was created and never filled, or was overwritten. Norms of one, and
    scales and biases of one value, are sound.
    """
    found = peers(subject)
    for each in found.all if found else ():
        facts = each.facts
        if not each.is_learnt or each.is_block or each.holds or facts.nan:
            continue
        if facts.constant and not facts.all_zero and facts.numbers > LEAST_CONSTANT:
            yield Found(f"every number is {facts.mean:.4g}", each.path, each.name)


@rule("value-scale", "data", "error")
def value_scale(subject: Subject) -> Iterator[Found]:
    """Numbers beyond any sane scale for their role.

    Judged against the tensor's own median and the same role in other layers: a flipped bit makes one number 2**64 times
    as large, a wrong conversion a whole tensor. Outlier channels and norms that grow from layer to layer are sound.
    """
    found = peers(subject)
    if found is None:
        return
    for group in found.groups.values():
        judged = [each for each in group if _can_be_judged(each)]
        whole = Usual.of(judged) if len(judged) > MOST_PEERS else None
        for each in judged:
            others = whole or Usual.of([other for other in judged if other is not each])
            told = _own_reach(each) or _unlike(each, others)
            if told:
                yield Found(told, each.path, each.name)


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
    def of(cls, seen: Sequence[Seen]) -> Usual:
        from statistics import median  # slow to import, and most audits read no data

        facts = [each.facts for each in seen]
        sides = [each.mean / each.size for each in facts if each.size]
        middles = [each.middle for each in facts if each.middle is not None]
        return cls(
            len(facts),
            _usual(each.largest for each in facts),
            _usual(each.size for each in facts),
            min(sides, default=0.0),
            median(each.spread for each in facts) if facts else None,
            median(middles) if middles else None,
            median(each.mean for each in facts) if facts else 0.0,
        )


def _can_be_judged(seen: Seen) -> bool:
    facts = seen.facts
    kind = seen.is_weight or seen.side == "scales" or (seen.labelled.group == "norm" and seen.key.part == "weight")
    return kind and seen.is_float and facts.sampled > 0 and facts.largest > 0 and not is_scrambled(seen)


def _own_reach(seen: Seen) -> str | None:
    """Describes a number far larger than the others in its tensor."""
    facts, reach = seen.facts, octaves(seen.facts.largest)
    if facts.middle is None or reach is None or facts.middle < DECAYED or facts.spread > SCRAMBLED:
        return None
    if reach - facts.middle <= (HALF_REACH if seen.dtype == "F16" else OWN_REACH):
        return None
    return f"{_the_largest(seen)} is {facts.largest:.3g}, but half of the others are below {2**facts.middle:.2g}"


def _the_largest(seen: Seen) -> str:
    return "the largest scale of a block" if seen.is_block else "the largest magnitude"


def _unlike(seen: Seen, others: Usual) -> str | None:
    """Describes a tensor that is unlike the others of its role."""
    facts, largest, sizes = seen.facts, others.largest, others.size
    if others.number < LEAST_PEERS:
        return None
    if largest and _apart(facts.largest, largest) > max(LARGEST_APART, DEVIATIONS * largest[1]):
        return f"{_the_largest(seen)} is {facts.largest:.3g}, but other layers have {2 ** largest[0]:.2g}"
    apart = NORMS_APART if seen.labelled.group == "norm" else SIZE_APART
    if sizes and facts.size and abs(_apart(facts.size, sizes)) > max(apart, DEVIATIONS * sizes[1]):
        return f"numbers of about {facts.size:.2g}, but other layers have about {2 ** sizes[0]:.2g}"
    if others.spread and others.middle is not None and facts.middle is not None and facts.spread:
        narrow = facts.spread < NARROW < others.spread / 2 and facts.middle - others.middle > APART
        if narrow and not seen.is_block and seen.labelled.group != "norm":
            return f"nearly all numbers are {2**facts.middle:.2g}, as when another dtype is read as this one"
    return _not_positive(seen, others) if seen.labelled.group == "norm" else None


def _usual(values: Iterable[float]) -> tuple[float, float] | None:
    """Median and deviation, in powers of two; the deviation is derived from the median absolute deviation."""
    from statistics import median  # slow to import, and most audits read no data

    logs = [each for each in map(octaves, values) if each is not None]
    if not logs:
        return None
    middle = median(logs)
    return middle, 1.4826 * median(abs(each - middle) for each in logs)


def _apart(value: float, usual: tuple[float, float]) -> float:
    return (octaves(value) or 0.0) - usual[0]


def _not_positive(seen: Seen, others: Usual) -> str | None:
    """A norm around or below zero among norms of positive numbers: it has another tensor's bytes, or the wrong sign."""
    own = seen.facts.mean / seen.facts.size if seen.facts.size else 1.0
    if prod(seen.labelled.tensor.shape) < LEAST_CONSTANT or others.side < ONE_SIDED or own > ONE_SIDED / 2:
        return None
    return f"numbers around {seen.facts.mean:.2g}, but those of other layers are around {others.mean:.2g}"
