"""Model type pop2piano.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

ENCODER_BLOCK = "encoder.block.{layer<num_layers}"
ENCODER_BLOCK_ = "encoder.block.{layer<num_layers}.layer.{sublayer<2}"
DECODER_BLOCK = "decoder.block.{layer<num_decoder_layers}"
DECODER_BLOCK_ = "decoder.block.{layer<num_decoder_layers}.layer.{sublayer<3}"

FAMILY = Family(
    name="pop2piano",
    types={"pop2piano": {}},
    rows=(
        Row("embed_tokens", "shared", "vocab_size, d_model"),
        Row("embedding", "mel_conditioner.embedding", "composer_vocab_size, d_model"),
        Row(
            "q_proj",
            ENCODER_BLOCK_ + ".SelfAttention.q",
            "num_heads * d_kv, d_model",
            when="sublayer == 0",
            tower="encoder",
        ),
        Row(
            "k_proj",
            ENCODER_BLOCK_ + ".SelfAttention.k",
            "num_heads * d_kv, d_model",
            when="sublayer == 0",
            tower="encoder",
        ),
        Row(
            "v_proj",
            ENCODER_BLOCK_ + ".SelfAttention.v",
            "num_heads * d_kv, d_model",
            when="sublayer == 0",
            tower="encoder",
        ),
        Row(
            "o_proj",
            ENCODER_BLOCK_ + ".SelfAttention.o",
            "d_model, num_heads * d_kv",
            when="sublayer == 0",
            tower="encoder",
        ),
        Row(
            "relative_attention_bias",
            ENCODER_BLOCK_ + ".SelfAttention.relative_attention_bias",
            "relative_attention_num_buckets, num_heads",
            when="layer == 0 and sublayer == 0",
            tower="encoder",
        ),
        Row("layer_norm", ENCODER_BLOCK_ + ".layer_norm", "d_model", tower="encoder"),
        Row(
            "gate_proj", ENCODER_BLOCK_ + ".DenseReluDense.wi_0", "d_ff, d_model", when="sublayer > 0", tower="encoder"
        ),
        Row("up_proj", ENCODER_BLOCK_ + ".DenseReluDense.wi_1", "d_ff, d_model", when="sublayer > 0", tower="encoder"),
        Row("down_proj", ENCODER_BLOCK_ + ".DenseReluDense.wo", "d_model, d_ff", when="sublayer > 0", tower="encoder"),
        Row(
            "q_proj",
            DECODER_BLOCK_ + ".SelfAttention.q",
            "num_heads * d_kv, d_model",
            when="sublayer == 0",
            tower="decoder",
        ),
        Row(
            "k_proj",
            DECODER_BLOCK_ + ".SelfAttention.k",
            "num_heads * d_kv, d_model",
            when="sublayer == 0",
            tower="decoder",
        ),
        Row(
            "v_proj",
            DECODER_BLOCK_ + ".SelfAttention.v",
            "num_heads * d_kv, d_model",
            when="sublayer == 0",
            tower="decoder",
        ),
        Row(
            "o_proj",
            DECODER_BLOCK_ + ".SelfAttention.o",
            "d_model, num_heads * d_kv",
            when="sublayer == 0",
            tower="decoder",
        ),
        Row(
            "relative_attention_bias",
            DECODER_BLOCK_ + ".SelfAttention.relative_attention_bias",
            "relative_attention_num_buckets, num_heads",
            when="layer == 0 and sublayer == 0",
            tower="decoder",
        ),
        Row("layer_norm", DECODER_BLOCK_ + ".layer_norm", "d_model", tower="decoder"),
        Row(
            "cross_q_proj",
            DECODER_BLOCK_ + ".EncDecAttention.q",
            "num_heads * d_kv, d_model",
            when="sublayer == 1",
            tower="decoder",
        ),
        Row(
            "cross_k_proj",
            DECODER_BLOCK_ + ".EncDecAttention.k",
            "num_heads * d_kv, d_model",
            when="sublayer == 1",
            tower="decoder",
        ),
        Row(
            "cross_v_proj",
            DECODER_BLOCK_ + ".EncDecAttention.v",
            "num_heads * d_kv, d_model",
            when="sublayer == 1",
            tower="decoder",
        ),
        Row(
            "cross_o_proj",
            DECODER_BLOCK_ + ".EncDecAttention.o",
            "d_model, num_heads * d_kv",
            when="sublayer == 1",
            tower="decoder",
        ),
        Row(
            "gate_proj", DECODER_BLOCK_ + ".DenseReluDense.wi_0", "d_ff, d_model", when="sublayer > 1", tower="decoder"
        ),
        Row("up_proj", DECODER_BLOCK_ + ".DenseReluDense.wi_1", "d_ff, d_model", when="sublayer > 1", tower="decoder"),
        Row("down_proj", DECODER_BLOCK_ + ".DenseReluDense.wo", "d_model, d_ff", when="sublayer > 1", tower="decoder"),
        Row("lm_head", "lm_head", "vocab_size, d_model"),
        Row("norm", "encoder.final_layer_norm", "d_model", tower="encoder"),
        Row("norm", "decoder.final_layer_norm", "d_model", tower="decoder"),
    ),
    defaults={
        "composer_vocab_size": 21,
        "d_ff": 2048,
        "d_kv": 64,
        "d_model": 512,
        "num_heads": 8,
        "num_layers": 6,
        "relative_attention_num_buckets": 32,
        "vocab_size": 2400,
    },
    derived={"num_decoder_layers": "num_layers"},
    fields={"num_hidden_layers": "num_layers", "hidden_size": "d_model", "num_attention_heads": "num_heads"},
    head="ForConditionalGeneration",
)
