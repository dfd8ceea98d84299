"""The page of `inspect memory TARGET --html FILE`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from inspector.plots import cache_lines
from inspector.report import memory as report
from inspector.report.pages.parts import Column, Findings, Mood, Page, Section, Table, Text, of_rows
from inspector.report.words import public
from inspector.sizing.memory import Memory
from inspector.units import size

_MOODS: dict[bool | None, Mood] = {True: "good", False: "bad", None: "plain"}
_VERDICTS = {True: ": it fits", False: ": it does not fit", None: ""}


def page(result: Memory, swept: Sequence[Memory] = ()) -> Page:
    """The memory for running or training a model."""
    result = replace(result, model=result.model._replace(target=public(result.model.target)))
    return Page(
        f"Memory of {result.model.target}",
        f"{size(result.total)} in total{_VERDICTS[result.fits]}",
        list(_sections(result, swept)),
        (report.identity(result), *report.growth_lines(result)),
        _MOODS[result.fits],
    )


def _sections(result: Memory, swept: Sequence[Memory]) -> Iterator[Section]:
    terms = (Column("what"), Column("bytes", "number"), Column("size"), Column("type"))
    yield Section("Memory", [Table("Weights, cache, activations", terms, list(report.term_rows(result)))])
    if result.devices:
        rows = [report.device_row(each) for each in result.devices]
        yield Section("Devices", [Table("Contents of each device", _columns(report.DEVICE_HEADERS), rows)])
    yield Section("By context length", [cache_lines.chart(result)])
    if result.held:
        yield Section(
            "Cache", [Table("Cache per layer", _columns(report.HELD_HEADERS), list(report.held_rows(result)))]
        )
    if swept:
        yield Section(
            "Context lengths and cache types", [of_rows("In total", report.rows(swept), ("cache_dtype", "fits"))]
        )
    if result.training:
        told = Text([f"Assumed: {each}" for each in result.training.assumes])
        columns = _columns(("what", "bytes", "size", "how"))
        yield Section("Training", [Table("Per device", columns, report.training_rows(result.training)), told])
    assumed = Text([f"Assumed: {each}" for each in report.assumptions(result)])
    yield Section("Findings and assumptions", [Findings(result.findings), assumed])


def _columns(headers: Sequence[str]) -> list[Column]:
    numeric = ("bytes", "tokens", "longest context", "most sequences")
    return [Column(header, "number" if header in numeric else "text") for header in headers]
