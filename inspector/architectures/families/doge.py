"""Model type doge.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="doge",
    types={"doge": {}},
    rows=(
        Row("embed_tokens", "model.embed_tokens", "vocab_size, hidden_size"),
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size"),
        Row(
            "q_proj",
            LAYER + ".self_attn.q_proj",
            "num_attention_heads * head_dim, hidden_size",
            bias="attention_bias",
        ),
        Row(
            "k_proj", LAYER + ".self_attn.k_proj", "num_key_value_heads * head_dim, hidden_size", bias="attention_bias"
        ),
        Row(
            "v_proj", LAYER + ".self_attn.v_proj", "num_key_value_heads * head_dim, hidden_size", bias="attention_bias"
        ),
        Row(
            "o_proj",
            LAYER + ".self_attn.o_proj",
            "hidden_size, num_attention_heads * head_dim",
            bias="attention_bias",
        ),
        Row("input_residual", LAYER + ".input_residual", "hidden_size", leaf=""),
        Row("post_attention_residual", LAYER + ".post_attention_residual", "hidden_size", leaf=""),
        Row("A", LAYER + ".self_attn.A", "num_key_value_heads", leaf="", group="attention"),
        Row(
            "router_gate",
            LAYER + ".mlp.router_gate",
            "2 * int(num_experts ** 0.5), hidden_size",
            when="is_moe",
            group="feed_forward",
        ),
        Row("down_embed", LAYER + ".mlp.down_embed", "num_experts, hidden_size", when="is_moe"),
        Row("up_embed", LAYER + ".mlp.up_embed", "num_experts, hidden_size", when="is_moe"),
        Row("q_norm", LAYER + ".self_attn.q_norm", "head_dim"),
        Row("k_norm", LAYER + ".self_attn.k_norm", "head_dim"),
        Row(
            "dt_proj",
            LAYER + ".self_attn.dt_proj",
            "num_key_value_heads, num_key_value_heads * head_dim",
            bias="attention_bias",
        ),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size"),
        Row("gate_proj", LAYER + ".mlp.gate_proj", "intermediate_size, hidden_size", bias="mlp_bias"),
        Row("up_proj", LAYER + ".mlp.up_proj", "intermediate_size, hidden_size", bias="mlp_bias"),
        Row("down_proj", LAYER + ".mlp.down_proj", "hidden_size, intermediate_size", bias="mlp_bias"),
        Row("norm", "model.norm", "hidden_size"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
        Row("score", "score", "num_labels, hidden_size", heads="ForSequenceClassification"),
    ),
    prefix="model.",
    defaults={
        "attention_bias": False,
        "hidden_size": 1024,
        "intermediate_size": 2048,
        "is_moe": False,
        "mlp_bias": False,
        "num_attention_heads": 8,
        "num_experts": 16384,
        "num_hidden_layers": 32,
        "tie_word_embeddings": False,
        "vocab_size": 32768,
    },
    derived={"num_key_value_heads": "num_attention_heads", "head_dim": "hidden_size // num_attention_heads"},
)
