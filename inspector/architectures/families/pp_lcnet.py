"""Model type pp_lcnet.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

ENCODER = "encoder.blocks.{layer<len(block_configs)}"
ENCODER_ = "encoder.blocks.{layer<len(block_configs)}.layers.{sublayer<depths[layer]}"

FAMILY = Family(
    name="pp_lcnet",
    types={"pp_lcnet": {}},
    rows=(
        Row(
            "convolution",
            ENCODER_ + ".depthwise_convolution.convolution",
            "max(divisor, divisor * (int(block_configs[layer][sublayer][1] * scale + divisor / 2) // divisor)), 1, block_configs[layer][sublayer][0], block_configs[layer][sublayer][0]",
        ),
        Row(
            "normalization",
            ENCODER_ + ".depthwise_convolution.normalization",
            "max(divisor, divisor * (int(block_configs[layer][sublayer][1] * scale + divisor / 2) // divisor))",
            bias="True",
        ),
        Row(
            "pointwise_convolution_convolution",
            ENCODER_ + ".pointwise_convolution.convolution",
            "max(divisor, divisor * (int(block_configs[layer][sublayer][2] * scale + divisor / 2) // divisor)), max(divisor, divisor * (int(block_configs[layer][sublayer][1] * scale + divisor / 2) // divisor)), 1, 1",
        ),
        Row(
            "pointwise_convolution_normalization",
            ENCODER_ + ".pointwise_convolution.normalization",
            "max(divisor, divisor * (int(block_configs[layer][sublayer][2] * scale + divisor / 2) // divisor))",
            bias="True",
        ),
        Row(
            "convolutions",
            ENCODER_ + ".squeeze_excitation_module.convolutions.0",
            "max(divisor, divisor * (int(block_configs[4][sublayer][1] * scale + divisor / 2) // divisor)) // reduction, max(divisor, divisor * (int(block_configs[4][sublayer][1] * scale + divisor / 2) // divisor)), 1, 1",
            bias="True",
            when="stage_names[layer] == 'stage4'",
        ),
        Row(
            "convolutions",
            ENCODER_ + ".squeeze_excitation_module.convolutions.2",
            "max(divisor, divisor * (int(block_configs[4][sublayer][1] * scale + divisor / 2) // divisor)), max(divisor, divisor * (int(block_configs[4][sublayer][1] * scale + divisor / 2) // divisor)) // reduction, 1, 1",
            bias="True",
            when="stage_names[layer] == 'stage4'",
        ),
        Row(
            "convolution",
            "encoder.convolution.convolution",
            "max(divisor, divisor * (int(stem_channels * scale + divisor / 2) // divisor)), 3, 3, 3",
        ),
        Row(
            "normalization",
            "encoder.convolution.normalization",
            "max(divisor, divisor * (int(stem_channels * scale + divisor / 2) // divisor))",
            bias="True",
        ),
        Row(
            "last_convolution",
            "last_convolution",
            "class_expand, max(divisor, divisor * (int(block_configs[4][1][2] * scale + divisor / 2) // divisor)), 1, 1",
        ),
        Row("head", "head", "num_labels, class_expand", bias="True"),
        Row(
            "running_mean",
            ENCODER_ + ".depthwise_convolution.normalization.running_mean",
            "max(divisor, divisor * (int(block_configs[layer][sublayer][1] * scale + divisor / 2) // divisor))",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "running_var",
            ENCODER_ + ".depthwise_convolution.normalization.running_var",
            "max(divisor, divisor * (int(block_configs[layer][sublayer][1] * scale + divisor / 2) // divisor))",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "num_batches_tracked",
            ENCODER_ + ".depthwise_convolution.normalization.num_batches_tracked",
            "",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "normalization_running_mean",
            ENCODER_ + ".pointwise_convolution.normalization.running_mean",
            "max(divisor, divisor * (int(block_configs[layer][sublayer][2] * scale + divisor / 2) // divisor))",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "normalization_running_var",
            ENCODER_ + ".pointwise_convolution.normalization.running_var",
            "max(divisor, divisor * (int(block_configs[layer][sublayer][2] * scale + divisor / 2) // divisor))",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "normalization_num_batches_tracked",
            ENCODER_ + ".pointwise_convolution.normalization.num_batches_tracked",
            "",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "running_mean",
            "encoder.convolution.normalization.running_mean",
            "max(divisor, divisor * (int(stem_channels * scale + divisor / 2) // divisor))",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "running_var",
            "encoder.convolution.normalization.running_var",
            "max(divisor, divisor * (int(stem_channels * scale + divisor / 2) // divisor))",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "num_batches_tracked",
            "encoder.convolution.normalization.num_batches_tracked",
            "",
            leaf="",
            buffer=True,
            persistent=True,
        ),
    ),
    defaults={
        "block_configs": [
            [[3, 16, 32, 1, False]],
            [[3, 32, 64, 2, False], [3, 64, 64, 1, False]],
            [[3, 64, 128, 2, False], [3, 128, 128, 1, False]],
            [
                [3, 128, 256, 2, False],
                [5, 256, 256, 1, False],
                [5, 256, 256, 1, False],
                [5, 256, 256, 1, False],
                [5, 256, 256, 1, False],
                [5, 256, 256, 1, False],
            ],
            [[5, 256, 512, 2, True], [5, 512, 512, 1, True]],
        ],
        "class_expand": 1280,
        "divisor": 8,
        "reduction": 4,
        "scale": 1.0,
        "stage_names": ["stem", "stage1", "stage2", "stage3", "stage4", "stage5"],
        "stem_channels": 16,
    },
    derived={"depths": "[1 if layer == 0 else 6 if (layer + 1) % 4 == 0 else 2 for layer in range(5)]"},
    head="ForImageClassification",
)
