"""Nemotron's streaming encoder: Parakeet's with convolutions that look back alone."""

from __future__ import annotations

from inspector.architectures.table import Family, Row

SUBSAMPLING = "subsampling.layers.{at<subsampling_layers - 1}"
LAYER = "layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="nemotron_asr_streaming_encoder",
    types={"nemotron_asr_streaming_encoder": {}},
    rows=(
        Row(
            "q_proj", LAYER + ".self_attn.q_proj", "num_attention_heads * head_dim, hidden_size", bias="attention_bias"
        ),
        Row(
            "k_proj", LAYER + ".self_attn.k_proj", "num_key_value_heads * head_dim, hidden_size", bias="attention_bias"
        ),
        Row(
            "v_proj", LAYER + ".self_attn.v_proj", "num_key_value_heads * head_dim, hidden_size", bias="attention_bias"
        ),
        Row(
            "o_proj", LAYER + ".self_attn.o_proj", "hidden_size, num_attention_heads * head_dim", bias="attention_bias"
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
        Row("bias_u", LAYER + ".self_attn.bias_u", "num_attention_heads, head_dim", leaf="", group="attention"),
        Row("bias_v", LAYER + ".self_attn.bias_v", "num_attention_heads, head_dim", leaf="", group="attention"),
        Row("relative_k_proj", LAYER + ".self_attn.relative_k_proj", "num_attention_heads * head_dim, hidden_size"),
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
        Row("norm_feed_forward1", LAYER + ".norm_feed_forward1", "hidden_size", bias="True"),
        Row("norm_self_att", LAYER + ".norm_self_att", "hidden_size", bias="True"),
        Row("norm_conv", LAYER + ".norm_conv", "hidden_size", bias="True"),
        Row("norm_feed_forward2", LAYER + ".norm_feed_forward2", "hidden_size", bias="True"),
        Row("norm_out", LAYER + ".norm_out", "hidden_size", bias="True"),
        Row(
            "conv_in",
            "subsampling.conv_in",
            "subsampling_conv_channels, 1, subsampling_conv_kernel_size, subsampling_conv_kernel_size",
            bias="True",
        ),
        Row(
            "subsampling_depthwise_conv",
            SUBSAMPLING + ".depthwise_conv",
            "subsampling_conv_channels, 1, subsampling_conv_kernel_size, subsampling_conv_kernel_size",
            bias="True",
        ),
        Row(
            "subsampling_pointwise_conv",
            SUBSAMPLING + ".pointwise_conv",
            "subsampling_conv_channels, subsampling_conv_channels, 1, 1",
            bias="True",
        ),
        Row("subsampling_linear", "subsampling.linear", "hidden_size, bins * subsampling_conv_channels", bias="True"),
    ),
    classes={"NemotronAsrStreamingEncoder": "NemotronAsrStreamingEncoder"},
    defaults={
        "attention_bias": True,
        "conv_kernel_size": 9,
        "convolution_bias": True,
        "hidden_size": 1024,
        "intermediate_size": 4096,
        "num_attention_heads": 8,
        "num_hidden_layers": 24,
        "num_mel_bins": 80,
        "subsampling_conv_channels": 256,
        "subsampling_conv_kernel_size": 3,
        "subsampling_conv_stride": 2,
        "subsampling_factor": 8,
    },
    # NemotronAsrStreamingEncoderConfig.subsampling_out_hidden_size, its loop at once: each turn is (bins - 2) // stride + 2.
    derived={
        "num_key_value_heads": "num_attention_heads",
        "head_dim": "hidden_size // num_attention_heads",
        "subsampling_layers": "bits(subsampling_factor + 1) - 1",
        "bins": "(num_mel_bins - 2) // subsampling_conv_stride ** subsampling_layers + 2",
    },
    head="NemotronAsrStreamingEncoder",
)
