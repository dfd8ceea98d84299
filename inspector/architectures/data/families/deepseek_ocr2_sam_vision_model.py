"""DeepSeek-OCR 2's first tower: SAM's, with windows in which most layers attend, and two convolutions after its neck."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families.sam_vision_model import FAMILY as SAM
from inspector.architectures.data.families.sam_vision_model import SIDE, relative_positions
from inspector.architectures.table import Family, Row

BLOCK = "blocks.{layer<num_hidden_layers}"


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
        *relative_positions(BLOCK + ".attn"),
        Row("post_attention_layernorm", BLOCK + ".norm2", "hidden_size", bias="True"),
        Row("up_proj", BLOCK + ".mlp.lin1", "mlp_dim, hidden_size", bias="True"),
        Row("down_proj", BLOCK + ".mlp.lin2", "hidden_size, mlp_dim", bias="True"),
        *neck(),
        Row("downsample_conv1", "net_2", "downsample_channels[0], output_channels, 3, 3"),
        Row("downsample_conv2", "net_3", "downsample_channels[1], downsample_channels[0], 3, 3"),
    ),
    head="Model",
    defaults={**SAM.defaults, "downsample_channels": [512, 896]},
    derived=SAM.derived,
)
