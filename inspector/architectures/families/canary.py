"""Model type canary.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

ENCODER = "model.encoder.layers.{layer}"
DECODER = "model.decoder.layers.{layer}"

FAMILY = Family(
    name="canary",
    types={"canary": {}},
    rows=(
        Row("embed_tokens", "model.decoder.embed_tokens", "", tower="decoder"),
        Row("embedding_layernorm", "model.decoder.embedding_layernorm", "", tower="decoder"),
        Row("subsampling", "model.encoder.subsampling.layers.{layer}", "", tower="encoder", group="convolution"),
        Row("q_proj", ENCODER + ".self_attn.q_proj", "", tower="encoder"),
        Row("k_proj", ENCODER + ".self_attn.k_proj", "", tower="encoder"),
        Row("v_proj", ENCODER + ".self_attn.v_proj", "", tower="encoder"),
        Row("o_proj", ENCODER + ".self_attn.o_proj", "", tower="encoder"),
        Row("linear1", ENCODER + ".feed_forward1.linear1", "", tower="encoder", group="feed_forward"),
        Row("linear2", ENCODER + ".feed_forward1.linear2", "", tower="encoder", group="feed_forward"),
        Row("bias_u", ENCODER + ".self_attn.bias_u", "", tower="encoder", leaf="", group="attention"),
        Row("bias_v", ENCODER + ".self_attn.bias_v", "", tower="encoder", leaf="", group="attention"),
        Row("relative_k_proj", ENCODER + ".self_attn.relative_k_proj", "", tower="encoder"),
        Row("pointwise_conv1", ENCODER + ".conv.pointwise_conv1", "", tower="encoder"),
        Row("depthwise_conv", ENCODER + ".conv.depthwise_conv", "", tower="encoder"),
        Row("norm", ENCODER + ".conv.norm", "", tower="encoder"),
        Row("pointwise_conv2", ENCODER + ".conv.pointwise_conv2", "", tower="encoder"),
        Row("feed_forward2_linear1", ENCODER + ".feed_forward2.linear1", "", tower="encoder"),
        Row("feed_forward2_linear2", ENCODER + ".feed_forward2.linear2", "", tower="encoder"),
        Row("norm_feed_forward1", ENCODER + ".norm_feed_forward1", "", tower="encoder"),
        Row("norm_self_att", ENCODER + ".norm_self_att", "", tower="encoder"),
        Row("norm_conv", ENCODER + ".norm_conv", "", tower="encoder"),
        Row("norm_feed_forward2", ENCODER + ".norm_feed_forward2", "", tower="encoder"),
        Row("norm_out", ENCODER + ".norm_out", "", tower="encoder"),
        Row("input_layernorm", DECODER + ".input_layernorm", "", tower="decoder"),
        Row("q_proj", DECODER + ".self_attn.q_proj", "", tower="decoder"),
        Row("k_proj", DECODER + ".self_attn.k_proj", "", tower="decoder"),
        Row("v_proj", DECODER + ".self_attn.v_proj", "", tower="decoder"),
        Row("o_proj", DECODER + ".self_attn.o_proj", "", tower="decoder"),
        Row("cross_q_proj", DECODER + ".encoder_attn.q_proj", "", tower="decoder"),
        Row("cross_k_proj", DECODER + ".encoder_attn.k_proj", "", tower="decoder"),
        Row("cross_v_proj", DECODER + ".encoder_attn.v_proj", "", tower="decoder"),
        Row("cross_o_proj", DECODER + ".encoder_attn.o_proj", "", tower="decoder"),
        Row("norm", DECODER + ".final_layernorm", "", tower="decoder"),
        Row("post_attention_layernorm", DECODER + ".post_attention_layernorm", "", tower="decoder"),
        Row("up_proj", DECODER + ".mlp.fc1", "", tower="decoder"),
        Row("down_proj", DECODER + ".mlp.fc2", "", tower="decoder"),
        Row("linear", "model.encoder.subsampling.linear", "", tower="encoder"),
        Row("norm", "model.decoder.norm", "", tower="decoder"),
        Row("proj_out", "proj_out", "", leaf="bias"),
        Row("proj_out", "proj_out", ""),
        Row("running_mean", ENCODER + ".conv.norm.running_mean", "", tower="encoder", leaf="", buffer=True),
        Row("running_var", ENCODER + ".conv.norm.running_var", "", tower="encoder", leaf="", buffer=True),
        Row(
            "num_batches_tracked", ENCODER + ".conv.norm.num_batches_tracked", "", tower="encoder", leaf="", buffer=True
        ),
    ),
    prefix="model.",
    names_only=True,
    head="ForConditionalGeneration",
)
