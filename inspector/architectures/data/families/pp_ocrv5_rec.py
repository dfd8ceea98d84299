"""PP-OCRv5's readers of text: a backbone, a few layers of attention between convolutions, and a character a place."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families.convolutions import normed
from inspector.architectures.table import Family, Include, Row

READING = "ForTextRecognition"
ENCODER = "head.encoder."
BLOCK = ENCODER + "svtr_block.{layer<depth}."
MOBILE = "is_mobile"
INNER = "scaled(hidden_size, mlp_ratio)"


def linear(role: str, name: str, shape: str, bias: str = "True", group: str = "") -> Row:
    return Row(role, name, shape, bias=bias, heads=READING, group=group)


def encoder() -> Iterator[Row]:
    """Narrowed, attended, widened, joined with what came in, and narrowed again."""
    kernel = "conv_kernel_size[0], conv_kernel_size[1]"
    narrow = "features // 8"
    for at, shape in enumerate(
        (
            f"{narrow}, features, {kernel}",
            f"hidden_size, {narrow}, 1, 1",
            "features, hidden_size, 1, 1",
            f"{narrow}, 2 * features, {kernel}",
            f"hidden_size, {narrow}, 1, 1",
        )
    ):
        yield from normed("convolution", f"{ENCODER}conv_block.{at}", shape, heads=READING)
    yield linear("input_layernorm", BLOCK + "layer_norm1", "hidden_size")
    yield linear("qkv_proj", BLOCK + "self_attn.qkv", "3 * hidden_size, hidden_size", "qkv_bias")
    yield linear("o_proj", BLOCK + "self_attn.projection", "hidden_size, hidden_size")
    yield linear("post_attention_layernorm", BLOCK + "layer_norm2", "hidden_size")
    yield linear("up_proj", BLOCK + "mlp.fc1", f"{INNER}, hidden_size")
    yield linear("down_proj", BLOCK + "mlp.fc2", f"hidden_size, {INNER}")
    yield linear("norm", ENCODER + "norm", "hidden_size")


FAMILY = Family(
    name="pp_ocrv5_rec",
    types={
        "pp_ocrv5_mobile_rec": {
            "is_mobile": True,
            "backbone_config": {"scale": 0.75, "out_indices": [2, 3, 4, 5], "divisor": 16},
        },
        "pp_ocrv5_server_rec": {"backbone_config": {"stage_downsample": [True, True, True, True]}},
    },
    rows=(
        *(
            Include(
                "backbone_config",
                "model.backbone.",
                tower="vision",
                head="Backbone",
                default_type=default_type,
                when=when,
            )
            for default_type, when in (("pp_lcnet_v3", MOBILE), ("hgnet_v2", f"not ({MOBILE})"))
        ),
        *encoder(),
        linear("lm_head", "head.head", "head_out_channels, hidden_size"),
    ),
    prefix="model.",
    head=READING,
    defaults={
        "is_mobile": False,
        "hidden_size": 120,
        "mlp_ratio": 2.0,
        "depth": 2,
        "head_out_channels": 18385,
        "conv_kernel_size": [1, 3],
        "qkv_bias": True,
    },
    derived={"features": f"backbone_config.last_width if {MOBILE} else backbone_config.stage_out_channels[-1]"},
    fields={"num_hidden_layers": "depth"},
)
