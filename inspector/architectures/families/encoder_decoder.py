"""Model type encoder-decoder: decoder, encoder by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="encoder-decoder",
    types={"encoder-decoder": {}},
    rows=(
        Include("decoder", "decoder.", tower="decoder", head="body", default_type="bert"),
        Include("encoder", "encoder.", tower="encoder", head="Model", default_type="bert"),
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
        Row(
            "lm_head",
            "decoder.cls.predictions.decoder",
            "decoder.vocab_size, decoder.hidden_size",
            bias="True",
            tied="decoder.tie_word_embeddings",
            tower="decoder",
        ),
        Row(
            "enc_to_dec_proj",
            "enc_to_dec_proj",
            "decoder.hidden_size, encoder.hidden_size",
            bias="True",
            when="num_labels > 2",
        ),
    ),
    defaults={
        "decoder": {
            "add_cross_attention": True,
            "hidden_size": 768,
            "num_attention_heads": 12,
            "num_hidden_layers": 12,
            "tie_word_embeddings": True,
            "vocab_size": 30522,
        },
        "encoder": {
            "add_cross_attention": False,
            "hidden_size": 768,
            "num_attention_heads": 12,
            "num_hidden_layers": 12,
        },
    },
    head="Model",
)
