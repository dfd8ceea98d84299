"""Model type cosmos3_omni: vision_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

LAYER = "layers.{layer<text_config.num_hidden_layers}"
LANGUAGE_MODEL = "language_model.layers.{layer<text_config.num_hidden_layers}"

FAMILY = Family(
    name="cosmos3_omni",
    types={"cosmos3_omni": {}},
    rows=(
        Include(
            "vision_config",
            "",
            tower="vision",
            head="Model",
            default_type="qwen3_vl_vision",
            heads="ForConditionalGeneration",
        ),
        Include(
            "vision_config", "visual.", tower="vision", head="Model", default_type="qwen3_vl_vision", heads="Model"
        ),
        Row("input_layernorm", LAYER + ".input_layernorm", "text_config.hidden_size", heads="ForConditionalGeneration"),
        Row(
            "q_proj",
            LAYER + ".self_attn.to_q",
            "text_config.num_attention_heads * text_config.head_dim, text_config.hidden_size",
            bias="text_config.attention_bias",
            heads="ForConditionalGeneration",
        ),
        Row(
            "k_proj",
            LAYER + ".self_attn.to_k",
            "text_config.num_key_value_heads * text_config.head_dim, text_config.hidden_size",
            bias="text_config.attention_bias",
            heads="ForConditionalGeneration",
        ),
        Row(
            "v_proj",
            LAYER + ".self_attn.to_v",
            "text_config.num_key_value_heads * text_config.head_dim, text_config.hidden_size",
            bias="text_config.attention_bias",
            heads="ForConditionalGeneration",
        ),
        Row(
            "o_proj",
            LAYER + ".self_attn.to_out",
            "text_config.hidden_size, text_config.num_attention_heads * text_config.head_dim",
            bias="text_config.attention_bias",
            heads="ForConditionalGeneration",
        ),
        Row("norm_k", LAYER + ".self_attn.norm_k", "text_config.head_dim", heads="ForConditionalGeneration"),
        Row("norm_q", LAYER + ".self_attn.norm_q", "text_config.head_dim", heads="ForConditionalGeneration"),
        Row(
            "post_attention_layernorm",
            LAYER + ".post_attention_layernorm",
            "text_config.hidden_size",
            heads="ForConditionalGeneration",
        ),
        Row(
            "gate_proj",
            LAYER + ".mlp.gate_proj",
            "text_config.intermediate_size, text_config.hidden_size",
            heads="ForConditionalGeneration",
        ),
        Row(
            "up_proj",
            LAYER + ".mlp.up_proj",
            "text_config.intermediate_size, text_config.hidden_size",
            heads="ForConditionalGeneration",
        ),
        Row(
            "down_proj",
            LAYER + ".mlp.down_proj",
            "text_config.hidden_size, text_config.intermediate_size",
            heads="ForConditionalGeneration",
        ),
        Row(
            "language_model_input_layernorm",
            LANGUAGE_MODEL + ".input_layernorm",
            "text_config.hidden_size",
            heads="Model",
        ),
        Row(
            "mlp_down_proj",
            LANGUAGE_MODEL + ".mlp.down_proj",
            "text_config.hidden_size, text_config.intermediate_size",
            heads="Model",
        ),
        Row(
            "mlp_gate_proj",
            LANGUAGE_MODEL + ".mlp.gate_proj",
            "text_config.intermediate_size, text_config.hidden_size",
            heads="Model",
        ),
        Row(
            "mlp_up_proj",
            LANGUAGE_MODEL + ".mlp.up_proj",
            "text_config.intermediate_size, text_config.hidden_size",
            heads="Model",
        ),
        Row(
            "language_model_post_attention_layernorm",
            LANGUAGE_MODEL + ".post_attention_layernorm",
            "text_config.hidden_size",
            heads="Model",
        ),
        Row("self_attn_norm_k", LANGUAGE_MODEL + ".self_attn.norm_k", "text_config.head_dim", heads="Model"),
        Row(
            "to_k_k_proj",
            LANGUAGE_MODEL + ".self_attn.to_k",
            "text_config.num_key_value_heads * text_config.head_dim, text_config.hidden_size",
            bias="text_config.attention_bias",
            heads="Model",
        ),
        Row(
            "to_out_o_proj",
            LANGUAGE_MODEL + ".self_attn.to_out",
            "text_config.hidden_size, text_config.num_attention_heads * text_config.head_dim",
            bias="text_config.attention_bias",
            heads="Model",
        ),
        Row("self_attn_norm_q", LANGUAGE_MODEL + ".self_attn.norm_q", "text_config.head_dim", heads="Model"),
        Row(
            "to_q_q_proj",
            LANGUAGE_MODEL + ".self_attn.to_q",
            "text_config.num_attention_heads * text_config.head_dim, text_config.hidden_size",
            bias="text_config.attention_bias",
            heads="Model",
        ),
        Row(
            "to_v_v_proj",
            LANGUAGE_MODEL + ".self_attn.to_v",
            "text_config.num_key_value_heads * text_config.head_dim, text_config.hidden_size",
            bias="text_config.attention_bias",
            heads="Model",
        ),
        Row(
            "lm_head",
            "lm_head",
            "text_config.vocab_size, text_config.hidden_size",
            heads="ForConditionalGeneration",
            tied="tie_word_embeddings",
        ),
        Row(
            "embed_tokens",
            "embed_tokens",
            "text_config.vocab_size, text_config.hidden_size",
            heads="ForConditionalGeneration",
        ),
        Row("norm", "norm", "text_config.hidden_size", heads="ForConditionalGeneration"),
        Row(
            "language_model_embed_tokens",
            "language_model.embed_tokens",
            "text_config.vocab_size, text_config.hidden_size",
            heads="Model",
        ),
        Row("language_model_norm", "language_model.norm", "text_config.hidden_size", heads="Model"),
    ),
    defaults={
        "text_config": {
            "attention_bias": False,
            "head_dim": 128,
            "hidden_size": 4096,
            "intermediate_size": 22016,
            "num_attention_heads": 32,
            "num_hidden_layers": 32,
            "num_key_value_heads": 32,
            "vocab_size": 151936,
        },
        "tie_word_embeddings": False,
    },
    head="ForConditionalGeneration",
)
