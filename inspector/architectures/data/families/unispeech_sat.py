"""UniSpeech-SAT: UniSpeech that learns to tell voices too."""

from __future__ import annotations

from inspector.architectures.data.families import wav2vec2
from inspector.architectures.table import Family, Row

PREFIX = "unispeech_sat."

FAMILY = Family(
    name="unispeech-sat",
    types={"unispeech-sat": {}},
    rows=(
        wav2vec2.masked_embedding(PREFIX, ""),
        *wav2vec2.waveform_encoder(PREFIX),
        *wav2vec2.feature_projection(PREFIX),
        *wav2vec2.positional_convolution(PREFIX),
        *wav2vec2.layers(PREFIX),
        *wav2vec2.language_adapters(PREFIX),
        *wav2vec2.quantizer("hidden_size"),
        wav2vec2.linear(
            "speaker_proj", "speaker_proj", "codevector_dim, hidden_size", group="head", heads=wav2vec2.PRETRAINING
        ),
        Row(
            "label_embeddings",
            "label_embeddings_concat",
            "num_clusters, codevector_dim",
            heads=wav2vec2.PRETRAINING,
            leaf="",
            group="head",
        ),
        wav2vec2.linear("layer_norm_for_extract", "layer_norm_for_extract", "hidden_size", heads=wav2vec2.PRETRAINING),
        *wav2vec2.heads(),
    ),
    prefix=PREFIX,
    head=wav2vec2.PRETRAINING,
    defaults={**wav2vec2.SIZES, "num_clusters": 504},
    derived=wav2vec2.DERIVED,
)
