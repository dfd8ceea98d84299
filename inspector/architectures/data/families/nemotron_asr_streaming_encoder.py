"""Nemotron's streaming encoder: Parakeet's with convolutions that look back alone."""

from __future__ import annotations

from inspector.architectures.data.families.parakeet_encoder import LAYERS
from inspector.architectures.table import Family, Row

SUBSAMPLING = "subsampling.layers.{at<subsampling_layers - 1}"

FAMILY = Family(
    name="nemotron_asr_streaming_encoder",
    types={"nemotron_asr_streaming_encoder": {}},
    rows=(
        *LAYERS,
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
