"""data2vec for audio: wav2vec 2.0 with several narrow convolutions that tell places."""

from __future__ import annotations

from inspector.architectures.data.families import wav2vec2
from inspector.architectures.table import Family

PREFIX = "data2vec_audio."

FAMILY = Family(
    name="data2vec-audio",
    types={"data2vec-audio": {}},
    rows=(
        wav2vec2.masked_embedding(PREFIX),
        *wav2vec2.waveform_encoder(PREFIX, ""),
        *wav2vec2.feature_projection(PREFIX),
        wav2vec2.linear(
            "embed_positions",
            PREFIX + "encoder.pos_conv_embed.layers.{layer<num_conv_pos_embeddings}.conv",
            "hidden_size, hidden_size // num_conv_pos_embedding_groups, conv_pos_kernel_size",
        ),
        *wav2vec2.layers(PREFIX),
        *wav2vec2.adapter(PREFIX),
        *wav2vec2.heads(),
    ),
    prefix=PREFIX,
    head=wav2vec2.CTC,
    defaults={**wav2vec2.SIZES, "num_conv_pos_embeddings": 5, "conv_pos_kernel_size": 19},
    derived=wav2vec2.DERIVED,
)
