"""The page of `inspect diff A B --html FILE`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from inspector.comparing.diff import Diff
from inspector.plots import difference_map
from inspector.report import diff as report
from inspector.report.pages.parts import Column, Page, Part, Report, Section, Table, of_rows
from inspector.units import plural

_FILTERED = ("status", "role", "tower", "branch", "part", "a_dtype", "b_dtype", "data", "transform")


def page(result: Diff, more: Sequence[str] = ()) -> Page:
    """The differences, with every pair of tensors.

    Args:
        more: lines for further requests: ranks, parents.
    """
    names = [each.checkpoint.title for each in (result.a, result.b)]
    return Page(
        " → ".join(names),
        report.verdict(result),
        list(_sections(result, more)),
        mood="warning" if result.differs else "good",
    )


def _sections(result: Diff, more: Sequence[str]) -> Iterator[Section]:
    sides = (Column(""), Column("target"), Column("family"), Column("parameters"), Column("bits"), Column("size"))
    both: list[Part] = [
        Table(
            "Both sides", sides, [(mark, *report.identity(each)) for mark, each in (("a", result.a), ("b", result.b))]
        )
    ]
    if result.config:
        rows = [(each.field, report.field_value(each.a), report.field_value(each.b)) for each in result.config]
        both.append(Table("Configuration fields that differ", (Column("field"), Column("a"), Column("b")), rows))
    others = [(each.what, each.status, each.detail) for each in result.beside if each.status != "same"]
    if others:
        both.append(
            Table("Other differences", (Column("what"), Column("status", filtered=True), Column("detail")), others)
        )
    yield Section("What is compared", both)
    yield Section("By layer and role", [difference_map.chart(result)])
    if more:
        yield Section("Where b comes from", [Report("\n".join(more))])
    yield Section("In short", [Report("\n".join(report.lines(result)))])
    yield Section("Tensors", [of_rows(plural(len(result.pairs), "pair"), report.rows(result), _FILTERED)])


def text_page(title: str, lines: Sequence[str], *, differs: bool) -> Page:
    """The page of an adapter on its base, or of three ways: as shown on a terminal."""
    *report_lines, verdict = [line for line in lines if line] or [""]
    return Page(
        title,
        verdict,
        [Section("What differs", [Report("\n".join(report_lines))])],
        mood="warning" if differs else "good",
    )
