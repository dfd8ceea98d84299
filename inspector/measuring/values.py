"""Statistics of the values of a checkpoint's tensors, tensor by tensor or together.

    values(result).rows → a Row for each tensor, with statistics of its numbers

Packed weights are dequantized if their scheme has a definition; otherwise the stored integers are counted, and `stored`
says so.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from math import prod
from typing import Literal, NamedTuple

import numpy as np

from inspector.bridge.filters import Filter, select
from inspector.errors import InspectorError, NetworkError, UsageError
from inspector.formats import decoding
from inspector.measuring.statistics import Summary, Tally, pooled
from inspector.measuring.weights import Weights
from inspector.model import Finding, Labelled, Reconciliation
from inspector.sources import workers
from inspector.tabular import Tabular
from inspector.units import decimal, escape, plural

By = Literal["tensor", "role", "layer"]


class Row(NamedTuple):
    """Statistics of one tensor, or of all tensors of a role or layer together."""

    name: str  # the tensor's; for a group, the role's name or the layer's number
    tensors: tuple[Labelled, ...]
    shape: tuple[int, ...] | None  # of the numbers: logical, if a weight is dequantized; None for several
    elements: int
    stored: bool  # True if the numbers are the file's, False if a weight was dequantized
    summary: Summary


@dataclass(frozen=True, slots=True)
class Values(Tabular):
    """The measured statistics."""

    result: Reconciliation
    rows: tuple[Row, ...]
    by: By
    findings: tuple[Finding, ...]  # tensors that could not be read
    bytes_read: int  # of tensor data

    def __repr__(self) -> str:
        target = escape(self.result.checkpoint.title, 100)
        return f"<Values {target}: {plural(len(self.rows), self.by)}, {decimal(self.bytes_read)} read>"


def values(
    result: Reconciliation,
    asked: Filter | None = None,
    by: By = "tensor",
    progress: Callable[[int], object] = lambda _: None,
    *,
    stored: bool = False,
) -> Values:
    """Read tensors and compute statistics of their numbers.

    Args:
        asked: which tensors; None for all.
        by: how to group: each tensor separately, or all of a role or of a layer.
        progress: called with the number of bytes read since the last call, from several threads.
        stored: whether packed weights are counted as the integers that the file has.

    Raises:
        UsageError: NumPy is not installed, or `by` is not one of these words.
        TargetError: no tensor matches.
        FormatError, SourceError: none of the tensors can be read; one among several is a finding.
    """
    if by not in ("tensor", "role", "layer"):
        raise UsageError(f"values are grouped by tensor, role or layer, not by {by}")
    wanted = select(result.tensors, asked or Filter())
    groups = _groups_of(wanted, by)
    with closing(Weights(result)) as weights:
        job = _Measurement(weights, by, progress, stored)
        measured = workers.each(job.row, groups, os.cpu_count() or 1)
        read = weights.stored.bytes_read
    rows = tuple(row for row, _ in measured if row)
    errors = [error for _, found in measured for error in found]
    if errors and not rows:
        raise errors[0][1]
    unread = (Finding("unreadable-file", "error", str(error), each.file, each.tensor.name) for each, error in errors)
    return Values(result, rows, by, tuple(unread), read)


def by_role(found: Values) -> Values:
    """The same statistics of tensors, merged for each role; without percentiles and histograms."""
    groups: dict[str, list[Row]] = {}
    for row in found.rows:
        groups.setdefault(_role_of(row.tensors[0]), []).append(row)
    return replace(found, by="role", rows=tuple(_sum_of_rows(role, rows) for role, rows in groups.items()))


def _sum_of_rows(role: str, rows: Sequence[Row]) -> Row:
    tensors = tuple(each for row in rows for each in row.tensors)
    elements, stored = sum(row.elements for row in rows), all(row.stored for row in rows)
    return Row(role, tensors, None, elements, stored, pooled(row.summary for row in rows))


Group = tuple[str, list[Labelled]]


def _groups_of(wanted: Sequence[Labelled], by: By) -> list[Group]:
    """The groups by name, in the order of the tensors."""
    if by == "tensor":
        return [(each.tensor.name, [each]) for each in wanted]
    groups: dict[str, list[Labelled]] = {}
    for each in wanted:
        groups.setdefault(_role_of(each) if by == "role" else _layer_of(each), []).append(each)
    return list(groups.items())


def _role_of(each: Labelled) -> str:
    key = each.key
    tower, part = ("" if word in ("text", "weight") else word for word in (key.tower, key.part))
    return " ".join(filter(None, (tower, key.branch, key.role, part)))


def _layer_of(each: Labelled) -> str:
    place = "outside the layers" if each.key.layer is None else str(each.key.layer)
    return place if each.key.tower == "text" else f"{each.key.tower} {place}"


class _Measurement(NamedTuple):
    """The work on each group of tensors."""

    weights: Weights
    by: By
    progress: Callable[[int], object]
    stored: bool

    def row(self, group: Group) -> tuple[Row | None, list[tuple[Labelled, InspectorError]]]:
        """The row of a group, and findings for tensors that could not be read."""
        name, tensors = group
        whole, read, errors = Tally(), list[tuple[Labelled, bool]](), list[tuple[Labelled, InspectorError]]()
        for each in tensors:
            try:
                as_stored = self._is_stored(each)
                tally = self._tally_of(each, as_stored=as_stored)
            except NetworkError:  # says nothing about the tensor
                raise
            except InspectorError as error:
                errors.append((each, error))
                continue
            read.append((each, as_stored))
            if self.by == "tensor":
                whole = tally
            else:
                whole.merge(tally)
        if not read:
            return None, errors
        shapes = [each.tensor.shape if as_stored else self.weights.shape(each) for each, as_stored in read]
        return (
            Row(
                name,
                tuple(each for each, _ in read),
                shapes[0] if self.by == "tensor" else None,
                sum(map(prod, shapes)),
                all(as_stored for _, as_stored in read),
                whole.summary(),
            ),
            errors,
        )

    def _is_stored(self, each: Labelled) -> bool:
        return self.stored or not self.weights.is_packed(each) or not self.weights.is_defined(each)

    def _tally_of(self, each: Labelled, *, as_stored: bool) -> Tally:
        tally = Tally()
        if not as_stored:
            for _, numbers in self.weights.chunks(each):
                tally.add(numbers)
            self.progress(each.tensor.nbytes)
            return tally
        dtype = each.tensor.dtype
        for raw, values in self.weights.stored.pieces(each.tensor, each.file):
            if values is None:
                tally.count(np.frombuffer(raw, _BITS[decoding.width(dtype)]), decoding.patterns(dtype))
            else:
                tally.add(values)
            self.progress(len(raw))
        return tally


#: Bytes of an element → NumPy's dtype for its bits.
_BITS = {1: "u1", 2: "<u2"}
