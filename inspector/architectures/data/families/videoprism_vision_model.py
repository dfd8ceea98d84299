"""VideoPrism's towers: over the patches of each frame, then over the frames; where asked for, further layers and a head."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.table import Family, Row

#: The class suffix of the video model, which a model of videos and texts has as its part.
VIDEO, CLASSIFIER = "VideoModel", "ForVideoClassification"
BODY = "vision_model."
HEADS, OUT = "num_attention_heads * head_dim, hidden_size", "hidden_size, num_attention_heads * head_dim"
POOLED, FROM_POOLED = (
    "num_attention_heads * pooling_head_dim, hidden_size",
    "hidden_size, num_attention_heads * pooling_head_dim",
)


def linear(role: str, name: str, shape: str, bias: str = "True", tower: str = "text", heads: str = "") -> Row:
    return Row(role, name, shape, bias=bias, tower=tower, heads=heads)


def layers(name: str, number: str, tower: str = "text", heads: str = "") -> Iterator[Row]:
    """Layers with their norms before."""
    at = f"{name}.{{layer<{number}}}."
    yield linear("input_layernorm", at + "layernorm_before", "hidden_size", tower=tower, heads=heads)
    for role in ("q_proj", "k_proj", "v_proj"):
        yield linear(role, f"{at}attention.{role}", HEADS, "qkv_bias", tower, heads)
    yield linear("o_proj", at + "attention.o_proj", OUT, tower=tower, heads=heads)
    yield linear("post_attention_layernorm", at + "layernorm_after", "hidden_size", tower=tower, heads=heads)
    yield linear("up_proj", at + "mlp.fc1", "intermediate_size, hidden_size", tower=tower, heads=heads)
    yield linear("down_proj", at + "mlp.fc2", "hidden_size, intermediate_size", tower=tower, heads=heads)


def pooling() -> Iterator[Row]:
    """A query that attends to all places of all frames; its heads share the width of the feed-forward."""
    both = f"{VIDEO} {CLASSIFIER}"
    yield Row("pooling_scale", "head.per_dim_scale", "pooling_head_dim", heads=both, leaf="", group="attention")
    query = "head.pooling_attention_query"
    yield Row("embed_queries", query, "1, 1, hidden_size", heads=both, leaf="")
    for role in ("q_proj", "k_proj", "v_proj"):
        yield linear(role, f"head.{role}", POOLED, "qkv_bias", heads=both)
    yield linear("o_proj", "head.o_proj", FROM_POOLED, heads=both)
    yield linear("norm", "head_layernorm", "hidden_size", heads=both)


FAMILY = Family(
    name="videoprism_vision_model",
    types={"videoprism_vision_model": {}},
    rows=(
        linear(
            "embed_patches",
            BODY + "spatial_embeddings.patch_embeddings.projection",
            "hidden_size, num_channels, tubelet_size[0], tubelet_size[1], tubelet_size[2]",
        ),
        Row(
            "embed_positions",
            BODY + "spatial_embeddings.position_embeddings",
            "1, (image_size // tubelet_size[1]) * (image_size // tubelet_size[2]), hidden_size",
            leaf="",
        ),
        *layers(BODY + "spatial_layers", "num_spatial_layers"),
        linear("spatial_norm", BODY + "layernorm1", "hidden_size"),
        Row(
            "embed_frames",
            BODY + "temporal_embeddings.position_embeddings",
            "1, num_frames, hidden_size",
            leaf="",
        ),
        *layers(BODY + "temporal_layers", "num_temporal_layers", "temporal"),
        linear("temporal_norm", BODY + "layernorm2", "hidden_size"),
        *layers("auxiliary_layers", "num_auxiliary_layers", "auxiliary", VIDEO),
        *pooling(),
        linear("classifier", "classifier", "num_labels, hidden_size", heads=CLASSIFIER),
    ),
    prefix=BODY,
    classes={"VideoPrismVideoModel": VIDEO},
    head="Model",
    defaults={
        "hidden_size": 768,
        "image_size": 288,
        "intermediate_size": 3072,
        "num_attention_heads": 12,
        "num_auxiliary_layers": 2,
        "num_channels": 3,
        "num_frames": 16,
        "num_spatial_layers": 12,
        "num_temporal_layers": 4,
        "qkv_bias": True,
        "tubelet_size": [1, 18, 18],
    },
    derived={
        "head_dim": "hidden_size // num_attention_heads",
        "pooling_head_dim": "intermediate_size // num_attention_heads",
    },
)
