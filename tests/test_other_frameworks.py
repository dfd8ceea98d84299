"""NumPy's, Flax's and HDF5's files are read, from headers alone, as their own libraries write them."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import msgpack
import numpy as np
import pytest

import inspector
from inspector.errors import FormatError, InspectorError
from inspector.model import Header

ARRAYS: dict[str, Any] = {
    "double": np.arange(6.0).reshape(2, 3),
    "single": np.ones((4,), np.float32),
    "half": np.zeros((2, 2), np.float16),
    "columns": np.asfortranarray(np.arange(12, dtype=np.int16).reshape(3, 4)),
    "scalar": np.array(7, np.int64),
    "empty": np.empty((0, 5), np.float32),
    "truths": np.array([True, False]),
    "complex": np.ones(2, np.complex64),
    "bytes": np.arange(3, dtype=np.uint8),
}
WORDS = {
    "float64": "F64",
    "float32": "F32",
    "float16": "F16",
    "int16": "I16",
    "int64": "I64",
    "bool": "BOOL",
    "complex64": "C64",
    "uint8": "U8",
}


def opened(path: Path) -> Header:
    """The header of the only file, whose regions partition it."""
    (header,) = inspector.open(path).files
    assert [region.end for region in header.regions[:-1]] == [region.start for region in header.regions[1:]]
    assert (header.regions[0].start, header.regions[-1].end) == (0, header.size)
    return header


def rows(header: Header) -> set[tuple[str, str, tuple[int, ...]]]:
    return {(each.name, each.dtype, each.shape) for each in header.tensors}


EXPECTED = {(name, WORDS[array.dtype.name], array.shape) for name, array in ARRAYS.items()}


def in_order(header: Header, data: bytes, name: str) -> bytes:
    """A tensor's elements by its offset and strides."""
    at, tensor = next((at, each) for at, each in enumerate(header.tensors) if each.name == name)
    array = ARRAYS[name]
    strides = [step * array.itemsize for step in header.strides[at]] if at in header.strides else None
    return bytes(np.ndarray(tensor.shape, array.dtype, data, tensor.offset, strides).tobytes())


# --- NumPy ----------------------------------------------------------------------------------------


