"""Model type hiera.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

ENCODER_STAGES = "hiera.encoder.stages.{layer<len(depths)}"
ENCODER_STAGES_ = "hiera.encoder.stages.{layer<len(depths)}.layers.{sublayer<depths[layer]}"

FAMILY = Family(
    name="hiera",
    types={"hiera": {}},
    rows=(
        Row(
            "embed_positions",
            "hiera.embeddings.position_embeddings",
            "1, image_size[0] // patch_stride[0] * (image_size[1] // patch_stride[1]), embed_dim",
            leaf="",
        ),
        Row(
            "embed_patches",
            "hiera.embeddings.patch_embeddings.projection",
            "embed_dim, num_channels, patch_size[0], patch_size[1]",
            bias="True",
        ),
        Row(
            "input_layernorm",
            ENCODER_STAGES_ + ".layernorm_before",
            "int(embed_dim * embed_dim_multiplier ** layer) if sublayer > 0 or layer == 0 else int(embed_dim * embed_dim_multiplier ** (layer - 1))",
            bias="True",
        ),
        Row(
            "qkv_proj",
            ENCODER_STAGES_ + ".attn.qkv",
            "3 * int(embed_dim * embed_dim_multiplier ** layer), int(embed_dim * embed_dim_multiplier ** layer) if sublayer > 0 or layer == 0 else int(embed_dim * embed_dim_multiplier ** (layer - 1))",
            bias="True",
        ),
        Row(
            "o_proj",
            ENCODER_STAGES_ + ".attn.proj",
            "int(embed_dim * embed_dim_multiplier ** layer), int(embed_dim * embed_dim_multiplier ** layer)",
            bias="True",
        ),
        Row(
            "proj",
            ENCODER_STAGES_ + ".proj",
            "int(embed_dim * embed_dim_multiplier ** layer), int(embed_dim * embed_dim_multiplier ** (layer - 1))",
            bias="True",
            when="layer > 0 and sublayer == 0",
        ),
        Row(
            "post_attention_layernorm",
            ENCODER_STAGES_ + ".layernorm_after",
            "int(embed_dim * embed_dim_multiplier ** layer)",
            bias="True",
        ),
        Row(
            "up_proj",
            ENCODER_STAGES_ + ".mlp.fc1",
            "scaled(int(embed_dim * embed_dim_multiplier ** layer), mlp_ratio), int(embed_dim * embed_dim_multiplier ** layer)",
            bias="True",
        ),
        Row(
            "down_proj",
            ENCODER_STAGES_ + ".mlp.fc2",
            "int(embed_dim * embed_dim_multiplier ** layer), scaled(int(embed_dim * embed_dim_multiplier ** layer), mlp_ratio)",
            bias="True",
        ),
        Row(
            "layernorm",
            "hiera.pooler.layernorm",
            "int(embed_dim * embed_dim_multiplier ** (len(depths) - 1))",
            bias="True",
        ),
        Row(
            "classifier",
            "classifier",
            "num_labels, int(embed_dim * embed_dim_multiplier ** (len(depths) - 1))",
            bias="True",
            heads="ForImageClassification",
        ),
    ),
    prefix="hiera.",
    defaults={
        "depths": [2, 3, 16, 3],
        "embed_dim": 96,
        "embed_dim_multiplier": 2.0,
        "image_size": [224, 224],
        "mlp_ratio": 4.0,
        "num_channels": 3,
        "patch_size": [7, 7],
        "patch_stride": [4, 4],
    },
    head="Model",
)
