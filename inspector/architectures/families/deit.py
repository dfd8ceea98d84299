"""Model type deit.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "deit.encoder.layer.{layer<num_hidden_layers}"

FAMILY = Family(
    name="deit",
    types={"deit": {}},
    rows=(
        Row("embed_class", "deit.embeddings.cls_token", "1, 1, hidden_size", leaf=""),
        Row(
            "distillation_token", "deit.embeddings.distillation_token", "1, 1, hidden_size", leaf="", group="embedding"
        ),
        Row(
            "embed_patches",
            "deit.embeddings.patch_embeddings.projection",
            "hidden_size, num_channels, patch_size, patch_size",
            bias="True",
        ),
        Row(
            "embed_positions",
            "deit.embeddings.position_embeddings",
            "1, (image_size // patch_size) ** 2 + 2, hidden_size",
            leaf="",
        ),
        Row("input_layernorm", LAYER + ".layernorm_before", "hidden_size", bias="True"),
        Row(
            "q_proj",
            LAYER + ".attention.attention.query",
            "num_attention_heads * head_dim, hidden_size",
            bias="qkv_bias",
        ),
        Row(
            "k_proj", LAYER + ".attention.attention.key", "num_attention_heads * head_dim, hidden_size", bias="qkv_bias"
        ),
        Row(
            "v_proj",
            LAYER + ".attention.attention.value",
            "num_attention_heads * head_dim, hidden_size",
            bias="qkv_bias",
        ),
        Row("o_proj", LAYER + ".attention.output.dense", "hidden_size, num_attention_heads * head_dim", bias="True"),
        Row("post_attention_layernorm", LAYER + ".layernorm_after", "hidden_size", bias="True"),
        Row("up_proj", LAYER + ".intermediate.dense", "intermediate_size, hidden_size", bias="True"),
        Row("down_proj", LAYER + ".output.dense", "hidden_size, intermediate_size", bias="True"),
        Row("layernorm", "deit.layernorm", "hidden_size", bias="True"),
        Row("pooler", "deit.pooler.dense", "pooler_output_size, hidden_size", bias="True", heads="Model"),
        Row(
            "cls_classifier",
            "cls_classifier",
            "num_labels, hidden_size",
            bias="True",
            heads="ForImageClassificationWithTeacher",
        ),
        Row(
            "distillation_classifier",
            "distillation_classifier",
            "num_labels, hidden_size",
            bias="True",
            heads="ForImageClassificationWithTeacher",
        ),
        Row("classifier", "classifier", "num_labels, hidden_size", bias="True", heads="ForImageClassification"),
    ),
    prefix="deit.",
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
    derived={"pooler_output_size": "hidden_size", "head_dim": "hidden_size // num_attention_heads"},
    head="Model",
)
