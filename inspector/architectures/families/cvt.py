"""Model type cvt.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

ENCODER_STAGES = "encoder.stages.{at2}"
ENCODER_STAGES_ = "encoder.stages.{at2}.layers.{layer}"
ENCODER_STAGES__ = "cvt.encoder.stages.{at3}"
ENCODER_STAGES___ = "cvt.encoder.stages.{at3}.layers.{layer}"

FAMILY = Family(
    name="cvt",
    types={"cvt": {}},
    rows=(
        Row("embed_class", ENCODER_STAGES + ".cls_token", "", leaf=""),
        Row("input_layernorm", ENCODER_STAGES_ + ".layernorm_before", ""),
        Row("o_proj", ENCODER_STAGES_ + ".attention.output.dense", ""),
        Row("projection", ENCODER_STAGES + ".embedding.convolution_embeddings.projection", "", group="embedding"),
        Row("normalization", ENCODER_STAGES + ".embedding.convolution_embeddings.normalization", ""),
        Row(
            "convolution",
            ENCODER_STAGES_ + ".attention.attention.convolution_projection_query.convolution_projection.convolution",
            "",
            group="attention",
        ),
        Row(
            "normalization",
            ENCODER_STAGES_ + ".attention.attention.convolution_projection_query.convolution_projection.normalization",
            "",
        ),
        Row(
            "convolution_projection_convolution",
            ENCODER_STAGES_ + ".attention.attention.convolution_projection_key.convolution_projection.convolution",
            "",
            group="attention",
        ),
        Row(
            "convolution_projection_normalization",
            ENCODER_STAGES_ + ".attention.attention.convolution_projection_key.convolution_projection.normalization",
            "",
        ),
        Row(
            "convolution_projection_value_convolution_projection_convolution",
            ENCODER_STAGES_ + ".attention.attention.convolution_projection_value.convolution_projection.convolution",
            "",
            group="attention",
        ),
        Row(
            "convolution_projection_value_convolution_projection_normalization",
            ENCODER_STAGES_ + ".attention.attention.convolution_projection_value.convolution_projection.normalization",
            "",
        ),
        Row("projection_query", ENCODER_STAGES_ + ".attention.attention.projection_query", "", group="attention"),
        Row("projection_key", ENCODER_STAGES_ + ".attention.attention.projection_key", "", group="attention"),
        Row("projection_value", ENCODER_STAGES_ + ".attention.attention.projection_value", "", group="attention"),
        Row("post_attention_layernorm", ENCODER_STAGES_ + ".layernorm_after", ""),
        Row("up_proj", ENCODER_STAGES_ + ".intermediate.dense", ""),
        Row("down_proj", ENCODER_STAGES_ + ".output.dense", ""),
        Row("convolution_embeddings_projection", ENCODER_STAGES__ + ".embedding.convolution_embeddings.projection", ""),
        Row(
            "convolution_embeddings_normalization",
            ENCODER_STAGES__ + ".embedding.convolution_embeddings.normalization",
            "",
        ),
        Row(
            "convolution_projection_query_convolution_projection_convolution",
            ENCODER_STAGES___ + ".attention.attention.convolution_projection_query.convolution_projection.convolution",
            "",
            group="attention",
        ),
        Row(
            "convolution_projection_query_convolution_projection_normalization",
            ENCODER_STAGES___
            + ".attention.attention.convolution_projection_query.convolution_projection.normalization",
            "",
        ),
        Row(
            "convolution_projection_key_convolution_projection_convolution",
            ENCODER_STAGES___ + ".attention.attention.convolution_projection_key.convolution_projection.convolution",
            "",
            group="attention",
        ),
        Row(
            "convolution_projection_key_convolution_projection_normalization",
            ENCODER_STAGES___ + ".attention.attention.convolution_projection_key.convolution_projection.normalization",
            "",
        ),
        Row(
            "attention_convolution_projection_value_convolution_projection_convolution",
            ENCODER_STAGES___ + ".attention.attention.convolution_projection_value.convolution_projection.convolution",
            "",
        ),
        Row(
            "attention_convolution_projection_value_convolution_projection_normalization",
            ENCODER_STAGES___
            + ".attention.attention.convolution_projection_value.convolution_projection.normalization",
            "",
        ),
        Row("attention_projection_query", ENCODER_STAGES___ + ".attention.attention.projection_query", ""),
        Row("attention_projection_key", ENCODER_STAGES___ + ".attention.attention.projection_key", ""),
        Row("attention_projection_value", ENCODER_STAGES___ + ".attention.attention.projection_value", ""),
        Row("dense_o_proj", ENCODER_STAGES___ + ".attention.output.dense", ""),
        Row("dense_up_proj", ENCODER_STAGES___ + ".intermediate.dense", ""),
        Row("dense_down_proj", ENCODER_STAGES___ + ".output.dense", ""),
        Row("layernorm_before_input_layernorm", ENCODER_STAGES___ + ".layernorm_before", ""),
        Row("layernorm_after_post_attention_layernorm", ENCODER_STAGES___ + ".layernorm_after", ""),
        Row("cls_token_embed_class", ENCODER_STAGES__ + ".cls_token", "", leaf=""),
        Row("layernorm", "layernorm", ""),
        Row("classifier", "classifier", ""),
        Row(
            "running_mean",
            ENCODER_STAGES_
            + ".attention.attention.convolution_projection_query.convolution_projection.normalization.running_mean",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "running_var",
            ENCODER_STAGES_
            + ".attention.attention.convolution_projection_query.convolution_projection.normalization.running_var",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "num_batches_tracked",
            ENCODER_STAGES_
            + ".attention.attention.convolution_projection_query.convolution_projection.normalization.num_batches_tracked",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "normalization_running_mean",
            ENCODER_STAGES_
            + ".attention.attention.convolution_projection_key.convolution_projection.normalization.running_mean",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "normalization_running_var",
            ENCODER_STAGES_
            + ".attention.attention.convolution_projection_key.convolution_projection.normalization.running_var",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "normalization_num_batches_tracked",
            ENCODER_STAGES_
            + ".attention.attention.convolution_projection_key.convolution_projection.normalization.num_batches_tracked",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "convolution_projection_normalization_running_mean",
            ENCODER_STAGES_
            + ".attention.attention.convolution_projection_value.convolution_projection.normalization.running_mean",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "convolution_projection_normalization_running_var",
            ENCODER_STAGES_
            + ".attention.attention.convolution_projection_value.convolution_projection.normalization.running_var",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "convolution_projection_normalization_num_batches_tracked",
            ENCODER_STAGES_
            + ".attention.attention.convolution_projection_value.convolution_projection.normalization.num_batches_tracked",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "convolution_projection_query_convolution_projection_normalization_running_mean",
            ENCODER_STAGES___
            + ".attention.attention.convolution_projection_query.convolution_projection.normalization.running_mean",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "convolution_projection_query_convolution_projection_normalization_running_var",
            ENCODER_STAGES___
            + ".attention.attention.convolution_projection_query.convolution_projection.normalization.running_var",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "convolution_projection_query_convolution_projection_normalization_num_batches_tracked",
            ENCODER_STAGES___
            + ".attention.attention.convolution_projection_query.convolution_projection.normalization.num_batches_tracked",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "convolution_projection_key_convolution_projection_normalization_running_mean",
            ENCODER_STAGES___
            + ".attention.attention.convolution_projection_key.convolution_projection.normalization.running_mean",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "convolution_projection_key_convolution_projection_normalization_running_var",
            ENCODER_STAGES___
            + ".attention.attention.convolution_projection_key.convolution_projection.normalization.running_var",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "convolution_projection_key_convolution_projection_normalization_num_batches_tracked",
            ENCODER_STAGES___
            + ".attention.attention.convolution_projection_key.convolution_projection.normalization.num_batches_tracked",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "convolution_projection_value_convolution_projection_normalization_running_mean",
            ENCODER_STAGES___
            + ".attention.attention.convolution_projection_value.convolution_projection.normalization.running_mean",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "convolution_projection_value_convolution_projection_normalization_running_var",
            ENCODER_STAGES___
            + ".attention.attention.convolution_projection_value.convolution_projection.normalization.running_var",
            "",
            leaf="",
            buffer=True,
        ),
        Row(
            "convolution_projection_value_convolution_projection_normalization_num_batches_tracked",
            ENCODER_STAGES___
            + ".attention.attention.convolution_projection_value.convolution_projection.normalization.num_batches_tracked",
            "",
            leaf="",
            buffer=True,
        ),
    ),
    names_only=True,
    head="Model",
)
