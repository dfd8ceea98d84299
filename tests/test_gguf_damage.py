"""Damaged GGUF files, after llama.cpp's `tests/test-gguf.cpp`: one clear line, or labelled results."""

from __future__ import annotations

import json
import tracemalloc
from contextlib import suppress
from pathlib import Path

import pytest
from costs import at_most
from every import every
from gguf_bytes import ARRAY, INT32, STRING, UINT8, UINT32, UINT64, Array, Info, Raw, Recipe

from inspector.__main__ import run
from inspector.errors import FormatError
from inspector.formats import gguf
from inspector.model import Header
from inspector.sources.local import LocalFile

PAIRS = [("general.architecture", STRING, "llama"), ("tokenizer.ggml.tokens", ARRAY, Array(STRING, ["a", "b"]))]
#: The limit for a damaged header; a loop over its claimed count would cost millions.
CALLS = 1_000_000
TWO = [Info("a", [32], 0, 0), Info("b", [32], 0, 128)]
DATA = bytes(256)


def read(tmp_path: Path, content: bytes, size: int | None = None) -> Header:
    """Read a damaged file within the bounds on time and memory; its regions must still be a partition."""
    path = tmp_path / "damaged.gguf"
    path.write_bytes(content)
    if size is not None:
        with path.open("r+b") as file:
            file.truncate(size)
    with at_most(CALLS), suppress(FormatError):
        gguf.read(LocalFile(path), "damaged.gguf")
    tracemalloc.start()
    try:
        header = gguf.read(LocalFile(path), "damaged.gguf")
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 50_000_000
    assert sum(region.size for region in header.regions) == header.size == path.stat().st_size
    assert [r.start for r in header.regions[1:]] == [r.end for r in header.regions[:-1]]
    return header


#: Recipe → the error's one line. The header cannot be read beyond the damage.
UNREADABLE: dict[str, tuple[Recipe | bytes, str]] = {
    "bad magic": (Recipe(magic=b"FUGU"), "not a GGUF file"),
    "version 0": (Recipe(version=0), "version 0"),
    "future version": (Recipe(version=4), "version 4"),
    "version 1 with 64-bit fields": (Recipe(version=1, wide=True, pairs=PAIRS, infos=TWO, data=DATA), "damaged.gguf"),
    "six bytes": (b"GGUF\x03\x00", "ends at byte 6"),
    "counts cut off": (Recipe().file()[:20], "ends at byte 20"),
    "n_kv": (Recipe(n_pairs=2**63 - 1), "claims 9,223,372,036,854,775,807 key-values"),
    "n_tensors": (Recipe(n_tensors=2**63), "claims 9,223,372,036,854,775,808 tensors"),
    "n_kv one too high": (Recipe(pairs=PAIRS, n_pairs=3), "ends at byte"),
    "key length": (Recipe(pairs=[("", UINT32, 0)]).file()[:24] + b"\xff" * 8 + bytes(99), "key 1 of 1"),
    "long key": (Recipe(pairs=[("k" * 9_000_000, UINT32, 1)]), "key 1 of 1 of 9,000,000 bytes"),
    "value type": (Recipe(pairs=[("k", 13, Raw(bytes(8)))]), "value type 13"),
    "item type": (Recipe(pairs=[("k", ARRAY, Array(99, []))]), "value type 99"),
    "string of 2**63": (Recipe(pairs=[("k", STRING, Raw((2**63).to_bytes(8, "little")))]), "ends at byte"),
    "array of 2**63 numbers": (Recipe(pairs=[("k", ARRAY, Array(UINT32, [], 2**63))]), "ends at byte"),
    "array of 2**63 strings": (
        Recipe(pairs=[("k", ARRAY, Array(STRING, [], 2**63))]),
        "9,223,372,036,854,775,808 items",
    ),
    "array of 2**63 arrays": (Recipe(pairs=[("k", ARRAY, Array(ARRAY, [], 2**63))]), "9,223,372,036,854,775,808 items"),
    "a string of an array past the end": (
        Recipe(pairs=[("k", ARRAY, Array(STRING, [Raw(b"\xff" * 16)], 2))]),
        "the value of `k`",
    ),
    "name length": (Recipe(infos=[Info("a", [32], name_length=2**63)]), "the name of tensor 1 of 1"),
    "n_dims 2**32-1": (Recipe(infos=[Info("a", [32], n_dims=2**32 - 1)]), "4,294,967,295 dimensions"),
    "n_tensors one too high": (Recipe(infos=TWO, n_tensors=3), "ends at byte"),
}


def nested(depth: int) -> Recipe:
    head = ARRAY.to_bytes(4, "little") + (1).to_bytes(8, "little")
    return Recipe(pairs=[("k", ARRAY, Raw(head * depth + bytes(12)))])


