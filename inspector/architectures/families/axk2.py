"""Model type axk2.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer<num_hidden_layers}"
EXPERT = "model.layers.{layer<num_hidden_layers}.mlp.experts.{expert<n_routed_experts}"

FAMILY = Family(
    name="axk2",
    types={"axk2": {}},
    rows=(
        Row("embed_tokens", "model.embed_tokens", "vocab_size, hidden_size"),
        Row("k_proj", LAYER + ".self_attn.indexer.wk", "index_head_dim, hidden_size"),
        Row(
            "o_proj",
            LAYER + ".self_attn.o_proj",
            "hidden_size, num_attention_heads * v_head_dim",
            bias="attention_bias",
        ),
        Row("q_a_proj", LAYER + ".self_attn.q_a_proj", "q_lora_rank, hidden_size", bias="attention_bias"),
        Row("q_a_layernorm", LAYER + ".self_attn.q_a_layernorm", "q_lora_rank"),
        Row("W_down", LAYER + ".input_layernorm.W_down", "gated_norm_rank, hidden_size", group="norm"),
        Row("W_up", LAYER + ".input_layernorm.W_up", "hidden_size, gated_norm_rank", group="norm"),
        Row("norm", LAYER + ".input_layernorm.norm", "hidden_size"),
        Row("weights_proj", LAYER + ".self_attn.indexer.weights_proj", "index_n_heads, hidden_size", group="attention"),
        Row(
            "wq_b", LAYER + ".self_attn.indexer.wq_b", "index_n_heads * index_head_dim, q_lora_rank", group="attention"
        ),
        Row(
            "q_b_proj",
            LAYER + ".self_attn.q_b_proj",
            "num_attention_heads * (qk_nope_head_dim + qk_rope_head_dim + v_head_dim), 2 * q_lora_rank",
        ),
        Row(
            "post_attention_layernorm_W_down",
            LAYER + ".post_attention_layernorm.W_down",
            "gated_norm_rank, hidden_size",
            when="mlp_layer_types[layer] == 'sparse'",
            group="attention",
        ),
        Row(
            "post_attention_layernorm_W_up",
            LAYER + ".post_attention_layernorm.W_up",
            "hidden_size, gated_norm_rank",
            when="mlp_layer_types[layer] == 'sparse'",
            group="attention",
        ),
        Row(
            "post_attention_layernorm_norm",
            LAYER + ".post_attention_layernorm.norm",
            "hidden_size",
            when="mlp_layer_types[layer] == 'sparse'",
        ),
        Row(
            "kv_a_proj_with_mqa",
            LAYER + ".self_attn.kv_a_proj_with_mqa",
            "kv_lora_rank + qk_rope_head_dim, hidden_size",
            bias="attention_bias",
        ),
        Row("kv_a_layernorm", LAYER + ".self_attn.kv_a_layernorm", "kv_lora_rank"),
        Row(
            "kv_b_proj",
            LAYER + ".self_attn.kv_b_proj",
            "num_attention_heads * (qk_nope_head_dim + v_head_dim), kv_lora_rank",
        ),
        Row("k_norm", LAYER + ".self_attn.indexer.k_norm", "index_head_dim", bias="True"),
        Row(
            "post_attention_layernorm",
            LAYER + ".post_attention_layernorm",
            "hidden_size",
            when="mlp_layer_types[layer] == 'dense'",
        ),
        Row("router", LAYER + ".mlp.gate", "n_routed_experts, hidden_size", when="mlp_layer_types[layer] == 'sparse'"),
        Row(
            "router_bias",
            LAYER + ".mlp.gate.e_score_correction_bias",
            "n_routed_experts",
            when="mlp_layer_types[layer] == 'sparse'",
            leaf="",
        ),
        Row(
            "gate_proj",
            LAYER + ".mlp.gate_proj",
            "intermediate_size, hidden_size",
            when="mlp_layer_types[layer] == 'dense'",
        ),
        Row(
            "gate_proj",
            EXPERT + ".gate_proj",
            "moe_intermediate_size, hidden_size",
            when="mlp_layer_types[layer] == 'sparse'",
            active="num_experts_per_tok",
        ),
        Row(
            "up_proj",
            LAYER + ".mlp.up_proj",
            "intermediate_size, hidden_size",
            when="mlp_layer_types[layer] == 'dense'",
        ),
        Row(
            "up_proj",
            EXPERT + ".up_proj",
            "moe_intermediate_size, hidden_size",
            when="mlp_layer_types[layer] == 'sparse'",
            active="num_experts_per_tok",
        ),
        Row(
            "down_proj",
            LAYER + ".mlp.down_proj",
            "hidden_size, intermediate_size",
            when="mlp_layer_types[layer] == 'dense'",
        ),
        Row(
            "down_proj",
            EXPERT + ".down_proj",
            "hidden_size, moe_intermediate_size",
            when="mlp_layer_types[layer] == 'sparse'",
            active="num_experts_per_tok",
        ),
        Row(
            "shared_gate_proj",
            LAYER + ".mlp.shared_experts.gate_proj",
            "n_shared_experts * moe_intermediate_size, hidden_size",
            when="mlp_layer_types[layer] == 'sparse'",
        ),
        Row(
            "shared_up_proj",
            LAYER + ".mlp.shared_experts.up_proj",
            "n_shared_experts * moe_intermediate_size, hidden_size",
            when="mlp_layer_types[layer] == 'sparse'",
        ),
        Row(
            "shared_down_proj",
            LAYER + ".mlp.shared_experts.down_proj",
            "hidden_size, n_shared_experts * moe_intermediate_size",
            when="mlp_layer_types[layer] == 'sparse'",
        ),
        Row("norm", "model.norm", "hidden_size"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
        Row("score", "score", "num_labels, hidden_size", heads="ForSequenceClassification"),
        Row("score", "score", "num_labels, hidden_size", bias="True", heads="ForTokenClassification"),
    ),
    prefix="model.",
    defaults={
        "attention_bias": False,
        "gated_norm_rank": 16,
        "hidden_size": 2048,
        "index_head_dim": 128,
        "index_n_heads": 16,
        "intermediate_size": 5120,
        "kv_lora_rank": 128,
        "moe_intermediate_size": 512,
        "n_routed_experts": 128,
        "n_shared_experts": 1,
        "num_attention_heads": 32,
        "num_experts_per_tok": 8,
        "num_hidden_layers": 48,
        "q_lora_rank": 384,
        "qk_nope_head_dim": 64,
        "qk_rope_head_dim": 32,
        "tie_word_embeddings": False,
        "v_head_dim": 64,
        "vocab_size": 163840,
    },
    derived={"mlp_layer_types": "['dense' if layer == 0 else 'sparse' for layer in range(num_hidden_layers)]"},
    fields={"num_local_experts": "n_routed_experts"},
)
