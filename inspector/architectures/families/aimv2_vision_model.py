"""Model type aimv2_vision_model.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "encoder.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="aimv2_vision_model",
    types={"aimv2_vision_model": {}},
    rows=(
        Row("patch_embed", "embeddings.patch_embed", "hidden_size, num_channels, patch_size, patch_size", bias="True"),
        Row("rms_norm", "embeddings.rms_norm", "hidden_size"),
        Row("embed_class", "head.cls_token", "1, 1, hidden_size", when="use_head", leaf=""),
        Row(
            "position_embedding",
            "embeddings.position_embedding",
            "(image_size // patch_size) ** 2, hidden_size",
            when="not is_native",
        ),
        Row("q_proj", LAYER + ".attention.q_proj", "hidden_size, hidden_size", bias="qkv_bias"),
        Row("k_proj", LAYER + ".attention.k_proj", "hidden_size, hidden_size", bias="qkv_bias"),
        Row("v_proj", LAYER + ".attention.v_proj", "hidden_size, hidden_size", bias="qkv_bias"),
        Row("o_proj", LAYER + ".attention.out_proj", "hidden_size, hidden_size", bias="qkv_bias"),
        Row("rms_norm1", LAYER + ".rms_norm1", "hidden_size"),
        Row("rms_norm2", LAYER + ".rms_norm2", "hidden_size"),
        Row("gate_proj", LAYER + ".ffn.gate_proj", "intermediate_size, hidden_size", bias="mlp_bias"),
        Row("up_proj", LAYER + ".ffn.up_proj", "intermediate_size, hidden_size", bias="mlp_bias"),
        Row("down_proj", LAYER + ".ffn.down_proj", "hidden_size, intermediate_size", bias="mlp_bias"),
        Row("rms_norm_22", "rms_norm", "hidden_size"),
        Row("k_proj", "head.k_proj", "hidden_size, hidden_size", bias="qkv_bias", when="use_head"),
        Row("v_proj", "head.v_proj", "hidden_size, hidden_size", bias="qkv_bias", when="use_head"),
        Row("output_proj", "head.output_proj", "hidden_size, hidden_size", bias="True", when="use_head", group="head"),
    ),
    defaults={
        "hidden_size": 1024,
        "image_size": 224,
        "intermediate_size": 2816,
        "is_native": False,
        "mlp_bias": False,
        "num_channels": 3,
        "num_hidden_layers": 24,
        "patch_size": 14,
        "qkv_bias": False,
        "use_head": True,
    },
    head="Model",
)
