"""Model type t5gemma.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

ENCODER = "model.encoder.layers.{layer<encoder.num_hidden_layers}"
DECODER = "model.decoder.layers.{layer<decoder.num_hidden_layers}"

FAMILY = Family(
    name="t5gemma",
    types={"t5gemma": {}},
    rows=(
        Row("embed_tokens", "model.encoder.embed_tokens", "encoder.vocab_size, encoder.hidden_size", tower="encoder"),
        Row("embed_tokens", "model.decoder.embed_tokens", "decoder.vocab_size, decoder.hidden_size", tower="decoder"),
        Row(
            "q_proj",
            ENCODER + ".self_attn.q_proj",
            "encoder.num_attention_heads * encoder.head_dim, encoder.hidden_size",
            bias="encoder.attention_bias",
            tower="encoder",
        ),
        Row(
            "k_proj",
            ENCODER + ".self_attn.k_proj",
            "encoder.num_key_value_heads * encoder.head_dim, encoder.hidden_size",
            bias="encoder.attention_bias",
            tower="encoder",
        ),
        Row(
            "v_proj",
            ENCODER + ".self_attn.v_proj",
            "encoder.num_key_value_heads * encoder.head_dim, encoder.hidden_size",
            bias="encoder.attention_bias",
            tower="encoder",
        ),
        Row(
            "o_proj",
            ENCODER + ".self_attn.o_proj",
            "encoder.hidden_size, encoder.num_attention_heads * encoder.head_dim",
            bias="encoder.attention_bias",
            tower="encoder",
        ),
        Row("pre_self_attn_layernorm", ENCODER + ".pre_self_attn_layernorm", "encoder.hidden_size", tower="encoder"),
        Row("post_self_attn_layernorm", ENCODER + ".post_self_attn_layernorm", "encoder.hidden_size", tower="encoder"),
        Row(
            "pre_feedforward_layernorm", ENCODER + ".pre_feedforward_layernorm", "encoder.hidden_size", tower="encoder"
        ),
        Row("gate_proj", ENCODER + ".mlp.gate_proj", "encoder.intermediate_size, encoder.hidden_size", tower="encoder"),
        Row("up_proj", ENCODER + ".mlp.up_proj", "encoder.intermediate_size, encoder.hidden_size", tower="encoder"),
        Row("down_proj", ENCODER + ".mlp.down_proj", "encoder.hidden_size, encoder.intermediate_size", tower="encoder"),
        Row(
            "post_feedforward_layernorm",
            ENCODER + ".post_feedforward_layernorm",
            "encoder.hidden_size",
            tower="encoder",
        ),
        Row(
            "q_proj",
            DECODER + ".self_attn.q_proj",
            "decoder.num_attention_heads * decoder.head_dim, decoder.hidden_size",
            bias="decoder.attention_bias",
            tower="decoder",
        ),
        Row(
            "k_proj",
            DECODER + ".self_attn.k_proj",
            "decoder.num_key_value_heads * decoder.head_dim, decoder.hidden_size",
            bias="decoder.attention_bias",
            tower="decoder",
        ),
        Row(
            "v_proj",
            DECODER + ".self_attn.v_proj",
            "decoder.num_key_value_heads * decoder.head_dim, decoder.hidden_size",
            bias="decoder.attention_bias",
            tower="decoder",
        ),
        Row(
            "o_proj",
            DECODER + ".self_attn.o_proj",
            "decoder.hidden_size, decoder.num_attention_heads * decoder.head_dim",
            bias="decoder.attention_bias",
            tower="decoder",
        ),
        Row("pre_self_attn_layernorm", DECODER + ".pre_self_attn_layernorm", "decoder.hidden_size", tower="decoder"),
        Row("post_self_attn_layernorm", DECODER + ".post_self_attn_layernorm", "decoder.hidden_size", tower="decoder"),
        Row(
            "cross_q_proj",
            DECODER + ".cross_attn.q_proj",
            "decoder.num_attention_heads * decoder.head_dim, decoder.hidden_size",
            bias="decoder.attention_bias",
            tower="decoder",
        ),
        Row(
            "cross_k_proj",
            DECODER + ".cross_attn.k_proj",
            "decoder.num_key_value_heads * decoder.head_dim, encoder.hidden_size",
            bias="decoder.attention_bias",
            tower="decoder",
        ),
        Row(
            "cross_v_proj",
            DECODER + ".cross_attn.v_proj",
            "decoder.num_key_value_heads * decoder.head_dim, encoder.hidden_size",
            bias="decoder.attention_bias",
            tower="decoder",
        ),
        Row(
            "cross_o_proj",
            DECODER + ".cross_attn.o_proj",
            "decoder.hidden_size, decoder.num_attention_heads * decoder.head_dim",
            bias="decoder.attention_bias",
            tower="decoder",
        ),
        Row("pre_cross_attn_layernorm", DECODER + ".pre_cross_attn_layernorm", "decoder.hidden_size", tower="decoder"),
        Row(
            "post_cross_attn_layernorm", DECODER + ".post_cross_attn_layernorm", "decoder.hidden_size", tower="decoder"
        ),
        Row(
            "pre_feedforward_layernorm", DECODER + ".pre_feedforward_layernorm", "decoder.hidden_size", tower="decoder"
        ),
        Row("gate_proj", DECODER + ".mlp.gate_proj", "decoder.intermediate_size, decoder.hidden_size", tower="decoder"),
        Row("up_proj", DECODER + ".mlp.up_proj", "decoder.intermediate_size, decoder.hidden_size", tower="decoder"),
        Row("down_proj", DECODER + ".mlp.down_proj", "decoder.hidden_size, decoder.intermediate_size", tower="decoder"),
        Row(
            "post_feedforward_layernorm",
            DECODER + ".post_feedforward_layernorm",
            "decoder.hidden_size",
            tower="decoder",
        ),
        Row("norm", "model.encoder.norm", "encoder.hidden_size", tower="encoder"),
        Row("norm", "model.decoder.norm", "decoder.hidden_size", tower="decoder"),
        Row(
            "out_proj",
            "lm_head.out_proj",
            "decoder.vocab_size, decoder.hidden_size",
            heads="ForConditionalGeneration",
            tied="tie_word_embeddings",
        ),
        Row(
            "score_out_proj",
            "score.out_proj",
            "num_labels, decoder.hidden_size",
            bias="True",
            heads="ForSequenceClassification ForTokenClassification",
            group="state_space",
        ),
    ),
    prefix="model.",
    defaults={
        "decoder": {
            "attention_bias": False,
            "head_dim": 256,
            "hidden_size": 2304,
            "intermediate_size": 9216,
            "num_attention_heads": 8,
            "num_hidden_layers": 26,
            "num_key_value_heads": 4,
            "vocab_size": 256000,
        },
        "encoder": {
            "attention_bias": False,
            "head_dim": 256,
            "hidden_size": 2304,
            "intermediate_size": 9216,
            "num_attention_heads": 8,
            "num_hidden_layers": 26,
            "num_key_value_heads": 4,
            "vocab_size": 256000,
        },
        "tie_word_embeddings": True,
    },
    head="ForConditionalGeneration",
)
