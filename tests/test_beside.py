"""Files beside the weights: every byte of a folder has a kind, and the kinds are those that people mean."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import sparse
from every import every

import inspector

#: Path → its kind, or None for the weights themselves; as written by Trainer, DeepSpeed, FSDP, Accelerate and the Hub.
KINDS: dict[str, str | None] = {
    "model-00001-of-00002.safetensors": None,
    "model-00002-of-00002.safetensors": None,
    "model.safetensors.index.json": "index",
    "config.json": "config",
    "generation_config.json": "config",
    "tokenizer.json": "tokenizer",
    "vocab.json": "tokenizer",
    "consolidated.safetensors": "duplicate",
    "model.fp16.safetensors": "duplicate",
    "pytorch_model.bin": "pickle",
    "consolidated.00.pth": "pickle",
    "pytorch_model.bin.index.json": "index",
    "flax_model.msgpack": "other framework",
    "tf_model.h5": "other framework",
    "optimizer.pt": "state",
    "optimizer.bin": "state",
    "scheduler.pt": "state",
    "scheduler.bin": "state",
    "rng_state.pth": "state",
    "rng_state_0.pth": "state",
    "random_states_0.pkl": "state",
    "sampler.bin": "state",
    "scaler.pt": "state",
    "trainer_state.json": "state",
    "training_args.bin": "state",
    "latest": "state",
    "global_step100/mp_rank_00_model_states.pt": "state",
    "global_step100/bf16_zero_pp_rank_0_mp_rank_00_optim_states.pt": "state",
    "pytorch_model_fsdp_0/__0_0.distcp": "state",
    "optimizer_0/__0_0.distcp": "state",
    "zero_to_fp32.py": "code",
    "modeling_own.py": "code",
    "mmproj-model-f16.gguf": "projector",
    "model.imatrix.gguf": "importance matrix",
    "adapter_model.safetensors": "adapter",
    "eagle/model.safetensors": "draft",
    "draft/model.safetensors": "draft",
    "medusa_lm_head.pt": "draft",
    "medusa_lm_head.safetensors": "draft",
    "mtp.safetensors": "prediction head",
    "runs/events.out.tfevents.1700000000.host.1.0": "log",
    "README.md": "document",
    "LICENSE": "document",
    "notes.xyz": "other",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model in two shards with all files that training and publishing leave beside it."""
    made = sparse.load("llama-3.2-1b")
    name, file = next(iter(made["files"].items()))
    half = len(file["tensors"]) // 2
    for number, tensors in enumerate((file["tensors"][:half], file["tensors"][half:]), 1):
        made["files"][f"model-0000{number}-of-00002.safetensors"] = {"tensors": tensors, "metadata": {"format": "pt"}}
    del made["files"][name]
    folder = sparse.make(made, tmp_path / "model")
    for at, path in enumerate(KINDS):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        if not (folder / path).exists():
            (folder / path).write_bytes(bytes(at + 1))
    return folder


def test_each_byte_of_the_folder_has_its_kind(folder: Path) -> None:
    """Weights, second copies, tokenizer, state and other files sum to the folder, in files and in bytes."""
    checkpoint = inspector.open(folder)
    assert {header.path for header in checkpoint.files} == {path for path, kind in KINDS.items() if kind is None}
    expected: dict[str, list[int]] = {}
    for path, kind in KINDS.items():
        if kind is not None:
            expected.setdefault(kind, []).append((folder / path).stat().st_size)
    assert checkpoint.other is not None
    assert {each.kind: (each.files, each.size) for each in checkpoint.other} == {
        kind: (len(sizes), sum(sizes)) for kind, sizes in expected.items()
    }
    everything = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    assert checkpoint.repository_size == everything


@every("path", [path for path, kind in KINDS.items() if kind not in (None, "index", "config")], parts=2)
def test_nothing_beside_the_weights_is_counted_with_them(path: str, folder: Path) -> None:
    """Parameters are those of the shards, whatever other files are there."""
    whole = inspector.reconcile(inspector.open(folder)).logical
    (folder / path).unlink()
    assert inspector.reconcile(inspector.open(folder)).logical == whole == 1_235_814_400


def test_a_projector_beside_a_gguf_model_is_none_of_its_weights(tmp_path: Path) -> None:
    """llama.cpp's vision models are two files: the model is inspected, and the projector is listed by its kind."""
    folder = sparse.make(sparse.load("llama-3.2-1b-q8_0"), tmp_path / "model")
    projector = folder / "mmproj-model-f16.gguf"
    projector.write_bytes(b"GGUF" + bytes(100))
    checkpoint = inspector.open(folder)
    assert projector.name not in {header.path for header in checkpoint.files}
    assert [(each.kind, each.size) for each in checkpoint.other or () if each.kind == "projector"] == [
        ("projector", 104)
    ]


def with_further_layer(words: str) -> dict[str, Any]:
    """A Llama with a layer that predicts a further token, under the names of several families."""
    made = sparse.load("tinyllama-1.1b-chat")
    for file in made["files"].values():
        file["tensors"] += [
            ["BF16", [2048, 2048], f"{words}.self_attn.q_proj.weight"],
            ["BF16", [2048, 4096], f"{words}.eh_proj.weight"],
        ]
    return made


@pytest.mark.parametrize("words", ["mtp.layers.0", "model.mtp_layers.0", "model.layers.22", "model.mtp.0"])
def test_layers_that_predict_further_tokens(words: str, tmp_path: Path) -> None:
    """A head for further tokens is a step of its own, and fully explained."""
    made = with_further_layer(words)
    made["beside"]["config.json"]["num_nextn_predict_layers"] = 1
    result = inspector.reconcile(inspector.open(sparse.make(made, tmp_path / "model")))
    steps = {step.cause: step.bytes for step in result.steps}
    assert steps["prediction_head"] == 2 * (2048 * 2048 + 2048 * 4096)
    assert result.unexplained_bytes == 0
    assert not result.unexplained


def test_the_kinds_are_in_the_json(folder: Path, inspect: Any) -> None:
    """`repository.other[]` has each kind once, the largest first."""
    other = json.loads(inspect(folder, "--json").out)["repository"]["other"]
    assert {each["kind"] for each in other} == {kind for kind in KINDS.values() if kind is not None}
    assert [each["size"] for each in other] == sorted((each["size"] for each in other), reverse=True)


def test_a_draft_is_not_measured_by_its_targets_formula(tmp_path: Path) -> None:
    """EAGLE's drafts have the model type of their target model, and lack most of its tensors."""
    made = sparse.load("tinyllama-1.1b-chat")
    made["beside"]["config.json"].update(architectures=["EagleForCausalLM"], num_hidden_layers=1)
    made["files"] = {
        "model.safetensors": {
            "tensors": [
                ["BF16", [2048, 4096], "midlayer.self_attn.q_proj.weight"],
                ["BF16", [2048, 6144], "fc.weight"],
                ["I64", [8000], "d2t"],
                ["BOOL", [32000], "t2d"],
            ]
        }
    }
    result = inspector.reconcile(inspector.open(sparse.make(made, tmp_path / "model")))
    assert result.prediction is None
    assert {finding.rule for finding in result.findings} == {"no-prediction"}
    assert result.logical == 2048 * 4096 + 2048 * 6144
