"""A model as rules receive it: what is read of its files, its limits, and findings during reading."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hostile.files import Link, dump, gguf, safetensors, write

from inspector.auditing import limits, targets
from inspector.auditing.subject import Subject
from inspector.sources.listing import entries
from inspector.sources.local import LocalPlace

if TYPE_CHECKING:
    import pytest

WEIGHTS = safetensors({"a": [4]})


def made(folder: Path, files: dict[str, Any]) -> Subject:
    """A folder of these files."""
    write(files, folder)
    listed = list(entries(folder))
    return Subject(LocalPlace(folder, targets.listed_files(listed)), listed, str(folder), str(folder))


def reported(subject: Subject) -> list[tuple[str, str, str, str | None]]:
    """The findings from reading the files."""
    _ = subject.checkpoint, subject.extra
    return [(each.rule, each.severity, each.message, each.path) for each in subject.findings]


def test_a_header_beyond_what_any_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_HEADER", 64)
    files = {"model.safetensors": safetensors({"x" * 100: [4]}), "config.json": b"{}"}
    length = int.from_bytes(files["model.safetensors"][:8], "little")
    own = made(tmp_path / "a", files)
    assert reported(own) == [
        ("header-size", "error", f"{length} bytes, but no sound file needs 64: not checked", "model.safetensors")
    ]
    assert (own.headers, own.extra, own.incomplete) == ((), (), True)
    monkeypatch.setattr(limits, "MAX_HEADER", length)
    own = made(tmp_path / "b", files)
    assert (reported(own), len(own.headers), own.incomplete) == ([], 1, False)


def test_more_tensors_than_any_gguf_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = gguf({}, {"a": [4], "b": [4]})
    big = gguf({}, {"a": [4], "b": [4]}, order=">")
    monkeypatch.setattr(limits, "MAX_TENSORS", 1)
    for name, content in (("little", file), ("big", big)):
        own = made(tmp_path / name, {"m.gguf": content})
        what = "2 tensors, but no sound file needs 1: not checked"
        assert reported(own) == [("header-size", "error", what, "m.gguf")]
    monkeypatch.setattr(limits, "MAX_TENSORS", 2)
    assert reported(made(tmp_path / "c", {"m.gguf": file})) == []


def test_documents_beyond_what_any_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_DOCUMENT", 20)
    own = made(tmp_path, {"model.safetensors": WEIGHTS, "config.json": dump({"model_type": "llama"})})
    assert reported(own) == [("config", "error", "23 bytes, but no sound file needs 20: not checked", "config.json")]
    assert own.config is None
    assert own.document("config.json") == {}
    assert own.too_large(own.by_path["config.json"])
    assert not own.too_large(own.by_path["model.safetensors"]) or own.by_path["model.safetensors"].size > 20


def test_documents_are_read_as_far_as_there_are_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("a/config.json", "b/modules.json", "c/model_index.json", "d/chat_template.json")
    own = made(tmp_path, dict.fromkeys(names, b'{"k": 1}'))
    monkeypatch.setattr(limits, "MAX_DOCUMENTS", 24)
    assert [own.document(name) for name in names] == [{"k": 1}] * 3 + [{}]
    assert [own.too_large(own.by_path[name]) for name in names] == [False, False, False, True]


def test_documents_of_any_kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "KEPT_DOCUMENTS", 2)
    own = made(tmp_path, {"a.json": b'{"k": 1}', "b.json": b"[1]", "c.json": b"{", "d.json": b""})
    for _ in range(2):
        assert [own.document(f"{name}.json") for name in "abcdx"] == [{"k": 1}, {}, {}, {}, {}]
    (tmp_path / "a.json").write_bytes(b"{}")
    assert own.document("d.json") == {}  # kept
    assert own.document("a.json") == {}  # read anew


def test_more_files_than_are_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"z/m.safetensors": WEIGHTS, "a.txt": b"x", "b.txt": b"x", "c.json": b"{}"}
    monkeypatch.setattr(limits, "MAX_FILES", 4)
    own = made(tmp_path / "a", files)
    assert ([entry.path for entry in own.entries], own.findings) == (sorted(files), [])
    monkeypatch.setattr(limits, "MAX_FILES", 3)
    own = made(tmp_path / "b", files)
    assert [entry.path for entry in own.entries] == ["c.json", "z/m.safetensors", "a.txt"]
    what = "4 files, of which 3 were examined: the others were not checked"
    assert [(each.rule, each.severity, each.message) for each in own.findings] == [("many-files", "error", what)]
    assert not own.readable("b.txt")


def test_weights_beside_the_models_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"model.safetensors": safetensors({"a": [99]}), "config.json": b"{}"}
    beside = {"d/1.safetensors": WEIGHTS, "d/2.safetensors": b"x" * 30, "d/3.safetensors": WEIGHTS}
    own = made(tmp_path / "a", {**files, **beside})
    assert reported(own) == [("not-weights", "error", "is a text file, not weights", "d/2.safetensors")]
    assert [header.path for header in own.extra] == ["d/1.safetensors", "d/3.safetensors"]
    assert [header.path for header in own.all_headers] == ["model.safetensors", "d/1.safetensors", "d/3.safetensors"]
    monkeypatch.setattr(limits, "MAX_EXTRA", 1)
    own = made(tmp_path / "b", {**files, **beside})
    what = "2 weight files beside the first 1: not checked"
    assert reported(own) == [("not-judged", "error", what, "d/2.safetensors")]
    assert [header.path for header in own.extra] == ["d/1.safetensors"]


def test_bytes_and_names(tmp_path: Path) -> None:
    files = {
        "a.bin": b"0123456789",
        "d/e/f.txt": "größe".encode(),
        "d/g": b"\xff",
        "link": Link("/etc/hostname"),
        "d/Big.JSON": b"{}",
    }
    own = made(tmp_path, files)
    assert (own.head("a.bin", 4), own.head("a.bin", 99), own.span("a.bin", 8, 9)) == (b"0123", b"0123456789", b"89")
    assert (own.span("a.bin", 10, 1), own.head("gone", 3), own.head("link", 3)) == (b"", b"", b"")
    with own.reading("a.bin") as read:
        assert (read(2, 3), read(8, 9), read(-1, 2), read(10, 1), read(3, 0)) == (b"234", b"89", b"", b"", b"")
    with own.reading("link") as read:
        assert read(0, 4) == b""
    assert (own.text("d/e/f.txt"), own.text("d/g"), own.text("gone"), own.text("a.bin", 9)) == (
        "größe",
        None,
        None,
        None,
    )
    assert [each.path for each in own.named(".json", ".bin")] == ["a.bin", "d/Big.JSON"]
    assert own.names_in("d") == {"e/f.txt", "g", "Big.JSON"}
    assert own.names_in("..") == own.names_in("/etc") == own.names_in("gone") == own.names_in("a\0b") == frozenset()
    assert (own.folders_in(""), own.folders_in("d/"), own.folders_in("gone/")) == (
        frozenset({"d"}),
        frozenset({"e"}),
        frozenset[str](),
    )
    assert own.names_beside(own.by_path["d/g"]) == {"e/f.txt", "g", "Big.JSON"}
    assert own.names_beside(own.by_path["a.bin"]) == frozenset(own.by_path)
    assert (own.is_local, own.on_disk("a.bin"), own.on_disk("link")) == (True, tmp_path / "a.bin", None)
    assert own.refusal(own.by_path["a.bin"]) is None
    (tmp_path / "a.bin").write_bytes(b"0")
    assert own.refusal(own.by_path["a.bin"]) == "it was truncated while other files were read"
    os.remove(tmp_path / "a.bin")  # noqa: PTH107  the file, not a path that is followed
    assert own.refusal(own.by_path["a.bin"]) == "it was deleted while other files were read"
    assert own.refusal(own.by_path["link"]) is None


def test_one_file_of_several(tmp_path: Path) -> None:
    """Documents beside it may be read, but other weights and indexes are not, nor are they judged."""
    write({"a.safetensors": WEIGHTS, "b.safetensors": WEIGHTS, "config.json": b"{}", "x.index.json": b"{}"}, tmp_path)
    listed = list(entries(tmp_path))
    place = LocalPlace(tmp_path / "a.safetensors")
    own = Subject(place, listed, str(tmp_path / "a.safetensors"), str(tmp_path))
    assert (own.alone, own.members) == ("a.safetensors", frozenset({"a.safetensors"}))
    assert [each.path for each in own.entries] == ["a.safetensors"]
    readable = [path for path in own.by_path if own.readable(path)]
    assert readable == ["a.safetensors", "config.json"]
    assert [header.path for header in own.all_headers] == ["a.safetensors"]
    whole = Subject(LocalPlace(tmp_path, targets.listed_files(listed)), listed, str(tmp_path), str(tmp_path))
    assert (whole.alone, whole.members, len(whole.entries)) == (None, frozenset(), 4)


def test_models_that_lie_together(tmp_path: Path) -> None:
    """For sets beside the selected one, missing parts are reported."""
    files = {"model.safetensors": safetensors({"a": [99]}), "lama-00001-of-00002.safetensors": WEIGHTS}
    own = made(tmp_path, files)
    found = [(each.rule, each.path) for each in own.of_other_sets]
    assert ("missing-shard", None) in [(rule, None) for rule, _ in found]
    assert own.folder == ""
    inner = made(tmp_path / "b", {"d/model.safetensors": WEIGHTS})
    assert inner.folder in ("", "d/")
