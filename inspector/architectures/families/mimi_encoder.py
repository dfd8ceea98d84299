"""Model type mimi_encoder.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

ENCODER = "encoder.layers.{layer}"
ENCODER_TRANSFORMER = "encoder_transformer.layers.{layer}"

FAMILY = Family(
    name="mimi_encoder",
    types={"mimi_encoder": {}},
    rows=(
        Row("conv", ENCODER + ".conv", ""),
        Row("conv", ENCODER + ".block.{block}.conv", ""),
        Row("shortcut_conv", ENCODER + ".shortcut.conv", ""),
        Row("input_layernorm", ENCODER_TRANSFORMER + ".input_layernorm", ""),
        Row("q_proj", ENCODER_TRANSFORMER + ".self_attn.q_proj", ""),
        Row("k_proj", ENCODER_TRANSFORMER + ".self_attn.k_proj", ""),
        Row("v_proj", ENCODER_TRANSFORMER + ".self_attn.v_proj", ""),
        Row("o_proj", ENCODER_TRANSFORMER + ".self_attn.o_proj", ""),
        Row("scale", ENCODER_TRANSFORMER + ".mlp_layer_scale.scale", "", leaf="", group="feed_forward"),
        Row("self_attn_layer_scale_scale", ENCODER_TRANSFORMER + ".self_attn_layer_scale.scale", "", leaf=""),
        Row("post_attention_layernorm", ENCODER_TRANSFORMER + ".post_attention_layernorm", ""),
        Row("up_proj", ENCODER_TRANSFORMER + ".mlp.fc1", ""),
        Row("down_proj", ENCODER_TRANSFORMER + ".mlp.fc2", ""),
        Row("conv", "downsample.conv", ""),
    ),
    prefix="encoder.",
    names_only=True,
    head="Model",
)
