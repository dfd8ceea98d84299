"""Archives from before PyTorch 0.1.10, part by part: the place of each tensor, and findings on damaged ones."""

from __future__ import annotations

import pickle
import struct
from collections.abc import Mapping
from typing import Any

import pytest
from every import every
from hostile.files import tape

from inspector.errors import FormatError
from inspector.formats.pytorch import legacy
from inspector.formats.pytorch.layout import Found, Storage, View


def dumped(value: Any) -> bytes:
    return pickle.dumps(value, protocol=2)


def three(first: bytes, second: bytes, name: str) -> bytes:
    """A tuple whose third item is a class of torch's."""
    return b"\x80\x02(" + first + second + f"ctorch\n{name}\n".encode() + b"t."


def stored(key: int, kind: str, elements: int, data: bytes) -> bytes:
    return three(b"K" + bytes([key]), b"U\x03cpu", kind) + struct.pack("<q", elements) + data


def tensor(key: int, storage: int, shape: tuple[int, ...], stride: tuple[int, ...], offset: int = 0) -> bytes:
    """Its key, storage and class; the number of dimensions in 8 bytes, then sizes, strides and the offset."""
    numbers = struct.pack(f"<{2 * len(shape) + 1}q", *shape, *stride, offset)
    return (
        three(b"K" + bytes([key]), b"K" + bytes([storage]), "FloatTensor") + struct.pack("<i4x", len(shape)) + numbers
    )


STORAGES = (
    dumped(2) + stored(1, "FloatStorage", 6, bytes(24)) + stored(2, "HalfStorage", 2, bytes(4)) + dumped([(3, 1, 2, 4)])
)
TENSORS = dumped(3) + tensor(7, 1, (2, 3), (3, 1)) + tensor(8, 2, (), (), 1) + tensor(9, 3, (4,), (1,))
#: {"a": the first, "b": the second, "c": the third}, by their keys.
VALUE = b"\x80\x02}(U\x01aK\x07QU\x01bK\x08QU\x01cK\x09Qu."


def parts(**changed: bytes) -> dict[str, bytes]:
    return {"sys_info": dumped({}), "storages": STORAGES, "tensors": TENSORS, "pickle": VALUE, **changed}


def read(members: Mapping[str, bytes]) -> Found:
    data = tape(members)
    return legacy.read_tar(lambda start, length: data[start : start + length], len(data), "a.pt")


def test_tensors_and_their_storages() -> None:
    """The storages begin after three blocks of 512 bytes: two headers and a small file.

    The first one's bytes follow the number (5 bytes of pickle), its own description and a number of 8 bytes.
    """
    first = 3 * 512 + len(dumped(2) + stored(1, "FloatStorage", 6, b""))
    second = first + 24 + len(stored(2, "HalfStorage", 2, b""))
    found = read(parts())
    assert found.storages == {"1": Storage(first, 24), "2": Storage(second, 4), "3": Storage(first + 8, 16)}
    assert found.views == (
        View("a", "F32", 4, (2, 3), (3, 1), 0, "1", 6),
        View("b", "F16", 2, (), (), 1, "2", 2),
        View("c", "F32", 4, (4,), (1,), 0, "3", 4),
    )
    assert (found.malformed, found.opaque, found.complete) == ((), (), True)
    data = tape(parts())
    pickles = [data[start:end] for start, end in found.frame.pickles]
    assert pickles == [VALUE, TENSORS, dumped({})]


def test_names_of_members_may_begin_with_the_folder() -> None:
    assert read({"./" + name: data for name, data in parts().items()}) is not None


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("storages", True),
        ("./tensors", True),
        ("pickle", True),
        ("sys_info", True),
        ("data", False),
        ("pickles", False),
    ],
)
def test_which_archives_are_pytorchs(name: str, known: bool) -> None:
    data = tape({name: b"x"})
    assert legacy.is_tar(lambda start, length: data[start : start + length]) is known
    assert not legacy.is_tar(lambda start, length: data[start : start + length - 1])
    spoilt = data[:257] + b"tar  " + data[262:]
    assert not legacy.is_tar(lambda start, length: spoilt[start : start + length])


@pytest.mark.parametrize("name", ["storages", "tensors", "pickle"])
def test_a_tar_without_a_needed_member_is_refused(name: str) -> None:
    members = parts()
    del members[name]
    with pytest.raises(FormatError, match=rf"^a\.pt is a tar archive without {name}: not PyTorch's$"):
        read(members)
    assert read({name: data for name, data in parts().items() if name != "sys_info"}).views


ONE = dumped(1)
UNREADABLE = "a.pt: its tensors cannot be read: "
SHAPELESS = UNREADABLE + "a tensor without a storage or with an invalid shape"
PARTLESS = UNREADABLE + "an invalid part of a storage"


