"""Stable Diffusion 3 and 3.5: one stack of blocks over latents and text, each with weights of its own.

After diffusers' `models/transformers/transformer_sd3.py`.
"""

from __future__ import annotations

from inspector.architectures.data.families.diffusers_flux import (
    BLOCK,
    WIDTH,
    attention,
    embedder,
    ends,
    feed_forward,
    modulation,
    norms,
)
from inspector.architectures.table import Family, Row

#: The last block is over latents alone: its text ends there.
NOT_LAST = "layer < num_layers - 1"
DUAL = "layer in dual_attention_layers"
ROWS = (
    Row(
        "pos_embed",
        "pos_embed.pos_embed",
        f"1, pos_embed_max_size * pos_embed_max_size, {WIDTH}",
        leaf="",
        tower="image",
        buffer=True,
        persistent=True,
    ),
    Row(
        "x_embedder",
        "pos_embed.proj",
        f"{WIDTH}, in_channels, patch_size, patch_size",
        bias="True",
        tower="image",
        group="embedding",
    ),
    *embedder("time_text_embed.timestep_embedder", "time", "256"),
    *embedder("time_text_embed.text_embedder", "text", "pooled_projection_dim"),
    Row(
        "context_embedder",
        "context_embedder",
        "caption_projection_dim, joint_attention_dim",
        bias="True",
        group="embedding",
    ),
    modulation(BLOCK + ".norm1", f"9 if {DUAL} else 6", "image"),
    modulation(BLOCK + ".norm1_context", f"6 if {NOT_LAST} else 2", "text"),
    *norms(BLOCK + ".attn", "image", "norm_q norm_k", "qk_norm is not None"),
    *attention(BLOCK + ".attn", "image"),
    *norms(BLOCK + ".attn", "text", "norm_added_q norm_added_k", "qk_norm is not None"),
    *attention(BLOCK + ".attn", "text", "add_q_proj add_k_proj add_v_proj"),
    Row("o_proj", BLOCK + ".attn.to_add_out", f"{WIDTH}, {WIDTH}", bias="True", when=NOT_LAST),
    *norms(BLOCK + ".attn2", "dual", "norm_q norm_k", f"qk_norm is not None and {DUAL}"),
    *attention(BLOCK + ".attn2", "dual", when=DUAL),
    *feed_forward(BLOCK + ".ff", "image"),
    *feed_forward(BLOCK + ".ff_context", "text", NOT_LAST),
    *ends("patch_size * patch_size * out_channels"),
)

FAMILY = Family(
    name="diffusers_sd3",
    types={"SD3Transformer2DModel": {}},
    rows=ROWS,
    head="Model",
    defaults={
        "patch_size": 2,
        "in_channels": 16,
        "out_channels": 16,
        "num_layers": 18,
        "attention_head_dim": 64,
        "num_attention_heads": 18,
        "joint_attention_dim": 4096,
        "caption_projection_dim": 1152,
        "pooled_projection_dim": 2048,
        "pos_embed_max_size": 96,
        "dual_attention_layers": [],
        "qk_norm": None,
    },
)
