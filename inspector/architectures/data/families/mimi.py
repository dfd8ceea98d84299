"""Mimi: SEANets with a transformer each, and codebooks apart for meaning and for sound; also either half alone.

modeling_mimi.py. Saved checkpoints keep the older, flat names: `encoder.layers`, `encoder_transformer.layers`.
"""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families.encodec import (
    ENCODER_STAGE,
    PERIOD,
    both,
    codebook,
    seanet_decoder,
    seanet_encoder,
)
from inspector.architectures.table import Family, Row


def plain(at: str, out: str, into: str, kernel: str, tower: str, when: str, transposed: bool) -> Iterator[Row]:
    """A convolution without normalization; a transposed one has its outputs second."""
    role = "shortcut_conv" if at.endswith("shortcut") else "conv"
    first, second = (into, out) if transposed else (out, into)
    yield Row(role, at + ".conv", f"{first}, {second}, {kernel}", when=when, tower=tower)
    yield Row(role, at + ".conv", out, when=when, tower=tower, leaf="bias")


def transformer(at: str, tower: str, when: str = "") -> Iterator[Row]:
    layer = at + ".layers.{layer<num_hidden_layers}."
    heads, shared = "num_attention_heads * head_dim", "num_key_value_heads * head_dim"
    for role, word, shape, bias in (
        ("input_layernorm", "input_layernorm", "hidden_size", "True"),
        ("q_proj", "self_attn.q_proj", f"{heads}, hidden_size", "attention_bias"),
        ("k_proj", "self_attn.k_proj", f"{shared}, hidden_size", "attention_bias"),
        ("v_proj", "self_attn.v_proj", f"{shared}, hidden_size", "attention_bias"),
        ("o_proj", "self_attn.o_proj", f"hidden_size, {heads}", "attention_bias"),
        ("post_attention_layernorm", "post_attention_layernorm", "hidden_size", "True"),
        ("up_proj", "mlp.fc1", "intermediate_size, hidden_size", ""),
        ("down_proj", "mlp.fc2", "hidden_size, intermediate_size", ""),
    ):
        yield Row(role, layer + word, shape, bias=bias, when=when, tower=tower)
    for word in ("self_attn_layer_scale", "mlp_layer_scale"):
        yield Row(word, f"{layer}{word}.scale", "hidden_size", when=when, tower=tower, leaf="")


def encoder_half(seanet: str = "encoder_seanet.layers", latents: str = "latent_dim") -> Iterator[Row]:
    """Audio to latents."""
    yield from seanet_encoder(seanet, plain)
    yield from transformer("encoder_transformer", "encoder")
    yield Row(
        "downsample",
        "downsample.conv",
        f"{latents}, hidden_size, 2 * latent_stride",
        when="frame_rate != encodec_frame_rate",
        tower="encoder",
        group="convolution",
    )


def decoder_half(seanet: str = "decoder_seanet.layers") -> Iterator[Row]:
    """Latents to audio."""
    yield Row(
        "upsample",
        "upsample.conv",
        "hidden_size, hidden_size // upsample_groups, 2 * latent_stride",
        when="frame_rate != encodec_frame_rate",
        tower="decoder",
        group="convolution",
    )
    yield from transformer("decoder_transformer", "decoder")
    yield from seanet_decoder(seanet, plain)


CODEBOOK = (
    ("initialized", "1"),
    ("cluster_usage", "codebook_size"),
    ("embed_sum", "codebook_size, codebook_dim"),
)


def quantizer(word: str, number: str) -> Iterator[Row]:
    """Codebooks one after another, each for what the ones before it left over."""
    at = f"quantizer.{word}_residual_vector_quantizer"
    inner = "vector_quantization_hidden_dimension"
    narrows = f"{inner} != hidden_size"
    for role, shape in (("input_proj", f"{inner}, hidden_size, 1"), ("output_proj", f"hidden_size, {inner}, 1")):
        yield Row(f"{word}_{role}", f"{at}.{role}", shape, when=narrows, group="convolution")
    yield from codebook(f"{at}.layers.{{layer<{number}}}", CODEBOOK, word + "_")


#: Sizes of Mimi, and of Pocket TTS' tokenizer.
SIZES = {
    "sampling_rate": 24000,
    "audio_channels": 1,
    "hidden_size": 512,
    "num_filters": 64,
    "num_residual_layers": 1,
    "kernel_size": 7,
    "last_kernel_size": 3,
    "residual_kernel_size": 3,
    "compress": 2,
    "use_conv_shortcut": False,
    "upsample_groups": 512,
    "intermediate_size": 2048,
    "num_attention_heads": 8,
    "num_key_value_heads": 8,
    "attention_bias": False,
}
STAGES = {
    "head_dim": "hidden_size // num_attention_heads",
    "encodec_frame_rate": "ceil(sampling_rate / product(upsampling_ratios))",
    "encoder_stage": ENCODER_STAGE,
    "decoder_stage": f"(layer - 1) // {PERIOD}",
}


def only(when: str, rows: Iterator[Row]) -> Iterator[Row]:
    """The rows under a condition more."""
    return (row._replace(when=both(when, row.when)) for row in rows)


FAMILY = Family(
    name="mimi",
    types={"mimi": {"half": None}, "mimi_encoder": {"half": "encoder"}, "mimi_decoder": {"half": "decoder"}},
    rows=(
        *only("has_encoder", encoder_half("encoder.layers")),
        *only("has_decoder", decoder_half("decoder.layers")),
        *only("half is None", quantizer("semantic", "num_semantic_quantizers")),
        *only("half is None", quantizer("acoustic", "num_quantizers - num_semantic_quantizers")),
    ),
    head="Model",
    defaults={
        **SIZES,
        "_frame_rate": None,
        "encoder_config": {},
        "decoder_config": {},
        "codebook_size": 2048,
        "codebook_dim": 256,
        "num_quantizers": 32,
        "num_semantic_quantizers": 1,
        "vector_quantization_hidden_dimension": 256,
        "num_hidden_layers": 8,
    },
    # MimiConfig.frame_size: a last convolution halves the frames.
    derived={
        **STAGES,
        "has_encoder": "half == 'encoder' or half is None and encoder_config is not None",
        "has_decoder": "half == 'decoder' or half is None and decoder_config is not None",
        "upsampling_ratios": "[8, 6, 5, 4]",
        "latent_dim": "hidden_size",
        "frame_rate": "_frame_rate or sampling_rate / (2 * product(upsampling_ratios))",
        "latent_stride": "int(encodec_frame_rate / frame_rate)",
    },
)
