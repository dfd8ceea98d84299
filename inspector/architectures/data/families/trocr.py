"""TrOCR's decoder: BART's, which may attend to an encoder of another width."""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "model.decoder.layers.{layer<decoder_layers}"

FAMILY = Family(
    name="trocr",
    types={"trocr": {}},
    rows=(
        Row("embed_tokens", "model.decoder.embed_tokens", "vocab_size, d_model"),
        Row(
            "embed_positions",
            "model.decoder.embed_positions",
            "max_position_embeddings + 2, d_model",
            when="use_learned_position_embeddings",
        ),
        Row("embed_norm", "model.decoder.layernorm_embedding", "d_model", bias="True", when="layernorm_embedding"),
        Row("input_layernorm", LAYER + ".self_attn_layer_norm", "d_model", bias="True"),
        Row("q_proj", LAYER + ".self_attn.q_proj", "d_model, d_model", bias="True"),
        Row("k_proj", LAYER + ".self_attn.k_proj", "d_model, d_model", bias="True"),
        Row("v_proj", LAYER + ".self_attn.v_proj", "d_model, d_model", bias="True"),
        Row("o_proj", LAYER + ".self_attn.out_proj", "d_model, d_model", bias="True"),
        Row(
            "cross_k_proj",
            LAYER + ".encoder_attn.k_proj",
            "d_model, cross_attention_hidden_size or d_model",
            bias="True",
        ),
        Row(
            "cross_v_proj",
            LAYER + ".encoder_attn.v_proj",
            "d_model, cross_attention_hidden_size or d_model",
            bias="True",
        ),
        Row("cross_q_proj", LAYER + ".encoder_attn.q_proj", "d_model, d_model", bias="True"),
        Row("cross_o_proj", LAYER + ".encoder_attn.out_proj", "d_model, d_model", bias="True"),
        Row("cross_encoder_attn_layer_norm", LAYER + ".encoder_attn_layer_norm", "d_model", bias="True"),
        Row("norm", LAYER + ".final_layer_norm", "d_model", bias="True"),
        Row("up_proj", LAYER + ".fc1", "decoder_ffn_dim, d_model", bias="True"),
        Row("down_proj", LAYER + ".fc2", "d_model, decoder_ffn_dim", bias="True"),
        Row("output_projection", "output_projection", "vocab_size, d_model", tied="tie_word_embeddings"),
    ),
    prefix="model.",
    defaults={
        "cross_attention_hidden_size": None,
        "d_model": 1024,
        "decoder_ffn_dim": 4096,
        "decoder_layers": 12,
        "layernorm_embedding": True,
        "max_position_embeddings": 512,
        "tie_word_embeddings": True,
        "use_learned_position_embeddings": True,
        "vocab_size": 50265,
    },
    fields={"hidden_size": "d_model", "num_hidden_layers": "decoder_layers"},
)
