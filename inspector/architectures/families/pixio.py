"""Model type pixio.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "encoder.layer.{layer<num_hidden_layers}"

FAMILY = Family(
    name="pixio",
    types={"pixio": {}},
    rows=(
        Row("embed_class", "embeddings.cls_token", "1, n_cls_tokens, hidden_size", leaf=""),
        Row(
            "embed_patches",
            "embeddings.patch_embeddings.projection",
            "hidden_size, num_channels, patch_size, patch_size",
            bias="True",
        ),
        Row(
            "embed_positions",
            "embeddings.position_embeddings",
            "1, n_cls_tokens + (image_size // patch_size) ** 2, hidden_size",
            leaf="",
        ),
        Row("input_layernorm", LAYER + ".norm1", "hidden_size", bias="True"),
        Row(
            "q_proj",
            LAYER + ".attention.attention.query",
            "num_attention_heads * (hidden_size // num_attention_heads), hidden_size",
            bias="qkv_bias",
        ),
        Row(
            "k_proj",
            LAYER + ".attention.attention.key",
            "num_attention_heads * (hidden_size // num_attention_heads), hidden_size",
            bias="qkv_bias",
        ),
        Row(
            "v_proj",
            LAYER + ".attention.attention.value",
            "num_attention_heads * (hidden_size // num_attention_heads), hidden_size",
            bias="qkv_bias",
        ),
        Row(
            "o_proj",
            LAYER + ".attention.output.dense",
            "hidden_size, num_attention_heads * (hidden_size // num_attention_heads)",
            bias="True",
        ),
        Row("post_attention_layernorm", LAYER + ".norm2", "hidden_size", bias="True"),
        Row("up_proj", LAYER + ".intermediate.dense", "hidden_size * mlp_ratio, hidden_size", bias="True"),
        Row("down_proj", LAYER + ".output.dense", "hidden_size, hidden_size * mlp_ratio", bias="True"),
        Row("layernorm", "layernorm", "hidden_size", bias="True"),
    ),
    derived={"head_dim": "hidden_size // num_attention_heads"},
    defaults={
        "hidden_size": 1280,
        "image_size": 256,
        "mlp_ratio": 4,
        "n_cls_tokens": 8,
        "num_attention_heads": 16,
        "num_channels": 3,
        "num_hidden_layers": 32,
        "patch_size": 16,
        "qkv_bias": True,
    },
    head="Model",
)
