"""The findings on odd safetensors headers, word for word, and the reader's limits from both sides."""

from __future__ import annotations

import json

import pytest
from every import every

from inspector.errors import FormatError
from inspector.formats import safetensors
from inspector.formats.findings import Findings
from inspector.formats.safetensors import entries
from inspector.model import Tensor

Reported = list[tuple[str, str, str, str | None]]


def long_way(raw: bytes, start: int = 100) -> tuple[list[Tensor], dict[str, str], Reported]:
    """Tensors, metadata and findings of a header that is parsed as any JSON."""
    findings = Findings("a")
    tensors, metadata = entries.parse(raw, "a", start, findings)
    return tensors, metadata, [(each.rule, each.severity, each.message, each.tensor) for each in findings.all()]


def entry(text: str = "", dtype: str = '"U8"', shape: str = "[2]", offsets: str = "[0,2]") -> str:
    return f'{{"dtype":{dtype},"shape":{shape},"data_offsets":{offsets}{text}}}'


def of(name: str = "t", **fields: str) -> bytes:
    return f'{{"{name}":{entry(**fields)}}}'.encode()


KEPT = [Tensor("t", "U8", (2,), 100, 2)]
WRONG_TYPE = "the dtype, shape or data_offsets is of the wrong type"
TWICE = "the name appears twice in the header, with "
MALFORMED = "an entry that a later one of the same name hides is malformed"
INFINITE = "a number is beyond the range of a 64-bit float"
DEEP = '"x":' + "[" * 126 + "]" * 126

