"""Pop2Piano: T5 that reads a spectrogram, and a composer's token before it."""

from __future__ import annotations

from inspector.architectures.data.families.t5 import Stack
from inspector.architectures.table import Family, Row

FAMILY = Family(
    name="pop2piano",
    types={"pop2piano": {}},
    rows=(
        Row("embed_tokens", "shared", "vocab_size, d_model"),
        Row("composer_embedding", "mel_conditioner.embedding", "composer_vocab_size, d_model", group="embedding"),
        *Stack("encoder", "", body="").rows(crossed=False),
        *Stack("decoder", "", body="").rows(crossed=True),
        Row("lm_head", "lm_head", "vocab_size, d_model"),
    ),
    head="ForConditionalGeneration",
    defaults={
        "vocab_size": 2400,
        "composer_vocab_size": 21,
        "d_model": 512,
        "d_kv": 64,
        "d_ff": 2048,
        "num_layers": 6,
        "num_heads": 8,
        "relative_attention_num_buckets": 32,
        "feed_forward_proj": "gated-gelu",
        "biased": False,
    },
    derived={"num_decoder_layers": "num_layers"},
    fields={"num_hidden_layers": "num_layers", "hidden_size": "d_model", "num_attention_heads": "num_heads"},
)
