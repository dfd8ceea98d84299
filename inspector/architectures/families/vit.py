"""Model type vit.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

ENCODER = "encoder.layer.{layer<num_hidden_layers}"
VIT_ENCODER = "vit.encoder.layer.{layer<num_hidden_layers}"

FAMILY = Family(
    name="vit",
    types={"vit": {}},
    rows=(
        Row("input_layernorm", ENCODER + ".layernorm_before", "hidden_size", bias="True", heads="Model"),
        Row(
            "q_proj",
            ENCODER + ".attention.attention.query",
            "num_attention_heads * (hidden_size // num_attention_heads), hidden_size",
            bias="qkv_bias",
            heads="Model",
        ),
        Row(
            "k_proj",
            ENCODER + ".attention.attention.key",
            "num_attention_heads * (hidden_size // num_attention_heads), hidden_size",
            bias="qkv_bias",
            heads="Model",
        ),
        Row(
            "v_proj",
            ENCODER + ".attention.attention.value",
            "num_attention_heads * (hidden_size // num_attention_heads), hidden_size",
            bias="qkv_bias",
            heads="Model",
        ),
        Row(
            "o_proj",
            ENCODER + ".attention.output.dense",
            "hidden_size, num_attention_heads * (hidden_size // num_attention_heads)",
            bias="True",
            heads="Model",
        ),
        Row("post_attention_layernorm", ENCODER + ".layernorm_after", "hidden_size", bias="True", heads="Model"),
        Row("up_proj", ENCODER + ".intermediate.dense", "intermediate_size, hidden_size", bias="True", heads="Model"),
        Row("down_proj", ENCODER + ".output.dense", "hidden_size, intermediate_size", bias="True", heads="Model"),
        Row(
            "key_k_proj",
            VIT_ENCODER + ".attention.attention.key",
            "hidden_size, hidden_size",
            bias="True",
            heads="ForImageClassification",
        ),
        Row(
            "dense_o_proj",
            VIT_ENCODER + ".attention.output.dense",
            "hidden_size, hidden_size",
            bias="True",
            heads="ForImageClassification",
        ),
        Row(
            "query_q_proj",
            VIT_ENCODER + ".attention.attention.query",
            "hidden_size, hidden_size",
            bias="True",
            heads="ForImageClassification",
        ),
        Row(
            "value_v_proj",
            VIT_ENCODER + ".attention.attention.value",
            "hidden_size, hidden_size",
            bias="True",
            heads="ForImageClassification",
        ),
        Row(
            "layernorm_after_post_attention_layernorm",
            VIT_ENCODER + ".layernorm_after",
            "hidden_size",
            bias="True",
            heads="ForImageClassification",
        ),
        Row(
            "layernorm_before_input_layernorm",
            VIT_ENCODER + ".layernorm_before",
            "hidden_size",
            bias="True",
            heads="ForImageClassification",
        ),
        Row(
            "dense_up_proj",
            VIT_ENCODER + ".intermediate.dense",
            "intermediate_size, hidden_size",
            bias="True",
            heads="ForImageClassification",
        ),
        Row(
            "dense_down_proj",
            VIT_ENCODER + ".output.dense",
            "hidden_size, intermediate_size",
            bias="True",
            heads="ForImageClassification",
        ),
        Row("embed_class", "embeddings.cls_token", "1, 1, hidden_size", heads="Model", leaf=""),
        Row(
            "embed_patches",
            "embeddings.patch_embeddings.projection",
            "hidden_size, num_channels, patch_size, patch_size",
            bias="True",
            heads="Model",
        ),
        Row(
            "embed_positions",
            "embeddings.position_embeddings",
            "1, (image_size // patch_size) ** 2 + 1, hidden_size",
            heads="Model",
            leaf="",
        ),
        Row("layernorm", "layernorm", "hidden_size", bias="True", heads="Model"),
        Row("pooler", "pooler.dense", "pooler_output_size, hidden_size", bias="True", heads="Model"),
        Row("classifier", "classifier", "num_labels, hidden_size", bias="True", heads="ForImageClassification"),
        Row(
            "cls_token_embed_class",
            "vit.embeddings.cls_token",
            "1, 1, hidden_size",
            heads="ForImageClassification",
            leaf="",
        ),
        Row(
            "projection_embed_patches",
            "vit.embeddings.patch_embeddings.projection",
            "hidden_size, num_channels, patch_size, patch_size",
            bias="True",
            heads="ForImageClassification",
        ),
        Row(
            "position_embeddings_embed_positions",
            "vit.embeddings.position_embeddings",
            "1, (image_size // patch_size) ** 2 + 1, hidden_size",
            heads="ForImageClassification",
            leaf="",
        ),
        Row("vit_layernorm", "vit.layernorm", "hidden_size", bias="True", heads="ForImageClassification"),
    ),
    defaults={
        "hidden_size": 768,
        "image_size": 224,
        "intermediate_size": 3072,
        "num_attention_heads": 12,
        "num_channels": 3,
        "num_hidden_layers": 12,
        "patch_size": 16,
        "qkv_bias": True,
    },
    derived={"head_dim": "hidden_size // num_attention_heads", "pooler_output_size": "hidden_size"},
    head="Model",
)
