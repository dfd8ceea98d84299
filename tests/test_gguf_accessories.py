"""GGUF files that are not models: adapters, importance matrices, control vectors, projectors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import sparse
from sparse_gguf import write_gguf

import inspector
from inspector.model import Reconciliation
from inspector.report import documents, text

LORA = [
    ("general.architecture", "string", "llama"),
    ("general.type", "string", "adapter"),
    ("adapter.type", "string", "lora"),
    ("adapter.lora.alpha", "float32", 16.0),
]
MATRIX = [("general.type", "string", "imatrix"), ("imatrix.chunk_count", "uint32", 5)]
VECTOR = [
    ("general.architecture", "string", "controlvector"),
    ("controlvector.model_hint", "string", "llama"),
    ("controlvector.layer_count", "uint32", 3),
]


def other(tmp_path: Path, pairs: list[tuple[str, str, Any]], shapes: dict[str, list[int]]) -> Reconciliation:
    path = tmp_path / "Llama-3.1-8B.gguf"  # named after the model that they are for
    write_gguf(path, pairs, [("F32", shape, name) for name, shape in shapes.items()])
    result = inspector.reconcile(inspector.open(path))
    assert result.nominal is None
    assert result.prediction is None and (result.unexplained_bytes, result.unexplained) == (0, ())
    assert [finding.rule for finding in result.findings] == ["no-prediction"]
    return result


def test_an_adapter_is_described_by_its_rank_and_what_it_changes(tmp_path: Path) -> None:
    """llama.cpp's converter names the pieces after the weight: `blk.0.attn_q.weight.lora_a`."""
    shapes = {f"blk.{layer}.attn_q.weight.lora_{piece}": [8, 64][:: 1 if piece == "a" else -1]
              for layer in (0, 1) for piece in "ab"}  # fmt: skip
    result = other(tmp_path, LORA, shapes)
    assert result.adapter and (result.adapter.method, result.adapter.ranks) == ("lora", {8: 2})
    assert [(role.role, role.group, role.parameters) for role in result.roles] == [("q_proj", "adapter", 4 * 8 * 64)]
    assert "llama (adapter)" in text.overview(result) and "of type lora, alpha 16" in text.overview(result)


def test_an_importance_matrix_has_no_parameters(tmp_path: Path) -> None:
    """Sums of squared inputs of each weight, and their number, under the weight's role."""
    shapes = {"blk.0.attn_q.weight.in_sum2": [1, 64], "blk.0.attn_q.weight.counts": [1, 1],
              "blk.0.ffn_gate_exps.weight.in_sum2": [4, 64], "blk.0.ffn_gate_exps.weight.counts": [4, 1]}  # fmt: skip
    result = other(tmp_path, MATRIX, shapes)
    assert (result.logical, result.stored_elements) == (0, 64 + 1 + 4 * 64 + 4)
    assert [(role.role, role.group, role.tensors) for role in result.roles] == [
        ("q_proj", "buffer", 2),
        ("gate_proj", "buffer", 2),
    ]
    assert "importance matrix" in text.overview(result) and "statistics of 5 chunks" in text.overview(result)


def test_a_control_vector_is_described_with_the_model_that_it_is_for(tmp_path: Path) -> None:
    result = other(tmp_path, VECTOR, {f"direction.{layer}": [64] for layer in (1, 2, 3)})
    assert [(role.role, role.group, role.tensors) for role in result.roles] == [("control_vector", "adapter", 3)]
    assert "control vector" in text.overview(result) and "for llama" in text.overview(result)
    document = documents.overview(result)
    assert document["architecture"]["class"] == "control vector"


def test_a_projector_is_not_as_large_as_the_model_in_its_name(tmp_path: Path) -> None:
    """419,816,304 = 27 × (4 × (1152 × 1152 + 1152) + 2 × 1152 × 4304 + 4304 + 1152 + 4 × 1152) + 1152 × 3 × 14 × 14 + 1152
    + 4096 × 1152 + 2 × 1152 + 1152 × 2560 + 1152. The name "Gemma 3 4b It" claims no 4B for it.
    """
    path = sparse.make(sparse.load("gemma-3-4b-mmproj"), tmp_path) / "mmproj-model-f16.gguf"
    result = inspector.reconcile(inspector.open(path.rename(tmp_path / "mmproj-gemma-3-4b-it-f16.gguf")))
    assert (result.logical, result.nominal, result.unexplained_bytes) == (419_816_304, None, 0)
    assert [claim.name for claim in result.claims] == ["general.file_type"]


def test_a_projector_names_its_modality_and_kind(tmp_path: Path) -> None:
    pairs = [
        ("general.architecture", "string", "clip"),
        ("general.type", "string", "mmproj"),
        ("clip.has_vision_encoder", "bool", True),
        ("clip.has_audio_encoder", "bool", False),
        ("clip.projector_type", "string", "gemma3"),
    ]
    write_gguf(tmp_path / "model.gguf", pairs, [("F32", [32], "v.blk.0.attn_q.weight")])
    config = inspector.open(tmp_path / "model.gguf").config
    assert config and config.notes == ("sees images, projector gemma3",)
    assert config.architecture == "multimodal projector"
