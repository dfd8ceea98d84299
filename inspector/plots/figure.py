"""The parts of every chart: SVG that needs neither a script nor a style sheet, and the same in words and numbers.

Widths are shares of the place and heights pixels: a chart is as wide as its page, and its texts keep their size. Text
and axes have the colour of what surrounds them, so charts stand on white and on black.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape as as_text
from typing import NamedTuple

from inspector.units import escape

#: Colours that people with red-green colour blindness can distinguish (Okabe and Ito), on white and on black.
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#999999", "#F0E442")
#: Group of roles → its colour in every chart; others are `PALETTE[6]`.
COLOURS: Mapping[str, str] = {
    "embedding": PALETTE[4], "attention": PALETTE[0], "feed_forward": PALETTE[2], "router": PALETTE[7],
    "state_space": PALETTE[3], "convolution": PALETTE[5], "head": PALETTE[1], "adapter": PALETTE[3],
}  # fmt: skip
#: Numbers as colours from low to high, also for them (Cividis; Nuñez, Anderton and Renslow 2018).
SCALE = ("#00224E", "#123570", "#3B496C", "#575D6D", "#707173", "#8A8678", "#A59C74", "#C3B369", "#E1CC55", "#FEE838")
#: Pixels of a row of text, and about as many for each character.
LINE, CHARACTER = 17, 6.5


class Chart(NamedTuple):
    """A chart as SVG, and the same in words and numbers. Notebooks show it."""

    title: str
    summary: str  # one sentence that says what the chart shows, for those who cannot see it
    views: Sequence[tuple[str, str]]  # name and SVG; without a name if there is only one
    headers: tuple[str, ...]  # of the table with the chart's numbers
    rows: Sequence[tuple[str | int | float | None, ...]]

    @property
    def svg(self) -> str:
        """The first view."""
        return self.views[0][1]

    @property
    def markup(self) -> str:
        """Every view, all but the first folded. All text from files is escaped."""
        if len(self.views) == 1:
            return self.svg
        return "".join(
            f"<details{'' if number else ' open'}><summary>{label(name)}</summary>{svg}</details>"
            for number, (name, svg) in enumerate(self.views)
        )

    def __repr__(self) -> str:
        return f"<Chart {escape(self.title)}: {escape(self.summary, 200)}>"

    def _repr_html_(self) -> str:
        title, summary = label(self.title, 200), label(self.summary, 500)
        return f"<figure><figcaption><strong>{title}</strong></figcaption>{self.markup}<p>{summary}</p></figure>"


def label(text: str, limit: int = 80) -> str:
    """Text from a file, escaped for markup."""
    return as_text(escape(text, limit))


def share(part: float, whole: float = 1) -> str:
    """`share(1, 8)` → `12.5%`."""
    return f"{part / (whole or 1) * 100:.3f}".rstrip("0").rstrip(".") + "%"


def drawn(parts: Iterable[str], spoken: str, height: int, width: str | int = "100%", role: str = "img") -> str:
    """A drawing of its parts.

    Args:
        spoken: what it shows, for screen readers.
        width: of the place, or pixels.
    """
    box = f' viewBox="0 0 {width} {height}"' if isinstance(width, int) else ""  # paper shrinks it
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"{box} role="{role}" '
        f'aria-label="{label(spoken, 500)}" font-family="system-ui, sans-serif" font-size="12" fill="currentColor">'
        f"{''.join(parts)}</svg>"
    )


def rect(x: str | float, y: float, width: str | float, height: float, fill: str, title: str = "") -> str:
    """A filled rectangle; `title` is shown when it is pointed at."""
    shown = f"<title>{label(title, 300)}</title>" if title else ""
    return f'<rect x="{x}" y="{y:g}" width="{width}" height="{height:g}" fill="{fill}">{shown}</rect>'


def caption(x: str | float, y: float, text: str, *, bold: bool = False, anchor: str = "", faint: bool = False) -> str:
    """A line of escaped text on a baseline."""
    style = (
        (' font-weight="600"' if bold else "")
        + (f' text-anchor="{anchor}"' if anchor else "")
        + (' opacity="0.75"' if faint else "")
    )
    return f'<text x="{x}" y="{y:g}"{style}>{text}</text>'


def stroke(ends: tuple[str, float, str, float], colour: str = "currentColor", width: float = 1, dash: str = "") -> str:
    """A straight line between two points."""
    x1, y1, x2, y2 = ends
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    faint = ' stroke-opacity="0.2"' if colour == "currentColor" else ""
    return (
        f'<line x1="{x1}" y1="{y1:g}" x2="{x2}" y2="{y2:g}" stroke="{colour}" stroke-width="{width}"{dashed}{faint}/>'
    )


def legend(entries: Iterable[tuple[str, str]], y: float) -> Iterable[str]:
    """A row for each colour and its text, below each other."""
    for number, (colour, text) in enumerate(entries):
        yield rect(0, y + number * LINE, 11, 11, "#999999")  # an edge, on white and on black
        yield rect(1, y + number * LINE + 1, 9, 9, colour)
        yield caption(17, y + number * LINE + 10, label(text))
