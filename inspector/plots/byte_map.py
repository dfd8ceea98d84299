"""Where the bytes are: group → role → layer → tensor, with areas proportional to bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from inspector.bridge.breakdown import Node, byte_tree
from inspector.model import Reconciliation
from inspector.plots.figure import CHARACTER, COLOURS, PALETTE, Chart, drawn, label, share
from inspector.units import decimal, escape, integer, plural, size

#: Columns of the table that locate a row in the chart.
_LEVELS = ("group", "role", "layer, or tensor outside", "tensor")
#: Pixels of the chart, whose parts are laid out as if it were this wide.
_WIDTH, _HEIGHT = 1200, 480
#: Pixels of a name above the parts of an area, and between areas.
_BAND, _BETWEEN = 16, 2


class _Box(NamedTuple):
    """A rectangle, in pixels."""

    x: float
    y: float
    width: float
    height: float


def chart(result: Reconciliation) -> Chart:
    """A treemap of the tensors' bytes."""
    root = byte_tree(result.tensors)
    largest = max(root.children, key=lambda node: node.bytes, default=None)
    summary = f"{plural(root.tensors, 'tensor')} of {size(root.bytes)}"
    summary += f"; the largest is {largest.name.replace('_', ' ')}, {decimal(largest.bytes)}" if largest else ""
    areas = _areas(root, _Box(0, 0, _WIDTH, _HEIGHT), root.bytes)
    return Chart(
        "Bytes by group, role, layer and tensor",
        summary,
        [("", drawn(areas, summary, _HEIGHT))],
        (*_LEVELS, "tensors", "parameters", "bytes"),
        [row for group in root.children for row in _rows(group, ())],
    )


def _rows(node: Node, above: tuple[str, ...]) -> Iterator[tuple[str | int, ...]]:
    """A row for the area and each below it."""
    place = (*above, node.name)
    yield (*place, *[""] * (len(_LEVELS) - len(place)), node.tensors, node.parameters, node.bytes)
    for child in node.children:
        yield from _rows(child, place)


def _areas(parent: Node, box: _Box, total: int, colour: str = "") -> Iterator[str]:
    """The children in their parent's box, each with its own children in it."""
    children = sorted((each for each in parent.children if each.bytes), key=lambda node: -node.bytes)
    for node, own in zip(children, tiles([each.bytes for each in children], box), strict=True):
        fill = colour or COLOURS.get(node.name, PALETTE[6])
        short = min(len(node.name), 16)  # a name is whole, or long enough to be known by its beginning
        named = own.height >= _BAND and own.width >= CHARACTER * short + 6
        shown = node if colour else node._replace(name=node.name.replace("_", " "))  # a group's name in words
        yield _area(shown, own, total, fill, named=named)
        inner = _Box(own.x + _BETWEEN, own.y + _BAND, own.width - 2 * _BETWEEN, own.height - _BAND - _BETWEEN)
        if named and len(node.children) > 1 and min(inner.width, inner.height) > _BAND:
            yield from _areas(node, inner, total, fill)


def tiles(sizes: Sequence[int], box: _Box) -> list[_Box]:
    """Rectangles of areas in proportion to sizes, which descend: rows along the shorter side, none longer than it helps
    their parts to be near squares (Bruls, Huizing and van Wijk, Squarified Treemaps, 2000).
    """
    found, left, rest = list[_Box](), sum(sizes), box
    at = 0
    while at < len(sizes):
        scale = rest.width * rest.height / left
        short = min(rest.width, rest.height)
        end = at + 1
        while end < len(sizes) and _oblong(sizes[at : end + 1], scale, short) <= _oblong(sizes[at:end], scale, short):
            end += 1
        row = sizes[at:end]
        thick, along = sum(row) * scale / short, 0.0
        for each in row:
            length = each * short / sum(row)
            if rest.width >= rest.height:
                found.append(_Box(rest.x, rest.y + along, thick, length))
            else:
                found.append(_Box(rest.x + along, rest.y, length, thick))
            along += length
        if rest.width >= rest.height:
            rest = rest._replace(x=rest.x + thick, width=max(rest.width - thick, 1e-6))
        else:
            rest = rest._replace(y=rest.y + thick, height=max(rest.height - thick, 1e-6))
        left -= sum(row)
        at = end
    return found


def _oblong(row: Sequence[int], scale: float, short: float) -> float:
    """How much longer than wide the worst part of a row is."""
    thick = sum(row) * scale / short
    return max(max(thick / length, length / thick) for length in (each * scale / thick for each in (row[0], row[-1])))


def _area(node: Node, box: _Box, total: int, fill: str, *, named: bool) -> str:
    """An area; its name is cut at its edge."""
    place = f'x="{share(box.x, _WIDTH)}" y="{box.y:.1f}" width="{share(box.width, _WIDTH)}" height="{box.height:.1f}"'
    part = f"{node.bytes / total:.1%}" if total else ""
    hover = f"<title>{label(f'{escape(node.name, 100)}, {part} of all: {_hover(node)}', 400)}</title>"
    style = f'fill="{fill}" stroke="#ffffff" stroke-opacity="0.6"'
    if not named:
        return f"<rect {place} {style}>{hover}</rect>"
    fits = box.width > CHARACTER * (len(node.name) + len(part) + 2)
    beside = f'<tspan class="deep"> {part}</tspan>' if fits and part else ""  # a phone has no room for what is deep
    deep = ' class="deep"' if node.name.startswith("layer ") or not node.children else ""
    text = f'<text x="4" y="12" fill="{_ink(fill)}"{deep}>{label(node.name, 60)}{beside}</text>'
    return f'<svg {place}>{hover}<rect width="100%" height="100%" {style}/>{text}</svg>'


def _ink(fill: str) -> str:
    """Black or white, whichever has more contrast: WCAG's relative luminance of 0.18 has as much with both."""
    channels = (int(fill[at : at + 2], 16) / 255 for at in (1, 3, 5))
    linear = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in channels]
    luminance = sum(part * each for part, each in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
    return "#ffffff" if luminance < 0.18 else "#000000"


def _hover(node: Node) -> str:
    dtypes = ", ".join(escape(dtype, 20) for dtype in node.dtypes[:4])
    parameters = f"{integer(node.parameters)} parameters, " if node.parameters else ""
    return f"{parameters}{integer(node.bytes)} bytes in {plural(node.tensors, 'tensor')}, {dtypes}"
