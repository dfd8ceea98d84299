"""Model type youtu.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="youtu",
    types={"youtu": {}},
    rows=(
        Row("embed_tokens", "model.embed_tokens", "vocab_size, hidden_size"),
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size"),
        Row(
            "q_proj",
            LAYER + ".self_attn.q_proj",
            "num_attention_heads * qk_head_dim, hidden_size",
            when="q_lora_rank is None",
        ),
        Row(
            "o_proj",
            LAYER + ".self_attn.o_proj",
            "hidden_size, num_attention_heads * v_head_dim",
            bias="attention_bias",
        ),
        Row(
            "q_a_proj",
            LAYER + ".self_attn.q_a_proj",
            "q_lora_rank, hidden_size",
            bias="attention_bias",
            when="q_lora_rank is not None",
        ),
        Row("q_a_layernorm", LAYER + ".self_attn.q_a_layernorm", "q_lora_rank", when="q_lora_rank is not None"),
        Row(
            "q_b_proj",
            LAYER + ".self_attn.q_b_proj",
            "num_attention_heads * qk_head_dim, q_lora_rank",
            when="q_lora_rank is not None",
        ),
        Row(
            "kv_a_proj_with_mqa",
            LAYER + ".self_attn.kv_a_proj_with_mqa",
            "qk_rope_head_dim + kv_lora_rank, hidden_size",
            bias="attention_bias",
        ),
        Row("kv_a_layernorm", LAYER + ".self_attn.kv_a_layernorm", "kv_lora_rank"),
        Row(
            "kv_b_proj",
            LAYER + ".self_attn.kv_b_proj",
            "num_attention_heads * qk_nope_head_dim + num_attention_heads * v_head_dim, kv_lora_rank",
        ),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size"),
        Row("gate_proj", LAYER + ".mlp.gate_proj", "intermediate_size, hidden_size"),
        Row("up_proj", LAYER + ".mlp.up_proj", "intermediate_size, hidden_size"),
        Row("down_proj", LAYER + ".mlp.down_proj", "hidden_size, intermediate_size"),
        Row("norm", "model.norm", "hidden_size"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
    ),
    prefix="model.",
    defaults={
        "attention_bias": False,
        "hidden_size": 2048,
        "intermediate_size": 6144,
        "kv_lora_rank": 512,
        "num_attention_heads": 16,
        "num_hidden_layers": 32,
        "q_lora_rank": 1536,
        "qk_nope_head_dim": 128,
        "qk_rope_head_dim": 64,
        "tie_word_embeddings": True,
        "v_head_dim": 128,
        "vocab_size": 128256,
    },
    derived={"head_dim": "qk_rope_head_dim", "qk_head_dim": "head_dim + qk_nope_head_dim"},
)
