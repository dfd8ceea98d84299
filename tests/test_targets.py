"""Kinds of targets: a file, a folder of each kind, an index; and limits on what a target makes us read."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import sparse
from conftest import Ran, write
from every import every

import inspector
from inspector import InspectorError, TargetError

Made = Callable[[str], Path]
TENSOR = {"t": {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]}}


def rules(checkpoint: inspector.Checkpoint) -> set[str]:
    return {finding.rule for finding in checkpoint.all_findings}


def shard(folder: Path, name: str, tensor: str) -> Path:
    return write(folder / name, {tensor: TENSOR["t"]}, 4)


def test_a_file_finds_its_configuration(made: Made) -> None:
    """config.json beside a file is used; the folder's other files are not part of its repository."""
    checkpoint = inspector.open(made("gpt2") / "model.safetensors")
    assert checkpoint.config is not None and checkpoint.config.model_type == "gpt2"
    assert checkpoint.other is None


def test_a_folder_with_an_index(made: Made) -> None:
    """The index's files, in order, and the files beside them."""
    checkpoint = inspector.open(made("llama-7b"))
    assert [header.path for header in checkpoint.files] == [f"model-0000{n}-of-00002.safetensors" for n in (1, 2)]
    assert {other.kind for other in checkpoint.other or ()} == {"config", "index"}
    assert checkpoint.repository_size == sum(path.stat().st_size for path in made("llama-7b").iterdir())


def test_an_index_file_is_its_checkpoint(made: Made) -> None:
    """Naming the index means the files that it lists."""
    folder = inspector.open(made("llama-7b"))
    index = inspector.open(made("llama-7b") / "model.safetensors.index.json")
    assert index.files == folder.files


@pytest.mark.parametrize("start", [0, 1])
@pytest.mark.parametrize("pattern", ["model-{:05}-of-{:05}.safetensors", "model_{:05}-of-{:06}.safetensors"])
def test_shards_without_an_index(tmp_path: Path, pattern: str, start: int) -> None:
    """Shards belong together by their names, counted from 0 or 1."""
    for number in range(start, start + 3):
        shard(tmp_path, pattern.format(number, 3), f"t{number}")
    checkpoint = inspector.open(tmp_path)
    assert len(checkpoint.files) == 3
    assert "missing-shard" not in rules(checkpoint)


def test_a_missing_shard_is_reported(tmp_path: Path) -> None:
    """The message has its number."""
    shard(tmp_path, "model-00001-of-00003.safetensors", "a")
    shard(tmp_path, "model-00003-of-00003.safetensors", "c")
    checkpoint = inspector.open(tmp_path)
    assert [f.message for f in checkpoint.findings if f.rule == "missing-shard"] == ["1 shard of 3 missing: 2"]


def test_independent_files_are_one_checkpoint(tmp_path: Path) -> None:
    """Files without an order are read together."""
    shard(tmp_path, "a.safetensors", "a")
    shard(tmp_path, "b.safetensors", "b")
    assert len(inspector.open(tmp_path).files) == 2


def test_the_usual_file_is_the_main_one(tmp_path: Path) -> None:
    """model.safetensors beside another copy: the other is reported, not counted."""
    shard(tmp_path, "model.safetensors", "a")
    shard(tmp_path, "model.fp16.safetensors", "a")
    checkpoint = inspector.open(tmp_path)
    assert [header.path for header in checkpoint.files] == ["model.safetensors"]
    assert "several-checkpoints" in rules(checkpoint)


def test_include_picks(tmp_path: Path) -> None:
    """A glob selects among several files, and one that matches nothing is an error."""
    shard(tmp_path, "model.safetensors", "a")
    shard(tmp_path, "model.fp16.safetensors", "a")
    assert [h.path for h in inspector.open(tmp_path, include="*fp16*").files] == ["model.fp16.safetensors"]
    with pytest.raises(TargetError, match="matches"):
        inspector.open(tmp_path, include="*int8*")


def test_weights_in_the_only_subfolder(tmp_path: Path) -> None:
    """A folder that only contains the model's folder is searched."""
    (tmp_path / "inner").mkdir()
    shard(tmp_path / "inner", "model.safetensors", "a")
    assert [header.path for header in inspector.open(tmp_path).files] == ["inner/model.safetensors"]


def index(folder: Path, *files: str) -> Path:
    path = folder / "model.safetensors.index.json"
    path.write_text(json.dumps({"weight_map": {f"t{n}": name for n, name in enumerate(files)}}))
    return path


def test_an_index_that_names_a_missing_file(tmp_path: Path) -> None:
    """Existing files are read, missing ones are reported."""
    shard(tmp_path, "a.safetensors", "t0")
    index(tmp_path, "a.safetensors", "gone.safetensors")
    checkpoint = inspector.open(tmp_path)
    assert len(checkpoint.files) == 1
    assert "missing-shard" in rules(checkpoint)


