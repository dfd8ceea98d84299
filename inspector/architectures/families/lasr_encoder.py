"""Model type lasr_encoder.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="lasr_encoder",
    types={"lasr_encoder": {}},
    rows=(
        Row(
            "q_proj",
            LAYER + ".self_attn.q_proj",
            "num_attention_heads * (hidden_size // num_attention_heads), hidden_size",
            bias="attention_bias",
        ),
        Row(
            "k_proj",
            LAYER + ".self_attn.k_proj",
            "num_attention_heads * (hidden_size // num_attention_heads), hidden_size",
            bias="attention_bias",
        ),
        Row(
            "v_proj",
            LAYER + ".self_attn.v_proj",
            "num_attention_heads * (hidden_size // num_attention_heads), hidden_size",
            bias="attention_bias",
        ),
        Row(
            "o_proj",
            LAYER + ".self_attn.o_proj",
            "hidden_size, num_attention_heads * (hidden_size // num_attention_heads)",
            bias="attention_bias",
        ),
        Row(
            "linear1",
            LAYER + ".feed_forward1.linear1",
            "intermediate_size, hidden_size",
            bias="attention_bias",
            group="feed_forward",
        ),
        Row(
            "linear2",
            LAYER + ".feed_forward1.linear2",
            "hidden_size, intermediate_size",
            bias="attention_bias",
            group="feed_forward",
        ),
        Row(
            "pointwise_conv1",
            LAYER + ".conv.pointwise_conv1",
            "2 * hidden_size, hidden_size, 1",
            bias="convolution_bias",
        ),
        Row(
            "depthwise_conv",
            LAYER + ".conv.depthwise_conv",
            "hidden_size, 1, conv_kernel_size",
            bias="convolution_bias",
        ),
        Row("norm", LAYER + ".conv.norm", "hidden_size", bias="True"),
        Row("pointwise_conv2", LAYER + ".conv.pointwise_conv2", "hidden_size, hidden_size, 1", bias="convolution_bias"),
        Row(
            "feed_forward2_linear1",
            LAYER + ".feed_forward2.linear1",
            "intermediate_size, hidden_size",
            bias="attention_bias",
        ),
        Row(
            "feed_forward2_linear2",
            LAYER + ".feed_forward2.linear2",
            "hidden_size, intermediate_size",
            bias="attention_bias",
        ),
        Row("norm_feed_forward1", LAYER + ".norm_feed_forward1", "hidden_size"),
        Row("norm_self_att", LAYER + ".norm_self_att", "hidden_size"),
        Row("norm_conv", LAYER + ".norm_conv", "hidden_size"),
        Row("norm_feed_forward2", LAYER + ".norm_feed_forward2", "hidden_size"),
        Row("norm_out", LAYER + ".norm_out", "hidden_size"),
        Row("dense_0", "subsampler.dense_0", "hidden_size, num_mel_bins", bias="True", group="feed_forward"),
        Row("conv_0", "subsampler.conv_0", "hidden_size, hidden_size, subsampling_conv_kernel_size", bias="True"),
        Row(
            "conv_1",
            "subsampler.conv_1",
            "subsampling_conv_channels, hidden_size, subsampling_conv_kernel_size",
            bias="True",
        ),
        Row(
            "dense_1", "subsampler.dense_1", "hidden_size, subsampling_conv_channels", bias="True", group="feed_forward"
        ),
        Row("out_norm", "out_norm", "hidden_size"),
        Row("running_mean", LAYER + ".conv.norm.running_mean", "hidden_size", leaf="", buffer=True, persistent=True),
        Row("running_var", LAYER + ".conv.norm.running_var", "hidden_size", leaf="", buffer=True, persistent=True),
        Row("num_batches_tracked", LAYER + ".conv.norm.num_batches_tracked", "", leaf="", buffer=True, persistent=True),
    ),
    classes={"LasrEncoder": "LasrEncoder"},
    defaults={
        "attention_bias": False,
        "conv_kernel_size": 32,
        "convolution_bias": False,
        "hidden_size": 512,
        "intermediate_size": 2048,
        "num_attention_heads": 8,
        "num_hidden_layers": 17,
        "num_mel_bins": 128,
        "subsampling_conv_channels": 256,
        "subsampling_conv_kernel_size": 5,
    },
    head="LasrEncoder",
)
