"""Model type jetmoe.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="jetmoe",
    types={"jetmoe": {}},
    rows=(
        Row("embed_tokens", "model.embed_tokens", "vocab_size, hidden_size"),
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size"),
        Row("mlp", LAYER + ".mlp", "hidden_size", leaf="bias"),
        Row(
            "input_linear",
            LAYER + ".mlp.input_linear",
            "num_local_experts, 2 * intermediate_size, hidden_size",
            group="convolution",
        ),
        Row(
            "output_linear",
            LAYER + ".mlp.output_linear",
            "num_local_experts, hidden_size, intermediate_size",
            group="convolution",
        ),
        Row("experts", LAYER + ".self_attention.experts", "hidden_size", leaf="bias", group="attention"),
        Row(
            "input_linear",
            LAYER + ".self_attention.experts.input_linear",
            "num_local_experts, num_key_value_heads * kv_channels, hidden_size",
            active="num_experts_per_tok",
            stacked="num_local_experts",
            group="attention",
        ),
        Row(
            "output_linear",
            LAYER + ".self_attention.experts.output_linear",
            "num_local_experts, hidden_size, num_key_value_heads * kv_channels",
            active="num_experts_per_tok",
            stacked="num_local_experts",
            group="attention",
        ),
        Row("experts_router", LAYER + ".self_attention.experts.router.layer", "num_local_experts, hidden_size"),
        Row("kv_proj", LAYER + ".self_attention.kv_proj", "2 * num_key_value_heads * kv_channels, hidden_size"),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size"),
        Row("router", LAYER + ".mlp.router.layer", "num_local_experts, hidden_size"),
        Row("norm", "model.norm", "hidden_size"),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
        Row("score", "score", "num_labels, hidden_size", heads="ForSequenceClassification"),
    ),
    prefix="model.",
    defaults={
        "hidden_size": 2048,
        "intermediate_size": 5632,
        "kv_channels": 128,
        "num_experts_per_tok": 2,
        "num_hidden_layers": 12,
        "num_key_value_heads": 16,
        "num_local_experts": 8,
        "tie_word_embeddings": True,
        "vocab_size": 32000,
    },
    fields={"head_dim": "kv_channels"},
)
