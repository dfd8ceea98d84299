"""Model type parakeet_ctc.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "encoder.layers.{layer}"

FAMILY = Family(
    name="parakeet_ctc",
    types={"parakeet_ctc": {}},
    rows=(
        Row("subsampling", "encoder.subsampling.layers.{layer}", "", group="convolution"),
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
        Row("depthwise_conv", LAYER + ".conv.depthwise_conv", ""),
        Row("norm", LAYER + ".conv.norm", ""),
        Row("pointwise_conv2", LAYER + ".conv.pointwise_conv2", ""),
        Row("feed_forward2_linear1", LAYER + ".feed_forward2.linear1", ""),
        Row("feed_forward2_linear2", LAYER + ".feed_forward2.linear2", ""),
        Row("norm_feed_forward1", LAYER + ".norm_feed_forward1", ""),
        Row("norm_self_att", LAYER + ".norm_self_att", ""),
        Row("norm_conv", LAYER + ".norm_conv", ""),
        Row("norm_feed_forward2", LAYER + ".norm_feed_forward2", ""),
        Row("norm_out", LAYER + ".norm_out", ""),
        Row("linear", "encoder.subsampling.linear", ""),
        Row("ctc_head", "ctc_head", "", group="convolution"),
        Row("running_mean", LAYER + ".conv.norm.running_mean", "", leaf="", buffer=True),
        Row("running_var", LAYER + ".conv.norm.running_var", "", leaf="", buffer=True),
        Row("num_batches_tracked", LAYER + ".conv.norm.num_batches_tracked", "", leaf="", buffer=True),
    ),
    names_only=True,
    head="ForCTC",
)
