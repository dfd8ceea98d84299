"""Model type pocket_tts_audio_tokenizer_decoder.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

DECODER_TRANSFORMER = "decoder_transformer.layers.{layer}"
DECODER_SEANET = "decoder_seanet.layers.{layer}"

FAMILY = Family(
    name="pocket_tts_audio_tokenizer_decoder",
    types={"pocket_tts_audio_tokenizer_decoder": {}},
    rows=(
        Row("input_layernorm", DECODER_TRANSFORMER + ".input_layernorm", ""),
        Row("q_proj", DECODER_TRANSFORMER + ".self_attn.q_proj", ""),
        Row("k_proj", DECODER_TRANSFORMER + ".self_attn.k_proj", ""),
        Row("v_proj", DECODER_TRANSFORMER + ".self_attn.v_proj", ""),
        Row("o_proj", DECODER_TRANSFORMER + ".self_attn.o_proj", ""),
        Row("scale", DECODER_TRANSFORMER + ".self_attn_layer_scale.scale", "", leaf="", group="attention"),
        Row("mlp_layer_scale_scale", DECODER_TRANSFORMER + ".mlp_layer_scale.scale", "", leaf=""),
        Row("post_attention_layernorm", DECODER_TRANSFORMER + ".post_attention_layernorm", ""),
        Row("up_proj", DECODER_TRANSFORMER + ".mlp.fc1", ""),
        Row("down_proj", DECODER_TRANSFORMER + ".mlp.fc2", ""),
        Row("conv", DECODER_SEANET + ".conv", ""),
        Row("conv", DECODER_SEANET + ".conv", "", leaf="bias"),
        Row("conv", DECODER_SEANET + ".block.{block}.conv", ""),
        Row("shortcut_conv", DECODER_SEANET + ".shortcut.conv", ""),
        Row("conv", "upsample.conv", ""),
    ),
    names_only=True,
    head="Model",
)
