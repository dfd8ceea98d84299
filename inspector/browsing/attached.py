"""An adapter and its base: the weights that its tensors change, and whether their shapes match."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from inspector.browsing.contents import Content, Told, place
from inspector.browsing.nodes import Item, Node
from inspector.comparing.attachment import Attached, Attachment
from inspector.report.words import shape_text
from inspector.units import escape, integer, plural


class Adapter(Content):
    """The tensors of an adapter, each with the weight that it changes."""

    headers, widths = ("adapter", "base", "fits"), (13, 13, 5)

    def __init__(self, result: Attachment) -> None:
        self.result = result
        base, adapter = (escape(each.checkpoint.title, 100) for each in (result.base, result.adapter))
        self.title = f"{adapter} on {base}"
        misfits = sum(not each.fits for each in result.tensors)
        told = f"{plural(len(result.modules), 'weight')} changed, {integer(result.parameters)} parameters added"
        self.summary = (
            f"{told}, {plural(misfits, 'tensor')} that do not fit" if misfits else f"{told}: every shape fits"
        )

    def made(self) -> Iterable[Item]:
        for each in self.result.tensors:
            piece = each.piece
            words = (piece.key.role.lower(), piece.group.lower(), piece.tensor.dtype.lower())
            yield Item(piece.tensor.name, piece.key, piece.group, words, each, not each.fits)

    def cells(self, node: Node) -> tuple[str, ...]:
        held = _held(node)
        misfits = sum(not each.fits for each in held)
        if node.children is not None:
            weights = {each.base.tensor.name for each in held if each.base}
            return plural(len(held), "tensor"), plural(len(weights), "weight"), f"{misfits} no" if misfits else "all"
        (each,) = held
        base = shape_text([each.base.tensor.shape]) if each.base else "–"
        return shape_text([each.piece.tensor.shape]), base, "no" if misfits else "yes"

    def details(self, node: Node) -> list[Told]:
        held = _held(node)
        return list(_tensor(held[0]) if node.item else _branch(node.label, held))


def _held(node: Node) -> Sequence[Attached]:
    return [item.subject for item in node.items()]


def _branch(label: str, held: Sequence[Attached]) -> Iterator[Told]:
    yield "branch", label
    yield "tensors", integer(len(held))
    yield "parameters", integer(sum(each.piece.parameters for each in held))
    yield "weights", integer(len({each.base.tensor.name for each in held if each.base}))
    if misfits := sum(not each.fits for each in held):
        yield "error", f"{plural(misfits, 'tensor')} that do not fit"


def _tensor(each: Attached) -> Iterator[Told]:
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
