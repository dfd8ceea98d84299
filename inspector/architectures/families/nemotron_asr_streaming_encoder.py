"""Model type nemotron_asr_streaming_encoder.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "layers.{layer}"

FAMILY = Family(
    name="nemotron_asr_streaming_encoder",
    types={"nemotron_asr_streaming_encoder": {}},
    rows=(
        Row("depthwise_conv", "subsampling.layers.{layer}.depthwise_conv", ""),
        Row("pointwise_conv", "subsampling.layers.{layer}.pointwise_conv", ""),
        Row("q_proj", LAYER + ".self_attn.q_proj", ""),
        Row("k_proj", LAYER + ".self_attn.k_proj", ""),
        Row("v_proj", LAYER + ".self_attn.v_proj", ""),
        Row("o_proj", LAYER + ".self_attn.o_proj", ""),
        Row("linear1", LAYER + ".feed_forward1.linear1", "", group="feed_forward"),
        Row("linear2", LAYER + ".feed_forward1.linear2", "", group="feed_forward"),
        Row("bias_u", LAYER + ".self_attn.bias_u", "", leaf="", group="attention"),
        Row("bias_v", LAYER + ".self_attn.bias_v", "", leaf="", group="attention"),
        Row("relative_k_proj", LAYER + ".self_attn.relative_k_proj", ""),
        Row("pointwise_conv1", LAYER + ".conv.pointwise_conv1", ""),
        Row("conv_depthwise_conv", LAYER + ".conv.depthwise_conv", ""),
        Row("norm", LAYER + ".conv.norm", ""),
        Row("pointwise_conv2", LAYER + ".conv.pointwise_conv2", ""),
        Row("feed_forward2_linear1", LAYER + ".feed_forward2.linear1", ""),
        Row("feed_forward2_linear2", LAYER + ".feed_forward2.linear2", ""),
        Row("norm_feed_forward1", LAYER + ".norm_feed_forward1", ""),
        Row("norm_self_att", LAYER + ".norm_self_att", ""),
        Row("norm_conv", LAYER + ".norm_conv", ""),
        Row("norm_feed_forward2", LAYER + ".norm_feed_forward2", ""),
        Row("norm_out", LAYER + ".norm_out", ""),
        Row("conv_in", "subsampling.conv_in", ""),
        Row("linear", "subsampling.linear", ""),
    ),
    classes={"NemotronAsrStreamingEncoder": "NemotronAsrStreamingEncoder"},
    names_only=True,
    head="NemotronAsrStreamingEncoder",
)
