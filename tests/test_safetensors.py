"""The safetensors reader against the reference implementation: what it accepts, rejects and reports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import write
from every import every
from fuzzing import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from inspector import FormatError, Header
from inspector.formats import read, safetensors
from inspector.formats.findings import Findings
from inspector.formats.safetensors import entries as safetensors_entries
from inspector.formats.safetensors.dtypes import DTYPE_BITS
from inspector.sources.local import LocalFile


def header_of(path: Path) -> Header:
    """Our reader's header, after checking that its regions partition the file."""
    source = LocalFile(path)
    try:
        header = read(source, path.name)
    finally:
        source.close()
    ends = [0, *(region.end for region in header.regions)]
    assert [region.start for region in header.regions] == ends[:-1]
    assert ends[-1] == header.size == path.stat().st_size
    return header


def errors(header: Header) -> set[str]:
    return {finding.rule for finding in header.findings if finding.severity == "error"}


def reference_accepts(path: Path) -> bool:
    try:
        with safe_open(path, "np") as file:
            file.keys()
    except SafetensorError:
        return False
    return True


def entry(begin: Any, end: Any, shape: Any = (1,), dtype: Any = "U8") -> dict[str, Any]:
    return {"dtype": dtype, "shape": list(shape) if isinstance(shape, tuple) else shape, "data_offsets": [begin, end]}


def test_reads_what_the_reference_writes(tmp_path: Path) -> None:
    """Names, dtypes, shapes, metadata and the start of the data agree with the reference reader."""
    arrays: dict[str, np.ndarray[Any, Any]] = {
        "a.weight": np.arange(12, dtype=np.float32).reshape(3, 4),
        "b.bias": np.arange(5, dtype=np.float16),
        "c": np.array(7, dtype=np.int64),
        "empty": np.zeros((0, 4), dtype=np.uint8),
        "flags": np.array([True, False, True]),
    }
    path = tmp_path / "x.safetensors"
    save_file(arrays, path, metadata={"format": "np", "ключ": "值"})
    header = header_of(path)
    content = path.read_bytes()
    assert header.metadata == {"format": "np", "ключ": "值"}
    assert {t.name: t.shape for t in header.tensors} == {name: array.shape for name, array in arrays.items()}
    for tensor in header.tensors:
        assert content[tensor.offset : tensor.offset + tensor.nbytes] == arrays[tensor.name].tobytes()
    assert not errors(header)


@every("dtype", sorted(DTYPE_BITS))
def test_every_dtype_has_the_reference_width(tmp_path: Path, dtype: str) -> None:
    """8 elements of each dtype take as many bytes as in the reference, and no other number is accepted."""
    nbytes = DTYPE_BITS[dtype]
    right = write(tmp_path / "right", {"t": entry(0, nbytes, (8,), dtype)}, nbytes)
    wrong = write(tmp_path / "wrong", {"t": entry(0, nbytes + 1, (8,), dtype)}, nbytes + 1)
    assert reference_accepts(right) and not errors(header_of(right))
    assert not reference_accepts(wrong) and errors(header_of(wrong)) == {"tensor-size"}


ACCEPTED = {
    "leading spaces": (b'  {"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}', 1, "header-start"),
    "identical duplicate keys": (
        b'{"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}',
        1,
        "duplicate-key",
    ),
    "duplicate keys that differ, the last one good": (
        b'{"t":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}',
        1,
        "conflicting-key",
    ),
    "an unknown field": (b'{"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"x":0}}', 1, "extra-field"),
    "an empty name": (b'{"":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}', 1, "tensor-name"),
    "ESC in a name": (b'{"\\u001b[31m":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}', 1, "control-character"),
    "misaligned tensors": (
        b'{"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"u":{"dtype":"F32","shape":[1],"data_offsets":[1,5]}}',
        5,
        "misaligned",
    ),
    "metadata null": (b'{"__metadata__":null,"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}', 1, None),
    "a scalar": (b'{"t":{"dtype":"U8","shape":[],"data_offsets":[0,1]}}', 1, None),
    "a zero dimension": (b'{"t":{"dtype":"U8","shape":[3,0],"data_offsets":[0,0]}}', 0, None),
    "no tensors": (b"{}", 0, None),
    "another order of fields": (b'{"t":{"data_offsets":[0,1],"shape":[1],"dtype":"U8"}}', 1, None),
}


