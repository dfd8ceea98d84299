"""Step 6: the sums by role, by dtype and of packed weights; and each tensor with its purpose."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, repeat
from math import prod
from operator import add, attrgetter
from typing import overload

from inspector.architectures.naming import Named, Slot
from inspector.architectures.prediction import by_role
from inspector.bridge.identify import Stored
from inspector.bridge.join import Kind
from inspector.model import Dimension, DtypeSum, Header, Labelled, PackedSum, Prediction, RoleForecast, RoleSum

#: Role, group, tower and branch: a line of the overview.
Line = tuple[str, str, str, str]
Explained = Mapping[Line, tuple[str, tuple[Dimension, ...]]]


class _Sum:
    """The sums of one role's tensors."""

    def __init__(self) -> None:
        self.tensors = self.parameters = self.bytes = self.idle_bytes = 0
        self.dtypes: dict[str, None] = {}


def roles(
    stored: Stored,
    named: Named,
    kinds: Sequence[Counter[Kind]],
    parameters: Sequence[int],
    prediction: Prediction | None,
    explained: Explained,
) -> tuple[RoleSum, ...]:
    """Tensors by role: in the prediction's order, then in the files'."""
    forecasts = (
        {(line.role, line.group, line.tower, line.branch): line for line in by_role(prediction)} if prediction else {}
    )
    sums: defaultdict[Line, _Sum] = defaultdict(_Sum, {line: _Sum() for line in forecasts})
    for (slot, members), counts in zip(named.groups, kinds, strict=True):
        total = sums[_line(slot)]
        total.tensors += len(members)
        total.parameters += sum(parameters[at] for at in members)
        total.bytes += sum(number * kind.nbytes for kind, number in counts.items())
        total.idle_bytes += sum(stored.tensors[at].nbytes for at in members if not parameters[at])
        total.dtypes.update(dict.fromkeys(kind.dtype for kind in counts))
    return tuple(
        _role(line, total, forecasts.get(line), explained.get(line, ("", ())), predicted=prediction is not None)
        for line, total in sums.items()
    )


def _line(slot: Slot) -> Line:
    return slot.role or "other", slot.group, slot.tower, slot.branch


def _role(
    line: Line,
    total: _Sum,
    forecast: RoleForecast | None,
    explained: tuple[str, tuple[Dimension, ...]],
    *,
    predicted: bool,
) -> RoleSum:
    role, group, tower, branch = line
    return RoleSum(
        role=role,
        group=group,
        tower=tower,
        branch=branch,
        tensors=total.tensors,
        parameters=total.parameters,
        bytes=total.bytes,
        predicted_parameters=forecast.parameters if forecast else 0 if predicted else None,
        formula=forecast.formula if forecast else None,
        dtypes=tuple(total.dtypes),
        explained=explained[0],
        dimensions=None if predicted else explained[1],
        weight_bytes=total.bytes - total.idle_bytes,
    )


def dtypes(kinds: Iterable[Counter[Kind]]) -> tuple[DtypeSum, ...]:
    """Tensors by dtype, the one with most bytes first."""
    counted = (each for counts in kinds for each in counts.items())
    return added(DtypeSum(kind.dtype, n, n * kind.elements, n * kind.nbytes) for kind, n in counted)


def added(sums: Iterable[DtypeSum]) -> tuple[DtypeSum, ...]:
    """Sums of equal dtypes in one, the one with most bytes first."""
    totals: dict[str, tuple[int, ...]] = {}
    for dtype, *own in sums:
        totals[dtype] = tuple(map(add, totals.get(dtype, (0, 0, 0)), own))
    return tuple(DtypeSum(dtype, *total) for dtype, total in sorted(totals.items(), key=lambda item: -item[1][2]))


def packed(stored: Stored) -> PackedSum | None:
    """The sums of packed weights with their side data; None if types pack by themselves, as GGUF's do."""
    if stored.packing is None or not stored.packing.shapes:
        return None
    shapes, side = stored.packing.shapes, stored.packing.side
    sizes = dict(map(_SIZE_OF, stored.tensors))
    elements = sum(prod(shape) * number for shape, number in Counter(shapes.values()).items())
    return PackedSum(elements, sum(map(sizes.__getitem__, shapes)), sum(map(sizes.__getitem__, side)))


_SIZE_OF = attrgetter("name", "nbytes")


def active(prediction: Prediction | None, logical: int) -> int | None:
    """Active parameters per token: all of a dense model's; None without a prediction."""
    if prediction is None:
        return None
    return prediction.active if any(row.active is not None for row in prediction.expected) else logical


def most_common(sums: Iterable[DtypeSum]) -> str | None:
    """The dtype of most elements."""
    usual = max(sums, key=lambda each: each.elements, default=None)
    return usual.dtype if usual else None


class OnRequest(Sequence[Labelled]):
    """Tensors that are labelled on request."""

    def label(self, at: int) -> Labelled:
        """The tensor at a position, counted from 0."""
        raise NotImplementedError

    @overload
    def __getitem__(self, at: int) -> Labelled: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Labelled]: ...
    def __getitem__(self, at: int | slice) -> Labelled | Sequence[Labelled]:
        positions = range(len(self))[at]
        return self.label(positions) if isinstance(positions, int) else [self.label(each) for each in positions]


def of_role(tensors: Sequence[Labelled], role: str) -> Iterator[Labelled]:
    """The tensors of one role; no others are labelled for this."""
    return tensors.of_role(role) if isinstance(tensors, Labels) else (each for each in tensors if each.key.role == role)


class Labels(OnRequest):
    """The tensors with their keys, made on request."""

    def __init__(self, files: Sequence[Header], named: Named, parameters: Sequence[int]) -> None:
        self._files, self._named, self._parameters = files, named, parameters
        self._starts = [0, *accumulate(len(header.tensors) for header in files)]

    def __len__(self) -> int:
        return self._starts[-1]

    def label(self, at: int) -> Labelled:
        file = bisect_right(self._starts, at) - 1
        header = self._files[file]
        tensor = header.tensors[at - self._starts[file]]
        return Labelled(tensor, header.path, self._named.key(at), self._named.slots[at].group, self._parameters[at])

    def __iter__(self) -> Iterator[Labelled]:
        tensors = chain.from_iterable(header.tensors for header in self._files)
        paths = chain.from_iterable(repeat(header.path, len(header.tensors)) for header in self._files)
        groups = map(attrgetter("group"), self._named.slots)
        return map(Labelled, tensors, paths, self._named.keys(), groups, self._parameters)

    def of_role(self, role: str) -> Iterator[Labelled]:
        """The tensors of one role."""
        return (self.label(at) for at, slot in enumerate(self._named.slots) if slot.role == role)
