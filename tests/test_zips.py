"""ZIP archives: their list of members, and what is unpacked."""

from __future__ import annotations

import io
import lzma
import struct
import zipfile
import zlib
from collections.abc import Callable
from typing import Any

import pytest
from every import every
from in_memory import zipped

from inspector.formats import zips


def listed(raw: bytes) -> list[zips.Member]:
    return zips.members(lambda at, length: raw[at : at + length], len(raw))


def test_members_as_zipfile_lists_them() -> None:
    """Names in both encodings, sizes, methods, offsets; also after other bytes, and before a comment."""
    raw = zipped({"a": b"x" * 50, "größe": b"y"}, zipfile.ZIP_DEFLATED)
    with zipfile.ZipFile(io.BytesIO(raw)) as file:
        own = [
            (each.filename, each.compress_type, each.compress_size, each.file_size, each.header_offset)
            for each in file.infolist()
        ]
    for shift, data in ((0, raw), (7, b"garbage" + raw)):
        found = [(each.name, each.method, each.compressed, each.size, each.header - shift) for each in listed(data)]
        assert found == own
        assert not any(each.encrypted for each in listed(data))
    comment = raw[:-2] + (5000).to_bytes(2, "little") + b"c" * 5000
    assert [each.name for each in listed(comment)] == ["a", "größe"]
    central = raw.index(b"PK\1\2")
    flagged = raw[: central + 8] + b"\1" + raw[central + 9 :]
    assert [each.encrypted for each in listed(flagged)] == [True, False]
    flagless = raw[: central + 8] + b"\0\0" + raw[central + 10 : central + 46] + b"\x81" + raw[central + 47 :]
    assert listed(flagless)[0].name == "ü"  # code page 437
    assert zips.looks_like_zip(lambda at, length: raw[at : at + length], len(raw))
    assert not zips.looks_like_zip(lambda at, length: raw[at : at + length], len(raw) - 30)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda raw: raw[:-10], "its list of members is missing: the file is truncated, or not a ZIP archive"),
        (lambda raw: raw[:-10] + (40 << 20).to_bytes(4, "little") + raw[-6:], "its list of members does not lie within the file"),
        (lambda raw: raw[:-6] + (1 << 20).to_bytes(4, "little") + raw[-2:], "its list of members does not lie within the file"),
        (lambda raw: raw.replace(b"PK\1\2", b"PK\1\3", 1), "its list of members is damaged"),
        (lambda raw: raw[:-2] + (22).to_bytes(2, "little") + raw[-22:], "it ends twice: readers differ in which list of members they use"),
    ],
)  # fmt: skip
def test_damaged_lists(change: Callable[[bytes], bytes], what: str) -> None:
    with pytest.raises(zips.ZipError) as caught:
        listed(change(zipped({"a": b"x", "b": b"y"})))
    assert str(caught.value) == what


def test_a_list_that_is_longer_than_its_members(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zips, "MAX_MEMBERS", 2)
    assert len(listed(zipped({"a": b"x", "b": b"y"}))) == 2
    with pytest.raises(zips.ZipError, match="damaged or too long"):
        listed(zipped({"a": b"x", "b": b"y", "c": b"z"}))


@every(
    ("extra", "values", "found"),
    [
        (b"", (1, 2, 3), (1, 2, 3)),
        (struct.pack("<2HQ", 1, 8, 5), (1 << 32, 2, 3), (1 << 32, 2, 3)),
        (struct.pack("<2HQ", 1, 8, 5), (0xFFFFFFFF, 2, 3), (5, 2, 3)),
        (struct.pack("<2H2Q", 1, 16, 5, 6), (0xFFFFFFFF, 2, 0xFFFFFFFF), (5, 2, 6)),
        (struct.pack("<2HQ", 1, 8, 5), (0xFFFFFFFF, 0xFFFFFFFF, 3), (5, 0xFFFFFFFF, 3)),
        (struct.pack("<2H2Q", 1, 8, 5, 6), (0xFFFFFFFF, 0xFFFFFFFF, 3), (5, 0xFFFFFFFF, 3)),
        (struct.pack("<2HI2HQ", 9, 4, 0, 1, 8, 5), (1, 2, 0xFFFFFFFF), (1, 2, 5)),
        (struct.pack("<2HQ", 2, 8, 5), (0xFFFFFFFF, 2, 3), (0xFFFFFFFF, 2, 3)),
        (struct.pack("<2HQ2HQ", 1, 8, 5, 1, 8, 6), (0xFFFFFFFF, 0xFFFFFFFF, 3), (5, 0xFFFFFFFF, 3)),
        (struct.pack("<2HI", 1, 8, 5), (0xFFFFFFFF, 2, 3), (0xFFFFFFFF, 2, 3)),
    ],
)
def test_sizes_in_64_bits(extra: bytes, values: tuple[int, ...], found: tuple[int, ...]) -> None:
    """APPNOTE.TXT 4.5.3: only the fields whose 32 bits do not hold the value are present, in this order."""
    assert zips._from_zip64(extra, *values) == found


