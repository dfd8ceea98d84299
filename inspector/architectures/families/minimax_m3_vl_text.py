"""Model type minimax_m3_vl_text.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="minimax_m3_vl_text",
    types={"minimax_m3_vl_text": {}},
    rows=(
        Row("embed_tokens", "model.embed_tokens", "vocab_size, hidden_size"),
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size"),
        Row("q_proj", LAYER + ".self_attn.q_proj", "num_attention_heads * head_dim, hidden_size"),
        Row("k_proj", LAYER + ".self_attn.k_proj", "num_key_value_heads * head_dim, hidden_size"),
        Row("v_proj", LAYER + ".self_attn.v_proj", "num_key_value_heads * head_dim, hidden_size"),
        Row("o_proj", LAYER + ".self_attn.o_proj", "hidden_size, num_attention_heads * head_dim"),
        Row("q_norm", LAYER + ".self_attn.q_norm", "head_dim"),
        Row("k_norm", LAYER + ".self_attn.k_norm", "head_dim"),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size"),
        Row("router", LAYER + ".mlp.gate", "num_local_experts, hidden_size"),
        Row("router_bias", LAYER + ".mlp.gate.e_score_correction_bias", "num_local_experts", leaf=""),
        Row(
            "gate_up_proj",
            LAYER + ".mlp.experts.gate_up_proj",
            "num_local_experts, 2 * intermediate_size, hidden_size",
            active="num_experts_per_tok",
            leaf="",
            stacked="num_local_experts",
        ),
        Row("gate_up_proj", LAYER + ".mlp.shared_experts.gate_up_proj", "2 * shared_intermediate_size, hidden_size"),
        Row(
            "down_proj",
            LAYER + ".mlp.experts.down_proj",
            "num_local_experts, hidden_size, intermediate_size",
            active="num_experts_per_tok",
            leaf="",
            stacked="num_local_experts",
        ),
        Row("shared_down_proj", LAYER + ".mlp.shared_experts.down_proj", "hidden_size, shared_intermediate_size"),
        Row("norm", "model.norm", "hidden_size"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
    ),
    prefix="model.",
    defaults={
        "head_dim": 128,
        "hidden_size": 6144,
        "intermediate_size": 3072,
        "num_attention_heads": 64,
        "num_experts_per_tok": 4,
        "num_hidden_layers": 60,
        "num_key_value_heads": 4,
        "num_local_experts": 128,
        "shared_intermediate_size": 3072,
        "tie_word_embeddings": False,
        "vocab_size": 200064,
    },
    fields={"num_experts": "num_local_experts"},
)