@every("case", [*UNREADABLE, "nested a thousand deep"])
def test_an_unreadable_header_is_one_line(tmp_path: Path, case: str) -> None:
    recipe, words = UNREADABLE.get(case, (nested(1000), "nests arrays more than 8 deep"))
    with pytest.raises(FormatError) as caught:
        read(tmp_path, recipe if isinstance(recipe, bytes) else recipe.file())
    message = str(caught.value)
    assert words in message and message.startswith("damaged.gguf") and "\n" not in message and len(message) < 300


def with_alignment(kind: int, value: object, true: int = 32) -> Recipe:
    return Recipe(pairs=[("general.alignment", kind, value)], infos=TWO, data=DATA, alignment=true)


#: Recipe → its findings, all of severity "error" but for those in BENIGN. The header stays readable.
LABELLED: dict[str, tuple[Recipe, set[str]]] = {
    "empty": (Recipe(), set()),
    "the smallest key-value and tensor there are": (
        Recipe(pairs=[("", UINT8, 1)], infos=[Info("", [], 24)], data=bytes(1)),
        {"empty-key"},
    ),
    "sound": (Recipe(pairs=PAIRS, infos=TWO, data=DATA), set()),
    "version 1 with 64-bit counts and nothing else": (Recipe(version=1, wide=True), {"old-version"}),
    "empty key": (Recipe(pairs=[("", UINT32, 1)]), {"empty-key"}),
    "duplicate key": (Recipe(pairs=[("k", UINT32, 1), ("k", UINT32, 2)]), {"duplicate-key"}),
    "alignment zero": (with_alignment(UINT32, 0), {"alignment"}),
    "alignment 13": (with_alignment(UINT32, 13), {"alignment"}),
    "alignment of the wrong type": (with_alignment(INT32, 32), {"alignment"}),
    "alignment a text": (with_alignment(STRING, "32"), {"alignment"}),
    "alignment an array": (with_alignment(ARRAY, Array(UINT32, [32])), {"alignment"}),
    "alignment of the wrong type, and meant": (with_alignment(UINT64, 64, 64), {"alignment"}),
    "alignment of the key-values and of the data differ": (
        Recipe(
            pairs=[("general.alignment", UINT32, 64)], infos=[Info("a", [8]), Info("b", [8], 0, 32)], data=bytes(64)
        ),
        {"misaligned"},
    ),
    "n_dims 9": (Recipe(infos=[Info("a", [1] * 9)], data=bytes(32)), {"n-dims"}),
    "zero dim": (Recipe(infos=[Info("a", [0, 4])]), set()),
    "no dims": (Recipe(infos=[Info("a", [])], data=bytes(32)), set()),
    "negative dim": (Recipe(infos=[Info("a", [32, 2**64 - 1])], data=bytes(32)), {"dimension", "truncated"}),
    "elements overflow": (Recipe(infos=[Info("a", [2**31] * 4)], data=bytes(32)), {"elements", "truncated"}),
    "bytes overflow": (Recipe(infos=[Info("a", [2**62])], data=bytes(32)), {"truncated"}),
    "part of a block": (Recipe(infos=[Info("a", [33], 2)], data=bytes(32)), {"partial-block"}),
    "unknown type": (Recipe(infos=[Info("a", [32], 77)], data=bytes(32)), {"unknown-type"}),
    "long name": (Recipe(infos=[Info("n" * 64, [8])], data=bytes(32)), {"long-name"}),
    "duplicate name": (Recipe(infos=[Info("a", [8]), Info("a", [8], 0, 32)], data=bytes(64)), {"duplicate-tensor"}),
    "misaligned": (Recipe(infos=[Info("a", [8]), Info("b", [4], 0, 36)], data=bytes(64)), {"misaligned", "hole"}),
    "out of order": (Recipe(infos=TWO[::-1], data=DATA), {"out-of-order"}),
    "overlap": (Recipe(infos=[Info("a", [32]), Info("b", [32], 0, 64)], data=bytes(192)), {"overlap"}),
    "same bytes twice": (Recipe(infos=[Info("a", [32]), Info("b", [32])], data=bytes(128)), {"overlap"}),
    "hole": (Recipe(infos=[Info("a", [8]), Info("b", [8], 0, 96)], data=bytes(128)), {"hole"}),
    "trailing": (Recipe(infos=TWO, data=DATA + bytes(7)), {"trailing"}),
    "data cut": (Recipe(infos=TWO, data=DATA[:-100]), {"truncated"}),
    "no data at all": (Recipe(infos=TWO), {"truncated"}),
    "offset near 2**64": (Recipe(infos=[Info("a", [8], 0, 2**64 - 32)]), {"truncated"}),
    "n_tensors one too low": (Recipe(infos=TWO, n_tensors=1, data=DATA), {"trailing"}),
    "ESC in a name": (Recipe(infos=[Info("\x1b[31m", [8])], data=bytes(32)), {"control-character"}),
    "not UTF-8": (Recipe(infos=[Info(b"\xff\xfe", [8])], data=bytes(32)), {"not-utf-8"}),
}
BENIGN = {"control-character", "trailing", "unknown-type", "not-utf-8"}