@every("case", ACCEPTED)
def test_oddities_are_accepted_and_reported(tmp_path: Path, case: str) -> None:
    """What the reference accepts is not an error here; oddities are reported."""
    raw, data, rule = ACCEPTED[case]
    path = write(tmp_path / "x", None, data, raw=raw)
    assert reference_accepts(path)
    header = header_of(path)
    assert not errors(header)
    rules = {finding.rule for finding in header.findings}
    assert rules == ({rule, "misaligned"} & rules | {rule} if rule else rules & {"misaligned"})


READABLE_DAMAGE: dict[str, tuple[object, int, str]] = {
    "unknown dtype": ({"t": entry(0, 1, dtype="Q4")}, 1, "unknown-dtype"),
    "negative dimension": ({"t": entry(0, 1, (-1,))}, 1, "tensor-shape"),
    "float dimension": ({"t": entry(0, 1, [1.0])}, 1, "tensor-shape"),
    "boolean dimension": ({"t": entry(0, 1, [True])}, 1, "tensor-entry"),
    "text dimension": ({"t": entry(0, 1, ["1"])}, 1, "tensor-shape"),
    "nested dimension": ({"t": entry(0, 1, [[1]])}, 1, "tensor-shape"),
    "huge dimensions": ({"t": entry(0, 1, (2**40, 2**40))}, 1, "tensor-shape"),
    "one huge dimension": ({"t": entry(0, 1, (2**70, 0))}, 1, "tensor-shape"),
    "bytes are not shape × dtype": ({"t": entry(0, 8, (3,), "F32")}, 8, "tensor-size"),
    "half a byte": ({"t": entry(0, 1, (3,), "F4")}, 1, "tensor-size"),
    "float offsets": ({"t": entry(0.0, 1)}, 1, "data-offsets"),
    "negative offset": ({"t": entry(-1, 0)}, 1, "data-offsets"),
    "offsets reversed": ({"t": entry(1, 0)}, 1, "data-offsets"),
    "huge offsets": ({"t": entry(2**64, 2**64 + 1)}, 1, "data-offsets"),
    "three offsets": ({"t": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1, 2]}}, 1, "tensor-entry"),
    "no dtype": ({"t": {"shape": [1], "data_offsets": [0, 1]}}, 1, "tensor-entry"),
    "an entry that is a list": ({"t": [1]}, 0, "tensor-entry"),
    "overlap": ({"t": entry(0, 2, (2,)), "u": entry(1, 3, (2,))}, 3, "overlap"),
    "alias": ({"t": entry(0, 2, (2,)), "u": entry(0, 2, (2,))}, 2, "overlap"),
    "empty tensor inside another": ({"t": entry(0, 2, (2,)), "u": entry(1, 1, (0,))}, 2, "overlap"),
    "hole": ({"t": entry(0, 1), "u": entry(2, 3)}, 3, "hole"),
    "start that is not zero": ({"t": entry(1, 2)}, 2, "hole"),
    "trailing bytes": ({"t": entry(0, 1)}, 4, "trailing"),
    "truncated data": ({"t": entry(0, 10, (10,))}, 4, "truncated"),
    "metadata that is no text": ({"__metadata__": {"n": 1}, "t": entry(0, 1)}, 1, "metadata"),
    "metadata that is not an object": ({"__metadata__": [1], "t": entry(0, 1)}, 1, "metadata"),
}


@every("case", READABLE_DAMAGE)
def test_damage_is_explained(tmp_path: Path, case: str) -> None:
    """A readable header that the reference rejects has a finding, and exact regions."""
    content, data, rule = READABLE_DAMAGE[case]
    path = write(tmp_path / "x", content, data)
    assert not reference_accepts(path)
    assert rule in errors(header_of(path))


RAW_DAMAGE = {
    "duplicate keys that differ": (
        b'{"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"t":{"dtype":"I8","shape":[2],"data_offsets":[0,2]}}',
        "truncated",
    ),
    "a malformed entry behind a good one": (
        b'{"t":{"dtype":"?","shape":[1],"data_offsets":[0,1]},"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}',
        "tensor-entry",
    ),
    "a field twice": (b'{"t":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}}', "duplicate-key"),
    "metadata twice": (
        b'{"__metadata__":{},"__metadata__":{},"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}',
        "duplicate-key",
    ),
    "NUL padding": (b'{"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}\0\0\0', "header-padding"),
    "negative zero": (b'{"t":{"dtype":"U8","shape":[1],"data_offsets":[-0,1]}}', "data-offsets"),
    "half a surrogate pair": (b'{"\\ud800":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}', "tensor-name"),
}


