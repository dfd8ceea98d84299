"""Stored copies of a tied embedding, with `--data`: how many rows of each differ; equal ones are sound."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import spoilt
from every import every

from inspector.auditing.run import audit

#: Roles of T5's copies, as Transformers 5.24 names them (`T5ForConditionalGeneration._tied_weights_keys`).
T5 = ("encoder.embed_tokens.weight", "decoder.embed_tokens.weight", "lm_head.weight")
LLAMA = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 8, "intermediate_size": 16,
    "num_hidden_layers": 0, "num_attention_heads": 2, "vocab_size": 3000,
}  # fmt: skip


def reported(folder: Path, config: dict[str, Any], tensors: dict[str, Any], *, data: bool = True) -> dict[str, str]:
    """Tensor → what the rule says of it."""
    (folder / "config.json").write_text(json.dumps(config))
    spoilt.safetensors(folder / "model.safetensors", tensors)
    findings = audit([folder], data=data).checkpoints[0].findings
    assert all(each.severity == "warning" for each in findings if each.rule == "copies-differ")
    return {str(each.tensor): each.message for each in findings if each.rule == "copies-differ"}


@every("rows", [0, 1, 20, 3000])
def test_a_head_tied_and_stored(rows: int, tmp_path: Path) -> None:
    """One changed number in each of these rows."""
    embedding = np.random.default_rng(1).normal(0, 0.02, (3000, 8)).astype("<f4")
    head = embedding.copy()
    head[np.arange(rows) * (3000 // max(rows, 1)), 3] += 1
    tensors = {"model.embed_tokens.weight": embedding, "model.norm.weight": np.ones(8, "<f4"), "lm_head.weight": head}
    stated = reported(tmp_path, {**LLAMA, "tie_word_embeddings": True}, tensors)
    what = "differs from model.embed_tokens.weight, to which the configuration ties it, in"
    assert stated == ({"lm_head.weight": f"{what} {rows:,} of 3,000 rows"} if rows else {})
    assert reported(tmp_path, {**LLAMA, "tie_word_embeddings": True}, tensors, data=False) == {}
    assert reported(tmp_path, {**LLAMA, "tie_word_embeddings": False}, tensors) == {}


@every("other", T5)
def test_copies_of_t5(other: str, tmp_path: Path) -> None:
    """Of its three copies, the one that differs in two rows."""
    config = {
        "architectures": ["T5ForConditionalGeneration"], "model_type": "t5", "d_model": 8, "d_kv": 4, "d_ff": 16,
        "num_layers": 0, "num_decoder_layers": 0, "num_heads": 2, "vocab_size": 100, "tie_word_embeddings": True,
    }  # fmt: skip
    shared = np.random.default_rng(2).normal(0, 1, (100, 8)).astype("<f4")
    norms = {f"{stack}.final_layer_norm.weight": np.ones(8, "<f4") for stack in ("encoder", "decoder")}
    tensors = {"shared.weight": shared, **dict.fromkeys(T5, shared), **norms}
    assert reported(tmp_path, config, tensors) == {}
    changed = shared.copy()
    changed[[3, 99]] *= 2
    what = "differs from shared.weight, to which the configuration ties it, in 2 of 100 rows"
    assert reported(tmp_path, config, {**tensors, other: changed}) == {other: what}


def test_copies_of_bart(tmp_path: Path) -> None:
    """Its two stacks' embeddings."""
    config = {
        "architectures": ["BartForConditionalGeneration"], "model_type": "bart", "d_model": 8, "encoder_layers": 0,
        "decoder_layers": 0, "encoder_attention_heads": 2, "decoder_attention_heads": 2, "vocab_size": 100,
        "encoder_ffn_dim": 16, "decoder_ffn_dim": 16, "max_position_embeddings": 10,
    }  # fmt: skip
    shared = np.random.default_rng(3).normal(0, 1, (100, 8)).astype("<f4")
    changed = shared.copy()
    changed[:5] += 1
    tensors = {"model.shared.weight": shared, "final_logits_bias": np.zeros((1, 100), "<f4")}
    for stack, table in (("encoder", shared), ("decoder", changed)):
        tensors[f"model.{stack}.embed_tokens.weight"] = table
        tensors[f"model.{stack}.embed_positions.weight"] = np.ones((12, 8), "<f4")
        tensors |= {f"model.{stack}.layernorm_embedding.{part}": np.ones(8, "<f4") for part in ("weight", "bias")}
    what = "differs from model.shared.weight, to which the configuration ties it, in 5 of 100 rows"
    assert reported(tmp_path, config, tensors) == {"model.decoder.embed_tokens.weight": what}
