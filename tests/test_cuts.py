"""No all-clear over a cut: files of every format, as their own libraries write them, shorter or longer than they are."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import h5py
import numpy as np
import pytest
import torch_files
from every import every
from gguf_bytes import Info, Recipe
from in_memory import keras
from test_flax import array, text

import inspector
from inspector.auditing import run
from inspector.errors import InspectorError

FIXTURES = Path(__file__).parents[1] / "fixtures"
REAL = FIXTURES / "real"


def npz(save: Callable[..., None] = np.savez) -> bytes:
    out = io.BytesIO()
    save(out, a=np.arange(600.0), b=np.ones((3, 4), "f4"))
    return out.getvalue()


def npy() -> bytes:
    out = io.BytesIO()
    np.save(out, np.arange(600.0))
    return out.getvalue()


def datasets(file: h5py.File) -> None:
    file.create_dataset("dense/kernel:0", data=np.arange(600.0))


def chunks(file: h5py.File) -> None:
    file.create_dataset("dense/kernel:0", data=np.arange(1200.0).reshape(40, 30), chunks=(10, 10), compression="gzip")


def latest() -> bytes:
    out = io.BytesIO()
    with h5py.File(out, "w", libver="latest") as file:
        datasets(file)
    return out.getvalue()


#: Kinds of files of PyTorch and of ranks of a run: archives, files of pickles, tar, programs, collections.
KINDS = frozenset(
    {
        *("state dict", "module, old format", "dtypes, old format", "lightning", "script", "tar archive", "program"),
        *("collective", "fully sharded, collective", "meta, vocabulary", "zero 2"),
    }
)


def own() -> Iterator[tuple[str, Mapping[str, bytes]]]:
    """Kind → the files of a folder."""
    for fixture in ("torch_files", "rank_files"):
        for case in torch_files.cases(FIXTURES / f"{fixture}.jsonl"):
            if case["case"] in KINDS:
                yield case["case"], {name: torch_files.unpacked(text) for name, text in case["files"].items()}
    safe = (REAL / "safetensors" / "burn" / "conv1d.safetensors").read_bytes()
    yield "safetensors", {"model.safetensors": safe}
    index = {"metadata": {}, "weight_map": {"x": "model-00001-of-00002.safetensors"}}
    shards = {f"model-0000{number}-of-00002.safetensors": safe for number in (1, 2)}
    yield "shards", {**shards, "model.safetensors.index.json": json.dumps(index).encode()}
    whole = Recipe(infos=[Info("a", [64]), Info("b", [8, 16], offset=256)], data=bytes(256 + 512))
    yield "gguf", {"test.gguf": whole.file()}
    yield "npz", {"a.npz": npz()}
    yield "npz, compressed", {"a.npz": npz(np.savez_compressed)}
    yield "npy beside weights", {"a.npy": npy(), "b.npz": npz()}
    yield "flax", {"flax_model.msgpack": b"\x81" + text("a") + array((7, 3), "float32", bytes(84))}
    yield "hdf5", {"model.h5": keras(datasets)}
    yield "hdf5, in chunks", {"model.h5": keras(chunks)}
    yield "adapter", {"adapter_model.safetensors": safe, "adapter_config.json": b'{"peft_type": "LORA", "r": 4}'}
    parts = {"_class_name": "P", "a": ["d", "A"], "b": ["d", "B"]}
    names = ("a/diffusion_pytorch_model.safetensors", "b/model.safetensors")
    yield "pipeline", {**dict.fromkeys(names, safe), "model_index.json": json.dumps(parts).encode()}
    yield "hdf5, latest", {"model.hdf5": latest()}


def changes(size: int) -> Iterator[tuple[str, int]]:
    """Cut and padded by 1, 100, 1,000 bytes, a third, a half."""
    for number in dict.fromkeys((1, 100, 1000, size // 3, size // 2)):
        if 0 < number < size:
            yield f"-{number}", -number
        if number:
            yield f"+{number}", number


class Case(NamedTuple):
    kind: str
    files: Mapping[str, bytes]
    path: str  # of the file that is changed


def cases() -> Iterator[Case]:
    """The first two files of each folder: the others are like one of them."""
    return (Case(kind, files, path) for kind, files in own() for path in list(files)[:2])


def judged(folder: Path) -> str:
    """What the overview says, or why there is none."""
    try:
        return inspector.reconcile(inspector.open(folder)).verdict.state
    except InspectorError:
        return "unreadable"


def reported(folder: Path) -> set[tuple[str, str | None]]:
    try:
        checkpoints = run.audit([folder]).checkpoints
    except InspectorError as error:
        return {(str(error), None)}
    return {(each.rule, each.path) for own in checkpoints for each in own.findings if each.severity != "info"}


#: An array beside the weights.
NOT_INSPECTED = "a.npy"


@every("case", cases, ids=lambda case: f"{case.kind}: {case.path}", parts=4)
@pytest.mark.gate
def test_no_all_clear_over_a_file_of_another_size(case: Case, tmp_path: Path) -> None:
    """Neither inspected as complete nor audited without a word, whichever readers accept it."""
    path, raw = case.path, case.files[case.path]
    for name, each in case.files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(each)
    sound = reported(tmp_path)
    for change, number in changes(len(raw)):
        if path.endswith(".json") and number > 0:
            continue
        (tmp_path / path).write_bytes(raw[:number] if number < 0 else raw + bytes(at * 7 % 256 for at in range(number)))
        assert path == NOT_INSPECTED or judged(tmp_path) != "complete", change
        assert reported(tmp_path) - sound, change
