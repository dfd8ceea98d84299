"""Archives of PyTorch record by record: its own kinds, the tensors that programs describe, and findings on damage."""

from __future__ import annotations

import json
from collections.abc import Mapping
from io import BytesIO
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import pytest
from every import every
from hostile.torch_files import PLAIN, Saved, state, torch_zip

from inspector.errors import FormatError
from inspector.formats import zips
from inspector.formats.findings import Findings
from inspector.formats.pytorch import archive
from inspector.formats.pytorch.layout import Found
from inspector.formats.pytorch.reader import is_pytorch
from inspector.formats.zips import Member, Read

Reported = list[tuple[str, str, str]]


def reads(data: bytes) -> Read:
    return lambda start, length: data[start : start + length]


def zipped(records: Mapping[str, bytes], *packed: str) -> bytes:
    """An archive in which some records are compressed."""
    out = BytesIO()
    with ZipFile(out, "w") as file:
        for name, data in records.items():
            file.writestr(name, data, ZIP_DEFLATED if name in packed else ZIP_STORED)
    return out.getvalue()


def read(data: bytes) -> tuple[Found, Reported]:
    findings = Findings("a.pt")
    found = archive.read(reads(data), len(data), "a.pt", findings)
    return found, [(each.rule, each.severity, each.message) for each in findings.all()]


def listed(found: Found) -> list[tuple[str, str, tuple[int, ...], str | None]]:
    return [(view.name, view.dtype, view.shape, view.storage) for view in found.views]


# --- kinds ----------------------------------------------------------------------------------------


@every(
    ("name", "known"),
    [
        ("data.pkl", True),
        ("x/data.pkl", True),
        ("x/y/data.pkl", True),
        ("x/mydata.pkl", False),
        ("x/data.pkl/0", False),
        ("x/data/weights/m_weights_config.json", True),
        ("x/data/constants/m_constants_config.json", True),
        ("x/config.json", False),
        ("serialized_state_dict.pt", True),
        ("x/serialized_constants.pt", True),
        ("serialized_exported_program.json", False),
    ],
)
def test_which_archives_are_pytorchs(name: str, known: bool) -> None:
    data = zipped({"readme.txt": b"", name: b""})
    assert archive.is_known([Member(name, 0, False, 0, 0, 0)]) is known
    assert is_pytorch(reads(data), len(data)) is known


def rejected(data: bytes) -> tuple[str, str]:
    with pytest.raises(FormatError) as raised:
        read(data)
    return str(raised.value), raised.value.rule


def test_archives_that_cannot_be_read() -> None:
    sound = torch_zip(PLAIN)
    cut = "a.pt begins as a ZIP archive, PyTorch's or another, and its list of members is missing: the file is truncated, or not a ZIP archive"
    assert rejected(sound[:-30]) == (cut, "truncated")
    other = "a.pt is a ZIP archive, but not PyTorch's: it has no data.pkl"
    assert rejected(zipped({"a": b""})) == (other, "not-weights")
    assert rejected(zipped({"data.pkl": b"\x80\x02}"})) == (
        "a.pt: its pickle cannot be followed: it has no end",
        "unreadable-file",
    )
    assert rejected(zipped({"data.pkl": b"\x80\x02X\xff\0\0\0a"})) == (
        "a.pt: its pickle cannot be followed: it ends in the middle of a value",
        "truncated",
    )
    data = zipped({"x/data.pkl": state(PLAIN)})
    gone = "a.pt: its data.pkl cannot be read: a member is not where the list says"
    assert rejected(b"PK\3\5" + data[4:]) == (gone, "unreadable-file")


def test_the_byte_order() -> None:
    """Big-endian numbers are reported, little-endian ones are not; a record that cannot be unpacked is, too."""
    big = "its numbers are big-endian: PyTorch swaps their bytes when it loads them"
    for order, reported in (
        (b"big", [("big-endian", "info", big)]),
        (b"big\n", [("big-endian", "info", big)]),
        (b"little", []),
    ):
        assert read(zipped({"x/data.pkl": state({}), "x/byteorder": order}))[1] == reported
    assert read(zipped({"x/data.pkl": state({}), "y/byteorder": b"big"}))[1] == []
    data = zipped({"x/data.pkl": state({}), "x/byteorder": b"big" * 9}, "x/byteorder")
    at = data.index(b"x/byteorder") + len("x/byteorder")
    spoilt = data[:at] + b"\xff" + data[at + 1 :]
    unread = "its record of the byte order cannot be read: a member cannot be unpacked"
    assert read(spoilt)[1] == [("unreadable-file", "error", unread)]


