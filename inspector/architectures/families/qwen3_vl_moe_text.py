"""Model type qwen3_vl_moe_text.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="qwen3_vl_moe_text",
    types={"qwen3_vl_moe_text": {}},
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
        Row("q_norm", LAYER + ".self_attn.q_norm", "head_dim"),
        Row("k_norm", LAYER + ".self_attn.k_norm", "head_dim"),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size"),
        Row(
            "router",
            LAYER + ".mlp.gate",
            "num_local_experts, hidden_size",
            when="layer not in mlp_only_layers and num_local_experts and (layer + 1) % decoder_sparse_step == 0",
        ),
        Row(
            "gate_up_proj",
            LAYER + ".mlp.experts.gate_up_proj",
            "num_local_experts, 2 * moe_intermediate_size, hidden_size",
            when="layer not in mlp_only_layers and num_local_experts and (layer + 1) % decoder_sparse_step == 0",
            active="num_experts_per_tok",
            leaf="",
            stacked="num_local_experts",
        ),
        Row(
            "gate_proj",
            LAYER + ".mlp.gate_proj",
            "intermediate_size, hidden_size",
            when="layer in mlp_only_layers or (layer + 1) % decoder_sparse_step != 0 or not num_local_experts",
        ),
        Row(
            "up_proj",
            LAYER + ".mlp.up_proj",
            "intermediate_size, hidden_size",
            when="layer in mlp_only_layers or (layer + 1) % decoder_sparse_step != 0 or not num_local_experts",
        ),
        Row(
            "down_proj",
            LAYER + ".mlp.experts.down_proj",
            "num_local_experts, hidden_size, moe_intermediate_size",
            when="layer not in mlp_only_layers and num_local_experts and (layer + 1) % decoder_sparse_step == 0",
            active="num_experts_per_tok",
            leaf="",
            stacked="num_local_experts",
        ),
        Row(
            "down_proj",
            LAYER + ".mlp.down_proj",
            "hidden_size, intermediate_size",
            when="layer in mlp_only_layers or (layer + 1) % decoder_sparse_step != 0 or not num_local_experts",
        ),
        Row("norm", "norm", "hidden_size"),
    ),
    defaults={
        "attention_bias": False,
        "decoder_sparse_step": 1,
        "hidden_size": 2048,
        "intermediate_size": 5632,
        "mlp_only_layers": [],
        "moe_intermediate_size": 1408,
        "num_attention_heads": 16,
        "num_experts_per_tok": 4,
        "num_hidden_layers": 24,
        "num_key_value_heads": 16,
        "num_local_experts": 60,
        "vocab_size": 151936,
    },
    derived={"head_dim": "hidden_size // num_attention_heads"},
    fields={"num_experts": "num_local_experts"},
    gguf=("qwen3vlmoe",),
    head="Model",
)
