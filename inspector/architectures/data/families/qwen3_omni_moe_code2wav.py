"""Qwen3-Omni's codes of speech as sound: a transformer, then convolutions each of which makes more of each step."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families.shared import gated
from inspector.architectures.table import Family, Row

LAYER = "pre_transformer.layers.{layer<num_hidden_layers}"
UPSAMPLE = "upsample.{stage_number<len(upsampling_ratios)}."
STEP = "decoder.{step<len(upsample_rates) + 3}."
WITHIN = "0 < step <= len(upsample_rates)"
INTO, OUT = "decoder_dim // 2 ** (step - 1)", "decoder_dim // 2 ** step"


def transformer() -> Iterator[Row]:
    """Layers whose outputs are scaled."""
    queries, keys = "num_attention_heads * head_dim", "num_key_value_heads * head_dim, hidden_size"
    attention = LAYER + ".self_attn."
    yield Row("embed_tokens", "code_embedding", "codebook_size * num_quantizers, hidden_size")
    yield Row("input_layernorm", LAYER + ".input_layernorm", "hidden_size")
    yield Row("q_proj", attention + "q_proj", f"{queries}, hidden_size", bias="attention_bias")
    yield Row("k_proj", attention + "k_proj", keys, bias="attention_bias")
    yield Row("v_proj", attention + "v_proj", keys, bias="attention_bias")
    yield Row("o_proj", attention + "o_proj", f"hidden_size, {queries}", bias="attention_bias")
    yield Row("attention_scale", LAYER + ".self_attn_layer_scale.scale", "hidden_size", leaf="")
    yield Row("post_attention_layernorm", LAYER + ".post_attention_layernorm", "hidden_size")
    yield from gated(LAYER + ".mlp", "intermediate_size")
    yield Row("mlp_scale", LAYER + ".mlp_layer_scale.scale", "hidden_size", leaf="")
    yield Row("norm", "pre_transformer.norm", "hidden_size")


def upsampling() -> Iterator[Row]:
    """A transposed convolution and ConvNeXt's block."""
    shape = "hidden_size, hidden_size, upsampling_ratios[stage_number]"
    yield Row("upsample_conv", UPSAMPLE + "0.conv", shape, bias="True")
    block = UPSAMPLE + "1."
    yield Row("upsample_depthwise_conv", block + "dwconv.conv", "hidden_size, 1, 7", bias="True")
    yield Row("upsample_norm", block + "norm", "hidden_size", bias="True")
    yield Row("upsample_up_proj", block + "pwconv1", "4 * hidden_size, hidden_size", bias="True")
    yield Row("upsample_down_proj", block + "pwconv2", "hidden_size, 4 * hidden_size", bias="True")
    yield Row("upsample_scale", block + "gamma", "hidden_size", leaf="", group="feed_forward")


def snake(role: str, name: str, width: str, when: str) -> Iterator[Row]:
    """SnakeBeta's frequency and magnitude for each channel."""
    for word in ("alpha", "beta"):
        yield Row(f"{role}_{word}", f"{name}{word}", width, when=when, leaf="", group="convolution")


def decoder() -> Iterator[Row]:
    """Half the channels and more steps in each block; the numbers of its list are told apart by place alone."""
    yield Row("decoder_conv", STEP + "conv", "decoder_dim, hidden_size, 7", bias="True", when="step == 0")
    last = "decoder_dim // 2 ** len(upsample_rates)"
    yield Row("decoder_conv", STEP + "conv", f"1, {last}, 7", bias="True", when="step == len(upsample_rates) + 2")
    yield from snake("decoder_act", STEP, last, "step == len(upsample_rates) + 1")
    yield from snake("block_act", STEP + "block.0.", INTO, WITHIN)
    kernel = "2 * upsample_rates[step - 1]"
    yield Row("block_conv", STEP + "block.1.conv", f"{INTO}, {OUT}, {kernel}", when=WITHIN, group="convolution")
    yield Row("block_conv", STEP + "block.1.conv", OUT, when=WITHIN, leaf="bias", group="convolution")
    for unit in (2, 3, 4):  # with growing dilations: modeling_qwen3_omni_moe.py
        at = f"{STEP}block.{unit}."
        for number, size in ((1, 7), (2, 1)):
            yield from snake(f"unit_act{number}", f"{at}act{number}.", OUT, WITHIN)
            shape, name = f"{OUT}, {OUT}, {size}", f"{at}conv{number}.conv"
            yield Row(f"unit_conv{number}", name, shape, bias="True", when=WITHIN)


FAMILY = Family(
    name="qwen3_omni_moe_code2wav",
    types={"qwen3_omni_moe_code2wav": {}},
    rows=(*transformer(), *upsampling(), *decoder()),
    head="Model",
    defaults={
        "attention_bias": False,
        "codebook_size": 2048,
        "decoder_dim": 1536,
        "hidden_size": 1024,
        "intermediate_size": 3072,
        "num_attention_heads": 16,
        "num_hidden_layers": 8,
        "num_key_value_heads": 16,
        "num_quantizers": 16,
        "upsample_rates": [8, 5, 4, 3],
        "upsampling_ratios": [2, 2],
    },
    derived={"head_dim": "hidden_size // num_attention_heads"},
)