def test_pickles_that_are_compressed_or_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """A compressed one is unpacked, a large one is read in pieces that are no longer than the rest of it."""
    for packed in ((), ("x/data.pkl",)):
        found, reported = read(
            zipped({"x/data.pkl": state(PLAIN), "x/data/0": bytes(48), "x/data/1": bytes(10)}, *packed)
        )
        assert listed(found) == [("a.weight", "F32", (3, 4), "0"), ("b.weight", "F16", (5,), "1")]
        assert reported == []
    pickled = state(PLAIN)
    data = zipped({"x/data.pkl": pickled, "x/data/0": bytes(48), "x/data/1": bytes(10)})
    whole = read(data)[0]
    monkeypatch.setattr(archive, "MAX_PICKLE", 10)
    asked: list[tuple[int, int]] = []

    def noted(start: int, length: int) -> bytes:
        asked.append((start, length))
        return data[start : start + length]

    start = data.index(pickled)
    in_pieces = archive.read(noted, len(data), "a.pt", Findings("a.pt"))
    assert in_pieces.views == whole.views
    assert (start, len(pickled)) in asked  # 4,096 bytes at first, and no more than there are


def test_constants_of_a_script() -> None:
    """They are beside the weights, under a name of their own; not if there are no records of them."""
    constants = state({"0": Saved((2,), "0")})
    records = {"x/data.pkl": state(PLAIN), "x/data/0": bytes(48), "x/data/1": bytes(10), "x/constants.pkl": constants}
    found, reported = read(zipped({**records, "x/constants/0": bytes(8)}))
    assert listed(found)[2:] == [("constants.0", "F32", (2,), "constants/0")]
    assert {key: each.size for key, each in found.storages.items()} == {"0": 48, "1": 10, "constants/0": 8}
    assert reported == []
    assert len(read(zipped(records))[0].views) == 2
    damaged = {**records, "x/constants.pkl": constants[:-1], "x/constants/0": bytes(8)}
    assert rejected(zipped(damaged))[0] == "a.pt: its pickle cannot be followed: it has no end"
    data = zipped({**records, "x/constants/0": bytes(8)})
    at = data.index(b"x/constants.pkl") - 30
    assert rejected(data[:at] + b"XX" + data[at + 2 :])[0] == (
        "a.pt: its constants.pkl cannot be read: a member is not where the list says"
    )


def test_a_package() -> None:
    """torch.package keeps all storages in one folder, for pickles anywhere and for TorchScript (torch 2.13)."""
    module = state({"b": Saved((2,), "1.storage")})
    records = {
        "p/.data/0.storage": bytes(24),
        "p/.data/1.storage": bytes(8),
        "p/model/model.pkl": state({"a": Saved((2, 3), "0")}),
        "p/model/code.py": b"\x80",
        "p/.data/ts_code/0/data.pkl": module,
        "p/.data/extern_modules": b"torch\n",
    }
    found, stated = read(zipped(records))
    assert listed(found) == [
        ("model.model.a", "F32", (2, 3), "0.storage"),
        (".data.ts_code.0.data.b", "F32", (2,), "1.storage"),
    ]
    assert ({key: each.size for key, each in found.storages.items()}, stated) == ({"0.storage": 24, "1.storage": 8}, [])


def test_a_compressed_storage_is_reported() -> None:
    """Of the weights and of the constants, and in a nested archive."""
    what = ("pickled-object", "info", "a compressed storage: PyTorch's writer never compresses them")
    records = {"x/data.pkl": state(PLAIN), "x/data/0": bytes(48), "x/data/1": bytes(10)}
    inner = zipped(records, "x/data/0")
    assert read(inner)[1] == [what]
    assert read(zipped({"serialized_state_dict.pt": inner}))[1] == [what]
    constants = {**records, "x/constants.pkl": state({"0": Saved((2,), "0")}), "x/constants/0": bytes(8)}
    assert read(zipped(constants, "x/constants/0"))[1] == [what]
    assert read(program({"a": described("weight_0")}, weight_0=bytes(24)))[1] == []


# --- programs -------------------------------------------------------------------------------------


def numbers(*values: int) -> list[dict[str, int]]:
    return [{"as_int": value} for value in values]


def described(
    path: str, sizes: Any = (2, 3), strides: Any = (3, 1), *, dtype: Any = 7, offset: Any = None
) -> dict[str, Any]:
    """As in `torch/_export/serde/schema.py`; 7 is float32."""
    meta = {
        "dtype": dtype,
        "sizes": numbers(*sizes) if isinstance(sizes, tuple) else sizes,
        "strides": numbers(*strides) if isinstance(strides, tuple) else strides,
        "storage_offset": {"as_int": 0} if offset is None else offset,
    }
    return {"path_name": path, "is_param": True, "use_pickle": False, "tensor_meta": meta}


WEIGHTS = "p/data/weights/m_weights_config.json"


def program(config: Any, **records: bytes) -> bytes:
    beside = {f"p/data/weights/{name}": data for name, data in records.items()}
    return zipped({WEIGHTS: json.dumps({"config": config}).encode(), **beside})


