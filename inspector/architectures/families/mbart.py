"""Model type mbart.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

DECODER = "model.decoder.layers.{layer<decoder_layers}"
ENCODER = "model.encoder.layers.{layer<encoder_layers}"

FAMILY = Family(
    name="mbart",
    types={"mbart": {}},
    rows=(
        Row(
            "embed_tokens",
            "model.decoder.embed_tokens",
            "vocab_size, d_model",
            when="is_decoder or not tie_word_embeddings",
            tower="decoder",
        ),
        Row(
            "embed_positions", "model.decoder.embed_positions", "max_position_embeddings + 2, d_model", tower="decoder"
        ),
        Row("embed_norm", "model.decoder.layernorm_embedding", "d_model", bias="True", tower="decoder"),
        Row("embed_tokens", "model.shared", "vocab_size, d_model", when="is_encoder_decoder"),
        Row(
            "embed_positions",
            "model.encoder.embed_positions",
            "max_position_embeddings + 2, d_model",
            when="is_encoder_decoder",
            tower="encoder",
        ),
        Row(
            "embed_norm",
            "model.encoder.layernorm_embedding",
            "d_model",
            bias="True",
            when="is_encoder_decoder",
            tower="encoder",
        ),
        Row(
            "embed_tokens",
            "model.encoder.embed_tokens",
            "vocab_size, d_model",
            when="is_encoder_decoder",
            tied="tie_word_embeddings",
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
            "input_layernorm",
            ENCODER + ".self_attn_layer_norm",
            "d_model",
            bias="True",
            when="is_encoder_decoder",
            tower="encoder",
        ),
        Row(
            "q_proj",
            ENCODER + ".self_attn.q_proj",
            "d_model, d_model",
            bias="True",
            when="is_encoder_decoder",
            tower="encoder",
        ),
        Row(
            "k_proj",
            ENCODER + ".self_attn.k_proj",
            "d_model, d_model",
            bias="True",
            when="is_encoder_decoder",
            tower="encoder",
        ),
        Row(
            "v_proj",
            ENCODER + ".self_attn.v_proj",
            "d_model, d_model",
            bias="True",
            when="is_encoder_decoder",
            tower="encoder",
        ),
        Row(
            "o_proj",
            ENCODER + ".self_attn.out_proj",
            "d_model, d_model",
            bias="True",
            when="is_encoder_decoder",
            tower="encoder",
        ),
        Row("norm", ENCODER + ".final_layer_norm", "d_model", bias="True", when="is_encoder_decoder", tower="encoder"),
        Row(
            "up_proj",
            ENCODER + ".fc1",
            "encoder_ffn_dim, d_model",
            bias="True",
            when="is_encoder_decoder",
            tower="encoder",
        ),
        Row(
            "down_proj",
            ENCODER + ".fc2",
            "d_model, encoder_ffn_dim",
            bias="True",
            when="is_encoder_decoder",
            tower="encoder",
        ),
        Row("layer_norm", "model.decoder.layer_norm", "d_model", bias="True", tower="decoder"),
        Row(
            "layer_norm", "model.encoder.layer_norm", "d_model", bias="True", when="is_encoder_decoder", tower="encoder"
        ),
        Row(
            "lm_head",
            "lm_head",
            "vocab_size, d_model",
            heads="ForCausalLM ForConditionalGeneration",
            tied="tie_word_embeddings",
        ),
        Row("qa_outputs", "qa_outputs", "num_labels, d_model", bias="True", heads="ForQuestionAnswering"),
        Row(
            "dense",
            "classification_head.dense",
            "d_model, d_model",
            bias="True",
            heads="ForSequenceClassification",
            group="head",
        ),
        Row(
            "out_proj",
            "classification_head.out_proj",
            "num_labels, d_model",
            bias="True",
            heads="ForSequenceClassification",
        ),
        Row(
            "final_logits_bias",
            "final_logits_bias",
            "1, vocab_size",
            heads="ForConditionalGeneration",
            leaf="",
            buffer=True,
            persistent=True,
        ),
    ),
    prefix="model.",
    defaults={
        "d_model": 1024,
        "decoder_ffn_dim": 4096,
        "decoder_layers": 12,
        "encoder_ffn_dim": 4096,
        "encoder_layers": 12,
        "is_decoder": False,
        "is_encoder_decoder": True,
        "max_position_embeddings": 1024,
        "tie_word_embeddings": True,
        "vocab_size": 50265,
    },
    fields={"hidden_size": "d_model", "num_hidden_layers": "encoder_layers"},
)
