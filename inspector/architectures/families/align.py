"""Model type align.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

TEXT_MODEL_ENCODER = "text_model.encoder.layer.{layer}"
VISION_MODEL_ENCODER = "vision_model.encoder.blocks.{layer}"

FAMILY = Family(
    name="align",
    types={"align": {}},
    rows=(
        Row("embed_tokens", "text_model.embeddings.word_embeddings", ""),
        Row("embed_positions", "text_model.embeddings.position_embeddings", ""),
        Row("embed_token_types", "text_model.embeddings.token_type_embeddings", ""),
        Row("embed_norm", "text_model.embeddings.LayerNorm", ""),
        Row("convolution", "vision_model.embeddings.convolution", "", tower="vision", group="embedding"),
        Row("batchnorm", "vision_model.embeddings.batchnorm", "", tower="vision"),
        Row("q_proj", TEXT_MODEL_ENCODER + ".attention.self.query", ""),
        Row("k_proj", TEXT_MODEL_ENCODER + ".attention.self.key", ""),
        Row("v_proj", TEXT_MODEL_ENCODER + ".attention.self.value", ""),
        Row("o_proj", TEXT_MODEL_ENCODER + ".attention.output.dense", ""),
        Row("post_attention_layernorm", TEXT_MODEL_ENCODER + ".attention.output.LayerNorm", ""),
        Row("up_proj", TEXT_MODEL_ENCODER + ".intermediate.dense", ""),
        Row("down_proj", TEXT_MODEL_ENCODER + ".output.dense", ""),
        Row("post_feedforward_layernorm", TEXT_MODEL_ENCODER + ".output.LayerNorm", ""),
        Row("depthwise_conv", VISION_MODEL_ENCODER + ".depthwise_conv.depthwise_conv", "", tower="vision"),
        Row("depthwise_norm", VISION_MODEL_ENCODER + ".depthwise_conv.depthwise_norm", "", tower="vision"),
        Row("reduce", VISION_MODEL_ENCODER + ".squeeze_excite.reduce", "", tower="vision", group="convolution"),
        Row("expand", VISION_MODEL_ENCODER + ".squeeze_excite.expand", "", tower="vision", group="convolution"),
        Row("project_conv", VISION_MODEL_ENCODER + ".projection.project_conv", "", tower="vision"),
        Row("project_bn", VISION_MODEL_ENCODER + ".projection.project_bn", "", tower="vision", group="norm"),
        Row("expand_conv", VISION_MODEL_ENCODER + ".expansion.expand_conv", "", tower="vision"),
        Row("expand_bn", VISION_MODEL_ENCODER + ".expansion.expand_bn", "", tower="vision", group="norm"),
        Row("temperature", "temperature", "", leaf=""),
        Row("pooler", "text_model.pooler.dense", ""),
        Row("text_projection", "text_projection", ""),
        Row("running_mean", "vision_model.embeddings.batchnorm.running_mean", "", tower="vision", leaf="", buffer=True),
        Row("running_var", "vision_model.embeddings.batchnorm.running_var", "", tower="vision", leaf="", buffer=True),
        Row(
            "num_batches_tracked",
            "vision_model.embeddings.batchnorm.num_batches_tracked",
            "",
            tower="vision",
            leaf="",
            buffer=True,
        ),
        Row(
            "running_mean",
            VISION_MODEL_ENCODER + ".depthwise_conv.depthwise_norm.running_mean",
            "",
            tower="vision",
            leaf="",
            buffer=True,
        ),
        Row(
            "running_var",
            VISION_MODEL_ENCODER + ".depthwise_conv.depthwise_norm.running_var",
            "",
            tower="vision",
            leaf="",
            buffer=True,
        ),
        Row(
            "num_batches_tracked",
            VISION_MODEL_ENCODER + ".depthwise_conv.depthwise_norm.num_batches_tracked",
            "",
            tower="vision",
            leaf="",
            buffer=True,
        ),
        Row(
            "project_bn_running_mean",
            VISION_MODEL_ENCODER + ".projection.project_bn.running_mean",
            "",
            tower="vision",
            leaf="",
            buffer=True,
        ),
        Row(
            "project_bn_running_var",
            VISION_MODEL_ENCODER + ".projection.project_bn.running_var",
            "",
            tower="vision",
            leaf="",
            buffer=True,
        ),
        Row(
            "project_bn_num_batches_tracked",
            VISION_MODEL_ENCODER + ".projection.project_bn.num_batches_tracked",
            "",
            tower="vision",
            leaf="",
            buffer=True,
        ),
        Row(
            "expand_bn_running_mean",
            VISION_MODEL_ENCODER + ".expansion.expand_bn.running_mean",
            "",
            tower="vision",
            leaf="",
            buffer=True,
        ),
        Row(
            "expand_bn_running_var",
            VISION_MODEL_ENCODER + ".expansion.expand_bn.running_var",
            "",
            tower="vision",
            leaf="",
            buffer=True,
        ),
        Row(
            "expand_bn_num_batches_tracked",
            VISION_MODEL_ENCODER + ".expansion.expand_bn.num_batches_tracked",
            "",
            tower="vision",
            leaf="",
            buffer=True,
        ),
    ),
    names_only=True,
    head="Model",
)
