"""Speech2Text: convolutions that stride over a spectrogram, an encoder and a decoder."""

from __future__ import annotations

from inspector.architectures.table import Family, Row

ENCODER = "model.encoder.layers.{layer<encoder_layers}"
DECODER = "model.decoder.layers.{layer<decoder_layers}"

FAMILY = Family(
    name="speech_to_text",
    types={"speech_to_text": {}},
    rows=(
        Row("embed_tokens", "model.decoder.embed_tokens", "vocab_size, d_model", tower="decoder"),
        Row(
            "conv_layers",
            "model.encoder.conv.conv_layers.{layer<len(conv_kernel_sizes)}",
            "conv_channels if layer < num_conv_layers - 1 else 2 * d_model, conv_channels // 2 if layer > 0 else input_channels * input_feat_per_channel, conv_kernel_sizes[layer]",
            bias="True",
            tower="encoder",
        ),
        Row("input_layernorm", ENCODER + ".self_attn_layer_norm", "d_model", bias="True", tower="encoder"),
        Row("q_proj", ENCODER + ".self_attn.q_proj", "d_model, d_model", bias="True", tower="encoder"),
        Row("k_proj", ENCODER + ".self_attn.k_proj", "d_model, d_model", bias="True", tower="encoder"),
        Row("v_proj", ENCODER + ".self_attn.v_proj", "d_model, d_model", bias="True", tower="encoder"),
        Row("o_proj", ENCODER + ".self_attn.out_proj", "d_model, d_model", bias="True", tower="encoder"),
        Row("norm", ENCODER + ".final_layer_norm", "d_model", bias="True", tower="encoder"),
        Row("up_proj", ENCODER + ".fc1", "encoder_ffn_dim, d_model", bias="True", tower="encoder"),
        Row("down_proj", ENCODER + ".fc2", "d_model, encoder_ffn_dim", bias="True", tower="encoder"),
        Row("input_layernorm", DECODER + ".self_attn_layer_norm", "d_model", bias="True", tower="decoder"),
        Row("q_proj", DECODER + ".self_attn.q_proj", "d_model, d_model", bias="True", tower="decoder"),
        Row("k_proj", DECODER + ".self_attn.k_proj", "d_model, d_model", bias="True", tower="decoder"),
        Row("v_proj", DECODER + ".self_attn.v_proj", "d_model, d_model", bias="True", tower="decoder"),
        Row("o_proj", DECODER + ".self_attn.out_proj", "d_model, d_model", bias="True", tower="decoder"),
        Row("cross_k_proj", DECODER + ".encoder_attn.k_proj", "d_model, d_model", bias="True", tower="decoder"),
        Row("cross_v_proj", DECODER + ".encoder_attn.v_proj", "d_model, d_model", bias="True", tower="decoder"),
        Row("cross_q_proj", DECODER + ".encoder_attn.q_proj", "d_model, d_model", bias="True", tower="decoder"),
        Row("cross_o_proj", DECODER + ".encoder_attn.out_proj", "d_model, d_model", bias="True", tower="decoder"),
        Row(
            "cross_encoder_attn_layer_norm",
            DECODER + ".encoder_attn_layer_norm",
            "d_model",
            bias="True",
            tower="decoder",
        ),
        Row("norm", DECODER + ".final_layer_norm", "d_model", bias="True", tower="decoder"),
        Row("up_proj", DECODER + ".fc1", "decoder_ffn_dim, d_model", bias="True", tower="decoder"),
        Row("down_proj", DECODER + ".fc2", "d_model, decoder_ffn_dim", bias="True", tower="decoder"),
        Row("layer_norm", "model.encoder.layer_norm", "d_model", bias="True", tower="encoder"),
        Row("layer_norm", "model.decoder.layer_norm", "d_model", bias="True", tower="decoder"),
        Row("lm_head", "lm_head", "vocab_size, d_model", heads="ForConditionalGeneration", tied="tie_word_embeddings"),
    ),
    prefix="model.",
    defaults={
        "conv_channels": 1024,
        "num_conv_layers": 2,
        "conv_kernel_sizes": [5, 5],
        "d_model": 256,
        "decoder_ffn_dim": 2048,
        "decoder_layers": 6,
        "encoder_ffn_dim": 2048,
        "encoder_layers": 12,
        "input_channels": 1,
        "input_feat_per_channel": 80,
        "tie_word_embeddings": True,
        "vocab_size": 10000,
    },
    fields={"hidden_size": "d_model", "num_hidden_layers": "encoder_layers"},
    head="ForConditionalGeneration",
)
