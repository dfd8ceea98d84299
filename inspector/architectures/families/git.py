"""Model type git.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

GIT_ENCODER = "git.encoder.layer.{layer}"
VISION_MODEL_ENCODER = "git.image_encoder.vision_model.encoder.layers.{layer}"

FAMILY = Family(
    name="git",
    types={"git": {}},
    rows=(
        Row("embed_tokens", "git.embeddings.word_embeddings", ""),
        Row("embed_positions", "git.embeddings.position_embeddings", ""),
        Row("embed_norm", "git.embeddings.LayerNorm", ""),
        Row("embed_class", "git.image_encoder.vision_model.embeddings.class_embedding", "", tower="vision", leaf=""),
        Row("embed_patches", "git.image_encoder.vision_model.embeddings.patch_embedding", "", tower="vision"),
        Row("position_embedding", "git.image_encoder.vision_model.embeddings.position_embedding", "", tower="vision"),
        Row("q_proj", GIT_ENCODER + ".attention.self.query", ""),
        Row("k_proj", GIT_ENCODER + ".attention.self.key", ""),
        Row("v_proj", GIT_ENCODER + ".attention.self.value", ""),
        Row("o_proj", GIT_ENCODER + ".attention.output.dense", ""),
        Row("post_attention_layernorm", GIT_ENCODER + ".attention.output.LayerNorm", ""),
        Row("up_proj", GIT_ENCODER + ".intermediate.dense", ""),
        Row("down_proj", GIT_ENCODER + ".output.dense", ""),
        Row("post_feedforward_layernorm", GIT_ENCODER + ".output.LayerNorm", ""),
        Row("img_temporal_embedding", "git.img_temporal_embedding.{layer}", "", leaf=""),
        Row("input_layernorm", VISION_MODEL_ENCODER + ".layer_norm1", "", tower="vision"),
        Row("q_proj", VISION_MODEL_ENCODER + ".self_attn.q_proj", "", tower="vision"),
        Row("k_proj", VISION_MODEL_ENCODER + ".self_attn.k_proj", "", tower="vision"),
        Row("v_proj", VISION_MODEL_ENCODER + ".self_attn.v_proj", "", tower="vision"),
        Row("o_proj", VISION_MODEL_ENCODER + ".self_attn.out_proj", "", tower="vision"),
        Row("post_attention_layernorm", VISION_MODEL_ENCODER + ".layer_norm2", "", tower="vision"),
        Row("up_proj", VISION_MODEL_ENCODER + ".mlp.fc1", "", tower="vision"),
        Row("down_proj", VISION_MODEL_ENCODER + ".mlp.fc2", "", tower="vision"),
        Row("lm_head", "output", "", leaf="bias"),
        Row("lm_head", "output", ""),
        Row("pre_layrnorm", "git.image_encoder.vision_model.pre_layrnorm", "", tower="vision"),
        Row("norm", "git.image_encoder.vision_model.post_layernorm", "", tower="vision"),
    ),
    prefix="git.",
    names_only=True,
)