@every("case", LABELLED)
def test_damage_behind_a_readable_header_is_labelled(tmp_path: Path, case: str) -> None:
    recipe, expected = LABELLED[case]
    header = read(tmp_path, recipe.file())
    assert {finding.rule for finding in header.findings} == expected
    assert {finding.rule for finding in header.findings if finding.severity == "error"} == expected - BENIGN
    assert all("\n" not in finding.message and finding.path == "damaged.gguf" for finding in header.findings)


def test_missing_bytes_are_counted(tmp_path: Path) -> None:
    """A cut download reports how many bytes are missing, and the last tensor that misses some."""
    header = read(tmp_path, Recipe(infos=TWO, data=DATA[:-100]).file())
    (finding,) = header.findings
    assert "100 bytes missing" in finding.message and finding.tensor == "b"
    assert header.bytes_in("tensors") == 156


def test_every_prefix_of_a_file_is_an_error_or_labelled(tmp_path: Path) -> None:
    """Wherever a download stops, the header is refused in one line or its missing data counted."""
    content = Recipe(pairs=PAIRS, infos=TWO, data=DATA).file()
    header_end = len(Recipe(pairs=PAIRS, infos=TWO).header())
    for length in range(1, len(content)):
        try:
            header = read(tmp_path, content[:length])
        except FormatError:
            assert length < header_end
        else:
            assert header_end <= length and [f.rule for f in header.findings] == ["truncated"]


#: A short file extended with `truncate`: the apparent data are zeros.
HOSTILE: dict[str, tuple[Recipe, int]] = {
    "a billion empty strings": (Recipe(pairs=[("k", ARRAY, Array(STRING, [], 10**9))]), 10**10),
    "a billion empty arrays": (Recipe(pairs=[("k", ARRAY, Array(ARRAY, [], 5 * 10**8))]), 10**10),
    "millions of arrays": (Recipe(pairs=[("k", ARRAY, Array(ARRAY, [], 2**22))]), 10**8),
    "a billion key-values": (Recipe(n_pairs=10**8), 10**10),
    "a billion tensors": (Recipe(n_tensors=10**8), 10**10),
    "a string of nine gigabytes": (Recipe(pairs=[("k", STRING, Raw((9 * 10**9).to_bytes(8, "little")))]), 10**10),
    "an array of nine gigabytes": (Recipe(pairs=[("k", ARRAY, Array(UINT8, [], 9 * 10**9))]), 10**10),
    "a key of nine gigabytes": (Recipe(pairs=[], n_pairs=1), 10**10),
}


@every("case", HOSTILE)
def test_hostile_counts_are_cheap(tmp_path: Path, case: str) -> None:
    """Counts that only a ten-gigabyte file of zeros could hold are refused at once."""
    recipe, size = HOSTILE[case]
    path = tmp_path / "hostile.gguf"
    path.write_bytes(recipe.file() + ((9 * 10**9).to_bytes(8, "little") if "key of" in case else b""))
    with path.open("r+b") as file:
        file.truncate(size)
    with at_most(CALLS), pytest.raises(FormatError):
        gguf.read(LocalFile(path), "hostile.gguf")


@every("case", [*UNREADABLE, *LABELLED])
def test_the_command_says_it_in_a_line_or_shows_it(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit 2 and one line, or the overview with findings; the bridge adds up and the JSON is valid."""
    monkeypatch.setenv("INSPECT_DEBUG", "1")  # to reveal an error of the program itself
    recipe = UNREADABLE[case][0] if case in UNREADABLE else LABELLED[case][0]
    path = tmp_path / "damaged.gguf"
    path.write_bytes(recipe if isinstance(recipe, bytes) else recipe.file())
    for options in ([], ["--json", "--tensors"]):
        code = run([str(path), *options])
        out, err = capsys.readouterr()
        assert (code, out == "", err.count("\n")) == ((2, True, 1) if case in UNREADABLE else (0, False, 0))
        assert "\x1b" not in out + err
        if options and code == 0:
            bridge = json.loads(out)["reconciliation"]
            start = bridge["nominal"]["bytes"] if bridge["nominal"] else bridge["predicted"] or 0
            total = start + sum(step["bytes"] for step in bridge["steps"]) + bridge["unexplained"]["bytes"]
            assert total == bridge["on_disk"] == path.stat().st_size
