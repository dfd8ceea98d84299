"""Model type pix2struct.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

ENCODER_ENCODER = "encoder.encoder.layer.{layer<vision_config.num_hidden_layers}"
DECODER = "decoder.layer.{layer<text_config.num_layers}"

FAMILY = Family(
    name="pix2struct",
    types={"pix2struct": {}},
    rows=(
        Row(
            "patch_projection",
            "encoder.embeddings.patch_projection",
            "vision_config.hidden_size, vision_config.patch_embed_hidden_size",
            bias="True",
            tower="encoder",
            group="embedding",
        ),
        Row(
            "row_embedder",
            "encoder.embeddings.row_embedder",
            "vision_config.seq_len, vision_config.hidden_size",
            tower="encoder",
        ),
        Row(
            "column_embedder",
            "encoder.embeddings.column_embedder",
            "vision_config.seq_len, vision_config.hidden_size",
            tower="encoder",
        ),
        Row("embed_tokens", "decoder.embed_tokens", "text_config.vocab_size, text_config.hidden_size", tower="decoder"),
        Row(
            "q_proj",
            ENCODER_ENCODER + ".attention.query",
            "vision_config.num_attention_heads * vision_config.d_kv, vision_config.hidden_size",
            tower="encoder",
        ),
        Row(
            "k_proj",
            ENCODER_ENCODER + ".attention.key",
            "vision_config.num_attention_heads * vision_config.d_kv, vision_config.hidden_size",
            tower="encoder",
        ),
        Row(
            "v_proj",
            ENCODER_ENCODER + ".attention.value",
            "vision_config.num_attention_heads * vision_config.d_kv, vision_config.hidden_size",
            tower="encoder",
        ),
        Row("o_proj", ENCODER_ENCODER + ".mlp.wo", "vision_config.hidden_size, vision_config.d_ff", tower="encoder"),
        Row(
            "lm_head",
            ENCODER_ENCODER + ".attention.output",
            "vision_config.hidden_size, vision_config.num_attention_heads * vision_config.d_kv",
            tower="encoder",
        ),
        Row(
            "pre_mlp_layer_norm", ENCODER_ENCODER + ".pre_mlp_layer_norm", "vision_config.hidden_size", tower="encoder"
        ),
        Row(
            "pre_attention_layer_norm",
            ENCODER_ENCODER + ".pre_attention_layer_norm",
            "vision_config.hidden_size",
            tower="encoder",
        ),
        Row(
            "gate_proj", ENCODER_ENCODER + ".mlp.wi_0", "vision_config.d_ff, vision_config.hidden_size", tower="encoder"
        ),
        Row("up_proj", ENCODER_ENCODER + ".mlp.wi_1", "vision_config.d_ff, vision_config.hidden_size", tower="encoder"),
        Row(
            "q_proj",
            DECODER + ".self_attention.attention.query",
            "text_config.hidden_size, text_config.hidden_size",
            tower="decoder",
        ),
        Row(
            "k_proj",
            DECODER + ".self_attention.attention.key",
            "text_config.hidden_size, text_config.hidden_size",
            tower="decoder",
        ),
        Row(
            "v_proj",
            DECODER + ".self_attention.attention.value",
            "text_config.hidden_size, text_config.hidden_size",
            tower="decoder",
        ),
        Row(
            "lm_head",
            DECODER + ".self_attention.attention.output",
            "text_config.hidden_size, text_config.hidden_size",
            tower="decoder",
        ),
        Row(
            "relative_attention_bias",
            DECODER + ".self_attention.attention.relative_attention_bias",
            "text_config.relative_attention_num_buckets, text_config.num_heads",
            when="layer == 0",
            tower="decoder",
        ),
        Row("layer_norm", DECODER + ".self_attention.layer_norm", "text_config.hidden_size", tower="decoder"),
        Row(
            "query_q_proj",
            DECODER + ".encoder_decoder_attention.attention.query",
            "text_config.hidden_size, text_config.hidden_size",
            tower="decoder",
        ),
        Row(
            "key_k_proj",
            DECODER + ".encoder_decoder_attention.attention.key",
            "text_config.hidden_size, text_config.hidden_size",
            tower="decoder",
        ),
        Row(
            "value_v_proj",
            DECODER + ".encoder_decoder_attention.attention.value",
            "text_config.hidden_size, text_config.hidden_size",
            tower="decoder",
        ),
        Row(
            "output_lm_head",
            DECODER + ".encoder_decoder_attention.attention.output",
            "text_config.hidden_size, text_config.hidden_size",
            tower="decoder",
        ),
        Row(
            "encoder_decoder_attention_layer_norm",
            DECODER + ".encoder_decoder_attention.layer_norm",
            "text_config.hidden_size",
            tower="decoder",
        ),
        Row("mlp_layer_norm", DECODER + ".mlp.layer_norm", "text_config.hidden_size", tower="decoder"),
        Row(
            "gate_proj",
            DECODER + ".mlp.DenseReluDense.wi_0",
            "text_config.d_ff, text_config.hidden_size",
            tower="decoder",
        ),
        Row(
            "up_proj",
            DECODER + ".mlp.DenseReluDense.wi_1",
            "text_config.d_ff, text_config.hidden_size",
            tower="decoder",
        ),
        Row(
            "down_proj",
            DECODER + ".mlp.DenseReluDense.wo",
            "text_config.hidden_size, text_config.d_ff",
            tower="decoder",
        ),
        Row("layernorm", "encoder.layernorm", "vision_config.hidden_size", tower="encoder"),
        Row("norm", "decoder.final_layer_norm", "text_config.hidden_size", tower="decoder"),
        Row(
            "lm_head",
            "decoder.lm_head",
            "text_config.vocab_size, text_config.hidden_size",
            tied="tie_word_embeddings",
            tower="decoder",
        ),
    ),
    defaults={
        "text_config": {
            "d_ff": 2048,
            "hidden_size": 768,
            "num_heads": 12,
            "num_layers": 12,
            "relative_attention_num_buckets": 32,
            "tie_word_embeddings": False,
            "vocab_size": 50244,
        },
        "vision_config": {
            "d_ff": 2048,
            "d_kv": 64,
            "hidden_size": 768,
            "num_attention_heads": 12,
            "num_hidden_layers": 12,
            "patch_embed_hidden_size": 768,
            "seq_len": 4096,
        },
    },
    head="ForConditionalGeneration",
)
