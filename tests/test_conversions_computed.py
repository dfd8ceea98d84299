"""Tensors of a converted file that hold more than the model's: computed rows, and rows of zeros."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gguf import GGUFWriter
from safetensors.numpy import save_file

import inspector

Numbers = Mapping[str, Any]


def compared(
    folder: Path, architecture: str, config: Mapping[str, Any], model: Numbers, file: Numbers
) -> dict[str, str | None]:
    """A model and a file of these numbers: the file's name of each tensor → how its values compare."""
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config))
    arrays = {name: np.array(values, np.float32) for name, values in model.items()}
    save_file(arrays, folder / "model.safetensors")
    writer = GGUFWriter(folder / "model.gguf", architecture)
    writer.add_block_count(1)
    for key in ("head_count", "head_count_kv"):
        writer.add_uint32(f"{architecture}.attention.{key}", 2)
    for name, values in file.items():
        writer.add_tensor(name, np.array(values, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    result = inspector.diff(folder / "model.safetensors", folder / "model.gguf", data=True)
    found = list(zip(result.pairs, result.data or (), strict=True))
    return {
        pair.b.tensors[0].tensor.name: data.status if data and pair.a else None for pair, data in found if pair.b
    } | {pair.a.tensors[0].tensor.name: pair.converter for pair, data in found if pair.a and not pair.b}


def every_number_changed(rows: Sequence[Sequence[float]]) -> list[list[list[float]]]:
    """The same matrix with one number increased by 1, for each of its numbers."""
    found = []
    for row, column in np.ndindex(len(rows), len(rows[0])):
        changed = [list(values) for values in rows]
        changed[row][column] += 1
        found.append(changed)
    return found


POCKET = {
    "flow_lm.conditioner.embed.weight": [[1, 2], [3, 4]],
    "flow_lm.bos_before_voice": [[[5, 6]]],
    "flow_lm.bos_emb": [1, 2, 3],
    "flow_lm.input_linear.weight": [[1, 0, 1], [0, 2, 0]],
}


@pytest.mark.parametrize("voice", [True, False], ids=["voice", "no voice"])
def test_a_vector_that_became_a_token_is_its_product(tmp_path: Path, voice: bool) -> None:
    """Pocket TTS: tokens, an optional learned vector, and (1 + 3, 2 · 2), of [1, 2, 3] times the projection."""
    model = {name: values for name, values in POCKET.items() if voice or "voice" not in name}
    rows = [[1, 2], [3, 4], *([[5, 6]] if voice else []), [4, 4]]
    config = {"model_type": "pockettts"}
    right = compared(tmp_path / "right", "pockettts", config, model, {"token_embd.weight": rows})
    assert right == {"token_embd.weight": "equal"}
    for number, changed in enumerate(every_number_changed(rows)):
        found = compared(tmp_path / str(number), "pockettts", config, model, {"token_embd.weight": changed})
        assert found == {"token_embd.weight": "different"}, changed


def test_embeddings_after_a_feed_forward_are_what_it_makes_of_them(tmp_path: Path) -> None:
    """Qwen3-TTS: silu(20) is 20 in F32, silu(0) is 0; [10, 1] becomes 2 · 20 + 1 and -20, before the codec's rows."""
    model = {
        "talker.model.text_embedding.weight": [[10, 1]],
        "talker.model.codec_embedding.weight": [[7, 8], [9, 6], [5, 4]],
        "talker.text_projection.linear_fc1.weight": [[2, 1], [0, 3], [1, 0]],
        "talker.text_projection.linear_fc1.bias": [-1, -3, 10],
        "talker.text_projection.linear_fc2.weight": [[2, 5, 0], [0, 5, -1]],
        "talker.text_projection.linear_fc2.bias": [1, 0],
    }
    rows = [[41, -20], [7, 8], [9, 6], [5, 4]]
    config = {"model_type": "qwen3_tts", "talker_config": {"text_vocab_size": 1, "vocab_size": 3}}
    right = compared(tmp_path / "right", "qwen3tts", config, model, {"token_embd.weight": rows})
    assert right == {"token_embd.weight": "equal"}
    for number, changed in enumerate(every_number_changed(rows)):
        found = compared(tmp_path / str(number), "qwen3tts", config, model, {"token_embd.weight": changed})
        assert found == {"token_embd.weight": "different"}, changed


def test_zeros_before_a_models_rows_are_zeros(tmp_path: Path) -> None:
    """Granite Switch: two adapters become three, the first of zeros; any other number there is a difference."""
    model = {"model.layers.0.self_attn.o_proj.lora_A": [[[[1, 2]]], [[[3, 4]]]]}
    name = "blk.0.attn_output.lora_a"
    for number, (first, status) in enumerate([([0, 0], "equal"), ([0, 1], "different")]):
        rows = [[first], [[1, 2]], [[3, 4]]]
        assert compared(tmp_path / str(number), "graniteswitch", {}, model, {name: rows}) == {name: status}
    rows = [[[0, 0]], [[1, 2]], [[3, 5]]]
    assert compared(tmp_path / "last", "graniteswitch", {}, model, {name: rows}) == {name: "different"}


def test_only_stacked_experts_of_llama_4_are_transposed(tmp_path: Path) -> None:
    """The dense layer's projection is square: transposed, [1, 2], [3, 4] would be [1, 3], [2, 4]."""
    config = {"model_type": "llama4_text", "hidden_size": 2, "intermediate_size": 2, "num_hidden_layers": 1}
    experts = [[[1, 2], [3, 4]], [[5, 6], [7, 8]]]
    dense = {"model.layers.0.feed_forward.down_proj.weight": experts[0]}
    stacked = {"model.layers.0.feed_forward.experts.down_proj": experts}
    turned = {"blk.0.ffn_down_exps.weight": [[[1, 3], [2, 4]], [[5, 7], [6, 8]]]}
    found = compared(tmp_path / "dense", "llama4", config, dense, {"blk.0.ffn_down.weight": experts[0]})
    assert found == {"blk.0.ffn_down.weight": "equal"}
    assert compared(tmp_path / "experts", "llama4", config, stacked, turned) == {"blk.0.ffn_down_exps.weight": "equal"}


@pytest.mark.parametrize(("layers", "stated"), [(1, "leaves out"), (2, "")])
def test_layers_that_predict_further_tokens_may_be_left_out(tmp_path: Path, layers: int, stated: str) -> None:
    """A missing layer beyond the configured number is not a loss, one within it is."""
    norm = "model.layers.{}.input_layernorm.weight"
    config = {"model_type": "deepseek_v3", "num_hidden_layers": layers}
    found = compared(
        tmp_path / "model",
        "deepseek2",
        config,
        {norm.format(0): [1, 2], norm.format(1): [3, 4]},
        {"blk.0.attn_norm.weight": [1, 2]},
    )
    assert found == {"blk.0.attn_norm.weight": "equal", norm.format(1): stated}


def test_the_part_of_a_head_that_turns_is_permuted(tmp_path: Path) -> None:
    """GLM-V rotates four of a head's six rows, in pairs side by side: rows 0, 2, 1, 3, then 4 and 5 unchanged."""
    config = {"model_type": "glm4", "num_attention_heads": 2, "num_key_value_heads": 2, "qk_rope_head_dim": 4}
    rows = [[float(number)] * 2 for number in range(12)]
    file = [rows[6 * head + row] for head in (0, 1) for row in (0, 2, 1, 3, 4, 5)]
    model = {"model.layers.0.self_attn.q_proj.weight": rows}
    for number, (held, status) in enumerate([(file, "equal"), (rows, "equal"), (file[1:] + file[:1], "different")]):
        found = compared(tmp_path / str(number), "glm4", config, model, {"blk.0.attn_q.weight": held})
        assert found == {"blk.0.attn_q.weight": status}
