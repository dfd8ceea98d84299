"""Janus' vision tower: SigLIP's without its head, with norms of queries and keys where asked for."""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "encoder.layers.{layer<num_hidden_layers}"
ATTENTION = LAYER + ".self_attn"

FAMILY = Family(
    name="janus_vision_model",
    types={"janus_vision_model": {}},
    rows=(
        Row(
            "embed_patches",
            "embeddings.patch_embedding",
            "hidden_size, num_channels, patch_size, patch_size",
            bias="True",
        ),
        Row("embed_positions", "embeddings.position_embedding", "(image_size // patch_size) ** 2, hidden_size"),
        Row("input_layernorm", LAYER + ".layer_norm1", "hidden_size", bias="True"),
        Row("q_proj", ATTENTION + ".q_proj", "hidden_size, hidden_size", bias="attention_bias"),
        Row("k_proj", ATTENTION + ".k_proj", "hidden_size, hidden_size", bias="attention_bias"),
        Row("v_proj", ATTENTION + ".v_proj", "hidden_size, hidden_size", bias="attention_bias"),
        Row("o_proj", ATTENTION + ".projection_layer", "hidden_size, hidden_size", bias="True"),
        Row("q_norm", ATTENTION + ".q_norm", "hidden_size", bias="True", when="use_qk_norm"),
        Row("k_norm", ATTENTION + ".k_norm", "hidden_size", bias="True", when="use_qk_norm"),
        Row("post_attention_layernorm", LAYER + ".layer_norm2", "hidden_size", bias="True"),
        Row("up_proj", LAYER + ".mlp.fc1", "scaled(hidden_size, mlp_ratio), hidden_size", bias="True"),
        Row("down_proj", LAYER + ".mlp.fc2", "hidden_size, scaled(hidden_size, mlp_ratio)", bias="True"),
        Row("norm", "post_layernorm", "hidden_size", bias="True"),
    ),
    head="Model",
    defaults={
        "attention_bias": True,
        "depth": 2,
        "hidden_size": 1024,
        "image_size": 384,
        "mlp_ratio": 4.0,
        "num_channels": 3,
        "num_hidden_layers": 24,
        "patch_size": 16,
        "projection_dim": 2048,
        "use_qk_norm": False,
    },
)
