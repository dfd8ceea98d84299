"""`inspect tensors`: every tensor, or a selection."""

from __future__ import annotations

from typing import Any

import click

from inspector.cli import console, terminal
from inspector.cli import forms as rows
from inspector.cli.options import choosing_options, form_options, opening_options, wide_option

_SORTS: dict[str, Any] = {
    "file": lambda _: 0,
    "name": lambda each: each.tensor.name,
    "size": lambda each: -each.tensor.nbytes,
    "parameters": lambda each: -each.parameters,
    "dtype": lambda each: (each.tensor.dtype, each.tensor.name),
    "shape": lambda each: (each.tensor.shape, each.tensor.name),
    "offset": lambda each: (each.file, each.tensor.offset),
    "layer": lambda each: (-1 if each.key.layer is None else each.key.layer, each.tensor.name),
    "role": lambda each: (each.key.role, each.key.layer or 0),
}


@click.command(short_help="Every tensor, or a selection.")
@opening_options
@click.argument("target", type=click.Path())
@click.argument("pattern", required=False)
@choosing_options
@click.option("--sort", type=click.Choice(list(_SORTS)), default="file", help="Order; by default the file's own.")
@click.option("--reverse", is_flag=True, help="Reverse the order.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N.")
@wide_option
@form_options
def tensors(
    target: str,
    pattern: str | None,
    roles: tuple[str, ...],
    groups: tuple[str, ...],
    towers: tuple[str, ...],
    dtypes: tuple[str, ...],
    layers: str | None,
    sort: str,
    reverse: bool,
    limit: int | None,
    wide: bool,
    forms: tuple[str, ...],
    parquet: str | None,
    **opening: Any,
) -> None:
    """Every tensor: name, file, shape, dtype, bytes, offset and role.

    PATTERN is a glob over whole names ("*.q_proj.*"), a part of a name, a role, a group or a dtype.
    """
    from inspector.bridge.filters import Filter, select

    form = rows.asked(forms, parquet)
    result = console.reconciled(target, **opening)
    found = select(result.tensors, Filter(pattern, roles, groups, towers, dtypes, layers))
    if sort != "file":
        found.sort(key=_SORTS[sort])
    found = (found[::-1] if reverse else found)[:limit]
    if form is None:
        from inspector.report import text

        console.print_lines(text.tensors(found, terminal.screen(wide=wide).width), wide=wide)
        return
    from inspector.report import documents, tables

    told = tables.Rows(tables.TENSORS, [documents.tensor(each) for each in found])
    if form == "json":
        console.print_json({"schema": documents.SCHEMA, "target": target, "tensors": told.rows})
    else:
        rows.show(told, form, parquet)
