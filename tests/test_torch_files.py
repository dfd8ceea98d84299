"""Files written by torch are read as torch reads them: names, dtypes, shapes, strides, and each tensor's bytes."""

from __future__ import annotations

import random
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import torch_files
from every import every
from hostile.torch_files import Saved, Tensors, inner, torch_zip
from safetensors.numpy import save_file

import inspector
from inspector.errors import InspectorError
from inspector.sizing import weights

CASES = {case["case"]: case for case in torch_files.cases()}


@every("case", [case for case in CASES.values() if case["tensors"] is not None], ids=lambda c: c["case"])
def test_as_torch_reads_them(case: dict[str, Any], tmp_path: Path) -> None:
    """Each tensor under each of its names, with the SHA-256 of its elements in order."""
    assert torch_files.read(torch_files.unpack(case, tmp_path)) == torch_files.stated(case)


@every("case", CASES.values(), ids=list(CASES))
def test_every_byte_is_accounted_for(case: dict[str, Any], tmp_path: Path) -> None:
    """Regions partition each file, and the bridge's steps add up to its size."""
    checkpoint = inspector.open(torch_files.unpack(case, tmp_path))
    for header in checkpoint.files:
        assert [region.end for region in header.regions[:-1]] == [region.start for region in header.regions[1:]]
        assert (header.regions[0].start, header.regions[-1].end) == (0, header.size)
    result = inspector.reconcile(checkpoint)
    start = result.nominal.bytes if result.nominal else result.predicted or 0
    assert start + sum(step.bytes for step in result.steps) + result.unexplained_bytes == result.on_disk


def test_constants_of_a_frozen_script(tmp_path: Path) -> None:
    """A frozen TorchScript module has its weights as constants: 3 × 4, and two vectors of 3 from the norm."""
    checkpoint = inspector.open(torch_files.unpack(CASES["frozen script"], tmp_path))
    tensors = [(tensor.name, tensor.shape) for tensor in checkpoint.files[0].tensors]
    assert all(name.startswith("constants.") for name, _ in tensors)
    assert (3, 4) in [shape for _, shape in tensors]


def test_a_training_run_is_recognised(tmp_path: Path) -> None:
    """Two moments and a step for each of five parameters, and PyTorch's random state; only the model is counted.

    7 × 4 (the head is tied), 4 × 4 + 4, and 4 + 4 of the norm are 56 parameters.
    """
    result = inspector.reconcile(inspector.open(torch_files.unpack(CASES["training"], tmp_path)))
    step = next(step for step in result.steps if step.cause == "training_state")
    assert sorted(step.detail.split(", ")) == ["1 × rng", "5 × exp_avg", "5 × exp_avg_sq", "5 × step"]
    assert step.bytes == 2 * 4 * 56 + 5 * 4 + 5056
    assert result.logical == 56 + 3  # without a configuration, the buffer of three steps counts
    assert result.dtype == "F32"
    assert result.checkpoint.files[0].metadata["step"] == 7


# --- damage ---------------------------------------------------------------------------------------


@every("name", sorted(CASES))
def test_damage_is_one_line_or_a_finding(name: str, tmp_path: Path) -> None:
    """Bytes changed, lost or doubled anywhere: an error of one line, or regions and a bridge that still add up."""
    rng = random.Random(name)
    for number in range(12):
        folder = tmp_path / str(number)
        folder.mkdir()
        target = torch_files.unpack(CASES[name], folder)
        path = rng.choice(sorted(each for each in folder.rglob("*") if each.is_file()))
        path.write_bytes(changed(path.read_bytes(), rng))
        try:
            result = inspector.reconcile(inspector.open(target))
        except InspectorError as error:
            assert "\n" not in str(error)
            continue
        for header in result.checkpoint.files:
            assert sum(region.size for region in header.regions) == header.size
        start = result.nominal.bytes if result.nominal else result.predicted or 0
        assert start + sum(step.bytes for step in result.steps) + result.unexplained_bytes == result.on_disk


def changed(data: bytes, rng: random.Random) -> bytes:
    for _ in range(rng.choice((1, 2, 5))):
        at = rng.randrange(len(data))
        words = (
            bytes([rng.randrange(256)]),
            b"\xff" * 4,
            b"\x8a\x08" + b"\xff" * 7 + b"\x7f",
            b"",
            data[at : at + 20] * 2,
        )
        data = data[:at] + rng.choice(words) + data[at + rng.choice((0, 1, 4, 64)) :]
    return data if rng.random() < 0.7 else data[: rng.randrange(1, len(data))]


# --- across formats -------------------------------------------------------------------------------


def small(tmp_path: Path) -> tuple[Path, Path]:
    """The same weights pickled in a training checkpoint, with DistributedDataParallel's prefix, and as safetensors."""
    shapes = {"model.embed_tokens.weight": (10, 4), "model.norm.weight": (4,), "lm_head.weight": (10, 4)}
    tensors: Tensors = {f"module.{name}": Saved(shape, str(at)) for at, (name, shape) in enumerate(shapes.items())}
    saved: Tensors = {"state_dict": inner(tensors), "optimizer": inner({"exp_avg": Saved((10, 4), "3")})}
    sizes = {str(at): 4 * prod(shape) for at, shape in enumerate([*shapes.values(), (10, 4)])}
    pickled = tmp_path / "pytorch_model.bin"
    pickled.write_bytes(torch_zip(saved, storages=sizes))
    written = tmp_path / "model.safetensors"
    arrays = {
        name: np.frombuffer(bytes(at % 251 for at in range(4 * prod(shape))), np.float32).reshape(shape)
        for name, shape in shapes.items()
    }
    save_file(arrays, written)
    return pickled, written


def test_diff_across_formats(tmp_path: Path) -> None:
    """Names with a wrapper's prefix are the same tensors; the optimizer's are on one side only; values are compared."""
    one, two = (inspector.reconcile(inspector.open(path)) for path in small(tmp_path))
    found = inspector.diff(one, two)
    assert {status: count for status, count in found.counts.items() if count} == {"same": 3, "only_a": 1}


def test_a_model_takes_no_memory_for_its_optimizer(tmp_path: Path) -> None:
    """Weights of 4 × (40 + 4 + 40) bytes; running the model does not load the moments."""
    one, two = (inspector.reconcile(inspector.open(path)) for path in small(tmp_path))
    assert weights.stored(one).nbytes == weights.stored(two).nbytes == 336
