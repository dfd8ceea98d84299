"""Memory over the context: weights, cache and activations together, with the devices' capacity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import log
from typing import NamedTuple

from inspector.plots.figure import LINE, PALETTE, Chart, caption, drawn, label, legend, share, stroke
from inspector.sizing.devices import DEVICES
from inspector.sizing.memory import Memory, at_context, cache_types, contexts
from inspector.units import decimal, integer, plural

#: Types of cache that are drawn, the requested one first; and devices, if none was named.
MOST_TYPES, MOST_DEVICES = 4, 5
#: Pixels of the plot, and names of contexts that a phone has room for.
_HEIGHT, _NAMES = 300, 4


class _Line(NamedTuple):
    """The capacity of a device, or of several."""

    name: str
    nbytes: int


def chart(result: Memory) -> Chart:
    """Lines that grow with the context, one per type of cache, and a level for each device."""
    curves = _curves(result)
    lines = list(_devices(result, [each.total for curve in curves.values() for each in curve]))
    own = next(iter(curves.values()))
    rows = [(name, each.request.context, each.cache, each.total) for name, curve in curves.items() for each in curve]
    devices = f"; {', '.join(f'{each.name} {decimal(each.nbytes)}' for each in lines)}" if lines else ""
    summary = (
        f"{decimal(own[0].total)} at {plural(own[0].request.context, 'token')}, {decimal(own[-1].total)} at "
        f"{integer(own[-1].request.context)}, with a cache in {next(iter(curves))}{devices}"
    )
    height = _HEIGHT + 2 * LINE + (len(curves) + len(lines) + 1) * LINE
    return Chart(
        "Memory by context length",
        summary,
        [("", drawn(_drawn(curves, lines), summary, height))],
        ("cache type", "context", "cache bytes", "total bytes"),
        rows,
    )


def _curves(result: Memory) -> dict[str, list[Memory]]:
    """Cache type → its curve."""
    named = {
        keys.name if keys == values else f"{keys.name}, {values.name}": (keys, values)
        for keys, values in cache_types(result)[:MOST_TYPES]
    }
    return {name: [at_context(result, tokens, *each) for tokens in contexts(result)] for name, each in named.items()}


def _devices(result: Memory, totals: list[int]) -> Iterator[_Line]:
    """The named devices together; else some common ones around the required size."""
    rooms = [each.room for each in result.devices if each.room is not None]
    if rooms:
        names = dict.fromkeys(each.device.name for each in result.devices if each.device)
        several = f"{len(rooms)} × " if len(rooms) > 1 else ""
        yield _Line(f"{several}{', '.join(names)}, usable", sum(rooms))
        return
    near = {each.nbytes: each.name for each in DEVICES.values() if min(totals) // 2 <= each.nbytes <= max(totals) * 3}
    sizes = sorted(near)
    for nbytes in sizes[:: max(1, -(-len(sizes) // MOST_DEVICES))]:
        yield _Line(near[nbytes], nbytes)


def _drawn(curves: Mapping[str, Sequence[Memory]], lines: Sequence[_Line]) -> Iterator[str]:
    """The plot, the names of contexts below it, and the legend; the contexts are on a logarithmic axis."""
    own = next(iter(curves.values()))
    first, last = own[0].request.context, own[-1].request.context
    most = max([each.total for curve in curves.values() for each in curve] + [each.nbytes for each in lines]) or 1

    def x(each: Memory) -> str:
        return share(log(each.request.context / first), log(last / first) if last > first else 1)

    def y(nbytes: int) -> float:
        return round(_HEIGHT - nbytes / most * (_HEIGHT - LINE), 1)

    for nbytes in _ticks(most):
        yield stroke(("0", y(nbytes), "100%", y(nbytes)))
        yield caption(0, y(nbytes) - 3, decimal(nbytes), faint=True)
    every = -(-len(own) // _NAMES)
    for number, each in enumerate(own[::every]):
        anchor = "" if not number else "end" if each is own[-1] else "middle"
        yield caption(x(each), _HEIGHT + LINE - 2, integer(each.request.context), anchor=anchor, faint=True)
    yield caption("50%", _HEIGHT + 2 * LINE - 2, "tokens of context", anchor="middle", faint=True)
    colours = [PALETTE[5 - number % 6] for number in range(len(lines))]
    for colour, line in zip(colours, lines, strict=True):
        yield stroke(("0", y(line.nbytes), "100%", y(line.nbytes)), colour, 1.5, "6 4")
    for colour, (name, curve) in zip(PALETTE, curves.items(), strict=False):
        for each, after in pairwise(curve):
            yield stroke((x(each), y(each.total), x(after), y(after.total)), colour, 2)
        for each in curve:
            cache = "cache unknown" if each.cache is None else f"{integer(each.cache)} bytes of cache"
            title = f"{integer(each.request.context)} tokens, cache in {name}: {integer(each.total)} bytes, {cache}"
            yield (
                f'<circle cx="{x(each)}" cy="{y(each.total)}" r="4" fill="{colour}"><title>{label(title, 200)}</title>'
                "</circle>"
            )
    names = [*(f"cache in {name}" for name in curves), *(f"{each.name}: {decimal(each.nbytes)}" for each in lines)]
    yield from legend(zip((*PALETTE[: len(curves)], *colours), names, strict=True), _HEIGHT + 3 * LINE)


def _ticks(most: int) -> Iterator[int]:
    """Zero and at most six round numbers of bytes above it."""
    power = 10 ** (len(str(most)) - 1)
    step = next(step for step in (power // 10, power // 5, power // 2, power, power * 2) if step * 6 >= most)
    yield from range(0, most + 1, step or 1)
