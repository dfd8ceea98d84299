"""Model type longcat_flash.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer<num_layers}"
MLPS = "model.layers.{layer<num_layers}.mlps.{mlp<2}"

FAMILY = Family(
    name="longcat_flash",
    types={"longcat_flash": {}},
    rows=(
        Row("embed_tokens", "model.embed_tokens", "vocab_size, hidden_size"),
        Row("input_layernorm", LAYER + ".input_layernorm.{input_layernorm<2}", "hidden_size"),
        Row(
            "o_proj",
            LAYER + ".self_attn.0.o_proj",
            "hidden_size, num_attention_heads * v_head_dim",
            bias="attention_bias",
        ),
        Row(
            "o_proj",
            LAYER + ".self_attn.1.o_proj",
            "hidden_size, num_attention_heads * v_head_dim",
            bias="attention_bias",
        ),
        Row("q_a_proj", LAYER + ".self_attn.0.q_a_proj", "q_lora_rank, hidden_size", bias="attention_bias"),
        Row("q_a_proj", LAYER + ".self_attn.1.q_a_proj", "q_lora_rank, hidden_size", bias="attention_bias"),
        Row("q_a_layernorm", LAYER + ".self_attn.0.q_a_layernorm", "q_lora_rank"),
        Row("q_a_layernorm", LAYER + ".self_attn.1.q_a_layernorm", "q_lora_rank"),
        Row("q_b_proj", LAYER + ".self_attn.0.q_b_proj", "num_attention_heads * qk_head_dim, q_lora_rank"),
        Row("q_b_proj", LAYER + ".self_attn.1.q_b_proj", "num_attention_heads * qk_head_dim, q_lora_rank"),
        Row(
            "kv_a_proj_with_mqa",
            LAYER + ".self_attn.0.kv_a_proj_with_mqa",
            "qk_rope_head_dim + kv_lora_rank, hidden_size",
            bias="attention_bias",
        ),
        Row(
            "kv_a_proj_with_mqa",
            LAYER + ".self_attn.1.kv_a_proj_with_mqa",
            "qk_rope_head_dim + kv_lora_rank, hidden_size",
            bias="attention_bias",
        ),
        Row("kv_a_layernorm", LAYER + ".self_attn.0.kv_a_layernorm", "kv_lora_rank"),
        Row("kv_a_layernorm", LAYER + ".self_attn.1.kv_a_layernorm", "kv_lora_rank"),
        Row(
            "kv_b_proj",
            LAYER + ".self_attn.0.kv_b_proj",
            "num_attention_heads * qk_nope_head_dim + num_attention_heads * v_head_dim, kv_lora_rank",
        ),
        Row(
            "kv_b_proj",
            LAYER + ".self_attn.1.kv_b_proj",
            "num_attention_heads * qk_nope_head_dim + num_attention_heads * v_head_dim, kv_lora_rank",
        ),
        Row(
            "post_attention_layernorm", LAYER + ".post_attention_layernorm.{post_attention_layernorm<2}", "hidden_size"
        ),
        Row("router", LAYER + ".mlp.router.classifier", "n_routed_experts + zero_expert_num, hidden_size"),
        Row(
            "router_bias", LAYER + ".mlp.router.e_score_correction_bias", "n_routed_experts + zero_expert_num", leaf=""
        ),
        Row(
            "gate_proj",
            LAYER + ".mlp.experts.{expert<n_routed_experts + zero_expert_num}.gate_proj",
            "expert_ffn_hidden_size, hidden_size",
            when="n_routed_experts",
            active="moe_topk",
        ),
        Row("gate_proj", MLPS + ".gate_proj", "ffn_hidden_size, hidden_size"),
        Row(
            "up_proj",
            LAYER + ".mlp.experts.{expert<n_routed_experts + zero_expert_num}.up_proj",
            "expert_ffn_hidden_size, hidden_size",
            when="n_routed_experts",
            active="moe_topk",
        ),
        Row("up_proj", MLPS + ".up_proj", "ffn_hidden_size, hidden_size"),
        Row(
            "down_proj",
            LAYER + ".mlp.experts.{expert<n_routed_experts}.down_proj",
            "hidden_size, expert_ffn_hidden_size",
            active="moe_topk",
        ),
        Row("down_proj", MLPS + ".down_proj", "hidden_size, ffn_hidden_size"),
        Row("norm", "model.norm", "hidden_size"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
    ),
    prefix="model.",
    defaults={
        "attention_bias": False,
        "expert_ffn_hidden_size": 2048,
        "ffn_hidden_size": 12288,
        "hidden_size": 6144,
        "kv_lora_rank": 512,
        "moe_topk": 12,
        "n_routed_experts": 512,
        "num_attention_heads": 64,
        "num_layers": 28,
        "q_lora_rank": 1536,
        "qk_nope_head_dim": 128,
        "qk_rope_head_dim": 64,
        "tie_word_embeddings": False,
        "v_head_dim": 128,
        "vocab_size": 131072,
        "zero_expert_num": 256,
    },
    derived={"qk_head_dim": "qk_nope_head_dim + qk_rope_head_dim"},
    fields={
        "num_local_experts": "n_routed_experts",
        "num_experts_per_tok": "moe_topk",
        "intermediate_size": "ffn_hidden_size",
        "moe_intermediate_size": "expert_ffn_hidden_size",
    },
)
