"""Model type videomt.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "layers.{layer<num_hidden_layers}"
UPSCALE_BLOCK_BLOCK = "upscale_block.block.{layer<num_upscale_blocks}"

FAMILY = Family(
    name="videomt",
    types={"videomt": {}},
    rows=(
        Row("embed_class", "embeddings.cls_token", "1, 1, hidden_size", leaf=""),
        Row(
            "register_tokens",
            "embeddings.register_tokens",
            "1, num_register_tokens, hidden_size",
            leaf="",
            group="embedding",
        ),
        Row("mask_token", "embeddings.mask_token", "1, 1, hidden_size", leaf="", group="embedding"),
        Row(
            "embed_patches",
            "embeddings.patch_embeddings.projection",
            "hidden_size, num_channels, patch_size, patch_size",
            bias="True",
        ),
        Row("embed_positions", "embeddings.position_embeddings", "(image_size // patch_size) ** 2, hidden_size"),
        Row("input_layernorm", LAYER + ".norm1", "hidden_size", bias="True"),
        Row("q_proj", LAYER + ".attention.q_proj", "hidden_size, hidden_size", bias="True"),
        Row("k_proj", LAYER + ".attention.k_proj", "hidden_size, hidden_size", bias="True"),
        Row("v_proj", LAYER + ".attention.v_proj", "hidden_size, hidden_size", bias="True"),
        Row("o_proj", LAYER + ".attention.out_proj", "hidden_size, hidden_size", bias="True"),
        Row("lambda1", LAYER + ".layer_scale1.lambda1", "hidden_size", leaf=""),
        Row("layer_scale2_lambda1", LAYER + ".layer_scale2.lambda1", "hidden_size", leaf=""),
        Row(
            "fc1_up_proj",
            LAYER + ".mlp.fc1",
            "hidden_size * mlp_ratio, hidden_size",
            bias="True",
            when="not use_swiglu_ffn",
        ),
        Row(
            "fc2_down_proj",
            LAYER + ".mlp.fc2",
            "hidden_size, hidden_size * mlp_ratio",
            bias="True",
            when="not use_swiglu_ffn",
        ),
        Row("post_attention_layernorm", LAYER + ".norm2", "hidden_size", bias="True"),
        Row("gate_proj", LAYER + ".mlp.gate_proj", "256, hidden_size", bias="True", when="use_swiglu_ffn"),
        Row("up_proj", LAYER + ".mlp.up_proj", "256, hidden_size", bias="True", when="use_swiglu_ffn"),
        Row("down_proj", LAYER + ".mlp.down_proj", "hidden_size, 256", bias="True", when="use_swiglu_ffn"),
        Row("embed_patches", UPSCALE_BLOCK_BLOCK + ".conv1", "hidden_size, hidden_size, 2, 2", bias="True"),
        Row("conv2", UPSCALE_BLOCK_BLOCK + ".conv2", "hidden_size, 1, 3, 3"),
        Row("layernorm2d", UPSCALE_BLOCK_BLOCK + ".layernorm2d", "hidden_size", bias="True"),
        Row("layernorm", "layernorm", "hidden_size", bias="True"),
        Row("q_proj", "query", "num_queries, hidden_size"),
        Row("up_proj", "mask_head.fc1", "hidden_size, hidden_size", bias="True"),
        Row("down_proj", "mask_head.fc2", "hidden_size, hidden_size", bias="True"),
        Row("fc3", "mask_head.fc3", "hidden_size, hidden_size", bias="True", group="feed_forward"),
        Row("class_predictor", "class_predictor", "num_labels + 1, hidden_size", bias="True", group="head"),
        Row("query_updater", "query_updater", "hidden_size, hidden_size", bias="True"),
        Row("attn_mask_probs", "attn_mask_probs", "num_blocks", leaf="", buffer=True, persistent=True),
        Row("empty_weight", "criterion.empty_weight", "num_labels + 1", leaf="", buffer=True, persistent=True),
    ),
    defaults={
        "hidden_size": 1024,
        "image_size": 640,
        "mlp_ratio": 4,
        "num_blocks": 4,
        "num_channels": 3,
        "num_hidden_layers": 24,
        "num_queries": 200,
        "num_register_tokens": 4,
        "num_upscale_blocks": 2,
        "patch_size": 16,
        "use_swiglu_ffn": False,
    },
    head="ForUniversalSegmentation",
)
