"""InternViT, the vision tower of InternVL's chat models, whose code comes with their checkpoints."""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "encoder.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="intern_vit",
    types={"intern_vit_6b": {}},
    rows=(
        Row("cls_token", "embeddings.class_embedding", "1, 1, hidden_size", leaf=""),
        Row(
            "embed_patches",
            "embeddings.patch_embedding",
            "hidden_size, num_channels, patch_size, patch_size",
            bias="True",
        ),
        Row(
            "position_embedding",
            "embeddings.position_embedding",
            "1, (image_size // patch_size) ** 2 + 1, hidden_size",
            leaf="",
        ),
        Row("input_layernorm", LAYER + ".norm1", "hidden_size", bias="norm_type == 'layer_norm'"),
        Row("qkv_proj", LAYER + ".attn.qkv", "3 * hidden_size, hidden_size", bias="qkv_bias"),
        Row("q_norm", LAYER + ".attn.q_norm", "hidden_size", when="qk_normalization"),
        Row("k_norm", LAYER + ".attn.k_norm", "hidden_size", when="qk_normalization"),
        Row("o_proj", LAYER + ".attn.proj", "hidden_size, hidden_size", bias="True"),
        Row("layer_scale_1", LAYER + ".ls1", "hidden_size", leaf=""),
        Row("post_attention_layernorm", LAYER + ".norm2", "hidden_size", bias="norm_type == 'layer_norm'"),
        Row("up_proj", LAYER + ".mlp.fc1", "intermediate_size, hidden_size", bias="True"),
        Row("down_proj", LAYER + ".mlp.fc2", "hidden_size, intermediate_size", bias="True"),
        Row("layer_scale_2", LAYER + ".ls2", "hidden_size", leaf=""),
    ),
    head="Model",
    defaults={
        "hidden_size": 3200,
        "image_size": 224,
        "intermediate_size": 12800,
        "norm_type": "rms_norm",
        "num_channels": 3,
        "num_hidden_layers": 48,
        "patch_size": 14,
        "qk_normalization": True,
        "qkv_bias": False,
    },
)
