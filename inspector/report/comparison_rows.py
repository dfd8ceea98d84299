"""Comparisons other than of two whole models, as rows: an adapter on its base, a merged adapter, three ways."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from inspector.comparing.attachment import Attachment
from inspector.comparing.diff import Three
from inspector.report import comparisons
from inspector.report.tables import Column, Rows

if TYPE_CHECKING:
    from inspector.comparing.effects import Effect

_KEY = (
    *(Column(name, "string") for name in ("role", "tower", "branch")),
    *(Column(name, "int64") for name in ("layer", "expert")),
    Column("part", "string"),
)
_SIDES = (("name", "string"), ("dtype", "string"), ("shape", "list<uint64>"))
#: Columns of an adapter on its base: `a_` is the weight that a tensor changes, `b_` the adapter's tensor.
ATTACHED = (
    Column("status", "string"),
    *_KEY,
    *(Column(f"{side}_{name}", kind) for side in "ab" for name, kind in _SIDES),
    Column("expected_shape", "list<uint64>"),
    Column("change", "double"),
)
#: Columns of the weights that an adapter changes, compared with an allegedly merged model.
MERGED = (
    *(*_KEY, Column("name", "string"), Column("change", "double"), Column("data", "string")),
    *(*(Column(name, "double") for name in ("max_abs", "relative")), Column("why", "string")),
)
#: Columns of a three-way comparison.
THREE = (
    *(*_KEY, Column("change", "string")),
    *(Column(f"{side}_{name}", "string") for side in "ab" for name in ("status", "data")),
)


def attached(result: Attachment, effects: Sequence[Effect] = ()) -> Rows:
    """One row per tensor of the adapter, with the weight that it changes; with `effects`, by how much."""
    changes = {each.base.tensor.name: each.relative for each in effects}
    rows = list[dict[str, Any]]()
    for told in comparisons.attachment_document(result)["tensors"]:
        weight = told["a"] or {"name": None}
        row = {f"a_{name}": weight.get(name) for name, _ in _SIDES} | {
            f"b_{name}": told["b"][name] for name, _ in _SIDES
        }
        rows.append({**told, **row, "change": changes.get(weight["name"])})
    return Rows(ATTACHED, rows)


def merged(effects: Sequence[Effect]) -> Rows:
    """One row per weight that an adapter changes, and how the merged model's weight agrees with it."""
    return Rows(MERGED, list(map(comparisons.effect, effects)))


def three(result: Three) -> Rows:
    """One row per tensor of the base."""
    told = comparisons.three_document(result)["tensors"]
    flat = ({f"{side}_{name}": each[side][name] for side in "ab" for name in ("status", "data")} for each in told)
    return Rows(THREE, [{**each, **sides} for each, sides in zip(told, flat, strict=True)])
