"""Model type siglip2: vision_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

LAYER = "text_model.encoder.layers.{layer<text_config.num_hidden_layers}"

FAMILY = Family(
    name="siglip2",
    types={"siglip2": {}},
    rows=(
        Include("vision_config", "vision_model.", tower="vision", head="Model", default_type="siglip2_vision_model"),
        Row("input_layernorm", LAYER + ".layer_norm1", "text_config.hidden_size", bias="True", heads="Model"),
        Row(
            "q_proj",
            LAYER + ".self_attn.q_proj",
            "text_config.hidden_size, text_config.hidden_size",
            bias="True",
            heads="Model",
        ),
        Row(
            "k_proj",
            LAYER + ".self_attn.k_proj",
            "text_config.hidden_size, text_config.hidden_size",
            bias="True",
            heads="Model",
        ),
        Row(
            "v_proj",
            LAYER + ".self_attn.v_proj",
            "text_config.hidden_size, text_config.hidden_size",
            bias="True",
            heads="Model",
        ),
        Row(
            "o_proj",
            LAYER + ".self_attn.out_proj",
            "text_config.hidden_size, text_config.hidden_size",
            bias="True",
            heads="Model",
        ),
        Row("post_attention_layernorm", LAYER + ".layer_norm2", "text_config.hidden_size", bias="True", heads="Model"),
        Row(
            "up_proj",
            LAYER + ".mlp.fc1",
            "text_config.intermediate_size, text_config.hidden_size",
            bias="True",
            heads="Model",
        ),
        Row(
            "down_proj",
            LAYER + ".mlp.fc2",
            "text_config.hidden_size, text_config.intermediate_size",
            bias="True",
            heads="Model",
        ),
        Row("logit_scale", "logit_scale", "1", heads="Model", leaf="", group="head"),
        Row("logit_bias", "logit_bias", "1", heads="Model", leaf="", group="head"),
        Row(
            "token_embedding",
            "text_model.embeddings.token_embedding",
            "text_config.vocab_size, text_config.hidden_size",
            heads="Model",
        ),
        Row(
            "position_embedding",
            "text_model.embeddings.position_embedding",
            "text_config.max_position_embeddings, text_config.hidden_size",
            heads="Model",
        ),
        Row("norm", "text_model.final_layer_norm", "text_config.hidden_size", bias="True", heads="Model"),
        Row(
            "head",
            "text_model.head",
            "text_config.projection_size, text_config.hidden_size",
            bias="True",
            heads="Model",
        ),
        Row(
            "classifier",
            "classifier",
            "num_labels, vision_config.hidden_size",
            bias="True",
            heads="ForImageClassification",
        ),
    ),
    defaults={
        "text_config": {
            "hidden_size": 768,
            "intermediate_size": 3072,
            "max_position_embeddings": 64,
            "num_hidden_layers": 12,
            "projection_size": 768,
            "vocab_size": 32000,
        },
        "vision_config": {"hidden_size": 768},
    },
    head="Model",
)
