"""Model type mistral_large4_text.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "layers.{layer<num_hidden_layers}"
EXPERT = "layers.{layer<num_hidden_layers}.experts.{expert<n_routed_experts}"

FAMILY = Family(
    name="mistral_large4_text",
    types={"mistral_large4_text": {}},
    rows=(
        Row("embed_tokens", "embed_tokens", "vocab_size, hidden_size"),
        Row("input_layernorm", LAYER + ".attention_norm", "hidden_size"),
        Row(
            "q_proj",
            LAYER + ".attention.wq",
            "num_attention_heads * (qk_nope_head_dim + qk_rope_head_dim), hidden_size",
        ),
        Row("k_proj", LAYER + ".attention.indexer.wk", "index_head_dim, hidden_size"),
        Row(
            "o_proj",
            LAYER + ".attention.o_proj",
            "hidden_size, num_attention_heads * v_head_dim",
            bias="attention_bias",
        ),
        Row("q_input_norm", LAYER + ".attention.indexer.q_input_norm", "hidden_size", bias="True"),
        Row("b", LAYER + ".attention.indexer.ssmax_scaling.b", "index_n_heads", leaf="", group="state_space"),
        Row("s", LAYER + ".attention.indexer.ssmax_scaling.s", "index_n_heads", leaf="", group="state_space"),
        Row("weights_proj", LAYER + ".attention.indexer.weights_proj", "index_n_heads, hidden_size", group="attention"),
        Row(
            "wq_b", LAYER + ".attention.indexer.wq_b", "index_n_heads * index_head_dim, hidden_size", group="attention"
        ),
        Row("kv_a_norm", LAYER + ".attention.kv_a_norm", "kv_lora_rank"),
        Row(
            "wkv_a_with_mqa",
            LAYER + ".attention.wkv_a_with_mqa",
            "kv_lora_rank + qk_rope_head_dim if no_rope_layers[layer] else kv_lora_rank, hidden_size",
            bias="attention_bias",
            group="attention",
        ),
        Row(
            "wkv_b",
            LAYER + ".attention.wkv_b",
            "num_attention_heads * (qk_nope_head_dim + v_head_dim) if no_rope_layers[layer] else num_attention_heads * (qk_nope_head_dim + qk_rope_head_dim + v_head_dim), kv_lora_rank",
            group="attention",
        ),
        Row("ssmax_scaling_b", LAYER + ".attention.ssmax_scaling.b", "num_attention_heads", leaf=""),
        Row("ssmax_scaling_s", LAYER + ".attention.ssmax_scaling.s", "num_attention_heads", leaf=""),
        Row("gate", LAYER + ".gate", "n_routed_experts, hidden_size", when="mlp_layer_types[layer] == 'sparse'"),
        Row("k_norm", LAYER + ".attention.indexer.k_norm", "index_head_dim", bias="True"),
        Row("post_attention_layernorm", LAYER + ".ffn_norm", "hidden_size"),
        Row(
            "gate_proj",
            LAYER + ".feed_forward.gate_proj",
            "intermediate_size, hidden_size",
            when="mlp_layer_types[layer] == 'dense'",
        ),
        Row(
            "gate_proj",
            EXPERT + ".w1",
            "moe_intermediate_size, hidden_size",
            when="mlp_layer_types[layer] == 'sparse'",
            active="num_experts_per_tok",
        ),
        Row(
            "up_proj",
            LAYER + ".feed_forward.up_proj",
            "intermediate_size, hidden_size",
            when="mlp_layer_types[layer] == 'dense'",
        ),
        Row(
            "up_proj",
            EXPERT + ".w3",
            "moe_intermediate_size, hidden_size",
            when="mlp_layer_types[layer] == 'sparse'",
            active="num_experts_per_tok",
        ),
        Row(
            "down_proj",
            LAYER + ".feed_forward.down_proj",
            "hidden_size, intermediate_size",
            when="mlp_layer_types[layer] == 'dense'",
        ),
        Row(
            "down_proj",
            EXPERT + ".w2",
            "hidden_size, moe_intermediate_size",
            when="mlp_layer_types[layer] == 'sparse'",
            active="num_experts_per_tok",
        ),
        Row(
            "shared_gate_proj",
            LAYER + ".shared_experts.gate_proj",
            "n_shared_experts * moe_intermediate_size, hidden_size",
            when="mlp_layer_types[layer] == 'sparse'",
        ),
        Row(
            "shared_up_proj",
            LAYER + ".shared_experts.up_proj",
            "n_shared_experts * moe_intermediate_size, hidden_size",
            when="mlp_layer_types[layer] == 'sparse'",
        ),
        Row(
            "shared_down_proj",
            LAYER + ".shared_experts.down_proj",
            "hidden_size, n_shared_experts * moe_intermediate_size",
            when="mlp_layer_types[layer] == 'sparse'",
        ),
        Row("norm", "norm", "hidden_size"),
        Row(
            "alpha",
            "rotary_emb.alpha",
            "28 if output_router_logits and not output_router_logits else 44 if tie_word_embeddings and not output_router_logits else 36 if output_router_logits else head_dim // 2",
            leaf="",
            buffer=True,
            persistent=True,
        ),
    ),
    defaults={
        "attention_bias": False,
        "head_dim": 64,
        "hidden_size": 6144,
        "index_head_dim": 128,
        "index_n_heads": 32,
        "intermediate_size": 24576,
        "kv_lora_rank": 512,
        "moe_intermediate_size": 6144,
        "n_routed_experts": 128,
        "n_shared_experts": 1,
        "num_attention_heads": 64,
        "num_experts_per_tok": 4,
        "num_hidden_layers": 72,
        "output_router_logits": False,
        "qk_nope_head_dim": 64,
        "qk_rope_head_dim": 64,
        "tie_word_embeddings": False,
        "v_head_dim": 128,
        "vocab_size": 204800,
    },
    derived={
        "mlp_layer_types": "['dense' if layer < first_k_dense_replace else 'sparse' for layer in range(num_hidden_layers)]",
        "no_rope_layers": "[0 if (layer + 1) % 4 == 0 else 1 for layer in range(num_hidden_layers)]",
    },
    fields={"num_local_experts": "n_routed_experts"},
    head="Model",
)
