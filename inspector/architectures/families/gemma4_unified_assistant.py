"""Model type gemma4_unified_assistant: text_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

LAYER = "model.layers.{layer<text_config.num_hidden_layers}"

FAMILY = Family(
    name="gemma4_unified_assistant",
    types={"gemma4_unified_assistant": {}},
    rows=(
        Include("text_config", "", head="body", default_type="gemma4_unified_text", without="k_norm"),
        Row(
            "centroids",
            "masked_embedding.centroids",
            "num_centroids, text_config.hidden_size",
            when="use_ordered_embeddings",
            group="embedding",
        ),
        Row(
            "self_attn_q_proj",
            LAYER + ".self_attn.q_proj",
            "text_config.num_attention_heads * (4 * text_config.sliding_window - 4 * num_centroids) if text_config.layer_types[layer] == 'full_attention' else text_config.num_attention_heads * text_config.head_dim, text_config.hidden_size",
            bias="text_config.attention_bias",
        ),
        Row(
            "self_attn_k_proj",
            LAYER + ".self_attn.k_proj",
            "text_config.num_key_value_heads * (4 * text_config.sliding_window - 4 * num_centroids) if text_config.layer_types[layer] == 'full_attention' else text_config.num_key_value_heads * text_config.head_dim, text_config.hidden_size",
            bias="text_config.attention_bias",
            when="layer < text_config.num_hidden_layers - text_config.num_kv_shared_layers",
        ),
        Row(
            "self_attn_v_proj",
            LAYER + ".self_attn.v_proj",
            "192, text_config.hidden_size",
            bias="text_config.attention_bias",
            when="not (layer >= text_config.num_hidden_layers - text_config.num_kv_shared_layers or text_config.attention_k_eq_v and text_config.layer_types[layer] == 'full_attention')",
        ),
        Row(
            "self_attn_o_proj",
            LAYER + ".self_attn.o_proj",
            "text_config.hidden_size, text_config.num_attention_heads * (4 * text_config.sliding_window - 4 * num_centroids) if text_config.layer_types[layer] == 'full_attention' else text_config.num_attention_heads * text_config.head_dim",
            bias="text_config.attention_bias",
        ),
        Row(
            "k_norm",
            LAYER + ".self_attn.k_norm",
            "512 if text_config.layer_types[layer] == 'full_attention' else text_config.head_dim",
            when="layer < text_config.num_hidden_layers - text_config.num_kv_shared_layers",
        ),
        Row("pre_projection", "pre_projection", "text_config.hidden_size, 2 * backbone_hidden_size"),
        Row("post_projection", "post_projection", "backbone_hidden_size, text_config.hidden_size"),
        Row("lm_head_45", "lm_head", "text_config.vocab_size, text_config.hidden_size", tied="tie_word_embeddings"),
        Row(
            "token_ordering",
            "masked_embedding.token_ordering",
            "text_config.vocab_size",
            when="use_ordered_embeddings",
            leaf="",
            buffer=True,
            persistent=True,
        ),
    ),
    prefix="model.",
    defaults={
        "backbone_hidden_size": 3840,
        "num_centroids": 2048,
        "text_config": {
            "attention_bias": True,
            "attention_k_eq_v": False,
            "head_dim": 96,
            "hidden_size": 160,
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
            "num_attention_heads": 4,
            "num_hidden_layers": 30,
            "num_key_value_heads": 2,
            "num_kv_shared_layers": 2,
            "sliding_window": 232,
            "vocab_size": 499,
        },
        "tie_word_embeddings": True,
        "use_ordered_embeddings": False,
    },
)
