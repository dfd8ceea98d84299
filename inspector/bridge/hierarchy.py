"""The bytes of a checkpoint's tensors as a tree, for charts: group → role → layer → tensor.

    byte_tree(result.tensors) → Node, whose children's bytes sum to its own

Parts too small to see are merged: a tree of half a million tensors stays small.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from inspector.model import Key, Labelled, RoleSum
from inspector.units import plural

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
    return _node("all tensors", listed, (_group, _role), least)


def _node(name: str, members: Sequence[Labelled], levels: Sequence[Callable[[Labelled], str]], least: int) -> Node:
    """A node for groups and roles, which are few, so none are merged."""
    if not levels:
        return _summed(name, members, _layers(members, least))
    parts = _by(members, levels[0])
    return _summed(name, members, tuple(_node(part, own, levels[1:], least) for part, own in parts.items()))


def _layers(members: Sequence[Labelled], least: int) -> tuple[Node, ...]:
    """The layers of one role; tensors outside the layers by their names."""
    shown, rest = list[Node](), list[Labelled]()
    in_order = sorted(members, key=lambda each: -1 if each.key.layer is None else each.key.layer)
    for name, own in _by(in_order, _place).items():
        if sum(each.tensor.nbytes for each in own) < least:
            rest += own
        else:
            shown.append(_summed(name, own, _tensors(own, least)))
    return _with_rest(shown, rest)


def _tensors(members: Sequence[Labelled], least: int) -> tuple[Node, ...]:
    if len(members) < 2:
        return ()
    large = [each for each in members if each.tensor.nbytes >= least]
    small = [each for each in members if each.tensor.nbytes < least]
    return _with_rest([_summed(each.tensor.name, [each]) for each in large], small)


def _with_rest(shown: Sequence[Node], rest: Sequence[Labelled]) -> tuple[Node, ...]:
    """Empty if no child is large enough: the parent then says it all."""
    if not shown:
        return ()
    more = [_summed(f"{plural(len(rest), 'smaller tensor')}", rest)] if rest else []
    return (*shown, *more)


def _summed(name: str, members: Sequence[Labelled], children: tuple[Node, ...] = ()) -> Node:
    dtypes = Counter[str]()
    for each in members:
        dtypes[each.tensor.dtype] += each.tensor.nbytes
    parameters = sum(each.parameters for each in members)
    return Node(name, dtypes.total(), len(members), parameters, tuple(d for d, _ in dtypes.most_common()), children)


def _by(members: Iterable[Labelled], what: Callable[[Labelled], str]) -> dict[str, list[Labelled]]:
    found: dict[str, list[Labelled]] = {}
    for each in members:
        found.setdefault(what(each), []).append(each)
    return found


def _group(each: Labelled) -> str:
    return each.group


def _role(each: Labelled) -> str:
    return role_of(each.key)


def _place(each: Labelled) -> str:
    return each.tensor.name if each.key.layer is None else f"layer {each.key.layer}"


def role_of(key: Key | RoleSum) -> str:
    """A role with its tower and branch, unless they are the defaults: `vision q_proj`."""
    return " ".join(filter(None, (key.tower if key.tower != "text" else "", key.branch, key.role or "other")))
