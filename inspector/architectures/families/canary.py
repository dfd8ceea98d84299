"""Model type canary: encoder_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

LAYER = "model.decoder.layers.{layer<decoder_config.num_hidden_layers}"

FAMILY = Family(
    name="canary",
    types={"canary": {}},
    rows=(
        Include(
            "encoder_config", "model.encoder.", tower="encoder", head="ParakeetEncoder", default_type="parakeet_encoder"
        ),
        Row(
            "embed_tokens",
            "model.decoder.embed_tokens",
            "decoder_config.vocab_size, decoder_config.hidden_size",
            tower="decoder",
        ),
        Row(
            "embedding_layernorm",
            "model.decoder.embedding_layernorm",
            "decoder_config.hidden_size",
            bias="True",
            tower="decoder",
        ),
        Row("input_layernorm", LAYER + ".input_layernorm", "decoder_config.hidden_size", bias="True", tower="decoder"),
        Row(
            "q_proj",
            LAYER + ".self_attn.q_proj",
            "decoder_config.num_attention_heads * decoder_config.head_dim, decoder_config.hidden_size",
            bias="decoder_config.attention_bias",
            tower="decoder",
        ),
        Row(
            "k_proj",
            LAYER + ".self_attn.k_proj",
            "decoder_config.num_key_value_heads * decoder_config.head_dim, decoder_config.hidden_size",
            bias="decoder_config.attention_bias",
            tower="decoder",
        ),
        Row(
            "v_proj",
            LAYER + ".self_attn.v_proj",
            "decoder_config.num_key_value_heads * decoder_config.head_dim, decoder_config.hidden_size",
            bias="decoder_config.attention_bias",
            tower="decoder",
        ),
        Row(
            "o_proj",
            LAYER + ".self_attn.o_proj",
            "decoder_config.hidden_size, decoder_config.num_attention_heads * decoder_config.head_dim",
            bias="decoder_config.attention_bias",
            tower="decoder",
        ),
        Row(
            "cross_q_proj",
            LAYER + ".encoder_attn.q_proj",
            "decoder_config.num_attention_heads * decoder_config.head_dim, decoder_config.hidden_size",
            bias="decoder_config.attention_bias",
            tower="decoder",
        ),
        Row(
            "cross_k_proj",
            LAYER + ".encoder_attn.k_proj",
            "decoder_config.num_key_value_heads * decoder_config.head_dim, decoder_config.hidden_size",
            bias="decoder_config.attention_bias",
            tower="decoder",
        ),
        Row(
            "cross_v_proj",
            LAYER + ".encoder_attn.v_proj",
            "decoder_config.num_key_value_heads * decoder_config.head_dim, decoder_config.hidden_size",
            bias="decoder_config.attention_bias",
            tower="decoder",
        ),
        Row(
            "cross_o_proj",
            LAYER + ".encoder_attn.o_proj",
            "decoder_config.hidden_size, decoder_config.num_attention_heads * decoder_config.head_dim",
            bias="decoder_config.attention_bias",
            tower="decoder",
        ),
        Row("norm", LAYER + ".final_layernorm", "decoder_config.hidden_size", bias="True", tower="decoder"),
        Row(
            "post_attention_layernorm",
            LAYER + ".post_attention_layernorm",
            "decoder_config.hidden_size",
            bias="True",
            tower="decoder",
        ),
        Row(
            "up_proj",
            LAYER + ".mlp.fc1",
            "decoder_config.intermediate_size, decoder_config.hidden_size",
            bias="True",
            tower="decoder",
        ),
        Row(
            "down_proj",
            LAYER + ".mlp.fc2",
            "decoder_config.hidden_size, decoder_config.intermediate_size",
            bias="True",
            tower="decoder",
        ),
        Row("norm", "model.decoder.norm", "decoder_config.hidden_size", bias="True", tower="decoder"),
        Row("proj_out", "proj_out", "decoder_config.vocab_size", heads="ForConditionalGeneration", leaf="bias"),
        Row(
            "proj_out",
            "proj_out",
            "decoder_config.vocab_size, decoder_config.hidden_size",
            heads="ForConditionalGeneration",
            tied="tie_word_embeddings",
        ),
    ),
    prefix="model.",
    defaults={
        "decoder_config": {
            "attention_bias": True,
            "head_dim": 128,
            "hidden_size": 1024,
            "intermediate_size": 4096,
            "num_attention_heads": 8,
            "num_hidden_layers": 8,
            "num_key_value_heads": 8,
            "vocab_size": 16384,
        },
        "tie_word_embeddings": True,
    },
    head="ForConditionalGeneration",
)
