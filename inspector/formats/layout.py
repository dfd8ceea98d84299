"""Regions of files whose tensors may be anywhere: the tensors' ranges, and everything else under one label."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from inspector.model import Region


def around(claimed: Iterable[tuple[int, int]], size: int, rest: str = "header") -> tuple[Region, ...]:
    """A partition of a file from the tensors' ranges, which may overlap or extend beyond it, and the gaps between."""
    return tuple(_partition(sorted(claimed), size, rest))


def _partition(claimed: Iterable[tuple[int, int]], size: int, rest: str) -> Iterator[Region]:
    at = 0
    for start, end in claimed:
        start, end = max(start, at), min(end, size)
        if start >= end:
            continue
        if at < start:
            yield Region(rest, at, start)
        yield Region("tensors", start, end)
        at = end
    if at < size:
        yield Region(rest, at, size)
