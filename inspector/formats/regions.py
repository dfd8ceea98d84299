"""Regions of files whose tensors may be anywhere: labelled ranges, and everything else under one label."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from inspector.model import Region


def around(
    claimed: Iterable[tuple[int, int]], size: int, rest: str = "header", end: int | None = None
) -> tuple[Region, ...]:
    """A partition of a file from the tensors' ranges, which may overlap or extend beyond it, and the gaps between.

    Args:
        end: where its contents end, if bytes may follow.
    """
    after = [] if end is None else [(end, size, "trailing")]
    return tuple(partition([*((start, end, "tensors") for start, end in claimed), *after], size, rest))


def partition(ranges: Iterable[tuple[int, int, str]], size: int, rest: str) -> Iterator[Region]:
    """Regions that cover a file of this size: each byte once, those in no range under the label `rest`."""
    at = 0
    for start, end, label in sorted(ranges):
        start, end = max(start, at), min(end, size)
        if start >= end:
            continue
        if at < start:
            yield Region(rest, at, start)
        yield Region(label, start, end)
        at = end
    if at < size:
        yield Region(rest, at, size)


def unions(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The ranges in order; those that overlap or touch are one."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found
