"""The bridge: from the stated size to the bytes on disk, one bar per step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from inspector.bridge.ledger import BY_NAME, bridge_rows
from inspector.model import Reconciliation
from inspector.plots.figure import LINE, PALETTE, Chart, caption, drawn, label, rect, share
from inspector.units import decimal, integer, signed

#: The least share of the width that is seen; smaller steps are listed, not drawn.
_SEEN = 0.001
#: Pixels from one bar to the next, and of a bar.
_ROW, _BAR = 40, 16
_TOTAL, _MORE, _LESS = PALETTE[6], PALETTE[5], PALETTE[2]


class _Bar(NamedTuple):
    name: str
    begin: int  # bytes
    end: int
    step: bool
    title: str


def chart(result: Reconciliation) -> Chart:
    """A waterfall of the steps, downwards; the last bar is the bytes on disk."""
    rows = list(bridge_rows(result))
    shown = [signed(nbytes) if step else integer(nbytes) for nbytes, step, *_ in rows]
    summary = f"{rows[0][2]}, then {len(rows) - 2} steps to {integer(result.on_disk)} bytes on disk"
    bars = [
        _Bar(_plain(what), *span, step, ". ".join(filter(None, (f"{_plain(what)}: {text} bytes", why))))
        for span, text, (_, step, what, why) in zip(spans(rows), shown, rows, strict=True)
    ]
    least = _SEEN * max(abs(bar.end) for bar in bars)
    drawn_bars = [bar for bar in bars if not bar.step or abs(bar.end - bar.begin) >= least]
    small = [f"{bar.name} {decimal(bar.end - bar.begin)}" for bar in bars if bar not in drawn_bars]
    title = "From the stated size to the bytes on disk"
    return Chart(
        title,
        f"{summary}{'; too small to be seen: ' if small else ''}{', '.join(small)}",
        [("", drawn(_drawn(drawn_bars), summary, _ROW * len(drawn_bars)))],
        ("bytes", "step", "why"),
        [(text, what, why) for text, (_, _, what, why) in zip(shown, rows, strict=True)],
    )


def _plain(what: str) -> str:
    """A step's cause in a few words; the ends of the bridge have their own."""
    return BY_NAME[what].plain if what in BY_NAME else what


def spans(rows: Sequence[tuple[int, bool, str, str]]) -> list[tuple[int, int]]:
    """Where each bar begins and ends, in bytes: a step begins where the previous bar ended."""
    ends = [0]
    for nbytes, step, *_ in rows:
        ends.append(ends[-1] + nbytes if step else nbytes)
    return [(begin if step else 0, end) for (begin, end), (_, step, *_) in zip(pairwise(ends), rows, strict=True)]


def _drawn(bars: Sequence[_Bar]) -> Iterator[str]:
    """Each bar below its name."""
    most = max(max(bar.begin, bar.end) for bar in bars)
    least = min(0, *(min(bar.begin, bar.end) for bar in bars))
    for number, bar in enumerate(bars):
        y, nbytes = number * _ROW, bar.end - bar.begin
        sign = "+" if bar.step and nbytes > 0 else ""
        yield caption(0, y + LINE - 4, label(f"{sign}{decimal(nbytes)}: {bar.name}", 60))
        colour = _TOTAL if not bar.step else _MORE if nbytes > 0 else _LESS
        x, width = share(min(bar.begin, bar.end) - least, most - least), share(abs(nbytes), most - least)
        yield rect(x, y + LINE, width, _BAR, colour, bar.title)
