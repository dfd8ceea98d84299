"""V-JEPA 2: a vision transformer over tubes of frames, and one that predicts the encodings of what was masked."""

from __future__ import annotations

from inspector.architectures.table import Family, Row

VIDEO = "ForVideoClassification"
ENCODER = "vjepa2.encoder."
PREDICTOR = "vjepa2.predictor."


def layers(at: str, width: str, ratio: str, tower: str) -> tuple[Row, ...]:
    """Layers of the encoder or the predictor."""
    square, inner = f"{width}, {width}", f"scaled({width}, {ratio})"

    def row(role: str, name: str, shape: str, bias: str = "True") -> Row:
        return Row(role, f"{at}.{name}", shape, bias=bias, tower=tower)

    return (
        row("input_layernorm", "norm1", width),
        row("q_proj", "attention.query", square, "qkv_bias"),
        row("k_proj", "attention.key", square, "qkv_bias"),
        row("v_proj", "attention.value", square, "qkv_bias"),
        row("o_proj", "attention.proj", square),
        row("post_attention_layernorm", "norm2", width),
        row("up_proj", "mlp.fc1", f"{inner}, {width}"),
        row("down_proj", "mlp.fc2", f"{width}, {inner}"),
    )


def pooler(at: str, prefix: str, attention: str, words: str) -> tuple[Row, ...]:
    """A layer of the attentive pooler; its feed-forward is four times as wide, whatever `mlp_ratio` says."""

    def row(role: str, name: str, shape: str) -> Row:
        return Row(f"{prefix}{role}", f"{at}.{name}", shape, bias="True", heads=VIDEO, tower="pooler")

    return (
        row("input_layernorm", "layer_norm1", "hidden_size"),
        *(
            row(f"{word}_proj", f"{attention}.{word.replace('o', 'out')}_proj", "hidden_size, hidden_size")
            for word in words.split()
        ),
        row("post_attention_layernorm", "layer_norm2", "hidden_size"),
        row("up_proj", "mlp.fc1", "4 * hidden_size, hidden_size"),
        row("down_proj", "mlp.fc2", "hidden_size, 4 * hidden_size"),
    )


FAMILY = Family(
    name="vjepa2",
    types={"vjepa2": {}},
    rows=(
        Row(
            "embed_patches",
            ENCODER + "embeddings.patch_embeddings.proj",
            "hidden_size, in_chans, tubelet_size, patch_size, patch_size",
            bias="True",
            tower="encoder",
        ),
        *layers(ENCODER + "layer.{layer<num_hidden_layers}", "hidden_size", "mlp_ratio", "encoder"),
        Row("norm", ENCODER + "layernorm", "hidden_size", bias="True", tower="encoder"),
        Row(
            "mask_tokens",
            PREDICTOR + "embeddings.mask_tokens",
            "pred_num_mask_tokens, 1, 1, pred_hidden_size",
            tower="predictor",
            leaf="",
            group="embedding",
        ),
        Row(
            "embed_projection",
            PREDICTOR + "embeddings.predictor_embeddings",
            "pred_hidden_size, hidden_size",
            bias="True",
            tower="predictor",
        ),
        *layers(PREDICTOR + "layer.{layer<pred_num_hidden_layers}", "pred_hidden_size", "pred_mlp_ratio", "predictor"),
        Row("norm", PREDICTOR + "layernorm", "pred_hidden_size", bias="True", tower="predictor"),
        Row("proj", PREDICTOR + "proj", "hidden_size, pred_hidden_size", bias="True", tower="predictor", group="head"),
        Row(
            "query_tokens",
            "pooler.query_tokens",
            "1, 1, hidden_size",
            heads=VIDEO,
            tower="pooler",
            leaf="",
            group="embedding",
        ),
        *pooler("pooler.cross_attention_layer", "cross_", "cross_attn", "q k v"),
        *pooler("pooler.self_attention_layers.{layer<num_pooler_layers}", "", "self_attn", "q k v o"),
        Row("classifier", "classifier", "num_labels, hidden_size", bias="True", heads=VIDEO),
    ),
    prefix="vjepa2.",
    defaults={
        "hidden_size": 1024,
        "in_chans": 3,
        "mlp_ratio": 4.0,
        "num_hidden_layers": 24,
        "num_pooler_layers": 3,
        "patch_size": 16,
        "pred_hidden_size": 384,
        "pred_mlp_ratio": 4.0,
        "pred_num_hidden_layers": 12,
        "pred_num_mask_tokens": 10,
        "qkv_bias": True,
        "tubelet_size": 2,
    },
    head="Model",
)
