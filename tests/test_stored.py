"""The numbers of stored tensors: each dtype by its definition, whatever the file and the pieces that are read."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
from every import every
from hostile.torch_files import STRIDED, torch_zip

import inspector
from inspector.errors import InspectorError
from inspector.formats import decoding
from inspector.formats.ggml import TYPES
from inspector.measuring.stored import Stored

Entry = tuple[str, Sequence[int], bytes]


def safetensors(path: Path, tensors: dict[str, Entry]) -> Path:
    """A file of tensors: dtype, shape and bytes."""
    header: dict[str, Any] = {}
    data = b""
    for name, (dtype, shape, raw) in tensors.items():
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    return path


def numbers(path: Path, elements: int = 1 << 20) -> dict[str, list[float]]:
    """Every tensor's values, read in pieces."""
    checkpoint = inspector.open(path)
    with closing(Stored(checkpoint)) as data:
        return {
            tensor.name: [float(x) for chunk in data.chunks(tensor, header.path, elements) for x in chunk.values]
            for header in checkpoint.files
            for tensor in header.tensors
        }


#: dtype → patterns of its bits and their numbers, worked out from the definitions: the largest finite number, the
#: smallest above zero, infinities and NaN.
PATTERNS: dict[str, dict[int, float]] = {
    "F8_E4M3": {0x00: 0.0, 0x38: 1.0, 0xB8: -1.0, 0x7E: 448.0, 0x01: 2**-9, 0x08: 2**-6, 0x7F: np.nan, 0xFF: np.nan},
    "F8_E5M2": {0x3C: 1.0, 0x7B: 57344.0, 0x01: 2**-16, 0x7C: np.inf, 0xFC: -np.inf, 0x7D: np.nan},
    "F8_E4M3FNUZ": {0x40: 1.0, 0x7F: 240.0, 0x01: 2**-10, 0x80: np.nan},
    "F8_E5M2FNUZ": {0x40: 1.0, 0x7F: 57344.0, 0x01: 2**-17, 0x80: np.nan},
    "F8_E8M0": {0: 2**-127, 127: 1.0, 254: 2.0**127, 255: np.nan},
    "BF16": {0x3F80: 1.0, 0xC040: -3.0, 0x0001: 2**-133, 0x7F80: np.inf, 0xFFC0: np.nan},
    "F16": {0x3C00: 1.0, 0x7BFF: 65504.0, 0x0001: 2**-24, 0xFC00: -np.inf, 0x7E00: np.nan},
    "F32": {0x3F800000: 1.0, 0x00000001: 2**-149, 0xFF800000: -np.inf},
    "F64": {0x3FF0000000000000: 1.0, 0x0000000000000001: 2**-1074},
    "I8": {0xFF: -1, 0x80: -128},
    "U8": {0xFF: 255},
    "I16": {0xFFFF: -1, 0x7FFF: 32767},
    "U16": {0xFFFF: 65535},
    "I32": {0xFFFFFFFF: -1, 0x7FFFFFFF: 2**31 - 1},
    "U32": {0xFFFFFFFF: 2**32 - 1},
    "I64": {0xFFFFFFFFFFFFFFFF: -1, 1 << 53: 2**53},
    "U64": {1 << 63: 2.0**63},
    "BOOL": {1: 1, 0: 0},
}


@every("dtype", PATTERNS)
def test_each_pattern_stands_for_its_number(dtype: str, tmp_path: Path) -> None:
    """Bits become numbers as in the formats' specifications."""
    width = decoding.width(dtype)
    raw = b"".join(bits.to_bytes(width, "little") for bits in PATTERNS[dtype])
    path = safetensors(tmp_path / "model.safetensors", {"x": (dtype, [len(PATTERNS[dtype])], raw)})
    assert numbers(path)["x"] == pytest.approx(list(PATTERNS[dtype].values()), rel=0, abs=0, nan_ok=True)


def test_every_dtype_of_safetensors_is_known() -> None:
    """Each dtype of the format has a definition."""
    from inspector.formats.safetensors.dtypes import DTYPE_BITS

    for dtype, bits in DTYPE_BITS.items():
        assert decoding.is_known(dtype)
        elements = decoding.UNITS[dtype][0] if dtype in decoding.UNITS else 1
        assert decoding.width(dtype) * 8 == bits * elements


def test_small_floats_share_bytes(tmp_path: Path) -> None:
    """4 bits: the lower half first; 6 bits: four numbers in three bytes, from the lowest bits on."""
    six = 1 | 2 << 6 | 31 << 12 | 63 << 18
    tensors: dict[str, Entry] = {
        "four": ("F4", [4], bytes([0x21, 0xF7])),
        "fine": ("F6_E2M3", [4], six.to_bytes(3, "little")),
        "wide": ("F6_E3M2", [4], six.to_bytes(3, "little")),
    }
    found = numbers(safetensors(tmp_path / "model.safetensors", tensors), elements=1)
    assert found["four"] == [0.5, 1.0, 6.0, -6.0]
    assert found["fine"] == [0.125, 0.25, 7.5, -7.5]
    assert found["wide"] == [0.0625, 0.125, 28.0, -28.0]


