"""A folder adds up: each checkpoint is a row, the same for every command, and the parts sum to all files below it."""

from __future__ import annotations

import hashlib
import shutil
import struct
from collections.abc import Callable
from pathlib import Path

import folders
import pytest
from conftest import Ran
from every import every

import inspector
from inspector import units
from inspector.auditing.targets import Failed, subjects
from inspector.opening.models import checkpoints_in
from inspector.scanning.discovery import discover
from inspector.scanning.inspection import subjects as subjects_of_unit
from inspector.sources.local import LocalPlace

Inspect = Callable[..., Ran]
COMMIT = "c" * 40


def within(root: Path, target: str) -> str:
    """A target as a path in the folder."""
    return "" if Path(target) == root else str(Path(target).relative_to(root))


def rows_of(expected: folders.Expected) -> list[str]:
    return sorted(row.replace("{c}", COMMIT) for row in expected.rows)


@every("name", folders.LAYOUTS)
def test_every_checkpoint_is_a_row(name: str, tmp_path: Path) -> None:
    """And a copy is one of the row whose tensors it has."""
    root, expected = folders.made(name, tmp_path / "folder")
    found = checkpoints_in(LocalPlace(root))
    assert sorted(each.name for each in found) == rows_of(expected)
    assert {each.name: each.foreign for each in found if each.foreign} == expected.foreign
    copies = sorted(file for each in found for copy in each.copies for file in copy.files)
    assert copies == sorted(file for file in expected.copies if not file.startswith(".git"))


@every("name", folders.LAYOUTS)
def test_commands_see_the_same_rows(name: str, tmp_path: Path) -> None:
    """The audit, a scan, the table of models, and the account."""
    root, expected = folders.made(name, tmp_path / "folder")
    rows = rows_of(expected)
    audited = [each for each in subjects(str(root)) if not isinstance(each, Failed)]
    assert sorted(within(root, each.target) for each in audited if each.is_model) == rows
    scanned = [each for unit in discover([str(root)]) for each in subjects_of_unit(unit)]
    assert sorted(within(root, each.target) for each in scanned if not isinstance(each, Failed) and each.is_model) == (
        rows
    )
    listed = sorted(within(root, named.target) for named, _ in inspector.models(root))
    assert listed == (rows if len(rows) > 1 else [])
    account = inspector.folder(root)
    assert account is not None
    others = {"" if each.name == "." else each.name for each in account.checkpoints}
    assert others <= set(rows)
    assert len(others) == len(rows) - bool(account.weights)


@every("name", folders.LAYOUTS)
def test_the_parts_sum_to_all_files(name: str, tmp_path: Path) -> None:
    """As a walk over the folder counts them: hidden files too, each inode once."""
    root, _ = folders.made(name, tmp_path / "folder")
    account = inspector.folder(root)
    assert account is not None
    assert (account.size, account.files) == folders.size_of(root)
    sizes = [each.size for each in account.copies] + [each.size for each in account.checkpoints]
    assert account.weights + sum(sizes) + account.other == account.size


@every("name", folders.LAYOUTS)
def test_names_can_be_typed(name: str, tmp_path: Path) -> None:
    """Each opens its own files, and no others."""
    root, _ = folders.made(name, tmp_path / "folder")
    for each in checkpoints_in(LocalPlace(root)):
        if each.foreign:
            with pytest.raises(inspector.InspectorError, match="not read") as raised:
                inspector.open(root / each.name)
            assert "safetensors file, or a damaged one" not in str(raised.value)
        else:
            opened = inspector.open(root / each.name)
            parts = (opened, *(part.checkpoint for part in opened.components))
            base = opened.origin.location
            base = base if Path(base).is_dir() else str(Path(base).parent)
            paths = {within(root, f"{base}/{header.path}") for part in parts for header in part.files}
            assert paths == set(each.paths), (name, each.name)


def test_the_second_line_says_what_the_folder_holds(tmp_path: Path, inspect: Inspect) -> None:
    """A copy for PyTorch, and git-LFS's objects of both shards."""
    folders.git_clone(tmp_path)
    folders.shards(tmp_path, "pytorch_model", "bin")
    copy = sum(path.stat().st_size for path in tmp_path.glob("pytorch_model*.bin"))
    objects = sum(path.stat().st_size for path in (tmp_path / ".git" / "lfs").rglob("*") if path.is_file())
    total, files = folders.size_of(tmp_path)
    stated = f"the folder is {units.decimal(total)}: {units.decimal(copy)} in 1 more copy (PyTorch), "
    assert f"{stated}{units.decimal(objects)} in .git/lfs" in inspect(tmp_path).out.splitlines()[1]
    folder = inspect(tmp_path, "--json").json["folder"]
    assert (folder["size"], folder["files"]) == (total, files)
    assert [each["size"] for each in folder["copies"]] == [copy, objects]
    assert folder["copies"][0]["evidence"] == "the same 21 tensors by name, shape and bits; values were not compared"


