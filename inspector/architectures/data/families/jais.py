"""Jais, whose code comes with its checkpoints: GPT-2 with ALiBi and, in most, a gated feed-forward."""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "transformer.h.{layer<n_layer}"

FAMILY = Family(
    name="jais",
    types={"jais": {}},
    rows=(
        Row("embed_tokens", "transformer.wte", "vocab_size, n_embd"),
        Row("embed_positions", "transformer.wpe", "n_positions, n_embd", when="position_embedding_type != 'alibi'"),
        Row(
            "alibi_slopes",
            "transformer.relative_pe.slopes",
            "n_head, 1",
            when="position_embedding_type == 'alibi'",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row("input_layernorm", LAYER + ".ln_1", "n_embd", bias="True"),
        Row("qkv_proj", LAYER + ".attn.c_attn", "n_embd, 3 * n_embd", bias="True", transposed=True),
        Row("o_proj", LAYER + ".attn.c_proj", "n_embd, n_embd", bias="True", transposed=True),
        Row("post_attention_layernorm", LAYER + ".ln_2", "n_embd", bias="True"),
        Row(
            "gate_proj",
            LAYER + ".mlp.c_fc2",
            "n_embd, n_inner",
            bias="True",
            when="activation_function == 'swiglu'",
            transposed=True,
        ),
        Row("up_proj", LAYER + ".mlp.c_fc", "n_embd, n_inner", bias="True", transposed=True),
        Row("down_proj", LAYER + ".mlp.c_proj", "n_inner, n_embd", bias="True", transposed=True),
        Row("norm", "transformer.ln_f", "n_embd", bias="True"),
        Row("lm_head", "lm_head", "vocab_size, n_embd", heads="LMHeadModel", tied="tie_word_embeddings"),
    ),
    prefix="transformer.",
    head="LMHeadModel",
    defaults={
        "vocab_size": 50257,
        "n_positions": 1024,
        "n_embd": 768,
        "n_layer": 12,
        "n_head": 12,
        "activation_function": "gelu_new",
        "position_embedding_type": "learned",
        "tie_word_embeddings": True,
    },
    derived={"n_inner": "4 * n_embd"},
    fields={"hidden_size": "n_embd", "num_hidden_layers": "n_layer", "num_attention_heads": "n_head"},
)
