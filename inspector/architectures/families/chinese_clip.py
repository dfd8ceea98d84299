"""Model type chinese_clip: vision_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

LAYER = "text_model.encoder.layer.{layer<text_config.num_hidden_layers}"

FAMILY = Family(
    name="chinese_clip",
    types={"chinese_clip": {}},
    rows=(
        Include(
            "vision_config", "vision_model.", tower="vision", head="Model", default_type="chinese_clip_vision_model"
        ),
        Row("embed_tokens", "text_model.embeddings.word_embeddings", "text_config.vocab_size, text_config.hidden_size"),
        Row(
            "embed_positions",
            "text_model.embeddings.position_embeddings",
            "text_config.max_position_embeddings, text_config.hidden_size",
        ),
        Row(
            "embed_token_types",
            "text_model.embeddings.token_type_embeddings",
            "text_config.type_vocab_size, text_config.hidden_size",
        ),
        Row("embed_norm", "text_model.embeddings.LayerNorm", "text_config.hidden_size", bias="True"),
        Row(
            "q_proj",
            LAYER + ".attention.self.query",
            "text_config.hidden_size // text_config.num_attention_heads * text_config.num_attention_heads, text_config.hidden_size",
            bias="True",
        ),
        Row(
            "k_proj",
            LAYER + ".attention.self.key",
            "text_config.hidden_size // text_config.num_attention_heads * text_config.num_attention_heads, text_config.hidden_size",
            bias="True",
        ),
        Row(
            "v_proj",
            LAYER + ".attention.self.value",
            "text_config.hidden_size // text_config.num_attention_heads * text_config.num_attention_heads, text_config.hidden_size",
            bias="True",
        ),
        Row(
            "o_proj", LAYER + ".attention.output.dense", "text_config.hidden_size, text_config.hidden_size", bias="True"
        ),
        Row("post_attention_layernorm", LAYER + ".attention.output.LayerNorm", "text_config.hidden_size", bias="True"),
        Row(
            "up_proj",
            LAYER + ".intermediate.dense",
            "text_config.intermediate_size, text_config.hidden_size",
            bias="True",
        ),
        Row(
            "down_proj", LAYER + ".output.dense", "text_config.hidden_size, text_config.intermediate_size", bias="True"
        ),
        Row("post_feedforward_layernorm", LAYER + ".output.LayerNorm", "text_config.hidden_size", bias="True"),
        Row("logit_scale", "logit_scale", "", leaf="", group="head"),
        Row("visual_projection", "visual_projection", "projection_dim, vision_config.hidden_size"),
        Row("text_projection", "text_projection", "projection_dim, text_config.hidden_size"),
    ),
    defaults={
        "projection_dim": 512,
        "text_config": {
            "hidden_size": 768,
            "intermediate_size": 3072,
            "max_position_embeddings": 512,
            "num_attention_heads": 12,
            "num_hidden_layers": 12,
            "type_vocab_size": 2,
            "vocab_size": 30522,
        },
        "vision_config": {"hidden_size": 768},
    },
    head="Model",
)
