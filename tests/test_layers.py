"""The view by layer: layers that are alike share a letter, and the differences of the others are shown."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import inspector
from inspector.bridge.breakdown import Strip, by_layer
from inspector.units import ranges

Made = Callable[[str], Path]


def strip(folder: Path) -> Strip:
    (only,) = by_layer(inspector.reconcile(inspector.open(folder)).tensors)
    return only


def test_equal_layers_are_of_one_kind(made: Made) -> None:
    """32 layers of a Llama are alike, and their bytes sum to those of all layers."""
    result = inspector.reconcile(inspector.open(made("llama-7b")))
    (only,) = by_layer(result.tensors)
    assert only.letters == "A" * 32
    assert sum(each.bytes for each in only.layers) == sum(
        each.tensor.nbytes for each in result.tensors if each.key.layer is not None
    )


def test_dense_first_layers_stand_out(made: Made) -> None:
    """DeepSeek-V3: three dense layers, 58 with experts, and the one that predicts further tokens."""
    only = strip(made("deepseek-v3-fp8"))
    assert only.letters == "A" * 3 + "B" * 58 + "C"
    assert "no router" in only.kinds[0].differs
    assert only.kinds[1].differs == ()
    assert sum(each.parameters for each in only.layers[:61]) == 671_026_404_352 - 2 * 129_280 * 7_168 - 7_168


def test_the_command_shows_the_strip(made: Made, inspect: Callable[..., Any]) -> None:
    """`--layers` in text has the letters; in JSON a row for each layer, whose dtypes sum to its bytes."""
    ran = inspect(made("llama-3.1-8b-nf4"), "--layers")
    assert "A" * 32 in ran.out
    rows = inspect(made("llama-3.1-8b-nf4"), "--layers", "--json").json["layers"]
    assert [row["layer"] for row in rows] == list(range(32))
    assert all(sum(row["dtypes"].values()) == row["bytes"] for row in rows)


def test_ranges_are_abbreviated() -> None:
    """Runs of numbers with a dash, single ones alone."""
    assert ranges([0, 1, 2, 5, 7, 8]) == "0–2, 5, 7–8"
    assert ranges([]) == ""
