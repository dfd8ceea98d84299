"""Duplicate blocks of bytes: anchors that their content determines, then a comparison byte by byte."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.auditing.values.numbers.facts import Copy

Array = NDArray[Any]
Read = Callable[[int, int, int], bytes]  # file, start, length
#: Bytes that are compared at once, and the least that count as a copy.
STEP, LEAST = 4096, 1024
#: The most copies that are searched for: a repeated layer has thousands of anchors, but is one copy.
MOST = 2000
#: Bits that are random in every kind of weight: the lower bits of a mantissa, even of BF16 converted to F32.
_ANCHOR = 0x003F0000003F0000
_WANTED = np.uint64(0x0015_0000_002A_0000)
_MIX = np.uint64(0x9E3779B97F4A7C15)


def anchors(raw: Array, offset: int, bits: int, step: int) -> tuple[Array, Array]:
    """Content-defined positions, one in 2**bits words, and a number for the sixteen bytes there.

    The same bytes yield the same positions wherever they are, if a multiple of `step` bytes apart; `step` divides 8.
    """
    low, high = (1 << (bits + 1) // 2) - 1, (1 << bits // 2) - 1  # half of the bits from each half of a word
    mask = np.uint64((low << 16 | high << 48) & _ANCHOR)
    found = []
    for turn in range(0, 8, step):
        skip = (turn - offset) % 8
        words = raw[skip : skip + max(0, raw.size - skip) // 8 * 8].view("<u8")
        places = np.flatnonzero((words[:-1] & mask) == (_WANTED & mask))
        found.append((places * 8 + (offset + skip), words[places] * _MIX ^ words[places + 1]))
    return np.concatenate([places for places, _ in found]), np.concatenate([marks for _, marks in found])


def copies(files: Array, places: Array, marks: Array, read: Read, sizes: list[int]) -> list[Copy]:
    """Blocks that occur exactly twice: more often is a pattern, not a copy made by mistake.

    Args:
        files, places, marks: for each anchor the file's number, its offset, and its fingerprint.
        sizes: bytes of each file.
    """
    order = np.argsort(marks, kind="stable")
    same = marks[order][1:] == marks[order][:-1]
    first = np.flatnonzero(same)
    alone = ~np.isin(first - 1, first, assume_unique=True) & ~np.isin(first + 1, first, assume_unique=True)
    where = [[(int(files[at]), int(places[at])) for at in order[[at, at + 1]]] for at in first[alone].tolist()]
    found: list[Copy] = []
    last: dict[tuple[int, int, int], Copy] = {}
    for (file, start), (other_file, other) in sorted(sorted(pair) for pair in where):
        key = (file, other_file, other - start)
        known = last.get(key)
        if known is not None and start < known.start + known.size:
            continue
        if len(found) >= MOST:
            break
        copy = last[key] = _extended(Copy(file, start, other_file, other, 0), read, sizes)
        if copy.size >= LEAST:
            found.append(copy)
    return found


def _extended(at: Copy, read: Read, sizes: list[int]) -> Copy:
    """How far the two are equal in both directions."""
    before, after = _equal(at, read, sizes, back=True), _equal(at, read, sizes, back=False)
    return at._replace(start=at.start - before, other=at.other - before, size=before + after)


def _equal(at: Copy, read: Read, sizes: list[int], *, back: bool) -> int:
    """The number of equal bytes before, or after, two positions."""
    done, step = 0, STEP
    most = min(at.start, at.other) if back else min(sizes[at.file] - at.start, sizes[at.other_file] - at.other)
    while (length := min(step, most - done)) > 0:
        ahead = -done - length if back else done
        one, two = read(at.file, at.start + ahead, length), read(at.other_file, at.other + ahead, length)
        differ = np.flatnonzero(np.frombuffer(one, np.uint8) != np.frombuffer(two, np.uint8))
        if differ.size:
            return done + (length - 1 - int(differ[-1]) if back else int(differ[0]))
        done += length
        step = min(step * 2, 1 << 20)
    return done
