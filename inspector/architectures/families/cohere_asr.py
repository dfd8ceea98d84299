"""Model type cohere_asr.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

TRANSF_DECODER__DECODER = "model.transf_decoder._decoder.layers.{layer}"
ENCODER = "model.encoder.layers.{layer}"

FAMILY = Family(
    name="cohere_asr",
    types={"cohere_asr": {}},
    rows=(
        Row("token_embedding", "model.transf_decoder._embedding.token_embedding", ""),
        Row("layer_norm", "model.transf_decoder._embedding.layer_norm", ""),
        Row("pos_enc", "model.transf_decoder._embedding.position_embedding.pos_enc", "", leaf="", group="embedding"),
        Row("key_net", TRANSF_DECODER__DECODER + ".second_sub_layer.key_net", ""),
        Row("out_projection", TRANSF_DECODER__DECODER + ".second_sub_layer.out_projection", ""),
        Row("query_net", TRANSF_DECODER__DECODER + ".second_sub_layer.query_net", ""),
        Row("value_net", TRANSF_DECODER__DECODER + ".second_sub_layer.value_net", ""),
        Row("layer_norm_3", TRANSF_DECODER__DECODER + ".layer_norm_3", ""),
        Row("layer_norm_1", TRANSF_DECODER__DECODER + ".layer_norm_1", ""),
        Row("dense_in", TRANSF_DECODER__DECODER + ".third_sub_layer.dense_in", "", group="feed_forward"),
        Row("dense_out", TRANSF_DECODER__DECODER + ".third_sub_layer.dense_out", "", group="feed_forward"),
        Row("layer_norm_2", TRANSF_DECODER__DECODER + ".layer_norm_2", ""),
        Row("first_sub_layer_key_net", TRANSF_DECODER__DECODER + ".first_sub_layer.key_net", ""),
        Row("first_sub_layer_out_projection", TRANSF_DECODER__DECODER + ".first_sub_layer.out_projection", ""),
        Row("first_sub_layer_query_net", TRANSF_DECODER__DECODER + ".first_sub_layer.query_net", ""),
        Row("first_sub_layer_value_net", TRANSF_DECODER__DECODER + ".first_sub_layer.value_net", ""),
        Row("depthwise_conv", ENCODER + ".conv.depthwise_conv", ""),
        Row("batch_norm", ENCODER + ".conv.batch_norm", ""),
        Row("pointwise_conv1", ENCODER + ".conv.pointwise_conv1", ""),
        Row("pointwise_conv2", ENCODER + ".conv.pointwise_conv2", ""),
        Row("linear1", ENCODER + ".feed_forward1.linear1", "", group="feed_forward"),
        Row("linear2", ENCODER + ".feed_forward1.linear2", "", group="feed_forward"),
        Row("feed_forward2_linear1", ENCODER + ".feed_forward2.linear1", ""),
        Row("feed_forward2_linear2", ENCODER + ".feed_forward2.linear2", ""),
        Row("norm_conv", ENCODER + ".norm_conv", ""),
        Row("norm_feed_forward1", ENCODER + ".norm_feed_forward1", ""),
        Row("norm_feed_forward2", ENCODER + ".norm_feed_forward2", ""),
        Row("norm_out", ENCODER + ".norm_out", ""),
        Row("norm_self_att", ENCODER + ".norm_self_att", ""),
        Row("pos_bias_u", ENCODER + ".self_attn.pos_bias_u", "", leaf="", group="attention"),
        Row("pos_bias_v", ENCODER + ".self_attn.pos_bias_v", "", leaf="", group="attention"),
        Row("linear_k", ENCODER + ".self_attn.linear_k", "", group="attention"),
        Row("linear_out", ENCODER + ".self_attn.linear_out", "", group="attention"),
        Row("linear_q", ENCODER + ".self_attn.linear_q", "", group="attention"),
        Row("linear_pos", ENCODER + ".self_attn.linear_pos", "", group="attention"),
        Row("linear_v", ENCODER + ".self_attn.linear_v", "", group="attention"),
        Row("conv", "model.encoder.pre_encode.conv.{layer}", ""),
        Row("norm", "model.transf_decoder._decoder.final_layer_norm", ""),
        Row("encoder_decoder_proj", "model.encoder_decoder_proj", ""),
        Row("out", "model.encoder.pre_encode.out", ""),
        Row("layer0", "log_softmax.mlp.layer0", "", leaf="bias", group="feed_forward"),
        Row("layer0", "log_softmax.mlp.layer0", "", group="feed_forward"),
        Row("num_batches_tracked", ENCODER + ".conv.batch_norm.num_batches_tracked", "", leaf="", buffer=True),
        Row("running_mean", ENCODER + ".conv.batch_norm.running_mean", "", leaf="", buffer=True),
        Row("running_var", ENCODER + ".conv.batch_norm.running_var", "", leaf="", buffer=True),
    ),
    prefix="model.",
    names_only=True,
    head="ForConditionalGeneration",
)
