"""Model type dpt.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

ENCODER_STAGES = "embeddings.backbone.bit.encoder.stages.{layer}"
ENCODER_STAGES_ = "embeddings.backbone.bit.encoder.stages.{layer}.layers.{sublayer}"
ENCODER = "encoder.layer.{layer}"
DPT_ENCODER = "dpt.encoder.layer.{layer}"
NECK_FUSION_STAGE = "neck.fusion_stage.layers.{layer}"
HEAD_HEAD = "head.head.{layer}"
AUXILIARY_HEAD_HEAD = "auxiliary_head.head.{at2}"

FAMILY = Family(
    name="dpt",
    types={"dpt": {}},
    rows=(
        Row("embed_class", "embeddings.cls_token", "", leaf=""),
        Row("embed_positions", "embeddings.position_embeddings", "", leaf=""),
        Row("convolution", "embeddings.backbone.bit.embedder.convolution", "", group="embedding"),
        Row("norm", "embeddings.backbone.bit.embedder.norm", ""),
        Row("projection", "embeddings.projection", "", group="embedding"),
        Row("embed_patches", "embeddings.patch_embeddings.projection", ""),
        Row("cls_token_embed_class", "dpt.embeddings.cls_token", "", leaf=""),
        Row("position_embeddings_embed_positions", "dpt.embeddings.position_embeddings", "", leaf=""),
        Row("projection_embed_patches", "dpt.embeddings.patch_embeddings.projection", ""),
        Row("embed_patches", ENCODER_STAGES_ + ".conv1", ""),
        Row("input_layernorm", ENCODER_STAGES_ + ".norm1", ""),
        Row("conv", ENCODER_STAGES_ + ".downsample.conv", "", group="embedding"),
        Row("norm", ENCODER_STAGES_ + ".downsample.norm", ""),
        Row("conv2", ENCODER_STAGES_ + ".conv2", "", group="embedding"),
        Row("conv3", ENCODER_STAGES_ + ".conv3", "", group="embedding"),
        Row("norm3", ENCODER_STAGES_ + ".norm3", ""),
        Row("post_attention_layernorm", ENCODER_STAGES_ + ".norm2", ""),
        Row("input_layernorm", ENCODER + ".layernorm_before", ""),
        Row("q_proj", ENCODER + ".attention.attention.query", ""),
        Row("k_proj", ENCODER + ".attention.attention.key", ""),
        Row("v_proj", ENCODER + ".attention.attention.value", ""),
        Row("o_proj", ENCODER + ".attention.output.dense", ""),
        Row("post_attention_layernorm", ENCODER + ".layernorm_after", ""),
        Row("up_proj", ENCODER + ".intermediate.dense", ""),
        Row("down_proj", ENCODER + ".output.dense", ""),
        Row("query_q_proj", DPT_ENCODER + ".attention.attention.query", ""),
        Row("key_k_proj", DPT_ENCODER + ".attention.attention.key", ""),
        Row("value_v_proj", DPT_ENCODER + ".attention.attention.value", ""),
        Row("dense_o_proj", DPT_ENCODER + ".attention.output.dense", ""),
        Row("dense_up_proj", DPT_ENCODER + ".intermediate.dense", ""),
        Row("dense_down_proj", DPT_ENCODER + ".output.dense", ""),
        Row("layernorm_before_input_layernorm", DPT_ENCODER + ".layernorm_before", ""),
        Row("layernorm_after_post_attention_layernorm", DPT_ENCODER + ".layernorm_after", ""),
        Row("projection", "neck.reassemble_stage.layers.{layer}.projection", "", group="convolution"),
        Row("resize", "neck.reassemble_stage.layers.{layer}.resize", "", group="convolution"),
        Row("readout_projects", "neck.reassemble_stage.readout_projects.{layer}.{at4}", ""),
        Row("convs", "neck.convs.{layer}", ""),
        Row("fusion_stage_projection", NECK_FUSION_STAGE + ".projection", "", group="convolution"),
        Row("convolution1", NECK_FUSION_STAGE + ".residual_layer1.convolution1", ""),
        Row("convolution2", NECK_FUSION_STAGE + ".residual_layer1.convolution2", ""),
        Row("residual_layer2_convolution1", NECK_FUSION_STAGE + ".residual_layer2.convolution1", ""),
        Row("residual_layer2_convolution2", NECK_FUSION_STAGE + ".residual_layer2.convolution2", ""),
        Row("head", HEAD_HEAD, ""),
        Row("head", AUXILIARY_HEAD_HEAD, ""),
        Row("head", AUXILIARY_HEAD_HEAD, "", group="norm"),
        Row("layernorm", "layernorm", ""),
        Row("pooler", "pooler.dense", ""),
        Row("dpt_layernorm", "dpt.layernorm", ""),
        Row("running_mean", HEAD_HEAD + ".running_mean", "", leaf="", buffer=True),
        Row("running_var", HEAD_HEAD + ".running_var", "", leaf="", buffer=True),
        Row("num_batches_tracked", HEAD_HEAD + ".num_batches_tracked", "", leaf="", buffer=True),
        Row("running_mean", AUXILIARY_HEAD_HEAD + ".running_mean", "", leaf="", buffer=True),
        Row("running_var", AUXILIARY_HEAD_HEAD + ".running_var", "", leaf="", buffer=True),
        Row("num_batches_tracked", AUXILIARY_HEAD_HEAD + ".num_batches_tracked", "", leaf="", buffer=True),
    ),
    names_only=True,
    head="Model",
)
