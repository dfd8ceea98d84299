"""Model type vibevoice_acoustic_tokenizer_decoder.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

STEM_STAGE = "stem.stage.{layer<depths[0]}"
CONV_LAYERS = "conv_layers.{layer<len(downsampling_ratios)}"
CONV_LAYERS_STAGE = "conv_layers.{layer<len(downsampling_ratios)}.stage.{substage<depths[layer + 1]}"

FAMILY = Family(
    name="vibevoice_acoustic_tokenizer_decoder",
    types={"vibevoice_acoustic_tokenizer_decoder": {}},
    rows=(
        Row("gamma", STEM_STAGE + ".gamma", "num_filters * 2 ** (len(depths) - 1)", leaf=""),
        Row("ffn_gamma", STEM_STAGE + ".ffn_gamma", "num_filters * 2 ** (len(depths) - 1)", leaf=""),
        Row("norm", STEM_STAGE + ".norm", "num_filters * 2 ** (len(depths) - 1)"),
        Row(
            "linear1",
            STEM_STAGE + ".ffn.linear1",
            "num_filters * 2 ** (len(depths) - 1) * ffn_expansion, num_filters * 2 ** (len(depths) - 1)",
            bias="True",
            group="feed_forward",
        ),
        Row(
            "linear2",
            STEM_STAGE + ".ffn.linear2",
            "num_filters * 2 ** (len(depths) - 1), num_filters * 2 ** (len(depths) - 1) * ffn_expansion",
            bias="True",
            group="feed_forward",
        ),
        Row(
            "conv",
            STEM_STAGE + ".mixer.conv",
            "num_filters * 2 ** (len(depths) - 1), 1, kernel_size",
            bias="True",
            group="state_space",
        ),
        Row("post_attention_layernorm", STEM_STAGE + ".ffn_norm", "num_filters * 2 ** (len(depths) - 1)"),
        Row(
            "convtr",
            CONV_LAYERS + ".convtr.convtr",
            "num_filters * 2 ** (len(depths) - 1 - layer), num_filters * 2 ** (len(depths) - 2 - layer), 2 * downsampling_ratios[5 - layer]",
        ),
        Row("convtr", CONV_LAYERS + ".convtr.convtr", "num_filters * 2 ** (len(depths) - 2 - layer)", leaf="bias"),
        Row(
            "gamma",
            CONV_LAYERS_STAGE + ".gamma",
            "num_filters * 2 ** (len(depths) - 2 - layer)",
            leaf="",
            group="convolution",
        ),
        Row("ffn_gamma", CONV_LAYERS_STAGE + ".ffn_gamma", "num_filters * 2 ** (len(depths) - 2 - layer)", leaf=""),
        Row("norm", CONV_LAYERS_STAGE + ".norm", "num_filters * 2 ** (len(depths) - 2 - layer)"),
        Row(
            "linear1",
            CONV_LAYERS_STAGE + ".ffn.linear1",
            "num_filters * 2 ** (len(depths) - 2 - layer) * ffn_expansion, num_filters * 2 ** (len(depths) - 2 - layer)",
            bias="True",
            group="feed_forward",
        ),
        Row(
            "linear2",
            CONV_LAYERS_STAGE + ".ffn.linear2",
            "num_filters * 2 ** (len(depths) - 2 - layer), num_filters * 2 ** (len(depths) - 2 - layer) * ffn_expansion",
            bias="True",
            group="feed_forward",
        ),
        Row(
            "conv",
            CONV_LAYERS_STAGE + ".mixer.conv",
            "num_filters * 2 ** (len(depths) - 2 - layer), 1, kernel_size",
            bias="True",
            group="state_space",
        ),
        Row(
            "post_attention_layernorm", CONV_LAYERS_STAGE + ".ffn_norm", "num_filters * 2 ** (len(depths) - 2 - layer)"
        ),
        Row("conv", "stem.conv.conv", "num_filters * 2 ** (len(depths) - 1), hidden_size, kernel_size", bias="True"),
        Row("head_conv", "head.conv", "channels, num_filters, kernel_size", bias="True", group="head"),
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
