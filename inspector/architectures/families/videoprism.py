"""Model type videoprism: vision_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

VIDEO_MODEL_AUXILIARY_LAYERS = "video_model.auxiliary_layers.{layer}"
TEXT_MODEL = "text_model.layers.{layer}"

FAMILY = Family(
    name="videoprism",
    types={"videoprism": {}},
    rows=(
        Include(
            "vision_config",
            "video_model.vision_model.",
            tower="vision",
            head="Model",
            default_type="videoprism_vision_model",
            without="embed_positions position_embeddings_embed_positions",
        ),
        Row(
            "embed_positions",
            "video_model.vision_model.spatial_embeddings.position_embeddings",
            "",
            tower="vision",
            leaf="",
        ),
        Row(
            "position_embeddings_embed_positions",
            "video_model.vision_model.temporal_embeddings.position_embeddings",
            "",
            tower="vision",
            leaf="",
        ),
        Row("cls_emb", "text_model.embeddings.cls_emb", "", leaf="", group="embedding"),
        Row("token_embedding", "text_model.embeddings.token_embedding", ""),
        Row("input_layernorm", VIDEO_MODEL_AUXILIARY_LAYERS + ".layernorm_before", ""),
        Row("q_proj", VIDEO_MODEL_AUXILIARY_LAYERS + ".attention.q_proj", ""),
        Row("k_proj", VIDEO_MODEL_AUXILIARY_LAYERS + ".attention.k_proj", ""),
        Row("v_proj", VIDEO_MODEL_AUXILIARY_LAYERS + ".attention.v_proj", ""),
        Row("o_proj", VIDEO_MODEL_AUXILIARY_LAYERS + ".attention.o_proj", ""),
        Row("post_attention_layernorm", VIDEO_MODEL_AUXILIARY_LAYERS + ".layernorm_after", ""),
        Row("up_proj", VIDEO_MODEL_AUXILIARY_LAYERS + ".mlp.fc1", ""),
        Row("down_proj", VIDEO_MODEL_AUXILIARY_LAYERS + ".mlp.fc2", ""),
        Row("attention_q_proj", TEXT_MODEL + ".attention.q_proj", ""),
        Row("attention_k_proj", TEXT_MODEL + ".attention.k_proj", ""),
        Row("attention_v_proj", TEXT_MODEL + ".attention.v_proj", ""),
        Row("attention_o_proj", TEXT_MODEL + ".attention.o_proj", ""),
        Row("layernorm_before_input_layernorm", TEXT_MODEL + ".layernorm_before", ""),
        Row("layernorm_after_post_attention_layernorm", TEXT_MODEL + ".layernorm_after", ""),
        Row("fc1_up_proj", TEXT_MODEL + ".mlp.fc1", ""),
        Row("fc2_down_proj", TEXT_MODEL + ".mlp.fc2", ""),
        Row("per_dim_scale", "video_model.head.per_dim_scale", "", leaf="", group="head"),
        Row("pooling_attention_query", "video_model.head.pooling_attention_query", "", leaf="", group="head"),
        Row("q_proj", "video_model.head.q_proj", ""),
        Row("k_proj", "video_model.head.k_proj", ""),
        Row("v_proj", "video_model.head.v_proj", ""),
        Row("o_proj", "video_model.head.o_proj", ""),
        Row("head_layernorm", "video_model.head_layernorm", ""),
        Row("layernorm", "text_model.layernorm", ""),
        Row("position_embedding", "text_model.embeddings.position_embedding", "", leaf="", buffer=True),
        Row("position_ids", "text_model.embeddings.position_ids", "", leaf="", buffer=True),
    ),
    names_only=True,
    head="Model",
)
