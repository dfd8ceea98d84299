"""Model type hiera.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

ENCODER_STAGES = "encoder.stages.{at2}"
ENCODER_STAGES_ = "encoder.stages.{at2}.layers.{layer}"
ENCODER_STAGES__ = "hiera.encoder.stages.{at3}"
ENCODER_STAGES___ = "hiera.encoder.stages.{at3}.layers.{layer}"

FAMILY = Family(
    name="hiera",
    types={"hiera": {}},
    rows=(
        Row("embed_positions", "embeddings.position_embeddings", "", leaf=""),
        Row("embed_patches", "embeddings.patch_embeddings.projection", ""),
        Row("position_embeddings_embed_positions", "hiera.embeddings.position_embeddings", "", leaf=""),
        Row("projection_embed_patches", "hiera.embeddings.patch_embeddings.projection", ""),
        Row("input_layernorm", ENCODER_STAGES_ + ".layernorm_before", ""),
        Row("qkv_proj", ENCODER_STAGES_ + ".attn.qkv", ""),
        Row("o_proj", ENCODER_STAGES_ + ".attn.proj", ""),
        Row("proj", ENCODER_STAGES_ + ".proj", ""),
        Row("post_attention_layernorm", ENCODER_STAGES_ + ".layernorm_after", ""),
        Row("up_proj", ENCODER_STAGES_ + ".mlp.fc1", ""),
        Row("down_proj", ENCODER_STAGES_ + ".mlp.fc2", ""),
        Row("layernorm_before_input_layernorm", ENCODER_STAGES___ + ".layernorm_before", ""),
        Row("qkv_qkv_proj", ENCODER_STAGES___ + ".attn.qkv", ""),
        Row("proj_o_proj", ENCODER_STAGES___ + ".attn.proj", ""),
        Row("layernorm_after_post_attention_layernorm", ENCODER_STAGES___ + ".layernorm_after", ""),
        Row("fc1_up_proj", ENCODER_STAGES___ + ".mlp.fc1", ""),
        Row("fc2_down_proj", ENCODER_STAGES___ + ".mlp.fc2", ""),
        Row("stages_proj", ENCODER_STAGES___ + ".proj", ""),
        Row("layernorm", "pooler.layernorm", ""),
        Row("pooler_layernorm", "hiera.pooler.layernorm", ""),
        Row("classifier", "classifier", ""),
    ),
    names_only=True,
    head="Model",
)
