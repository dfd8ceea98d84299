"""SEW: wav2vec 2.0 whose transformer works on squeezed frames.

modeling_sew.py, and modeling_sew_d.py, whose layers are DeBERTa's.
"""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families import wav2vec2
from inspector.architectures.table import Family, Row


def around(prefix: str) -> Iterator[Row]:
    """What comes before and after the transformer."""
    yield wav2vec2.masked_embedding(prefix)
    yield from wav2vec2.waveform_encoder(prefix)
    yield wav2vec2.linear("feature_norm", prefix + "layer_norm", "conv_dim[-1]")
    yield wav2vec2.linear(
        "feature_projection",
        prefix + "feature_projection",
        "hidden_size, conv_dim[-1]",
        "conv_dim[-1] != hidden_size",
        "embedding",
    )
    yield from wav2vec2.positional_convolution(prefix)
    yield wav2vec2.linear(
        "upsample", prefix + "encoder.upsample.projection", "squeeze_factor * hidden_size, hidden_size"
    )


SIZES = {
    **wav2vec2.SIZES,
    "squeeze_factor": 2,
    "conv_dim": [64, 128, 128, 128, 128, 256, 256, 256, 256, 512, 512, 512, 512],
    "conv_kernel": [10, 3, 1, 3, 1, 3, 1, 3, 1, 2, 1, 2, 1],
}

FAMILY = Family(
    name="sew",
    types={"sew": {}},
    rows=(*around("sew."), *wav2vec2.layers("sew."), *wav2vec2.heads()),
    prefix="sew.",
    head=wav2vec2.CTC,
    defaults=SIZES,
    derived=wav2vec2.DERIVED,
)
