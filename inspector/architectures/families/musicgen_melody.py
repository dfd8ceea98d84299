"""Model type musicgen_melody.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

DECODER = "model.decoder.layers.{layer}"
DECODER_DECODER = "decoder.model.decoder.layers.{layer}"
ENCODER_BLOCK = "text_encoder.encoder.block.{layer}"
ENCODER_BLOCK_ = "text_encoder.encoder.block.{layer}.layer.{sublayer}"
AUDIO_ENCODER_ENCODER = "audio_encoder.encoder.layers.{layer}"
ENCODER_BLOCK__ = "audio_encoder.encoder.layers.{layer}.block.{block}"
AUDIO_ENCODER_DECODER = "audio_encoder.decoder.layers.{layer}"
DECODER_BLOCK = "audio_encoder.decoder.layers.{layer}.block.{block}"
AUDIO_ENCODER_QUANTIZER = "audio_encoder.quantizer.layers.{layer}"

FAMILY = Family(
    name="musicgen_melody",
    types={"musicgen_melody": {}},
    rows=(
        Row("embed_tokens", "text_encoder.shared", ""),
        Row("embed_tokens", "model.decoder.embed_tokens.{layer}", "", tower="decoder"),
        Row("input_layernorm", DECODER + ".self_attn_layer_norm", "", tower="decoder"),
        Row("q_proj", DECODER + ".self_attn.q_proj", "", tower="decoder"),
        Row("k_proj", DECODER + ".self_attn.k_proj", "", tower="decoder"),
        Row("v_proj", DECODER + ".self_attn.v_proj", "", tower="decoder"),
        Row("o_proj", DECODER + ".self_attn.out_proj", "", tower="decoder"),
        Row("norm", DECODER + ".final_layer_norm", "", tower="decoder"),
        Row("up_proj", DECODER + ".fc1", "", tower="decoder"),
        Row("down_proj", DECODER + ".fc2", "", tower="decoder"),
        Row("decoder_embed_tokens", "decoder.model.decoder.embed_tokens.{layer}", "", tower="decoder"),
        Row("self_attn_k_proj", DECODER_DECODER + ".self_attn.k_proj", "", tower="decoder"),
        Row("self_attn_v_proj", DECODER_DECODER + ".self_attn.v_proj", "", tower="decoder"),
        Row("self_attn_q_proj", DECODER_DECODER + ".self_attn.q_proj", "", tower="decoder"),
        Row("out_proj_o_proj", DECODER_DECODER + ".self_attn.out_proj", "", tower="decoder"),
        Row("self_attn_layer_norm_input_layernorm", DECODER_DECODER + ".self_attn_layer_norm", "", tower="decoder"),
        Row("fc1_up_proj", DECODER_DECODER + ".fc1", "", tower="decoder"),
        Row("fc2_down_proj", DECODER_DECODER + ".fc2", "", tower="decoder"),
        Row("final_layer_norm", DECODER_DECODER + ".final_layer_norm", "", tower="decoder"),
        Row("lm_heads", "decoder.lm_heads.{layer}", "", tower="decoder"),
        Row("lm_heads", "lm_heads.{layer}", ""),
        Row("q_proj", ENCODER_BLOCK_ + ".SelfAttention.q", "", tower="encoder"),
        Row("k_proj", ENCODER_BLOCK_ + ".SelfAttention.k", "", tower="encoder"),
        Row("v_proj", ENCODER_BLOCK_ + ".SelfAttention.v", "", tower="encoder"),
        Row("o_proj", ENCODER_BLOCK_ + ".SelfAttention.o", "", tower="encoder"),
        Row("relative_attention_bias", ENCODER_BLOCK_ + ".SelfAttention.relative_attention_bias", "", tower="encoder"),
        Row("layer_norm", ENCODER_BLOCK_ + ".layer_norm", "", tower="encoder"),
        Row("up_proj", ENCODER_BLOCK_ + ".DenseReluDense.wi", "", tower="encoder"),
        Row("down_proj", ENCODER_BLOCK_ + ".DenseReluDense.wo", "", tower="encoder"),
        Row("conv", AUDIO_ENCODER_ENCODER + ".conv", "", tower="audio", leaf="bias"),
        Row(
            "original0",
            AUDIO_ENCODER_ENCODER + ".conv.parametrizations.weight.original0",
            "",
            tower="audio",
            leaf="",
            group="convolution",
        ),
        Row(
            "original1",
            AUDIO_ENCODER_ENCODER + ".conv.parametrizations.weight.original1",
            "",
            tower="audio",
            leaf="",
            group="convolution",
        ),
        Row("conv", ENCODER_BLOCK__ + ".conv", "", tower="audio", leaf="bias"),
        Row(
            "original0",
            ENCODER_BLOCK__ + ".conv.parametrizations.weight.original0",
            "",
            tower="audio",
            leaf="",
            group="convolution",
        ),
        Row(
            "original1",
            ENCODER_BLOCK__ + ".conv.parametrizations.weight.original1",
            "",
            tower="audio",
            leaf="",
            group="convolution",
        ),
        Row("shortcut_conv", AUDIO_ENCODER_ENCODER + ".shortcut.conv", "", tower="audio", leaf="bias"),
        Row(
            "parametrizations_original0",
            AUDIO_ENCODER_ENCODER + ".shortcut.conv.parametrizations.weight.original0",
            "",
            tower="audio",
            leaf="",
            group="convolution",
        ),
        Row(
            "parametrizations_original1",
            AUDIO_ENCODER_ENCODER + ".shortcut.conv.parametrizations.weight.original1",
            "",
            tower="audio",
            leaf="",
            group="convolution",
        ),
        Row("weight_ih_l0", AUDIO_ENCODER_ENCODER + ".lstm.weight_ih_l0", "", tower="audio", leaf=""),
        Row("weight_hh_l0", AUDIO_ENCODER_ENCODER + ".lstm.weight_hh_l0", "", tower="audio", leaf=""),
        Row("bias_ih_l0", AUDIO_ENCODER_ENCODER + ".lstm.bias_ih_l0", "", tower="audio", leaf=""),
        Row("bias_hh_l0", AUDIO_ENCODER_ENCODER + ".lstm.bias_hh_l0", "", tower="audio", leaf=""),
        Row("weight_ih_l1", AUDIO_ENCODER_ENCODER + ".lstm.weight_ih_l1", "", tower="audio", leaf=""),
        Row("weight_hh_l1", AUDIO_ENCODER_ENCODER + ".lstm.weight_hh_l1", "", tower="audio", leaf=""),
        Row("bias_ih_l1", AUDIO_ENCODER_ENCODER + ".lstm.bias_ih_l1", "", tower="audio", leaf=""),
        Row("bias_hh_l1", AUDIO_ENCODER_ENCODER + ".lstm.bias_hh_l1", "", tower="audio", leaf=""),
        Row("decoder_conv", AUDIO_ENCODER_DECODER + ".conv", "", tower="audio", leaf="bias"),
        Row(
            "conv_parametrizations_original0",
            AUDIO_ENCODER_DECODER + ".conv.parametrizations.weight.original0",
            "",
            tower="audio",
            leaf="",
        ),
        Row(
            "conv_parametrizations_original1",
            AUDIO_ENCODER_DECODER + ".conv.parametrizations.weight.original1",
            "",
            tower="audio",
            leaf="",
        ),
        Row("lstm_weight_ih_l0", AUDIO_ENCODER_DECODER + ".lstm.weight_ih_l0", "", tower="audio", leaf=""),
        Row("lstm_weight_hh_l0", AUDIO_ENCODER_DECODER + ".lstm.weight_hh_l0", "", tower="audio", leaf=""),
        Row("lstm_bias_ih_l0", AUDIO_ENCODER_DECODER + ".lstm.bias_ih_l0", "", tower="audio", leaf=""),
        Row("lstm_bias_hh_l0", AUDIO_ENCODER_DECODER + ".lstm.bias_hh_l0", "", tower="audio", leaf=""),
        Row("lstm_weight_ih_l1", AUDIO_ENCODER_DECODER + ".lstm.weight_ih_l1", "", tower="audio", leaf=""),
        Row("lstm_weight_hh_l1", AUDIO_ENCODER_DECODER + ".lstm.weight_hh_l1", "", tower="audio", leaf=""),
        Row("lstm_bias_ih_l1", AUDIO_ENCODER_DECODER + ".lstm.bias_ih_l1", "", tower="audio", leaf=""),
        Row("lstm_bias_hh_l1", AUDIO_ENCODER_DECODER + ".lstm.bias_hh_l1", "", tower="audio", leaf=""),
        Row("decoder_conv", DECODER_BLOCK + ".conv", "", tower="audio", leaf="bias"),
        Row(
            "parametrizations_original0",
            DECODER_BLOCK + ".conv.parametrizations.weight.original0",
            "",
            tower="audio",
            leaf="",
            group="convolution",
        ),
        Row(
            "parametrizations_original1",
            DECODER_BLOCK + ".conv.parametrizations.weight.original1",
            "",
            tower="audio",
            leaf="",
            group="convolution",
        ),
        Row("decoder_shortcut_conv", AUDIO_ENCODER_DECODER + ".shortcut.conv", "", tower="audio", leaf="bias"),
        Row(
            "shortcut_conv_parametrizations_original0",
            AUDIO_ENCODER_DECODER + ".shortcut.conv.parametrizations.weight.original0",
            "",
            tower="audio",
            leaf="",
        ),
        Row(
            "shortcut_conv_parametrizations_original1",
            AUDIO_ENCODER_DECODER + ".shortcut.conv.parametrizations.weight.original1",
            "",
            tower="audio",
            leaf="",
        ),
        Row("layer_norm", "model.decoder.layer_norm", "", tower="decoder"),
        Row("decoder_layer_norm", "decoder.model.decoder.layer_norm", "", tower="decoder"),
        Row("enc_to_dec_proj", "enc_to_dec_proj", ""),
        Row("audio_enc_to_dec_proj", "audio_enc_to_dec_proj", ""),
        Row("norm", "text_encoder.encoder.final_layer_norm", "", tower="encoder"),
        Row("inited", AUDIO_ENCODER_QUANTIZER + ".codebook.inited", "", tower="audio", leaf="", buffer=True),
        Row(
            "cluster_size", AUDIO_ENCODER_QUANTIZER + ".codebook.cluster_size", "", tower="audio", leaf="", buffer=True
        ),
        Row("embed", AUDIO_ENCODER_QUANTIZER + ".codebook.embed", "", tower="audio", leaf="", buffer=True),
        Row("embed_avg", AUDIO_ENCODER_QUANTIZER + ".codebook.embed_avg", "", tower="audio", leaf="", buffer=True),
    ),
    prefix="model.",
    names_only=True,
)
