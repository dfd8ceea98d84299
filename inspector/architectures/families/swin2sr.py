"""Model type swin2sr.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

ENCODER_STAGES = "encoder.stages.{at2}"
ENCODER_STAGES_ = "encoder.stages.{at2}.layers.{layer}"

FAMILY = Family(
    name="swin2sr",
    types={"swin2sr": {}},
    rows=(
        Row("embed_patches", "embeddings.patch_embeddings.projection", ""),
        Row("layernorm", "embeddings.patch_embeddings.layernorm", ""),
        Row("embed_positions", "embeddings.position_embeddings", "", leaf=""),
        Row("input_layernorm", ENCODER_STAGES_ + ".layernorm_before", ""),
        Row("q_proj", ENCODER_STAGES_ + ".attention.self.query", ""),
        Row("k_proj", ENCODER_STAGES_ + ".attention.self.key", ""),
        Row("v_proj", ENCODER_STAGES_ + ".attention.self.value", ""),
        Row("o_proj", ENCODER_STAGES_ + ".attention.output.dense", ""),
        Row("logit_scale", ENCODER_STAGES_ + ".attention.self.logit_scale", "", leaf="", group="head"),
        Row(
            "continuous_position_bias_mlp",
            ENCODER_STAGES_ + ".attention.self.continuous_position_bias_mlp.{at8}",
            "",
            group="attention",
        ),
        Row("conv", ENCODER_STAGES + ".conv", ""),
        Row("projection", ENCODER_STAGES + ".patch_embed.projection", "", group="embedding"),
        Row("conv", ENCODER_STAGES + ".conv.{layer}", ""),
        Row("post_attention_layernorm", ENCODER_STAGES_ + ".layernorm_after", ""),
        Row("up_proj", ENCODER_STAGES_ + ".intermediate.dense", ""),
        Row("down_proj", ENCODER_STAGES_ + ".output.dense", ""),
        Row("first_convolution", "first_convolution", ""),
        Row("layernorm_29", "layernorm", ""),
        Row("conv_after_body", "conv_after_body", ""),
    ),
    names_only=True,
    head="Model",
)
