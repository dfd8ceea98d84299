"""Bark's three transformers: text to meaning, meaning to coarse codebooks, coarse to fine ones.

modeling_bark.py. The last sees all its input, and has an embedding and a head for each codebook.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "layers.{layer<num_layers}."

FAMILY = Family(
    name="bark_semantic",
    types={"semantic": {"causal": True}, "coarse_acoustics": {"causal": True}, "fine_acoustics": {"causal": False}},
    rows=(
        Row("embed_tokens", "input_embeds_layer", "input_vocab_size, hidden_size", when="causal"),
        Row(
            "embed_tokens",
            "input_embeds_layers.{codebook<n_codes_total}",
            "input_vocab_size, hidden_size",
            when="not causal",
        ),
        Row("embed_positions", "position_embeds_layer", "block_size, hidden_size"),
        Row("input_layernorm", LAYER + "layernorm_1", "hidden_size", bias="norm_bias"),
        Row(
            "causal_mask",
            LAYER + "attn.bias",
            "1, 1, block_size, block_size",
            when="causal",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row("qkv_proj", LAYER + "attn.att_proj", "3 * hidden_size, hidden_size", bias="bias"),
        Row("o_proj", LAYER + "attn.out_proj", "hidden_size, hidden_size", bias="bias"),
        Row("post_attention_layernorm", LAYER + "layernorm_2", "hidden_size", bias="norm_bias"),
        Row("up_proj", LAYER + "mlp.in_proj", "4 * hidden_size, hidden_size", bias="bias"),
        Row("down_proj", LAYER + "mlp.out_proj", "hidden_size, 4 * hidden_size", bias="bias"),
        Row("norm", "layernorm_final", "hidden_size", bias="norm_bias"),
        Row("lm_head", "lm_head", "output_vocab_size, hidden_size", when="causal"),
        Row(
            "lm_head",
            "lm_heads.{codebook<n_codes_total - n_codes_given}",
            "output_vocab_size, hidden_size",
            when="not causal",
            tied="tie_word_embeddings",
        ),
    ),
    head="Model",
    defaults={
        "input_vocab_size": 10048,
        "output_vocab_size": 10048,
        "block_size": 1024,
        "hidden_size": 768,
        "num_layers": 12,
        "bias": True,
        "n_codes_total": 8,
        "n_codes_given": 1,
    },
    derived={"norm_bias": "bias or not causal"},
    fields={
        "vocab_size": "input_vocab_size",
        "num_hidden_layers": "num_layers",
        "num_attention_heads": "num_heads",
        "window_size": "block_size",
    },
)
