"""HiFi-GAN, a vocoder: from a spectrogram, or another model's states, to sound.

modeling_speecht5.py and modeling_fastspeech2_conformer.py have it alone, others as a part.
"""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.table import Family, Row


def hifigan(at: str, into: str, config: str = "", *, bias: str = "True") -> Iterator[Row]:
    """Transposed convolutions that halve the channels, each with residual blocks of several kernels.

    Args:
        into: channels that it is fed. config: before the fields' names, where they are nested.
        bias: condition for a bias of the last convolution.
    """
    first, kernels = f"{config}upsample_initial_channel", f"{config}resblock_kernel_sizes"
    stages = f"len({config}upsample_rates)"
    dilations = f"{config}resblock_dilation_sizes[layer % len({kernels})]"
    width = f"{first} // 2 ** (layer // len({kernels}) + 1)"
    up = at + f"upsampler.{{layer<{stages}}}"
    yield Row("conv_pre", at + "conv_pre", f"{first}, {into}, 7", bias="True")
    shape = f"{first} // 2 ** layer, {first} // 2 ** (layer + 1), {config}upsample_kernel_sizes[layer]"
    yield Row("upsampler", up, shape, group="convolution")
    yield Row("upsampler", up, f"{first} // 2 ** (layer + 1)", leaf="bias", group="convolution")
    for word in ("convs1", "convs2"):
        name = at + f"resblocks.{{layer<{stages} * len({kernels})}}.{word}.{{at<len({dilations})}}"
        yield Row(word, name, f"{width}, {width}, {kernels}[layer % len({kernels})]", bias="True")
    yield Row("conv_post", at + "conv_post", f"1, {first} // 2 ** {stages}, 7", bias=bias)


def statistic(word: str) -> Row:
    """What the spectrogram is normalized by."""
    return Row(word, word, "model_in_dim", leaf="", buffer=True, persistent=True)


FAMILY = Family(
    name="hifigan",
    types={
        "fastspeech2_conformer_hifigan": {},
        "speecht5_hifigan": {"upsample_rates": [4, 4, 4, 4], "upsample_kernel_sizes": [8, 8, 8, 8]},
    },
    rows=(*hifigan("", "model_in_dim"), statistic("mean"), statistic("scale")),
    head="Model",
    defaults={
        "model_in_dim": 80,
        "upsample_initial_channel": 512,
        "upsample_rates": [8, 8, 2, 2],
        "upsample_kernel_sizes": [16, 16, 4, 4],
        "resblock_kernel_sizes": [3, 7, 11],
    },
    derived={"resblock_dilation_sizes": "[[1, 3, 5], [1, 3, 5], [1, 3, 5]]"},
)