@pytest.mark.parametrize(
    "name", ["../outside.safetensors", "/etc/passwd", "../../etc/passwd", "..\\outside.safetensors"]
)
def test_an_index_cannot_lead_outside(tmp_path: Path, name: str) -> None:
    """No file outside the folder is opened, whatever the index says."""
    folder = tmp_path / "model"
    folder.mkdir()
    shard(tmp_path, "outside.safetensors", "secret")
    shard(folder, "a.safetensors", "t0")
    index(folder, "a.safetensors", name)
    checkpoint = inspector.open(folder)
    assert [header.path for header in checkpoint.files] == ["a.safetensors"]
    assert "index-path" in rules(checkpoint)


@every("text", ["", "{", "[]", "{}", '{"weight_map": []}', '{"weight_map": {"a": 1}}', "{}{}", "\xff"])
def test_a_broken_index_is_one_clear_error(tmp_path: Path, text: str) -> None:
    """Not JSON, two documents, or no map: the message has the file's name."""
    shard(tmp_path, "a.safetensors", "t0")
    (tmp_path / "model.safetensors.index.json").write_text(text, encoding="latin-1")
    with pytest.raises(InspectorError, match=r"^model\.safetensors\.index\.json[^\n]*$"):
        inspector.open(tmp_path)


@pytest.mark.parametrize("text", ["", "{", "[]", "7", '{"a": 1}{"b": 2}', "[" * 100_000])
def test_a_broken_configuration_counts_as_none_and_is_reported(tmp_path: Path, text: str) -> None:
    """The checkpoint is still read, without a configuration."""
    shard(tmp_path, "model.safetensors", "a")
    (tmp_path / "config.json").write_text(text)
    checkpoint = inspector.open(tmp_path)
    assert checkpoint.config is None
    assert "config" in rules(checkpoint)


def test_one_bad_shard_among_several(tmp_path: Path) -> None:
    """The others are read, and its bytes stay in the sums."""
    shard(tmp_path, "model-00001-of-00002.safetensors", "a")
    (tmp_path / "model-00002-of-00002.safetensors").write_bytes(b"version https://git-lfs.github.com/spec/v1\n")
    checkpoint = inspector.open(tmp_path)
    result = inspector.reconcile(checkpoint)
    assert "lfs-pointer" in rules(checkpoint)
    assert result.on_disk == sum(path.stat().st_size for path in tmp_path.iterdir())
    assert {step.cause: step.bytes for step in result.steps}["unreadable"] == 43


def test_folders_without_weights(tmp_path: Path) -> None:
    """The message lists what is read, and what is there instead."""
    with pytest.raises(
        TargetError, match=r"no weights among its 0 files; read are \.safetensors, \.gguf, \.bin, .*\.npz"
    ):
        inspector.open(tmp_path)
    (tmp_path / "optimizer.pt").write_bytes(b"PK")
    with pytest.raises(TargetError, match="only 1 file of a training run"):
        inspector.open(tmp_path)


def test_an_empty_folder_names_the_folders_of_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those on this machine with their command; where there is none, where they usually are."""
    for name in ("HF_HOME", "HF_HUB_CACHE", "XDG_CACHE_HOME", "OLLAMA_MODELS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    (empty := tmp_path / "empty").mkdir()
    usual = [f"{tmp_path}/{each}" for each in (".cache/huggingface/hub", ".ollama/models", ".lmstudio/models")]
    for tried in (lambda: inspector.open(empty), lambda: inspector.audit(empty)):
        with pytest.raises(TargetError) as caught:
            tried()
        assert all(each in str(caught.value) for each in usual)
    Path(usual[2]).mkdir(parents=True)
    with pytest.raises(TargetError, match=rf"on this machine: `inspect {usual[2]}` \(LM Studio\)$"):
        inspector.open(empty)


@every("target", [r"C:\models\x", "C:/models/x", "d:model.gguf", r"\\server\share\x", r"models\x"])
def test_a_windows_path_is_not_taken_for_a_repository(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A letter before a colon is a drive, not a repository with a type after it."""
    monkeypatch.setattr("inspector.sources.hub.hub_place", lambda *_: pytest.fail("the Hub was asked"))
    with pytest.raises(TargetError, match="no such file or folder"):
        inspector.open(target)


def test_a_pipe_or_missing_path_is_not_opened(tmp_path: Path) -> None:
    """A pipe is not waited for, a missing path is named."""
    os.mkfifo(tmp_path / "model.safetensors")
    with pytest.raises(TargetError, match="is a pipe, and only files can be read"):
        inspector.open(tmp_path / "model.safetensors")
    with pytest.raises(TargetError, match="neither a file nor a folder"):
        inspector.open("/dev/null")
    with pytest.raises(TargetError, match="no such file"):
        inspector.open(tmp_path / "nothing.safetensors")


def test_a_pipe_is_reported_as_a_pipe(made: Made) -> None:
    """The target of /dev/stdin has no path of its own, so that it was reported as missing."""
    with (made("gpt2") / "model.safetensors").open("rb") as model:
        begin = model.read(100_000)
    stated = subprocess.run(
        [sys.executable, "-m", "inspector", "/dev/stdin"],
        input=begin,
        capture_output=True,
        check=False,
    )
    assert (stated.returncode, stated.stdout) == (2, b"")
    assert stated.stderr == b"inspect: /dev/stdin is a pipe, and only files can be read: write it to one first\n"