def test_complex_numbers_are_pairs(tmp_path: Path) -> None:
    """Real and imaginary part, one after the other."""
    raw = np.array([1 + 2j, -3 - 4j], np.complex64).tobytes()
    path = safetensors(tmp_path / "model.safetensors", {"x": ("C64", [2], raw)})
    assert numbers(path, elements=1)["x"] == [1, 2, -3, -4]


def test_any_part_of_a_tensor_can_be_read(tmp_path: Path) -> None:
    """From any element to any other, also across blocks; the bytes read are counted."""
    values = np.arange(100, dtype=np.float32)
    path = safetensors(tmp_path / "model.safetensors", {"x": ("F32", [10, 10], values.tobytes())})
    checkpoint = inspector.open(path)
    tensor = checkpoint.files[0].tensors[0]
    with closing(Stored(checkpoint)) as data:
        assert data.values(tensor, "model.safetensors", 37, 41).tolist() == [37, 38, 39, 40]
        assert data.bytes_read == 16
        assert data.values(tensor, "model.safetensors", 98, 200).tolist() == [98, 99]
        assert data.values(tensor, "model.safetensors", 5, 5).tolist() == []


#: Types that the `gguf` package dequantizes, and plain ones.
_TRAITS = {kind.name for kind in gguf.quants._type_traits}
BLOCKS = sorted(kind.name for kind in TYPES.values() if kind.block > 1 and kind.name in _TRAITS)


@every("name", BLOCKS)
def test_blocks_are_those_of_the_gguf_package(name: str, tmp_path: Path) -> None:
    """The numbers are the same in one piece and in many, and from the middle of a block."""
    kind = gguf.GGMLQuantizationType[name]
    block, size = gguf.GGML_QUANT_SIZES[kind]
    raw = np.random.default_rng(7).integers(0, 64, (4, 3 * size), dtype=np.uint8)
    writer = gguf.GGUFWriter(tmp_path / "x.gguf", "llama")
    writer.add_tensor("output.weight", raw, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    expected = gguf.quants.dequantize(raw, kind).reshape(-1)
    checkpoint = inspector.open(tmp_path / "x.gguf")
    tensor = checkpoint.files[0].tensors[0]
    assert tensor.elements == len(expected) == 12 * block
    with closing(Stored(checkpoint)) as data:
        pieces = list(data.chunks(tensor, "x.gguf", block + 1))
        assert [piece.start for piece in pieces] == [0, 2 * block, 4 * block, 6 * block, 8 * block, 10 * block]
        np.testing.assert_array_equal(np.concatenate([piece.values for piece in pieces]), expected)
        np.testing.assert_array_equal(data.values(tensor, "x.gguf", 5, block + 7), expected[5 : block + 7])
        assert b"".join(piece.raw for piece in pieces) == raw.tobytes()


def test_views_of_pytorch_come_in_the_order_of_their_shape(tmp_path: Path) -> None:
    """A 4 by 3 matrix that is stored as its transpose, and a part of a storage."""
    (tmp_path / "pytorch_model.bin").write_bytes(torch_zip(STRIDED))
    found = numbers(tmp_path / "pytorch_model.bin", elements=5)
    stored = np.frombuffer(bytes(range(48)), "<f4")
    assert found["a"] == [float(stored[4 * column + row]) for row in range(4) for column in range(3)]
    assert len(found["b"]) == 2


def test_numpys_own_files_come_in_the_order_of_their_shape(tmp_path: Path) -> None:
    """Fortran's order, and big-endian numbers beside others in one archive."""
    values = np.arange(12, dtype="<f4").reshape(3, 4)
    np.savez(tmp_path / "w.npz", a=np.asfortranarray(values), b=values.astype(">f4"), c=values)
    found = numbers(tmp_path / "w.npz", elements=5)
    assert found == {name: list(range(12)) for name in "abc"}


@pytest.mark.parametrize(
    ("entry", "message"),
    [(("F32", [4], b"\0" * 12), "12 bytes"), (("X9", [4], b"\0" * 16), "X9")],
    ids=["too few bytes", "unknown dtype"],
)
def test_an_unreadable_tensor_is_one_error(entry: Entry, message: str, tmp_path: Path) -> None:
    """The tensor and its numbers are in one line."""
    path = safetensors(tmp_path / "model.safetensors", {"x": entry})
    with pytest.raises(InspectorError, match=message):
        numbers(path)
