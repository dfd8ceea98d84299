"""Shared by the readers: regions, findings, magic bytes, numbers."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from every import every
from in_memory import Bytes, described, keras, refused, zipped

from inspector import formats
from inspector.formats import decoding, training
from inspector.formats.findings import Findings
from inspector.formats.regions import around
from inspector.model import Finding, Region


@pytest.mark.parametrize(
    ("claimed", "regions"),
    [
        ([], [("rest", 0, 10)]),
        ([(0, 10)], [("tensors", 0, 10)]),
        ([(6, 8), (2, 4)], [("rest", 0, 2), ("tensors", 2, 4), ("rest", 4, 6), ("tensors", 6, 8), ("rest", 8, 10)]),
        ([(2, 6), (4, 8)], [("rest", 0, 2), ("tensors", 2, 6), ("tensors", 6, 8), ("rest", 8, 10)]),
        ([(2, 6), (3, 5)], [("rest", 0, 2), ("tensors", 2, 6), ("rest", 6, 10)]),
        ([(8, 20), (30, 40)], [("rest", 0, 8), ("tensors", 8, 10)]),
        ([(2, 2), (0, 1)], [("tensors", 0, 1), ("rest", 1, 10)]),
    ],
)
def test_regions_around_tensors(claimed: list[tuple[int, int]], regions: list[tuple[str, int, int]]) -> None:
    assert around(claimed, 10, "rest") == tuple(Region(*each) for each in regions)
    assert around([], 3) == (Region("header", 0, 3),)


def test_findings_are_counted() -> None:
    findings = Findings("m")
    for number in range(22):
        findings.add("hole", "error", str(number), "t")
    findings.add("hole", "info", "x")
    reported = findings.all()
    assert reported[:20] == tuple(Finding("hole", "error", str(number), "m", "t") for number in range(20))
    assert reported[20:] == (
        Finding("hole", "info", "x", "m"),
        Finding("hole", "error", "2 more findings of this kind", "m"),
    )


@every(
    ("raw", "rule", "what"),
    [
        (b"", "empty-file", "is empty: the download never began, or the disk was full"),
        (b"abc", "truncated", "has 3 bytes: too short for a weight file"),
        (b"version https://git-lfs.x", "lfs-pointer", "is a git-LFS pointer, not the weights: run `git lfs pull` in its folder"),
        (b"\xef\xbb\xbf \n<HTML><body>", "html-page", "is an HTML page, not weights: the download got a web page; download it again"),
        (b'{"error": "x"}', "json-document", "is a JSON document, not weights: for a configuration use `inspect predict`"),
        (b"\x1f\x8b\x08\0\0\0\0\0\0\0", "not-weights", "is gzip-compressed: unpack it first"),
        (b"nothing but text", "not-weights", "is a text file, not weights"),
        (b"\x89HDF\r\n\x1a\n12345", "not-weights", "is an HDF5 file (Keras), not safetensors or GGUF: give it HDF5's suffix to read it"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_weights_is_named_for_what_it_is(raw: bytes, rule: str, what: str) -> None:
    assert refused(formats.read, raw, "a\n.safetensors") == (rule, f"P {what}")


def test_the_length_of_a_header_that_fits_is_no_other_formats_first_bytes() -> None:
    """559,903 begins with gzip's bytes; if as many bytes follow, it is a damaged header and no gzip."""
    length = int.from_bytes(b"\x1f\x8b\x08", "little")
    assert length == 559_903
    _, stated = refused(formats.read, length.to_bytes(8, "little") + b"x" * length, "a.safetensors")
    assert "gzip" not in stated


def test_the_first_bytes_decide() -> None:
    """A plausible header is not a web page, and each framework's file goes to its own reader."""
    for name, raw, kind in (
        ("a.npy", described() + bytes(12), "numpy"),
        ("a.bin", described() + bytes(12), "numpy"),
        ("a.npz", zipped({"a.npy": described() + bytes(12)}), "numpy"),
        ("a.msgpack", b"\x81\1\1", "flax"),
        ("a.msgpack", b"\xde\0\1\1\1", "flax"),
        ("a.h5", keras(lambda file: file.create_dataset("a", data=np.zeros(1, "<f4"))), "hdf5"),
    ):
        assert formats.read(Bytes(raw), name).format == kind
    header = b'{"a": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]}}   '
    assert formats.read(Bytes((63).to_bytes(8, "little") + header + b"x"), "a").format == "safetensors"


@every(
    ("name", "is_state", "kind"),
    [
        ("model.layers.0.weight", False, ""),
        ("optimizer.state.0.exp_avg", True, "exp_avg"),
        ("optimizer.0.exp_avg.7", True, "exp_avg"),
        ("optimizer_weights.adam.dense_kernel_momentum", True, ""),  # Keras' .h5
        ("ema.layers.0.weight", True, "averaged weights (EMA)"),
        ("state.0.exp_avg", True, "exp_avg"),
        ("app.optimizer.state.a.step", True, "step"),
        ("app.module.state.a.step", False, "step"),
        ("app.state.optimizer.step", False, "step"),
        ("state.exp_avg", False, "exp_avg"),
        ("state.0.weight", False, ""),
        ("optimizer.single_partition_of_fp32_groups.0", True, "master weights"),
        ("exp_avg.state", False, ""),
        ("0", False, ""),
    ],
)
def test_state_of_training(name: str, is_state: bool, kind: str) -> None:
    assert (training.is_state(name), training.kind_of(name)) == (is_state, kind)


