"""Model type granite_docling: vision_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

LAYER = "model.text_model.layers.{layer<text_config.num_hidden_layers}"

FAMILY = Family(
    name="granite_docling",
    types={"granite_docling": {}},
    rows=(
        Include(
            "vision_config", "model.vision_model.", tower="vision", head="Model", default_type="granite_docling_vision"
        ),
        Row("embed_tokens", "model.text_model.embed_tokens", "text_config.vocab_size, text_config.hidden_size"),
        Row("input_layernorm", LAYER + ".input_layernorm", "text_config.hidden_size"),
        Row(
            "q_proj",
            LAYER + ".self_attn.q_proj",
            "1024, text_config.hidden_size",
            bias="text_config.attention_bias",
            heads="ForConditionalGeneration",
        ),
        Row(
            "q_proj",
            LAYER + ".self_attn.q_proj",
            "text_config.hidden_size if text_config.tie_word_embeddings else text_config.num_attention_heads * text_config.hidden_size // text_config.num_attention_heads, text_config.hidden_size",
            bias="text_config.attention_bias",
            heads="Model",
        ),
        Row(
            "k_proj",
            LAYER + ".self_attn.k_proj",
            "512, text_config.hidden_size",
            bias="text_config.attention_bias",
            heads="ForConditionalGeneration",
        ),
        Row(
            "k_proj",
            LAYER + ".self_attn.k_proj",
            "256, text_config.hidden_size",
            bias="text_config.attention_bias",
            heads="Model",
        ),
        Row(
            "v_proj",
            LAYER + ".self_attn.v_proj",
            "512, text_config.hidden_size",
            bias="text_config.attention_bias",
            heads="ForConditionalGeneration",
        ),
        Row(
            "v_proj",
            LAYER + ".self_attn.v_proj",
            "256, text_config.hidden_size",
            bias="text_config.attention_bias",
            heads="Model",
        ),
        Row(
            "o_proj",
            LAYER + ".self_attn.o_proj",
            "text_config.hidden_size, 1024",
            bias="text_config.attention_bias",
            heads="ForConditionalGeneration",
        ),
        Row(
            "o_proj",
            LAYER + ".self_attn.o_proj",
            "text_config.hidden_size, text_config.hidden_size if text_config.tie_word_embeddings else text_config.num_attention_heads * text_config.hidden_size // text_config.num_attention_heads",
            bias="text_config.attention_bias",
            heads="Model",
        ),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "text_config.hidden_size"),
        Row(
            "gate_proj",
            LAYER + ".mlp.gate_proj",
            "text_config.intermediate_size, text_config.hidden_size",
            bias="text_config.mlp_bias",
        ),
        Row(
            "up_proj",
            LAYER + ".mlp.up_proj",
            "text_config.intermediate_size, text_config.hidden_size",
            bias="text_config.mlp_bias",
        ),
        Row(
            "down_proj",
            LAYER + ".mlp.down_proj",
            "text_config.hidden_size, text_config.intermediate_size",
            bias="text_config.mlp_bias",
        ),
        Row("norm", "model.text_model.norm", "text_config.hidden_size"),
        Row(
            "att",
            "model.density_router.att",
            "1, vision_config.hidden_size",
            bias="True",
            when="density_router_hidden_size is not None",
            group="router",
        ),
        Row(
            "density_router_norm",
            "model.density_router.norm",
            "vision_config.hidden_size",
            bias="True",
            when="density_router_hidden_size is not None",
        ),
        Row(
            "up_proj",
            "model.density_router.fc1",
            "density_router_hidden_size, vision_config.hidden_size",
            bias="True",
            when="density_router_hidden_size is not None",
        ),
        Row(
            "down_proj",
            "model.density_router.fc2",
            "1, density_router_hidden_size",
            bias="True",
            when="density_router_hidden_size is not None",
        ),
        Row(
            "lm_head",
            "lm_head",
            "text_config.vocab_size, text_config.hidden_size",
            heads="ForConditionalGeneration",
            tied="tie_word_embeddings",
        ),
    ),
    prefix="model.",
    defaults={
        "density_router_hidden_size": None,
        "text_config": {
            "attention_bias": False,
            "hidden_size": 1024,
            "intermediate_size": 2048,
            "mlp_bias": False,
            "num_attention_heads": 16,
            "num_hidden_layers": 28,
            "tie_word_embeddings": True,
            "vocab_size": 133800,
        },
        "tie_word_embeddings": True,
        "vision_config": {"hidden_size": 768},
    },
    head="ForConditionalGeneration",
)
