"""HuBERT: wav2vec 2.0's architecture, taught otherwise."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families import wav2vec2
from inspector.architectures.table import Family, Row

PREFIX = "hubert."


def plain_positions() -> Iterator[Row]:
    """The convolution that tells places with a batch norm instead of a split weight, as the bestRQ models have it."""
    at = PREFIX + "encoder.pos_conv_embed."
    there = "conv_pos_batch_norm"
    yield Row(
        "embed_positions",
        at + "conv",
        "hidden_size, hidden_size // num_conv_pos_embedding_groups, num_conv_pos_embeddings",
        when=there,
    )
    yield wav2vec2.linear("embed_positions_norm", at + "batch_norm", "hidden_size", there, "norm")
    for statistic, shape in (
        ("running_mean", "hidden_size"),
        ("running_var", "hidden_size"),
        ("num_batches_tracked", ""),
    ):
        yield Row(
            "embed_positions_" + statistic,
            f"{at}batch_norm.{statistic}",
            shape,
            when=there,
            leaf="",
            buffer=True,
            persistent=True,
        )


FAMILY = Family(
    name="hubert",
    types={"hubert": {}},
    rows=(
        wav2vec2.masked_embedding(PREFIX),
        *wav2vec2.waveform_encoder(PREFIX),
        *wav2vec2.feature_projection(PREFIX, "feat_proj_layer_norm"),
        *wav2vec2.positional_convolution(PREFIX, "not conv_pos_batch_norm"),
        *plain_positions(),
        *wav2vec2.layers(PREFIX),
        *wav2vec2.language_adapters(PREFIX),
        *wav2vec2.heads(),
    ),
    prefix=PREFIX,
    head=wav2vec2.CTC,
    defaults={**wav2vec2.SIZES, "feat_proj_layer_norm": True, "conv_pos_batch_norm": False},
    derived=wav2vec2.DERIVED,
)