def test_numbers_of_small_floats() -> None:
    """The formula of each format's own specification, for every bit pattern."""
    for dtype, exponent, mantissa, bias in (
        ("F8_E4M3", 4, 3, 7),
        ("F8_E5M2", 5, 2, 15),
        ("F6_E2M3", 2, 3, 1),
        ("F4", 2, 1, 1),
    ):
        values = decoding.table(dtype)
        for bits in range(1 << (1 + exponent + mantissa)):
            sign = -1.0 if bits >> (exponent + mantissa) else 1.0
            power, part = bits >> mantissa & (1 << exponent) - 1, bits & (1 << mantissa) - 1
            value = sign * (
                part / 2**mantissa * 2.0 ** (1 - bias)
                if not power
                else (1 + part / 2**mantissa) * 2.0 ** (power - bias)
            )
            if dtype == "F8_E5M2" and power == 31:
                value = float("nan") if part else sign * float("inf")
            if dtype == "F8_E4M3" and power == 15 and part == 7:
                value = float("nan")
            assert np.array_equal(values[bits], np.float32(value), equal_nan=True), (dtype, bits)
    assert np.isnan(decoding.table("F8_E4M3FNUZ")[128])
    assert decoding.table("F8_E4M3FNUZ")[0x40] == 1.0
    assert decoding.table("F8_E8M0")[[0, 127, 254]].tolist() == [2.0**-127, 1.0, 2.0**127]
    assert np.isnan(decoding.table("F8_E8M0")[255])


@every(
    ("dtype", "data", "values", "kind"),
    [
        ("BF16", b"\x80\x3f\x00\xc0", [1.0, -2.0], "f4"),
        ("F16", b"\x00\x3c", [1.0], "f4"),
        ("I64", (-5).to_bytes(8, "little", signed=True), [-5.0], "f8"),
        ("I32", (-5).to_bytes(4, "little", signed=True), [-5.0], "f8"),
        ("U32", b"\1\0\0\0", [1.0], "f8"),
        ("F64", struct.pack("<d", 0.1), [0.1], "f8"),
        ("F32", struct.pack("<f", 0.5), [0.5], "f4"),
        ("U8", b"\xff", [255.0], "f4"),
        ("C64", struct.pack("<2f", 1, 2), [1.0, 2.0], "f4"),
        ("C128", struct.pack("<2d", 1, 2), [1.0, 2.0], "f8"),
        ("F4", b"\x21\x0f", [0.5, 1.0, -6.0, 0.0], "f4"),
        ("F6_E2M3", bytes((0b01000001, 0x10, 0x04)), [0.125, 0.125, 0.125, 0.125], "f4"),
        ("F8_E5M2", b"\x3c", [1.0], "f4"),
    ],
)
def test_numbers_from_bytes(dtype: str, data: bytes, values: list[float], kind: str) -> None:
    found = decoding.decoded(data, dtype)
    assert (found.tolist(), found.dtype) == (values, np.dtype(kind))
    assert decoding.is_known(dtype)


def test_widths() -> None:
    assert [decoding.width(each) for each in ("BF16", "F8_E8M0", "F8_E4M3", "F64", "C64", "F4", "F6_E2M3", "BOOL")] == [
        2,
        1,
        1,
        8,
        8,
        1,
        3,
        1,
    ]
    assert [decoding.has_patterns(each) for each in ("BF16", "F16", "F32", "F4", "C32", "I8", "odd")] == [
        True,
        True,
        False,
        False,
        False,
        True,
        False,
    ]
    assert decoding.patterns("F16").size == 65536
    assert decoding.patterns("I8")[255] == -1
    assert decoding.decoded(b"\x3f\x80", "BF16", big=True).tolist() == [1.0]
    assert decoding.decoded(b"\0\1", "U16", big=True).tolist() == [1.0]
    assert decoding.nibbles(np.array([[0x21], [0x43]], "u1")).tolist() == [[1, 2], [3, 4]]
    assert not decoding.is_known("Q4_0")


@every(
    ("name", "dtype", "shape", "is_data"),
    [
        ("spiece_model", "U8", (1000,), True),
        ("spiece_model", "F16", (1000,), False),
        ("encoder.block.0.weight", "U8", (1000,), False),
        ("best_val_loss", "F32", (), True),
        ("best_val_loss", "F32", (2,), False),
        ("logit_scale", "F32", (), False),
        ("model.steps", "I64", (1,), True),
        ("steps", "I64", (2,), False),
        ("done", "BOOL", (), True),
        ("alpha", "BF16", (1,), False),
    ],
)
def test_data_beside_weights(name: str, dtype: str, shape: tuple[int, ...], *, is_data: bool) -> None:
    assert training.is_data(name, dtype, shape) is is_data
