"""Model type convnext.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

ENCODER_STAGES = "encoder.stages.{layer}"
ENCODER_STAGES_ = "encoder.stages.{layer}.layers.{sublayer}"
ENCODER_STAGES__ = "convnext.encoder.stages.{at3}"
ENCODER_STAGES___ = "convnext.encoder.stages.{at3}.layers.{layer}"

FAMILY = Family(
    name="convnext",
    types={"convnext": {}},
    rows=(
        Row("patch_embeddings", "embeddings.patch_embeddings", ""),
        Row("layernorm", "embeddings.layernorm", ""),
        Row("embeddings_patch_embeddings", "convnext.embeddings.patch_embeddings", ""),
        Row("embeddings_layernorm", "convnext.embeddings.layernorm", ""),
        Row("layer_scale_parameter", ENCODER_STAGES_ + ".layer_scale_parameter", "", leaf=""),
        Row("dwconv", ENCODER_STAGES_ + ".dwconv", ""),
        Row("layernorm", ENCODER_STAGES_ + ".layernorm", ""),
        Row("pwconv1", ENCODER_STAGES_ + ".pwconv1", ""),
        Row("pwconv2", ENCODER_STAGES_ + ".pwconv2", ""),
        Row(
            "stages_layer_scale_parameter",
            ENCODER_STAGES___ + ".layer_scale_parameter",
            "",
            leaf="",
            group="convolution",
        ),
        Row("stages_dwconv", ENCODER_STAGES___ + ".dwconv", ""),
        Row("stages_layernorm", ENCODER_STAGES___ + ".layernorm", ""),
        Row("stages_pwconv1", ENCODER_STAGES___ + ".pwconv1", ""),
        Row("stages_pwconv2", ENCODER_STAGES___ + ".pwconv2", ""),
        Row("layernorm_13", "layernorm", ""),
        Row("convnext_layernorm", "convnext.layernorm", ""),
        Row("classifier", "classifier", ""),
    ),
    names_only=True,
    head="Model",
)
