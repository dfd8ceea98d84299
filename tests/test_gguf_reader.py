"""The GGUF reader against the `gguf` package's own, and against bytes written from the specification."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
import real
from every import every
from gguf_bytes import ARRAY, BOOL, FLOAT32, FLOAT64, INT8, INT64, STRING, UINT16, UINT32, UINT64, Array, Info, Recipe

from inspector.errors import FormatError
from inspector.formats import ggml as ggml_types
from inspector.formats import read as read_any
from inspector.formats.gguf.values import KeyValues
from inspector.model import Header
from inspector.sources.local import LocalFile


def read(path: Path) -> Header:
    header = read_any(LocalFile(path), path.name)
    assert [r.start for r in header.regions[1:]] == [r.end for r in header.regions[:-1]]
    assert header.regions[0].start == 0 and header.regions[-1].end == header.size
    return header


def written(path: Path, recipe: Recipe) -> Header:
    path.write_bytes(recipe.file())
    return read(path)


#: Where the published package is outdated or wrong. ggml's own `type_traits` have a Q8_1 of two halves and 32 bytes.
AHEAD = {9: ("Q8_1", 32, 36), 42: ("Q2_0", 64, 18)}
ITS_TYPES = {kind: sizes for kind, sizes in gguf.GGML_QUANT_SIZES.items() if int(kind) not in AHEAD}


def regions(header: Header) -> list[tuple[str, int]]:
    return [(region.label, region.size) for region in header.regions]


def rules(header: Header) -> set[str]:
    return {finding.rule for finding in header.findings}


def same(ours: Any, theirs: Any) -> bool:
    """Whether both are equal, with NaN equal to itself."""
    if isinstance(ours, list):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    return ours == theirs or (isinstance(ours, float) and math.isnan(ours) and math.isnan(theirs))


def compare(path: Path) -> Header:
    """Read a file with both readers; every key-value and every tensor must agree."""
    header = read(path)
    theirs = gguf.GGUFReader(path)
    keys = {key: value for key, value in theirs.fields.items() if not key.startswith("GGUF.")}
    assert list(header.metadata) == list(keys)
    for key, field in keys.items():
        assert isinstance(header.metadata, KeyValues)
        if header.metadata.fields[key].item != ARRAY:  # the package flattens arrays of arrays
            assert same(header.metadata[key], field.contents()), key
    assert [(t.name, t.dtype, t.shape, t.offset, t.nbytes) for t in header.tensors] == [
        (t.name, t.tensor_type.name, tuple(int(d) for d in reversed(t.shape)), t.data_offset, t.n_bytes)
        for t in theirs.tensors
    ]
    return header


@every("alignment", [8, 32, 64, 4096])
@every("endian", list(gguf.GGUFEndian))
def test_agrees_with_the_package_on_what_its_writer_writes(
    tmp_path: Path, alignment: int, endian: gguf.GGUFEndian
) -> None:
    """Every value type and every tensor type, at several alignments and both byte orders."""
    path = tmp_path / "all.gguf"
    writer = gguf.GGUFWriter(path, "llama", endianess=endian)
    writer.add_custom_alignment(alignment)
    for value_type in gguf.GGUFValueType:
        if value_type not in (gguf.GGUFValueType.ARRAY, gguf.GGUFValueType.STRING, gguf.GGUFValueType.BOOL):
            writer.add_key_value(f"test.{value_type.name}", 100, value_type)
    for name, value in (("inf", math.inf), ("nan", math.nan)):
        writer.add_float64(f"test.{name}", value)
    writer.add_bool("test.true", True)
    writer.add_string("test.text", "naïve 日本 \x1b[31m\n")
    writer.add_array("test.strings", ["", "a", "日本"])
    writer.add_array("test.floats", [0.5, -1.0])
    writer.add_array("test.bools", [True, False])
    writer.add_array("test.bytes", bytes(range(256)))
    nested = [[1, 2], [3], [-4, 5, 6]]
    writer.add_array("test.nested", nested)
    for value_type in (gguf.GGUFValueType.UINT16, gguf.GGUFValueType.INT64, gguf.GGUFValueType.FLOAT64):
        writer.add_key_value(f"test.array.{value_type.name}", [1, 2, 300], gguf.GGUFValueType.ARRAY, value_type)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numpy warns about the byte order that it is asked for
        for kind, (_, size) in ITS_TYPES.items():
            raw = np.zeros((3, 2 * size), dtype=np.uint8)
            writer.add_tensor(f"{kind.name}.weight", raw, raw_dtype=kind, tensor_endianess=endian)
        writer.add_tensor("scalar", np.zeros((1,), dtype=np.float32), tensor_endianess=endian)
        writer.add_tensor("four", np.zeros((2, 3, 5, 7), dtype=np.float16), tensor_endianess=endian)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
    writer.close()
    header = compare(path)
    assert len(header.tensors) == len(ITS_TYPES) + 2
    assert header.metadata["test.nested"] == nested
    assert rules(header) - {"big-endian"} == {"nested-array"}
    assert ("big-endian" in rules(header)) == (endian == gguf.GGUFEndian.BIG)


@pytest.mark.parametrize(
    "path", [each for each in real.files("gguf/*.gguf") if each.stat().st_size > 100], ids=lambda path: path.stem
)
def test_agrees_with_the_package_on_real_files(path: Path) -> None:
    """Real vocabularies, and a model where one is available; the six-byte fragment is an error elsewhere."""
    assert compare(path).findings == ()


def test_reads_no_more_than_the_header(tmp_path: Path) -> None:
    """The bytes counted as read are those before the padding."""
    recipe = Recipe(infos=[Info("a", [32])], data=bytes(128))
    (tmp_path / "a.gguf").write_bytes(recipe.file())
    source = LocalFile(tmp_path / "a.gguf")
    read_any(source, "a.gguf")
    assert source.bytes_read == len(recipe.header())


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("version", [1, 2, 3])
def test_versions_and_byte_orders(tmp_path: Path, version: int, order: str) -> None:
    """Version 1 has 32-bit counts, lengths and dimensions; a big-endian file has the same magic."""
    recipe = Recipe(
        version,
        order,
        pairs=[
            ("general.architecture", STRING, "llama"),
            ("tokenizer.ggml.tokens", ARRAY, Array(STRING, ["<s>", "", "日"])),
            ("tokenizer.ggml.scores", ARRAY, Array(FLOAT32, [0.5, -2.0, 0.0])),
            ("llama.block_count", UINT32, 7),
            ("x.big", UINT64, 2**63 + 1),
            ("x.small", INT64, -5),
            ("x.half", FLOAT64, 0.5),
        ],
        infos=[Info("token_embd.weight", [64, 3], 2, 0), Info("output_norm.weight", [5], 0, 128)],
        data=bytes(128 + 20),
    )
    header = written(tmp_path / "v.gguf", recipe)
    assert dict(header.metadata) == {
        "general.architecture": "llama",
        "tokenizer.ggml.tokens": ["<s>", "", "日"],
        "tokenizer.ggml.scores": [0.5, -2.0, 0.0],
        "llama.block_count": 7,
        "x.big": 2**63 + 1,
        "x.small": -5,
        "x.half": 0.5,
    }
    start = -(-len(recipe.header()) // 32) * 32
    assert [tuple(t) for t in header.tensors] == [
        ("token_embd.weight", "Q4_0", (3, 64), start, 108),
        ("output_norm.weight", "F32", (5,), start + 128, 20),
    ]
    assert rules(header) == {
        rule for rule, stated in (("old-version", version == 1), ("big-endian", order == ">")) if stated
    }


def test_regions_separate_the_tokenizer_from_other_key_values(tmp_path: Path) -> None:
    recipe = Recipe(
        pairs=[
            ("a", UINT16, 1),
            ("b", BOOL, 1),
            ("tokenizer.x", INT8, 1),
            ("tokenizer.y", STRING, "yy"),
            ("c", INT8, 0),
        ],
        infos=[Info("t", [3])],
        data=bytes(32),
    )
    header = written(tmp_path / "r.gguf", recipe)
    table = len(recipe.header()) - 24 - (8 + 1 + 4 + 2) - (8 + 1 + 4 + 1) - (24) - (33) - (14)
    assert regions(header) == [
        ("header", 24),
        ("metadata", 15 + 14),
        ("tokenizer", (8 + 11 + 4 + 1) + (8 + 11 + 4 + 8 + 2)),
        ("metadata", 14),
        ("tensor table", table),
        ("padding", -len(recipe.header()) % 32),
        ("tensors", 12),
        ("padding", 20),
    ]


def test_values_are_decoded_when_asked_for(tmp_path: Path) -> None:
    """A view of the key-values knows types and counts of arrays without decoding them."""
    pairs = [
        ("n", ARRAY, Array(ARRAY, [Array(UINT16, [1, 2]), Array(UINT16, []), Array(STRING, ["x"])])),
        ("s", STRING, "héllo"),
        ("t", STRING, b"\xff\x00"),
    ]
    header = written(tmp_path / "v.gguf", Recipe(pairs=pairs))
    metadata = header.metadata
    assert isinstance(metadata, KeyValues)
    assert metadata.fields["n"].type_name == "array[array]" and metadata.fields["n"].items == 3
    assert metadata["n"] == [[1, 2], [], ["x"]]
    assert metadata["s"] == "héllo" and metadata.text_of("s", 1) == ("h", 6)
    assert metadata["t"] == "\\xff\x00"
    assert rules(header) == {"nested-array"}
    with pytest.raises(KeyError):
        metadata["absent"]


def test_a_vocabulary_has_no_tensors_and_may_be_padded(tmp_path: Path) -> None:
    """llama.cpp adds nothing after the key-values, gguf-py pads."""
    recipe = Recipe(pairs=[("a", UINT32, 1)])
    bare = written(tmp_path / "bare.gguf", recipe)
    assert regions(bare) == [("header", 24), ("metadata", 17)]
    (tmp_path / "padded.gguf").write_bytes(recipe.file() + bytes(23))
    padded = read(tmp_path / "padded.gguf")
    assert regions(padded) == [("header", 24), ("metadata", 17), ("padding", 23)] and padded.findings == ()


def test_an_unknown_type_takes_its_bytes_from_the_next_offset(tmp_path: Path) -> None:
    """Its name is its number, and each unknown type is reported once, with its likely origin and its size."""
    infos = [Info("a", [256], 133, 0), Info("b", [8], 0, 160), Info("c", [256], 36, 192), Info("d", [0], 133, 224)]
    header = written(tmp_path / "fork.gguf", Recipe(infos=infos, data=bytes(192 + 50)))
    assert [(t.dtype, t.nbytes) for t in header.tensors] == [("133", 160), ("F32", 32), ("36", 32), ("133", 18)]
    assert [(f.rule, f.tensor) for f in header.findings] == [("unknown-type", "a"), ("unknown-type", "c")]
    assert header.findings[0].message.startswith("2 tensors of type 133, which is newer than this version, or")
    assert header.findings[1].message.startswith("1 tensor of type 36, which is removed from ggml, or from a fork")


def test_types_are_the_packages() -> None:
    """The table in the project is that of the installed `gguf`, and what llama.cpp adds to it."""
    theirs = {int(kind): (kind.name, *sizes) for kind, sizes in gguf.GGML_QUANT_SIZES.items()}
    assert {kind: row[:3] for kind, row in ggml_types.TYPES.items()} == theirs | AHEAD
    assert all(row.nbytes * 8 >= row.bits * row.block for row in ggml_types.TYPES.values())
    names = {int(kind): kind.name.removeprefix("MOSTLY_").removeprefix("ALL_") for kind in gguf.LlamaFileType}
    assert names | {41: "Q2_0"} == ggml_types.FILE_TYPES


def test_overlap_is_seen_behind_a_nested_tensor(tmp_path: Path) -> None:
    """`c` begins within `a`, though `b`, which lies before it, has ended."""
    infos = [Info("a", [64]), Info("b", [8], offset=32), Info("c", [8], offset=128)]
    header = written(tmp_path / "model.gguf", Recipe(infos=infos, data=bytes(256)))
    assert [finding.tensor for finding in header.findings if finding.rule == "overlap"] == ["b", "c"]


def test_a_count_that_the_file_cannot_hold_is_refused_before_it_is_read(tmp_path: Path) -> None:
    """60 bytes have room for 5 lengths of names, but not for 5 tensors of at least 24 bytes."""
    path = tmp_path / "model.gguf"
    counts = (5).to_bytes(8, "little") + bytes(8)
    path.write_bytes(b"GGUF" + (3).to_bytes(4, "little") + counts + bytes(60))
    with pytest.raises(FormatError, match="claims 5 tensors"):
        read(path)


@pytest.mark.parametrize(("depth", "fine"), [(1, True), (8, True), (9, False)])
def test_arrays_in_arrays_are_bounded(tmp_path: Path, depth: int, fine: bool) -> None:
    value: Any = Array(INT8, [1])
    for _ in range(depth - 1):
        value = Array(ARRAY, [value])
    recipe = Recipe(pairs=[("nested", ARRAY, value)])
    path = tmp_path / "model.gguf"
    path.write_bytes(recipe.file())
    if fine:
        read(path)
    else:
        with pytest.raises(FormatError, match="nests arrays more than 8 deep"):
            read(path)
