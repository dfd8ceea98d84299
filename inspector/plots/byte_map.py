"""Where the bytes are: group → role → layer → tensor, with areas proportional to bytes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from inspector.architectures.data.roles import BY_GROUP
from inspector.bridge.breakdown import Node, byte_tree
from inspector.model import Reconciliation
from inspector.plots.figure import PALETTE, Chart, chart_layout, label
from inspector.units import decimal, integer, plural, size

#: Columns of the table that locate a row in the chart.
_LEVELS = ("group", "role", "layer, or tensor outside", "tensor")


class _Placed(NamedTuple):
    id: str
    parent: str
    node: Node
    level: int
    colour: str


def chart(result: Reconciliation) -> Chart:
    """A treemap of the tensors' bytes."""
    root = byte_tree(result.tensors)
    placed = list(_placed(root, "0", "", 0, ""))
    largest = max(root.children, key=lambda node: node.bytes, default=None)
    summary = f"{plural(root.tensors, 'tensor')} of {size(root.bytes)}"
    summary += f"; the largest is {largest.name}, {decimal(largest.bytes)}" if largest else ""
    return Chart(
        "Bytes by group, role, layer and tensor",
        summary,
        [_trace(placed)],
        chart_layout(uniformtext={"minsize": 9, "mode": "hide"}),
        (*_LEVELS, "tensors", "parameters", "bytes"),
        [row for group in root.children for row in _rows(group, ())],
        height=520,
    )


def _placed(node: Node, own: str, parent: str, level: int, colour: str) -> Iterator[_Placed]:
    yield _Placed(own, parent, node, level, colour)
    for number, child in enumerate(node.children):
        below = _colour(child.name) if level == 0 else colour
        yield from _placed(child, f"{own}.{number}", own, level + 1, below)


def _rows(node: Node, above: tuple[str, ...]) -> Iterator[tuple[str | int, ...]]:
    """One row for each area of the chart, below its parent."""
    place = (*above, node.name)
    yield (*place, *[""] * (len(_LEVELS) - len(place)), node.tensors, node.parameters, node.bytes)
    for child in node.children:
        yield from _rows(child, place)


def _colour(group: str) -> str:
    """A group's colour, the same in every chart."""
    groups = list(BY_GROUP)
    return PALETTE[groups.index(group) % len(PALETTE)] if group in groups else PALETTE[-2]


def _trace(placed: list[_Placed]) -> dict[str, Any]:
    return {
        "type": "treemap",
        "ids": [each.id for each in placed],
        "parents": [each.parent for each in placed],
        "labels": [label(each.node.name, 100) for each in placed],
        "values": [each.node.bytes for each in placed],
        "branchvalues": "total",
        "marker": {
            "colors": [each.colour or "rgba(128,128,128,0.25)" for each in placed],
            "line": {"width": 1, "color": "rgba(255,255,255,0.55)"},
        },
        "customdata": [_hover(each.node) for each in placed],
        "texttemplate": "%{label}<br>%{percentRoot:.1%}",
        "hovertemplate": "%{label}<br>%{customdata}<br>%{percentRoot:.3%} of all<extra></extra>",
        "maxdepth": 4,
        "tiling": {"pad": 1},
        "pathbar": {"visible": True},
    }


def _hover(node: Node) -> str:
    dtypes = ", ".join(label(dtype, 20) for dtype in node.dtypes[:4])
    parameters = f"{integer(node.parameters)} parameters<br>" if node.parameters else ""
    return f"{parameters}{integer(node.bytes)} bytes in {plural(node.tensors, 'tensor')}, {dtypes}"
