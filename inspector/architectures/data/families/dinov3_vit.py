"""DINOv3's vision transformer."""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "layer.{layer<num_hidden_layers}"

FAMILY = Family(
    name="dinov3_vit",
    types={"dinov3_vit": {}},
    rows=(
        Row("embed_class", "embeddings.cls_token", "1, 1, hidden_size", leaf=""),
        Row("mask_token", "embeddings.mask_token", "1, 1, hidden_size", leaf="", group="embedding"),
        Row(
            "patch_embeddings",
            "embeddings.patch_embeddings",
            "hidden_size, num_channels, patch_size, patch_size",
            bias="True",
        ),
        Row(
            "register_tokens",
            "embeddings.register_tokens",
            "1, num_register_tokens, hidden_size",
            leaf="",
            group="embedding",
        ),
        Row("input_layernorm", LAYER + ".norm1", "hidden_size", bias="True"),
        Row("q_proj", LAYER + ".attention.q_proj", "hidden_size, hidden_size", bias="query_bias"),
        Row("k_proj", LAYER + ".attention.k_proj", "hidden_size, hidden_size", bias="key_bias"),
        Row("v_proj", LAYER + ".attention.v_proj", "hidden_size, hidden_size", bias="value_bias"),
        Row("o_proj", LAYER + ".attention.o_proj", "hidden_size, hidden_size", bias="proj_bias"),
        Row("lambda1", LAYER + ".layer_scale1.lambda1", "hidden_size", leaf=""),
        Row("layer_scale2_lambda1", LAYER + ".layer_scale2.lambda1", "hidden_size", leaf=""),
        Row("post_attention_layernorm", LAYER + ".norm2", "hidden_size", bias="True"),
        Row(
            "gate_proj",
            LAYER + ".mlp.gate_proj",
            "intermediate_size, hidden_size",
            bias="mlp_bias",
            when="use_gated_mlp",
        ),
        Row("up_proj", LAYER + ".mlp.up_proj", "intermediate_size, hidden_size", bias="mlp_bias"),
        Row("down_proj", LAYER + ".mlp.down_proj", "hidden_size, intermediate_size", bias="mlp_bias"),
        Row("norm", "norm", "hidden_size", bias="True"),
    ),
    defaults={
        "hidden_size": 384,
        "intermediate_size": 1536,
        "key_bias": False,
        "mlp_bias": True,
        "num_channels": 3,
        "num_hidden_layers": 12,
        "num_register_tokens": 0,
        "patch_size": 16,
        "proj_bias": True,
        "query_bias": True,
        "use_gated_mlp": False,
        "value_bias": True,
    },
    head="Model",
)