def test_tensors_that_json_describes() -> None:
    """Each is in a record, which two may share; records without a description are ignored."""
    config = {
        "a": described("weight_0"),
        "b": described("weight_0", (3,), (1,), dtype=13, offset={"as_int": 2}),
        "c": described("weight_1", (), (), dtype=5),
    }
    found, reported = read(program(config, weight_0=bytes(24), weight_1=bytes(8), weight_2=bytes(4)))
    key = WEIGHTS + "weight_"
    assert [each[1:] for each in found.views] == [
        ("F32", 4, (2, 3), (3, 1), 0, key + "0", 6, None),
        ("BF16", 2, (3,), (1,), 2, key + "0", 12, None),
        ("I64", 8, (), (), 0, key + "1", 1, None),
    ]
    assert ([view.name for view in found.views], found.malformed, reported) == (["a", "b", "c"], (), [])
    assert {name: each.size for name, each in found.storages.items()} == {key + "0": 24, key + "1": 8}


@every(
    "odd",
    [
        5,
        {},
        {"tensor_meta": {}, "path_name": 5},
        {"tensor_meta": None, "path_name": "weight_0"},
        described("weight_0", dtype=99),
        described("weight_0", dtype="7"),
        described("weight_0", dtype=None),
        described("weight_0", (2, -3)),
        described("weight_0", "23"),
        described("weight_0", [{"as_expr": "s0"}, {"as_int": 3}]),
        described("weight_0", (2,), (3, 1)),
        described("weight_0", strides=[None, None]),
        described("weight_0", offset={"as_int": -1}),
        described("weight_0", offset="0"),
    ],
)
def test_descriptions_that_are_none(odd: Any) -> None:
    found, _ = read(program({"a": described("weight_0"), "b": odd}, weight_0=bytes(24)))
    assert ([view.name for view in found.views], found.malformed) == (["a"], ("b",))


def test_a_value_pickled_beside_tensors_is_no_view() -> None:
    found, _ = read(program({"a": {"path_name": "weight_0", "use_pickle": True, "tensor_meta": None}}))
    assert (found.views, found.malformed) == ((), ())


def test_numbers_may_be_plain() -> None:
    found, _ = read(program({"a": described("weight_0", [2, 3], [3, 1], offset=0)}, weight_0=bytes(24)))
    assert found.views[0].shape == (2, 3)


def test_a_described_tensor_without_its_record() -> None:
    """It has a shape, and its storage is not in the file."""
    found, _ = read(program({"a": described("weight_0")}))
    assert (found.views[0].shape, found.views[0].length, found.storages) == ((2, 3), 0, {})


@pytest.mark.parametrize("document", [b"{", b"[" * 100_000, b"\xff"])
def test_documents_that_are_none(document: bytes) -> None:
    """The error is one line; JSON without a description has no tensors."""
    assert rejected(zipped({WEIGHTS: document})) == (f"a.pt: {WEIGHTS} is not a JSON document", "unreadable-file")


@pytest.mark.parametrize("document", [b"[]", b"{}", b'{"config": []}'])
def test_documents_without_tensors(document: bytes) -> None:
    assert read(zipped({WEIGHTS: document}))[0].views == ()


def test_constants_of_a_program() -> None:
    config = json.dumps({"config": {"a": described("tensor_0")}}).encode()
    folder = "p/data/constants/"
    found, _ = read(zipped({folder + "m_constants_config.json": config, folder + "tensor_0": bytes(24)}))
    assert [view.name for view in found.views] == ["constants.a"]


def test_archives_within_an_archive() -> None:
    """Tensors of both, with offsets from the outer file's first byte."""
    one, two = torch_zip({"a": Saved((3, 4), "0")}), torch_zip({"k": Saved((2,), "0")})
    data = zipped({"serialized_state_dict.pt": one, "serialized_constants.pt": two, "version": b"5.1"})
    found, reported = read(data)
    assert [view.name for view in found.views] == ["a", "constants.k"]
    assert reported == []
    within = data.index(one)
    inner = archive.read(reads(one), len(one), "a.pt", Findings("a.pt"))
    assert found.storages["serialized_state_dict.pt0"].start == within + inner.storages["0"].start
    assert data[found.storages["serialized_state_dict.pt0"].start :][:48] == bytes(range(48))
    assert found.storages["serialized_constants.pt0"].size == 8
    assert (within + inner.frame.pickles[0][0], within + inner.frame.pickles[0][1]) in found.frame.pickles
    assert read(zipped({"serialized_state_dict.pt": b"", "x/serialized_constants.pt": two}))[0].views


def test_archives_within_that_cannot_be_read() -> None:
    one = torch_zip(PLAIN)
    data = zipped({"version": b"1", "serialized_state_dict.pt": one})
    at = data.index(b"serialized_state_dict.pt") - 30
    gone = "a.pt: serialized_state_dict.pt cannot be read: a member is not where the list says"
    assert rejected(data[:at] + b"XX" + data[at + 2 :]) == (gone, "unreadable-file")


def test_reads_within_an_archive_stay_in_it() -> None:
    """A part of a file has no bytes before its start or after its end."""
    one = torch_zip(PLAIN)
    data = b"before" + one + b"behind"
    found = archive.part(reads(data), 6, len(one), "a.pt", Findings("a.pt"))
    assert [data[each.start : each.start + 3] for each in found.storages.values()] == [b"\0\1\2", b"\0\1\2"]
    outer = zips.members(reads(one), len(one))
    assert len(found.frame.members) == len(outer) == 4
