"""Numbers that lost bits, and packed codes that are noise: each number by itself looks normal. Only with `--data`."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.auditing.rule import rule
from inspector.auditing.subject import Subject
from inspector.auditing.values.numbers import peers
from inspector.auditing.values.numbers.facts import Run
from inspector.auditing.values.numbers.peers import PAGE, SPARSE, Peers, TensorData, each_tensor
from inspector.units import integer, plural, size

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