def test_reads_headers_index_and_configuration_and_nothing_else(made: Made) -> None:
    """The bytes read are exactly those (promise 4)."""
    folder = made("llama-7b")
    checkpoint = inspector.open(folder)
    headers = sum(header.bytes_in("header") for header in checkpoint.files)
    beside = sum((folder / name).stat().st_size for name in ("config.json", "model.safetensors.index.json"))
    assert checkpoint.origin.bytes_read == headers + beside


def test_config_option_replaces_the_one_beside(made: Made, tmp_path: Path, inspect: Callable[..., Ran]) -> None:
    """--config FILE has precedence over any configuration beside the weights."""
    config = sparse.load("gpt2")["beside"]["config.json"] | {"n_layer": 11}
    (tmp_path / "other.json").write_text(json.dumps(config))
    ran = inspect(made("gpt2"), "--config", tmp_path / "other.json", "--json")
    assert ran.json["parameters"]["predicted"] < ran.json["parameters"]["logical"]


@pytest.mark.parametrize(("name", "ahead"), [("llama-7b", 0), ("mistral-7b-instruct-v0.2-q4_k_m", 4096)])
def test_the_disk_is_asked_for_the_headers_alone(
    name: str, ahead: int, made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the system's own count. A GGUF's header has no stated length: its last page is read, too."""
    asked: list[int] = []
    pread = os.pread

    def counted(descriptor: int, length: int, offset: int) -> bytes:
        data = pread(descriptor, length, offset)
        asked.append(len(data))
        return data

    monkeypatch.setattr(os, "pread", counted)
    files = inspector.open(made(name)).files
    headers = sum(region.end - region.start for file in files for region in file.regions if region.label != "tensors")
    headers -= sum(region.size for file in files for region in file.regions if region.label == "padding")
    documents = sum(path.stat().st_size for path in made(name).glob("*.json"))
    assert headers + documents <= sum(asked) <= headers + documents + ahead


# --- shards, and several targets ------------------------------------------------------------------


def test_a_shard_stands_for_its_set(made: Callable[[str], Path], inspect: Callable[..., Ran]) -> None:
    """Loaders use the index beside it, and so do we. `--alone` reads the one file."""
    shard = made("llama-7b") / "model-00001-of-00002.safetensors"
    ran = inspect(shard, "--json").json
    assert ran["parameters"]["logical"] == 6_738_415_616
    assert (len(ran["files"]), ran["findings"]) == (2, [])
    alone = inspect(shard, "--alone", "--json").json
    assert len(alone["files"]) == 1
    assert "lone-shard" in {each["rule"] for each in alone["findings"]}


def test_a_set_without_an_index_goes_by_names(tmp_path: Path, inspect: Callable[..., Ran]) -> None:
    """The missing parts are one finding, whichever part is named."""
    for number in (1, 3):
        sparse.write_safetensors(tmp_path / f"m-0000{number}-of-00003.safetensors", [("F32", [2], f"t{number}")])
    ran = inspect(tmp_path / "m-00003-of-00003.safetensors", "--json").json
    assert [each["path"] for each in ran["files"]] == ["m-00001-of-00003.safetensors", "m-00003-of-00003.safetensors"]
    reported = [each["message"] for each in ran["findings"] if each["rule"] == "missing-shard"]
    assert reported == ["1 shard of 3 missing: 2"]


def test_several_targets_are_shown_one_after_the_other(
    made: Callable[[str], Path], tmp_path: Path, inspect: Callable[..., Ran]
) -> None:
    """An unreadable one does not hide the others, and the exit code reflects it."""
    ran = inspect(made("gpt2"), tmp_path / "nothing.gguf", made("llama-7b"))
    assert ran.code == 2
    assert (ran.err.count("\n"), ran.err[:9]) == (1, "inspect: ")
    assert [line for line in ran.out.splitlines() if line in ("gpt2", "llama-7b")] == ["gpt2", "llama-7b"]
    both = inspect(made("gpt2"), made("llama-7b"), "--json").json
    assert [each["parameters"]["logical"] for each in both["checkpoints"]] == [124_439_808, 6_738_415_616]


def test_config_may_be_a_folder(made: Callable[[str], Path], tmp_path: Path, inspect: Callable[..., Ran]) -> None:
    """For example the folder of the base."""
    sparse.make(sparse.load("llama-7b"), tmp_path / "lone")
    (tmp_path / "lone" / "config.json").unlink()
    ran = inspect(tmp_path / "lone", "--config", made("llama-7b"), "--json").json
    assert ran["architecture"]["config"] == "config.json"


def test_a_mistyped_file_is_reported_with_similar_names(tmp_path: Path, inspect: Callable[..., Ran]) -> None:
    """The message lists similar names in its folder."""
    shard(tmp_path, "model-00001-of-00002.safetensors", "t")
    ran = inspect(f"{tmp_path}/model-0001-of-00002.safetensors")
    assert ran.code == 2
    assert ran.err.endswith("no such file or folder; near it: model-00001-of-00002.safetensors\n")