def test_a_list_in_64_bits() -> None:
    raw = zipped({"a": b"x"})
    at = raw.index(b"PK\5\6")
    start = raw.index(b"PK\1\2")
    record = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, 1, 1, at - start, start)
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, at, 1)
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    assert [each.name for each in listed(raw[:at] + record + locator + end)] == ["a"]
    with pytest.raises(zips.ZipError, match="does not lie within"):
        listed(raw[:at] + record + b"PK\6\6" + locator[4:] + end)
    with pytest.raises(zips.ZipError, match="does not lie within"):
        listed(raw[:at] + b"PK\6\7" + record[4:] + locator + end)


def test_a_member_whose_sizes_take_64_bits() -> None:
    """As `zipfile` writes a member of unknown size: its fields are in the directory as well."""
    raw = zipped({"name": b"x" * 9})
    at = raw.index(b"PK\1\2")
    extra = struct.pack("<2H2Q", 1, 16, 9, 9)
    entry = (
        raw[at : at + 20]
        + b"\xff" * 8
        + raw[at + 28 : at + 30]
        + struct.pack("<H", 20)
        + raw[at + 32 : at + 50]
        + extra
    )
    end = raw[-22:-10] + struct.pack("<2LH", len(entry), at, 0)
    (member,) = listed(raw[:at] + entry + end)
    assert (member.name, member.compressed, member.size, member.header) == ("name", 9, 9, 0)


def test_members_unpacked() -> None:
    """Each of ZIP's usual methods, up to the requested size."""
    data = bytes(range(250)) * 20
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        raw = zipped({"pad": b"p", "a": data}, method)
        source = lambda at, length, raw=raw: raw[at : at + length]  # noqa: E731
        member = listed(raw)[1]
        assert zips.unpacked(source, member, 5000) == data
        assert zips.unpacked(source, member, 700) in (data[:700], b"")
    with pytest.raises(zips.ZipError, match=r"^a member is not where the list says$"):
        zips.unpacked(source, member._replace(header=3), 5)
    with pytest.raises(zips.ZipError, match=r"^a member is not where the list says$"):
        zips.unpacked(source, member._replace(header=-1), 5)
    with pytest.raises(zips.ZipError, match=r"^compressed by an unsupported method$"):
        zips.inflate(97, b"", 5)
    for method in (8, 12):
        with pytest.raises(zips.ZipError, match=r"^a member cannot be unpacked$"):
            zips.inflate(method, b"\xff" * 20, 5)
    assert zips.inflate(8, zlib.compress(data)[2:-4], 9) == data[:9]


def test_lzma_in_zip() -> None:
    filters: list[dict[str, Any]] = [{"id": lzma.FILTER_LZMA1, "dict_size": 1 << 16}]
    packed = lzma.compress(b"x" * 999, lzma.FORMAT_RAW, filters=filters)
    small, large = b"\x5d" + (1 << 16).to_bytes(4, "little"), b"\x5d" + (1 << 27).to_bytes(4, "little")
    assert zips.inflate(14, b"\x09\x14\5\0" + small + packed, 999) == b"x" * 999
    for damaged in (
        b"\x09\x14\5\0" + large + packed,
        b"\x09\x14\5\0\xff" + small[1:] + packed,
        b"\x09\x14\5\0" + small + b"\xff" * 20,
    ):
        with pytest.raises(zips.ZipError, match=r"^a member cannot be unpacked$"):
            zips.inflate(14, damaged, 9)
