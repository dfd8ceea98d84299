"""Model type pegasus_x.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

ENCODER = "model.encoder.layers.{layer<encoder_layers}"
DECODER = "model.decoder.layers.{layer<decoder_layers}"

FAMILY = Family(
    name="pegasus_x",
    types={"pegasus_x": {}},
    rows=(
        Row("embed_tokens", "model.shared", "vocab_size, d_model"),
        Row(
            "embed_tokens",
            "model.encoder.embed_tokens",
            "vocab_size, d_model",
            tied="tie_word_embeddings",
            tower="encoder",
        ),
        Row("embed_global", "model.encoder.embed_global", "num_global_tokens, d_model", tower="encoder"),
        Row(
            "embed_tokens",
            "model.decoder.embed_tokens",
            "vocab_size, d_model",
            tied="tie_word_embeddings",
            tower="decoder",
        ),
        Row("input_layernorm", ENCODER + ".self_attn_layer_norm", "d_model", bias="True", tower="encoder"),
        Row("q_proj", ENCODER + ".self_attn.q_proj", "d_model, d_model", tower="encoder"),
        Row("k_proj", ENCODER + ".self_attn.k_proj", "d_model, d_model", tower="encoder"),
        Row("v_proj", ENCODER + ".self_attn.v_proj", "d_model, d_model", tower="encoder"),
        Row("o_proj", ENCODER + ".self_attn.out_proj", "d_model, d_model", tower="encoder"),
        Row(
            "global_self_attn_layer_norm",
            ENCODER + ".global_self_attn_layer_norm",
            "d_model",
            bias="True",
            tower="encoder",
        ),
        Row("norm", ENCODER + ".final_layer_norm", "d_model", bias="True", tower="encoder"),
        Row("up_proj", ENCODER + ".fc1", "encoder_ffn_dim, d_model", bias="True", tower="encoder"),
        Row("down_proj", ENCODER + ".fc2", "d_model, encoder_ffn_dim", bias="True", tower="encoder"),
        Row("input_layernorm", DECODER + ".self_attn_layer_norm", "d_model", bias="True", tower="decoder"),
        Row("q_proj", DECODER + ".self_attn.q_proj", "d_model, d_model", tower="decoder"),
        Row("k_proj", DECODER + ".self_attn.k_proj", "d_model, d_model", tower="decoder"),
        Row("v_proj", DECODER + ".self_attn.v_proj", "d_model, d_model", tower="decoder"),
        Row("o_proj", DECODER + ".self_attn.out_proj", "d_model, d_model", tower="decoder"),
        Row("cross_k_proj", DECODER + ".encoder_attn.k_proj", "d_model, d_model", tower="decoder"),
        Row("cross_v_proj", DECODER + ".encoder_attn.v_proj", "d_model, d_model", tower="decoder"),
        Row("cross_q_proj", DECODER + ".encoder_attn.q_proj", "d_model, d_model", tower="decoder"),
        Row("cross_o_proj", DECODER + ".encoder_attn.out_proj", "d_model, d_model", tower="decoder"),
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
        "d_model": 1024,
        "decoder_ffn_dim": 4096,
        "decoder_layers": 16,
        "encoder_ffn_dim": 4096,
        "encoder_layers": 16,
        "num_global_tokens": 32,
        "tie_word_embeddings": True,
        "vocab_size": 96103,
    },
    fields={"hidden_size": "d_model", "num_hidden_layers": "encoder_layers"},
    head="ForConditionalGeneration",
)
