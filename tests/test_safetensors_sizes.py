"""Bytes of shapes, and the division of a file's bytes: alignment, holes, overlaps, lengths."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import write
from every import every

from inspector.errors import FormatError
from inspector.formats import safetensors
from inspector.formats.safetensors.dtypes import expected_bytes, overflows
from inspector.model import Header
from inspector.sources.local import LocalFile


@every(
    ("dtype", "shape", "expected"),
    [
        ("U8", (), 1),
        ("F64", (2, 3), 48),
        ("F4", (3,), None),
        ("F4", (4,), 2),
        ("F6_E2M3", (4,), 3),
        ("U8", (0, 2**63), 0),
        ("U8", (2**63, 2), None),
        ("U8", (2**61 - 1,), 2**61 - 1),
        ("U8", (2**61,), None),
        ("U8", (2**64, 0), None),
        ("U8", (-1,), None),
        ("U8", (True,), None),
        ("U8", (1.0,), None),
        ("Q4", (1,), None),
    ],
)
def test_bytes_of_a_shape(dtype: str, shape: tuple[Any, ...], expected: int | None) -> None:
    """The size must fit into 64 bits, also when it is counted in bits."""
    assert expected_bytes(dtype, shape) == expected


def test_where_a_product_overflows() -> None:
    assert [overflows(shape) for shape in [(), (2**64 - 1,), (2**64,), (2**32, 2**32), (0, 2**64), (2**32, 2**31)]] == [
        False, False, True, True, True, False,
    ]  # fmt: skip


def file(path: Path, table: Any, data: int) -> Header:
    source = LocalFile(write(path / "a", table, data))
    try:
        return safetensors.read(source, "a")
    finally:
        source.close()


def plain(begin: int, end: int, shape: list[int], dtype: str = "U8") -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def test_tensors_that_are_not_aligned_are_counted(tmp_path: Path) -> None:
    """Empty tensors have no place; if the data and all sizes are multiples of 8, every tensor is aligned."""
    name = "n" * (8 - (len(json.dumps({"": plain(0, 8, [8])}, separators=(",", ":"))) % 8))
    assert file(tmp_path, {name: plain(0, 8, [8])}, 8).findings == ()
    pad = {
        "a": plain(0, 1, [1]),
        "b": plain(1, 5, [1], "F32"),
        "c": plain(5, 9, [1], "F32"),
        "d": plain(9, 9, [0], "F32"),
    }
    text = json.dumps(pad)
    header = write(tmp_path / "b", None, 9, raw=text.encode() + b" " * (-len(text) % 8))
    (found,) = safetensors.read(LocalFile(header), "b").findings
    assert (found.rule, found.severity, found.message) == (
        "misaligned",
        "info",
        "2 tensors not aligned to the size of an element",
    )


def test_a_file_that_ends_within_a_hole(tmp_path: Path) -> None:
    """The hole is cut off with the file: the missing bytes are reported once."""
    header = file(tmp_path, {"a": plain(0, 4, [4]), "b": plain(8, 12, [4])}, 4)
    assert [each.rule for each in header.findings] == ["truncated"]
    header = file(tmp_path, {"a": plain(0, 4, [4]), "b": plain(8, 12, [4])}, 5)
    assert [each.rule for each in header.findings] == ["hole", "truncated"]
    start = header.regions[1].end
    assert [(each.label, each.start - start, each.end - start) for each in header.regions[2:]] == [
        ("tensors", 0, 4),
        ("hole", 4, 5),
    ]


def test_holes_that_touch_are_one_region(tmp_path: Path) -> None:
    """They are one even with an empty tensor between them, before which two bytes are unclaimed."""
    header = file(tmp_path, {"a": plain(0, 4, [4]), "b": plain(6, 6, [0]), "c": plain(8, 9, [1])}, 9)
    assert [(each.rule, each.message, each.tensor) for each in header.findings] == [
        ("hole", "2 bytes before it belong to no tensor", "b"),
        ("hole", "2 bytes before it belong to no tensor", "c"),
    ]
    assert [(each.label, each.size) for each in header.regions[2:]] == [("tensors", 4), ("hole", 4), ("tensors", 1)]


def test_overlaps_and_holes_in_turn(tmp_path: Path) -> None:
    table = {
        "a": plain(0, 6, [6]),
        "b": plain(2, 4, [2]),
        "c": plain(8, 9, [1]),
        "d": plain(9, 12, [3]),
        "e": plain(14, 15, [1]),
    }
    header = file(tmp_path, table, 15)
    assert [(each.rule, each.message, each.tensor) for each in header.findings] == [
        ("overlap", "shares 2 bytes with the tensor before it", "b"),
        ("hole", "2 bytes before it belong to no tensor", "c"),
        ("hole", "2 bytes before it belong to no tensor", "e"),
    ]
    start = header.regions[1].end
    assert [(each.label, each.start - start, each.end - start) for each in header.regions] == [
        ("length", -start, 8 - start),
        ("header", 8 - start, 0),
        ("tensors", 0, 6),
        ("hole", 6, 8),
        ("tensors", 8, 12),
        ("hole", 12, 14),
        ("tensors", 14, 15),
    ]


@pytest.mark.parametrize(
    ("length", "message", "rule"),
    [
        (
            100_000_001,
            "a: its first 8 bytes give a header of 100,000,001 bytes, over the format's limit of 100,000,000: "
            "not a safetensors file, or a damaged one",
            "header-size",
        ),
        (
            3,
            "a: its first 8 bytes give a header of 3 bytes, but the file has only 10: "
            "a truncated download, or not a safetensors file",
            "truncated",
        ),
    ],
)
def test_lengths_that_are_none(tmp_path: Path, length: int, message: str, rule: str) -> None:
    path = tmp_path / "a"
    path.write_bytes(length.to_bytes(8, "little") + b"{}")
    with pytest.raises(FormatError) as raised:
        safetensors.read(LocalFile(path), "a")
    assert (str(raised.value), raised.value.rule) == (message, rule)
