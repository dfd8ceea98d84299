"""Model type flint.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer<num_hidden_layers}"
EXPERT = "model.layers.{layer<num_hidden_layers}.mlp.experts.{expert<num_experts}"

FAMILY = Family(
    name="flint",
    types={"flint": {}},
    rows=(
        Row("embed_tokens", "model.embed_tokens", "vocab_size, hidden_size"),
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
        Row("softmax_offset", LAYER + ".self_attn.softmax_offset", "num_attention_heads", leaf="", group="attention"),
        Row("q_norm", LAYER + ".self_attn.q_norm", "head_dim"),
        Row("k_norm", LAYER + ".self_attn.k_norm", "head_dim"),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size"),
        Row(
            "router",
            LAYER + ".mlp.gate",
            "num_experts, hidden_size",
            when="layer not in mlp_only_layers and num_experts and (layer + 1) % decoder_sparse_step == 0",
        ),
        Row(
            "gate_proj",
            LAYER + ".mlp.gate_proj",
            "intermediate_size, hidden_size",
            when="layer in mlp_only_layers or (layer + 1) % decoder_sparse_step != 0 or not num_experts",
        ),
        Row(
            "gate_proj",
            EXPERT + ".gate_proj",
            "moe_intermediate_size, hidden_size",
            when="layer not in mlp_only_layers and (layer + 1) % decoder_sparse_step == 0",
            active="num_experts_per_tok",
        ),
        Row(
            "up_proj",
            LAYER + ".mlp.up_proj",
            "intermediate_size, hidden_size",
            when="layer in mlp_only_layers or (layer + 1) % decoder_sparse_step != 0 or not num_experts",
        ),
        Row(
            "up_proj",
            EXPERT + ".up_proj",
            "moe_intermediate_size, hidden_size",
            when="layer not in mlp_only_layers and (layer + 1) % decoder_sparse_step == 0",
            active="num_experts_per_tok",
        ),
        Row(
            "down_proj",
            LAYER + ".mlp.down_proj",
            "hidden_size, intermediate_size",
            when="layer in mlp_only_layers or (layer + 1) % decoder_sparse_step != 0 or not num_experts",
        ),
        Row(
            "down_proj",
            EXPERT + ".down_proj",
            "hidden_size, moe_intermediate_size",
            when="layer not in mlp_only_layers and (layer + 1) % decoder_sparse_step == 0",
            active="num_experts_per_tok",
        ),
        Row(
            "shared_gate_proj",
            LAYER + ".mlp.shared_expert.gate_proj",
            "shared_expert_intermediate_size, hidden_size",
            when="layer not in mlp_only_layers and num_experts and (layer + 1) % decoder_sparse_step == 0",
        ),
        Row(
            "shared_up_proj",
            LAYER + ".mlp.shared_expert.up_proj",
            "shared_expert_intermediate_size, hidden_size",
            when="layer not in mlp_only_layers and num_experts and (layer + 1) % decoder_sparse_step == 0",
        ),
        Row(
            "shared_down_proj",
            LAYER + ".mlp.shared_expert.down_proj",
            "hidden_size, shared_expert_intermediate_size",
            when="layer not in mlp_only_layers and num_experts and (layer + 1) % decoder_sparse_step == 0",
        ),
        Row("norm", "model.norm", "hidden_size"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
    ),
    prefix="model.",
    defaults={
        "attention_bias": False,
        "decoder_sparse_step": 1,
        "head_dim": 128,
        "hidden_size": 2048,
        "intermediate_size": 6144,
        "moe_intermediate_size": 512,
        "num_attention_heads": 32,
        "num_experts": 256,
        "num_experts_per_tok": 6,
        "num_hidden_layers": 49,
        "num_key_value_heads": 4,
        "shared_expert_intermediate_size": 1024,
        "tie_word_embeddings": False,
        "vocab_size": 150144,
    },
    derived={"mlp_only_layers": "[0 if layer == 0 else 1 for layer in range(2)]"},
)
