"""Model type dots3_note_text.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer<num_hidden_layers}"
EXPERT = "model.layers.{layer<num_hidden_layers}.mlp.experts.{expert<n_routed_experts}"

FAMILY = Family(
    name="dots3_note_text",
    types={"dots3_note_text": {}},
    rows=(
        Row("embed_tokens", "model.embed_tokens", "vocab_size, hidden_size"),
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size"),
        Row(
            "k_proj",
            LAYER + ".self_attn.indexer.wk",
            "index_head_dim, hidden_size",
            when="layer_types[layer] == 'indexed_attention'",
        ),
        Row(
            "o_proj",
            LAYER + ".self_attn.o_proj",
            "hidden_size, num_attention_heads * v_head_dim if layer_types[layer] != 'sliding_attention' else 8192",
            bias="attention_bias",
        ),
        Row("q_a_proj", LAYER + ".self_attn.q_a_proj", "q_lora_rank, hidden_size", bias="attention_bias"),
        Row("q_a_layernorm", LAYER + ".self_attn.q_a_layernorm", "q_lora_rank"),
        Row(
            "g_proj",
            LAYER + ".self_attn.g_proj",
            "num_attention_heads if layer_types[layer] != 'sliding_attention' else 64, hidden_size",
            group="attention",
        ),
        Row(
            "weights_proj",
            LAYER + ".self_attn.indexer.weights_proj",
            "index_n_heads, hidden_size",
            when="layer_types[layer] == 'indexed_attention'",
            group="attention",
        ),
        Row(
            "wq_b",
            LAYER + ".self_attn.indexer.wq_b",
            "index_n_heads * index_head_dim, q_lora_rank",
            when="layer_types[layer] == 'indexed_attention'",
            group="attention",
        ),
        Row("k_rope_only_layernorm", LAYER + ".self_attn.k_rope_only_layernorm", "qk_rope_head_dim"),
        Row(
            "q_b_proj",
            LAYER + ".self_attn.q_b_proj",
            "num_attention_heads * (qk_nope_head_dim + qk_rope_head_dim) if layer_types[layer] != 'sliding_attention' else 16384, q_lora_rank",
        ),
        Row(
            "kv_a_proj_with_mqa",
            LAYER + ".self_attn.kv_a_proj_with_mqa",
            "kv_lora_rank + qk_rope_head_dim if layer_types[layer] != 'sliding_attention' else 1088, hidden_size",
            bias="attention_bias",
        ),
        Row(
            "kv_a_layernorm",
            LAYER + ".self_attn.kv_a_layernorm",
            "kv_lora_rank if layer_types[layer] != 'sliding_attention' else 1024",
        ),
        Row(
            "kv_b_proj",
            LAYER + ".self_attn.kv_b_proj",
            "num_attention_heads * (qk_nope_head_dim + v_head_dim) if layer_types[layer] != 'sliding_attention' else 20480, kv_lora_rank if layer_types[layer] != 'sliding_attention' else 1024",
        ),
        Row(
            "k_norm",
            LAYER + ".self_attn.indexer.k_norm",
            "index_head_dim",
            bias="True",
            when="layer_types[layer] == 'indexed_attention'",
        ),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size"),
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
            "n_shared_experts * shared_experts_intermediate_size, hidden_size",
            when="mlp_layer_types[layer] == 'sparse'",
        ),
        Row(
            "shared_up_proj",
            LAYER + ".mlp.shared_experts.up_proj",
            "n_shared_experts * shared_experts_intermediate_size, hidden_size",
            when="mlp_layer_types[layer] == 'sparse'",
        ),
        Row(
            "shared_down_proj",
            LAYER + ".mlp.shared_experts.down_proj",
            "hidden_size, n_shared_experts * shared_experts_intermediate_size",
            when="mlp_layer_types[layer] == 'sparse'",
        ),
        Row("norm", "model.norm", "hidden_size"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
    ),
    prefix="model.",
    defaults={
        "attention_bias": False,
        "hidden_size": 5120,
        "index_head_dim": 128,
        "index_n_heads": 64,
        "intermediate_size": 13824,
        "kv_lora_rank": 512,
        "moe_intermediate_size": 1536,
        "n_routed_experts": 256,
        "n_shared_experts": 1,
        "num_attention_heads": 128,
        "num_experts_per_tok": 8,
        "num_hidden_layers": 46,
        "q_lora_rank": 1024,
        "qk_nope_head_dim": 128,
        "qk_rope_head_dim": 64,
        "shared_experts_intermediate_size": 1536,
        "tie_word_embeddings": False,
        "v_head_dim": 128,
        "vocab_size": 152064,
    },
    derived={
        "layer_types": "['indexed_attention' if layer % 4 == 1 or layer == 0 else 'sliding_attention' for layer in range(num_hidden_layers)]",
        "mlp_layer_types": "['dense' if layer == 0 else 'sparse' for layer in range(num_hidden_layers)]",
    },
    fields={"num_local_experts": "n_routed_experts"},
)
