"""Statistics of tensors' numbers, as text, as a document, and as rows for tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import Any

from inspector.measuring.statistics import PERCENTILES, Histogram, Summary
from inspector.measuring.values import Row, Values, by_role
from inspector.report import documents, tables
from inspector.report.columns import GO, least_width, table, wrapped
from inspector.report.pages.parts import Findings, Page, Section, mood, of_rows
from inspector.report.tables import Column, Rows
from inspector.units import decimal, escape, integer, plural

#: Lines of a screen: a terminal's 24, without the prompt.
HEIGHT = 23
_BARS = "▁▂▃▄▅▆▇█"
_WIDEST_BAR = 40
#: Columns of a table: for each tensor, for groups of tensors, and for the numbers of either.
_OF_TENSOR = (
    "name",
    "file",
    "dtype",
    "shape",
    "dequantized",
    "role",
    "group",
    "tower",
    "branch",
    "layer",
    "expert",
    "part",
)
_OF_SEVERAL = ("name", "tensors")
_OF_NUMBERS = ("elements", "nan", "inf", "zeros", "min", "max", "mean", "std")


# --- documents ------------------------------------------------------------------------------------


def document(found: Values, target: str) -> dict[str, Any]:
    """`inspect values --json`."""
    return {
        "schema": documents.SCHEMA,
        "target": target,
        "by": found.by,
        "bytes_read": found.bytes_read,
        "tensors" if found.by == "tensor" else "groups": [row(each) for each in found.rows],
        "findings": [documents.finding(each) for each in found.findings],
    }


def row(each: Row) -> dict[str, Any]:
    """One row: a tensor and its statistics, or a group's."""
    summary = each.summary
    return {
        **_what(each),
        "elements": each.elements,
        "nan": summary.nan,
        "inf": summary.inf,
        "zeros": summary.zeros,
        **{name: _finite(getattr(summary, name)) for name in ("min", "max", "mean", "std")},
        "percentiles": {f"{percent:g}": _finite(value) for percent, value in summary.percentiles.items()},
        "histogram": _histogram(summary.histogram),
    }


def _what(each: Row) -> dict[str, Any]:
    if each.shape is None:
        return {"name": each.name, "tensors": len(each.tensors), "dequantized": not each.stored}
    tensor = documents.tensor(each.tensors[0])
    return {**tensor, "shape": list(each.shape), "dequantized": not each.stored}


def _finite(value: float | None) -> float | None:
    """JSON has no infinity, which the deviation of numbers near the 64-bit maximum is."""
    return value if value is not None and isfinite(value) else None


def _histogram(histogram: Histogram | None) -> dict[str, Any] | None:
    return None if histogram is None else {**histogram._asdict()}


# --- tables ---------------------------------------------------------------------------------------


def columns(found: Values) -> tuple[str, ...]:
    """The column names of a table."""
    first = _OF_TENSOR if found.by == "tensor" else _OF_SEVERAL
    return (*first, *_OF_NUMBERS, *(f"p{percent:g}" for percent in PERCENTILES))


def flat(found: Values) -> list[dict[str, Any]]:
    """One row each, with one cell per column."""
    rows = []
    for each in found.rows:
        cells = row(each)
        percentiles = cells.pop("percentiles")
        cells.update({f"p{percent:g}": percentiles.get(f"{percent:g}") for percent in PERCENTILES})
        rows.append({name: cells.get(name) for name in columns(found)})
    return rows


def write_parquet(found: Values, path: str) -> None:
    """Write the same rows, with the histograms, to a Parquet file.

    Raises:
        UsageError: pyarrow is not installed.
        SourceError: the file cannot be written.
    """
    whole = rows(found)
    kept = [dict(each) for each in whole.rows]
    for each, source in zip(kept, found.rows, strict=True):
        histogram = source.summary.histogram
        each["histogram_edges"] = list(histogram.edges) if histogram else None
        each["histogram_counts"] = list(histogram.counts) if histogram else None
    more = (Column("histogram_edges", "list<double>"), Column("histogram_counts", "list<uint64>"))
    tables.write_parquet(path, [*whole.columns, *more], kept)


def rows(found: Values) -> Rows:
    """One row per tensor, or group of them; without histograms."""
    return Rows(tuple(Column(name, _TYPES.get(name, "double")) for name in columns(found)), flat(found))


#: Column → Arrow's type; statistics are doubles.
_TYPES: Mapping[str, str] = {
    **dict.fromkeys(("name", "file", "dtype", "role", "group", "tower", "branch", "part"), "string"),
    **dict.fromkeys(("tensors", "elements", "nan", "inf", "zeros"), "uint64"),
    **dict.fromkeys(("layer", "expert"), "int64"),
    "shape": "list<uint64>",
    "dequantized": "bool",
}


