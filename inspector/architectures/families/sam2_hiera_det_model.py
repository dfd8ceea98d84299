"""Model type sam2_hiera_det_model.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "blocks.{layer<sum(blocks_per_stage)}"

FAMILY = Family(
    name="sam2_hiera_det_model",
    types={"sam2_hiera_det_model": {}},
    rows=(
        Row(
            "embed_positions",
            "pos_embed",
            "1, hidden_size, window_positional_embedding_background_size[0], window_positional_embedding_background_size[1]",
            leaf="",
        ),
        Row(
            "pos_embed_window",
            "pos_embed_window",
            "1, hidden_size, window_size_per_stage[0], window_size_per_stage[0]",
            leaf="",
        ),
        Row(
            "projection",
            "patch_embed.projection",
            "hidden_size, num_channels, patch_kernel_size[0], patch_kernel_size[1]",
            bias="True",
            group="embedding",
        ),
        Row(
            "input_layernorm",
            LAYER + ".layer_norm1",
            "embed_dim_per_stage[stage(blocks_per_stage, layer - 1)]",
            bias="True",
        ),
        Row(
            "qkv_proj",
            LAYER + ".attn.qkv",
            "3 * embed_dim_per_stage[stage(blocks_per_stage, layer)], embed_dim_per_stage[stage(blocks_per_stage, layer - 1)]",
            bias="True",
        ),
        Row(
            "o_proj",
            LAYER + ".attn.proj",
            "embed_dim_per_stage[stage(blocks_per_stage, layer)], embed_dim_per_stage[stage(blocks_per_stage, layer)]",
            bias="True",
        ),
        Row(
            "proj_in",
            LAYER + ".mlp.proj_in",
            "scaled(embed_dim_per_stage[stage(blocks_per_stage, layer)], mlp_ratio), embed_dim_per_stage[stage(blocks_per_stage, layer)]",
            bias="True",
            group="feed_forward",
        ),
        Row(
            "proj_out",
            LAYER + ".mlp.proj_out",
            "embed_dim_per_stage[stage(blocks_per_stage, layer)], scaled(embed_dim_per_stage[stage(blocks_per_stage, layer)], mlp_ratio)",
            bias="True",
            group="feed_forward",
        ),
        Row(
            "proj",
            LAYER + ".proj",
            "embed_dim_per_stage[stage(blocks_per_stage, layer)], embed_dim_per_stage[stage(blocks_per_stage, layer - 1)]",
            bias="True",
            when="stage(blocks_per_stage, layer) != stage(blocks_per_stage, layer - 1)",
        ),
        Row(
            "post_attention_layernorm",
            LAYER + ".layer_norm2",
            "embed_dim_per_stage[stage(blocks_per_stage, layer)]",
            bias="True",
        ),
    ),
    defaults={"hidden_size": 96, "mlp_ratio": 4.0, "num_channels": 3},
    derived={
        "blocks_per_stage": "[1 if layer == 0 else 7 if layer == 2 else 2 for layer in range(4)]",
        "embed_dim_per_stage": "[192 if layer == 1 else 384 if layer == 2 else 768 if layer > 2 else 96 for layer in range(4)]",
        "patch_kernel_size": "[7 for layer in range(2)]",
        "window_positional_embedding_background_size": "[7 for layer in range(2)]",
        "window_size_per_stage": "[14 if layer == 2 else 4 if layer == 1 else 7 if layer > 2 else 8 for layer in range(4)]",
    },
    head="Model",
)
