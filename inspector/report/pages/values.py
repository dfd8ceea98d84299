"""The page of `inspect values TARGET --html FILE`."""

from __future__ import annotations

from inspector.measuring.values import Values
from inspector.plots import value_bars, value_map
from inspector.report import values as report
from inspector.report.pages.overview import mood
from inspector.report.pages.parts import Findings, Page, Section, of_rows
from inspector.units import decimal, integer, plural

_FILTERED = ("dtype", "role", "group", "tower", "branch", "part", "dequantized")


def page(found: Values) -> Page:
    """Statistics of tensors or of groups of them."""
    nan, infinite = (sum(getattr(row.summary, what) for row in found.rows) for what in ("nan", "inf"))
    what = plural(len(found.rows), {"tensor": "tensor", "role": "role", "layer": "layer"}[found.by])
    odd = f"{integer(nan)} NaN, {integer(infinite)} infinite" if nan or infinite else "all numbers finite"
    return Page(
        f"Values of {found.result.checkpoint.title}",
        f"{what}: {odd}",
        (
            Section("Findings", [Findings(found.findings)]),
            *([Section("By layer and role", [value_map.chart(found)])] if found.by == "tensor" else []),
            Section("Distribution of the numbers", [value_bars.chart(found)]),
            Section("All numbers", [of_rows(what, report.rows(found), _FILTERED)]),
        ),
        (f"{decimal(found.bytes_read)} of tensor data read",),
        "warning" if nan or infinite else mood(found.findings),
    )
