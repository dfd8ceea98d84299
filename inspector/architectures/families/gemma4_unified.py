"""Model type gemma4_unified: text_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

LAYER = "model.language_model.layers.{layer<text_config.num_hidden_layers}"

FAMILY = Family(
    name="gemma4_unified",
    types={"gemma4_unified": {}},
    rows=(
        Include(
            "text_config", "model.language_model.", strip="model.", head="body", default_type="gemma4_unified_text"
        ),
        Row(
            "self_attn_k_proj",
            LAYER + ".self_attn.k_proj",
            "192, text_config.hidden_size",
            bias="text_config.attention_bias",
            heads="ForConditionalGeneration",
        ),
        Row("self_attn_k_proj", LAYER + ".self_attn.k_proj", "1024, text_config.hidden_size", heads="Model"),
        Row(
            "self_attn_o_proj",
            LAYER + ".self_attn.o_proj",
            "text_config.hidden_size, 384",
            bias="text_config.attention_bias",
            heads="ForConditionalGeneration",
        ),
        Row("self_attn_o_proj", LAYER + ".self_attn.o_proj", "text_config.hidden_size, 2048", heads="Model"),
        Row(
            "self_attn_q_proj",
            LAYER + ".self_attn.q_proj",
            "384, text_config.hidden_size",
            bias="text_config.attention_bias",
            heads="ForConditionalGeneration",
        ),
        Row("self_attn_q_proj", LAYER + ".self_attn.q_proj", "2048, text_config.hidden_size", heads="Model"),
        Row(
            "self_attn_v_proj",
            LAYER + ".self_attn.v_proj",
            "192, text_config.hidden_size",
            bias="text_config.attention_bias",
            when="text_config.layer_types[layer] == 'sliding_attention' or not text_config.attention_k_eq_v",
            heads="ForConditionalGeneration",
        ),
        Row("self_attn_v_proj", LAYER + ".self_attn.v_proj", "1024, text_config.hidden_size", heads="Model"),
        Row(
            "lm_head_41",
            "lm_head",
            "text_config.vocab_size, text_config.hidden_size",
            heads="ForConditionalGeneration",
            tied="tie_word_embeddings",
        ),
    ),
    prefix="model.",
    defaults={
        "text_config": {
            "attention_bias": False,
            "attention_k_eq_v": False,
            "hidden_size": 2304,
            "layer_types": [
                "sliding_attention",
                "sliding_attention",
                "sliding_attention",
                "sliding_attention",
                "sliding_attention",
                "full_attention",
                "sliding_attention",
                "sliding_attention",
                "sliding_attention",
                "sliding_attention",
                "sliding_attention",
                "full_attention",
                "sliding_attention",
                "sliding_attention",
                "sliding_attention",
                "sliding_attention",
                "sliding_attention",
                "full_attention",
                "sliding_attention",
                "sliding_attention",
                "sliding_attention",
                "sliding_attention",
                "sliding_attention",
                "full_attention",
                "sliding_attention",
                "sliding_attention",
                "sliding_attention",
                "sliding_attention",
                "sliding_attention",
                "full_attention",
            ],
            "num_hidden_layers": 30,
            "vocab_size": 262144,
        },
        "tie_word_embeddings": True,
    },
    head="ForConditionalGeneration",
)
