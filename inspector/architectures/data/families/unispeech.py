"""UniSpeech: wav2vec 2.0 taught with and without labels at once."""

from __future__ import annotations

from inspector.architectures.data.families import wav2vec2
from inspector.architectures.table import Family

PREFIX = "unispeech."

FAMILY = Family(
    name="unispeech",
    types={"unispeech": {}},
    rows=(
        wav2vec2.masked_embedding(PREFIX),
        *wav2vec2.waveform_encoder(PREFIX),
        *wav2vec2.feature_projection(PREFIX),
        *wav2vec2.positional_convolution(PREFIX),
        *wav2vec2.layers(PREFIX),
        *wav2vec2.language_adapters(PREFIX),
        *wav2vec2.quantizer(hidden="hidden_size, proj_codevector_dim"),
        wav2vec2.linear(
            "ctc_proj", "ctc_proj", "num_ctc_classes, hidden_size", group="head", heads=wav2vec2.PRETRAINING
        ),
        *wav2vec2.heads(),
    ),
    prefix=PREFIX,
    head=wav2vec2.PRETRAINING,
    defaults={**wav2vec2.SIZES, "num_ctc_classes": 80},
    derived=wav2vec2.DERIVED,
)
