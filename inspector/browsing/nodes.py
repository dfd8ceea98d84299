"""Items in a tree whose branches are made when opened, and search for items.

    by_role(items)   →  attention › q_proj › layer 3 › model.layers.3.self_attn.q_proj.weight
    by_layer(items)  →  layer 3 › q_proj › …

A level that does not divide its items is skipped, and a branch with one item is replaced by it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from os.path import commonprefix
from typing import Any, NamedTuple

from inspector.model import Key
from inspector.units import escape

#: The most items that a search shows.
MOST_FOUND = 500


class Item(NamedTuple):
    """A leaf: a tensor, or both sides of a key in a comparison."""

    name: str
    key: Key
    group: str
    words: tuple[str, ...]  # search terms besides its name: role, group, dtype
    subject: Any  # the object that it represents
    differs: bool = True  # False if a comparison found both sides equal


class Node(NamedTuple):
    """A line of the tree."""

    label: str  # escaped
    items: Callable[[], Sequence[Item]]  # the leaves below
    children: Callable[[], list[Node]] | None  # None for a leaf
    shared: int = 0  # leading characters of the label that its neighbours share

    @property
    def item(self) -> Item | None:
        """The item of a leaf."""
        return None if self.children else self.items()[0]


class Place(NamedTuple):
    """Where a level puts an item: the order and the label of its branch."""

    order: int
    label: str


Level = Callable[[Item], Place]


def _by_group(item: Item) -> Place:
    return Place(0, item.group)


def _by_role(item: Item) -> Place:
    key = item.key
    tower = key.tower if key.tower != "text" else ""
    return Place(0, " ".join(filter(None, (tower, key.branch, key.role or "other"))))


def _by_tower(item: Item) -> Place:
    return Place(0, item.key.tower)


def _by_layer(item: Item) -> Place:
    layer = item.key.layer
    return Place(-1, "outside the layers") if layer is None else Place(layer, f"layer {layer}")


#: View → its levels, the outermost first.
VIEWS: Mapping[str, tuple[Level, ...]] = {
    "role": (_by_group, _by_role, _by_layer),
    "layer": (_by_tower, _by_layer, _by_role),
}


def grouped(items: Sequence[Item], levels: Sequence[Level]) -> list[Node]:
    """The branches of the first level that divides the items; the items if none does."""
    for at, level in enumerate(levels):
        found: dict[Place, list[Item]] = {}
        for item in items:
            found.setdefault(level(item), []).append(item)
        if len(found) > 1:
            places = sorted(found, key=lambda place: place.order)  # a stable sort: names keep their order of appearance
            return _beside([_branch(place.label, found[place], levels[at + 1 :]) for place in places])
    return leaves(items)


def _branch(label: str, items: Sequence[Item], levels: Sequence[Level]) -> Node:
    return leaf(items[0]) if len(items) == 1 else branch(label, lambda: items, levels)


def branch(label: str, items: Callable[[], Sequence[Item]], levels: Sequence[Level]) -> Node:
    """A line that opens into items, divided by the levels."""
    return Node(escape(label, 200), items, lambda: grouped(items(), levels))


def leaf(item: Item) -> Node:
    """A line for one item, with its name."""
    return Node(escape(item.name), lambda: (item,), None)


def leaves(items: Iterable[Item]) -> list[Node]:
    """One line per item."""
    return _beside([leaf(item) for item in items])


def _beside(nodes: list[Node]) -> list[Node]:
    """The lines, with the length of the prefix, up to a dot, that the names of their leaves share."""
    names = [node.label for node in nodes if node.children is None]
    shared = commonprefix(names).rfind(".") + 1 if len(names) > 1 else 0  # noqa: RUF071  no paths
    return [node._replace(shared=shared) if node.children is None else node for node in nodes]


def found(items: Iterable[Item], wanted: str) -> list[Item]:
    """The items whose name has the text, or matches it as a glob; or whose role, group or dtype it is.

    A search for `q_proj layer 3` or `down_proj Q6_K` finds items that match every word.
    """
    tests = [_test(word) for word in _words(wanted)]
    return [item for item in items if all(test(item) for test in tests)]


def _words(wanted: str) -> list[str]:
    """`layer 3` is one word, which matches only that layer."""
    words: list[str] = []
    for word in wanted.lower().split():
        if word.isdecimal() and words and words[-1] == "layer":
            words[-1] += f" {word}"
        else:
            words.append(word)
    return words


def _test(word: str) -> Callable[[Item], bool]:
    if word.startswith("layer "):
        layer = word.removeprefix("layer ").lstrip("0") or "0"
        return lambda item: str(item.key.layer) == layer
    if "*" in word or "?" in word:
        return lambda item: fnmatchcase(item.name.lower(), word)
    return lambda item: word in item.name.lower() or word in item.words
