"""TIPSv2's vision tower, DINOv2's under the names of its authors."""

from __future__ import annotations

from inspector.architectures.table import Family, Row

#: The width of a gated feed-forward: two thirds of a plain one's, in whole eights.
GATED = "ceil_to(2 * scaled(hidden_size, mlp_ratio) // 3, 8)"
LAYER = "blocks.{layer<num_hidden_layers}"

FAMILY = Family(
    name="tipsv2_vision_model",
    types={"tipsv2_vision_model": {}},
    rows=(
        Row("embed_class", "cls_token", "1, 1, hidden_size", leaf=""),
        Row("embed_patches", "patch_embed.proj", "hidden_size, num_channels, patch_size, patch_size", bias="True"),
        Row("embed_positions", "pos_embed", "1, (image_size // patch_size) ** 2 + 1, hidden_size", leaf=""),
        Row("input_layernorm", LAYER + ".norm1", "hidden_size", bias="True"),
        Row(
            "qkv_proj",
            LAYER + ".attn.qkv",
            "3 * num_attention_heads * (hidden_size // num_attention_heads), hidden_size",
            bias="qkv_bias",
        ),
        Row(
            "o_proj",
            LAYER + ".attn.proj",
            "hidden_size, num_attention_heads * (hidden_size // num_attention_heads)",
            bias="True",
        ),
        Row("gamma", LAYER + ".ls1.gamma", "hidden_size", leaf=""),
        Row("ls2_gamma", LAYER + ".ls2.gamma", "hidden_size", leaf=""),
        Row(
            "down_proj",
            LAYER + ".mlp.w3",
            f"hidden_size, {GATED}",
            bias="True",
            when="use_swiglu_ffn",
        ),
        Row(
            "gate_up_proj",
            LAYER + ".mlp.w12",
            f"2 * {GATED}, hidden_size",
            bias="True",
            when="use_swiglu_ffn",
        ),
        Row("post_attention_layernorm", LAYER + ".norm2", "hidden_size", bias="True"),
        Row(
            "up_proj",
            LAYER + ".mlp.c_fc",
            "scaled(hidden_size, mlp_ratio), hidden_size",
            bias="True",
            when="not use_swiglu_ffn",
        ),
        Row(
            "down_proj",
            LAYER + ".mlp.c_proj",
            "hidden_size, scaled(hidden_size, mlp_ratio)",
            bias="True",
            when="not use_swiglu_ffn",
        ),
        Row("mask_token", "mask_token", "1, hidden_size", leaf="", group="embedding"),
        Row("register_tokens", "register_tokens", "1, num_register_tokens, hidden_size", leaf="", group="convolution"),
        Row("norm", "norm", "hidden_size", bias="True"),
    ),
    defaults={
        "hidden_size": 768,
        "image_size": 448,
        "mlp_ratio": 4,
        "num_attention_heads": 12,
        "num_channels": 3,
        "num_hidden_layers": 12,
        "num_register_tokens": 1,
        "patch_size": 14,
        "qkv_bias": True,
        "use_swiglu_ffn": False,
    },
    head="Model",
)
