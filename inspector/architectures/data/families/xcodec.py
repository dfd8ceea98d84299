"""X-Codec: DAC's encoder and decoder, HuBERT, and codebooks of both together.

modeling_xcodec.py. HuBERT's features have an encoder and a decoder of their own.
"""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families import dac
from inspector.architectures.data.families.encodec import CODEBOOK, codebook
from inspector.architectures.table import Family, Include, Row

ACOUSTIC, SEMANTIC = "acoustic_model_config.hidden_size", "semantic_model_config.hidden_size"
BLOCK = "conv_blocks.{layer<len(strides)}."


def units(at: str, width: str, tower: str) -> Iterator[Row]:
    """A residual unit for each dilation."""
    unit = at + "res_units.{unit<len(block_dilations)}."
    yield Row("unit_conv1", unit + "conv1", f"{width}, {width}, unit_kernel_size", tower=tower)
    yield Row("unit_conv2", unit + "conv2", f"{width}, {width}, 1", tower=tower)


def semantic_encoder(at: str) -> Iterator[Row]:
    into = f"{SEMANTIC} if layer == 0 else scaled({SEMANTIC}, channel_ratios[layer - 1])"
    out = f"scaled({SEMANTIC}, channel_ratios[layer])"
    yield Row("semantic_conv_in", at + "conv", f"{SEMANTIC}, {SEMANTIC}, kernel_size", tower="encoder")
    yield from units(at + BLOCK, f"({into})", "encoder")
    yield Row(
        "semantic_conv",
        at + BLOCK + "conv",
        f"{out}, {into}, 3 if strides[layer] == 1 else 2 * strides[layer]",
        bias="True",
        tower="encoder",
    )


def semantic_decoder(at: str) -> Iterator[Row]:
    """Blocks that widen have a transposed convolution, inputs first, without a bias."""
    into = f"scaled({SEMANTIC}, channel_ratios[layer])"
    out = f"({SEMANTIC} if layer == len(strides) - 1 else scaled({SEMANTIC}, channel_ratios[layer + 1]))"
    plain = "strides[layer] == 1"
    first = f"scaled({SEMANTIC}, channel_ratios[0])"
    yield Row("semantic_conv_in", at + "conv1", f"{first}, {SEMANTIC}, kernel_size", tower="decoder")
    yield Row("semantic_conv", at + BLOCK + "conv", f"{out}, {into}, 3", bias="True", when=plain, tower="decoder")
    yield Row(
        "semantic_conv", at + BLOCK + "conv", f"{into}, {out}, 2 * strides[layer]", when=f"not {plain}", tower="decoder"
    )
    yield from units(at + BLOCK, out, "decoder")
    yield Row("semantic_conv_out", at + "conv2", f"{SEMANTIC}, {SEMANTIC}, kernel_size", tower="decoder")


FAMILY = Family(
    name="xcodec",
    types={"xcodec": {}},
    rows=(
        *dac.encoder("acoustic_encoder.", "acoustic_model_config."),
        *dac.decoder("acoustic_decoder.", "acoustic_model_config."),
        Include("semantic_model_config", "semantic_model.", tower="semantic", head="Model", default_type="hubert"),
        *semantic_encoder("encoder_semantic."),
        *semantic_decoder("decoder_semantic."),
        Row("fc", "fc", "hidden_size, hidden_size", bias="True", tower="projector"),
        Row("fc1", "fc1", f"{SEMANTIC}, hidden_size", bias="True", tower="projector", group="other"),
        Row("fc2", "fc2", f"{ACOUSTIC}, hidden_size", bias="True", tower="projector", group="other"),
        *codebook("quantizer.quantizers.{layer<num_quantizers}", CODEBOOK),
    ),
    head="Model",
    defaults={
        "target_bandwidths": [0.5, 1, 1.5, 2, 4],
        "sample_rate": 16000,
        "kernel_size": 3,
        "channel_ratios": [1, 1],
        "strides": [1, 1],
        "block_dilations": [1, 1],
        "unit_kernel_size": 3,
        "codebook_size": 1024,
        "semantic_model_config": {},
        "acoustic_model_config": {
            "encoder_hidden_size": 64,
            "downsampling_ratios": [8, 5, 4, 2],
            "decoder_hidden_size": 1024,
            "upsampling_ratios": [8, 5, 4, 2],
            "hidden_size": 256,
        },
    },
    # As many codebooks as the widest band needs, in bits a second: XcodecConfig.num_quantizers.
    derived={
        "hidden_size": f"{ACOUSTIC} + {SEMANTIC}",
        "codebook_dim": "hidden_size",
        "frame_rate": "ceil(sample_rate / product(acoustic_model_config.downsampling_ratios))",
        "num_quantizers": "int(1000 * target_bandwidths[-1] // (frame_rate * bits(codebook_size)))",
    },
)
