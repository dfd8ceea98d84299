"""Duplicate blocks of bytes, found by their anchors and then confirmed byte by byte."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Read = Callable[[int, int, int], bytes]  # file, start, length
#: Bytes that are compared at once, and the least that count as a copy.
STEP, LEAST = 4096, 1024
#: The most copies that are searched for: a repeated layer has thousands of anchors, but is one copy.
MOST = 2000


class Copy(NamedTuple):
    """The same bytes in two places."""

    file: int
    start: int
    other_file: int
    other: int
    size: int


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
    pairs = sorted(_sorted_pair(files, places, order[at], order[at + 1]) for at in first[alone].tolist())
    found: list[Copy] = []
    last: dict[tuple[int, int, int], Copy] = {}
    for file, start, other_file, other in pairs:
        key = (file, other_file, other - start)
        known = last.get(key)
        if known is not None and start < known.start + known.size:
            continue
        if len(found) >= MOST:
            break
        copy = _whole(Copy(file, start, other_file, other, 0), read, sizes)
        last[key] = copy
        if copy.size >= LEAST:
            found.append(copy)
    return found


def _sorted_pair(files: Array, places: Array, a: int, b: int) -> tuple[int, int, int, int]:
    one, two = (int(files[a]), int(places[a])), (int(files[b]), int(places[b]))
    return (*one, *two) if one < two else (*two, *one)


def _whole(at: Copy, read: Read, sizes: list[int]) -> Copy:
    """How far the two are equal in both directions."""
    before, after = _equal(at, read, sizes, back=True), _equal(at, read, sizes, back=False)
    return at._replace(start=at.start - before, other=at.other - before, size=before + after)


def _equal(at: Copy, read: Read, sizes: list[int], *, back: bool) -> int:
    done, step = 0, STEP
    while True:
        if back:
            length = min(step, at.start - done, at.other - done)
            one, two = (read(f, p - done - length, length) for f, p in ((at.file, at.start), (at.other_file, at.other)))
        else:
            length = min(step, sizes[at.file] - at.start - done, sizes[at.other_file] - at.other - done)
            one, two = (read(f, p + done, length) for f, p in ((at.file, at.start), (at.other_file, at.other)))
        if length <= 0:
            return done
        differ = np.flatnonzero(np.frombuffer(one, np.uint8) != np.frombuffer(two, np.uint8))
        if differ.size:
            return done + (length - 1 - int(differ[-1]) if back else int(differ[0]))
        done += length
        step = min(step * 2, 1 << 20)
