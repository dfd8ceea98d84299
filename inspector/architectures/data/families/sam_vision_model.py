"""SAM's tower: most layers attend within windows, the neck makes its output as wide as its decoder's."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.table import Family, Row

ENCODER = "vision_encoder."
LAYER = ENCODER + "layers.{layer<num_hidden_layers}"
SIDE = "image_size // patch_size"
REACH = f"(({SIDE}) if layer in global_attn_indexes or window_size == 0 else window_size)"


def relative_positions(attention: str) -> Iterator[Row]:
    """A vector for each distance between two places, as far as a layer sees, down and across."""
    for role in ("rel_pos_h", "rel_pos_w"):
        shape = f"2 * {REACH} - 1, hidden_size // num_attention_heads"
        yield Row(role, f"{attention}.{role}", shape, when="use_rel_pos", leaf="", group="attention")


def neck(at: str, width: str, into: str, tower: str = "text") -> Iterator[Row]:
    """Two convolutions, each with a norm."""
    yield Row("neck_conv1", at + ".conv1", f"{width}, {into}, 1, 1", tower=tower)
    yield Row("neck_norm1", at + ".layer_norm1", width, bias="True", tower=tower)
    yield Row("neck_conv2", at + ".conv2", f"{width}, {width}, 3, 3", tower=tower)
    yield Row("neck_norm2", at + ".layer_norm2", width, bias="True", tower=tower)


FAMILY = Family(
    name="sam_vision_model",
    types={"sam_vision_model": {}, "sam_hq_vision_model": {}},
    rows=(
        Row(
            "embed_patches",
            ENCODER + "patch_embed.projection",
            "hidden_size, num_channels, patch_size, patch_size",
            bias="True",
        ),
        Row("embed_positions", ENCODER + "pos_embed", f"1, {SIDE}, {SIDE}, hidden_size", when="use_abs_pos", leaf=""),
        Row("input_layernorm", LAYER + ".layer_norm1", "hidden_size", bias="True"),
        Row("qkv_proj", LAYER + ".attn.qkv", "3 * hidden_size, hidden_size", bias="qkv_bias"),
        Row("o_proj", LAYER + ".attn.proj", "hidden_size, hidden_size", bias="True"),
        *relative_positions(LAYER + ".attn"),
        Row("post_attention_layernorm", LAYER + ".layer_norm2", "hidden_size", bias="True"),
        Row("up_proj", LAYER + ".mlp.lin1", "mlp_dim, hidden_size", bias="True"),
        Row("down_proj", LAYER + ".mlp.lin2", "hidden_size, mlp_dim", bias="True"),
        *neck(ENCODER + "neck", "output_channels", "hidden_size"),
    ),
    head="Model",
    defaults={
        "global_attn_indexes": [2, 5, 8, 11],
        "hidden_size": 768,
        "image_size": 1024,
        "mlp_ratio": 4.0,
        "num_attention_heads": 12,
        "num_channels": 3,
        "num_hidden_layers": 12,
        "output_channels": 256,
        "patch_size": 16,
        "qkv_bias": True,
        "use_abs_pos": True,
        "use_rel_pos": True,
        "window_size": 14,
    },
    derived={"mlp_dim": "scaled(hidden_size, mlp_ratio)"},
)
