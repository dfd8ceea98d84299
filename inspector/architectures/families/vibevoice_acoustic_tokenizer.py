"""Model type vibevoice_acoustic_tokenizer.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

STEM_STAGE = "encoder.stem.stage.{layer<depths[0]}"
ENCODER_CONV_LAYERS = "encoder.conv_layers.{layer<len(downsampling_ratios)}"
CONV_LAYERS_STAGE = "encoder.conv_layers.{layer<len(downsampling_ratios)}.stage.{substage<3}"
CONV_LAYERS_STAGE_ = "encoder.conv_layers.{layer<len(downsampling_ratios)}.stage.{substage<8}"
STEM_STAGE_ = "decoder.stem.stage.{layer<depths[6]}"
DECODER_CONV_LAYERS = "decoder.conv_layers.{layer<len(downsampling_ratios)}"
CONV_LAYERS_STAGE__ = "decoder.conv_layers.{layer<len(downsampling_ratios)}.stage.{substage<depths[0]}"

FAMILY = Family(
    name="vibevoice_acoustic_tokenizer",
    types={"vibevoice_acoustic_tokenizer": {}},
    rows=(
        Row("gamma", STEM_STAGE + ".gamma", "num_filters", tower="encoder", leaf=""),
        Row("ffn_gamma", STEM_STAGE + ".ffn_gamma", "num_filters", tower="encoder", leaf=""),
        Row("norm", STEM_STAGE + ".norm", "num_filters", tower="encoder"),
        Row(
            "linear1",
            STEM_STAGE + ".ffn.linear1",
            "num_filters * ffn_expansion, num_filters",
            bias="True",
            tower="encoder",
            group="feed_forward",
        ),
        Row(
            "linear2",
            STEM_STAGE + ".ffn.linear2",
            "num_filters, num_filters * ffn_expansion",
            bias="True",
            tower="encoder",
            group="feed_forward",
        ),
        Row(
            "conv",
            STEM_STAGE + ".mixer.conv",
            "num_filters, 1, kernel_size",
            bias="True",
            tower="encoder",
            group="state_space",
        ),
        Row("post_attention_layernorm", STEM_STAGE + ".ffn_norm", "num_filters", tower="encoder"),
        Row(
            "conv_conv",
            ENCODER_CONV_LAYERS + ".conv.conv",
            "num_filters * 2 ** (layer + 1), num_filters * 2 ** layer, 2 * downsampling_ratios[layer]",
            bias="True",
            tower="encoder",
        ),
        Row(
            "gamma",
            CONV_LAYERS_STAGE + ".gamma",
            "num_filters * 2 ** (layer + 1)",
            tower="encoder",
            leaf="",
            group="convolution",
        ),
        Row(
            "gamma",
            CONV_LAYERS_STAGE_ + ".gamma",
            "num_filters * 2 ** (layer + 1)",
            when="substage >= 3 and layer in downsampling_ratios and stage(downsampling_ratios, layer) == stage(downsampling_ratios, layer - 1)",
            tower="encoder",
            leaf="",
            group="convolution",
        ),
        Row("ffn_gamma", CONV_LAYERS_STAGE + ".ffn_gamma", "num_filters * 2 ** (layer + 1)", tower="encoder", leaf=""),
        Row(
            "ffn_gamma",
            CONV_LAYERS_STAGE_ + ".ffn_gamma",
            "num_filters * 2 ** (layer + 1)",
            when="substage >= 3 and layer in downsampling_ratios and stage(downsampling_ratios, layer) == stage(downsampling_ratios, layer - 1)",
            tower="encoder",
            leaf="",
        ),
        Row("norm", CONV_LAYERS_STAGE + ".norm", "num_filters * 2 ** (layer + 1)", tower="encoder"),
        Row(
            "norm",
            CONV_LAYERS_STAGE_ + ".norm",
            "num_filters * 2 ** (layer + 1)",
            when="substage >= 3 and layer in downsampling_ratios and stage(downsampling_ratios, layer) == stage(downsampling_ratios, layer - 1)",
            tower="encoder",
        ),
        Row(
            "linear1",
            CONV_LAYERS_STAGE + ".ffn.linear1",
            "num_filters * 2 ** (layer + 1) * ffn_expansion, num_filters * 2 ** (layer + 1)",
            bias="True",
            tower="encoder",
            group="feed_forward",
        ),
        Row(
            "linear1",
            CONV_LAYERS_STAGE_ + ".ffn.linear1",
            "num_filters * 2 ** (layer + 1) * ffn_expansion, num_filters * 2 ** (layer + 1)",
            bias="True",
            when="substage >= 3 and layer in downsampling_ratios and stage(downsampling_ratios, layer) == stage(downsampling_ratios, layer - 1)",
            tower="encoder",
            group="feed_forward",
        ),
        Row(
            "linear2",
            CONV_LAYERS_STAGE + ".ffn.linear2",
            "num_filters * 2 ** (layer + 1), num_filters * 2 ** (layer + 1) * ffn_expansion",
            bias="True",
            tower="encoder",
            group="feed_forward",
        ),
        Row(
            "linear2",
            CONV_LAYERS_STAGE_ + ".ffn.linear2",
            "num_filters * 2 ** (layer + 1), num_filters * 2 ** (layer + 1) * ffn_expansion",
            bias="True",
            when="substage >= 3 and layer in downsampling_ratios and stage(downsampling_ratios, layer) == stage(downsampling_ratios, layer - 1)",
            tower="encoder",
            group="feed_forward",
        ),
        Row(
            "conv",
            CONV_LAYERS_STAGE + ".mixer.conv",
            "num_filters * 2 ** (layer + 1), 1, kernel_size",
            bias="True",
            tower="encoder",
            group="state_space",
        ),
        Row(
            "conv",
            CONV_LAYERS_STAGE_ + ".mixer.conv",
            "num_filters * 2 ** (layer + 1), 1, kernel_size",
            bias="True",
            when="substage >= 3 and layer in downsampling_ratios and stage(downsampling_ratios, layer) == stage(downsampling_ratios, layer - 1)",
            tower="encoder",
            group="state_space",
        ),
        Row(
            "post_attention_layernorm",
            CONV_LAYERS_STAGE + ".ffn_norm",
            "num_filters * 2 ** (layer + 1)",
            tower="encoder",
        ),
        Row(
            "post_attention_layernorm",
            CONV_LAYERS_STAGE_ + ".ffn_norm",
            "num_filters * 2 ** (layer + 1)",
            when="substage >= 3 and layer in downsampling_ratios and stage(downsampling_ratios, layer) == stage(downsampling_ratios, layer - 1)",
            tower="encoder",
        ),
        Row("gamma", STEM_STAGE_ + ".gamma", "64 * num_filters", tower="decoder", leaf=""),
        Row("ffn_gamma", STEM_STAGE_ + ".ffn_gamma", "64 * num_filters", tower="decoder", leaf=""),
        Row("norm", STEM_STAGE_ + ".norm", "64 * num_filters", tower="decoder"),
        Row(
            "linear1",
            STEM_STAGE_ + ".ffn.linear1",
            "64 * num_filters * ffn_expansion, 64 * num_filters",
            bias="True",
            tower="decoder",
            group="feed_forward",
        ),
        Row(
            "linear2",
            STEM_STAGE_ + ".ffn.linear2",
            "64 * num_filters, 64 * num_filters * ffn_expansion",
            bias="True",
            tower="decoder",
            group="feed_forward",
        ),
        Row(
            "conv",
            STEM_STAGE_ + ".mixer.conv",
            "64 * num_filters, 1, kernel_size",
            bias="True",
            tower="decoder",
            group="state_space",
        ),
        Row("post_attention_layernorm", STEM_STAGE_ + ".ffn_norm", "64 * num_filters", tower="decoder"),
        Row(
            "convtr",
            DECODER_CONV_LAYERS + ".convtr.convtr",
            "num_filters * 2 ** (6 - layer), num_filters * 2 ** (5 - layer), 2 * downsampling_ratios[5 - layer]",
            tower="decoder",
        ),
        Row(
            "convtr",
            DECODER_CONV_LAYERS + ".convtr.convtr",
            "num_filters * 2 ** (5 - layer)",
            tower="decoder",
            leaf="bias",
        ),
        Row(
            "gamma",
            CONV_LAYERS_STAGE__ + ".gamma",
            "num_filters * 2 ** (5 - layer)",
            tower="decoder",
            leaf="",
            group="convolution",
        ),
        Row(
            "ffn_gamma", CONV_LAYERS_STAGE__ + ".ffn_gamma", "num_filters * 2 ** (5 - layer)", tower="decoder", leaf=""
        ),
        Row("norm", CONV_LAYERS_STAGE__ + ".norm", "num_filters * 2 ** (5 - layer)", tower="decoder"),
        Row(
            "linear1",
            CONV_LAYERS_STAGE__ + ".ffn.linear1",
            "num_filters * 2 ** (5 - layer) * ffn_expansion, num_filters * 2 ** (5 - layer)",
            bias="True",
            tower="decoder",
            group="feed_forward",
        ),
        Row(
            "linear2",
            CONV_LAYERS_STAGE__ + ".ffn.linear2",
            "num_filters * 2 ** (5 - layer), num_filters * 2 ** (5 - layer) * ffn_expansion",
            bias="True",
            tower="decoder",
            group="feed_forward",
        ),
        Row(
            "conv",
            CONV_LAYERS_STAGE__ + ".mixer.conv",
            "num_filters * 2 ** (5 - layer), 1, kernel_size",
            bias="True",
            tower="decoder",
            group="state_space",
        ),
        Row(
            "post_attention_layernorm",
            CONV_LAYERS_STAGE__ + ".ffn_norm",
            "num_filters * 2 ** (5 - layer)",
            tower="decoder",
        ),
        Row("conv", "encoder.stem.conv.conv", "num_filters, channels, kernel_size", bias="True", tower="encoder"),
        Row(
            "head_conv",
            "encoder.head.conv",
            "hidden_size, 64 * num_filters, kernel_size",
            bias="True",
            tower="encoder",
            group="head",
        ),
        Row(
            "conv", "decoder.stem.conv.conv", "64 * num_filters, hidden_size, kernel_size", bias="True", tower="decoder"
        ),
        Row(
            "head_conv",
            "decoder.head.conv",
            "channels, num_filters, kernel_size",
            bias="True",
            tower="decoder",
            group="head",
        ),
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
