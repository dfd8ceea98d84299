"""Two checkpoints: their differences and both sides of a pair; or an adapter and the weights that it changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from inspector.browsing.contents import Content, Detail, place
from inspector.browsing.nodes import Item, Node
from inspector.comparing.attachment import Attached, Attachment
from inspector.comparing.diff import Diff
from inspector.comparing.pairing import Pair, Side
from inspector.report.diff import change_of, verdict
from inspector.report.words import shape_text
from inspector.units import decimal, escape, integer, plural, size

Compare = Callable[[Pair], list[str]]
_STATUSES = {
    "same": "same dtype and shape",
    "dtype": "different dtype",
    "shape": "different shape",
    "only_a": "only in a",
    "only_b": "only in b",
}


class Pairs(Content):
    """The pairs of a comparison."""

    headers, widths = ("a → b", "bytes in a", "in b"), (14, 10, 9)
    measures = "compare values"
    is_comparison = only_differing = True

    def __init__(self, result: Diff, compare: Compare) -> None:
        """
        Args:
            compare: reads both sides of a pair and describes how their values compare. Raises InspectorError.
        """
        self.result, self._compare = result, compare
        self.only_differing = any(pair.status != "same" for pair in result.pairs)
        self.title = " → ".join(escape(side.checkpoint.title, 100) for side in (result.a, result.b))
        self.summary = verdict(result)

    def made(self) -> Iterable[Item]:
        for pair in self.result.pairs:
            first = (pair.a or _side(pair)).tensors[0]
            dtypes = (side.dtype.lower() for side in (pair.a, pair.b) if side)
            words = (pair.key.role.lower(), first.group.lower(), *dtypes, pair.status)
            yield Item(first.tensor.name, pair.key, first.group, words, pair, pair.status != "same")

    def cells(self, node: Node) -> tuple[str, ...]:
        items = node.items()
        if node.children is None:
            pair = items[0].subject
            return change_of(pair), *(decimal(side.nbytes) if side else "–" for side in (pair.a, pair.b))
        differ = sum(item.differs for item in items)
        counts = f"{integer(differ)} differ" if differ else f"{integer(len(items))} the same"
        return counts, decimal(_bytes(items, "a")), decimal(_bytes(items, "b"))

    def details(self, node: Node) -> list[Detail]:
        item = node.item
        return list(self._pair(item) if item else self._branch(node))

    def _branch(self, node: Node) -> Iterator[Detail]:
        items = node.items()
        yield "branch", node.label
        for status, words in _STATUSES.items():
            if number := sum(item.subject.status == status for item in items):
                yield words.rpartition(" ")[2], f"{integer(number)}: {words}"
        for side in ("a", "b"):
            nbytes = _bytes(items, side)
            yield side, f"{integer(nbytes)} bytes ({size(nbytes)})"

    def _pair(self, item: Item) -> Iterator[Detail]:
        pair: Pair = item.subject
        yield "status", _STATUSES[pair.status]
        yield from place(pair.key, item.group)
        for word, side in (("a", pair.a), ("b", pair.b)):
            if side is None:
                yield word, "has no such tensor"
                continue
            yield word, ", ".join(escape(each.tensor.name) for each in side.tensors[:3]) + _more(side)
            yield "", f"{shape_text(side.shapes)} {escape(side.dtype, 60)}, {plural(side.nbytes, 'byte')}"
            yield "", f"{escape(side.tensors[0].file)} at {integer(side.tensors[0].tensor.offset)}"

    def measure(self, item: Item, width: int) -> list[str]:  # noqa: ARG002  one line, which the panel folds
        return self._compare(item.subject)


def _side(pair: Pair) -> Side:
    side = pair.a or pair.b
    assert side is not None  # a pair has at least one
    return side


def _bytes(items: Iterable[Item], side: str) -> int:
    return sum(held.nbytes for item in items if (held := getattr(item.subject, side)))


def _more(side: Side) -> str:
    return f" and {integer(len(side.tensors) - 3)} more" if len(side.tensors) > 3 else ""


# --- an adapter and its base ---------------------------------------------------------------------


class Adapter(Content):
    """The tensors of an adapter, each with the weight that it changes."""

    headers, widths = ("adapter", "base", "fits"), (13, 13, 5)

    def __init__(self, result: Attachment) -> None:
        self.result = result
        base, adapter = (escape(each.checkpoint.title, 100) for each in (result.base, result.adapter))
        self.title = f"{adapter} on {base}"
        misfits = sum(not each.fits for each in result.tensors)
        changed = f"{plural(len(result.modules), 'weight')} changed, {integer(result.parameters)} parameters added"
        self.summary = (
            f"{changed}, {plural(misfits, 'tensor')} that do not fit" if misfits else f"{changed}: every shape fits"
        )

    def made(self) -> Iterable[Item]:
        for each in self.result.tensors:
            piece = each.piece
            words = (piece.key.role.lower(), piece.group.lower(), piece.tensor.dtype.lower())
            yield Item(piece.tensor.name, piece.key, piece.group, words, each, not each.fits)

    def cells(self, node: Node) -> tuple[str, ...]:
        held = _subjects(node)
        misfits = sum(not each.fits for each in held)
        if node.children is not None:
            weights = {each.base.tensor.name for each in held if each.base}
            return plural(len(held), "tensor"), plural(len(weights), "weight"), f"{misfits} no" if misfits else "all"
        (each,) = held
        base = shape_text([each.base.tensor.shape]) if each.base else "–"
        return shape_text([each.piece.tensor.shape]), base, "no" if misfits else "yes"

    def details(self, node: Node) -> list[Detail]:
        held = _subjects(node)
        return list(_tensor(held[0]) if node.item else _branch(node.label, held))


def _subjects(node: Node) -> Sequence[Attached]:
    return [item.subject for item in node.items()]


def _branch(label: str, held: Sequence[Attached]) -> Iterator[Detail]:
    yield "branch", label
    yield "tensors", integer(len(held))
    yield "parameters", integer(sum(each.piece.parameters for each in held))
    yield "weights", integer(len({each.base.tensor.name for each in held if each.base}))
    if misfits := sum(not each.fits for each in held):
        yield "error", f"{plural(misfits, 'tensor')} that do not fit"


def _tensor(each: Attached) -> Iterator[Detail]:
    tensor, base = each.piece.tensor, each.base
    yield "name", escape(tensor.name)
    yield "shape", shape_text([tensor.shape])
    if base is None:
        yield "error", "the base has no such weight"
    elif not each.fits:
        yield "error", f"expected {shape_text([each.expected or ()])}"
    if base is not None:
        yield "changes", escape(base.tensor.name)
        yield "", f"{shape_text([base.tensor.shape])} {escape(base.tensor.dtype, 40)}"
    yield "dtype", escape(tensor.dtype, 40)
    yield "parameters", integer(each.piece.parameters)
    yield from place(each.piece.key, each.piece.group)
