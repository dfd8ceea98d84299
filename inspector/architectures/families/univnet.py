"""Model type univnet.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

FAMILY = Family(
    name="univnet",
    types={"univnet": {}},
    rows=(
        Row(
            "embed_patches",
            "resblocks.0.kernel_predictor.resblocks.{layer<kernel_predictor_num_blocks}.conv1",
            "model_in_channels, model_in_channels, kernel_predictor_conv_size",
            bias="True",
        ),
        Row(
            "conv2",
            "resblocks.0.kernel_predictor.resblocks.{layer<kernel_predictor_num_blocks}.conv2",
            "model_in_channels, model_in_channels, kernel_predictor_conv_size",
            bias="True",
            group="head",
        ),
        Row(
            "embed_patches",
            "resblocks.1.kernel_predictor.resblocks.{layer<kernel_predictor_num_blocks}.conv1",
            "model_in_channels, model_in_channels, kernel_predictor_conv_size",
            bias="True",
        ),
        Row(
            "conv2",
            "resblocks.1.kernel_predictor.resblocks.{layer<kernel_predictor_num_blocks}.conv2",
            "model_in_channels, model_in_channels, kernel_predictor_conv_size",
            bias="True",
            group="head",
        ),
        Row(
            "embed_patches",
            "resblocks.2.kernel_predictor.resblocks.{layer<kernel_predictor_num_blocks}.conv1",
            "model_in_channels, model_in_channels, kernel_predictor_conv_size",
            bias="True",
        ),
        Row(
            "conv2",
            "resblocks.2.kernel_predictor.resblocks.{layer<kernel_predictor_num_blocks}.conv2",
            "model_in_channels, model_in_channels, kernel_predictor_conv_size",
            bias="True",
            group="head",
        ),
        Row(
            "conv",
            "resblocks.0.resblocks.{layer<4}.conv",
            "model_hidden_channels, model_hidden_channels, resblock_kernel_sizes[0]",
            bias="True",
        ),
        Row(
            "conv",
            "resblocks.1.resblocks.{layer<4}.conv",
            "model_hidden_channels, model_hidden_channels, resblock_kernel_sizes[0]",
            bias="True",
        ),
        Row(
            "conv",
            "resblocks.2.resblocks.{layer<4}.conv",
            "model_hidden_channels, model_hidden_channels, resblock_kernel_sizes[0]",
            bias="True",
        ),
        Row("conv_pre", "conv_pre", "model_hidden_channels, model_in_channels, 7", bias="True"),
        Row(
            "convt_pre",
            "resblocks.0.convt_pre",
            "model_hidden_channels, model_hidden_channels, 2 * resblock_stride_sizes[0]",
            bias="True",
        ),
        Row(
            "convt_pre",
            "resblocks.1.convt_pre",
            "model_hidden_channels, model_hidden_channels, 2 * resblock_stride_sizes[0]",
            bias="True",
        ),
        Row(
            "convt_pre",
            "resblocks.2.convt_pre",
            "model_hidden_channels, model_hidden_channels, resblock_stride_sizes[0]",
            bias="True",
        ),
        Row(
            "input_conv",
            "resblocks.0.kernel_predictor.input_conv",
            "kernel_predictor_hidden_channels, num_mel_bins, 5",
            bias="True",
            group="head",
        ),
        Row(
            "input_conv",
            "resblocks.1.kernel_predictor.input_conv",
            "kernel_predictor_hidden_channels, num_mel_bins, 5",
            bias="True",
            group="head",
        ),
        Row(
            "input_conv",
            "resblocks.2.kernel_predictor.input_conv",
            "kernel_predictor_hidden_channels, num_mel_bins, 5",
            bias="True",
            group="head",
        ),
        Row(
            "kernel_conv",
            "resblocks.0.kernel_predictor.kernel_conv",
            "8 * model_hidden_channels * model_hidden_channels * resblock_kernel_sizes[0], kernel_predictor_hidden_channels, kernel_predictor_conv_size",
            bias="True",
            group="head",
        ),
        Row(
            "kernel_conv",
            "resblocks.1.kernel_predictor.kernel_conv",
            "8 * model_hidden_channels * model_hidden_channels * resblock_kernel_sizes[0], kernel_predictor_hidden_channels, kernel_predictor_conv_size",
            bias="True",
            group="head",
        ),
        Row(
            "kernel_conv",
            "resblocks.2.kernel_predictor.kernel_conv",
            "8 * model_hidden_channels * model_hidden_channels * resblock_kernel_sizes[0], kernel_predictor_hidden_channels, kernel_predictor_conv_size",
            bias="True",
            group="head",
        ),
        Row(
            "bias_conv",
            "resblocks.0.kernel_predictor.bias_conv",
            "8 * model_hidden_channels, kernel_predictor_hidden_channels, kernel_predictor_conv_size",
            bias="True",
            group="head",
        ),
        Row(
            "bias_conv",
            "resblocks.1.kernel_predictor.bias_conv",
            "8 * model_hidden_channels, kernel_predictor_hidden_channels, kernel_predictor_conv_size",
            bias="True",
            group="head",
        ),
        Row(
            "bias_conv",
            "resblocks.2.kernel_predictor.bias_conv",
            "8 * model_hidden_channels, kernel_predictor_hidden_channels, kernel_predictor_conv_size",
            bias="True",
            group="head",
        ),
        Row("conv_post", "conv_post", "1, model_hidden_channels, 7", bias="True"),
    ),
    defaults={
        "kernel_predictor_conv_size": 3,
        "kernel_predictor_hidden_channels": 64,
        "kernel_predictor_num_blocks": 3,
        "model_hidden_channels": 32,
        "model_in_channels": 64,
        "num_mel_bins": 100,
        "resblock_kernel_sizes": [3, 3, 3],
        "resblock_stride_sizes": [8, 8, 4],
    },
    head="Model",
)
