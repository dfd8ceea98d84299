"""Model type fsmt.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

ENCODER = "model.encoder.layers.{layer<encoder_layers}"
DECODER = "model.decoder.layers.{layer<decoder_layers}"

FAMILY = Family(
    name="fsmt",
    types={"fsmt": {}},
    rows=(
        Row(
            "embed_positions", "model.encoder.embed_positions", "max_position_embeddings + 2, d_model", tower="encoder"
        ),
        Row(
            "embed_tokens",
            "model.encoder.embed_tokens",
            "src_vocab_size, d_model",
            tied="tie_word_embeddings",
            tower="encoder",
        ),
        Row("embed_tokens", "model.decoder.embed_tokens", "tgt_vocab_size, d_model", tower="decoder"),
        Row(
            "embed_positions", "model.decoder.embed_positions", "max_position_embeddings + 2, d_model", tower="decoder"
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
        Row(
            "output_projection",
            "model.decoder.output_projection",
            "tgt_vocab_size, d_model",
            tied="tie_word_embeddings",
            tower="decoder",
        ),
    ),
    prefix="model.",
    defaults={
        "d_model": 1024,
        "decoder_ffn_dim": 4096,
        "decoder_layers": 12,
        "encoder_ffn_dim": 4096,
        "encoder_layers": 12,
        "max_position_embeddings": 1024,
        "src_vocab_size": 42024,
        "tgt_vocab_size": 42024,
        "tie_word_embeddings": False,
    },
    fields={"hidden_size": "d_model", "vocab_size": "tgt_vocab_size", "num_hidden_layers": "encoder_layers"},
    head="ForConditionalGeneration",
)