#: A header of one tensor `t` → all findings, and whether the tensor is kept.
ODD: dict[str, tuple[bytes, Reported, bool]] = {
    "sound": (of(), [], True),
    "dtype no text": (of(dtype="3"), [("tensor-entry", "error", WRONG_TYPE, "t")], False),
    "shape no list": (of(shape='"2"'), [("tensor-entry", "error", WRONG_TYPE, "t")], False),
    "offsets no list": (of(offsets="2"), [("tensor-entry", "error", WRONG_TYPE, "t")], False),
    "one offset": (of(offsets="[0]"), [("tensor-entry", "error", WRONG_TYPE, "t")], False),
    "a boolean": (of(shape="[2,true]"), [("tensor-entry", "error", "a boolean where a number should be", "t")], False),
    "a boolean offset": (
        of(offsets="[false,2]"),
        [("tensor-entry", "error", "a boolean where a number should be", "t")],
        False,
    ),
    "a list as a dimension": (
        of(shape="[[2]]"),
        [("tensor-shape", "error", "the shape [[2]] has a dimension that is not a size", "t")],
        False,
    ),
    "a negative dimension": (
        of(shape="[2,-1]"),
        [("tensor-shape", "error", "the shape [2, -1] has a dimension that is not a size", "t")],
        False,
    ),
    "a fraction as a dimension": (
        of(shape="[2.0]"),
        [("tensor-shape", "error", "the shape [2.0] has a dimension that is not a size", "t")],
        False,
    ),
    "a long fraction": (
        of(shape="[2." + "0" * 50 + "]"),
        [("tensor-shape", "error", f"the shape [2.{'0' * 22}] has a dimension that is not a size", "t")],
        False,
    ),
    "many odd dimensions": (
        of(shape="[" + ",".join(["-1"] * 99) + "]"),
        [("tensor-shape", "error", f"the shape [{'-1, ' * 29}-1… has a dimension that is not a size", "t")],
        False,
    ),
    "odd dimensions of 120 letters": (
        of(shape="[" + ",".join(["-1"] * 30) + "]"),
        [("tensor-shape", "error", f"the shape [{'-1, ' * 29}-1] has a dimension that is not a size", "t")],
        False,
    ),
    "no elements in two bytes": (
        of(shape="[0]"),
        [("tensor-size", "error", "[0] of U8 takes 0 bytes; data_offsets span 2", "t")],
        True,
    ),
    "another third field": (
        b'{"t":{"dtype":"U8","shape":[2],"x":[0,2]}}',
        [("tensor-entry", "error", "the entry has no data_offsets", "t")],
        False,
    ),
    "a shape of 2^64": (
        of(shape="[4294967296,4294967296]"),
        [("tensor-shape", "error", "the shape [4294967296, 4294967296] overflows 64 bits", "t")],
        False,
    ),
    "a shape of 2^63": (
        of(shape="[2147483648,4294967296]"),
        [("tensor-shape", "error", "the shape [2147483648, 4294967296] overflows 64 bits", "t")],
        False,
    ),
    "no range": (
        of(offsets="[2,0]"),
        [("data-offsets", "error", "data_offsets [2, 0] are not a range of bytes", "t")],
        False,
    ),
    "a fraction as an offset": (
        of(offsets="[0,2.5]"),
        [("data-offsets", "error", "data_offsets [0, 2.5] are not a range of bytes", "t")],
        False,
    ),
    "negative zero": (
        of(offsets="[-0,2]"),
        [("data-offsets", "error", "data_offsets [-0, 2] are not a range of bytes", "t")],
        False,
    ),
    "an offset of 2^63": (
        of(offsets="[0,9223372036854775808]"),
        [("data-offsets", "error", "data_offsets [0, 9223372036854775808] are not a range of bytes", "t")],
        False,
    ),
    "long offsets": (
        of(offsets=f"[{'1' * 40},{'2' * 40}]"),
        [("data-offsets", "error", f"data_offsets [{'1' * 30}, {'2' * 30}] are not a range of bytes", "t")],
        False,
    ),
    "an unknown dtype": (
        of(dtype='"' + "Q" * 50 + '"'),
        [("unknown-dtype", "error", f"dtype '{'Q' * 39} is not one of the format's", "t")],
        True,
    ),
    "a list": (
        b'{"t":["U8",[2],[0,2]]}',
        [("extra-field", "warning", "the entry is a list, not an object", "t")],
        True,
    ),
    "a short list": (b'{"t":["U8",[2]]}', [("tensor-entry", "error", "the entry is not an object", "t")], False),
    "a text": (b'{"t":"U8"}', [("tensor-entry", "error", "the entry is not an object", "t")], False),
    "nothing": (b'{"t":null}', [("tensor-entry", "error", "the entry is not an object", "t")], False),
    "one more field": (of(text=',"x":1,"y":2'), [("extra-field", "warning", "unknown field x, y", "t")], True),
    "a long field": (
        of(text=',"' + "x" * 90 + '":1'),
        [("extra-field", "warning", f"unknown field {'x' * 80}", "t")],
        True,
    ),
    "a field twice": (of(text=',"shape":[2]'), [("duplicate-key", "error", "a field is given twice", "t")], True),
    "an unknown field twice": (
        of(text=',"x":1,"x":1'),
        [
            ("duplicate-key", "warning", "a field is given twice", "t"),
            ("extra-field", "warning", "unknown field x", "t"),
        ],
        True,
    ),
    "two fields less": (
        b'{"t":{"shape":[2]}}',
        [("tensor-entry", "error", "the entry has no dtype and no data_offsets", "t")],
        False,
    ),
    "zeros at the end": (
        of() + b"\0\0",
        [("header-padding", "error", "the header is padded with NUL bytes, not spaces", None)],
        True,
    ),
    "white space in front": (
        b"\n" + of(),
        [("header-start", "info", "the header begins with white space; the format requires `{` first", None)],
        True,
    ),
    "twice the same": (
        f'{{"t":{entry()},"t":{entry()}}}'.encode(),
        [("duplicate-key", "warning", TWICE + "the same entry", "t")],
        True,
    ),
    "twice": (
        f'{{"t":{entry(shape="[1]")},"t":{entry()}}}'.encode(),
        [("conflicting-key", "warning", TWICE + "different entries: readers may take either", "t")],
        True,
    ),
    "three times": (
        f'{{"t":{entry()},"t":{entry(shape="[1]")},"t":{entry()}}}'.encode(),
        [
            ("conflicting-key", "warning", TWICE + "different entries: readers may take either", "t"),
            ("duplicate-key", "warning", TWICE + "the same entry", "t"),
        ],
        True,
    ),
    "metadata null": (b'{"__metadata__":null,' + of()[1:], [], True),
    "metadata a list": (
        b'{"__metadata__":[],' + of()[1:],
        [("metadata", "error", "`__metadata__` is not an object", None)],
        True,
    ),
    "metadata of numbers": (
        b'{"__metadata__":{"a":1},' + of()[1:],
        [("metadata", "error", "`__metadata__` has values that are not text", None)],
        True,
    ),
    "metadata with a key twice": (
        b'{"__metadata__":{"a":"1","a":"2"},' + of()[1:],
        [("duplicate-key", "warning", "`__metadata__` has a key twice", None)],
        True,
    ),
    "metadata twice": (
        b'{"__metadata__":{},"__metadata__":{"a":"1"},' + of()[1:],
        [("duplicate-key", "error", "a second `__metadata__`", None)],
        True,
    ),
    "128 deep": (
        of(text="," + DEEP),
        [
            ("extra-field", "error", "something is nested 128 levels deep or more", None),
            ("extra-field", "warning", "unknown field x", "t"),
        ],
        True,
    ),
    "127 deep": (
        of(text="," + DEEP.replace("[", "", 1).replace("]", "", 1)),
        [("extra-field", "warning", "unknown field x", "t")],
        True,
    ),
    "a number of 309 digits": (
        of(text=',"x":1' + "0" * 308),
        [("extra-field", "error", INFINITE, None), ("extra-field", "warning", "unknown field x", "t")],
        True,
    ),
    "a number of 308 digits": (
        of(text=',"x":1' + "0" * 307),
        [("extra-field", "warning", "unknown field x", "t")],
        True,
    ),
    "309 digits in a text": (
        of(text=',"x":"' + "1" * 309 + '"'),
        [("extra-field", "warning", "unknown field x", "t")],
        True,
    ),
    "an exponent of 309": (
        of(text=',"x":1e309'),
        [("extra-field", "error", INFINITE, None), ("extra-field", "warning", "unknown field x", "t")],
        True,
    ),
    "an exponent of 308": (of(text=',"x":1e308'), [("extra-field", "warning", "unknown field x", "t")], True),
    "half a pair in a field": (
        of(text=',"x":"\\ud800"'),
        [
            ("tensor-name", "error", "a string has an unpaired surrogate: not valid Unicode", None),
            ("extra-field", "warning", "unknown field x", "t"),
        ],
        True,
    ),
    "a whole pair": (of(text=',"x":"\\ud83d\\ude00"'), [("extra-field", "warning", "unknown field x", "t")], True),
    "a backslash and a word": (of(text=',"x":"\\\\ud800"'), [("extra-field", "warning", "unknown field x", "t")], True),
    "the second half first": (
        of(text=',"x":"\\ude00\\ud83d"'),
        [
            ("tensor-name", "error", "a string has an unpaired surrogate: not valid Unicode", None),
            ("extra-field", "warning", "unknown field x", "t"),
        ],
        True,
    ),
    "halves that are apart": (
        of(text=',"x":"\\ud83d \\ude00"'),
        [
            ("tensor-name", "error", "a string has an unpaired surrogate: not valid Unicode", None),
            ("extra-field", "warning", "unknown field x", "t"),
        ],
        True,
    ),
}


