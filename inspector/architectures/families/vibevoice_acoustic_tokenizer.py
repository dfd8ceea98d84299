"""Model type vibevoice_acoustic_tokenizer.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

STEM_STAGE = "encoder.stem.stage.{layer}"
ENCODER_CONV_LAYERS = "encoder.conv_layers.{layer}"
CONV_LAYERS_STAGE = "encoder.conv_layers.{layer}.stage.{stage}"
STEM_STAGE_ = "decoder.stem.stage.{layer}"
DECODER_CONV_LAYERS = "decoder.conv_layers.{layer}"
CONV_LAYERS_STAGE_ = "decoder.conv_layers.{layer}.stage.{stage}"

FAMILY = Family(
    name="vibevoice_acoustic_tokenizer",
    types={"vibevoice_acoustic_tokenizer": {}},
    rows=(
        Row("gamma", STEM_STAGE + ".gamma", "", tower="encoder", leaf=""),
        Row("ffn_gamma", STEM_STAGE + ".ffn_gamma", "", tower="encoder", leaf=""),
        Row("norm", STEM_STAGE + ".norm", "", tower="encoder"),
        Row("linear1", STEM_STAGE + ".ffn.linear1", "", tower="encoder", group="feed_forward"),
        Row("linear2", STEM_STAGE + ".ffn.linear2", "", tower="encoder", group="feed_forward"),
        Row("conv", STEM_STAGE + ".mixer.conv", "", tower="encoder", group="state_space"),
        Row("post_attention_layernorm", STEM_STAGE + ".ffn_norm", "", tower="encoder"),
        Row("conv_conv", ENCODER_CONV_LAYERS + ".conv.conv", "", tower="encoder"),
        Row("gamma", CONV_LAYERS_STAGE + ".gamma", "", tower="encoder", leaf="", group="convolution"),
        Row("ffn_gamma", CONV_LAYERS_STAGE + ".ffn_gamma", "", tower="encoder", leaf=""),
        Row("norm", CONV_LAYERS_STAGE + ".norm", "", tower="encoder"),
        Row("linear1", CONV_LAYERS_STAGE + ".ffn.linear1", "", tower="encoder", group="feed_forward"),
        Row("linear2", CONV_LAYERS_STAGE + ".ffn.linear2", "", tower="encoder", group="feed_forward"),
        Row("conv", CONV_LAYERS_STAGE + ".mixer.conv", "", tower="encoder", group="state_space"),
        Row("post_attention_layernorm", CONV_LAYERS_STAGE + ".ffn_norm", "", tower="encoder"),
        Row("gamma", STEM_STAGE_ + ".gamma", "", tower="decoder", leaf=""),
        Row("ffn_gamma", STEM_STAGE_ + ".ffn_gamma", "", tower="decoder", leaf=""),
        Row("norm", STEM_STAGE_ + ".norm", "", tower="decoder"),
        Row("linear1", STEM_STAGE_ + ".ffn.linear1", "", tower="decoder", group="feed_forward"),
        Row("linear2", STEM_STAGE_ + ".ffn.linear2", "", tower="decoder", group="feed_forward"),
        Row("conv", STEM_STAGE_ + ".mixer.conv", "", tower="decoder", group="state_space"),
        Row("post_attention_layernorm", STEM_STAGE_ + ".ffn_norm", "", tower="decoder"),
        Row("convtr", DECODER_CONV_LAYERS + ".convtr.convtr", "", tower="decoder"),
        Row("convtr", DECODER_CONV_LAYERS + ".convtr.convtr", "", tower="decoder", leaf="bias"),
        Row("gamma", CONV_LAYERS_STAGE_ + ".gamma", "", tower="decoder", leaf="", group="convolution"),
        Row("ffn_gamma", CONV_LAYERS_STAGE_ + ".ffn_gamma", "", tower="decoder", leaf=""),
        Row("norm", CONV_LAYERS_STAGE_ + ".norm", "", tower="decoder"),
        Row("linear1", CONV_LAYERS_STAGE_ + ".ffn.linear1", "", tower="decoder", group="feed_forward"),
        Row("linear2", CONV_LAYERS_STAGE_ + ".ffn.linear2", "", tower="decoder", group="feed_forward"),
        Row("conv", CONV_LAYERS_STAGE_ + ".mixer.conv", "", tower="decoder", group="state_space"),
        Row("post_attention_layernorm", CONV_LAYERS_STAGE_ + ".ffn_norm", "", tower="decoder"),
        Row("conv", "encoder.stem.conv.conv", "", tower="encoder"),
        Row("head_conv", "encoder.head.conv", "", tower="encoder", group="head"),
        Row("conv", "decoder.stem.conv.conv", "", tower="decoder"),
        Row("head_conv", "decoder.head.conv", "", tower="decoder", group="head"),
    ),
    names_only=True,
    head="Model",
)
