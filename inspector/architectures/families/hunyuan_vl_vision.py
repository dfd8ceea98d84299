"""Model type hunyuan_vl_vision.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="hunyuan_vl_vision",
    types={"hunyuan_vl_vision": {}},
    rows=(
        Row(
            "embed_patches",
            "embeddings.patch_embedding",
            "hidden_size, num_channels, patch_size, patch_size",
            bias="True",
        ),
        Row(
            "position_embedding",
            "embeddings.position_embedding",
            "(max_image_size // patch_size) ** 2 + 1, hidden_size",
        ),
        Row("input_layernorm", LAYER + ".layer_norm1", "hidden_size", bias="True"),
        Row("q_proj", LAYER + ".self_attn.q_proj", "num_attention_heads * head_dim, hidden_size", bias="True"),
        Row("k_proj", LAYER + ".self_attn.k_proj", "num_attention_heads * head_dim, hidden_size", bias="True"),
        Row("v_proj", LAYER + ".self_attn.v_proj", "num_attention_heads * head_dim, hidden_size", bias="True"),
        Row("o_proj", LAYER + ".self_attn.o_proj", "hidden_size, num_attention_heads * head_dim", bias="True"),
        Row("post_attention_layernorm", LAYER + ".layer_norm2", "hidden_size", bias="True"),
        Row("up_proj", LAYER + ".mlp.fc1", "intermediate_size, hidden_size", bias="True"),
        Row("down_proj", LAYER + ".mlp.fc2", "hidden_size, intermediate_size", bias="True"),
        Row("image_newline", "patch_merger.image_newline", "4 * hidden_size", leaf=""),
        Row("image_begin", "patch_merger.image_begin", "text_hidden_size", leaf=""),
        Row("image_end", "patch_merger.image_end", "text_hidden_size", leaf=""),
        Row("image_sep", "patch_merger.image_sep", "text_hidden_size", leaf=""),
        Row(
            "proj_conv",
            "patch_merger.proj_conv",
            "2 * hidden_size, hidden_size, spatial_merge_size, spatial_merge_size",
            bias="True",
        ),
        Row(
            "proj_out",
            "patch_merger.proj_out",
            "4 * hidden_size, 2 * hidden_size, 1, 1",
            bias="True",
            group="convolution",
        ),
        Row("mlp", "patch_merger.mlp", "text_hidden_size, 4 * hidden_size", bias="True"),
        Row("before_rms", "patch_merger.before_rms", "hidden_size", group="norm"),
        Row("after_rms", "patch_merger.after_rms", "text_hidden_size", group="norm"),
    ),
    classes={"HunYuanVLVisionTransformer": "HunYuanVLVisionTransformer"},
    defaults={
        "hidden_size": 1152,
        "intermediate_size": 4304,
        "max_image_size": 2048,
        "num_attention_heads": 16,
        "num_channels": 3,
        "num_hidden_layers": 27,
        "patch_size": 16,
        "spatial_merge_size": 2,
        "text_hidden_size": 3072,
    },
    derived={"head_dim": "hidden_size // num_attention_heads"},
    fields={"attention_heads": "num_attention_heads"},
    head="HunYuanVLVisionTransformer",
)
