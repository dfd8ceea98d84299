"""A repository compared with a folder or with another revision: by headers alone, with `--data` by ranges."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Ran
from loopback import samples, server
from loopback.server import Hub, Repo

import inspector
from inspector.comparing.companions import companions

Run = Callable[..., Ran]


def test_a_repository_against_a_copy_reads_headers_alone(llama: str, hub: Hub, tmp_path: Path) -> None:
    """LLaMA-7B of 13.5 GB: 291 tensors and 32 buffers are found equal after less than a megabyte of transfer."""
    copy = tmp_path / "copy"
    shutil.copytree(hub.repos[llama].folder, copy, copy_function=linked)
    result = inspector.diff(llama, copy)
    assert (result.counts["same"], result.differs) == (291 + 32, False)
    assert result.a.checkpoint.origin.kind == "hub"
    assert result.a.checkpoint.origin.bytes_read < 1_000_000


def linked(source: str, target: str) -> str:
    """A folder of links, since a copy would not be sparse."""
    Path(target).hardlink_to(source)
    return target


def test_values_over_the_network(single: str, hub: Hub, tmp_path: Path) -> None:
    """Every tensor of a small model is read by ranges, and equals the copy's but for one byte."""
    copy = tmp_path / "copy"
    shutil.copytree(hub.repos[single].folder, copy)
    weights = copy / "model.safetensors"
    data = bytearray(weights.read_bytes())
    data[-2] ^= 1
    weights.write_bytes(data)
    result = inspector.diff(single, copy, data=True)
    assert result.agreements is not None
    assert result.agreements["different"] == 1
    assert sum(result.agreements.values()) == len(result.pairs)


def revisions(hub: Hub, folder: Path) -> Path:
    """demo/twice: `main`, and a revision `tuned` with files of the same sizes, whose contents a test may change."""
    folder.mkdir()
    samples.safetensors(folder / "model.safetensors", samples.llama(1, 64, 128, 100))
    (folder / "config.json").write_text(json.dumps({"model_type": "llama", "vocab_size": 100}))
    (folder / "generation_config.json").write_text(json.dumps({"temperature": 0.6}))
    words = {f"token {number:0100}": number for number in range(15_000)}  # 1.7 MB: Qwen's is 11
    (folder / "tokenizer.json").write_text(json.dumps({"model": {"type": "BPE", "vocab": words}}))
    other = folder.parent / f"{folder.name} tuned"
    shutil.copytree(folder, other)
    (other / "README.md").write_text("tuned")
    hub.repos["demo/twice"] = Repo(folder, revisions={"tuned": other})
    return other


def test_two_revisions_are_compared_by_listings_and_headers(hub: Hub, tmp_path: Path, inspect: Run) -> None:
    """They differ only in tensor names: a listing, a configuration and a header of each are read, no tokenizer."""
    revisions(hub, tmp_path / "twice")
    ran = inspect("diff", "demo/twice@main", "demo/twice@tuned", "--all")
    assert (ran.code, "vocabulary" in ran.out) == (0, True)
    asked = [entry.path for entry in hub.answered()]
    assert len(asked) == 6
    assert not [path for path in asked if "tokenizer" in path or "generation" in path]
    assert sum(entry.sent for entry in hub.log) < 300_000


@pytest.mark.parametrize("workers", [1, 3])
def test_each_side_is_listed_once(workers: int, hub: Hub, tmp_path: Path) -> None:
    """Headers, the files beside the weights and the values share one list of files for each side."""
    revisions(hub, tmp_path / "twice")
    inspector.diff("demo/twice@main", f"{hub.endpoint}/demo/twice/tree/tuned", data=True, workers=workers)
    listings = [entry.path.partition("?")[0] for entry in hub.answered() if entry.path.startswith("/api/models/")]
    asked = Counter(path.rpartition("/")[2] for path in listings)
    assert asked == {"main": 1, "tuned": 1}


def test_a_push_in_between_does_not_mix_two_commits(hub: Hub, tmp_path: Path) -> None:
    """The branch moves after the headers were read: the settings compared are still those of the first commit."""
    other = revisions(hub, tmp_path / "twice")
    before = inspector.open("demo/twice@tuned")
    pushed = tmp_path / "pushed"
    shutil.copytree(other, pushed)
    (pushed / "generation_config.json").write_text(json.dumps({"temperature": 0.25}))
    hub.repos["demo/twice"].revisions.update(tuned=pushed, older=other)
    found = {each.what: each.status for each in companions(inspector.open("demo/twice"), before)}
    assert found["generation_config.json"] == "same"


@pytest.mark.parametrize("large", [True, False], ids=["sha256", "git"])
def test_a_vocabulary_too_large_to_fetch_is_compared_by_its_digest(
    large: bool, hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two vocabularies of the same size with two tokens swapped are found to differ, and neither is fetched."""
    monkeypatch.setattr(server, "is_large", lambda path: large or str(path).endswith(".safetensors"))
    other = revisions(hub, tmp_path / "twice")
    tokenizer = other / "tokenizer.json"
    text = tokenizer.read_text()
    tokenizer.write_text(text.replace('000": 0,', '000": 9,', 1).replace('09": 9,', '09": 0,', 1))
    assert tokenizer.stat().st_size == len(text)
    result = inspector.diff("demo/twice@main", "demo/twice@tuned")
    (found,) = (each for each in result.beside if each.what == "vocabulary")
    assert (found.status, found.detail) == ("different", "by its digest")
    assert sum(entry.sent for entry in hub.settled()) < 300_000
    local = inspector.diff("demo/twice@tuned", other)
    assert [each.status for each in local.beside] == ["same"] * len(local.beside)
    assert sum(entry.sent for entry in hub.settled()) < 500_000


def test_settings_that_differ_are_read_field_by_field(hub: Hub, tmp_path: Path) -> None:
    other = revisions(hub, tmp_path / "twice")
    (other / "generation_config.json").write_text(json.dumps({"temperature": 0.9}))
    result = inspector.diff("demo/twice@main", "demo/twice@tuned")
    assert [(each.what, each.detail) for each in result.beside if each.status != "same"] == [
        ("generation_config.json", "temperature")
    ]


def test_a_revision_against_the_cache_reads_headers_alone(hub: Hub, tmp_path: Path) -> None:
    """A snapshot as `huggingface_hub` keeps it, with links to blobs: only headers are fetched."""
    revisions(hub, tmp_path / "twice")
    store = tmp_path / "cache" / "models--demo--twice"
    snapshot = store / "snapshots" / ("0" * 40)
    snapshot.mkdir(parents=True)
    (store / "blobs").mkdir()
    for path in (tmp_path / "twice").iterdir():
        blob = store / "blobs" / hashlib.sha256(path.read_bytes()).hexdigest()
        shutil.copy(path, blob)
        (snapshot / path.name).symlink_to(blob)
    result = inspector.diff("demo/twice@tuned", snapshot)
    assert not result.differs
    assert result.counts["same"] == len(result.pairs)
    assert sum(entry.sent for entry in hub.settled()) < 500_000
