"""BEiT: a vision transformer with places relative to each other."""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "beit.encoder.layer.{layer<num_hidden_layers}"

#: All but the backbone.
NORMED = "body Model ForImageClassification ForMaskedImageModeling ForSemanticSegmentation"

FAMILY = Family(
    name="beit",
    types={"beit": {}},
    rows=(
        Row("embed_class", "beit.embeddings.cls_token", "1, 1, hidden_size", leaf=""),
        Row(
            "embed_patches",
            "beit.embeddings.patch_embeddings.projection",
            "hidden_size, num_channels, patch_size, patch_size",
            bias="True",
        ),
        Row(
            "embed_positions",
            "beit.embeddings.position_embeddings",
            "1, (image_size // patch_size) ** 2 + 1, hidden_size",
            when="use_absolute_position_embeddings",
            leaf="",
        ),
        Row(
            "mask_token",
            "beit.embeddings.mask_token",
            "1, 1, hidden_size",
            when="use_mask_token",
            leaf="",
            group="embedding",
        ),
        Row("input_layernorm", LAYER + ".layernorm_before", "hidden_size", bias="True"),
        Row("q_proj", LAYER + ".attention.attention.query", "num_attention_heads * head_dim, hidden_size", bias="True"),
        Row("k_proj", LAYER + ".attention.attention.key", "num_attention_heads * head_dim, hidden_size"),
        Row("v_proj", LAYER + ".attention.attention.value", "num_attention_heads * head_dim, hidden_size", bias="True"),
        Row("o_proj", LAYER + ".attention.output.dense", "hidden_size, num_attention_heads * head_dim", bias="True"),
        Row("lambda_1", LAYER + ".lambda_1", "hidden_size", leaf=""),
        Row("lambda_2", LAYER + ".lambda_2", "hidden_size", leaf=""),
        Row(
            "relative_position_bias_table",
            LAYER + ".attention.attention.relative_position_bias.relative_position_bias_table",
            "(2 * (image_size // patch_size) - 1) ** 2 + 3, num_attention_heads",
            when="use_relative_position_bias",
            leaf="",
            group="attention",
        ),
        Row("post_attention_layernorm", LAYER + ".layernorm_after", "hidden_size", bias="True"),
        Row("up_proj", LAYER + ".intermediate.dense", "intermediate_size, hidden_size", bias="True"),
        Row("down_proj", LAYER + ".output.dense", "hidden_size, intermediate_size", bias="True"),
        Row("layernorm", "beit.pooler.layernorm", "hidden_size", bias="True", when="use_mean_pooling", heads=NORMED),
        Row("beit_layernorm", "beit.layernorm", "hidden_size", bias="True", when="not use_mean_pooling", heads=NORMED),
        Row(
            "relative_position_bias_table",
            "beit.encoder.relative_position_bias.relative_position_bias_table",
            "(2 * (image_size // patch_size) - 1) ** 2 + 3, num_attention_heads",
            when="use_shared_relative_position_bias",
            leaf="",
        ),
        Row("classifier", "classifier", "num_labels, hidden_size", bias="True", heads="ForImageClassification"),
    ),
    prefix="beit.",
    defaults={
        "hidden_size": 768,
        "image_size": 224,
        "intermediate_size": 3072,
        "num_attention_heads": 12,
        "num_channels": 3,
        "num_hidden_layers": 12,
        "patch_size": 16,
        "use_absolute_position_embeddings": False,
        "use_mask_token": False,
        "use_mean_pooling": True,
        "use_relative_position_bias": False,
        "use_shared_relative_position_bias": False,
    },
    derived={"head_dim": "hidden_size // num_attention_heads"},
    head="Model",
)