def test_a_run_is_steps_and_its_optimizers(tmp_path: Path, inspect: Inspect) -> None:
    """Two moments of each parameter in F32, so four times the bytes of the weights in BF16."""
    folders.trainer(tmp_path)
    document = inspect(tmp_path, "--json").json
    weights = (tmp_path / "model.safetensors").stat().st_size
    steps = [(each["name"], each["size"], each["detail"]) for each in document["folder"]["checkpoints"]]
    assert steps == [("checkpoint-500", weights, "step 500"), ("checkpoint-1000", weights, "step 1000")]
    optimizer = document["folder"]["rest"][0]
    assert (optimizer["kind"], optimizer["files"]) == ("optimizer state", 2)
    assert optimizer["detail"] == "twice the model, each: exp_avg and exp_avg_sq in F32"
    assert document["verdict"]["state"] == "complete"
    assert "duplicate" not in inspect(tmp_path).out


def test_ranks_in_folders_of_their_own_are_read_together(tmp_path: Path) -> None:
    """From the run's folder and from the step's: two ranks of Megatron-LM."""
    for rank in (0, 1):
        folders.torch(tmp_path / "iter_0000010" / f"mp_rank_0{rank}" / "model_optim_rng.pt", 1)
    for target in (tmp_path, tmp_path / "iter_0000010"):
        opened = inspector.open(target)
        assert [header.path.rpartition("iter_0000010/")[2] for header in opened.files] == [
            f"mp_rank_0{rank}/model_optim_rng.pt" for rank in (0, 1)
        ]
        assert not opened.findings


def test_the_newest_step_represents_a_run(tmp_path: Path) -> None:
    folders.trainer_unfinished(tmp_path)
    assert [header.path for header in inspector.open(tmp_path).files] == ["checkpoint-1000/model.safetensors"]


def test_the_same_shape_is_not_a_copy(tmp_path: Path, inspect: Inspect) -> None:
    """Two finetunes of one base, a quantization of another model, and another size under a usual name."""
    for name in ("first", "second"):
        folders.safe(tmp_path / f"{name}.safetensors")
    (tmp_path / "model").mkdir()
    folders.model(tmp_path / "model")
    folders.torch(tmp_path / "model" / "pytorch_model.bin", layers=3)
    folders.gguf(tmp_path / "model" / "other-Q8_0.gguf", layers=1)
    account = inspector.folder(tmp_path)
    assert account is not None
    assert account.copies == ()
    assert {each.name for each in account.checkpoints} == {
        "first.safetensors",
        "second.safetensors",
        "model/model.safetensors",
        "model/other-Q8_0.gguf",
        "model/pytorch_model.bin",
    } - {inspector.open(tmp_path).files[0].path}


def git_index(version: int, entries: list[tuple[bytes, bytes]]) -> bytes:
    """Git's index as its gitformat-index describes it: blob and path of each file, ordered by path."""
    data, before = b"DIRC" + struct.pack(">II", version, len(entries)), b""
    for blob, path in entries:
        data += bytes(40) + blob + struct.pack(">H", min(len(path), 0xFFF))
        if version == 4:  # without the name's common start
            common = next((at for at, (x, y) in enumerate(zip(before, path, strict=False)) if x != y), 0)
            data += bytes([len(before) - common]) + path[common:] + b"\0"
            before = path
        else:
            data += path + bytes(8 - (62 + len(path)) % 8)
    return data + bytes(20)


@every("version", [2, 4])
def test_an_older_version_in_git_lfs_is_not_a_copy(version: int, tmp_path: Path) -> None:
    """Of the same size and with the same start: git's index has another SHA-256 for the file."""
    folders.model(tmp_path)
    data = (tmp_path / "model.safetensors").read_bytes()
    objects = {word: hashlib.sha256(data[:-1] + word).hexdigest() for word in (b"a", data[-1:], b"b")}
    for word, oid in objects.items():
        there = tmp_path / ".git" / "lfs" / "objects" / oid[:2] / oid[2:4] / oid
        there.parent.mkdir(parents=True)
        there.write_bytes(data[:-1] + word)
    own = objects[data[-1:]]
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{own}\nsize {len(data)}\n".encode()
    blob = hashlib.sha1(b"blob %d\0" % len(pointer) + pointer).digest()
    files = [(bytes(20), b"config.json"), (bytes(20), b"merges.txt"), (blob, b"model.safetensors"), (bytes(20), b"mz")]
    (tmp_path / ".git" / "index").write_bytes(git_index(version, files))
    account = inspector.folder(tmp_path)
    assert account is not None
    copies = [(each.files, each.size, "git's index" in each.evidence) for each in account.copies]
    assert copies == [((f".git/lfs/objects/{own[:2]}/{own[2:4]}/{own}",), len(data), True)]