@pytest.mark.parametrize("case", RAW_DAMAGE)
def test_raw_damage_is_explained(tmp_path: Path, case: str) -> None:
    """The same holds for bytes that a JSON writer would not write."""
    raw, rule = RAW_DAMAGE[case]
    path = write(tmp_path / "x", None, 1, raw=raw)
    assert not reference_accepts(path)
    assert rule in errors(header_of(path))


UNREADABLE = {
    "empty": (b"", "is empty"),
    "seven bytes": (b"\0\1\2\3\4\5\6", "7 bytes"),
    "a text": (b"# Read me\n\nThese are not weights.\n", "text file"),
    "header past the end": ((1000).to_bytes(8, "little") + b"{}", "header of 1,000 bytes"),
    "header over the limit": ((100_000_001).to_bytes(8, "little") + b"{}", "limit of 100,000,000"),
    "not JSON": ((4).to_bytes(8, "little") + b"{{{{", "not JSON"),
    "not UTF-8": ((4).to_bytes(8, "little") + b'{"\xff}', "not UTF-8"),
    "JSON, but not an object": ((2).to_bytes(8, "little") + b"[]", "not an object"),
    "NaN": ((8).to_bytes(8, "little") + b'{"a":NaN', "not JSON"),
    "nested deep": ((200_000).to_bytes(8, "little") + b"[" * 200_000, "JSON"),
    "a git-LFS pointer": (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "git-LFS pointer"),
    "an HTML page": (b"<!DOCTYPE html><html><head><title>Not found</title></head></html>", "HTML page"),
    "a JSON error": (b'{"error":"Repository not found, or you are not logged in"}', "JSON document"),
    "a PyTorch archive": (b"PK\x03\x04" + bytes(60), "ZIP archive"),
    "a pickle": (b"\x80\x02}q\x00." + bytes(60), "pickle"),
}


@every("case", UNREADABLE)
def test_unreadable_is_one_clear_error(tmp_path: Path, case: str) -> None:
    """There is no header, and one line says what was found."""
    content, stated = UNREADABLE[case]
    path = tmp_path / "x.safetensors"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=r"x\.safetensors") as caught:
        header_of(path)
    assert stated in str(caught.value)
    assert "\n" not in str(caught.value)


def test_many_findings_are_counted_not_listed(tmp_path: Path) -> None:
    """A header with thousands of damaged entries has some findings and a count."""
    path = write(tmp_path / "x", {f"t{n}": entry(0, 1, dtype="?") for n in range(5000)}, 1)
    findings = header_of(path).findings
    assert len(findings) < 100
    assert any("4,980 more" in finding.message for finding in findings)


def test_reads_the_header_and_nothing_else(tmp_path: Path) -> None:
    """The bytes read are the length field and the header, exactly."""
    path = write(tmp_path / "x", {"t": entry(0, 5000, (5000,))}, 5000)
    source = LocalFile(path)
    read(source, "x")
    assert source.bytes_read == path.stat().st_size - 5000
    source.close()


# --- against the reference, on whatever hypothesis thinks of -----------------------------------

NUMBERS = st.integers(-1, 9) | st.sampled_from([2**31, 2**63, 2**64, 1.0, True, None, "1"])
NAMES = st.sampled_from(["a", "b", "a.weight", "", "\x1b", "é", "__metadata__"])
DTYPES = st.sampled_from([*sorted(DTYPE_BITS), "f32", "", "Q4_0", None, 3])
ENTRIES = st.fixed_dictionaries(
    {
        "dtype": st.sampled_from(["U8", "F16", "F32", "F4", "BOOL"]) | DTYPES,
        "shape": st.lists(st.integers(0, 4), max_size=3) | st.lists(NUMBERS, max_size=3),
        "data_offsets": st.tuples(st.integers(0, 12), st.integers(0, 24)).map(list) | st.lists(NUMBERS, max_size=3),
    },
    optional={"extra": st.none()},
)
HEADERS = st.lists(
    st.tuples(NAMES, ENTRIES | st.dictionaries(st.text("ab", max_size=2), st.text("cd", max_size=2))), max_size=4
)


def consistent(sizes: list[tuple[str, list[int]]]) -> list[tuple[str, Any]]:
    """Entries one after the other, as a writer places them."""
    pairs: list[tuple[str, Any]] = []
    end = 0
    for dtype, shape in sizes:
        begin, end = end, end + int(np.prod(shape, dtype=np.int64)) * DTYPE_BITS[dtype] // 8
        pairs.append((f"t{len(pairs)}", entry(begin, end, shape, dtype)))
    return pairs


SOUND = st.lists(
    st.tuples(st.sampled_from(["U8", "F16", "F32", "BF16", "I64"]), st.lists(st.integers(0, 4), max_size=3)), max_size=5
).map(consistent)


