"""Model type tvp.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

ENCODER = "encoder.layer.{layer}"
ENCODER_STAGES = "vision_model.backbone.encoder.stages.{layer}"
ENCODER_STAGES_ = "vision_model.backbone.encoder.stages.{layer}.layers.{sublayer}"
ENCODER_STAGES__ = "vision_model.backbone.encoder.stages.{layer}.layers.{sublayer}.layer.{subsublayer}"

FAMILY = Family(
    name="tvp",
    types={"tvp": {}},
    rows=(
        Row("embed_tokens", "embeddings.word_embeddings", ""),
        Row("embed_positions", "embeddings.position_embeddings", ""),
        Row("embed_token_types", "embeddings.token_type_embeddings", ""),
        Row("embed_norm", "embeddings.layer_norm", ""),
        Row("position_embeddings_embed_positions", "visual_embeddings.position_embeddings", ""),
        Row("row_position_embeddings", "visual_embeddings.row_position_embeddings", ""),
        Row("col_position_embeddings", "visual_embeddings.col_position_embeddings", ""),
        Row("token_type_embeddings_embed_token_types", "visual_embeddings.token_type_embeddings", ""),
        Row("layer_norm", "visual_embeddings.layer_norm", ""),
        Row(
            "convolution", "vision_model.backbone.embedder.embedder.convolution", "", tower="vision", group="embedding"
        ),
        Row("normalization", "vision_model.backbone.embedder.embedder.normalization", "", tower="vision"),
        Row("q_proj", ENCODER + ".attention.query", ""),
        Row("k_proj", ENCODER + ".attention.key", ""),
        Row("v_proj", ENCODER + ".attention.value", ""),
        Row("o_proj", ENCODER + ".attention.dense", ""),
        Row("layer_norm", ENCODER + ".attention.layer_norm", ""),
        Row("output_layer_norm", ENCODER + ".output.layer_norm", ""),
        Row("up_proj", ENCODER + ".intermediate.dense", ""),
        Row("down_proj", ENCODER + ".output.dense", ""),
        Row("convolution", ENCODER_STAGES_ + ".shortcut.convolution", "", tower="vision"),
        Row("normalization", ENCODER_STAGES_ + ".shortcut.normalization", "", tower="vision"),
        Row("convolution", ENCODER_STAGES__ + ".convolution", "", tower="vision"),
        Row("normalization", ENCODER_STAGES__ + ".normalization", "", tower="vision"),
        Row("text_prompt", "text_prompt", "", leaf="", group="convolution"),
        Row("pooler", "pooler.dense", ""),
        Row("pad_up", "visual_prompter.pad_up", "", leaf="", group="convolution"),
        Row("pad_down", "visual_prompter.pad_down", "", leaf="", group="convolution"),
        Row("pad_left", "visual_prompter.pad_left", "", leaf="", group="convolution"),
        Row("pad_right", "visual_prompter.pad_right", "", leaf="", group="convolution"),
        Row("grid_encoder_conv", "vision_model.grid_encoder_conv", "", tower="vision"),
        Row(
            "running_mean",
            "vision_model.backbone.embedder.embedder.normalization.running_mean",
            "",
            tower="vision",
            leaf="",
            buffer=True,
        ),
        Row(
            "running_var",
            "vision_model.backbone.embedder.embedder.normalization.running_var",
            "",
            tower="vision",
            leaf="",
            buffer=True,
        ),
        Row(
            "num_batches_tracked",
            "vision_model.backbone.embedder.embedder.normalization.num_batches_tracked",
            "",
            tower="vision",
            leaf="",
            buffer=True,
        ),
        Row(
            "running_mean",
            ENCODER_STAGES_ + ".shortcut.normalization.running_mean",
            "",
            tower="vision",
            leaf="",
            buffer=True,
        ),
        Row(
            "running_var",
            ENCODER_STAGES_ + ".shortcut.normalization.running_var",
            "",
            tower="vision",
            leaf="",
            buffer=True,
        ),
        Row(
            "num_batches_tracked",
            ENCODER_STAGES_ + ".shortcut.normalization.num_batches_tracked",
            "",
            tower="vision",
            leaf="",
            buffer=True,
        ),
        Row("running_mean", ENCODER_STAGES__ + ".normalization.running_mean", "", tower="vision", leaf="", buffer=True),
        Row("running_var", ENCODER_STAGES__ + ".normalization.running_var", "", tower="vision", leaf="", buffer=True),
        Row(
            "num_batches_tracked",
            ENCODER_STAGES__ + ".normalization.num_batches_tracked",
            "",
            tower="vision",
            leaf="",
            buffer=True,
        ),
    ),
    names_only=True,
    head="Model",
)
