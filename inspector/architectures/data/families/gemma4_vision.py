"""Gemma 4's vision tower: gated layers with norms before and after, whose projections may be clipped."""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "encoder.layers.{layer<num_hidden_layers}"
ATTENTION = LAYER + ".self_attn"
HEADS, KEYS = "num_attention_heads * head_dim", "num_key_value_heads * head_dim"


def clipped(role: str, name: str, shape: str, group: str = "") -> tuple[Row, ...]:
    """A projection, and the four bounds of what goes in and out (`Gemma4ClippableLinear`)."""
    bounds = (
        Row(f"{role}_{bound}", f"{name}.{bound}", "", when="use_clipped_linears", leaf="", buffer=True, persistent=True)
        for bound in ("input_min", "input_max", "output_min", "output_max")
    )
    return (Row(role, name + ".linear", shape, group=group), *bounds)


FAMILY = Family(
    name="gemma4_vision",
    types={"gemma4_vision": {}},
    rows=(
        Row("embed_patches", "patch_embedder.input_proj", "hidden_size, 3 * patch_size * patch_size"),
        Row(
            "embed_positions",
            "patch_embedder.position_embedding_table",
            "2, position_embedding_size, hidden_size",
            leaf="",
        ),
        Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size"),
        *clipped("q_proj", ATTENTION + ".q_proj", f"{HEADS}, hidden_size"),
        *clipped("k_proj", ATTENTION + ".k_proj", f"{KEYS}, hidden_size"),
        *clipped("v_proj", ATTENTION + ".v_proj", f"{KEYS}, hidden_size"),
        *clipped("o_proj", ATTENTION + ".o_proj", f"hidden_size, {HEADS}"),
        Row("q_norm", ATTENTION + ".q_norm", "head_dim"),
        Row("k_norm", ATTENTION + ".k_norm", "head_dim"),
        Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size"),
        Row("pre_feedforward_layernorm", LAYER + ".pre_feedforward_layernorm", "hidden_size"),
        *clipped("gate_proj", LAYER + ".mlp.gate_proj", "intermediate_size, hidden_size"),
        *clipped("up_proj", LAYER + ".mlp.up_proj", "intermediate_size, hidden_size"),
        *clipped("down_proj", LAYER + ".mlp.down_proj", "hidden_size, intermediate_size"),
        Row("post_feedforward_layernorm", LAYER + ".post_feedforward_layernorm", "hidden_size"),
        Row("std_bias", "std_bias", "hidden_size", when="standardize", leaf="", buffer=True, persistent=True),
        Row("std_scale", "std_scale", "hidden_size", when="standardize", leaf="", buffer=True, persistent=True),
    ),
    defaults={
        "head_dim": 64,
        "hidden_size": 768,
        "intermediate_size": 3072,
        "num_attention_heads": 12,
        "num_hidden_layers": 16,
        "num_key_value_heads": 12,
        "patch_size": 16,
        "position_embedding_size": 10240,
        "standardize": False,
        "use_clipped_linears": False,
    },
    head="Model",
)
