"""Model types minicpm_ocr_vision, minicpmv4_7_vision.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "encoder.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="minicpm_ocr_vision",
    types={"minicpm_ocr_vision": {}, "minicpmv4_7_vision": {}},
    rows=(
        Row(
            "embed_patches",
            "embeddings.patch_embedding",
            "hidden_size, num_channels, patch_size, patch_size",
            bias="True",
        ),
        Row("position_embedding", "embeddings.position_embedding", "(image_size // patch_size) ** 2, hidden_size"),
        Row("input_layernorm", LAYER + ".layer_norm1", "hidden_size", bias="True"),
        Row("q_proj", LAYER + ".self_attn.q_proj", "hidden_size, hidden_size", bias="True"),
        Row("k_proj", LAYER + ".self_attn.k_proj", "hidden_size, hidden_size", bias="True"),
        Row("v_proj", LAYER + ".self_attn.v_proj", "hidden_size, hidden_size", bias="True"),
        Row("o_proj", LAYER + ".self_attn.out_proj", "hidden_size, hidden_size", bias="True"),
        Row("post_attention_layernorm", LAYER + ".layer_norm2", "hidden_size", bias="True"),
        Row("up_proj", LAYER + ".mlp.fc1", "intermediate_size, hidden_size", bias="True"),
        Row("down_proj", LAYER + ".mlp.fc2", "hidden_size, intermediate_size", bias="True"),
        Row("norm", "post_layernorm", "hidden_size", bias="True"),
        Row("k_proj", "vit_merger.self_attn.k_proj", "hidden_size, hidden_size", bias="True"),
        Row("v_proj", "vit_merger.self_attn.v_proj", "hidden_size, hidden_size", bias="True"),
        Row("q_proj", "vit_merger.self_attn.q_proj", "hidden_size, hidden_size", bias="True"),
        Row("o_proj", "vit_merger.self_attn.out_proj", "hidden_size, hidden_size", bias="True"),
        Row("input_layernorm", "vit_merger.layer_norm1", "hidden_size", bias="True"),
        Row(
            "pre_norm",
            "vit_merger.pre_norm",
            "hidden_size * window_kernel_size[0] * window_kernel_size[0]",
            bias="True",
        ),
        Row(
            "linear_1",
            "vit_merger.linear_1",
            "intermediate_size * window_kernel_size[0] * window_kernel_size[0], hidden_size * window_kernel_size[0] * window_kernel_size[0]",
            bias="True",
        ),
        Row(
            "linear_2",
            "vit_merger.linear_2",
            "hidden_size, intermediate_size * window_kernel_size[0] * window_kernel_size[0]",
            bias="True",
        ),
    ),
    defaults={
        "hidden_size": 768,
        "image_size": 224,
        "intermediate_size": 3072,
        "num_channels": 3,
        "num_hidden_layers": 12,
        "patch_size": 16,
        "window_kernel_size": [2, 2],
    },
    head="Model",
)
