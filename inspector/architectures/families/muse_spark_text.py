"""Model type muse_spark_text.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="muse_spark_text",
    types={"muse_spark_text": {}},
    rows=(
        Row("embed_tokens", "embed_tokens", "vocab_size, hidden_size"),
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size"),
        Row(
            "q_proj", LAYER + ".self_attn.q_proj", "num_attention_heads * head_dim, hidden_size", bias="attention_bias"
        ),
        Row(
            "k_proj", LAYER + ".self_attn.k_proj", "num_key_value_heads * head_dim, hidden_size", bias="attention_bias"
        ),
        Row(
            "v_proj", LAYER + ".self_attn.v_proj", "num_key_value_heads * head_dim, hidden_size", bias="attention_bias"
        ),
        Row(
            "o_proj", LAYER + ".self_attn.o_proj", "hidden_size, num_attention_heads * head_dim", bias="attention_bias"
        ),
        Row("pre_expert_proj", LAYER + ".mlp.pre_expert_proj", "moe_hidden_size, hidden_size"),
        Row("pre_expert_norm", LAYER + ".mlp.pre_expert_norm", "moe_hidden_size"),
        Row("post_expert_norm", LAYER + ".mlp.experts.post_expert_norm", "moe_hidden_size"),
        Row("post_expert_proj", LAYER + ".mlp.post_expert_proj", "hidden_size, moe_hidden_size"),
        Row("gate", LAYER + ".post_attention_residual_gate.gate", "hidden_size", leaf="", group="attention"),
        Row(
            "post_feedforward_residual_gate_gate",
            LAYER + ".post_feedforward_residual_gate.gate",
            "hidden_size",
            leaf="",
        ),
        Row("pre_feedforward_layernorm", LAYER + ".pre_feedforward_layernorm", "hidden_size"),
        Row("router", LAYER + ".mlp.gate", "num_local_experts, hidden_size"),
        Row("router_bias", LAYER + ".mlp.gate.e_score_correction_bias", "num_local_experts", leaf=""),
        Row(
            "gate_up_proj",
            LAYER + ".mlp.experts.gate_up_proj",
            "num_local_experts, 2 * moe_intermediate_size, moe_hidden_size",
            active="num_experts_per_tok",
            leaf="",
            stacked="num_local_experts",
        ),
        Row("gate_proj", LAYER + ".self_attn.gate_proj", "num_attention_heads * head_dim, hidden_size"),
        Row(
            "down_proj",
            LAYER + ".mlp.experts.down_proj",
            "num_local_experts, moe_hidden_size, moe_intermediate_size",
            active="num_experts_per_tok",
            leaf="",
            stacked="num_local_experts",
        ),
        Row("post_feedforward_layernorm", LAYER + ".post_feedforward_layernorm", "hidden_size"),
        Row("norm", "norm", "hidden_size"),
    ),
    defaults={
        "attention_bias": False,
        "head_dim": 64,
        "hidden_size": 8192,
        "moe_hidden_size": 4096,
        "moe_intermediate_size": 4096,
        "num_attention_heads": 128,
        "num_experts_per_tok": 8,
        "num_hidden_layers": 62,
        "num_key_value_heads": 16,
        "num_local_experts": 256,
        "vocab_size": 202048,
    },
    head="Model",
)
