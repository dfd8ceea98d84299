"""HDF5 as Keras writes it, and archives of it."""

from __future__ import annotations

import io
import zipfile

import h5py
import numpy as np
import pytest
from in_memory import Bytes, keras, refused, zipped

from inspector import formats
from inspector.errors import FormatError
from inspector.formats import hdf5
from inspector.model import Header


def read(raw: bytes, path: str = "x.h5") -> Header:
    return hdf5.read(Bytes(raw), path)


def test_datasets_of_every_kind() -> None:
    def write(file: h5py.File) -> None:
        file["g/kernel:0"] = np.arange(6, dtype="<f4").reshape(2, 3)
        file["g/deep/b"] = np.arange(2, dtype="<i8")
        file["big"] = np.arange(2, dtype=">f8")
        file["flags"] = np.array([True, False])
        file["complex"] = np.zeros(2, "<c8")
        file["text"] = "not numbers"
        file.create_dataset("never", (4, 2), "<f2")
        file.create_dataset("nothing", (0,), "<f2")
        file.create_dataset("chunks", (4, 6), "u1", np.zeros((4, 6), "u1"), chunks=(2, 3))
        file["again"] = file["g"]

    raw = keras(write)
    header = read(raw)
    found = {each.name: (each.dtype, each.shape, each.nbytes) for each in header.tensors}
    assert found == {
        "g.kernel": ("F32", (2, 3), 24), "g.deep.b": ("I64", (2,), 16), "big": ("F64", (2,), 16), "flags": ("BOOL", (2,), 2),
        "complex": ("C64", (2,), 16), "never": ("F16", (4, 2), 0), "nothing": ("F16", (0,), 0), "chunks": ("U8", (4, 6), 24),
    } or found == {  # the group by its other name
        **{name.replace("g.", "again."): own for name, own in found.items()}
    }  # fmt: skip
    at = next(each for each in header.tensors if each.dtype == "I64").offset
    assert raw[at : at + 16] == np.arange(2, dtype="<i8").tobytes()
    assert {(each.rule, each.severity, each.message, each.path, each.tensor) for each in header.findings} == {
        ("big-endian", "info", "its numbers are big-endian", "x.h5", "big"),
        ("storage", "warning", "8 elements that were never written", "x.h5", "never"),
        ("view", "info", "stored in chunks of 2×3", "x.h5", "chunks"),
    }
    assert header.bytes_in("tensors") == sum(each.nbytes for each in header.tensors)
    assert (header.path, header.format, header.size) == ("x.h5", "hdf5", len(raw))
    never = next(each for each in header.tensors if each.name == "never")
    assert (never.offset, never.nbytes) == (0, 0)


@pytest.mark.parametrize("block", [512, 4096])
def test_a_block_of_the_user_s_own_comes_first(block: int) -> None:
    """h5py writes the superblock after it; a cut is found as without one."""
    held = io.BytesIO()
    with h5py.File(held, "w", userblock_size=block) as file:
        file["g/kernel:0"] = np.arange(6, dtype="<f4").reshape(2, 3)
    raw = b"mine" + held.getvalue()[4:]
    header = formats.read(Bytes(raw), "x.h5")
    (found,) = header.tensors
    assert raw[found.offset : found.offset + 24] == np.arange(6, dtype="<f4").tobytes()
    assert (header.format, [*header.findings]) == ("hdf5", [])
    assert sum(each.size for each in header.regions) == len(raw)
    with pytest.raises(FormatError) as damage:
        hdf5.read(Bytes(raw[:-100]), "x.h5")
    assert damage.value.rule == "truncated"


def test_numbers_in_other_files() -> None:
    def write(file: h5py.File) -> None:
        file["away"] = h5py.ExternalLink("other.h5", "/x")
        file.create_dataset("raw", (4,), "<f4", external=[("raw.bin", 0, 16)])

    header = read(keras(write))
    assert [(each.name, each.shape, each.nbytes, each.offset) for each in header.tensors] == [("raw", (4,), 0, 0)]
    assert [(each.rule, each.severity, each.message, each.tensor) for each in header.findings] == [
        ("index-path", "warning", "a link to 'other.h5': not followed", "away"),
        ("index-path", "warning", "its numbers are in 'raw.bin': not read", "raw"),
    ]


def test_weights_within_an_archive() -> None:
    inner = keras(lambda file: file.create_dataset("a", data=np.arange(3, dtype="<f4")))
    raw = zipped({"config.json": b"{}", "model.weights.h5": inner})
    header = read(raw, "x.keras")
    (tensor,) = header.tensors
    assert raw[tensor.offset : tensor.offset + 12] == np.arange(3, dtype="<f4").tobytes()
    assert {region.label for region in header.regions} == {"archive", "tensors"}
    assert refused(hdf5.read, zipped({"config.json": b"{}"})) == (
        "not-weights",
        "P has no uncompressed model.weights.h5",
    )
    packed = zipped({"model.weights.h5": inner}, zipfile.ZIP_DEFLATED)
    assert refused(hdf5.read, packed) == ("not-weights", "P has no uncompressed model.weights.h5")
    missing = "its list of members is missing: the file is truncated, or not a ZIP archive"
    assert refused(hdf5.read, b"PK\3\4") == ("truncated", f"P begins as a ZIP archive, and {missing}")
    rule, message = refused(hdf5.read, inner[:600])
    assert (rule, message[:30]) == ("truncated", "P cannot be read as HDF5: Unab")


def test_reads_across_blocks_return_the_files_bytes() -> None:
    """Reads of several blocks, of which the last is shorter."""
    raw = bytes(range(251)) * 800
    reader = hdf5._PartOfFile(Bytes(b"head" + raw + b"tail"), 4, len(raw))
    reader.seek(100)
    assert reader.read(190_000) == raw[100:190_100]
    assert reader.tell() == 190_100
    assert reader.seek(-5, io.SEEK_END) == len(raw) - 5
    assert reader.seek(1, io.SEEK_CUR) == len(raw) - 4
    assert (reader.read(9), reader.read(9)) == (raw[-4:], b"")
    assert (reader.readable(), reader.seekable()) == (True, True)


def test_more_datasets_than_any_model_has(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = keras(lambda file: [file.create_dataset(name, data=np.zeros(1, "<f4")) for name in "abc"])
    monkeypatch.setattr(hdf5, "MAX_DATASETS", 3)
    assert len(read(raw).tensors) == 3
    monkeypatch.setattr(hdf5, "MAX_DATASETS", 2)
    what = "P cannot be read as HDF5: more datasets than any model has"
    assert refused(hdf5.read, raw) == ("unreadable-file", what)


def test_an_hdf5_file_across_blocks() -> None:
    """A file larger than one read, with objects on either side of each boundary."""
    raw = keras(lambda file: [file.create_dataset(f"d{at}", data=np.full(9000, at, "<f8")) for at in range(9)])
    header = read(raw)
    assert len(header.tensors) == 9
    for each in header.tensors:
        assert raw[each.offset :][:8] == np.array(float(each.name[1:]), "<f8").tobytes()