@every("case", ODD)
def test_findings_about_an_entry(case: str) -> None:
    raw, reported, kept = ODD[case]
    tensors, _, stated = long_way(raw)
    assert stated == reported
    assert [(each.name, each.offset, each.nbytes) for each in tensors] == ([("t", 100, 2)] if kept else [])


@pytest.mark.parametrize(
    ("name", "reported"),
    [
        ("t", []),
        ("日本", []),
        ("", [("tensor-name", "warning", "a tensor has an empty name", "")]),
        ("a\\u0007", [("control-character", "warning", "the name has control or invisible characters", "a\x07")]),
        ("a\x7f", [("control-character", "warning", "the name has control or invisible characters", "a\x7f")]),
        ("a\u200b", [("control-character", "warning", "the name has control or invisible characters", "a\u200b")]),
    ],
)
def test_names(name: str, reported: Reported) -> None:
    assert long_way(of(name))[2] == reported


@pytest.mark.parametrize("half", [b"d800", b"dbff", b"dc00", b"dfff"])
def test_a_name_of_half_a_pair(half: bytes) -> None:
    stated = long_way(b'{"\\u' + half + b'":' + of()[5:])[2]
    assert [(rule, severity, message) for rule, severity, message, _ in stated] == [
        ("tensor-name", "error", "a string has an unpaired surrogate: not valid Unicode"),
        ("tensor-name", "error", "the name has an unpaired surrogate: not valid Unicode"),
    ]