@settings(max_examples=examples(600), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    pairs=HEADERS | SOUND,
    data=st.integers(0, 24) | st.none(),
    front=st.sampled_from(["", "", " "]),
    separators=st.sampled_from([(",", ":"), (", ", ": ")]),
)
def test_agrees_with_the_reference(
    tmp_path: Path, pairs: list[tuple[str, Any]], data: int | None, front: str, separators: tuple[str, str]
) -> None:
    """What the reference accepts we accept, with the same tensors; what it rejects we report."""
    texts = (f"{json.dumps(name)}:{json.dumps(value, separators=separators)}" for name, value in pairs)
    raw = front + "{" + ",".join(texts) + "}"
    ends = [
        v["data_offsets"][1]
        for _, v in pairs
        if isinstance(v.get("data_offsets"), list) and len(v["data_offsets"]) == 2
    ]
    sizes = [end for end in ends if type(end) is int and 0 <= end < 1000]
    path = write(tmp_path / "x", None, max(sizes, default=0) if data is None else data, raw=raw.encode())
    try:
        header = header_of(path)
        ours = not errors(header)
    except FormatError:
        ours = False
    assert ours == reference_accepts(path)
    if ours:
        with safe_open(path, "np") as file:
            theirs = {name: file.get_slice(name) for name in file.keys()}
            assert {t.name: (t.dtype, list(t.shape)) for t in header.tensors} == {
                name: (part.get_dtype(), part.get_shape()) for name, part in theirs.items()
            }


#: Each, inserted into a header or written over part of it, changes the text; some results are valid JSON.
SCRAPS = [
    "",
    " ",
    "0",
    "1",
    "-",
    ",",
    '"',
    "\\",
    "{",
    "}",
    "[",
    "]",
    "[]",
    ":",
    "a",
    "\0",
    "\n",
    "é",
    "null",
    "1.0",
    "true",
]
SCRAPS += ['"a":{}', '"__metadata__":{"a":"b"},', '"dtype":"U8",', '{"__metadata__":{"a":["b"]},"', "9" * 20]


@settings(max_examples=examples(2000), deadline=None)
@given(
    pairs=SOUND,
    metadata=st.none() | st.dictionaries(st.sampled_from("ab"), st.sampled_from(["", "c", '"'])),
    scrap=st.sampled_from(SCRAPS),
    at=st.integers(0, 400),
    over=st.integers(0, 3),
    twice=st.booleans(),
)
def test_the_short_way_reads_what_the_long_way_reads(
    pairs: list[tuple[str, Any]], metadata: dict[str, str] | None, scrap: str, at: int, over: int, twice: bool
) -> None:
    """A header in the writer's layout, or near it, gives the same by the regular expression as by the JSON parser."""
    entries = [*pairs, *pairs[:1]] if twice else pairs
    front = [] if metadata is None else [("__metadata__", metadata)]
    texts = (f"{json.dumps(name)}:{json.dumps(value, separators=(',', ':'))}" for name, value in [*front, *entries])
    text = "{" + ",".join(texts) + "}"
    at %= len(text) + 1
    raw = (text[:at] + scrap + text[at + over :]).encode()
    short = safetensors.parse_usual(raw, 100)
    if short is not None:
        findings = Findings("x")
        assert safetensors_entries.parse(raw, "x", 100, findings) == short
        assert not findings.all()
    assert short is not None or raw != text.encode() or twice or not pairs


@settings(max_examples=examples(300), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=200) | st.binary(max_size=60).map(lambda b: len(b).to_bytes(8, "little") + b))
def test_any_bytes_give_a_header_or_a_format_error(tmp_path: Path, content: bytes) -> None:
    """No other exception escapes, whatever the bytes."""
    path = tmp_path / "x"
    path.write_bytes(content)
    try:
        header = header_of(path)
    except FormatError:
        return
    assert header.format == "safetensors"


def test_a_header_may_have_just_the_formats_limit(tmp_path: Path) -> None:
    """100,000,000 bytes are read, one more is refused; the reference has the same limit."""
    path = tmp_path / "model.safetensors"
    path.write_bytes((100_000_001).to_bytes(8, "little") + b"{}")
    with pytest.raises(FormatError, match="over the format's limit of 100,000,000"):
        header_of(path)
    path.write_bytes((100_000_000).to_bytes(8, "little") + b"{}")
    with pytest.raises(FormatError, match="a truncated download"):
        header_of(path)


