"""The findings on damaged GGUF files, word for word; byte offsets are worked out from the specification's layout.

A header of version 3 begins with 24 bytes: magic, version and two counts. A key-value takes 8 bytes and its key, 4 of its
type and its value; a tensor's entry 8 bytes and its name, 4, 8 for each dimension, 4 and 8.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from every import every
from gguf_bytes import ARRAY, BOOL, FLOAT32, INT8, STRING, UINT8, UINT16, UINT32, Array, Info, Raw, Recipe

from inspector.errors import FormatError
from inspector.formats import gguf
from inspector.formats.gguf.values import KeyValues
from inspector.model import Header
from inspector.sources.local import LocalFile


def read(folder: Path, content: Recipe | bytes) -> Header:
    path = folder / "a.gguf"
    path.write_bytes(content if isinstance(content, bytes) else content.file())
    return gguf.read(LocalFile(path), "a.gguf")


def reported(folder: Path, content: Recipe | bytes) -> list[tuple[str, str, str, str | None]]:
    return [(each.rule, each.severity, each.message, each.tensor) for each in read(folder, content).findings]


def one(name: str = "a", dims: tuple[int, ...] = (8,), kind: int = 0, data: int = 32, **more: Any) -> Recipe:
    """A file of one tensor, with this many bytes of data."""
    return Recipe(infos=[Info(name, list(dims), kind, **more)], data=bytes(data))


A, B = Info("a", [8]), Info("b", [8], 0, 32)
LONG = "n" * 64

#: File → its findings: rule, severity, message, tensor.
FINDINGS: dict[str, tuple[Recipe | bytes, list[tuple[str, str, str, str | None]]]] = {
    "sound": (one(), []),
    "magic backwards": (
        Recipe(magic=b"FUGG"),
        [
            (
                "big-endian",
                "info",
                "the magic is byte-reversed, as a big-endian machine would write it: llama.cpp refuses it",
                None,
            )
        ],
    ),
    "big-endian": (
        Recipe(order=">"),
        [("big-endian", "info", "the file is big-endian: llama.cpp reads it only on big-endian machines", None)],
    ),
    "version 1": (
        Recipe(1),
        [("old-version", "error", "GGUF version 1, with 32-bit counts: llama.cpp no longer reads it", None)],
    ),
    "empty key": (
        Recipe(pairs=[("a", UINT8, 1), ("", UINT8, 1)]),
        [("empty-key", "error", "key-value 2 has an empty key", None)],
    ),
    "array of arrays": (
        Recipe(pairs=[("k" * 90, ARRAY, Array(ARRAY, []))]),
        [("nested-array", "error", f"`{'k' * 80}` is an array of arrays, which llama.cpp does not read", None)],
    ),
    "key twice": (
        Recipe(pairs=[("k" * 90, UINT8, 1), ("k" * 90, UINT8, 2)]),
        [("duplicate-key", "error", f"the key `{'k' * 80}` appears twice: the first is used", None)],
    ),
    "longest key": (Recipe(pairs=[("k" * 65_535, UINT8, 1)]), []),
    "long key": (
        Recipe(pairs=[("k" * 65_536, UINT8, 1)]),
        [("long-key", "info", "a key of 65,536 characters; the specification allows 65,535 bytes", None)],
    ),
    "control character": (
        Recipe(pairs=[("a\x07b", UINT8, 1)]),
        [("control-character", "warning", "key 1 of 1 has control or invisible characters: a\x07b", None)],
    ),
    "letters of all the world": (Recipe(pairs=[("naïve.日本", UINT8, 1)]), []),
    "no UTF-8": (
        Recipe(pairs=[(b"\xff" * 60, UINT8, 1)]),
        [("not-utf-8", "warning", "key 1 of 1 is not UTF-8: b'" + "\\xff" * 40 + "'", None)],
    ),
    "alignment of another type": (
        Recipe(pairs=[("general.alignment", UINT16, 64)], infos=[A], data=bytes(64), alignment=64),
        [("alignment", "error", "general.alignment has type uint16, but must be uint32", None)],
    ),
    "alignment a list": (
        Recipe(pairs=[("general.alignment", ARRAY, Array(UINT32, [32]))], infos=[A], data=bytes(32)),
        [("alignment", "error", "general.alignment has type array[uint32], but must be uint32", None)],
    ),
    "alignment true": (
        Recipe(pairs=[("general.alignment", BOOL, 1)], infos=[A], data=bytes(32)),
        [("alignment", "error", "general.alignment has type bool, but must be uint32", None)],
    ),
    "alignment 48": (
        Recipe(pairs=[("general.alignment", UINT32, 48)], infos=[A], data=bytes(32)),
        [("alignment", "error", "general.alignment is 48: not a power of two; 32 is assumed", None)],
    ),
    "alignment 0": (
        Recipe(pairs=[("general.alignment", UINT32, 0)], infos=[A], data=bytes(32)),
        [("alignment", "error", "general.alignment is 0: not a power of two; 32 is assumed", None)],
    ),
    "alignment 1": (Recipe(pairs=[("general.alignment", UINT32, 1)], infos=[A], data=bytes(32), alignment=1), []),
    "name twice": (
        Recipe(infos=[A, Info("b", [8], 0, 32), Info("a", [8], 0, 64)], data=bytes(96)),
        [("duplicate-tensor", "error", "an earlier tensor has the same name", "a")],
    ),
    "name twice to ggml": (
        Recipe(infos=[A, Info("a\0b", [8], 0, 32)], data=bytes(64)),
        [
            (
                "control-character",
                "warning",
                "the name of tensor 2 of 2 has control or invisible characters: a\0b",
                None,
            ),
            ("duplicate-tensor", "error", "an earlier tensor has the same name", "a\0b"),
        ],
    ),
    "longest name": (one("n" * 63), []),
    "long name": (one(LONG), [("long-name", "error", "the name has 64 bytes; at most 63 are allowed", LONG)]),
    "long name of few letters": (
        one("日" * 22),
        [("long-name", "error", "the name has 66 bytes; at most 63 are allowed", "日" * 22)],
    ),
    "name of 21 letters": (one("日" * 21), []),
    "five dimensions": (
        one(dims=(8, 1, 1, 1, 1)),
        [("n-dims", "error", "it has 5 dimensions; at most 4 are allowed", "a")],
    ),
    "negative": (
        one(dims=(2**63, 0), data=0),
        [("dimension", "error", "a dimension is negative when read as a signed 64-bit number", "a")],
    ),
    "beyond 64 bits": (
        one(dims=(2**62, 2, 0), data=0),
        [],
    ),
    "rows of half a block": (
        one(dims=(48, 2), kind=8, data=102),
        [("partial-block", "error", "it has rows of 48 in Q8_0, whose blocks are of 32", "a")],
    ),
    "rows of two blocks": (one(dims=(64, 3), kind=8, data=204), []),
    "newer type": (
        one(kind=133),
        [
            (
                "unknown-type",
                "warning",
                "1 tensor of type 133, which is newer than this version, or from a fork: "
                "it is assumed to extend to the next tensor",
                "a",
            )
        ],
    ),
    "type after the last": (
        one(kind=43),
        [
            (
                "unknown-type",
                "warning",
                "1 tensor of type 43, which is newer than this version, or from a fork: "
                "it is assumed to extend to the next tensor",
                "a",
            )
        ],
    ),
    "misaligned": (
        Recipe(infos=[A, Info("b", [8], 0, 40)], data=bytes(72)),
        [
            ("misaligned", "error", "it begins at byte 40 of the data, which is not a multiple of 32", "b"),
            ("hole", "error", "8 bytes from byte 128 belong to no tensor", None),
        ],
    ),
    "hole": (
        Recipe(infos=[A, Info("b", [8], 0, 64)], data=bytes(96)),
        [("hole", "error", "32 bytes from byte 128 belong to no tensor", None)],
    ),
    "out of order": (
        Recipe(infos=[Info("a", [8], 0, 32), Info("b", [8])], data=bytes(64)),
        [("out-of-order", "error", "an earlier tensor's data comes after it: llama.cpp requires them in order", "b")],
    ),
    "empty in between": (
        Recipe(infos=[A, Info("b", [0], 0, 32), Info("c", [8], 0, 32)], data=bytes(64)),
        [],
    ),
    "empty too far": (
        Recipe(infos=[A, Info("b", [0], 0, 64), Info("c", [8], 0, 64)], data=bytes(96)),
        [
            ("out-of-order", "error", "it is empty and begins at byte 64 of the data; llama.cpp requires 32", "b"),
            ("hole", "error", "32 bytes from byte 160 belong to no tensor", None),
        ],
    ),
    "empty at the place of the one before": (
        Recipe(infos=[A, Info("b", [8], 0, 32), Info("c", [0], 0, 32)], data=bytes(64)),
        [("out-of-order", "error", "it is empty and begins at byte 32 of the data; llama.cpp requires 64", "c")],
    ),
    "empty and far back": (
        Recipe(infos=[A, Info("b", [8], 0, 32), Info("c", [0], 0, 0)], data=bytes(64)),
        [("out-of-order", "error", "an earlier tensor's data comes after it: llama.cpp requires them in order", "c")],
    ),
    "cut off": (
        Recipe(infos=[A, B], data=bytes(63)),
        [
            (
                "truncated",
                "error",
                "the tensors' data ends at byte 160, the file at 159: 1 byte missing; download it again",
                "b",
            )
        ],
    ),
    "overlap": (
        Recipe(infos=[Info("n" * 90, [16]), B], data=bytes(64)),
        [
            ("long-name", "error", "the name has 90 bytes; at most 63 are allowed", "n" * 90),
            ("overlap", "error", f"it overlaps {'n' * 80} from byte 224", "b"),
        ],
    ),
    "overlaps in a chain": (
        Recipe(infos=[Info("a", [16]), Info("b", [24], 0, 32), Info("c", [8], 0, 96)], data=bytes(128)),
        [
            ("overlap", "error", "it overlaps a from byte 160", "b"),
            ("overlap", "error", "it overlaps b from byte 224", "c"),
        ],
    ),
    "all that touch": (Recipe(infos=[A, B, Info("c", [8], 0, 64)], data=bytes(96)), []),
    "trailing": (
        one(data=96),
        [("trailing", "warning", "64 bytes after the last tensor, from byte 96", None)],
    ),
    "one byte behind": (
        one(data=33),
        [("trailing", "warning", "1 byte after the last tensor, from byte 96", None)],
    ),
}


@pytest.mark.parametrize("case", FINDINGS)
def test_a_finding(case: str, tmp_path: Path) -> None:
    content, expected = FINDINGS[case]
    assert reported(tmp_path, content) == expected


def test_removed_types_are_reported_once_at_their_first_tensor(tmp_path: Path) -> None:
    infos = [Info("a", [8], 4, 0), Info("b", [8], 0, 64), Info("c", [8], 4, 96)]
    assert reported(tmp_path, Recipe(infos=infos, data=bytes(128))) == [
        (
            "unknown-type",
            "warning",
            "2 tensors of type 4, which is removed from ggml, or from a fork: "
            "it is assumed to extend to the next tensor",
            "a",
        )
    ]


def test_more_elements_than_64_bits_count(tmp_path: Path) -> None:
    """2^62 × 2 elements of a byte each are an error; with one fewer the file is only cut off."""
    found = reported(tmp_path, one(dims=(2**62, 2), kind=24, data=0))
    assert found[0] == ("elements", "error", "it has 9,223,372,036,854,775,808 elements, beyond 64 bits", "a")
    (cut,) = reported(tmp_path, one(dims=(2**63 - 1,), kind=24, data=0))
    assert cut[0] == "truncated"


#: Bytes after magic and version: two counts, so a file of one key-value has them at 8 and 16.
ONE_PAIR = Recipe(n_pairs=1).file()

#: File → the whole error line.
ERRORS: dict[str, tuple[Recipe | bytes, str, str]] = {
    "another magic": (
        b"PK\x03\x04" + bytes(20),
        "begins with b'PK\\x03\\x04', not with GGUF: not a GGUF file",
        "unreadable-file",
    ),
    "seven bytes": (
        b"GGUF\3\0\0",
        "ends at byte 7, inside the magic and version that begins at byte 0 and takes 8 bytes: "
        "the file is cut off or damaged",
        "truncated",
    ),
    "version 4": (Recipe(4), "is GGUF version 4: versions 1, 2 and 3 are supported", "unreadable-file"),
    "version 65,535": (Recipe(65_535), "is GGUF version 65,535: versions 1, 2 and 3 are supported", "unreadable-file"),
    "version 0": (Recipe(0), "is GGUF version 0: versions 1, 2 and 3 are supported", "unreadable-file"),
    "tensor count": (
        b"GGUF\3\0\0\0" + bytes(7),
        "ends at byte 15, inside the tensor count that begins at byte 8 and takes 8 bytes: the file is cut off or damaged",
        "truncated",
    ),
    "key-value count": (
        b"GGUF\3\0\0\0" + bytes(15),
        "ends at byte 23, inside the key-value count that begins at byte 16 and takes 8 bytes: "
        "the file is cut off or damaged",
        "truncated",
    ),
    "12 bytes for a key-value of 13": (
        ONE_PAIR + bytes(12),
        "claims 1 key-values and has 12 bytes after its counts: the header is damaged, or of a different version than it says",
        "truncated",
    ),
    "23 bytes for a tensor of 24": (
        Recipe(n_tensors=1).file() + bytes(23),
        "claims 1 tensors and has 23 bytes after its counts: the header is damaged, or of a different version than it says",
        "truncated",
    ),
    "too many tensors": (
        Recipe(n_tensors=60_001).file(),
        "claims 60,001 tensors and has 0 bytes after its counts: "
        "the header is damaged, or of a different version than it says",
        "unreadable-file",
    ),
    "too many key-values": (
        Recipe(n_pairs=30_001).file(),
        "claims 30,001 key-values and has 0 bytes after its counts: "
        "the header is damaged, or of a different version than it says",
        "unreadable-file",
    ),
    "as many as there may be": (
        Recipe(n_pairs=30_000).file(),
        "claims 30,000 key-values and has 0 bytes after its counts: "
        "the header is damaged, or of a different version than it says",
        "truncated",
    ),
    "a key": (
        ONE_PAIR + (99).to_bytes(8, "little") + bytes(9),
        "ends at byte 41, inside key 1 of 1 that begins at byte 32 and takes 99 bytes: the file is cut off or damaged",
        "truncated",
    ),
    "a value's type": (
        Recipe(pairs=[("k", 13, Raw(bytes(2)))]),
        "has a value type 13 for the value of `k`, ending at byte 37: not GGUF's",
        "unreadable-file",
    ),
    "a value": (
        Recipe(pairs=[("k", UINT32, Raw(bytes(3)))]),
        "ends at byte 40, inside the value of `k` that begins at byte 37 and takes 4 bytes: the file is cut off or damaged",
        "truncated",
    ),
    "a long key's value": (
        Recipe(pairs=[("k" * 70, UINT32, Raw(bytes(3)))]),
        f"ends at byte 109, inside the value of `{'k' * 59}…` that begins at byte 106 and takes 4 bytes: "
        "the file is cut off or damaged",
        "truncated",
    ),
    "an array's item type": (
        Recipe(pairs=[("k", ARRAY, Raw(bytes(3)))]),
        "ends at byte 40, inside the item type of the value of `k` that begins at byte 37 and takes 4 bytes: "
        "the file is cut off or damaged",
        "truncated",
    ),
    "an array's count": (
        Recipe(pairs=[("k", ARRAY, Raw(bytes(11)))]),
        "ends at byte 48, inside the item count of the value of `k` that begins at byte 41 and takes 8 bytes: "
        "the file is cut off or damaged",
        "truncated",
    ),
    "an array's numbers": (
        Recipe(pairs=[("k", ARRAY, Array(UINT16, [1], 2))]),
        "ends at byte 51, inside the value of `k` that begins at byte 49 and takes 4 bytes: the file is cut off or damaged",
        "truncated",
    ),
    "an array's texts": (
        Recipe(pairs=[("k", ARRAY, Array(STRING, ["ab", "cd"], 3))]),
        "has 3 items in the value of `k` at byte 49, 20 bytes before its end",
        "unreadable-file",
    ),
    "a text of an array": (
        Recipe(pairs=[("k", ARRAY, Array(STRING, [])), ("", UINT8, Raw(b""))], n_pairs=1).file()[:41]
        + (1).to_bytes(8, "little")
        + (5).to_bytes(8, "little")
        + b"abcd",
        "ends at byte 61, inside the value of `k` that begins at byte 49 and takes 13 bytes: "
        "the file is cut off or damaged",
        "truncated",
    ),
    "arrays of an array": (
        Recipe(pairs=[("k", ARRAY, Array(ARRAY, [Array(UINT8, [])], 2))]),
        "has 2 items in the value of `k` at byte 49, 12 bytes before its end",
        "unreadable-file",
    ),
    "nine arrays deep": (
        Recipe(pairs=[("k", ARRAY, Raw((ARRAY.to_bytes(4, "little") + (1).to_bytes(8, "little")) * 9))]),
        "nests arrays more than 8 deep in the value of `k`, at byte 133",
        "unreadable-file",
    ),
    "a tensor's name": (
        Recipe(infos=[Info("a", [8], name_length=99)]).header(),
        "ends at byte 57, inside the name of tensor 1 of 1 that begins at byte 32 and takes 99 bytes: "
        "the file is cut off or damaged",
        "truncated",
    ),
    "a tensor's name of a book": (
        one("n" * 4097),
        "has the name of tensor 1 of 1 of 4,097 bytes at byte 32: at most 4,096",
        "unreadable-file",
    ),
    "a tensor's dimensions": (
        one(n_dims=16, dims=(1, 1)),
        "says that tensor 1 of 1, `a`, has 16 dimensions: at most 4 are possible",
        "unreadable-file",
    ),
    "a tensor's line": (
        Recipe(infos=[Info("a", [8], n_dims=2)], n_tensors=1).header(),
        "ends at byte 57, inside tensor 1 of 1 that begins at byte 37 and takes 28 bytes: the file is cut off or damaged",
        "truncated",
    ),
}


@every("case", ERRORS)
def test_a_broken_gguf_is_refused_with_its_rule(case: str, tmp_path: Path) -> None:
    content, words, rule = ERRORS[case]
    with pytest.raises(FormatError) as raised:
        read(tmp_path, content)
    assert (str(raised.value), raised.value.rule) == (f"a.gguf {words}", rule)


def test_the_most_dimensions(tmp_path: Path) -> None:
    assert read(tmp_path, one(dims=(8, *[1] * 14))).tensors[0].shape == (*[1] * 14, 8)


def test_the_smallest_key_value_and_tensor(tmp_path: Path) -> None:
    """13 bytes and 24: counts are checked against these."""
    header = read(tmp_path, Recipe(pairs=[("", UINT8, 1)], infos=[Info("", [], 24)]).header())
    assert [(region.label, region.size) for region in header.regions] == [
        ("header", 24),
        ("metadata", 13),
        ("tensor table", 24),
    ]
    assert [tuple(each) for each in header.tensors] == [("", "I8", (), 64, 1)]


def test_texts_as_long_as_all_names_may_be(tmp_path: Path) -> None:
    """8 MB of keys together are allowed; one byte more is not."""
    half = 4 * 1024 * 1024
    assert len(read(tmp_path, Recipe(pairs=[("a" * half, UINT8, 1), ("b" * half, UINT8, 1)])).metadata) == 2
    with pytest.raises(FormatError, match=r"^a.gguf has more than 8,388,608 bytes of keys and names, at key 3 of 3$"):
        read(tmp_path, Recipe(pairs=[("a" * half, UINT8, 1), ("b" * half, UINT8, 1), ("c", UINT8, 1)]))


def test_more_strings_than_any_vocabulary_has(tmp_path: Path) -> None:
    """2²² in one file; an inner array counts as 64."""
    many = Array(STRING, [""] * 1)
    head = STRING.to_bytes(4, "little") + (2**22).to_bytes(8, "little")
    text = Raw(head + bytes(8 * 2**22))
    assert read(tmp_path, Recipe(pairs=[("k", ARRAY, text)])).metadata.keys() == {"k"}
    words = "has more strings or inner arrays in its key-values than any vocabulary, at the value of `l`"
    with pytest.raises(FormatError, match=f"^a.gguf {words}$"):
        read(tmp_path, Recipe(pairs=[("k", ARRAY, text), ("l", ARRAY, many)]))
    inner = Array(ARRAY, [Array(UINT8, [])] * 65_536)
    assert read(tmp_path, Recipe(pairs=[("k", ARRAY, inner)])).metadata.keys() == {"k"}
    with pytest.raises(FormatError, match=f"^a.gguf {words}$"):
        read(tmp_path, Recipe(pairs=[("k", ARRAY, inner), ("l", ARRAY, many)]))


def test_values_within_values(tmp_path: Path) -> None:
    """Arrays of arrays of each type, one after the other, so that each must end where the next begins."""
    inner = Array(
        ARRAY, [Array(STRING, ["a", "", "日本"]), Array(INT8, [-1, 2]), Array(ARRAY, []), Array(FLOAT32, [0.5])]
    )
    value = Array(ARRAY, [inner, Array(UINT16, [65_535]), Array(STRING, []), Array(BOOL, [1, 0])])
    expected = [[["a", "", "日本"], [-1, 2], [], [0.5]], [65_535], [], [True, False]]
    for version, order in ((1, "<"), (2, ">"), (3, "<")):
        metadata = read(tmp_path, Recipe(version, order, pairs=[("k", ARRAY, value), ("after", UINT8, 7)])).metadata
        assert isinstance(metadata, KeyValues)
        assert (metadata["k"], metadata["after"], list(metadata), len(metadata)) == (expected, 7, ["k", "after"], 2)
        assert ("k" in metadata, "j" in metadata) == (True, False)
        assert list(metadata.items_of("k")) == expected


def test_a_text_is_decoded_up_to_a_bound(tmp_path: Path) -> None:
    metadata = read(tmp_path, Recipe(pairs=[("a", UINT8, 1), ("s", STRING, "naïve")])).metadata
    assert isinstance(metadata, KeyValues)
    assert [metadata.text_of("s", limit) for limit in (0, 2, 3, 6, 99)] == [
        ("", 6),
        ("na", 6),
        ("na\\xc3", 6),
        ("naïve", 6),
        ("naïve", 6),
    ]
    longest = 4 * 1024 * 1024
    long = read(tmp_path, Recipe(pairs=[("s", STRING, "x" * (longest + 1)), ("t", UINT8, 1)])).metadata
    assert (len(long["s"]), long["t"]) == (longest, 1)