def test_npz(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", **ARRAYS)
    header = opened(tmp_path / "x.npz")
    assert (header.format, rows(header)) == ("numpy", EXPECTED)
    data = (tmp_path / "x.npz").read_bytes()
    assert all(in_order(header, data, name) == array.tobytes() for name, array in ARRAYS.items())
    assert header.bytes_in("tensors") == sum(array.nbytes for array in ARRAYS.values())


def test_compressed_npz(tmp_path: Path) -> None:
    """Shapes and dtypes from the first bytes of each; the size is that in the archive."""
    np.savez_compressed(tmp_path / "x.npz", **ARRAYS)
    header = opened(tmp_path / "x.npz")
    assert rows(header) == EXPECTED
    assert header.bytes_in("tensors") < header.size


def test_npy_and_byte_order(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", ARRAYS["double"].astype(">f8"))
    header = opened(tmp_path / "x.npy")
    assert rows(header) == {("x", "F64", (2, 3))}
    assert [finding.rule for finding in header.findings] == ["big-endian"]


def test_objects_and_records_are_counted(tmp_path: Path) -> None:
    """Pickled objects are reported and not opened; the other arrays are read."""
    np.savez(tmp_path / "x.npz", a=np.array([{}], object), b=np.zeros(2, [("x", "f4")]), c=np.ones(3))
    header = opened(tmp_path / "x.npz")
    assert rows(header) == {("c", "F64", (3,))}
    assert ["objects" in each.message or "records" in each.message for each in header.findings] == [True, True]


@pytest.mark.parametrize("cut", [1, 7, 40, 130, -100, -1])
def test_cut_off_arrays(cut: int, tmp_path: Path) -> None:
    """An archive that ends too soon is an error; an array is a finding."""
    np.savez(tmp_path / "x.npz", **ARRAYS)
    np.save(tmp_path / "y.npy", ARRAYS["double"])
    for name in ("x.npz", "y.npy"):
        path = tmp_path / name
        path.write_bytes(path.read_bytes()[:cut])
        try:
            header = opened(path)
        except InspectorError as error:
            assert "\n" not in str(error)
        else:
            assert "error" in {finding.severity for finding in header.findings}


# --- Flax -----------------------------------------------------------------------------------------


def packed(value: Any) -> Any:
    """Pack arrays as flax/serialization.py does."""
    if isinstance(value, np.ndarray):
        parts = (list(value.shape), value.dtype.name, value.tobytes("C"))
        return msgpack.ExtType(1, msgpack.packb(parts, use_bin_type=True))
    raise TypeError(value)


def test_flax(tmp_path: Path) -> None:
    """A tree of arrays, with other values between them."""
    tree = {
        "params": {"dense": ARRAYS, "step": 3, "name": "x" * 300, "list": [1, ARRAYS["half"]], "none": None, "f": 0.5}
    }
    (tmp_path / "flax_model.msgpack").write_bytes(msgpack.packb(tree, default=packed, strict_types=True))
    header = opened(tmp_path / "flax_model.msgpack")
    expected = {(f"params.dense.{name}", dtype, shape) for name, dtype, shape in EXPECTED}
    assert (header.format, rows(header)) == ("flax", expected | {("params.list.1", "F16", (2, 2))})
    data = (tmp_path / "flax_model.msgpack").read_bytes()
    for tensor in header.tensors[: len(ARRAYS)]:
        assert data[tensor.offset : tensor.offset + tensor.nbytes] == ARRAYS[tensor.name.rpartition(".")[2]].tobytes(
            "C"
        )


def test_flax_cuts_long_arrays(tmp_path: Path) -> None:
    """Chunks become one array again: its shape, and the bytes of both."""
    whole = np.arange(10, dtype=np.float32).reshape(5, 2)
    cut = {
        "__msgpack_chunked_array__": True,
        "shape": {"0": 5, "1": 2},
        "chunks": {"0": whole.ravel()[:6], "1": whole.ravel()[6:]},
    }
    (tmp_path / "x.msgpack").write_bytes(
        msgpack.packb({"big": cut, "b": np.ones(1)}, default=packed, strict_types=True)
    )
    result = inspector.reconcile(inspector.open(tmp_path / "x.msgpack"))
    assert [(each.tensor.name, each.tensor.shape, each.tensor.nbytes) for each in result.tensors] == [
        ("big", (5, 2), 40),
        ("b", (1,), 8),
    ]


def test_other_messages_are_refused(tmp_path: Path) -> None:
    """MessagePack that is cut off, nested too deep, or not Flax's: one clear line."""
    sound = msgpack.packb({"a": np.ones(4)}, default=packed, strict_types=True)
    cases = (sound[:-3], b"\x81\xa1a" * 5000, b"\x81\xa1a\xc1", b"\xdf\xff\xff\xff\xff", b"\x81\xa1a\xc7\x04\x01abcd")
    for number, raw in enumerate(cases):
        (tmp_path / f"{number}.msgpack").write_bytes(raw)
        with pytest.raises(FormatError, match="MessagePack"):
            inspector.open(tmp_path / f"{number}.msgpack")


# --- HDF5 -----------------------------------------------------------------------------------------


def keras(file: h5py.File) -> None:
    """Save as Keras does: groups by layer, numbered weights."""
    file.attrs["keras_version"] = "2.15.0"
    for name, array in ARRAYS.items():
        file.create_dataset(f"model_weights/dense/{name}:0", data=array)


def test_hdf5(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "model.h5", "w") as file:
        keras(file)
    header = opened(tmp_path / "model.h5")
    assert (header.format, rows(header)) == (
        "hdf5",
        {(f"model_weights.dense.{name}", *rest) for name, *rest in EXPECTED},
    )
    data = (tmp_path / "model.h5").read_bytes()
    for tensor in header.tensors:
        array = ARRAYS[tensor.name.rpartition(".")[2]]
        assert data[tensor.offset : tensor.offset + tensor.nbytes] == array.tobytes("C") or not array.size


def test_keras_archives(tmp_path: Path) -> None:
    """The weights lie in the archive uncompressed: their offsets are the archive's."""
    with h5py.File(tmp_path / "w.h5", "w") as file:
        keras(file)
    with zipfile.ZipFile(tmp_path / "model.keras", "w") as archive:
        archive.writestr("config.json", "{}")
        archive.write(tmp_path / "w.h5", "model.weights.h5")
    header = opened(tmp_path / "model.keras")
    data = (tmp_path / "model.keras").read_bytes()
    (double,) = (each for each in header.tensors if each.name.endswith("double"))
    assert data[double.offset : double.offset + double.nbytes] == ARRAYS["double"].tobytes()


def test_hdf5_reaches_no_other_file(tmp_path: Path) -> None:
    """Chunks are counted; links and external storage are reported and not followed."""
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["secret"] = np.ones(5)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("chunked", data=np.ones((100, 10)), chunks=(10, 10), compression="gzip")
        file["linked"] = h5py.ExternalLink(str(tmp_path / "other.h5"), "/secret")
        file.create_dataset("outside", (4,), "f4", external=[(str(tmp_path / "raw.bin"), 0, 16)])
    header = opened(tmp_path / "x.h5")
    assert rows(header) == {("chunked", "F64", (100, 10)), ("outside", "F32", (4,))}
    assert {finding.tensor for finding in header.findings if finding.rule == "index-path"} == {"linked", "outside"}
    assert header.bytes_in("tensors") == header.tensors[0].nbytes < 8000


def test_damaged_hdf5(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "model.h5", "w") as file:
        keras(file)
    raw = (tmp_path / "model.h5").read_bytes()
    for cut in (8, 100, 1000, len(raw) // 2):
        (tmp_path / "cut.h5").write_bytes(raw[:cut])
        with pytest.raises(FormatError, match="HDF5"):
            inspector.open(tmp_path / "cut.h5")


def test_without_h5py(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line says what to install."""
    (tmp_path / "x.h5").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))
    monkeypatch.setitem(__import__("sys").modules, "h5py", None)
    with pytest.raises(InspectorError, match=r"to read it, `.+ install .*'h5py>=3.10'`"):
        inspector.open(tmp_path / "x.h5")


# --- folders --------------------------------------------------------------------------------------


@pytest.mark.parametrize("write", [
    lambda path: np.savez(path / "model.npz", a=np.ones(3)),
    lambda path: (path / "flax_model.msgpack").write_bytes(msgpack.packb({"a": np.ones(3)}, default=packed, strict_types=True)),
    lambda path: h5py.File(path / "tf_model.h5", "w").create_dataset("a", data=np.ones(3)).file.close(),
], ids=["numpy", "flax", "hdf5"])  # fmt: skip
def test_taken_where_there_is_nothing_else(write: Callable[[Path], object], tmp_path: Path) -> None:
    write(tmp_path)
    result = inspector.reconcile(inspector.open(tmp_path))
    assert (result.logical, result.checkpoint.files[0].tensors[0].name) == (3, "a")
    start = result.nominal.bytes if result.nominal else result.predicted or 0
    assert start + sum(step.bytes for step in result.steps) + result.unexplained_bytes == result.on_disk
