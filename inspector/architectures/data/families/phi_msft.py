"""Phi-1.5 and Phi-2 as they were first published, with code of their own."""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "transformer.h.{layer<n_layer}"

FAMILY = Family(
    name="phi_msft",
    types={"phi-msft": {}, "mixformer-sequential": {}},
    rows=(
        Row("embed_tokens", "transformer.embd.wte", "vocab_size, n_embd"),
        Row("input_layernorm", LAYER + ".ln", "n_embd", bias="True"),
        Row("qkv_proj", LAYER + ".mixer.Wqkv", "(n_head + 2 * n_head_kv) * (n_embd // n_head), n_embd", bias="True"),
        Row("o_proj", LAYER + ".mixer.out_proj", "n_embd, n_embd", bias="True"),
        Row("inv_freq", LAYER + ".mixer.rotary_emb.inv_freq", "rotary_dim // 2", leaf="", buffer=True),
        Row("up_proj", LAYER + ".mlp.fc1", "n_inner, n_embd", bias="True"),
        Row("down_proj", LAYER + ".mlp.fc2", "n_embd, n_inner", bias="True"),
        Row("norm", "lm_head.ln", "n_embd", bias="True", heads="ForCausalLM"),
        Row("lm_head", "lm_head.linear", "vocab_size, n_embd", bias="True", heads="ForCausalLM"),
    ),
    prefix="transformer.",
    defaults={"rotary_dim": 32},
    derived={"n_inner": "4 * n_embd", "n_head_kv": "n_head"},
    fields={"hidden_size": "n_embd", "num_hidden_layers": "n_layer", "num_attention_heads": "n_head"},
)