def test_conversions_are_copies_by_their_size(tmp_path: Path) -> None:
    """1,574,144 parameters at 4, 2 and 1 bytes and a graph; a graph and its data are one; half of it is none."""
    folders.model(tmp_path)
    parameters = 1_574_144
    for name, size, start in (
        ("tf_model.h5", parameters * 4 + 90_000, b"\x89HDF\r\n\x1a\n"),
        ("openvino/openvino_model.bin", parameters * 2, b""),
        ("onnx/model.onnx", 50_000, b"\x08\x08\x12\x07pytorch"),
        ("onnx/model.onnx_data", parameters * 4, b""),
        ("onnx/model_int8.onnx", parameters + 90_000, b"\x08\x08\x12\x07pytorch"),
        ("onnx/model_q4.onnx", parameters * 5 // 8, b"\x08\x08\x12\x07pytorch"),
    ):
        folders.raw(tmp_path / name, start, size)
    account = inspector.folder(tmp_path, inspector.reconcile(inspector.open(tmp_path)))
    assert account is not None
    assert sorted((each.what, len(each.files), each.size) for each in account.copies) == [
        ("HDF5", 1, parameters * 4 + 90_000),
        ("ONNX", 1, parameters + 90_000),
        ("ONNX", 2, parameters * 4 + 50_000),
        ("OpenVINO", 1, parameters * 2),
    ]
    assert account.copies[-1].evidence.endswith(" % of 1,574,144 parameters at 1 byte; tensors not read")
    assert [(each.name, each.files) for each in account.rest if each.name == "ONNX"] == [("ONNX", 1)]


def test_a_link_says_whose_files_it_has(tmp_path: Path) -> None:
    """A row of 0 bytes is explained; the bytes count once."""
    folders.shards(tmp_path / "a")
    folders.config(tmp_path / "b")
    for path in (tmp_path / "a").glob("model*"):
        (tmp_path / "b" / path.name).symlink_to(path)
    account = inspector.folder(tmp_path)
    assert account is not None
    details = {each.name: (each.size, each.detail) for each in account.checkpoints}
    assert details["b"] == (0, "2 files linked with those of a: counted there")


def test_a_file_with_two_names_counts_once(tmp_path: Path) -> None:
    """A hard link is the same bytes; a link to a file is that file."""
    folders.model(tmp_path / "a")
    (tmp_path / "b").mkdir()
    for name in ("model.safetensors", "config.json"):
        (tmp_path / "b" / name).hardlink_to(tmp_path / "a" / name)
    (tmp_path / "c.safetensors").symlink_to("a/model.safetensors")
    account = inspector.folder(tmp_path)
    assert account is not None
    assert account.size == sum(path.stat().st_size for path in (tmp_path / "a").iterdir())
    assert account.files == 2


def test_a_snapshot_of_the_cache_is_its_blobs(tmp_path: Path) -> None:
    """Its links lead out of it, to the files that count."""
    folders.hub_cache(tmp_path)
    home = tmp_path / "models--org--two"
    account = inspector.folder(home / "snapshots" / COMMIT)
    assert account is not None
    blobs = {path.name: path.stat().st_size for path in (home / "blobs").iterdir()}
    assert account.size == blobs["model.safetensors-two"] + blobs["config.json-two"]
    assert account.weights == blobs["model.safetensors-two"]


def test_a_foreign_file_hides_no_other(tmp_path: Path, inspect: Inspect) -> None:
    """It is a line of its own, said to be what it is, and in the total."""
    folders.ctranslate2_beside_a_model(tmp_path)
    lines = inspect(tmp_path).out.splitlines()
    assert lines[1].startswith("2 models, 3.20 MB")
    assert [line.split()[1:] for line in lines[4:]] == [
        ["CTranslate2", "50.00", "kB", "not", "read"],
        ["Llama", "1.57M", "BF16", "16", "3.15", "MB", "complete"],
    ]


@every(
    ("name", "start", "known"),
    [
        ("model.bin", folders.CTRANSLATE2, "CTranslate2"),
        ("ggml-base.bin", folders.GGML, "GGML"),
        ("vectors.bin", (793712314).to_bytes(4, "little") + b"\x0c\0\0\0", "fastText"),
        ("GoogleNews.bin", b"3000000 300\n", "word2vec"),
        ("group1-shard1of4.bin", b"\x9c\x11\x00\xff\xfe\x80\x80\x77", "TensorFlow.js"),
        ("openvino_model.bin", b"\x9c\x11\x00\xff\xfe\x80\x80\x77", "OpenVINO"),
        ("model.onnx", b"\x08\x08\x12\x07pytorch", "ONNX"),
        ("net.tflite", b"\x1c\0\0\0TFL3", "TFLite"),
        ("net.pte", b"\x1c\0\0\0ET12", "ExecuTorch"),
        ("net.engine", b"ftrt\0\0\0\0", "TensorRT"),
        ("phi.llamafile", b"MZqFpD='\n", "llamafile"),
        ("Model.mlmodel", b"\x08\x07\x12\x04", "CoreML"),
        ("model.safetensors", b"\x08\x07\x12\x84\x03\x0a\x20\x0a", "CoreML"),
        ("model.bin", b"\x08\x08\x12\x07pytorch\x1a\x05", "ONNX"),
        ("tagger.bin", b"lCRF\x2c\xaf\x02\0FOMC\x64\0\0\0", "CRFsuite"),
        ("inference.pdiparams", b"\0" * 16, "Paddle"),
    ],
)
def test_foreign_formats_are_known_by_name(name: str, start: bytes, known: str, tmp_path: Path) -> None:
    """The first bytes are those that each format's own writer puts there."""
    path = folders.raw(tmp_path / name, start, 4_000)
    with pytest.raises(inspector.FormatError, match=f"is in the format {known}, which is not read here"):
        inspector.open(path)
    mistaken = name.endswith(".safetensors")  # an audit of a format's own file is no verdict; a wrong name is a fault
    found = inspector.audit(path).checkpoints[0].findings
    expected = ("not-weights", "error") if mistaken else ("not-judged", "info")
    assert [(each.rule, each.severity) for each in found if each.rule in ("not-weights", "not-judged")] == [expected]


def test_a_manifest_says_whose_weights_a_file_has(tmp_path: Path, inspect: Inspect) -> None:
    """TensorFlow.js's, as face-api.js names them: the file itself has numbers alone."""
    folders.raw(tmp_path / "face_model.bin", b"\x4f\x8a\x5c\x3d\xbc\x7a\x9c\x3b")
    with pytest.raises(inspector.FormatError, match="begins as none of the formats that are read do"):
        inspector.open(tmp_path)
    folders.text(tmp_path / "face_model-weights_manifest.json", "[]")
    assert "in the format TensorFlow.js alone" in inspect(tmp_path).err


@every("name", [name for name, (_, expected) in folders.LAYOUTS.items() if "" in expected.foreign])
def test_weights_that_are_not_read_are_not_judged(name: str, tmp_path: Path, inspect: Inspect) -> None:
    """No all-clear where nothing was read: a note of the format, in a folder by itself and beside others."""
    _, expected = folders.made(name, tmp_path / "folder")
    shutil.copytree(tmp_path / "folder", tmp_path / "other")
    alone, both = (inspect("audit", place) for place in (tmp_path / "folder", tmp_path))
    assert "sound" not in alone.out + both.out
    assert f"of {expected.foreign['']}, whose weights are not read: not judged" in alone.out


def test_a_program_is_not_a_state(tmp_path: Path, inspect: Inspect) -> None:
    """`optimizer.py` is code, whatever its name begins with."""
    folders.text(tmp_path / "optimizer.py", "import math")
    assert "run's state" not in inspect(tmp_path).err


def test_headers_alone_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Evidence costs less than one percent of the bytes that it is about, however many small files there are."""
    import os

    folders.sharded_both_ways(tmp_path)
    for number in range(200):
        (tmp_path / f"part-{number}.txt").write_text("x")
    read: list[int] = []
    pread = os.pread

    def counted(descriptor: int, length: int, offset: int) -> bytes:
        data = pread(descriptor, length, offset)
        read.append(len(data))
        return data

    monkeypatch.setattr(os, "pread", counted)
    account = inspector.folder(tmp_path)
    assert account is not None
    assert len(account.copies) == 1
    assert len(read) < 100


def test_pickles_alike_are_one_line(tmp_path: Path) -> None:
    """Twelve data frames of one program are one finding, with their number; three are three."""
    folders.a_programs_pickles(tmp_path)
    audited = {Path(each.target).name: each.findings for each in inspector.audit(tmp_path).checkpoints}
    messages = [each.message for each in audited["data"] if each.rule == "pickle"]
    assert len(messages) == 1
    assert messages[0].endswith("; so are 11 more files")
    for number in range(3, 12):
        (tmp_path / "data" / f"frame_{number}.pkl").unlink()
    audited = {Path(each.target).name: each.findings for each in inspector.audit(tmp_path).checkpoints}
    assert len([each for each in audited["data"] if each.rule == "pickle"]) == 3