# --- text -----------------------------------------------------------------------------------------


def lines(found: Values, width: int | None, *, full: bool = False) -> Iterator[str]:
    """What is odd, then a table, odd rows first; for a single tensor, everything.

    On one screen: tensors by their roles if there are more than fit, a histogram as one line; `full` has each.
    """
    if len(found.rows) == 1:
        yield from _whole(found.rows[0], width, full=full)
    else:
        above = [verdict(found), *(wrapped(line, width) for line in odd_lines(found)), ""]
        yield from above
        yield from _rows(found, width, None if full else HEIGHT - sum(text.count("\n") + 1 for text in above) - 4)
    yield ""
    yield f"{decimal(found.bytes_read)} of tensor data read"


def _rows(found: Values, width: int | None, room: int | None) -> Iterator[str]:
    """A table of the rows; at most `room` of them, and where the others are."""
    shown = by_role(found) if room is not None and len(found.rows) > room and found.by == "tensor" else found
    rows = sorted(shown.rows, key=lambda each: not _is_odd(each))[:room]
    yield _table(replace(shown, rows=tuple(rows)), width)
    if len(rows) < len(shown.rows):
        yield f"… {plural(len(shown.rows) - len(rows), 'more ' + shown.by)}: --full"
    elif shown is not found:
        yield f"each of the {plural(len(found.rows), 'tensor')}: --full"


def verdict(found: Values) -> str:
    """`damaged: NaN or infinity in 1 of 39 tensors`, `doubtful: nothing but zeros in …`, or `sound: …`."""
    odd = sum(_is_odd(each) for each in found.rows)
    what = plural(len(found.rows), found.by)
    if odd:
        return f"damaged: NaN or infinity in {integer(odd)} of {what}"
    if zero := sum(map(_is_zero, found.rows)):
        return f"doubtful: nothing but zeros in {integer(zero)} of {what}"
    return f"sound: all numbers of {what} are finite"


def odd_lines(found: Values) -> list[str]:
    """The rows with NaN, infinity, or nothing but zeros in a matrix, by their whole names."""
    odd = [
        f"  {_called(found, each)}: {_plain_counts(each.summary)} of {integer(each.elements)} numbers"
        for each in found.rows
        if _is_odd(each)
    ]
    zero = [
        f"  {_called(found, each)}: all {integer(each.elements)} numbers are zero"
        for each in found.rows
        if _is_zero(each)
    ]
    listed = [*odd, *zero]
    left = len(listed) - _MOST_ODD
    return [*listed[:_MOST_ODD], *([f"  … {integer(left)} more"] if left > 0 else [])]


def _called(found: Values, each: Row) -> str:
    return f"{'layer ' if found.by == 'layer' and each.name.isdigit() else ''}{escape(each.name)}"


#: The most rows that are named above the table.
_MOST_ODD = 8


def _is_odd(each: Row) -> bool:
    return bool(each.summary.nan or each.summary.inf)


def _is_zero(each: Row) -> bool:
    """Whether it is a matrix of nothing but zeros."""
    return len(each.shape or ()) > 1 and each.summary.zeros == each.summary.total > 0


def _plain_counts(summary: Summary) -> str:
    counts = ((summary.nan, "NaN"), (summary.inf, "infinite"))
    return ", ".join(f"{integer(number)} {what}" for number, what in counts if number)


def _table(found: Values, width: int | None) -> str:
    odd = any(map(_is_odd, found.rows))
    what = "dtype" if found.by == "tensor" else "tensors"
    headers = (found.by, what, "elements", *(("nan", "inf") if odd else ()), "zeros", "min", "max", "mean", "std", "")
    rows = [_cells(each, odd=odd) for each in found.rows]
    align = "ll" + "r" * (len(headers) - 3) + "l"
    if found.by != "tensor":
        align = "lr" + align[2:]
    last = len(headers) - 1
    least = 12 if width is None else least_width([row[0] for row in rows])
    numbers = ((at, GO) for at in range(last - 1, last - 5, -1))  # the deviation first, the least number last
    give = ((last, 8), (0, max(28, least)), (last, 0), (1, GO), (0, least), *numbers, (0, 12))
    return table(rows, headers, align, width=width, give=give, names=0)


def _cells(each: Row, *, odd: bool) -> tuple[str, ...]:
    summary = each.summary
    return (
        escape(each.name),
        _dtype(each) if each.shape is not None else integer(len(each.tensors)),
        integer(each.elements),
        *((integer(summary.nan), integer(summary.inf)) if odd else ()),
        _share(summary.zeros, summary.total),
        *(_number(value) for value in (summary.min, summary.max, summary.mean, summary.std)),
        sparkline(summary.histogram),
    )


