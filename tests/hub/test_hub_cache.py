"""When the cache holds everything that a target means, and when it cannot know."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inspector.sources.hub_cache import Snapshot, is_whole, snapshot_of

COMMIT = "0123456789" * 4


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "models--org--name"


def snapshot(store: Path, *files: str) -> Snapshot:
    """A snapshot that holds these files."""
    found = Snapshot(store, COMMIT)
    for name in files:
        (found.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (found.folder / name).write_bytes(b"x")
    return found


def index(store: Path, *files: str) -> None:
    path = Snapshot(store, COMMIT).folder / "model.safetensors.index.json"
    path.write_text(json.dumps({"weight_map": {f"t{n}": name for n, name in enumerate(files)}}))


@pytest.mark.parametrize(
    ("files", "path", "whole"),
    [
        (["model.safetensors", "config.json"], "", True),
        (["model.safetensors", "params.json"], "", True),
        (["model.safetensors"], "", False),  # there may be a configuration that was never requested
        (["model.safetensors"], "model.safetensors", False),
        (["model.safetensors", "config.json"], "model.safetensors", True),
        (["config.json"], "", False),
        ([], "", False),
        (["m-Q4_0.gguf"], "", False),  # the cache cannot know whether there are others
        (["m-Q4_0.gguf"], "m-Q4_0.gguf", True),
        (["m-Q4_0.gguf"], "m-Q8_0.gguf", False),
        (["m-00001-of-00002.gguf"], "m-00001-of-00002.gguf", False),
        (["m-00001-of-00002.gguf", "m-00002-of-00002.gguf"], "m-00001-of-00002.gguf", True),
        (["config.json", "m-00001-of-00002.safetensors"], "", False),
        (["config.json", "m-00001-of-00002.safetensors", "m-00002-of-00002.safetensors"], "", True),
        (["config.json", "m-00000-of-00002.safetensors", "m-00001-of-00002.safetensors"], "", True),
        (["config.json", "m-00001-of-99999.safetensors"], "", False),
        (["sub/model.safetensors", "sub/config.json"], "sub", True),
        (["sub/model.safetensors", "config.json"], "sub", False),
        (["model.safetensors"], "sub", False),
    ],
)
def test_by_the_names_of_files(store: Path, files: list[str], path: str, whole: bool) -> None:
    """Sets of shards must be complete; a file that may have unseen siblings counts only when it was named."""
    assert is_whole(snapshot(store, *files), path) is whole


def test_by_the_index(store: Path) -> None:
    """All files that the index names must be there, whatever they are called."""
    found = snapshot(store, "a.safetensors", "b.safetensors", "config.json")
    index(store, "a.safetensors", "b.safetensors")
    assert is_whole(found, "")
    index(store, "a.safetensors", "c.safetensors")
    assert not is_whole(found, "")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"weight_map": 1}', '{"weight_map": {"a": 1}}', "[" * 100_000])
def test_an_index_that_cannot_be_read_is_not_trusted(store: Path, text: str) -> None:
    found = snapshot(store, "a.safetensors", "config.json")
    assert is_whole(found, "")
    (found.folder / "model.safetensors.index.json").write_text(text)
    assert not is_whole(found, "")


def test_a_configuration_known_to_be_absent(store: Path) -> None:
    """The cache remembers which files it requested in vain."""
    found = snapshot(store, "model.safetensors")
    absent = store / ".no_exist" / COMMIT / "config.json"
    absent.parent.mkdir(parents=True)
    absent.touch()
    assert is_whole(found, "")


def test_by_the_listing_that_a_download_left(store: Path) -> None:
    """The listing names all files; one that cannot be read counts as none."""
    found = snapshot(store, "m-Q4_0.gguf", "sub/model.safetensors", "sub/config.json")
    trees = store / "trees"
    trees.mkdir()
    listing = trees / f"{COMMIT}.json"
    listing.write_text(json.dumps({"files": {"m-Q4_0.gguf": {}, "sub/model.safetensors": {}, "README.md": {}}}))
    assert is_whole(found, "")
    listing.write_text(json.dumps({"files": {"m-Q4_0.gguf": {}, "m-Q8_0.gguf": {}, "sub/model.safetensors": {}}}))
    assert not is_whole(found, "")
    assert is_whole(found, "sub")
    listing.write_text("{")
    assert is_whole(found, "sub")


def test_a_file_is_found_by_its_content_in_another_snapshot(store: Path) -> None:
    """The same content has the same blob at any commit; a partial download of it is not used."""
    blob = "ab" * 32
    (store / "blobs").mkdir(parents=True)
    (store / "blobs" / blob).write_bytes(b"12345678")
    found = Snapshot(store, COMMIT)
    assert found.file("model.safetensors", 8, blob) == store / "blobs" / blob
    assert found.file("model.safetensors", 9, blob) is None
    assert found.file("model.safetensors", 8, "../../secret") is None
    assert found.file("model.safetensors", 8) is None


def test_a_commit_is_named_by_its_first_digits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seven digits, as git prints them, if only one cached commit begins so; a branch of that name comes first."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    store, other = tmp_path / "models--org--name", "01234567" + "f" * 32
    for commit in (COMMIT, other):
        (store / "snapshots" / commit).mkdir(parents=True)

    def found(revision: str) -> str | None:
        snapshot = snapshot_of("org/name", "model", revision)
        return snapshot.commit if snapshot else None

    assert [found(each) for each in (COMMIT[:9], other[:9], COMMIT)] == [COMMIT, other, COMMIT]
    assert [found(each) for each in (COMMIT[:8], "012345", "fedcba9")] == [None, None, None]  # two, too short, none
    (store / "refs").mkdir()
    (store / "refs" / COMMIT[:9]).write_text(other)
    assert found(COMMIT[:9]) == other
