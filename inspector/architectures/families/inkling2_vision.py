"""Model type inkling2_vision.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="inkling2_vision",
    types={"inkling2_vision": {}},
    rows=(
        Row("embed_class", "embeddings.class_embedding", "hidden_size", leaf=""),
        Row("cls_position_embedding", "embeddings.cls_position_embedding", "hidden_size", leaf=""),
        Row("embed_patches", "embeddings.patch_embedding", "hidden_size, num_channels * patch_size ** 2"),
        Row("position_embedding", "embeddings.position_embedding", "posemb_grid_size ** 2, hidden_size"),
        Row("input_layernorm", LAYER + ".layernorm_before", "hidden_size", bias="True"),
        Row("q_proj", LAYER + ".self_attn.q_proj", "hidden_size, hidden_size", bias="True"),
        Row("k_proj", LAYER + ".self_attn.k_proj", "hidden_size, hidden_size", bias="True"),
        Row("v_proj", LAYER + ".self_attn.v_proj", "hidden_size, hidden_size", bias="True"),
        Row("o_proj", LAYER + ".self_attn.out_proj", "hidden_size, hidden_size", bias="True"),
        Row("lambda_1", LAYER + ".lambda_1", "hidden_size", leaf=""),
        Row("lambda_2", LAYER + ".lambda_2", "hidden_size", leaf=""),
        Row("post_attention_layernorm", LAYER + ".layernorm_after", "hidden_size", bias="True"),
        Row("up_proj", LAYER + ".mlp.fc1", "intermediate_size, hidden_size", bias="True"),
        Row("down_proj", LAYER + ".mlp.fc2", "hidden_size, intermediate_size", bias="True"),
        Row("pre_layernorm", "pre_layernorm", "hidden_size", bias="True"),
        Row(
            "linear_1",
            "merger.linear_1",
            "projection_hidden_dim, hidden_size * spatial_merge_size ** 2",
            bias="projector_bias",
        ),
        Row("linear_2", "merger.linear_2", "text_hidden_size, projection_hidden_dim", bias="projector_bias"),
    ),
    defaults={
        "hidden_size": 1024,
        "num_channels": 3,
        "num_hidden_layers": 23,
        "patch_size": 20,
        "posemb_grid_size": 32,
        "projection_hidden_dim": 4096,
        "projector_bias": False,
        "spatial_merge_size": 2,
        "text_hidden_size": 4608,
    },
    derived={"intermediate_size": "4 * hidden_size"},
    fields={"native_patch_size": "patch_size", "adapter_merge_size": "spatial_merge_size"},
    head="Model",
)
