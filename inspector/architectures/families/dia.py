"""Model type dia.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

ENCODER = "model.encoder.layers.{layer<encoder_config.num_hidden_layers}"
DECODER = "model.decoder.layers.{layer<decoder_config.num_hidden_layers}"

FAMILY = Family(
    name="dia",
    types={"dia": {}},
    rows=(
        Row(
            "embed_tokens",
            "model.encoder.embedding",
            "encoder_config.vocab_size, encoder_config.hidden_size",
            tower="encoder",
        ),
        Row(
            "embed",
            "model.decoder.embeddings.embed",
            "decoder_config.num_channels * decoder_config.vocab_size, decoder_config.hidden_size",
            tower="decoder",
        ),
        Row(
            "q_proj",
            ENCODER + ".self_attention.q_proj",
            "encoder_config.num_attention_heads * encoder_config.head_dim, encoder_config.hidden_size",
            tower="encoder",
        ),
        Row(
            "k_proj",
            ENCODER + ".self_attention.k_proj",
            "encoder_config.num_key_value_heads * encoder_config.head_dim if encoder_config.num_key_value_heads else encoder_config.head_dim * (encoder_config.num_hidden_layers - 1), encoder_config.hidden_size",
            tower="encoder",
        ),
        Row(
            "v_proj",
            ENCODER + ".self_attention.v_proj",
            "encoder_config.num_key_value_heads * encoder_config.head_dim if encoder_config.num_key_value_heads else encoder_config.head_dim * (encoder_config.num_hidden_layers - 1), encoder_config.hidden_size",
            tower="encoder",
        ),
        Row(
            "o_proj",
            ENCODER + ".self_attention.o_proj",
            "encoder_config.hidden_size, encoder_config.num_attention_heads * encoder_config.head_dim",
            tower="encoder",
        ),
        Row("pre_sa_norm", ENCODER + ".pre_sa_norm", "encoder_config.hidden_size", tower="encoder"),
        Row("post_sa_norm", ENCODER + ".post_sa_norm", "encoder_config.hidden_size", tower="encoder"),
        Row(
            "gate_up_proj",
            ENCODER + ".mlp.gate_up_proj",
            "2 * encoder_config.intermediate_size, encoder_config.hidden_size",
            tower="encoder",
        ),
        Row(
            "down_proj",
            ENCODER + ".mlp.down_proj",
            "encoder_config.hidden_size, encoder_config.intermediate_size",
            tower="encoder",
        ),
        Row(
            "q_proj",
            DECODER + ".self_attention.q_proj",
            "decoder_config.num_attention_heads * decoder_config.head_dim, decoder_config.hidden_size",
            tower="decoder",
        ),
        Row(
            "k_proj",
            DECODER + ".self_attention.k_proj",
            "decoder_config.num_key_value_heads * decoder_config.head_dim if decoder_config.num_key_value_heads else decoder_config.head_dim * (decoder_config.num_hidden_layers + 5), decoder_config.hidden_size",
            tower="decoder",
        ),
        Row(
            "v_proj",
            DECODER + ".self_attention.v_proj",
            "decoder_config.num_key_value_heads * decoder_config.head_dim if decoder_config.num_key_value_heads else decoder_config.head_dim * (decoder_config.num_hidden_layers + 5), decoder_config.hidden_size",
            tower="decoder",
        ),
        Row(
            "o_proj",
            DECODER + ".self_attention.o_proj",
            "decoder_config.hidden_size, decoder_config.num_attention_heads * decoder_config.head_dim",
            tower="decoder",
        ),
        Row(
            "cross_q_proj",
            DECODER + ".cross_attention.q_proj",
            "decoder_config.cross_num_attention_heads * decoder_config.cross_head_dim, decoder_config.hidden_size",
            tower="decoder",
        ),
        Row(
            "cross_k_proj",
            DECODER + ".cross_attention.k_proj",
            "decoder_config.cross_num_key_value_heads * decoder_config.cross_head_dim, decoder_config.cross_hidden_size",
            tower="decoder",
        ),
        Row(
            "cross_v_proj",
            DECODER + ".cross_attention.v_proj",
            "decoder_config.cross_num_key_value_heads * decoder_config.cross_head_dim, decoder_config.cross_hidden_size",
            tower="decoder",
        ),
        Row(
            "cross_o_proj",
            DECODER + ".cross_attention.o_proj",
            "decoder_config.hidden_size, decoder_config.cross_num_attention_heads * decoder_config.cross_head_dim",
            tower="decoder",
        ),
        Row("pre_sa_norm", DECODER + ".pre_sa_norm", "decoder_config.hidden_size", tower="decoder"),
        Row("pre_ca_norm", DECODER + ".pre_ca_norm", "decoder_config.hidden_size", tower="decoder"),
        Row("pre_feedforward_layernorm", DECODER + ".pre_mlp_norm", "decoder_config.hidden_size", tower="decoder"),
        Row(
            "gate_up_proj",
            DECODER + ".mlp.gate_up_proj",
            "2 * decoder_config.intermediate_size, decoder_config.hidden_size",
            tower="decoder",
        ),
        Row(
            "down_proj",
            DECODER + ".mlp.down_proj",
            "decoder_config.hidden_size, decoder_config.intermediate_size",
            tower="decoder",
        ),
        Row("norm", "model.encoder.norm", "encoder_config.hidden_size", tower="encoder"),
        Row("norm", "model.decoder.norm", "decoder_config.hidden_size", tower="decoder"),
        Row(
            "logits_dense",
            "logits_dense",
            "decoder_config.num_channels * decoder_config.vocab_size, decoder_config.hidden_size",
            heads="ForConditionalGeneration",
            group="head",
        ),
    ),
    prefix="model.",
    defaults={
        "decoder_config": {
            "cross_head_dim": 128,
            "cross_hidden_size": 1024,
            "cross_num_attention_heads": 16,
            "cross_num_key_value_heads": 16,
            "head_dim": 128,
            "hidden_size": 2048,
            "intermediate_size": 8192,
            "num_attention_heads": 16,
            "num_channels": 9,
            "num_hidden_layers": 18,
            "num_key_value_heads": 4,
            "vocab_size": 1028,
        },
        "encoder_config": {
            "head_dim": 128,
            "hidden_size": 1024,
            "intermediate_size": 4096,
            "num_attention_heads": 16,
            "num_hidden_layers": 12,
            "num_key_value_heads": 16,
            "vocab_size": 256,
        },
    },
    head="ForConditionalGeneration",
)