@pytest.mark.parametrize(("padding", "begin", "misaligned"), [(0, 0, False), (1, 0, True), (1, 3, False), (0, 3, True)])
def test_alignment_is_counted_from_the_files_first_byte(
    tmp_path: Path, padding: int, begin: int, misaligned: bool
) -> None:
    """An F32 at byte 101 of the file is misaligned, wherever the data begins."""
    table = {"pad": entry(0, begin, (begin,)), "f": entry(begin, begin + 4, (1,), "F32")}
    text = json.dumps(table if begin else {"f": table["f"]}).encode()
    raw = text + b" " * (-len(text) % 8 + padding)
    header = header_of(write(tmp_path / "model.safetensors", None, begin + 4, raw=raw))
    assert ("misaligned" in {finding.rule for finding in header.findings}) is misaligned


#: Header → bytes of data, the regions of the data from its first byte, and all findings: rule, message, tensor.
TOLD: dict[str, tuple[dict[str, Any], int, list[tuple[str, int, int]], list[tuple[str, str, str | None]]]] = {
    "sound": ({"a": entry(0, 4, (4,)), "b": entry(4, 8, (4,))}, 8, [("tensors", 0, 8)], []),
    "in another order": ({"b": entry(4, 8, (4,)), "a": entry(0, 4, (4,))}, 8, [("tensors", 0, 8)], []),
    "a hole": (
        {"a": entry(0, 4, (4,)), "b": entry(6, 8, (2,))},
        8,
        [("tensors", 0, 4), ("hole", 4, 6), ("tensors", 6, 8)],
        [("hole", "2 bytes before it belong to no tensor", "b")],
    ),
    "a hole at the start": (
        {"a": entry(1, 4, (3,))},
        4,
        [("hole", 0, 1), ("tensors", 1, 4)],
        [("hole", "1 byte before it belong to no tensor", "a")],
    ),
    "trailing": (
        {"a": entry(0, 4, (4,))},
        9,
        [("tensors", 0, 4), ("trailing", 4, 9)],
        [("trailing", "5 bytes after the last tensor belong to none", None)],
    ),
    "an overlap": (
        {"a": entry(0, 4, (4,)), "b": entry(2, 6, (4,))},
        6,
        [("tensors", 0, 6)],
        [("overlap", "shares 2 bytes with the tensor before it", "b")],
    ),
    "an empty tensor inside another": (
        {"a": entry(0, 4, (4,)), "b": entry(2, 2, (0,))},
        4,
        [("tensors", 0, 4)],
        [("overlap", "is empty, inside another", "b")],
    ),
    "a byte too short": (
        {"a": entry(0, 4, (4,)), "b": entry(4, 8, (4,))},
        7,
        [("tensors", 0, 7)],
        [
            (
                "truncated",
                "the file ends 1 byte too early: 1 tensor cut or missing, the first b; download it again",
                None,
            )
        ],
    ),
    "far too short": (
        {"a": entry(0, 4, (4,)), "b": entry(4, 8, (4,)), "c": entry(8, 12, (4,))},
        3,
        [("tensors", 0, 3)],
        [
            (
                "truncated",
                "the file ends 9 bytes too early: 3 tensors cut or missing, the first a; download it again",
                None,
            )
        ],
    ),
    "no range": (
        {"a": entry(4, 0, (4,))},
        4,
        [("trailing", 0, 4)],
        [
            ("data-offsets", "data_offsets [4, 0] are not a range of bytes", "a"),
            ("trailing", "4 bytes after the last tensor belong to none", None),
        ],
    ),
    "another size": (
        {"a": entry(0, 4, (3,))},
        4,
        [("tensors", 0, 4)],
        [("tensor-size", "[3] of U8 takes 3 bytes; data_offsets span 4", "a")],
    ),
    "half a byte": (
        {"a": entry(0, 1, (3,), "F4")},
        1,
        [("tensors", 0, 1)],
        [("tensor-size", "12 bits of F4 are not whole bytes", "a")],
    ),
    "no fields": ({"a": {"dtype": "U8"}}, 0, [], [("tensor-entry", "the entry has no shape and no data_offsets", "a")]),
}


@every("case", TOLD)
def test_regions_and_findings(tmp_path: Path, case: str) -> None:
    """The data's regions to the byte, and the words of each finding."""
    table, data, regions, reported = TOLD[case]
    header = header_of(write(tmp_path / "model.safetensors", table, data))
    start = header.regions[1].end
    assert [(each.label, each.start - start, each.end - start) for each in header.regions[2:]] == regions
    assert [(each.rule, each.message, each.tensor) for each in header.findings] == reported
    assert {each.severity for each in header.findings} <= {"error"}
