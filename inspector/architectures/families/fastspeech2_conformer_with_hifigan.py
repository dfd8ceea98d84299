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
        Row("upsampler", "vocoder.upsampler.{layer}", "", group="convolution"),
        Row("upsampler", "vocoder.upsampler.{layer}", "", leaf="bias"),
        Row("convs1", "vocoder.resblocks.{layer}.convs1.{conv}", ""),
        Row("convs2", "vocoder.resblocks.{layer}.convs2.{conv}", ""),
        Row("conv_pre", "vocoder.conv_pre", ""),
        Row("conv_post", "vocoder.conv_post", ""),
        Row("mean", "vocoder.mean", "", leaf="", buffer=True),
        Row("scale", "vocoder.scale", "", leaf="", buffer=True),
    ),
    classes={"FastSpeech2ConformerWithHifiGan": "FastSpeech2ConformerWithHifiGan"},
    names_only=True,
    head="FastSpeech2ConformerWithHifiGan",
)
