"""Model type led.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LED_ENCODER = "led.encoder.layers.{layer<encoder_layers}"
LED_DECODER = "led.decoder.layers.{layer<decoder_layers}"

FAMILY = Family(
    name="led",
    types={"led": {}},
    rows=(
        Row("embed_tokens", "led.shared", "vocab_size, d_model"),
        Row(
            "embed_tokens",
            "led.encoder.embed_tokens",
            "vocab_size, d_model",
            tied="tie_word_embeddings",
            tower="encoder",
        ),
        Row(
            "embed_positions",
            "led.encoder.embed_positions",
            "max_encoder_position_embeddings, d_model",
            tower="encoder",
        ),
        Row("embed_norm", "led.encoder.layernorm_embedding", "d_model", bias="True", tower="encoder"),
        Row(
            "embed_tokens",
            "led.decoder.embed_tokens",
            "vocab_size, d_model",
            tied="tie_word_embeddings",
            tower="decoder",
        ),
        Row(
            "embed_positions",
            "led.decoder.embed_positions",
            "max_decoder_position_embeddings, d_model",
            tower="decoder",
        ),
        Row("embed_norm", "led.decoder.layernorm_embedding", "d_model", bias="True", tower="decoder"),
        Row("input_layernorm", LED_ENCODER + ".self_attn_layer_norm", "d_model", bias="True", tower="encoder"),
        Row(
            "q_proj",
            LED_ENCODER + ".self_attn.longformer_self_attn.query",
            "d_model, d_model",
            bias="True",
            tower="encoder",
        ),
        Row(
            "k_proj",
            LED_ENCODER + ".self_attn.longformer_self_attn.key",
            "d_model, d_model",
            bias="True",
            tower="encoder",
        ),
        Row(
            "v_proj",
            LED_ENCODER + ".self_attn.longformer_self_attn.value",
            "d_model, d_model",
            bias="True",
            tower="encoder",
        ),
        Row(
            "query_global",
            LED_ENCODER + ".self_attn.longformer_self_attn.query_global",
            "d_model, d_model",
            bias="True",
            tower="encoder",
            group="attention",
        ),
        Row(
            "key_global",
            LED_ENCODER + ".self_attn.longformer_self_attn.key_global",
            "d_model, d_model",
            bias="True",
            tower="encoder",
            group="attention",
        ),
        Row(
            "value_global",
            LED_ENCODER + ".self_attn.longformer_self_attn.value_global",
            "d_model, d_model",
            bias="True",
            tower="encoder",
            group="attention",
        ),
        Row("lm_head", LED_ENCODER + ".self_attn.output", "d_model, d_model", bias="True", tower="encoder"),
        Row("norm", LED_ENCODER + ".final_layer_norm", "d_model", bias="True", tower="encoder"),
        Row("up_proj", LED_ENCODER + ".fc1", "encoder_ffn_dim, d_model", bias="True", tower="encoder"),
        Row("down_proj", LED_ENCODER + ".fc2", "d_model, encoder_ffn_dim", bias="True", tower="encoder"),
        Row("input_layernorm", LED_DECODER + ".self_attn_layer_norm", "d_model", bias="True", tower="decoder"),
        Row("q_proj", LED_DECODER + ".self_attn.q_proj", "d_model, d_model", bias="True", tower="decoder"),
        Row("k_proj", LED_DECODER + ".self_attn.k_proj", "d_model, d_model", bias="True", tower="decoder"),
        Row("v_proj", LED_DECODER + ".self_attn.v_proj", "d_model, d_model", bias="True", tower="decoder"),
        Row("o_proj", LED_DECODER + ".self_attn.out_proj", "d_model, d_model", bias="True", tower="decoder"),
        Row("cross_k_proj", LED_DECODER + ".encoder_attn.k_proj", "d_model, d_model", bias="True", tower="decoder"),
        Row("cross_v_proj", LED_DECODER + ".encoder_attn.v_proj", "d_model, d_model", bias="True", tower="decoder"),
        Row("cross_q_proj", LED_DECODER + ".encoder_attn.q_proj", "d_model, d_model", bias="True", tower="decoder"),
        Row("cross_o_proj", LED_DECODER + ".encoder_attn.out_proj", "d_model, d_model", bias="True", tower="decoder"),
        Row(
            "cross_encoder_attn_layer_norm",
            LED_DECODER + ".encoder_attn_layer_norm",
            "d_model",
            bias="True",
            tower="decoder",
        ),
        Row("norm", LED_DECODER + ".final_layer_norm", "d_model", bias="True", tower="decoder"),
        Row("up_proj", LED_DECODER + ".fc1", "decoder_ffn_dim, d_model", bias="True", tower="decoder"),
        Row("down_proj", LED_DECODER + ".fc2", "d_model, decoder_ffn_dim", bias="True", tower="decoder"),
        Row("lm_head", "lm_head", "vocab_size, d_model", heads="ForConditionalGeneration", tied="tie_word_embeddings"),
        Row("qa_outputs", "qa_outputs", "2, d_model", bias="True", heads="ForQuestionAnswering"),
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
    prefix="led.",
    defaults={
        "d_model": 1024,
        "decoder_ffn_dim": 4096,
        "decoder_layers": 12,
        "encoder_ffn_dim": 4096,
        "encoder_layers": 12,
        "max_decoder_position_embeddings": 1024,
        "max_encoder_position_embeddings": 16384,
        "tie_word_embeddings": True,
        "vocab_size": 50265,
    },
    fields={"hidden_size": "d_model", "num_hidden_layers": "encoder_layers"},
    head="ForConditionalGeneration",
)
