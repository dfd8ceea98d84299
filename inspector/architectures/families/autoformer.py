"""Model type autoformer.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

ENCODER = "encoder.layers.{layer<encoder_layers}"
DECODER = "decoder.layers.{layer<decoder_layers}"

FAMILY = Family(
    name="autoformer",
    types={"autoformer": {}},
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
        Row("layernorm", ENCODER + ".final_layer_norm.layernorm", "d_model", bias="True", tower="encoder"),
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
        Row("layernorm", DECODER + ".final_layer_norm.layernorm", "d_model", bias="True", tower="decoder"),
        Row(
            "trend_projection",
            DECODER + ".trend_projection",
            "feature_size, d_model, 3",
            tower="decoder",
            group="convolution",
        ),
        Row("up_proj", DECODER + ".fc1", "decoder_ffn_dim, d_model", bias="True", tower="decoder"),
        Row("down_proj", DECODER + ".fc2", "d_model, decoder_ffn_dim", bias="True", tower="decoder"),
        Row(
            "seasonality_projection",
            "decoder.seasonality_projection",
            "feature_size, d_model",
            bias="True",
            tower="decoder",
        ),
    ),
    defaults={
        "d_model": 64,
        "decoder_ffn_dim": 32,
        "decoder_layers": 2,
        "encoder_ffn_dim": 32,
        "encoder_layers": 2,
        "input_size": 1,
        "num_dynamic_real_features": 0,
        "num_static_categorical_features": 0,
        "num_static_real_features": 0,
        "num_time_features": 0,
        "prediction_length": 24,
    },
    derived={
        "context_length": "prediction_length",
        "feature_size": "9 * input_size + num_dynamic_real_features + num_time_features + num_static_real_features",
    },
    fields={"hidden_size": "d_model", "num_hidden_layers": "encoder_layers"},
    head="Model",
)
