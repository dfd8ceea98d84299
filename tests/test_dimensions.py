"""Architectures without a table: roles by convention, sizes explained by the configuration, no prediction."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

from every import every

import inspector
from inspector.architectures.explained_sizes import Meanings
from inspector.report import documents, text

CONFIG = {
    "model_type": "unheard_of",
    "hidden_size": 4096,
    "intermediate_size": 11008,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "num_hidden_layers": 2,
    "vocab_size": 32000,
    "bos_token_id": 128,
    "strange": 777,
    "odd": 555,
    "peculiar": 555,
    "vision_config": {"hidden_size": 1152, "intermediate_size": 4304, "patch_size": 14},
}
TENSORS = {
    "model.embed_tokens.weight": [32000, 4096],
    "model.layers.{}.self_attn.q_proj.weight": [4096, 4096],
    "model.layers.{}.self_attn.k_proj.weight": [1024, 4096],
    "model.layers.{}.self_attn.k_norm.weight": [128],
    "model.layers.{}.attn.qkv.weight": [12288, 4096],
    "model.layers.{}.mlp.gate_proj.weight": [11008, 4096],
    "model.layers.{}.mlp.down_proj.weight": [4096, 11008],
    "model.layers.{}.input_layernorm.weight": [4096],
    "model.layers.{}.novelty.weight": [777, 4096],
    "model.layers.{}.junk.weight": [555, 3],
    "model.vision_tower.blocks.{}.mlp.fc1.weight": [4304, 1152],
    "lm_head.weight": [32000, 4096],
}


def model(folder: Path, config: dict[str, Any] | None, tensors: dict[str, list[int]]) -> inspector.Reconciliation:
    """A checkpoint of two layers, whose data are holes."""
    header, end = {}, 0
    for name, shape in tensors.items():
        for layer in range(2 if "{}" in name else 1):
            size = 2 * shape[0] * (shape[1] if len(shape) > 1 else 1)
            header[name.replace("{}", str(layer))] = {
                "dtype": "BF16", "shape": shape, "data_offsets": [end, end + size]
            }  # fmt: skip
            end += size
    data = json.dumps(header).encode()
    with (folder / "model.safetensors").open("wb") as out:
        out.write(struct.pack("<Q", len(data)) + data)
        out.truncate(8 + len(data) + end)
    if config is not None:
        (folder / "config.json").write_text(json.dumps(config))
    return inspector.reconcile(inspector.open(folder))


def meanings(result: inspector.Reconciliation) -> dict[tuple[str, str], str]:
    return {(role.tower, f"{role.branch} {role.role}".strip()): role.explained for role in result.roles}


def test_sizes_are_explained_by_the_configuration(tmp_path: Path) -> None:
    """A field, a product of fields, the tower's own; an unusual field if it is the only one, no guess among several."""
    result = model(tmp_path, CONFIG, TENSORS)
    assert result.prediction is None
    assert meanings(result) == {
        ("text", "embed_tokens"): "vocab_size × hidden_size",
        ("text", "q_proj"): "hidden_size × hidden_size",
        ("text", "k_proj"): "num_key_value_heads·head_dim × hidden_size",
        ("text", "k_norm"): "head_dim",
        ("text", "qkv_proj"): "3·hidden_size × hidden_size",
        ("text", "gate_proj"): "intermediate_size × hidden_size",
        ("text", "down_proj"): "hidden_size × intermediate_size",
        ("text", "input_layernorm"): "hidden_size",
        ("text", "novelty other"): "strange × hidden_size",
        ("text", "junk other"): "",
        ("vision", "up_proj"): "vision_config.intermediate_size × vision_config.hidden_size",
        ("text", "lm_head"): "vocab_size × hidden_size",
    }


def test_the_overview_says_so(tmp_path: Path) -> None:
    """The text marks them as guesses, the JSON lists each size, and both state that nothing is predicted."""
    result = model(tmp_path, CONFIG, TENSORS)
    shown = text.overview(result)
    assert "no prediction for model_type 'unheard_of'" in shown
    assert "intermediate_size × hidden_size?" in shown and "shape explained" in shown
    assert "11008 = intermediate_size" in shown and "12288 = 3·hidden_size" in shown
    roles = {role["branch"] or role["role"]: role for role in documents.overview(result)["roles"]}
    assert roles["gate_proj"]["formula"] is None
    assert roles["gate_proj"]["dimensions"] == [
        {"size": 11008, "meaning": "intermediate_size"},
        {"size": 4096, "meaning": "hidden_size"},
    ]
    assert {"size": 555, "meaning": None} in roles["junk"]["dimensions"]


def test_without_a_configuration_the_tensors_decide(tmp_path: Path) -> None:
    """The embedding shows the vocabulary and the width, the feed-forward its own width."""
    result = model(tmp_path, None, TENSORS)
    assert result.checkpoint.config is None and result.prediction is None
    reported = meanings(result)
    assert reported["text", "embed_tokens"] == "vocab_size × hidden_size"
    assert reported["text", "down_proj"] == "hidden_size × intermediate_size"
    assert reported["text", "k_norm"] == "" and reported["text", "k_proj"] == "1024 × hidden_size"


def test_a_prediction_needs_no_explanation(tmp_path: Path) -> None:
    result = model(tmp_path, {**CONFIG, "model_type": "llama"}, TENSORS)
    assert result.prediction is not None
    assert all(role.dimensions is None for role in result.roles)


@every(
    ("values", "size", "group", "meaning"),
    [
        ({"hidden_size": 64, "num_experts": 8}, 8, "router", "num_experts"),
        ({"hidden_size": 64, "num_experts": 8}, 8, "attention", None),
        ({"n_embd": 768}, 2304, "attention", "3·n_embd"),
        ({"d_model": 512, "num_heads": 8, "d_kv": 64}, 512, "attention", "d_model"),
        ({"hidden_size": 96, "num_attention_heads": 0}, 7, "attention", None),
        ({"hidden_size": True, "vocab_size": "96", "x": 1e3}, 96, "embedding", None),
        ({"text_config": {"hidden_size": 2048}, "vision_config": {"hidden_size": 1024}}, 1024, "attention", None),
        ({"text_config": {"n_embd": 2048}, "vision_config": {"hidden_size": 1024}}, 6144, "attention", "3·n_embd"),
        (
            {"hidden_size": 100, "linear_num_value_heads": 4, "linear_value_head_dim": 48},
            192,
            "state_space",
            "linear_num_value_heads·linear_value_head_dim",
        ),
        ({"max_window_layers": 4096, "a_token_id": 4096}, 4096, "attention", None),
        ({"hidden_size": 64, "strange": 7}, 7, "other", None),
    ],
)
def test_meanings(values: dict[str, Any], size: int, group: str, meaning: str | None) -> None:
    """Fields where they belong, by their names in the configuration; no irrelevant field, no small coincidence."""
    assert Meanings(values).of(size, group, "text") == meaning


def test_a_tower_has_its_own_configuration() -> None:
    values = {"hidden_size": 4096, "vision_config": {"hidden_size": 1024}, "audio_config": {"d_model": 768}}
    assert Meanings(values).of(1024, "attention", "vision") == "vision_config.hidden_size"
    assert Meanings(values).of(4096, "attention", "vision") is None
    assert Meanings(values).of(768, "attention", "audio") == "audio_config.d_model"
    assert Meanings(values).of(1024, "attention", "projector") == "vision_config.hidden_size"
