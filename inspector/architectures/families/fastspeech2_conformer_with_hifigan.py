"""Model type fastspeech2_conformer_with_hifigan: model_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="fastspeech2_conformer_with_hifigan",
    types={"fastspeech2_conformer_with_hifigan": {}},
    rows=(
        Include("model_config", "model.", tower="model", head="Model", default_type="fastspeech2_conformer"),
        Row(
            "convs1",
            "vocoder.resblocks.0.convs1.{layer<len(vocoder_config.resblock_dilation_sizes[0])}",
            "vocoder_config.upsample_initial_channel // 2 ** (0 + 1), vocoder_config.upsample_initial_channel // 2 ** (0 + 1), vocoder_config.resblock_kernel_sizes[0]",
            bias="True",
        ),
        Row(
            "convs1",
            "vocoder.resblocks.1.convs1.{layer<len(vocoder_config.resblock_dilation_sizes[0])}",
            "vocoder_config.upsample_initial_channel // 2 ** (0 + 1), vocoder_config.upsample_initial_channel // 2 ** (0 + 1), vocoder_config.resblock_kernel_sizes[1]",
            bias="True",
        ),
        Row(
            "convs1",
            "vocoder.resblocks.2.convs1.{layer<len(vocoder_config.resblock_dilation_sizes[0])}",
            "vocoder_config.upsample_initial_channel // 2 ** (0 + 1), vocoder_config.upsample_initial_channel // 2 ** (0 + 1), vocoder_config.resblock_kernel_sizes[2]",
            bias="True",
        ),
        Row(
            "convs1",
            "vocoder.resblocks.3.convs1.{layer<len(vocoder_config.resblock_dilation_sizes[0])}",
            "vocoder_config.upsample_initial_channel // 2 ** (1 + 1), vocoder_config.upsample_initial_channel // 2 ** (1 + 1), vocoder_config.resblock_kernel_sizes[0]",
            bias="True",
        ),
        Row(
            "convs1",
            "vocoder.resblocks.4.convs1.{layer<len(vocoder_config.resblock_dilation_sizes[0])}",
            "vocoder_config.upsample_initial_channel // 2 ** (1 + 1), vocoder_config.upsample_initial_channel // 2 ** (1 + 1), vocoder_config.resblock_kernel_sizes[1]",
            bias="True",
        ),
        Row(
            "convs1",
            "vocoder.resblocks.5.convs1.{layer<len(vocoder_config.resblock_dilation_sizes[0])}",
            "vocoder_config.upsample_initial_channel // 2 ** (1 + 1), vocoder_config.upsample_initial_channel // 2 ** (1 + 1), vocoder_config.resblock_kernel_sizes[2]",
            bias="True",
        ),
        Row(
            "convs1",
            "vocoder.resblocks.6.convs1.{layer<len(vocoder_config.resblock_dilation_sizes[0])}",
            "vocoder_config.upsample_initial_channel // 2 ** (2 + 1), vocoder_config.upsample_initial_channel // 2 ** (2 + 1), vocoder_config.resblock_kernel_sizes[0]",
            bias="True",
        ),
        Row(
            "convs1",
            "vocoder.resblocks.7.convs1.{layer<len(vocoder_config.resblock_dilation_sizes[0])}",
            "vocoder_config.upsample_initial_channel // 2 ** (2 + 1), vocoder_config.upsample_initial_channel // 2 ** (2 + 1), vocoder_config.resblock_kernel_sizes[1]",
            bias="True",
        ),
        Row(
            "convs1",
            "vocoder.resblocks.8.convs1.{layer<len(vocoder_config.resblock_dilation_sizes[0])}",
            "vocoder_config.upsample_initial_channel // 2 ** (2 + 1), vocoder_config.upsample_initial_channel // 2 ** (2 + 1), vocoder_config.resblock_kernel_sizes[2]",
            bias="True",
        ),
        Row(
            "convs1",
            "vocoder.resblocks.9.convs1.{layer<len(vocoder_config.resblock_dilation_sizes[0])}",
            "vocoder_config.upsample_initial_channel // 2 ** (3 + 1), vocoder_config.upsample_initial_channel // 2 ** (3 + 1), vocoder_config.resblock_kernel_sizes[0]",
            bias="True",
        ),
        Row(
            "convs1",
            "vocoder.resblocks.10.convs1.{layer<len(vocoder_config.resblock_dilation_sizes[0])}",
            "vocoder_config.upsample_initial_channel // 2 ** (3 + 1), vocoder_config.upsample_initial_channel // 2 ** (3 + 1), vocoder_config.resblock_kernel_sizes[1]",
            bias="True",
        ),
        Row(
            "convs1",
            "vocoder.resblocks.11.convs1.{layer<len(vocoder_config.resblock_dilation_sizes[0])}",
            "vocoder_config.upsample_initial_channel // 2 ** (3 + 1), vocoder_config.upsample_initial_channel // 2 ** (3 + 1), vocoder_config.resblock_kernel_sizes[2]",
            bias="True",
        ),
        Row(
            "convs2",
            "vocoder.resblocks.0.convs2.{layer<len(vocoder_config.resblock_dilation_sizes[0])}",
            "vocoder_config.upsample_initial_channel // 2 ** (0 + 1), vocoder_config.upsample_initial_channel // 2 ** (0 + 1), vocoder_config.resblock_kernel_sizes[0]",
            bias="True",
        ),
        Row(
            "convs2",
            "vocoder.resblocks.1.convs2.{layer<len(vocoder_config.resblock_dilation_sizes[0])}",
            "vocoder_config.upsample_initial_channel // 2 ** (0 + 1), vocoder_config.upsample_initial_channel // 2 ** (0 + 1), vocoder_config.resblock_kernel_sizes[1]",
            bias="True",
        ),
        Row(
            "convs2",
            "vocoder.resblocks.2.convs2.{layer<len(vocoder_config.resblock_dilation_sizes[0])}",
            "vocoder_config.upsample_initial_channel // 2 ** (0 + 1), vocoder_config.upsample_initial_channel // 2 ** (0 + 1), vocoder_config.resblock_kernel_sizes[2]",
            bias="True",
        ),
        Row(
            "convs2",
            "vocoder.resblocks.3.convs2.{layer<len(vocoder_config.resblock_dilation_sizes[0])}",
            "vocoder_config.upsample_initial_channel // 2 ** (1 + 1), vocoder_config.upsample_initial_channel // 2 ** (1 + 1), vocoder_config.resblock_kernel_sizes[0]",
            bias="True",
        ),
        Row(
            "convs2",
            "vocoder.resblocks.4.convs2.{layer<len(vocoder_config.resblock_dilation_sizes[0])}",
            "vocoder_config.upsample_initial_channel // 2 ** (1 + 1), vocoder_config.upsample_initial_channel // 2 ** (1 + 1), vocoder_config.resblock_kernel_sizes[1]",
            bias="True",
        ),
        Row(
            "convs2",
            "vocoder.resblocks.5.convs2.{layer<len(vocoder_config.resblock_dilation_sizes[0])}",
            "vocoder_config.upsample_initial_channel // 2 ** (1 + 1), vocoder_config.upsample_initial_channel // 2 ** (1 + 1), vocoder_config.resblock_kernel_sizes[2]",
            bias="True",
        ),
        Row(
            "convs2",
            "vocoder.resblocks.6.convs2.{layer<len(vocoder_config.resblock_dilation_sizes[0])}",
            "vocoder_config.upsample_initial_channel // 2 ** (2 + 1), vocoder_config.upsample_initial_channel // 2 ** (2 + 1), vocoder_config.resblock_kernel_sizes[0]",
            bias="True",
        ),
        Row(
            "convs2",
            "vocoder.resblocks.7.convs2.{layer<len(vocoder_config.resblock_dilation_sizes[0])}",
            "vocoder_config.upsample_initial_channel // 2 ** (2 + 1), vocoder_config.upsample_initial_channel // 2 ** (2 + 1), vocoder_config.resblock_kernel_sizes[1]",
            bias="True",
        ),
        Row(
            "convs2",
            "vocoder.resblocks.8.convs2.{layer<len(vocoder_config.resblock_dilation_sizes[0])}",
            "vocoder_config.upsample_initial_channel // 2 ** (2 + 1), vocoder_config.upsample_initial_channel // 2 ** (2 + 1), vocoder_config.resblock_kernel_sizes[2]",
            bias="True",
        ),
        Row(
            "convs2",
            "vocoder.resblocks.9.convs2.{layer<len(vocoder_config.resblock_dilation_sizes[0])}",
            "vocoder_config.upsample_initial_channel // 2 ** (3 + 1), vocoder_config.upsample_initial_channel // 2 ** (3 + 1), vocoder_config.resblock_kernel_sizes[0]",
            bias="True",
        ),
        Row(
            "convs2",
            "vocoder.resblocks.10.convs2.{layer<len(vocoder_config.resblock_dilation_sizes[0])}",
            "vocoder_config.upsample_initial_channel // 2 ** (3 + 1), vocoder_config.upsample_initial_channel // 2 ** (3 + 1), vocoder_config.resblock_kernel_sizes[1]",
            bias="True",
        ),
        Row(
            "convs2",
            "vocoder.resblocks.11.convs2.{layer<len(vocoder_config.resblock_dilation_sizes[0])}",
            "vocoder_config.upsample_initial_channel // 2 ** (3 + 1), vocoder_config.upsample_initial_channel // 2 ** (3 + 1), vocoder_config.resblock_kernel_sizes[2]",
            bias="True",
        ),
        Row(
            "conv_pre",
            "vocoder.conv_pre",
            "vocoder_config.upsample_initial_channel, vocoder_config.model_in_dim, 7",
            bias="True",
        ),
        Row(
            "upsampler",
            "vocoder.upsampler.0",
            "vocoder_config.upsample_initial_channel // 2 ** 0, vocoder_config.upsample_initial_channel // 2 ** (0 + 1), vocoder_config.upsample_kernel_sizes[0]",
            group="convolution",
        ),
        Row(
            "upsampler",
            "vocoder.upsampler.1",
            "vocoder_config.upsample_initial_channel // 2 ** 1, vocoder_config.upsample_initial_channel // 2 ** (1 + 1), vocoder_config.upsample_kernel_sizes[1]",
            group="convolution",
        ),
        Row(
            "upsampler",
            "vocoder.upsampler.2",
            "vocoder_config.upsample_initial_channel // 2 ** 2, vocoder_config.upsample_initial_channel // 2 ** (2 + 1), vocoder_config.upsample_kernel_sizes[2]",
            group="convolution",
        ),
        Row(
            "upsampler",
            "vocoder.upsampler.3",
            "vocoder_config.upsample_initial_channel // 2 ** 3, vocoder_config.upsample_initial_channel // 2 ** (3 + 1), vocoder_config.upsample_kernel_sizes[3]",
            group="convolution",
        ),
        Row("upsampler", "vocoder.upsampler.0", "vocoder_config.upsample_initial_channel // 2 ** (0 + 1)", leaf="bias"),
        Row("upsampler", "vocoder.upsampler.1", "vocoder_config.upsample_initial_channel // 2 ** (1 + 1)", leaf="bias"),
        Row("upsampler", "vocoder.upsampler.2", "vocoder_config.upsample_initial_channel // 2 ** (2 + 1)", leaf="bias"),
        Row("upsampler", "vocoder.upsampler.3", "vocoder_config.upsample_initial_channel // 2 ** (3 + 1)", leaf="bias"),
        Row(
            "conv_post",
            "vocoder.conv_post",
            "1, vocoder_config.upsample_initial_channel // 2 ** (3 + 1), 7",
            bias="True",
        ),
        Row("mean", "vocoder.mean", "vocoder_config.model_in_dim", leaf="", buffer=True, persistent=True),
        Row("scale", "vocoder.scale", "vocoder_config.model_in_dim", leaf="", buffer=True, persistent=True),
    ),
    classes={"FastSpeech2ConformerWithHifiGan": "FastSpeech2ConformerWithHifiGan"},
    defaults={
        "vocoder_config": {
            "model_in_dim": 80,
            "resblock_dilation_sizes": [[1, 3, 5], [1, 3, 5], [1, 3, 5]],
            "resblock_kernel_sizes": [3, 7, 11],
            "upsample_initial_channel": 512,
            "upsample_kernel_sizes": [16, 16, 4, 4],
        }
    },
    head="FastSpeech2ConformerWithHifiGan",
)
