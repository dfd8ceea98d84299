"""EnCodec: a SEANet of convolutions down and up again, codebooks in between; MusicGen's, and Mimi's forerunner.

modeling_encodec.py. A SEANet is one list of layers: a convolution, for each ratio of `upsampling_ratios` the residual
blocks, an activation and a convolution that strides (the decoder: first that, then the blocks), and a last one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from inspector.architectures.data.families.shared import lstm
from inspector.architectures.table import Family, Row

#: A convolution: path, channels out and in, kernel, tower, condition, whether it is transposed.
Convolution = Callable[[str, str, str, str, str, str, bool], Iterable[Row]]

#: Layers of one ratio: its residual blocks, an activation, the convolution that strides.
PERIOD = "(num_residual_layers + 2)"
LAYERS = f"len(upsampling_ratios) * {PERIOD}"
#: Channels between encoder and decoder: each stage doubles them.
WIDEST = "num_filters * 2 ** len(upsampling_ratios)"

WEIGHT_NORM, GROUP_NORM = "norm_type == 'weight_norm'", "norm_type == 'time_group_norm'"


def both(*conditions: str) -> str:
    return " and ".join(filter(None, conditions))


def normed(at: str, out: str, into: str, kernel: str, tower: str, when: str, transposed: bool) -> Iterator[Row]:
    """A convolution with weight normalization, which splits it into lengths and directions, or with a group norm."""
    first, second = (into, out) if transposed else (out, into)
    split = f"{at}.conv.parametrizations.weight.original"
    role = "shortcut_conv" if at.endswith("shortcut") else "conv"
    weighted, grouped = both(when, WEIGHT_NORM), both(when, GROUP_NORM)
    yield Row(role, at + ".conv", f"{first}, {second}, {kernel}", when=grouped, tower=tower)
    yield Row(role + "_g", split + "0", f"{first}, 1, 1", when=weighted, tower=tower, leaf="")
    yield Row(role + "_v", split + "1", f"{first}, {second}, {kernel}", when=weighted, tower=tower, leaf="")
    yield Row(role, at + ".conv", out, when=when, tower=tower, leaf="bias")
    yield Row(role + "_norm", at + ".norm", out, bias="True", when=grouped, tower=tower)


def residual(at: str, width: str, tower: str, when: str, convolution: Convolution) -> Iterator[Row]:
    """A residual block: two convolutions between activations, and a third beside them."""
    narrow = f"{width} // compress"
    yield from convolution(at + ".block.1", narrow, width, "residual_kernel_size", tower, when, False)
    yield from convolution(at + ".block.3", width, narrow, "1", tower, when, False)
    yield from convolution(at + ".shortcut", width, width, "1", tower, both(when, "use_conv_shortcut"), False)


def seanet_encoder(at: str, convolution: Convolution, before_last: int = 0) -> Iterator[Row]:
    """The SEANet that narrows, its layers below `at`; `before_last` counts layers between the stages and the end."""
    layer = f"{at}.{{layer<1 + {LAYERS}}}"
    width = "num_filters * 2 ** encoder_stage"
    yield from convolution(at + ".{layer<1}", "num_filters", "audio_channels", "kernel_size", "encoder", "", False)
    yield from residual(
        layer, width, "encoder", f"layer > 0 and 0 < layer % {PERIOD} <= num_residual_layers", convolution
    )
    yield from convolution(
        layer,
        "num_filters * 2 ** (encoder_stage + 1)",
        width,
        "2 * upsampling_ratios[-1 - encoder_stage]",
        "encoder",
        f"layer > 0 and layer % {PERIOD} == 0",
        False,
    )
    last = f"{LAYERS} + {2 + before_last}"
    yield from convolution(
        f"{at}.{{layer<1 + {last}}}",
        "hidden_size",
        WIDEST,
        "last_kernel_size",
        "encoder",
        f"layer == {last}",
        False,
    )


def seanet_decoder(at: str, convolution: Convolution, after_first: int = 0) -> Iterator[Row]:
    """The SEANet that widens, its layers below `at`; `after_first` counts layers between the first and the stages."""
    first = 1 + after_first
    layer = f"{at}.{{layer<{first} + {LAYERS}}}"
    width = "num_filters * 2 ** (len(upsampling_ratios) - 1 - decoder_stage)"
    yield from convolution(
        at + ".{layer<1}",
        WIDEST,
        "hidden_size",
        "kernel_size",
        "decoder",
        "",
        False,
    )
    yield from convolution(
        layer,
        width,
        "num_filters * 2 ** (len(upsampling_ratios) - decoder_stage)",
        "2 * upsampling_ratios[decoder_stage]",
        "decoder",
        f"layer >= {first} and (layer - {first}) % {PERIOD} == 1",
        True,
    )
    yield from residual(layer, width, "decoder", f"layer >= {first} and (layer - {first}) % {PERIOD} > 1", convolution)
    last = f"{LAYERS} + {first + 1}"
    yield from convolution(
        f"{at}.{{layer<1 + {last}}}",
        "audio_channels",
        "num_filters",
        "last_kernel_size",
        "decoder",
        f"layer == {last}",
        False,
    )


def codebook(at: str, tensors: Iterable[tuple[str, str]], role: str = "") -> Iterator[Row]:
    """What a codebook holds: learnt by averaging and not by gradients, so that they are buffers."""
    for word, shape in tensors:
        yield Row(role + word, f"{at}.codebook.{word}", shape, leaf="", buffer=True, persistent=True)


CODEBOOK = (
    ("inited", "1"),
    ("cluster_size", "codebook_size"),
    ("embed", "codebook_size, codebook_dim"),
    ("embed_avg", "codebook_size, codebook_dim"),
)

#: Which stage of a SEANet a layer belongs to.
ENCODER_STAGE = f"(layer - 1) // {PERIOD}"


FAMILY = Family(
    name="encodec",
    types={"encodec": {}},
    rows=(
        *seanet_encoder("encoder.layers", normed, before_last=1),
        *lstm(
            f"encoder.layers.{{layer<{LAYERS} + 2}}.lstm",
            WIDEST,
            "num_lstm_layers",
            when=f"layer == {LAYERS} + 1",
            tower="encoder",
        ),
        *seanet_decoder("decoder.layers", normed, after_first=1),
        *lstm("decoder.layers.{layer<2}.lstm", WIDEST, "num_lstm_layers", when="layer == 1", tower="decoder"),
        *codebook("quantizer.layers.{layer<num_quantizers}", CODEBOOK),
    ),
    head="Model",
    defaults={
        "sampling_rate": 24000,
        "audio_channels": 1,
        "hidden_size": 128,
        "num_filters": 32,
        "num_residual_layers": 1,
        "upsampling_ratios": [8, 5, 4, 2],
        "norm_type": "weight_norm",
        "kernel_size": 7,
        "last_kernel_size": 7,
        "residual_kernel_size": 3,
        "compress": 2,
        "num_lstm_layers": 2,
        "codebook_size": 1024,
        "target_bandwidths": [1.5, 3.0, 6.0, 12.0, 24.0],
        "use_conv_shortcut": True,
    },
    # As many codebooks as the widest band needs, in bits a second: EncodecConfig.num_quantizers.
    derived={
        "codebook_dim": "hidden_size",
        "frame_rate": "ceil(sampling_rate / product(upsampling_ratios))",
        "num_quantizers": "int(1000 * target_bandwidths[-1] // (frame_rate * bits(codebook_size)))",
        "encoder_stage": ENCODER_STAGE,
        "decoder_stage": f"(layer - 2) // {PERIOD}",
    },
)
