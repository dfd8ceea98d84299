"""EXAONE 3, whose code comes with its checkpoints: Llama's parts under GPT-2's names."""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "transformer.h.{layer<num_layers}"
ATTENTION = LAYER + ".attn.attention"

FAMILY = Family(
    name="exaone",
    types={"exaone": {}},
    rows=(
        Row("embed_tokens", "transformer.wte", "vocab_size, hidden_size"),
        Row("input_layernorm", LAYER + ".ln_1", "hidden_size"),
        Row("q_proj", ATTENTION + ".q_proj", "num_attention_heads * head_dim, hidden_size"),
        Row("k_proj", ATTENTION + ".k_proj", "num_key_value_heads * head_dim, hidden_size"),
        Row("v_proj", ATTENTION + ".v_proj", "num_key_value_heads * head_dim, hidden_size"),
        Row("o_proj", ATTENTION + ".out_proj", "hidden_size, num_attention_heads * head_dim"),
        Row("inv_freq", ATTENTION + ".rotary.inv_freq", "head_dim // 2", leaf="", buffer=True),
        Row("post_attention_layernorm", LAYER + ".ln_2", "hidden_size"),
        Row("gate_proj", LAYER + ".mlp.c_fc_0", "intermediate_size, hidden_size"),
        Row("up_proj", LAYER + ".mlp.c_fc_1", "intermediate_size, hidden_size"),
        Row("down_proj", LAYER + ".mlp.c_proj", "hidden_size, intermediate_size"),
        Row("norm", "transformer.ln_f", "hidden_size"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
    ),
    prefix="transformer.",
    defaults={"tie_word_embeddings": False, "num_layers": 32, "num_attention_heads": 32},
    derived={
        "head_dim": "hidden_size // num_attention_heads",
        "num_key_value_heads": "num_attention_heads",
        "intermediate_size": "4 * hidden_size",
    },
    fields={"num_hidden_layers": "num_layers"},
)
