"""Model type vibevoice_acoustic_tokenizer_encoder.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

STEM_STAGE = "stem.stage.{layer<depths[0]}"
CONV_LAYERS = "conv_layers.{layer<6}"
CONV_LAYERS_STAGE = "conv_layers.{layer<6}.stage.{stage<depths[layer + 1]}"

FAMILY = Family(
    name="vibevoice_acoustic_tokenizer_encoder",
    types={"vibevoice_acoustic_tokenizer_encoder": {}},
    rows=(
        Row("gamma", STEM_STAGE + ".gamma", "num_filters", leaf=""),
        Row("ffn_gamma", STEM_STAGE + ".ffn_gamma", "num_filters", leaf=""),
        Row("norm", STEM_STAGE + ".norm", "num_filters"),
        Row(
            "linear1",
            STEM_STAGE + ".ffn.linear1",
            "num_filters * ffn_expansion, num_filters",
            bias="True",
            group="feed_forward",
        ),
        Row(
            "linear2",
            STEM_STAGE + ".ffn.linear2",
            "num_filters, num_filters * ffn_expansion",
            bias="True",
            group="feed_forward",
        ),
        Row("conv", STEM_STAGE + ".mixer.conv", "num_filters, 1, kernel_size", bias="True", group="state_space"),
        Row("post_attention_layernorm", STEM_STAGE + ".ffn_norm", "num_filters"),
        Row(
            "conv_conv",
            CONV_LAYERS + ".conv.conv",
            "num_filters * 2 ** (layer + 1), num_filters * 2 ** layer, 2 * downsampling_ratios[layer]",
            bias="True",
        ),
        Row("gamma", CONV_LAYERS_STAGE + ".gamma", "num_filters * 2 ** (layer + 1)", leaf="", group="convolution"),
        Row("ffn_gamma", CONV_LAYERS_STAGE + ".ffn_gamma", "num_filters * 2 ** (layer + 1)", leaf=""),
        Row("norm", CONV_LAYERS_STAGE + ".norm", "num_filters * 2 ** (layer + 1)"),
        Row(
            "linear1",
            CONV_LAYERS_STAGE + ".ffn.linear1",
            "num_filters * ffn_expansion * 2 ** (layer + 1), num_filters * 2 ** (layer + 1)",
            bias="True",
            group="feed_forward",
        ),
        Row(
            "linear2",
            CONV_LAYERS_STAGE + ".ffn.linear2",
            "num_filters * 2 ** (layer + 1), num_filters * ffn_expansion * 2 ** (layer + 1)",
            bias="True",
            group="feed_forward",
        ),
        Row(
            "conv",
            CONV_LAYERS_STAGE + ".mixer.conv",
            "num_filters * 2 ** (layer + 1), 1, kernel_size",
            bias="True",
            group="state_space",
        ),
        Row("post_attention_layernorm", CONV_LAYERS_STAGE + ".ffn_norm", "num_filters * 2 ** (layer + 1)"),
        Row("conv", "stem.conv.conv", "num_filters, channels, kernel_size", bias="True"),
        Row("head_conv", "head.conv", "hidden_size, 16 * 4 * num_filters, kernel_size", bias="True", group="head"),
    ),
    defaults={
        "channels": 1,
        "depths": [3, 3, 3, 3, 3, 3, 8],
        "downsampling_ratios": [2, 2, 4, 5, 5, 8],
        "ffn_expansion": 4,
        "hidden_size": 64,
        "kernel_size": 7,
        "num_filters": 32,
    },
    head="Model",
)