def _dtype(each: Row) -> str:
    return escape(each.tensors[0].tensor.dtype, 16) + ("" if each.stored else ", unpacked")


def _share(part: int, whole: int) -> str:
    """`0`, `< 0.1 %`, `12.5 %`: none and few are distinguished."""
    if not part or not whole:
        return "0"
    return "< 0.1 %" if part * 1000 < whole else f"{part / whole * 100:.1f} %"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}".replace("-", "\N{MINUS SIGN}")


def sparkline(histogram: Histogram | None) -> str:
    """A histogram as a line of bars; a space for an empty bin."""
    if histogram is None:
        return ""
    most = max(histogram.counts) or 1
    return "".join(
        " " if not count else _BARS[min(count * len(_BARS) // most, len(_BARS) - 1)] for count in histogram.counts
    )


def _whole(each: Row, width: int | None, *, full: bool) -> Iterator[str]:
    """Everything about one tensor or group."""
    summary = each.summary
    shape = "" if each.shape is None else f"  {'×'.join(map(integer, each.shape)) or 'scalar'}"
    what = _dtype(each) if each.shape is not None else plural(len(each.tensors), "tensor")
    yield f"{escape(each.name)}  {what}{shape}"
    yield ""
    numbers = [("elements", integer(each.elements)), *_counts(summary)]
    numbers += [(name, _exact(getattr(summary, name))) for name in ("min", "max", "mean", "std")]
    numbers += [(f"{percent:g} %", _exact(value)) for percent, value in summary.percentiles.items()]
    yield table([row for row in numbers if row[1]], (), "lr")
    if summary.histogram is not None:
        yield ""
        yield from _bars(summary.histogram, width) if full else (sparkline(summary.histogram),)


def _counts(summary: Summary) -> Iterator[tuple[str, str]]:
    for name in ("nan", "inf", "zeros"):
        yield name, integer(getattr(summary, name))


def _exact(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}".replace("-", "\N{MINUS SIGN}")


def _bars(histogram: Histogram, width: int | None) -> Iterator[str]:
    """One bar per bin."""
    most = max(*histogram.counts, histogram.below, histogram.above, 1)
    room = _WIDEST_BAR if width is None else max(8, min(_WIDEST_BAR, width - 32))
    rows: list[Sequence[str]] = []
    if histogram.below:
        rows.append(("below", integer(histogram.below), _bar(histogram.below, most, room)))
    for edge, count in zip(histogram.edges, histogram.counts, strict=False):
        rows.append((_number(edge), integer(count), _bar(count, most, room)))
    if histogram.above:
        rows.append(("above", integer(histogram.above), _bar(histogram.above, most, room)))
    yield table(rows, ("from", "numbers", ""), "rrl")


def _bar(count: int, most: int, room: int) -> str:
    return "█" * (count * room // most) or ("▏" if count else "")


# --- the page ----------------------------------------------------------------------------------------

_FILTERED = ("dtype", "role", "group", "tower", "branch", "part", "dequantized")


#: Columns that are to the left of the others on a page.
_FIRST = ("name", "nan", "inf", "zeros", "min", "max", "mean", "std", "elements", "dtype", "shape")


def _ranked(found: Values) -> Rows:
    """The rows for a page: odd ones first, and their numbers beside the names."""
    every = rows(found)
    left = [column for name in _FIRST for column in every.columns if column.name == name]
    ranked = sorted(every.rows, key=lambda row: not (row["nan"] or row["inf"]))
    return Rows((*left, *(column for column in every.columns if column not in left)), ranked)


def page(found: Values) -> Page:
    """`inspect values TARGET --html FILE`: statistics of tensors or of groups of them."""
    from inspector.plots import values as charts  # for a page alone

    named = [line.strip() for line in odd_lines(found)]
    what = plural(len(found.rows), found.by)
    return Page(
        f"Values of {found.result.checkpoint.title}",
        verdict(found),
        (
            *([Section("Findings", [Findings(found.findings)])] if found.findings or not named else []),
            *([Section("By layer and role", [charts.by_place(found)])] if found.by == "tensor" else []),
            Section("Distribution of the numbers", [charts.histogram(found)]),
            Section("All numbers", [of_rows(what, _ranked(found), _FILTERED)]),
        ),
        (*named, f"{decimal(found.bytes_read)} of tensor data read"),
        "bad" if verdict(found).startswith("damaged") else "warning" if named else mood(found.findings),
    )
