"""Model type informer.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

ENCODER = "encoder.layers.{layer<encoder_layers}"
ENCODER_CONV_LAYERS = "encoder.conv_layers.{layer<encoder_layers - 1}"
DECODER = "decoder.layers.{layer<decoder_layers}"

FAMILY = Family(
    name="informer",
    types={"informer": {}},
    rows=(
        Row(
            "value_projection",
            "encoder.value_embedding.value_projection",
            "d_model, feature_size",
            tower="encoder",
            group="embedding",
        ),
        Row(
            "embed_positions", "encoder.embed_positions", "context_length + prediction_length, d_model", tower="encoder"
        ),
        Row("embed_norm", "encoder.layernorm_embedding", "d_model", bias="True", tower="encoder"),
        Row(
            "value_projection",
            "decoder.value_embedding.value_projection",
            "d_model, feature_size",
            tower="decoder",
            group="embedding",
        ),
        Row(
            "embed_positions", "decoder.embed_positions", "context_length + prediction_length, d_model", tower="decoder"
        ),
        Row("embed_norm", "decoder.layernorm_embedding", "d_model", bias="True", tower="decoder"),
        Row("embedders", "embedder.embedders.0", "0, 0", when="num_static_categorical_features"),
        Row("input_layernorm", ENCODER + ".self_attn_layer_norm", "d_model", bias="True", tower="encoder"),
        Row("q_proj", ENCODER + ".self_attn.q_proj", "d_model, d_model", bias="True", tower="encoder"),
        Row("k_proj", ENCODER + ".self_attn.k_proj", "d_model, d_model", bias="True", tower="encoder"),
        Row("v_proj", ENCODER + ".self_attn.v_proj", "d_model, d_model", bias="True", tower="encoder"),
        Row("o_proj", ENCODER + ".self_attn.out_proj", "d_model, d_model", bias="True", tower="encoder"),
        Row("norm", ENCODER + ".final_layer_norm", "d_model", bias="True", tower="encoder"),
        Row("up_proj", ENCODER + ".fc1", "encoder_ffn_dim, d_model", bias="True", tower="encoder"),
        Row("down_proj", ENCODER + ".fc2", "d_model, encoder_ffn_dim", bias="True", tower="encoder"),
        Row(
            "downConv",
            ENCODER_CONV_LAYERS + ".downConv",
            "d_model, d_model, 3",
            bias="True",
            when="distil and encoder_layers",
            tower="encoder",
            group="convolution",
        ),
        Row(
            "conv_layers_norm",
            ENCODER_CONV_LAYERS + ".norm",
            "d_model",
            bias="True",
            when="distil and encoder_layers",
            tower="encoder",
        ),
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
        Row(
            "running_mean",
            ENCODER_CONV_LAYERS + ".norm.running_mean",
            "d_model",
            when="distil and encoder_layers",
            tower="encoder",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "running_var",
            ENCODER_CONV_LAYERS + ".norm.running_var",
            "d_model",
            when="distil and encoder_layers",
            tower="encoder",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "num_batches_tracked",
            ENCODER_CONV_LAYERS + ".norm.num_batches_tracked",
            "",
            when="distil and encoder_layers",
            tower="encoder",
            leaf="",
            buffer=True,
            persistent=True,
        ),
    ),
    defaults={
        "d_model": 64,
        "decoder_ffn_dim": 32,
        "decoder_layers": 2,
        "distil": True,
        "encoder_ffn_dim": 32,
        "encoder_layers": 2,
        "input_size": 1,
        "lags_sequence": [1, 2, 3, 4, 5, 6, 7],
        "num_dynamic_real_features": 0,
        "num_static_categorical_features": 0,
        "num_static_real_features": 0,
        "num_time_features": 0,
        "prediction_length": 24,
    },
    derived={
        "context_length": "prediction_length",
        "feature_size": "input_size * len(lags_sequence) + num_dynamic_real_features + num_time_features + num_static_real_features + 2 * input_size",
    },
    fields={"hidden_size": "d_model", "num_hidden_layers": "encoder_layers"},
    head="Model",
)