@every(
    ("hidden", "malformed"),
    [
        (entry(shape="[1]"), False),
        (entry(shape="[18446744073709551615]"), False),
        (entry(shape="[18446744073709551616]"), True),
        (entry(offsets="[0,-1]"), True),
        (entry(offsets="[0]"), True),
        (entry(shape="3"), True),
        (entry(offsets="3"), True),
        (entry(dtype='"Q4"'), True),
        (entry(dtype="4"), True),
        (entry(text=',"x":1'), False),
        (entry(text=',"shape":[1]'), True),
        (entry(text=',"x":1,"x":2'), False),
        ('{"dtype":"U8","shape":[1]}', True),
        ('["U8",[1],[0,1]]', False),
        ('["U8",[1]]', True),
        ("null", True),
        ('"U8"', True),
    ],
)
def test_an_entry_that_a_later_one_hides(hidden: str, malformed: bool) -> None:
    """The reference reader parses it all the same, and refuses it if invalid."""
    stated = long_way(f'{{"t":{hidden},"t":{entry()}}}'.encode())[2]
    assert stated[0] == ("conflicting-key", "warning", TWICE + "different entries: readers may take either", "t")
    assert stated[1:] == ([("tensor-entry", "error", MALFORMED, "t")] if malformed else [])


def test_metadata() -> None:
    """Ordinary metadata, in two parts, and with the words of a tensor's entry."""
    assert long_way(b'{"__metadata__":{"a":"1","b":"2"}}')[1] == {"a": "1", "b": "2"}
    assert long_way(b'{"__metadata__":{"a":"1"},"__metadata__":{"b":"2","a":"3"}}')[1] == {"a": "3", "b": "2"}
    assert long_way(b'{"__metadata__":{"a":1,"b":"2"}}')[1] == {"b": "2"}
    triple = {"dtype": "a", "shape": "b", "data_offsets": "c"}
    assert long_way(json.dumps({"__metadata__": triple}).encode()) == ([], triple, [])
    raw = json.dumps(triple).encode()  # a header whose own fields are in the order of an entry
    assert [(rule, name) for rule, _, _, name in long_way(raw)[2]] == [("tensor-entry", name) for name in triple]


ERRORS: dict[str, tuple[bytes, str, str]] = {
    "not JSON": (b'{"a":', "a: the header is not JSON: Expecting value at its byte 5", "unreadable-file"),
    "NaN": (b'{"a":NaN}', "a: the header is not JSON: NaN is not JSON", "unreadable-file"),
    "not UTF-8": (b'{"a\xff":1}', "a: the header is not UTF-8 at its byte 3", "unreadable-file"),
    "a list": (b"[1]", "a: the header is JSON, but not an object of tensors", "unreadable-file"),
    "too deep": (b"[" * 100_000, "a: the header's JSON is nested too deep", "unreadable-file"),
    "more text than fits": (
        b'{"a":"' + "é".encode() * 15_100_000 + b'"}',
        "a: the header has 30,200,008 bytes of text, which take too much memory: not read",
        "header-size",
    ),
}


@pytest.mark.parametrize("case", ERRORS)
def test_an_invalid_header_is_refused_with_its_rule(case: str) -> None:
    raw, message, rule = ERRORS[case]
    with pytest.raises(FormatError) as raised:
        long_way(raw)
    assert (str(raised.value), raised.value.rule) == (message, rule)


@pytest.mark.parametrize(
    ("mark", "most", "what"),
    [(b":", 800_000, "fields"), (b'"', 2_000_000, "quotes"), (b",", 2_500_000, "values"), (b"{", 300_000, "objects"), (b"[", 600_000, "lists")],
)  # fmt: skip
def test_headers_made_to_exhaust_memory(mark: bytes, most: int, what: str) -> None:
    """Up to the limit they are read, as invalid JSON; one more is refused before that."""
    with pytest.raises(FormatError, match=r"not JSON|nested too deep"):
        long_way(mark * most)
    with pytest.raises(FormatError) as raised:
        long_way(mark * (most + 1))
    assert str(raised.value) == (
        f"a: the header has more than {most:,} {what}: made to exhaust memory, or more tensors than are read from one file"
    )
    assert raised.value.rule == "header-size"


def test_long_texts_are_kept_in_short() -> None:
    """In headers beyond 16 MB, the first 32 kB of texts of 64 kB and more are kept; other values are unchanged."""
    rest = b'{"__metadata__":{"a":"%s","b":"short","c":"%s"},' % (b"x" * 17_000_000, b"y" * 65_535)
    tensors, metadata, stated = long_way(rest + of()[1:])
    assert (tensors, stated) == (KEPT, [])
    assert {key: len(text) for key, text in metadata.items()} == {"a": 32_768, "b": 5, "c": 65_535}
    twice = b'{"__metadata__":{"a":"%s\\"%s","b":"%s"},' % (b"x" * 9_000_000, b"y" * 9_000_000, b"z" * 65_536)
    kept = long_way(twice + of()[1:])[1]
    assert kept == {"a": "x" * 32_768 + '"' + "y" * 32_768, "b": "z" * 32_768}
    below = b'{"__metadata__":{"a":"%s"},' % (b"x" * 16_000_000)
    assert len(long_way(below + of()[1:])[1]["a"]) == 16_000_000
    filled = of() + b" " * 17_000_000
    assert long_way(filled)[0] == KEPT


