"""Hunyuan-A13B and its relatives: a mixture of experts in every layer; published files give some numbers a layer."""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer<num_hidden_layers}"
EXPERT = "model.layers.{layer<num_hidden_layers}.mlp.experts.{expert<num_experts}"

FAMILY = Family(
    name="hunyuan_v1_moe",
    types={"hunyuan_v1_moe": {}},
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
        Row("wg", LAYER + ".mlp.gate.wg", "num_experts, hidden_size", group="feed_forward"),
        Row("key_layernorm", LAYER + ".self_attn.key_layernorm", "head_dim"),
        Row("query_layernorm", LAYER + ".self_attn.query_layernorm", "head_dim"),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size"),
        Row(
            "gate_proj",
            EXPERT + ".gate_proj",
            "intermediate_size, hidden_size",
            active="max(moe_topk) if count(moe_topk) > 1 else moe_topk",
        ),
        Row(
            "up_proj",
            EXPERT + ".up_proj",
            "intermediate_size, hidden_size",
            active="max(moe_topk) if count(moe_topk) > 1 else moe_topk",
        ),
        Row(
            "down_proj",
            EXPERT + ".down_proj",
            "hidden_size, intermediate_size",
            active="max(moe_topk) if count(moe_topk) > 1 else moe_topk",
        ),
        Row("shared_gate_proj", LAYER + ".mlp.shared_mlp.gate_proj", "intermediate_size, hidden_size"),
        Row("shared_up_proj", LAYER + ".mlp.shared_mlp.up_proj", "intermediate_size, hidden_size"),
        Row("shared_down_proj", LAYER + ".mlp.shared_mlp.down_proj", "hidden_size, intermediate_size"),
        Row("norm", "model.norm", "hidden_size"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
        Row("score", "score", "num_labels, hidden_size", heads="ForSequenceClassification"),
    ),
    prefix="model.",
    defaults={
        "attention_bias": False,
        "head_dim": 128,
        "hidden_size": 4096,
        "intermediate_size": 11008,
        "moe_topk": 1,
        "num_attention_heads": 32,
        "num_experts": 1,
        "num_hidden_layers": 32,
        "tie_word_embeddings": False,
        "vocab_size": 290943,
    },
    derived={"num_key_value_heads": "num_attention_heads"},
    fields={"num_experts_per_tok": "moe_topk", "num_local_experts": "num_experts"},
)
