"""Model type pocket_tts_audio_tokenizer_encoder.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

ENCODER_SEANET = "encoder_seanet.layers.{layer}"
ENCODER_TRANSFORMER = "encoder_transformer.layers.{layer}"

FAMILY = Family(
    name="pocket_tts_audio_tokenizer_encoder",
    types={"pocket_tts_audio_tokenizer_encoder": {}},
    rows=(
        Row("conv", ENCODER_SEANET + ".conv", ""),
        Row("conv", ENCODER_SEANET + ".block.{block}.conv", ""),
        Row("shortcut_conv", ENCODER_SEANET + ".shortcut.conv", ""),
        Row("input_layernorm", ENCODER_TRANSFORMER + ".input_layernorm", ""),
        Row("q_proj", ENCODER_TRANSFORMER + ".self_attn.q_proj", ""),
        Row("k_proj", ENCODER_TRANSFORMER + ".self_attn.k_proj", ""),
        Row("v_proj", ENCODER_TRANSFORMER + ".self_attn.v_proj", ""),
        Row("o_proj", ENCODER_TRANSFORMER + ".self_attn.o_proj", ""),
        Row("scale", ENCODER_TRANSFORMER + ".self_attn_layer_scale.scale", "", leaf="", group="attention"),
        Row("mlp_layer_scale_scale", ENCODER_TRANSFORMER + ".mlp_layer_scale.scale", "", leaf=""),
        Row("post_attention_layernorm", ENCODER_TRANSFORMER + ".post_attention_layernorm", ""),
        Row("up_proj", ENCODER_TRANSFORMER + ".mlp.fc1", ""),
        Row("down_proj", ENCODER_TRANSFORMER + ".mlp.fc2", ""),
        Row("conv", "downsample.conv", ""),
    ),
    names_only=True,
    head="Model",
)