def test_odd_numbers_beyond_a_thousand_are_alike() -> None:
    """Each takes memory of its own; those that are not sizes are still reported."""
    shapes = ",".join(f'"t{at}":{entry(shape=f"[{at}.5]")}' for at in range(1001))
    stated = long_way(f"{{{shapes}}}".encode())[2]
    assert stated[0][2] == "the shape [0.5] has a dimension that is not a size"
    assert entries._FewKept()("1.5") == "1.5"
    few = entries._FewKept()
    assert [few(f"{at}.5") for at in range(1002)][-3:] == ["999.5", "a fraction", "a fraction"]
    assert (few("3.5"), few.infinite, few("1e999"), few.infinite) == ("3.5", False, "a fraction", True)


# --- the fast parser --------------------------------------------------------------------------------


@every(
    ("raw", "short"),
    [
        (of(), True),
        (of() + b" " * 15, True),
        (of() + b" " * 16, False),
        (of() + b"\0", False),
        (b" " + of(), False),
        (of("é"), False),
        (of("a\\u0062"), False),
        (of("__metadata__"), False),
        (of(offsets="[0,3]"), False),
        (of(offsets="[00,2]"), False),
        (of(dtype='"Q4"'), False),
        (of(dtype='"u8"'), False),
        (of(shape="[2,]"), False),
        (of(text=',"x":1'), False),
        (f'{{"t":{entry()},"t":{entry()}}}'.encode(), False),
        (f'{{"t":{entry()}, "u":{entry()}}}'.encode(), False),
        (f'{{"t":{entry()},"u":{entry()}}}'.encode(), True),
        (b'{"__metadata__":{"a":"b"},' + of()[1:], True),
        (b'{"__metadata__":{"a":"\\n"},' + of()[1:], True),
        (b'{"__metadata__":{"a":"\\u0062"},' + of()[1:], False),
        (b'{"__metadata__":{"a":1},' + of()[1:], False),
        (b'{"__metadata__":{"a":"b","a":"b"},' + of()[1:], False),
        (b'{"__metadata__":{"a":"b"}}', True),
        (b"{}", False),
        (b"{", False),
        (b"", False),
        (of(offsets="[999999999999999997,999999999999999999]"), True),
        (of(offsets="[1000000000000000000,1000000000000000002]"), False),
    ],
)
def test_the_short_way_reads_only_what_a_writer_writes(raw: bytes, short: bool) -> None:
    """Only what a writer of the format would write; anything else is parsed as JSON, with the same result."""
    found = safetensors.parse_usual(raw, 100)
    assert (found is not None) is short
    if found is not None:
        assert (*found, []) == long_way(raw)


def test_the_longest_that_the_short_way_reads() -> None:
    """32 MiB, and 200,000 braces."""
    frame = b'{"__metadata__":{"a":"%s"},' + of()[1:]
    room = 32 * 1024 * 1024 - len(frame % b"")
    assert safetensors.parse_usual(frame % (b"x" * room), 100) is not None
    assert safetensors.parse_usual(frame % (b"x" * (room + 1)), 100) is None
    braces = 200_000 - (frame % b"").count(b"{")
    assert safetensors.parse_usual(frame % (b"{" * braces), 100) is not None
    assert safetensors.parse_usual(frame % (b"{" * (braces + 1)), 100) is None


@pytest.mark.parametrize("piece", [0, 1, 40, 90, 200])
def test_the_short_way_goes_piece_by_piece(piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever a piece ends, the tensors are the same; a name that looks like the end of an entry is read as JSON."""
    monkeypatch.setattr(safetensors, "_PIECE", piece)
    entries = {name: {"dtype": "U8", "shape": [1], "data_offsets": [at, at + 1]} for at, name in enumerate("abcde")}
    raw = json.dumps(entries, separators=(",", ":")).encode()
    found = safetensors.parse_usual(raw, 100)
    assert found is not None and (*found, []) == long_way(raw)
    odd = raw.replace(b'"b"', b'"b},"')
    assert safetensors.parse_usual(odd, 100) in (None, long_way(odd)[:2])
    assert safetensors.parse_usual(raw.replace(b'"e"', b'"a"'), 100) is None
