"""Phi-4 multimodal's audio tower: a conformer after strided convolutions."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.table import Family, Row

LAYER = "encoders.{layer<num_blocks}"
ATTENTION, CONVOLUTION = LAYER + ".self_attn", LAYER + ".conv"
HEADS = "num_attention_heads * head_dim"
STEP = "embed.conv.{step<3 * halvings - 2}"


def feed_forward(name: str) -> Iterator[Row]:
    """One of the two feed-forward halves around the attention."""
    at = f"{LAYER}.{name}"
    yield Row(f"{name}_norm", at + ".layer_norm", "hidden_size", bias="True", group="norm")
    yield Row(f"{name}_gate_up_proj", at + ".gate_up_proj", "2 * intermediate_size, hidden_size", bias="True")
    yield Row(f"{name}_down_proj", at + ".down_proj", "hidden_size, intermediate_size", bias="True")


FAMILY = Family(
    name="phi4_multimodal_audio",
    types={"phi4_multimodal_audio": {}},
    rows=(
        Row("global_mean", "encoder_embedding.global_mean", "input_size", leaf="", buffer=True, persistent=True),
        Row("global_invstd", "encoder_embedding.global_invstd", "input_size", leaf="", buffer=True, persistent=True),
        # Each halving after the first is a convolution a channel, one over all channels, and an activation.
        Row("subsample_conv", STEP, "nemo_conv_channels, 1, 3, 3", bias="True", when="step == 0 or step % 3 == 2"),
        Row(
            "subsample_conv",
            STEP,
            "nemo_conv_channels, nemo_conv_channels, 1, 1",
            bias="True",
            when="step > 0 and step % 3 == 0",
        ),
        Row(
            "subsample_proj",
            "embed.out",
            "hidden_size, nemo_conv_channels * nemo_final_size",
            bias="True",
            group="convolution",
        ),
        Row(
            "relative_attention_bias",
            "relative_attention_bias_layer.bias_values",
            "bias_max_distance if bias_symmetric else 2 * bias_max_distance, num_attention_heads",
        ),
        *feed_forward("feed_forward_in"),
        Row("input_layernorm", LAYER + ".layer_norm_att", "hidden_size", bias="True"),
        Row("q_proj", ATTENTION + ".q_proj", f"{HEADS}, hidden_size", bias="True"),
        Row("k_proj", ATTENTION + ".k_proj", f"{HEADS}, hidden_size", bias="True"),
        Row("v_proj", ATTENTION + ".v_proj", f"{HEADS}, hidden_size", bias="True"),
        Row("o_proj", ATTENTION + ".o_proj", f"hidden_size, {HEADS}", bias="True"),
        Row("conv_norm", CONVOLUTION + ".layer_norm", "hidden_size", bias="True"),
        Row("glu_b1", CONVOLUTION + ".glu.b1", "1, ext_pw_out_channel, 1", leaf="", group="convolution"),
        Row("glu_b2", CONVOLUTION + ".glu.b2", "1, ext_pw_out_channel, 1", leaf="", group="convolution"),
        Row("glu_conv", CONVOLUTION + ".glu.ext_pw_conv_1d", "2 * ext_pw_out_channel, hidden_size, 1", bias="True"),
        Row(
            "depthwise_conv1d",
            CONVOLUTION + ".dw_sep_conv_1d.dw_conv",
            "depthwise_multiplier * hidden_size, 1, kernel_size",
            bias="True",
        ),
        Row(
            "pointwise_conv1d",
            CONVOLUTION + ".dw_sep_conv_1d.pw_conv",
            "depthwise_separable_out_channel, depthwise_multiplier * hidden_size, 1",
            bias="True",
        ),
        Row("out_conv1d", CONVOLUTION + ".ext_pw_conv_1d", "ext_pw_out_channel, hidden_size, 1", bias="True"),
        *feed_forward("feed_forward_out"),
        Row("post_feedforward_layernorm", LAYER + ".layer_norm", "hidden_size", bias="True"),
    ),
    head="Model",
    defaults={
        "bias_max_distance": 1000,
        "bias_symmetric": False,
        "depthwise_multiplier": 1,
        "depthwise_separable_out_channel": 1024,
        "downsample_rate": 1,
        "ext_pw_out_channel": 1024,
        "hidden_size": 1024,
        "input_size": 80,
        "intermediate_size": 1536,
        "kernel_size": 3,
        "nemo_conv_channels": 1024,
        "num_attention_heads": 16,
        "num_blocks": 24,
        "time_reduction": 8,
    },
    derived={
        "head_dim": "hidden_size // num_attention_heads",
        # The logarithm of two, rounded down.
        "halvings": "sum([2 ** (power + 1) <= time_reduction for power in range(16)])",
        "nemo_final_size": "ceil(input_size / 2 ** halvings)",
    },
    fields={"num_hidden_layers": "num_blocks"},
)
