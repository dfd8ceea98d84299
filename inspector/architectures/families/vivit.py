"""Model type vivit.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

ENCODER = "encoder.layer.{layer<num_hidden_layers}"
VIVIT_ENCODER = "vivit.encoder.layer.{layer<num_hidden_layers}"

FAMILY = Family(
    name="vivit",
    types={"vivit": {}},
    rows=(
        Row("input_layernorm", ENCODER + ".layernorm_before", "hidden_size", bias="True", heads="Model"),
        Row(
            "q_proj",
            ENCODER + ".attention.attention.query",
            "num_attention_heads * hidden_size // num_attention_heads, hidden_size",
            bias="qkv_bias",
            heads="Model",
        ),
        Row(
            "k_proj",
            ENCODER + ".attention.attention.key",
            "num_attention_heads * hidden_size // num_attention_heads, hidden_size",
            bias="qkv_bias",
            heads="Model",
        ),
        Row(
            "v_proj",
            ENCODER + ".attention.attention.value",
            "num_attention_heads * hidden_size // num_attention_heads, hidden_size",
            bias="qkv_bias",
            heads="Model",
        ),
        Row(
            "o_proj",
            ENCODER + ".attention.output.dense",
            "hidden_size, num_attention_heads * hidden_size // num_attention_heads",
            bias="True",
            heads="Model",
        ),
        Row("post_attention_layernorm", ENCODER + ".layernorm_after", "hidden_size", bias="True", heads="Model"),
        Row("up_proj", ENCODER + ".intermediate.dense", "intermediate_size, hidden_size", bias="True", heads="Model"),
        Row("down_proj", ENCODER + ".output.dense", "hidden_size, intermediate_size", bias="True", heads="Model"),
        Row(
            "key_k_proj",
            VIVIT_ENCODER + ".attention.attention.key",
            "hidden_size, hidden_size",
            bias="True",
            heads="ForVideoClassification",
        ),
        Row(
            "dense_o_proj",
            VIVIT_ENCODER + ".attention.output.dense",
            "hidden_size, hidden_size",
            bias="True",
            heads="ForVideoClassification",
        ),
        Row(
            "query_q_proj",
            VIVIT_ENCODER + ".attention.attention.query",
            "hidden_size, hidden_size",
            bias="True",
            heads="ForVideoClassification",
        ),
        Row(
            "value_v_proj",
            VIVIT_ENCODER + ".attention.attention.value",
            "hidden_size, hidden_size",
            bias="True",
            heads="ForVideoClassification",
        ),
        Row(
            "layernorm_after_post_attention_layernorm",
            VIVIT_ENCODER + ".layernorm_after",
            "hidden_size",
            bias="True",
            heads="ForVideoClassification",
        ),
        Row(
            "layernorm_before_input_layernorm",
            VIVIT_ENCODER + ".layernorm_before",
            "hidden_size",
            bias="True",
            heads="ForVideoClassification",
        ),
        Row(
            "dense_up_proj",
            VIVIT_ENCODER + ".intermediate.dense",
            "intermediate_size, hidden_size",
            bias="True",
            heads="ForVideoClassification",
        ),
        Row(
            "dense_down_proj",
            VIVIT_ENCODER + ".output.dense",
            "hidden_size, intermediate_size",
            bias="True",
            heads="ForVideoClassification",
        ),
        Row("embed_class", "embeddings.cls_token", "1, 1, hidden_size", heads="Model", leaf=""),
        Row(
            "embed_patches",
            "embeddings.patch_embeddings.projection",
            "hidden_size, num_channels, tubelet_size[0], tubelet_size[-1], tubelet_size[-1]",
            bias="True",
            heads="Model",
        ),
        Row("embed_positions", "embeddings.position_embeddings", "1, 1301, hidden_size", heads="Model", leaf=""),
        Row("layernorm", "layernorm", "hidden_size", bias="True", heads="Model"),
        Row("pooler", "pooler.dense", "pooler_output_size, hidden_size", bias="True", heads="Model"),
        Row("classifier", "classifier", "num_labels, hidden_size", bias="True", heads="ForVideoClassification"),
        Row(
            "cls_token_embed_class",
            "vivit.embeddings.cls_token",
            "1, 1, hidden_size",
            heads="ForVideoClassification",
            leaf="",
        ),
        Row(
            "projection_embed_patches",
            "vivit.embeddings.patch_embeddings.projection",
            "hidden_size, num_channels, 2, 16, 16",
            bias="True",
            heads="ForVideoClassification",
        ),
        Row(
            "position_embeddings_embed_positions",
            "vivit.embeddings.position_embeddings",
            "1, 3137, hidden_size",
            heads="ForVideoClassification",
            leaf="",
        ),
        Row("vivit_layernorm", "vivit.layernorm", "hidden_size", bias="True", heads="ForVideoClassification"),
    ),
    defaults={
        "hidden_size": 768,
        "intermediate_size": 3072,
        "num_attention_heads": 12,
        "num_channels": 3,
        "num_hidden_layers": 12,
        "qkv_bias": True,
        "tubelet_size": [2, 16, 16],
    },
    derived={"head_dim": "hidden_size // num_attention_heads", "pooler_output_size": "hidden_size"},
    head="Model",
)
