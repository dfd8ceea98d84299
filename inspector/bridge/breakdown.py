"""A checkpoint's tensors broken down for people: layer by layer, by layer and role, and as a tree.

by_layer(result.tensors)            → a Strip for each tower; a letter for each kind of layer
grid(result.tensors, result.roles)  → Grid, a Cell for each layer and role that have tensors together
byte_tree(result.tensors)           → Node: group → role → layer → tensor; children's bytes sum to the parent's
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from string import ascii_letters
from typing import NamedTuple

from inspector.model import Key, Labelled, RoleSum
from inspector.units import bits, integer, plural

# --- layer by layer ---------------------------------------------------------------------------

# Layers with the same tensors in the same types are of one kind, named by a letter; a row of letters shows mixed
# precision, dense first layers and hybrid blocks at a glance.


@dataclass(frozen=True, slots=True)
class Layer:
    """All tensors of one layer."""

    tower: str
    layer: int
    kind: str  # a letter; equal letters mean the same tensors in the same types
    tensors: int
    parameters: int  # logical
    bytes: int
    dtypes: Mapping[str, int]  # dtype → bytes


@dataclass(frozen=True, slots=True)
class Kind:
    """Identical layers of one tower."""

    letter: str
    layers: tuple[int, ...]
    bytes: int  # of each layer
    parameters: int
    dtypes: Mapping[str, int]
    differs: tuple[str, ...]  # differences from the tower's most frequent kind, as text


@dataclass(frozen=True, slots=True)
class Strip:
    """One tower's layers."""

    tower: str
    layers: tuple[Layer, ...]  # in order
    kinds: tuple[Kind, ...]  # in order of appearance

    @property
    def letters(self) -> str:
        """One letter per layer; `·` for a layer without tensors."""
        known = {each.layer: each.kind for each in self.layers}
        return "".join(known.get(number, "·") for number in range(min(known), max(known) + 1))


@dataclass(slots=True)
class _Sum:
    tensors: int = 0
    parameters: int = 0
    dtypes: Counter[str] = field(default_factory=Counter)
    parts: dict[tuple[str, str, str], list[int]] = field(default_factory=dict)  # group, role, dtype → bytes, parameters

    def add(self, each: Labelled) -> None:
        self.tensors += 1
        self.parameters += each.parameters
        self.dtypes[each.tensor.dtype] += each.tensor.nbytes
        part = self.parts.setdefault((each.group, each.key.role or "other", each.tensor.dtype), [0, 0])
        part[0] += each.tensor.nbytes
        part[1] += each.parameters

    @property
    def signature(self) -> tuple[object, ...]:
        return tuple(sorted((key, *sums) for key, sums in self.parts.items()))


#: Further kinds share the last letter.
LETTERS = ascii_letters[26:] + ascii_letters[:26] + "*"


def by_layer(tensors: Iterable[Labelled]) -> tuple[Strip, ...]:
    """Each tower's layers, the towers in order of appearance."""
    towers: dict[str, dict[int, _Sum]] = {}
    for each in tensors:
        if each.key.layer is not None:
            towers.setdefault(each.key.tower, {}).setdefault(each.key.layer, _Sum()).add(each)
    return tuple(_strip(tower, dict(sorted(sums.items()))) for tower, sums in towers.items())


def _strip(tower: str, sums: Mapping[int, _Sum]) -> Strip:
    members: dict[tuple[object, ...], list[int]] = {}
    for number, each in sums.items():
        members.setdefault(each.signature, []).append(number)
    usual = sums[max(members.values(), key=len)[0]]
    kinds = tuple(
        _kind(LETTERS[min(at, len(LETTERS) - 1)], numbers, sums[numbers[0]], usual)
        for at, numbers in enumerate(members.values())
    )
    letter_of = {number: kind.letter for kind in kinds for number in kind.layers}
    layers = tuple(
        Layer(tower, number, letter_of[number], each.tensors, each.parameters, each.dtypes.total(), dict(each.dtypes))
        for number, each in sums.items()
    )
    return Strip(tower, layers, kinds)


def _kind(letter: str, numbers: list[int], each: _Sum, usual: _Sum) -> Kind:
    differs = () if each is usual else tuple(_differences(each, usual))
    return Kind(letter, tuple(numbers), each.dtypes.total(), each.parameters, dict(each.dtypes), differs)


def _differences(each: _Sum, usual: _Sum) -> Iterable[str]:
    """What a kind has, lacks, or stores differently."""
    own, others = _types(each), _types(usual)
    for role in sorted(own.keys() - others.keys()):
        yield f"{role} only here"
    for role in sorted(others.keys() - own.keys()):
        yield f"no {role}"
    for role in sorted(own.keys() & others.keys()):
        if own[role] != others[role]:
            yield f"{role} {own[role]}, elsewhere {others[role]}"


def _types(each: _Sum) -> dict[str, str]:
    """Role → dtype, bits a parameter and parameters, side data left out."""
    texts: dict[str, str] = {}
    for (group, role, dtype), (nbytes, parameters) in each.parts.items():
        if group == "quantization":
            continue
        width = f" at {bits(nbytes * 8 / parameters)} bits" if parameters else ""
        texts[role] = f"{texts[role]} + " if role in texts else ""
        texts[role] += f"{integer(parameters)} × {dtype}{width}" if parameters else dtype
    return texts


# --- layers and roles, for heat maps ----------------------------------------------------------

#: Row of tensors outside the stack of layers.
OUTSIDE = "outside the layers"
Place = tuple[str, str]  # row, column


class Cell(NamedTuple):
    """The tensors of one role in one layer, including packed weights' side data."""

    tensors: int
    parameters: int  # logical
    bytes: int
    dtypes: tuple[str, ...]  # by bytes, descending

    @property
    def bits(self) -> float | None:
        """Stored bits per parameter; None if there are no parameters."""
        return self.bytes * 8 / self.parameters if self.parameters else None