@every(
    ("changed", "message"),
    [
        ({"storages": dumped("2")}, UNREADABLE + "an invalid number"),
        ({"storages": dumped(2**48 + 1)}, UNREADABLE + "an invalid number"),
        ({"storages": dumped(True)}, UNREADABLE + "an invalid number"),
        ({"storages": ONE + dumped((1, 2))}, UNREADABLE + "an invalid description"),
        ({"storages": ONE + dumped([1, 2, 3])}, UNREADABLE + "an invalid description"),
        ({"storages": ONE + stored(1, "List", 1, bytes(4))}, UNREADABLE + "a storage of an unknown class"),
        ({"storages": ONE + dumped((1, 2, "FloatStorage"))}, UNREADABLE + "a storage of an unknown class"),
        ({"storages": ONE + stored(1, "FloatStorage", -1, b"")}, UNREADABLE + "an invalid number"),
        ({"storages": ONE + stored(1, "FloatStorage", 2, bytes(7))}, UNREADABLE + "it ends in the middle of a storage"),
        ({"storages": STORAGES[: -len(dumped([(3, 1, 2, 4)]))]}, "a.pt: its pickle cannot be followed: it has no end"),
        ({"storages": dumped(0) + dumped([(3, 1, 0, 1)])}, PARTLESS),
        ({"storages": STORAGES[: -len(dumped([(3, 1, 2, 4)]))] + dumped([(3, 1, 2)])}, PARTLESS),
        ({"storages": STORAGES[: -len(dumped([(3, 1, 2, 4)]))] + dumped([[3, 1, 2, 4]])}, PARTLESS),
        ({"tensors": ONE + tensor(7, 4, (2,), (1,))}, SHAPELESS),
        ({"tensors": ONE + tensor(7, 1, (1,) * 65, (1,) * 65)}, SHAPELESS),
        ({"tensors": ONE + tensor(7, 1, (), ())[:-16] + struct.pack("<iiq", -1, 0, 0)}, SHAPELESS),
        ({"tensors": ONE + tensor(7, 1, (-2,), (1,))}, UNREADABLE + "a tensor with negative sizes"),
        ({"tensors": ONE + tensor(7, 1, (2,), (-1,))}, UNREADABLE + "a tensor with negative sizes"),
        ({"tensors": ONE + tensor(7, 1, (2,), (1,), -1)}, UNREADABLE + "a tensor with negative sizes"),
        ({"tensors": ONE + tensor(7, 1, (2,), (1,))[:-1]}, UNREADABLE + "it ends in the middle of a value"),
        ({"pickle": VALUE[:-1]}, "a.pt: its pickle cannot be followed: it has no end"),
    ],
)  # fmt: skip
def test_a_broken_tar_is_refused_with_its_rule(changed: dict[str, bytes], message: str) -> None:
    with pytest.raises(FormatError) as raised:
        read(parts(**changed))
    assert (str(raised.value), raised.value.rule) == (
        message,
        "truncated" if "read: " in message else "unreadable-file",
    )


def test_the_most_dimensions() -> None:
    found = read(parts(tensors=ONE + tensor(7, 1, (1,) * 64, (1,) * 64)))
    assert found.views[0].shape == (1,) * 64


def members(data: bytes) -> list[tuple[str, int, int]]:
    return [(name, *place) for name, place in legacy._read_members(lambda at, size: data[at : at + size], len(data))]


def test_where_members_lie() -> None:
    """Each begins a block of 512 bytes after its header; the next header follows in the next block."""
    data = tape({"a": bytes(512), "b": bytes(513), "c": b"", "d": b"1"})
    assert members(data) == [("a", 512, 1024), ("b", 1536, 2049), ("c", 3072, 3072), ("d", 3584, 3585)]
    assert members(data[:1800]) == [("a", 512, 1024), ("b", 1536, 1800)]
    assert members(data[:1535]) == [("a", 512, 1024)]
    assert len(members(tape({str(number): b"" for number in range(20)}))) == 16


@pytest.mark.parametrize(
    ("field", "end"),
    [
        (b"00000000012\0", 522),
        (b"        12 \0", 522),
        (b"\x80" + (600).to_bytes(11, "big"), 1112),  # GNU's encoding of numbers that are too large
        (b"00000000018\0", 512),  # 8 is not an octal digit
        (b"x0000000012\0", 512),
        (bytes(12), 512),
    ],
)
def test_lengths_in_a_header(field: bytes, end: int) -> None:
    data = tape({"a": bytes(600)})
    assert members(data[:124] + field + data[136:])[0] == ("a", 512, end)
