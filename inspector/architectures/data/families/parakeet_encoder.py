"""Parakeet's encoder: convolutions that stride, then conformer layers.

modeling_parakeet.py: as many convolutions as halve the frames to the factor.
"""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.table import Family, Row


def subsampling(at: str, config: str = "") -> Iterator[Row]:
    """Convolutions that stride, each after the first in two: depthwise, pointwise, and an activation in the list.

    Args:
        at: the list's name. config: before the fields' names, where they are nested.
    """
    number, channels = f"3 * {config and 'encoder_'}subsampling_layers - 1", f"{config}subsampling_conv_channels"
    kernel = f"{config}subsampling_conv_kernel_size"
    for shape, when in (
        (f"{channels}, 1, {kernel}, {kernel}", "at == 0 or at % 3 == 2"),
        (f"{channels}, {channels}, 1, 1", "at > 0 and at % 3 == 0"),
    ):
        yield Row("subsampling", f"{at}.{{at<{number}}}", shape, bias="True", when=when, group="convolution")


LAYER = "layers.{layer<num_hidden_layers}"

#: The conformer's layers: half a feed-forward, attention with relative places, convolutions, and the other half.
LAYERS = (
    Row("q_proj", LAYER + ".self_attn.q_proj", "num_attention_heads * head_dim, hidden_size", bias="attention_bias"),
    Row("k_proj", LAYER + ".self_attn.k_proj", "num_key_value_heads * head_dim, hidden_size", bias="attention_bias"),
    Row("v_proj", LAYER + ".self_attn.v_proj", "num_key_value_heads * head_dim, hidden_size", bias="attention_bias"),
    Row("o_proj", LAYER + ".self_attn.o_proj", "hidden_size, num_attention_heads * head_dim", bias="attention_bias"),
    Row(
        "linear1",
        LAYER + ".feed_forward1.linear1",
        "intermediate_size, hidden_size",
        bias="attention_bias",
        group="feed_forward",
    ),
    Row(
        "linear2",
        LAYER + ".feed_forward1.linear2",
        "hidden_size, intermediate_size",
        bias="attention_bias",
        group="feed_forward",
    ),
    Row("bias_u", LAYER + ".self_attn.bias_u", "num_attention_heads, head_dim", leaf="", group="attention"),
    Row("bias_v", LAYER + ".self_attn.bias_v", "num_attention_heads, head_dim", leaf="", group="attention"),
    Row("relative_k_proj", LAYER + ".self_attn.relative_k_proj", "num_attention_heads * head_dim, hidden_size"),
    Row(
        "pointwise_conv1",
        LAYER + ".conv.pointwise_conv1",
        "2 * hidden_size, hidden_size, 1",
        bias="convolution_bias",
    ),
    Row(
        "depthwise_conv",
        LAYER + ".conv.depthwise_conv",
        "hidden_size, 1, conv_kernel_size",
        bias="convolution_bias",
    ),
    Row("norm", LAYER + ".conv.norm", "hidden_size", bias="True"),
    Row("pointwise_conv2", LAYER + ".conv.pointwise_conv2", "hidden_size, hidden_size, 1", bias="convolution_bias"),
    Row(
        "feed_forward2_linear1",
        LAYER + ".feed_forward2.linear1",
        "intermediate_size, hidden_size",
        bias="attention_bias",
    ),
    Row(
        "feed_forward2_linear2",
        LAYER + ".feed_forward2.linear2",
        "hidden_size, intermediate_size",
        bias="attention_bias",
    ),
    Row("norm_feed_forward1", LAYER + ".norm_feed_forward1", "hidden_size", bias="True"),
    Row("norm_self_att", LAYER + ".norm_self_att", "hidden_size", bias="True"),
    Row("norm_conv", LAYER + ".norm_conv", "hidden_size", bias="True"),
    Row("norm_feed_forward2", LAYER + ".norm_feed_forward2", "hidden_size", bias="True"),
    Row("norm_out", LAYER + ".norm_out", "hidden_size", bias="True"),
)

FAMILY = Family(
    name="parakeet_encoder",
    types={"parakeet_encoder": {}},
    rows=(
        *LAYERS,
        *subsampling("subsampling.layers"),
        Row(
            "subsampling_linear",
            "subsampling.linear",
            "hidden_size, num_mel_bins // subsampling_conv_stride ** subsampling_layers * subsampling_conv_channels",
            bias="True",
            group="embedding",
        ),
        Row("running_mean", LAYER + ".conv.norm.running_mean", "hidden_size", leaf="", buffer=True, persistent=True),
        Row("running_var", LAYER + ".conv.norm.running_var", "hidden_size", leaf="", buffer=True, persistent=True),
        Row("num_batches_tracked", LAYER + ".conv.norm.num_batches_tracked", "", leaf="", buffer=True, persistent=True),
    ),
    classes={"ParakeetEncoder": "ParakeetEncoder"},
    defaults={
        "attention_bias": True,
        "conv_kernel_size": 9,
        "convolution_bias": True,
        "hidden_size": 1024,
        "intermediate_size": 4096,
        "num_attention_heads": 8,
        "num_hidden_layers": 24,
        "num_mel_bins": 80,
        "subsampling_conv_channels": 256,
        "subsampling_conv_kernel_size": 3,
        "subsampling_conv_stride": 2,
        "subsampling_factor": 8,
    },
    derived={
        "num_key_value_heads": "num_attention_heads",
        "head_dim": "hidden_size // num_attention_heads",
        "subsampling_layers": "bits(subsampling_factor + 1) - 1",
    },
    head="ParakeetEncoder",
)
