"""Model type swin2sr.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

ENCODER_STAGES = "encoder.stages.{layer<depths[0]}"
ENCODER_STAGES_ = "encoder.stages.{layer<depths[0]}.layers.{sublayer<depths[0]}"

FAMILY = Family(
    name="swin2sr",
    types={"swin2sr": {}},
    rows=(
        Row(
            "embed_patches",
            "embeddings.patch_embeddings.projection",
            "embed_dim, embed_dim, patch_size, patch_size",
            bias="True",
        ),
        Row("layernorm", "embeddings.patch_embeddings.layernorm", "embed_dim", bias="True"),
        Row("input_layernorm", ENCODER_STAGES_ + ".layernorm_before", "embed_dim", bias="True"),
        Row(
            "q_proj",
            ENCODER_STAGES_ + ".attention.self.query",
            "num_heads[layer] * (embed_dim // num_heads[layer]), num_heads[layer] * (embed_dim // num_heads[layer])",
            bias="True",
        ),
        Row(
            "k_proj",
            ENCODER_STAGES_ + ".attention.self.key",
            "num_heads[layer] * (embed_dim // num_heads[layer]), num_heads[layer] * (embed_dim // num_heads[layer])",
        ),
        Row(
            "v_proj",
            ENCODER_STAGES_ + ".attention.self.value",
            "num_heads[layer] * (embed_dim // num_heads[layer]), num_heads[layer] * (embed_dim // num_heads[layer])",
            bias="True",
        ),
        Row("o_proj", ENCODER_STAGES_ + ".attention.output.dense", "embed_dim, embed_dim", bias="True"),
        Row(
            "logit_scale",
            ENCODER_STAGES_ + ".attention.self.logit_scale",
            "num_heads[layer], 1, 1",
            leaf="",
            group="head",
        ),
        Row(
            "continuous_position_bias_mlp",
            ENCODER_STAGES_ + ".attention.self.continuous_position_bias_mlp.0",
            "512, 2",
            bias="True",
            group="attention",
        ),
        Row(
            "continuous_position_bias_mlp",
            ENCODER_STAGES_ + ".attention.self.continuous_position_bias_mlp.2",
            "num_heads[layer], 512",
            group="attention",
        ),
        Row("conv", ENCODER_STAGES + ".conv", "embed_dim, embed_dim, 3, 3", bias="True"),
        Row(
            "projection",
            ENCODER_STAGES + ".patch_embed.projection",
            "embed_dim, embed_dim, patch_size, patch_size",
            bias="True",
            group="embedding",
        ),
        Row("post_attention_layernorm", ENCODER_STAGES_ + ".layernorm_after", "embed_dim", bias="True"),
        Row("up_proj", ENCODER_STAGES_ + ".intermediate.dense", "scaled(embed_dim, mlp_ratio), embed_dim", bias="True"),
        Row("down_proj", ENCODER_STAGES_ + ".output.dense", "embed_dim, scaled(embed_dim, mlp_ratio)", bias="True"),
        Row("first_convolution", "first_convolution", "embed_dim, num_channels, 3, 3", bias="True"),
        Row("layernorm_29", "layernorm", "embed_dim", bias="True"),
        Row("conv_after_body", "conv_after_body", "embed_dim, embed_dim, 3, 3", bias="True"),
    ),
    defaults={
        "depths": [6, 6, 6, 6, 6, 6],
        "embed_dim": 180,
        "mlp_ratio": 2.0,
        "num_channels": 3,
        "num_heads": [6, 6, 6, 6, 6, 6],
        "patch_size": 1,
    },
    fields={"hidden_size": "embed_dim", "num_attention_heads": "num_heads"},
    head="Model",
)
