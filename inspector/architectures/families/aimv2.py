"""Model type aimv2: vision_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

LAYER = "text_model.encoder.layers.{layer<text_config.num_hidden_layers}"

FAMILY = Family(
    name="aimv2",
    types={"aimv2": {}},
    rows=(
        Include("vision_config", "vision_model.", tower="vision", head="Model", default_type="aimv2_vision_model"),
        Row(
            "token_embedding",
            "text_model.embeddings.token_embedding",
            "text_config.vocab_size, text_config.hidden_size",
        ),
        Row(
            "position_embedding",
            "text_model.embeddings.position_embedding",
            "text_config.max_position_embeddings, text_config.hidden_size",
        ),
        Row(
            "q_proj",
            LAYER + ".attention.q_proj",
            "text_config.hidden_size, text_config.hidden_size",
            bias="text_config.qkv_bias",
        ),
        Row(
            "k_proj",
            LAYER + ".attention.k_proj",
            "text_config.hidden_size, text_config.hidden_size",
            bias="text_config.qkv_bias",
        ),
        Row(
            "v_proj",
            LAYER + ".attention.v_proj",
            "text_config.hidden_size, text_config.hidden_size",
            bias="text_config.qkv_bias",
        ),
        Row(
            "o_proj",
            LAYER + ".attention.out_proj",
            "text_config.hidden_size, text_config.hidden_size",
            bias="text_config.qkv_bias",
        ),
        Row("rms_norm1", LAYER + ".rms_norm1", "text_config.hidden_size"),
        Row("rms_norm2", LAYER + ".rms_norm2", "text_config.hidden_size"),
        Row(
            "gate_proj",
            LAYER + ".ffn.gate_proj",
            "text_config.intermediate_size, text_config.hidden_size",
            bias="text_config.mlp_bias",
        ),
        Row(
            "up_proj",
            LAYER + ".ffn.up_proj",
            "text_config.intermediate_size, text_config.hidden_size",
            bias="text_config.mlp_bias",
        ),
        Row(
            "down_proj",
            LAYER + ".ffn.down_proj",
            "text_config.hidden_size, text_config.intermediate_size",
            bias="text_config.mlp_bias",
        ),
        Row("logit_scale", "logit_scale", "", leaf="", group="head"),
        Row("rms_norm", "text_model.rms_norm", "text_config.hidden_size"),
        Row("visual_projection", "visual_projection", "projection_dim, vision_config.hidden_size"),
        Row("text_projection", "text_projection", "projection_dim, text_config.hidden_size"),
    ),
    defaults={
        "projection_dim": 512,
        "text_config": {
            "hidden_size": 768,
            "intermediate_size": 2048,
            "max_position_embeddings": 77,
            "mlp_bias": False,
            "num_hidden_layers": 12,
            "qkv_bias": False,
            "vocab_size": 49408,
        },
        "vision_config": {"hidden_size": 1024},
    },
    head="Model",
)
