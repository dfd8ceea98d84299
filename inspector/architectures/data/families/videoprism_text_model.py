"""VideoPrism's text tower."""

from __future__ import annotations

from inspector.architectures.data.families.videoprism_vision_model import layers, linear
from inspector.architectures.table import Family, Row

FAMILY = Family(
    name="videoprism_text_model",
    types={"videoprism_text_model": {}},
    rows=(
        Row("embed_tokens", "embeddings.token_embedding", "vocab_size, hidden_size"),
        Row("embed_class", "embeddings.cls_emb", "1, 1, hidden_size", leaf=""),
        Row(
            "embed_positions",
            "embeddings.position_embedding",
            "max_position_embeddings, hidden_size",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row(
            "position_ids",
            "embeddings.position_ids",
            "1, max_position_embeddings",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        *layers("layers", "num_hidden_layers"),
        linear("norm", "layernorm", "hidden_size"),
    ),
    head="Model",
    defaults={
        "hidden_size": 768,
        "intermediate_size": 3072,
        "max_position_embeddings": 64,
        "num_attention_heads": 12,
        "num_hidden_layers": 12,
        "qkv_bias": True,
        "vocab_size": 32000,
    },
    derived={"head_dim": "hidden_size // num_attention_heads"},
)
