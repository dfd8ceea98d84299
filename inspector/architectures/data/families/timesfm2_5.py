"""TimesFM 2.5: a decoder over patches of a time series, with a head for points and one for quantiles."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.table import Family, Row

LAYER = "model.layers.{layer<num_hidden_layers}"
PREDICTION = "ForPrediction"


def residual_block(role: str, name: str, before: str, after: str, *, bias: str = "", heads: str = "") -> Iterator[Row]:
    """Two layers beside one; `use_bias` does not reach the heads'."""
    for word, shape in (
        ("input_layer", f"hidden_size, {before}"),
        ("output_layer", f"{after}, hidden_size"),
        ("residual_layer", f"{after}, {before}"),
    ):
        yield Row(role + word, f"{name}.{word}", shape, bias=bias, heads=heads, group="head" if heads else "embedding")


FAMILY = Family(
    name="timesfm2_5",
    types={"timesfm2_5": {}},
    rows=(
        *residual_block("", "model.input_ff_layer", "2 * patch_length", "hidden_size", bias="True"),
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size"),
        Row(
            "q_proj", LAYER + ".self_attn.q_proj", "num_attention_heads * head_dim, hidden_size", bias="attention_bias"
        ),
        Row(
            "k_proj", LAYER + ".self_attn.k_proj", "num_key_value_heads * head_dim, hidden_size", bias="attention_bias"
        ),
        Row(
            "v_proj", LAYER + ".self_attn.v_proj", "num_key_value_heads * head_dim, hidden_size", bias="attention_bias"
        ),
        Row(
            "o_proj", LAYER + ".self_attn.o_proj", "hidden_size, num_attention_heads * head_dim", bias="attention_bias"
        ),
        Row("scaling", LAYER + ".self_attn.scaling", "head_dim", leaf="", group="attention"),
        Row("q_norm", LAYER + ".self_attn.q_norm", "head_dim"),
        Row("k_norm", LAYER + ".self_attn.k_norm", "head_dim"),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size"),
        Row("pre_feedforward_layernorm", LAYER + ".pre_feedforward_layernorm", "hidden_size"),
        Row("up_proj", LAYER + ".mlp.ff0", "intermediate_size, hidden_size", bias="use_bias"),
        Row("down_proj", LAYER + ".mlp.ff1", "hidden_size, intermediate_size", bias="use_bias"),
        Row("post_feedforward_layernorm", LAYER + ".post_feedforward_layernorm", "hidden_size"),
        *residual_block(
            "point_",
            "output_projection_point",
            "hidden_size",
            "(len(quantiles) + 1) * horizon_length",
            heads=PREDICTION,
        ),
        *residual_block(
            "quantiles_",
            "output_projection_quantiles",
            "hidden_size",
            "(len(quantiles) + 1) * output_quantile_len",
            heads=PREDICTION,
        ),
    ),
    prefix="model.",
    classes={"TimesFm2_5ModelForPrediction": PREDICTION},
    defaults={
        "attention_bias": False,
        "head_dim": 80,
        "hidden_size": 1280,
        "horizon_length": 128,
        "intermediate_size": 1280,
        "num_attention_heads": 16,
        "num_hidden_layers": 20,
        "num_key_value_heads": 16,
        "output_quantile_len": 1024,
        "patch_length": 32,
        "quantiles": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9],
        "use_bias": False,
    },
    head="Model",
)
