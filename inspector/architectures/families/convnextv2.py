"""Model type convnextv2.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

ENCODER_STAGES = "encoder.stages.{layer}"
ENCODER_STAGES_ = "encoder.stages.{layer}.layers.{sublayer}"
ENCODER_STAGES__ = "convnextv2.encoder.stages.{at3}"
ENCODER_STAGES___ = "convnextv2.encoder.stages.{at3}.layers.{layer}"

FAMILY = Family(
    name="convnextv2",
    types={"convnextv2": {}},
    rows=(
        Row("patch_embeddings", "embeddings.patch_embeddings", ""),
        Row("layernorm", "embeddings.layernorm", ""),
        Row("embeddings_patch_embeddings", "convnextv2.embeddings.patch_embeddings", ""),
        Row("embeddings_layernorm", "convnextv2.embeddings.layernorm", ""),
        Row("dwconv", ENCODER_STAGES_ + ".dwconv", ""),
        Row("layernorm", ENCODER_STAGES_ + ".layernorm", ""),
        Row("pwconv1", ENCODER_STAGES_ + ".pwconv1", ""),
        Row("grn", ENCODER_STAGES_ + ".grn", "", group="convolution"),
        Row("grn", ENCODER_STAGES_ + ".grn", "", leaf="bias", group="convolution"),
        Row("pwconv2", ENCODER_STAGES_ + ".pwconv2", ""),
        Row("stages_dwconv", ENCODER_STAGES___ + ".dwconv", ""),
        Row("stages_layernorm", ENCODER_STAGES___ + ".layernorm", ""),
        Row("stages_pwconv1", ENCODER_STAGES___ + ".pwconv1", ""),
        Row("stages_grn", ENCODER_STAGES___ + ".grn", "", group="convolution"),
        Row("stages_grn", ENCODER_STAGES___ + ".grn", "", leaf="bias", group="convolution"),
        Row("stages_pwconv2", ENCODER_STAGES___ + ".pwconv2", ""),
        Row("layernorm_14", "layernorm", ""),
        Row("convnextv2_layernorm", "convnextv2.layernorm", ""),
        Row("classifier", "classifier", ""),
    ),
    names_only=True,
    head="Model",
)
