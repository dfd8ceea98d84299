"""Model type udop.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

ENCODER_BLOCK = "encoder.block.{layer<num_layers}"
ENCODER_BLOCK_ = "encoder.block.{layer<num_layers}.layer.{sublayer<2}"
DECODER_BLOCK = "decoder.block.{layer<num_decoder_layers}"
DECODER_BLOCK_ = "decoder.block.{layer<num_decoder_layers}.layer.{sublayer<3}"

FAMILY = Family(
    name="udop",
    types={"udop": {}},
    rows=(
        Row("embed_tokens", "shared", "vocab_size, d_model"),
        Row("embed_patches", "patch_embed.proj", "d_model, num_channels, patch_size, patch_size", bias="True"),
        Row(
            "x_position_embeddings",
            "encoder.cell_2d_embedding.x_position_embeddings",
            "max_2d_position_embeddings, d_model",
            tower="encoder",
        ),
        Row(
            "y_position_embeddings",
            "encoder.cell_2d_embedding.y_position_embeddings",
            "max_2d_position_embeddings, d_model",
            tower="encoder",
        ),
        Row(
            "proj",
            "encoder.embed_patches.proj",
            "d_model, 0, patch_size, patch_size",
            when="not num_channels",
            tower="encoder",
            group="embedding",
        ),
        Row(
            "proj",
            "decoder.embed_patches.proj",
            "d_model, num_channels, patch_size, patch_size",
            bias="True",
            tower="decoder",
            group="embedding",
        ),
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
        Row("up_proj", ENCODER_BLOCK_ + ".DenseReluDense.wi", "d_ff, d_model", when="sublayer > 0", tower="encoder"),
        Row("down_proj", ENCODER_BLOCK_ + ".DenseReluDense.wo", "d_model, d_ff", when="sublayer > 0", tower="encoder"),
        Row(
            "relative_attention_bias",
            "encoder.relative_bias.biases.{layer<3}.relative_attention_bias",
            "32 if layer > 0 else relative_attention_num_buckets, num_heads",
            when="layer > 0 or not num_heads",
            heads="ForConditionalGeneration",
            tower="encoder",
        ),
        Row(
            "relative_attention_bias",
            "encoder.relative_bias.biases.{layer<3}.relative_attention_bias",
            "32, num_heads",
            heads="Model",
            tower="encoder",
        ),
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
        Row("up_proj", DECODER_BLOCK_ + ".DenseReluDense.wi", "d_ff, d_model", when="sublayer > 1", tower="decoder"),
        Row("down_proj", DECODER_BLOCK_ + ".DenseReluDense.wo", "d_model, d_ff", when="sublayer > 1", tower="decoder"),
        Row(
            "relative_attention_bias",
            "decoder.relative_bias.biases.{layer<3}.relative_attention_bias",
            "32 if layer > 0 else relative_attention_num_buckets, num_heads",
            when="layer > 0 or not num_heads",
            heads="ForConditionalGeneration",
            tower="decoder",
        ),
        Row(
            "relative_attention_bias",
            "decoder.relative_bias.biases.{layer<3}.relative_attention_bias",
            "32, num_heads",
            heads="Model",
            tower="decoder",
        ),
        Row("norm", "encoder.final_layer_norm", "d_model", tower="encoder"),
        Row("norm", "decoder.final_layer_norm", "d_model", tower="decoder"),
    ),
    defaults={
        "d_ff": 4096,
        "d_kv": 64,
        "d_model": 1024,
        "max_2d_position_embeddings": 1024,
        "num_channels": 3,
        "num_heads": 16,
        "num_layers": 24,
        "patch_size": 16,
        "relative_attention_num_buckets": 32,
        "vocab_size": 33201,
    },
    derived={"num_decoder_layers": "num_layers"},
    fields={"hidden_size": "d_model", "num_attention_heads": "num_heads", "num_hidden_layers": "num_layers"},
    head="ForConditionalGeneration",
)
