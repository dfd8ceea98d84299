"""Model type vibevoice_acoustic_tokenizer_decoder.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

STEM_STAGE = "stem.stage.{layer}"
CONV_LAYERS = "conv_layers.{layer}"
CONV_LAYERS_STAGE = "conv_layers.{layer}.stage.{stage}"

FAMILY = Family(
    name="vibevoice_acoustic_tokenizer_decoder",
    types={"vibevoice_acoustic_tokenizer_decoder": {}},
    rows=(
        Row("gamma", STEM_STAGE + ".gamma", "", leaf=""),
        Row("ffn_gamma", STEM_STAGE + ".ffn_gamma", "", leaf=""),
        Row("norm", STEM_STAGE + ".norm", ""),
        Row("linear1", STEM_STAGE + ".ffn.linear1", "", group="feed_forward"),
        Row("linear2", STEM_STAGE + ".ffn.linear2", "", group="feed_forward"),
        Row("conv", STEM_STAGE + ".mixer.conv", "", group="state_space"),
        Row("post_attention_layernorm", STEM_STAGE + ".ffn_norm", ""),
        Row("convtr", CONV_LAYERS + ".convtr.convtr", ""),
        Row("convtr", CONV_LAYERS + ".convtr.convtr", "", leaf="bias"),
        Row("gamma", CONV_LAYERS_STAGE + ".gamma", "", leaf="", group="convolution"),
        Row("ffn_gamma", CONV_LAYERS_STAGE + ".ffn_gamma", "", leaf=""),
        Row("norm", CONV_LAYERS_STAGE + ".norm", ""),
        Row("linear1", CONV_LAYERS_STAGE + ".ffn.linear1", "", group="feed_forward"),
        Row("linear2", CONV_LAYERS_STAGE + ".ffn.linear2", "", group="feed_forward"),
        Row("conv", CONV_LAYERS_STAGE + ".mixer.conv", "", group="state_space"),
        Row("post_attention_layernorm", CONV_LAYERS_STAGE + ".ffn_norm", ""),
        Row("conv", "stem.conv.conv", ""),
        Row("head_conv", "head.conv", "", group="head"),
    ),
    names_only=True,
    head="Model",
)
