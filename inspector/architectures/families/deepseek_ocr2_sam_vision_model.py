"""DeepSeek-OCR 2's first tower: SAM's, with windows in which most layers attend, and two convolutions after its neck."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.table import Family, Row

BLOCK = "blocks.{layer<num_hidden_layers}"
SIDE = "image_size // patch_size"
REACH = f"(({SIDE}) if layer in global_attn_indexes or window_size == 0 else window_size)"


def neck() -> Iterator[Row]:
    """A list of convolutions, each with a norm; only the numbers in the names tell them apart."""
    for number, shape in enumerate(
        ("output_channels, hidden_size, 1, 1", "output_channels", "output_channels, output_channels, 3, 3")
    ):
        yield Row("neck", f"neck.{number}", shape, bias="True" if number == 1 else "", group="convolution")
    yield Row("neck", "neck.3", "output_channels", bias="True", group="convolution")


FAMILY = Family(
    name="deepseek_ocr2_sam_vision_model",
    types={"deepseek_ocr2_sam_vision_model": {}},
    rows=(
        Row("embed_patches", "patch_embed.proj", "hidden_size, num_channels, patch_size, patch_size", bias="True"),
        Row("embed_positions", "pos_embed", f"1, {SIDE}, {SIDE}, hidden_size", when="use_abs_pos", leaf=""),
        Row("input_layernorm", BLOCK + ".norm1", "hidden_size", bias="True"),
        Row("qkv_proj", BLOCK + ".attn.qkv", "3 * hidden_size, hidden_size", bias="qkv_bias"),
        Row("o_proj", BLOCK + ".attn.proj", "hidden_size, hidden_size", bias="True"),
        *(
            Row(
                role,
                f"{BLOCK}.attn.{role}",
                f"2 * {REACH} - 1, hidden_size // num_attention_heads",
                when="use_rel_pos",
                leaf="",
                group="attention",
            )
            for role in ("rel_pos_h", "rel_pos_w")
        ),
        Row("post_attention_layernorm", BLOCK + ".norm2", "hidden_size", bias="True"),
        Row("up_proj", BLOCK + ".mlp.lin1", "mlp_dim, hidden_size", bias="True"),
        Row("down_proj", BLOCK + ".mlp.lin2", "hidden_size, mlp_dim", bias="True"),
        *neck(),
        Row("downsample_conv1", "net_2", "downsample_channels[0], output_channels, 3, 3"),
        Row("downsample_conv2", "net_3", "downsample_channels[1], downsample_channels[0], 3, 3"),
    ),
    head="Model",
    defaults={
        "downsample_channels": [512, 896],
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
