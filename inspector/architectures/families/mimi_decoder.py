"""Model type mimi_decoder.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

DECODER = "decoder.layers.{layer}"
DECODER_TRANSFORMER = "decoder_transformer.layers.{layer}"

FAMILY = Family(
    name="mimi_decoder",
    types={"mimi_decoder": {}},
    rows=(
        Row("conv", DECODER + ".conv", "", leaf="bias"),
        Row("conv", DECODER + ".conv", ""),
        Row("conv", DECODER + ".block.{block}.conv", ""),
        Row("shortcut_conv", DECODER + ".shortcut.conv", ""),
        Row("input_layernorm", DECODER_TRANSFORMER + ".input_layernorm", ""),
        Row("q_proj", DECODER_TRANSFORMER + ".self_attn.q_proj", ""),
        Row("k_proj", DECODER_TRANSFORMER + ".self_attn.k_proj", ""),
        Row("v_proj", DECODER_TRANSFORMER + ".self_attn.v_proj", ""),
        Row("o_proj", DECODER_TRANSFORMER + ".self_attn.o_proj", ""),
        Row("scale", DECODER_TRANSFORMER + ".mlp_layer_scale.scale", "", leaf="", group="feed_forward"),
        Row("self_attn_layer_scale_scale", DECODER_TRANSFORMER + ".self_attn_layer_scale.scale", "", leaf=""),
        Row("post_attention_layernorm", DECODER_TRANSFORMER + ".post_attention_layernorm", ""),
        Row("up_proj", DECODER_TRANSFORMER + ".mlp.fc1", ""),
        Row("down_proj", DECODER_TRANSFORMER + ".mlp.fc2", ""),
        Row("conv", "upsample.conv", ""),
    ),
    prefix="decoder.",
    names_only=True,
    head="Model",
)
