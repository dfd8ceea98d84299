"""Model types muse_spark_vision, muse_glimmer_vision.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="muse_spark_vision",
    types={"muse_spark_vision": {}, "muse_glimmer_vision": {}},
    rows=(
        Row(
            "embed_patches",
            "patch_embedder.patch_embedding",
            "hidden_size, 3 * patch_size * patch_size * patch_temporal",
        ),
        Row(
            "position_embedding_table",
            "patch_embedder.position_embedding_table",
            "pos_emb_height * pos_emb_width, hidden_size",
        ),
        Row("input_layernorm", LAYER + ".norm1", "hidden_size", bias="True"),
        Row("q_proj", LAYER + ".attn.q_proj", "hidden_size, hidden_size", bias="True"),
        Row("k_proj", LAYER + ".attn.k_proj", "hidden_size, hidden_size", bias="True"),
        Row("v_proj", LAYER + ".attn.v_proj", "hidden_size, hidden_size", bias="True"),
        Row("o_proj", LAYER + ".attn.proj", "hidden_size, hidden_size", bias="True"),
        Row("post_attention_layernorm", LAYER + ".norm2", "hidden_size", bias="True"),
        Row("up_proj", LAYER + ".mlp.fc1", "intermediate_size, hidden_size", bias="True"),
        Row("down_proj", LAYER + ".mlp.fc2", "hidden_size, intermediate_size", bias="True"),
        Row("ln_pre", "ln_pre", "hidden_size", bias="True"),
        Row("ln_post", "ln_post", "hidden_size", bias="True"),
    ),
    defaults={
        "hidden_size": 1536,
        "intermediate_size": 8960,
        "num_hidden_layers": 50,
        "patch_size": 14,
        "patch_temporal": 2,
        "pos_emb_height": 32,
        "pos_emb_width": 32,
    },
    head="Model",
)
