"""Gemma 4's audio tower: a conformer after two strided convolutions."""

from __future__ import annotations

from inspector.architectures.data.families.gemma4_vision import clipped
from inspector.architectures.table import Family, Row

SUBSAMPLE = "subsample_conv_projection"
LAYER = "layers.{layer<num_hidden_layers}"
ATTENTION = LAYER + ".self_attn"
CONVOLUTION = LAYER + ".lconv1d"
HEADS = "num_attention_heads * (hidden_size // num_attention_heads)"


def feed_forward(name: str) -> tuple[Row, ...]:
    """One of the two feed-forward halves around the attention."""
    return (
        Row(f"{name}_pre_norm", f"{LAYER}.{name}.pre_layer_norm", "hidden_size"),
        *clipped(f"{name}_up_proj", f"{LAYER}.{name}.ffw_layer_1", "4 * hidden_size, hidden_size"),
        *clipped(f"{name}_down_proj", f"{LAYER}.{name}.ffw_layer_2", "hidden_size, 4 * hidden_size"),
        Row(f"{name}_post_norm", f"{LAYER}.{name}.post_layer_norm", "hidden_size"),
    )


FAMILY = Family(
    name="gemma4_audio",
    types={"gemma4_audio": {}},
    rows=(
        Row("subsample_conv1", SUBSAMPLE + ".layer0.conv", "subsampling_conv_channels[0], 1, 3, 3"),
        Row("subsample_norm1", SUBSAMPLE + ".layer0.norm", "subsampling_conv_channels[0]"),
        Row(
            "subsample_conv2",
            SUBSAMPLE + ".layer1.conv",
            "subsampling_conv_channels[1], subsampling_conv_channels[0], 3, 3",
        ),
        Row("subsample_norm2", SUBSAMPLE + ".layer1.norm", "subsampling_conv_channels[1]"),
        Row(
            "subsample_proj",
            SUBSAMPLE + ".input_proj_linear",
            "hidden_size, subsampling_conv_channels[0] // 4 * subsampling_conv_channels[1]",
            group="convolution",
        ),
        *feed_forward("feed_forward1"),
        Row("norm_pre_attn", LAYER + ".norm_pre_attn", "hidden_size"),
        *clipped("q_proj", ATTENTION + ".q_proj", f"{HEADS}, hidden_size"),
        *clipped("k_proj", ATTENTION + ".k_proj", f"{HEADS}, hidden_size"),
        *clipped("v_proj", ATTENTION + ".v_proj", f"{HEADS}, hidden_size"),
        *clipped("o_proj", ATTENTION + ".post", "hidden_size, hidden_size"),
        Row("relative_k_proj", ATTENTION + ".relative_k_proj", f"{HEADS}, hidden_size"),
        Row(
            "per_dim_scale",
            ATTENTION + ".per_dim_scale",
            "hidden_size // num_attention_heads",
            leaf="",
            group="attention",
        ),
        Row("norm_post_attn", LAYER + ".norm_post_attn", "hidden_size"),
        Row("conv_pre_norm", CONVOLUTION + ".pre_layer_norm", "hidden_size"),
        *clipped("conv_in_proj", CONVOLUTION + ".linear_start", "2 * hidden_size, hidden_size"),
        Row("depthwise_conv1d", CONVOLUTION + ".depthwise_conv1d", "hidden_size, 1, conv_kernel_size"),
        Row("conv_norm", CONVOLUTION + ".conv_norm", "hidden_size"),
        *clipped("conv_out_proj", CONVOLUTION + ".linear_end", "hidden_size, hidden_size"),
        *feed_forward("feed_forward2"),
        Row("norm_out", LAYER + ".norm_out", "hidden_size"),
        Row("output_proj", "output_proj", "output_proj_dims, hidden_size", bias="True", group="other"),
    ),
    defaults={
        "conv_kernel_size": 5,
        "hidden_size": 1024,
        "num_attention_heads": 8,
        "num_hidden_layers": 12,
        "output_proj_dims": 1536,
        "subsampling_conv_channels": [128, 32],
        "use_clipped_linears": True,
    },
    head="Model",
)
