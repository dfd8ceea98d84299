"""DINOv2: a vision transformer with scaled layers, and a gated feed-forward where asked for."""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "dinov2.encoder.layer.{layer<num_hidden_layers}"

FAMILY = Family(
    name="dinov2",
    types={"dinov2": {}},
    rows=(
        Row("embed_class", "dinov2.embeddings.cls_token", "1, 1, hidden_size", leaf=""),
        Row(
            "mask_token",
            "dinov2.embeddings.mask_token",
            "1, hidden_size",
            when="use_mask_token",
            leaf="",
            group="embedding",
        ),
        Row(
            "embed_patches",
            "dinov2.embeddings.patch_embeddings.projection",
            "hidden_size, num_channels, patch_size, patch_size",
            bias="True",
        ),
        Row(
            "embed_positions",
            "dinov2.embeddings.position_embeddings",
            "1, (image_size // patch_size) ** 2 + 1, hidden_size",
            leaf="",
        ),
        Row("input_layernorm", LAYER + ".norm1", "hidden_size", bias="True"),
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
        Row("lambda1", LAYER + ".layer_scale1.lambda1", "hidden_size", leaf=""),
        Row("layer_scale2_lambda1", LAYER + ".layer_scale2.lambda1", "hidden_size", leaf=""),
        Row(
            "weights_out",
            LAYER + ".mlp.weights_out",
            "hidden_size, ceil_to(2 * hidden_size * mlp_ratio // 3, 8)",
            bias="True",
            when="use_swiglu_ffn",
            group="feed_forward",
        ),
        Row(
            "weights_in",
            LAYER + ".mlp.weights_in",
            "2 * ceil_to(2 * hidden_size * mlp_ratio // 3, 8), hidden_size",
            bias="True",
            when="use_swiglu_ffn",
            group="feed_forward",
        ),
        Row("post_attention_layernorm", LAYER + ".norm2", "hidden_size", bias="True"),
        Row(
            "up_proj",
            LAYER + ".mlp.fc1",
            "hidden_size * mlp_ratio, hidden_size",
            bias="True",
            when="not use_swiglu_ffn",
        ),
        Row(
            "down_proj",
            LAYER + ".mlp.fc2",
            "hidden_size, hidden_size * mlp_ratio",
            bias="True",
            when="not use_swiglu_ffn",
        ),
        Row("layernorm", "dinov2.layernorm", "hidden_size", bias="True"),
        Row("classifier", "classifier", "num_labels, 2 * hidden_size", bias="True", heads="ForImageClassification"),
    ),
    prefix="dinov2.",
    defaults={
        "hidden_size": 768,
        "image_size": 224,
        "mlp_ratio": 4,
        "num_attention_heads": 12,
        "num_channels": 3,
        "num_hidden_layers": 12,
        "patch_size": 14,
        "qkv_bias": True,
        "use_mask_token": True,
        "use_swiglu_ffn": False,
    },
    derived={"head_dim": "hidden_size // num_attention_heads"},
    head="Model",
)