class Axes(NamedTuple):
    """Rows are layers, in order; columns are roles, in the model's order, then others in order of appearance."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]


class Grid(NamedTuple):
    """The cells by row and column."""

    axes: Axes
    cells: Mapping[Place, Cell]


def grid(tensors: Iterable[Labelled], roles: Iterable[RoleSum]) -> Grid:
    """The tensors by layer and role.

    Args:
        roles: a result's, whose order is the model's; files are often in alphabetical order.
    """
    members: dict[Place, list[Labelled]] = {}
    keys: dict[Place, Key] = {}
    for each in tensors:
        place = place_of(each.key)
        members.setdefault(place, []).append(each)
        keys.setdefault(place, each.key)
    return Grid(axes(keys.values(), roles), {place: _cell(own) for place, own in members.items()})


def place_of(key: Key) -> Place:
    """Row and column of a tensor: `("vision 3", "vision q_proj")`."""
    tower = "" if key.tower == "text" else f"{key.tower} "
    return (OUTSIDE if key.layer is None else f"{tower}{key.layer}", role_of(key))


def axes(keys: Iterable[Key], roles: Iterable[RoleSum]) -> Axes:
    """Rows, those outside the layers first, then tower by tower; and columns, in the order of the roles."""
    order = dict.fromkeys(map(role_of, roles))
    towers: dict[str, int] = {}
    rows: dict[str, tuple[int, int]] = {}
    columns: dict[str, None] = {}
    for key in keys:
        row, column = place_of(key)
        tower = towers.setdefault(key.tower, len(towers))
        rows.setdefault(row, (-1, 0) if key.layer is None else (tower, key.layer))
        columns.setdefault(column)
    known = (column for column in order if column in columns)
    return Axes(tuple(sorted(rows, key=rows.__getitem__)), tuple(dict.fromkeys((*known, *columns))))


def _cell(members: Sequence[Labelled]) -> Cell:
    dtypes = Counter[str]()
    for each in members:
        dtypes[each.tensor.dtype] += each.tensor.nbytes
    parameters = sum(each.parameters for each in members)
    return Cell(len(members), parameters, dtypes.total(), tuple(dtype for dtype, _ in dtypes.most_common()))


def role_of(key: Key | RoleSum) -> str:
    """A role with its tower and branch, unless they are the defaults: `vision q_proj`."""
    return " ".join(filter(None, (key.tower if key.tower != "text" else "", key.branch, key.role or "other")))


# --- as a tree, for charts --------------------------------------------------------------------

#: Layers and tensors with less than 1 part in this many of all bytes are merged: a square of 1 mm on a sheet of 7 cm.
SMALLEST = 5000


class Node(NamedTuple):
    """Tensors that have something in common."""

    name: str  # unescaped, if it is a tensor's name
    bytes: int
    tensors: int
    parameters: int  # logical
    dtypes: tuple[str, ...]  # of most bytes first
    children: tuple[Node, ...] = ()


def byte_tree(tensors: Iterable[Labelled], smallest: int = SMALLEST) -> Node:
    """The whole checkpoint. Its children are groups, theirs roles, theirs layers, or tensors outside the layers."""
    listed = list(tensors)
    least = -(-sum(each.tensor.nbytes for each in listed) // smallest)
    return _tree("all tensors", listed, (attrgetter("group"), _role), least)


def _tree(name: str, members: Sequence[Labelled], levels: Sequence[Callable[[Labelled], str]], least: int) -> Node:
    """A node for groups and roles, which are few, so none are merged."""
    if not levels:
        return _node(name, members, _layers(members, least))
    parts = _by(members, levels[0])
    return _node(name, members, tuple(_tree(part, own, levels[1:], least) for part, own in parts.items()))


def _layers(members: Sequence[Labelled], least: int) -> tuple[Node, ...]:
    """The layers of one role; tensors outside the layers by their names."""
    shown, rest = list[Node](), list[Labelled]()
    in_order = sorted(members, key=lambda each: -1 if each.key.layer is None else each.key.layer)
    for name, own in _by(in_order, _place).items():
        if sum(each.tensor.nbytes for each in own) < least:
            rest += own
        else:
            shown.append(_node(name, own, _tensors(own, least)))
    return _with_rest(shown, rest)


def _tensors(members: Sequence[Labelled], least: int) -> tuple[Node, ...]:
    if len(members) < 2:
        return ()
    large = [each for each in members if each.tensor.nbytes >= least]
    small = [each for each in members if each.tensor.nbytes < least]
    return _with_rest([_node(each.tensor.name, [each]) for each in large], small)


def _with_rest(shown: Sequence[Node], rest: Sequence[Labelled]) -> tuple[Node, ...]:
    """The large children, and one for the rest; empty if no child is large: the parent then shows enough."""
    if not shown:
        return ()
    more = [_node(f"{plural(len(rest), 'smaller tensor')}", rest)] if rest else []
    return (*shown, *more)


def _node(name: str, members: Sequence[Labelled], children: tuple[Node, ...] = ()) -> Node:
    cell = _cell(members)
    return Node(name, cell.bytes, cell.tensors, cell.parameters, cell.dtypes, children)


def _by(members: Iterable[Labelled], what: Callable[[Labelled], str]) -> dict[str, list[Labelled]]:
    found: dict[str, list[Labelled]] = {}
    for each in members:
        found.setdefault(what(each), []).append(each)
    return found


def _role(each: Labelled) -> str:
    return role_of(each.key)


def _place(each: Labelled) -> str:
    return each.tensor.name if each.key.layer is None else f"layer {each.key.layer}"
