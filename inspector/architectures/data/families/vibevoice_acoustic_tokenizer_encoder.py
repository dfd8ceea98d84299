"""Either half of VibeVoice's acoustic tokenizer alone: ConvNeXt blocks between convolutions that stride.

modeling_vibevoice_acoustic_tokenizer.py. Channels double from stage to stage; the first stage is the stem's.
"""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.table import Family, Row

STEM, LAYER = "stem.", "conv_layers.{layer<len(downsampling_ratios)}."


def blocks(at: str, number: str, width: str, tower: str) -> Iterator[Row]:
    """The ConvNeXt blocks of a stage: a depthwise convolution and a feed-forward, each scaled."""
    block = f"{at}stage.{{block<{number}}}."
    wide = f"ffn_expansion * {width}"
    for role, word, shape in (
        ("norm", "norm", width),
        ("ffn_norm", "ffn_norm", width),
    ):
        yield Row(role, block + word, shape, tower=tower)
    for role, word in (("gamma", "convolution"), ("ffn_gamma", "feed_forward")):
        yield Row(role, block + role, width, tower=tower, leaf="", group=word)
    for role, word, shape in (
        ("mixer", "mixer.conv", f"{width}, 1, kernel_size"),
        ("up_proj", "ffn.linear1", f"{wide}, {width}"),
        ("down_proj", "ffn.linear2", f"{width}, {wide}"),
    ):
        yield Row(
            role,
            block + word,
            shape,
            bias="True",
            tower=tower,
            group="convolution" if role == "mixer" else "",
        )


def convolution(role: str, name: str, shape: str, tower: str) -> Row:
    return Row(role, name, shape, bias="True", tower=tower)


def encoder(at: str = "", tower: str = "text") -> Iterator[Row]:
    """Sound to latents; the rows' names begin with `at`."""
    width = "num_filters * 2 ** (layer + 1)"
    widest = "num_filters * 2 ** len(downsampling_ratios)"
    yield convolution("conv_in", f"{at}{STEM}conv.conv", "num_filters, channels, kernel_size", tower)
    yield from blocks(at + STEM, "depths[0]", "num_filters", tower)
    down = f"{width}, num_filters * 2 ** layer, 2 * downsampling_ratios[layer]"
    yield convolution("conv", f"{at}{LAYER}conv.conv", down, tower)
    yield from blocks(at + LAYER, "depths[layer + 1]", width, tower)
    yield convolution("conv_out", f"{at}head.conv", f"hidden_size, {widest}, kernel_size", tower)


def decoder(
    at: str = "", tower: str = "text", first: str = "depths[0]", further: str = "depths[layer + 1]"
) -> Iterator[Row]:
    """Latents to sound; `first` and `further` are the blocks of its stages. A transposed convolution's outputs are second."""
    widest = "num_filters * 2 ** (len(depths) - 1)"
    into, width = "num_filters * 2 ** (len(depths) - 1 - layer)", "num_filters * 2 ** (len(depths) - 2 - layer)"
    yield convolution("conv_in", f"{at}{STEM}conv.conv", f"{widest}, hidden_size, kernel_size", tower)
    yield from blocks(at + STEM, first, widest, tower)
    up = f"{into}, {width}, 2 * downsampling_ratios[-1 - layer]"
    yield Row("conv_transposed", f"{at}{LAYER}convtr.convtr", up, tower=tower)
    yield Row("conv_transposed", f"{at}{LAYER}convtr.convtr", width, tower=tower, leaf="bias")
    yield from blocks(at + LAYER, further, width, tower)
    yield convolution("conv_out", f"{at}head.conv", "channels, num_filters, kernel_size", tower)


SIZES = {
    "channels": 1,
    "hidden_size": 64,
    "kernel_size": 7,
    "num_filters": 32,
    "downsampling_ratios": [2, 2, 4, 5, 5, 8],
    "depths": [3, 3, 3, 3, 3, 3, 8],
    "ffn_expansion": 4,
}

FAMILY = Family(
    name="vibevoice_acoustic_tokenizer_encoder",
    types={"vibevoice_acoustic_tokenizer_encoder": {}},
    rows=tuple(encoder()),
    head="Model",
    defaults=SIZES,
)
