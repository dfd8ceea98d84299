"""GLM-4.5V: text and vision by their own types' tables."""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

LAYER = "model.language_model.layers.{layer<text_config.num_hidden_layers}"
EXPERT = "model.language_model.layers.{layer<text_config.num_hidden_layers}.mlp.experts.{expert<text_config.n_routed_experts}"

FAMILY = Family(
    name="glm4v_moe",
    types={"glm4v_moe": {}},
    rows=(
        Include(
            "text_config",
            "model.language_model.",
            head="Model",
            default_type="glm4v_moe_text",
            without="down_proj gate_up_proj",
        ),
        Include("vision_config", "model.visual.", tower="vision", head="Model", default_type="glm4v_moe_vision"),
        Row(
            "gate_proj",
            EXPERT + ".gate_proj",
            "text_config.moe_intermediate_size, text_config.hidden_size",
            when="layer >= text_config.first_k_dense_replace",
            active="text_config.num_experts_per_tok",
        ),
        Row(
            "up_proj",
            EXPERT + ".up_proj",
            "text_config.moe_intermediate_size, text_config.hidden_size",
            when="layer >= text_config.first_k_dense_replace",
            active="text_config.num_experts_per_tok",
        ),
        Row(
            "down_proj",
            LAYER + ".mlp.down_proj",
            "text_config.hidden_size, text_config.intermediate_size",
            when="layer < text_config.first_k_dense_replace",
        ),
        Row(
            "down_proj",
            EXPERT + ".down_proj",
            "text_config.hidden_size, text_config.moe_intermediate_size",
            when="layer >= text_config.first_k_dense_replace",
            active="text_config.num_experts_per_tok",
        ),
        Row(
            "lm_head",
            "lm_head",
            "text_config.vocab_size, text_config.hidden_size",
            heads="ForConditionalGeneration",
            tied="tie_word_embeddings",
        ),
    ),
    prefix="model.",
    defaults={
        "text_config": {
            "first_k_dense_replace": 1,
            "hidden_size": 4096,
            "intermediate_size": 10944,
            "moe_intermediate_size": 1408,
            "n_routed_experts": 128,
            "num_experts_per_tok": 8,
            "num_hidden_layers": 46,
            "vocab_size": 151424,
        },
        "tie_word_embeddings": False,
    },
    head="ForConditionalGeneration",
)
