"""Model type focalnet.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

ENCODER_STAGES = "encoder.stages.{at2}"
ENCODER_STAGES_ = "encoder.stages.{at2}.layers.{layer}"
ENCODER_STAGES__ = "focalnet.encoder.stages.{at3}"
ENCODER_STAGES___ = "focalnet.encoder.stages.{at3}.layers.{layer}"

FAMILY = Family(
    name="focalnet",
    types={"focalnet": {}},
    rows=(
        Row("embed_patches", "embeddings.patch_embeddings.projection", ""),
        Row("embed_norm", "embeddings.norm", ""),
        Row("projection_embed_patches", "focalnet.embeddings.patch_embeddings.projection", ""),
        Row("norm_embed_norm", "focalnet.embeddings.norm", ""),
        Row("input_layernorm", ENCODER_STAGES_ + ".norm1", ""),
        Row("projection_in", ENCODER_STAGES_ + ".modulation.projection_in", ""),
        Row("projection_context", ENCODER_STAGES_ + ".modulation.projection_context", "", group="convolution"),
        Row("projection_out", ENCODER_STAGES_ + ".modulation.projection_out", ""),
        Row("focal_layers", ENCODER_STAGES_ + ".modulation.focal_layers.{focal_layer}.{at8}", "", group="convolution"),
        Row("projection", ENCODER_STAGES + ".downsample.projection", "", group="convolution"),
        Row("norm", ENCODER_STAGES + ".downsample.norm", ""),
        Row("gamma_1", ENCODER_STAGES_ + ".gamma_1", "", leaf=""),
        Row("gamma_2", ENCODER_STAGES_ + ".gamma_2", "", leaf=""),
        Row("layernorm", ENCODER_STAGES_ + ".modulation.layernorm", ""),
        Row("post_attention_layernorm", ENCODER_STAGES_ + ".norm2", ""),
        Row("up_proj", ENCODER_STAGES_ + ".mlp.fc1", ""),
        Row("down_proj", ENCODER_STAGES_ + ".mlp.fc2", ""),
        Row("norm1_input_layernorm", ENCODER_STAGES___ + ".norm1", ""),
        Row("modulation_projection_in", ENCODER_STAGES___ + ".modulation.projection_in", ""),
        Row(
            "modulation_projection_context",
            ENCODER_STAGES___ + ".modulation.projection_context",
            "",
            group="convolution",
        ),
        Row("modulation_projection_out", ENCODER_STAGES___ + ".modulation.projection_out", ""),
        Row(
            "modulation_focal_layers",
            ENCODER_STAGES___ + ".modulation.focal_layers.{focal_layer}.{at9}",
            "",
            group="convolution",
        ),
        Row("norm2_post_attention_layernorm", ENCODER_STAGES___ + ".norm2", ""),
        Row("fc1_up_proj", ENCODER_STAGES___ + ".mlp.fc1", ""),
        Row("fc2_down_proj", ENCODER_STAGES___ + ".mlp.fc2", ""),
        Row("downsample_projection", ENCODER_STAGES__ + ".downsample.projection", "", group="convolution"),
        Row("downsample_norm", ENCODER_STAGES__ + ".downsample.norm", ""),
        Row("layernorm", "layernorm", ""),
        Row("focalnet_layernorm", "focalnet.layernorm", ""),
        Row("classifier", "classifier", ""),
    ),
    names_only=True,
    head="Model",
)
