"""Molmo2's text model: OLMo's or Qwen3's attention, with further tokens beside the vocabulary's."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.table import Family, Row

#: The class suffix as which the whole model reads its text model, whose layers have other names there.
INSIDE = "Inside"
#: Transformers keeps all tokens in one matrix, and writes it in two halves: conversion_mapping.py.
TOKENS = "vocab_size + additional_vocab_size"


def norm(role: str, name: str, heads: str) -> Row:
    """A norm of each head, or, as OLMo has it, of all at once."""
    return Row(role, name, f"head_dim if qk_norm_type == 'qwen3' else {heads} * head_dim")


def rows(layers: str, last: str, heads: str) -> Iterator[Row]:
    """The text model under one of its two sets of names."""
    layer = layers + ".{layer<num_hidden_layers}."
    found = (
        Row("input_layernorm", layer + "attn_norm", "hidden_size"),
        Row(
            "qkv_proj",
            layer + "self_attn.att_proj",
            "(num_attention_heads + 2 * num_key_value_heads) * head_dim, hidden_size",
            bias="attention_bias",
        ),
        norm("q_norm", layer + "self_attn.q_norm", "num_attention_heads"),
        norm("k_norm", layer + "self_attn.k_norm", "num_key_value_heads"),
        Row("o_proj", layer + "self_attn.attn_out", "hidden_size, num_attention_heads * head_dim"),
        Row("post_attention_layernorm", layer + "ff_norm", "hidden_size"),
        Row("gate_up_proj", layer + "mlp.ff_proj", "2 * intermediate_size, hidden_size"),
        Row("down_proj", layer + "mlp.ff_out", "hidden_size, intermediate_size"),
        Row("norm", last, "hidden_size"),
    )
    yield from (row._replace(heads=heads) for row in found)


FAMILY = Family(
    name="molmo2_text",
    types={"molmo2_text": {}},
    rows=(
        Row("embed_tokens", "wte.embedding", f"({TOKENS} + 1) // 2, hidden_size", leaf=""),
        Row("embed_more_tokens", "wte.new_embedding", f"({TOKENS}) // 2, hidden_size", leaf=""),
        *rows("layers", "norm", "Model"),
        *rows("blocks", "ln_f", INSIDE),
    ),
    head="Model",
    defaults={
        "additional_vocab_size": 128,
        "attention_bias": False,
        "head_dim": 128,
        "hidden_size": 4096,
        "intermediate_size": 12288,
        "num_attention_heads": 32,
        "num_hidden_layers": 36,
        "num_key_value_heads": 8,
        "qk_norm_type": "qwen3",
        "vocab_size": 151936,
    },
)
