"""WavLM: wav2vec 2.0 with relative places that a gate weighs."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families import wav2vec2
from inspector.architectures.table import Family, Row

PREFIX = "wavlm."


def relative_places() -> Iterator[Row]:
    """A bias by distance, learnt in the first layer for all, and each layer's gate on it."""
    at = PREFIX + "encoder.layers.{layer<num_hidden_layers}.attention."
    yield Row("gru_rel_pos_const", at + "gru_rel_pos_const", "1, num_attention_heads, 1, 1", leaf="", group="attention")
    yield wav2vec2.linear(
        "gru_rel_pos_linear", at + "gru_rel_pos_linear", "8, hidden_size // num_attention_heads", group="attention"
    )
    yield Row("relative_attention_bias", at + "rel_attn_embed", "num_buckets, num_attention_heads", when="layer == 0")


FAMILY = Family(
    name="wavlm",
    types={"wavlm": {}},
    rows=(
        wav2vec2.masked_embedding(PREFIX),
        *wav2vec2.waveform_encoder(PREFIX),
        *wav2vec2.feature_projection(PREFIX),
        *wav2vec2.positional_convolution(PREFIX),
        *wav2vec2.layers(PREFIX),
        *relative_places(),
        *wav2vec2.adapter(PREFIX),
        *wav2vec2.heads(),
    ),
    prefix=PREFIX,
    head=wav2vec2.CTC,
    defaults={**wav2vec2.SIZES, "num_buckets": 320},
    derived=wav2vec2.DERIVED,
)
