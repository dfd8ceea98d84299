"""Step 4: stored tensors matched with predicted ones, by key.

Each pattern of names is matched as a whole if it fills a row of the prediction, tensor by tensor otherwise; stacked
experts, then fused projections, are matched at a coarser key. Nothing is priced here: `account` works out what the
differences cost.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import prod
from operator import itemgetter

from inspector.architectures.data.projections import COARSE, FUSED
from inspector.architectures.naming import Named, Slot
from inspector.formats.training import is_state
from inspector.model import STACKED, Expected, Key, Tensor
from inspector.tabular import NamedTuple

#: Groups whose tensors are never counted in a prediction, whatever their role.
APART = ("buffer", "quantization")


class Kind(NamedTuple):
    """Properties that most tensors of one pattern share."""

    dtype: str
    shape: tuple[int, ...]  # as stored
    nbytes: int
    elements: int


_KIND_OF = itemgetter(*(Tensor._fields.index(name) for name in Kind._fields[:3]))


def kinds_of(tensors: Sequence[Tensor], groups: Iterable[tuple[object, Sequence[int]]]) -> list[Counter[Kind]]:
    """For each group of positions, the number of tensors of each kind."""
    counts: list[Counter[Kind]] = []
    for _, members in groups:
        found = Counter(map(_KIND_OF, map(tensors.__getitem__, members)))
        counts.append(
            Counter({Kind(dtype, shape, size, prod(shape)): number for (dtype, shape, size), number in found.items()})
        )
    return counts


class Wanted(NamedTuple):
    """One predicted tensor."""

    row: Expected
    key: Key

    @property
    def name(self) -> str:
        return self.row.name_of(self.key)


class Unit(NamedTuple):
    """Tensors in another layout: stored fused or stacked but predicted separately, or the reverse."""

    stored: tuple[int, ...]  # positions
    wanted: tuple[Wanted, ...]


class Joined(NamedTuple):
    """Which stored tensor is which predicted one. Every position is in exactly one of the first four fields."""

    whole: Sequence[int]  # numbers of groups that are exactly a row's tensors, in its shape
    matched: Sequence[tuple[Slot, Sequence[int]]]  # positions of tensors that match a row
    copies: Sequence[int]  # positions of tensors whose key or name is already matched
    surplus: Sequence[int]  # positions of tensors that match no row in any layout
    units: Sequence[Unit]  # other layouts; their positions are not in `surplus`
    missing: Sequence[Wanted]  # predicted, but not stored
    resized: Sequence[tuple[int, Expected]]  # matched tensors whose shape differs from their row's


class _Row:
    """A row of the prediction while tensors are matched with it."""

    def __init__(self, expected: Expected) -> None:
        self.expected = expected
        self.layers = None if expected.layers is None else frozenset(expected.layers)
        self.complete = False  # all its tensors are matched
        self._taken: set[Key] = set()

    def has(self, key: Key) -> bool:
        """Whether the row predicts a tensor of this key."""
        layer, expert = key.layer, key.expert
        if self.layers is None:
            if layer is not None:
                return False
        elif layer not in self.layers:
            return False
        if self.expected.experts is None:
            return expert == (None if self.expected.stacked is None else STACKED)
        return expert is not None and expert in self.expected.expert_numbers

    def is_taken(self, key: Key) -> bool:
        return self.complete or key in self._taken

    def take(self, key: Key) -> None:
        self._taken.add(key)

    @property
    def untouched(self) -> bool:
        return not self.complete and not self._taken

    def missing(self) -> Iterator[Wanted]:
        """Predicted tensors without a stored match."""
        if not self.complete and len(self._taken) < self.expected.tensors:
            yield from (Wanted(self.expected, key) for key in self.expected.keys() if key not in self._taken)


def join(
    named: Named,
    shapes: Sequence[tuple[int, ...]],
    kinds: Sequence[Counter[Kind]],
    rows: Iterable[Expected],
    *,
    packed: bool = False,
) -> Joined:
    """Match everything.

    Args:
        shapes: of each tensor, as the model has it.
        kinds: of each group of names, as `kinds_of` counts them.
        packed: whether stored shapes differ from the model's.
    """
    matching = _Matching(named, shapes, rows)
    states = training_state(named)
    for number, (slot, members) in enumerate(named.groups):
        if number in states:
            matching.copies += members
        else:
            matching.match(number, slot, members, None if packed else kinds[number])
    surplus, units = matching.surplus, list[Unit]()
    missing = [wanted for row in matching.all_rows() for wanted in row.missing()]
    for coarse in ({}, COARSE):  # stacked, then also fused
        found, surplus, missing = _units(named, surplus, missing, coarse)
        units += found
    return Joined(matching.whole, matching.matched, matching.copies, surplus, units, missing, matching.resized)


def training_state(named: Named) -> frozenset[int]:
    """Numbers of the groups that are a training run's state; none if nothing else is stored.

    A moving average has the model's names under a prefix. It does not stand in for a weight that is absent.
    """
    found = frozenset(at for at, (_, members) in enumerate(named.groups) if is_state(named.names[members[0]]))
    return found if len(found) < len(named.groups) else frozenset()


class _Matching:
    """The rows, and where each tensor was matched."""

    def __init__(self, named: Named, shapes: Sequence[tuple[int, ...]], rows: Iterable[Expected]) -> None:
        self.named = named
        self.shapes = shapes
        self.whole: list[int] = []
        self.matched: list[tuple[Slot, list[int]]] = []
        self.copies: list[int] = []
        self.surplus: list[int] = []
        self.resized: list[tuple[int, Expected]] = []
        self._rows: dict[tuple[object, ...], list[_Row]] = {}
        for expected in rows:
            self._rows.setdefault(_place(expected), []).append(_Row(expected))
        self._predicted = {place[:3] for place in self._rows}  # tower, role and part
        self._all_distinct: bool | None = None  # whether all names are distinct, once computed

    def all_rows(self) -> Iterator[_Row]:
        return (row for rows in self._rows.values() for row in rows)

    def match(self, number: int, slot: Slot, members: Sequence[int], kinds: Counter[Kind] | None) -> None:
        """Tensors of one pattern with their own rows, by key."""
        unpredicted = (slot.tower, slot.role, slot.part) not in self._predicted
        if slot.group in APART:
            self.surplus += members
            self._see_buffers(slot, members)
        elif unpredicted and self._distinct(members):
            self.surplus += members
        elif self._fills_a_row(slot, members, kinds):
            if kinds is None:
                self.matched.append((slot, list(members)))
            else:
                self.whole.append(number)
        else:
            filling = self._filling_a_row(slot, members)
            rest = sorted({*members}.difference(filling)) if filling else members
            self.matched.append((slot, sorted([*filling, *self._match_each(slot, rest)])))

    def _see_buffers(self, slot: Slot, members: Sequence[int]) -> None:
        """Mark predicted buffers as present. A prediction does not count them, so their bytes stay surplus."""
        if slot.group == "buffer":
            for key in self.named.keys_of(slot, members):
                row = self._row_of(key)
                if row is not None:
                    row.take(key)

    def _row_of(self, key: Key) -> _Row | None:
        return next((row for row in self._rows.get(_place(key), ()) if row.has(key)), None)

    def _distinct(self, members: Sequence[int]) -> bool:
        """Whether every name is unique; two files may share one."""
        names = self.named.names
        if self._all_distinct is None:
            self._all_distinct = len(set(names)) == len(names)
        return self._all_distinct or len({names[at] for at in members}) == len(members)

    def _fills_a_row(self, slot: Slot, members: Sequence[int], kinds: Counter[Kind] | None) -> bool:
        """Whether a group has the names and shape of one row: the usual case, in which no numbers need be read."""
        shapes = {self.shapes[at] for at in members} if kinds is None else {kind.shape for kind in kinds}
        for row in self._rows.get((slot.tower, slot.role, slot.part, slot.branch, ()), ()):
            expected = row.expected
            if row.untouched and expected.tensors == len(members) and shapes == {expected.shape}:
                row.complete = {self.named.names[at] for at in members} == set(expected.names())
                if row.complete:
                    return True
        return False

    def _filling_a_row(self, slot: Slot, members: Sequence[int]) -> Sequence[int]:
        """Those of a group that have the names and shape of one row, where other layers have more: all or none."""
        names = self.named.names
        for row in self._rows.get((slot.tower, slot.role, slot.part, slot.branch, ()), ()):
            expected = row.expected
            if row.untouched and expected.tensors < len(members):
                predicted = frozenset(expected.names())
                filling = [at for at in members if names[at] in predicted]
                if len(filling) == len(predicted) and {self.shapes[at] for at in filling} == {expected.shape}:
                    row.complete = True
                    return filling
        return ()

    def _match_each(self, slot: Slot, members: Sequence[int]) -> list[int]:
        """Match tensor by tensor; return those that match a row."""
        matched: list[int] = []
        unpredicted: set[str] = set()
        for at, key in zip(members, self.named.keys_of(slot, members), strict=True):
            row = self._row_of(key)
            name = self.named.names[at]
            if row.is_taken(key) if row else name in unpredicted:
                self.copies.append(at)
            elif row is None:
                self.surplus.append(at)
                unpredicted.add(name)
            else:
                row.take(key)
                matched.append(at)
                if self.shapes[at] != row.expected.shape:
                    self.resized.append((at, row.expected))
        return matched


def _units(
    named: Named, surplus: list[int], missing: list[Wanted], coarse: Mapping[str, str]
) -> tuple[list[Unit], list[int], list[Wanted]]:
    """Surplus and missing tensors that agree at a coarser key, and what remains of both.

    Args:
        coarse: role → the role of the fused projection that may contain it.
    """
    if not surplus or not missing:
        return [], surplus, missing
    stored: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for at in surplus:
        slot = named.slots[at]
        if slot.role and slot.group not in APART:
            stored[_coarse_place(named.key(at), coarse)].append(at)
    wanted: dict[tuple[object, ...], list[Wanted]] = defaultdict(list)
    for each in missing:
        wanted[_coarse_place(each.key, coarse)].append(each)
    both = {place for place in wanted if place in stored and _is_fused(named, stored[place], wanted[place], coarse)}
    units = [Unit(tuple(stored[place]), tuple(there)) for place, there in wanted.items() if place in both]
    joined = {at for unit in units for at in unit.stored}
    left = [each for place, there in wanted.items() if place not in both for each in there]
    return units, [at for at in surplus if at not in joined], left


def _is_fused(named: Named, stored: Iterable[int], wanted: Iterable[Wanted], coarse: Mapping[str, str]) -> bool:
    """Whether one side has projections in one tensor: one part of a fusion does not match another."""
    roles = {*(named.slots[at].role for at in stored), *(each.key.role for each in wanted)}
    return not coarse or not roles.isdisjoint(FUSED)


def _place(of: Key | Expected) -> tuple[object, ...]:
    """What a row and its tensors have in common, whatever their layers and experts."""
    return of.tower, of.role, of.part, of.branch, of.indexes


def _coarse_place(key: Key, coarse: Mapping[str, str]) -> tuple[object, ...]:
    """What all layouts of the same weights share: the layer, and whether they belong to experts, but not which."""
    role = coarse.get(key.role, key.role)
    return key.tower, key.layer, role, key.part, key.expert is not None, key.branch, key.indexes
