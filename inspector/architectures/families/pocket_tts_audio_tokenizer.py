"""Model type pocket_tts_audio_tokenizer.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

ENCODER_ENCODER_SEANET = "encoder.encoder_seanet.layers.{layer}"
ENCODER_ENCODER_TRANSFORMER = "encoder.encoder_transformer.layers.{layer}"
DECODER_DECODER_TRANSFORMER = "decoder.decoder_transformer.layers.{layer}"
DECODER_DECODER_SEANET = "decoder.decoder_seanet.layers.{layer}"

FAMILY = Family(
    name="pocket_tts_audio_tokenizer",
    types={"pocket_tts_audio_tokenizer": {}},
    rows=(
        Row("conv", ENCODER_ENCODER_SEANET + ".conv", "", tower="encoder"),
        Row("conv", ENCODER_ENCODER_SEANET + ".block.{block}.conv", "", tower="encoder"),
        Row("shortcut_conv", ENCODER_ENCODER_SEANET + ".shortcut.conv", "", tower="encoder"),
        Row("input_layernorm", ENCODER_ENCODER_TRANSFORMER + ".input_layernorm", "", tower="encoder"),
        Row("q_proj", ENCODER_ENCODER_TRANSFORMER + ".self_attn.q_proj", "", tower="encoder"),
        Row("k_proj", ENCODER_ENCODER_TRANSFORMER + ".self_attn.k_proj", "", tower="encoder"),
        Row("v_proj", ENCODER_ENCODER_TRANSFORMER + ".self_attn.v_proj", "", tower="encoder"),
        Row("o_proj", ENCODER_ENCODER_TRANSFORMER + ".self_attn.o_proj", "", tower="encoder"),
        Row(
            "scale",
            ENCODER_ENCODER_TRANSFORMER + ".self_attn_layer_scale.scale",
            "",
            tower="encoder",
            leaf="",
            group="attention",
        ),
        Row(
            "mlp_layer_scale_scale",
            ENCODER_ENCODER_TRANSFORMER + ".mlp_layer_scale.scale",
            "",
            tower="encoder",
            leaf="",
        ),
        Row("post_attention_layernorm", ENCODER_ENCODER_TRANSFORMER + ".post_attention_layernorm", "", tower="encoder"),
        Row("up_proj", ENCODER_ENCODER_TRANSFORMER + ".mlp.fc1", "", tower="encoder"),
        Row("down_proj", ENCODER_ENCODER_TRANSFORMER + ".mlp.fc2", "", tower="encoder"),
        Row("input_layernorm", DECODER_DECODER_TRANSFORMER + ".input_layernorm", "", tower="decoder"),
        Row("q_proj", DECODER_DECODER_TRANSFORMER + ".self_attn.q_proj", "", tower="decoder"),
        Row("k_proj", DECODER_DECODER_TRANSFORMER + ".self_attn.k_proj", "", tower="decoder"),
        Row("v_proj", DECODER_DECODER_TRANSFORMER + ".self_attn.v_proj", "", tower="decoder"),
        Row("o_proj", DECODER_DECODER_TRANSFORMER + ".self_attn.o_proj", "", tower="decoder"),
        Row(
            "scale",
            DECODER_DECODER_TRANSFORMER + ".self_attn_layer_scale.scale",
            "",
            tower="decoder",
            leaf="",
            group="attention",
        ),
        Row(
            "mlp_layer_scale_scale",
            DECODER_DECODER_TRANSFORMER + ".mlp_layer_scale.scale",
            "",
            tower="decoder",
            leaf="",
        ),
        Row("post_attention_layernorm", DECODER_DECODER_TRANSFORMER + ".post_attention_layernorm", "", tower="decoder"),
        Row("up_proj", DECODER_DECODER_TRANSFORMER + ".mlp.fc1", "", tower="decoder"),
        Row("down_proj", DECODER_DECODER_TRANSFORMER + ".mlp.fc2", "", tower="decoder"),
        Row("conv", DECODER_DECODER_SEANET + ".conv", "", tower="decoder"),
        Row("conv", DECODER_DECODER_SEANET + ".conv", "", tower="decoder", leaf="bias"),
        Row("conv", DECODER_DECODER_SEANET + ".block.{block}.conv", "", tower="decoder"),
        Row("shortcut_conv", DECODER_DECODER_SEANET + ".shortcut.conv", "", tower="decoder"),
        Row("conv", "encoder.downsample.conv", "", tower="encoder"),
        Row("conv", "decoder.upsample.conv", "", tower="decoder"),
        Row("latent_proj", "latent_proj", "", group="convolution"),
    ),
    names_only=True,
    head="Model",
)
