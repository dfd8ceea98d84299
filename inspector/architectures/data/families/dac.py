"""DAC: residual units that halve the sound's frames and double its channels, codebooks, and the way back.

modeling_dac.py; X-Codec takes encoder and decoder under names of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from inspector.architectures.table import Family, Row

#: An activation that learns: role, path, channels, tower.
Activation = Callable[[str, str, str, str], Iterator[Row]]


def snake(role: str, name: str, width: str, tower: str) -> Iterator[Row]:
    """An activation with a learnt frequency a channel."""
    yield Row(role, name + ".alpha", f"1, {width}, 1", tower=tower, leaf="", group="convolution")


def unit(at: str, number: int, width: str, tower: str, activation: Activation) -> Iterator[Row]:
    """A residual unit: two convolutions with an activation before each."""
    name = f"{at}res_unit{number}."
    for word, kernel in (("1", "7"), ("2", "1")):
        yield from activation(f"res_unit{number}_snake{word}", f"{name}snake{word}", width, tower)
        yield Row(
            f"res_unit{number}_conv{word}", f"{name}conv{word}", f"{width}, {width}, {kernel}", bias="True", tower=tower
        )


def encoder(at: str, config: str = "", activation: Activation = snake) -> Iterator[Row]:
    """The way down.

    Args:
        at: before the names. config: before the fields' names, where they are nested.
    """
    ratios, first = f"{config}downsampling_ratios", f"{config}encoder_hidden_size"
    block, width = f"{at}block.{{layer<len({ratios})}}.", f"{first} * 2 ** layer"
    widest = f"{first} * 2 ** len({ratios})"
    yield Row("conv_in", at + "conv1", f"{first}, 1, 7", bias="True", tower="encoder")
    for number in (1, 2, 3):
        yield from unit(block, number, width, "encoder", activation)
    yield from activation("snake", block + "snake1", width, "encoder")
    down = f"{first} * 2 ** (layer + 1), {width}, 2 * {ratios}[layer]"
    yield Row("conv", block + "conv1", down, bias="True", tower="encoder")
    yield from activation("snake_out", at + "snake1", widest, "encoder")
    yield Row("conv_out", at + "conv2", f"{config}hidden_size, {widest}, 3", bias="True", tower="encoder")


def decoder(at: str, config: str = "") -> Iterator[Row]:
    """The way up, likewise; a transposed convolution's outputs are second."""
    ratios, first = f"{config}upsampling_ratios", f"{config}decoder_hidden_size"
    block = f"{at}block.{{layer<len({ratios})}}."
    wide, width = f"{first} // 2 ** layer", f"{first} // 2 ** (layer + 1)"
    narrowest = f"{first} // 2 ** len({ratios})"
    yield Row("conv_in", at + "conv1", f"{first}, {config}hidden_size, 7", bias="True", tower="decoder")
    yield from snake("snake", block + "snake1", wide, "decoder")
    yield Row(
        "conv_t", block + "conv_t1", f"{wide}, {width}, 2 * {ratios}[layer]", tower="decoder", group="convolution"
    )
    yield Row("conv_t", block + "conv_t1", width, tower="decoder", leaf="bias", group="convolution")
    for number in (1, 2, 3):
        yield from unit(block, number, width, "decoder", snake)
    yield from snake("snake_out", at + "snake1", narrowest, "decoder")
    yield Row("conv_out", at + "conv2", f"1, {narrowest}, 7", bias="True", tower="decoder")


QUANTIZER = "quantizer.quantizers.{layer<n_codebooks}."

FAMILY = Family(
    name="dac",
    types={"dac": {}},
    rows=(
        *encoder("encoder."),
        Row("codebook", QUANTIZER + "codebook", "codebook_size, codebook_dim", group="embedding"),
        Row("in_proj", QUANTIZER + "in_proj", "codebook_dim, hidden_size, 1", bias="True", group="convolution"),
        Row("out_proj", QUANTIZER + "out_proj", "hidden_size, codebook_dim, 1", bias="True", group="convolution"),
        *decoder("decoder."),
    ),
    head="Model",
    defaults={
        "encoder_hidden_size": 64,
        "downsampling_ratios": [2, 4, 8, 8],
        "decoder_hidden_size": 1536,
        "upsampling_ratios": [8, 8, 4, 2],
        "n_codebooks": 9,
        "codebook_size": 1024,
        "codebook_dim": 8,
    },
    derived={"hidden_size": "encoder_hidden_size * 2 ** len(downsampling_ratios)"},
)
