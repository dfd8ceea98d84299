"""Model type kimi_k25_vision.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="kimi_k25_vision",
    types={"kimi_k25_vision": {}},
    rows=(
        Row("embed_patches", "patch_embed.proj", "hidden_size, 3, patch_size, patch_size", bias="True"),
        Row(
            "embed_positions",
            "patch_embed.pos_emb.position_embeddings",
            "pos_emb_height, pos_emb_width, hidden_size",
            leaf="",
        ),
        Row("input_layernorm", LAYER + ".norm1", "hidden_size", bias="True"),
        Row("q_proj", LAYER + ".attn.q_proj", "hidden_size, hidden_size", bias="True"),
        Row("k_proj", LAYER + ".attn.k_proj", "hidden_size, hidden_size", bias="True"),
        Row("v_proj", LAYER + ".attn.v_proj", "hidden_size, hidden_size", bias="True"),
        Row("o_proj", LAYER + ".attn.proj", "hidden_size, hidden_size", bias="True"),
        Row("post_attention_layernorm", LAYER + ".norm2", "hidden_size", bias="True"),
        Row("up_proj", LAYER + ".mlp.fc1", "intermediate_size, hidden_size", bias="True"),
        Row("down_proj", LAYER + ".mlp.fc2", "hidden_size, intermediate_size", bias="True"),
        Row("norm", "final_layernorm", "hidden_size", bias="True"),
    ),
    defaults={
        "hidden_size": 1152,
        "intermediate_size": 4304,
        "num_hidden_layers": 27,
        "patch_size": 14,
        "pos_emb_height": 64,
        "pos_emb_width": 64,
    },
    head="Model",
)
