"""UnivNet: a vocoder whose convolutions have kernels that another network tells from the spectrogram.

modeling_univnet.py.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "resblocks.{layer<len(resblock_stride_sizes)}."
PREDICTOR = LAYER + "kernel_predictor."
BLOCK = PREDICTOR + "resblocks.{at<kernel_predictor_num_blocks}."
INNER = "kernel_predictor_hidden_channels"


def linear(role: str, name: str, shape: str) -> Row:
    return Row(role, name, shape, bias="True", group="convolution")


FAMILY = Family(
    name="univnet",
    types={"univnet": {}},
    rows=(
        linear("conv_pre", "conv_pre", "model_hidden_channels, model_in_channels, 7"),
        linear(
            "convt_pre",
            LAYER + "convt_pre",
            "model_hidden_channels, model_hidden_channels, 2 * resblock_stride_sizes[layer]",
        ),
        linear("predictor_input_conv", PREDICTOR + "input_conv", f"{INNER}, num_mel_bins, 5"),
        linear("predictor_conv1", BLOCK + "conv1", "model_in_channels, model_in_channels, kernel_predictor_conv_size"),
        linear("predictor_conv2", BLOCK + "conv2", "model_in_channels, model_in_channels, kernel_predictor_conv_size"),
        linear(
            "predictor_kernel_conv",
            PREDICTOR + "kernel_conv",
            "model_hidden_channels * gated_channels * resblock_kernel_sizes[layer] * convolutions,"
            f" {INNER}, kernel_predictor_conv_size",
        ),
        linear(
            "predictor_bias_conv",
            PREDICTOR + "bias_conv",
            f"gated_channels * convolutions, {INNER}, kernel_predictor_conv_size",
        ),
        linear(
            "conv",
            LAYER + "resblocks.{at<convolutions}.conv",
            "model_hidden_channels, model_hidden_channels, resblock_kernel_sizes[layer]",
        ),
        linear("conv_post", "conv_post", "1, model_hidden_channels, 7"),
    ),
    head="Model",
    defaults={
        "model_in_channels": 64,
        "model_hidden_channels": 32,
        "num_mel_bins": 100,
        "resblock_kernel_sizes": [3, 3, 3],
        "resblock_stride_sizes": [8, 8, 4],
        "resblock_dilation_sizes": [[1, 3, 9, 27], [1, 3, 9, 27], [1, 3, 9, 27]],
        "kernel_predictor_num_blocks": 3,
        "kernel_predictor_hidden_channels": 64,
        "kernel_predictor_conv_size": 3,
    },
    derived={
        "convolutions": "len(resblock_dilation_sizes[layer])",
        "gated_channels": "2 * model_hidden_channels",
    },
)
