"""Model type speech-encoder-decoder: decoder, encoder by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="speech-encoder-decoder",
    types={"speech-encoder-decoder": {}},
    rows=(
        Include("decoder", "decoder.", tower="decoder", head="body", default_type="bert"),
        Include("encoder", "encoder.", tower="encoder", head="Model", default_type="wav2vec2"),
        Row("mlm_bias", "decoder.cls.predictions", "decoder.vocab_size", tower="decoder", leaf="bias"),
        Row(
            "mlm_dense",
            "decoder.cls.predictions.transform.dense",
            "decoder.hidden_size, decoder.hidden_size",
            bias="True",
            tower="decoder",
        ),
        Row(
            "mlm_norm",
            "decoder.cls.predictions.transform.LayerNorm",
            "decoder.hidden_size",
            bias="True",
            tower="decoder",
        ),
    ),
    defaults={"decoder": {"hidden_size": 768, "num_attention_heads": 12, "num_hidden_layers": 12, "vocab_size": 30522}},
    head="Model",
)
