"""Content to browse: a checkpoint's tensors, a comparison's pairs, the names in an index, the models of a folder.

Each defines the lines of its tree, their columns, and the details of the one under the cursor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

from inspector.browsing.nodes import MOST_FOUND, VIEWS, Item, Node, found, grouped, leaves
from inspector.model import Key
from inspector.units import escape, plural

#: A detail of a line: a label, and a text that may be folded.
Detail = tuple[str, str]
#: Called with the number of headers read and their total.
Progress = Callable[[int, int], None]
#: Opens the target; may be called from a thread.
Load = Callable[[Progress], "Content"]


class Content:
    """The interface of every kind of content."""

    title = ""  # escaped, like all text here
    summary = ""
    headers: tuple[str, ...] = ()  # headers of the columns next to the names
    widths: tuple[int, ...] = ()  # widths of these columns
    views: tuple[str, ...] = tuple(VIEWS)
    #: What `measure` does, for the list of keys; "" if nothing.
    measures = ""
    is_comparison = False
    only_differing = False  # whether a comparison hides what is the same

    @cached_property
    def items(self) -> Sequence[Item]:
        """All leaves."""
        return tuple(self.made())

    def prepare(self) -> None:
        """Make the leaves in advance."""
        _ = self.items

    @property
    def is_prepared(self) -> bool:
        """Whether a branch's leaves are known without delay."""
        return True

    def made(self) -> Iterable[Item]:
        """Make the leaves, in order."""
        raise NotImplementedError

    @property
    def shown(self) -> Sequence[Item]:
        """The leaves that are not hidden."""
        return [item for item in self.items if item.differs] if self.only_differing else self.items

    def roots(self, view: str) -> list[Node]:
        """The outermost lines of a view."""
        return grouped(self.shown, VIEWS[view])

    def search(self, wanted: str) -> tuple[list[Node], int]:
        """The first lines that match a search, and the number of matches."""
        matches = found(self.shown, wanted)
        return leaves(matches[:MOST_FOUND]), len(matches)

    def cells(self, node: Node) -> tuple[str, ...]:
        """The cells of a line."""
        raise NotImplementedError

    def details(self, node: Node) -> list[Detail]:
        """All details of a line."""
        raise NotImplementedError

    def measure(self, item: Item, width: int) -> list[str]:
        """Measure a leaf by reading its data. Raises InspectorError."""
        raise NotImplementedError


class Models(Content):
    """The unrelated models of a folder, each of which can be opened."""

    headers, widths = ("",), (1,)
    views = ("role",)

    def __init__(self, target: str, models: Iterable[tuple[str, str]], opener: Callable[[str], Load]) -> None:
        """
        Args:
            models: the name and target of each.
            opener: what opens a target.
        """
        self._models, self._opener = tuple(models), opener
        self.title = escape(target, 200)
        self.summary = f"{plural(len(self._models), 'model')}; enter opens one"

    def made(self) -> Iterable[Item]:
        for name, target in self._models:
            yield Item(name, Key("text", None, None, "", ""), "", (), target)

    def opener(self, item: Item) -> Load:
        """A function that opens one of the models."""
        return self._opener(str(item.subject))

    def cells(self, node: Node) -> tuple[str, ...]:  # noqa: ARG002  a name alone
        return ("",)

    def details(self, node: Node) -> list[Detail]:
        item = node.item
        return [("model", escape(item.name)), ("target", escape(str(item.subject)))] if item else []


class Names(Content):
    """The tensors of an index without files: no sizes are known."""

    headers, widths = ("tensors",), (16,)

    def __init__(self, target: str, named: Iterable[tuple[str, str, Key, str]]) -> None:
        """
        Args:
            named: the name, file, key and group of each tensor.
        """
        self._named = tuple(named)
        self.title = escape(target, 200)
        self.summary = f"an index without its files: {plural(len(self._named), 'tensor')}, names without sizes"

    def made(self) -> Iterable[Item]:
        for name, file, key, group in self._named:
            yield Item(name, key, group, (key.role.lower(), group.lower()), file)

    def cells(self, node: Node) -> tuple[str, ...]:
        return ("",) if node.item else (f"{len(node.items()):,}",)

    def details(self, node: Node) -> list[Detail]:
        item = node.item
        if item is None:
            return [("branch", node.label), ("tensors", f"{len(node.items()):,}")]
        return [("name", escape(item.name)), ("file", escape(item.subject)), *place(item.key, item.group)]


def place(key: Key, group: str) -> list[Detail]:
    """A key in words."""
    details: list[tuple[str, Any]] = [
        ("role", f"{key.role or 'other'} in {group}"),
        ("tower", key.tower if key.tower != "text" else ""),
        ("branch", key.branch),
        ("layer", "" if key.layer is None else key.layer),
        ("expert", "" if key.expert is None else "all of the layer" if key.expert < 0 else key.expert),
        ("part", key.part if key.part != "weight" else ""),
    ]
    return [(word, escape(str(value), 200)) for word, value in details if value != ""]
