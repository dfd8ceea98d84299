"""gpt-oss, and the privacy filter that OpenAI made of it: sinks in the attention, biases in the experts."""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="gpt_oss",
    types={
        "gpt_oss": {},
        "openai_privacy_filter": {
            "vocab_size": 200064,
            "hidden_size": 640,
            "intermediate_size": 640,
            "num_hidden_layers": 8,
            "num_attention_heads": 14,
            "num_key_value_heads": 2,
        },
    },
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
        Row("sinks", LAYER + ".self_attn.sinks", "num_attention_heads", leaf=""),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size"),
        Row("router", LAYER + ".mlp.router", "num_local_experts, hidden_size", bias="True"),
        Row(
            "gate_up_proj",
            LAYER + ".mlp.experts.gate_up_proj",
            "num_local_experts, hidden_size, 2 * intermediate_size",
            active="num_experts_per_tok",
            leaf="",
            stacked="num_local_experts",
        ),
        Row(
            "gate_up_proj",
            LAYER + ".mlp.experts.gate_up_proj_bias",
            "num_local_experts, 2 * intermediate_size",
            active="num_experts_per_tok",
            leaf="",
            stacked="num_local_experts",
        ),
        Row(
            "down_proj",
            LAYER + ".mlp.experts.down_proj",
            "num_local_experts, intermediate_size, hidden_size",
            active="num_experts_per_tok",
            leaf="",
            stacked="num_local_experts",
        ),
        Row(
            "down_proj",
            LAYER + ".mlp.experts.down_proj_bias",
            "num_local_experts, hidden_size",
            active="num_experts_per_tok",
            leaf="",
            stacked="num_local_experts",
        ),
        Row("norm", "model.norm", "hidden_size"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
        Row("score", "score", "num_labels, hidden_size", heads="ForSequenceClassification"),
        Row("score", "score", "num_labels, hidden_size", bias="True", heads="ForTokenClassification"),
    ),
    prefix="model.",
    defaults={
        "attention_bias": True,
        "head_dim": 64,
        "hidden_size": 2880,
        "intermediate_size": 2880,
        "num_attention_heads": 64,
        "num_experts_per_tok": 4,
        "num_hidden_layers": 36,
        "num_key_value_heads": 8,
        "num_local_experts": 128,
        "tie_word_embeddings": False,
        "vocab_size": 201088,
    },
    fields={"num_experts": "num_local_experts"},
)
