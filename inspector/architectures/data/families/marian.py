"""Marian: BART with two vocabularies, and positions that its translating class does not store."""

from __future__ import annotations

from inspector.architectures.data.families.bart import DECODER_LAYERS, DEFAULTS, ENCODER_LAYERS, FIELDS
from inspector.architectures.table import Family, Row

WHOLE = "Model ForConditionalGeneration"

FAMILY = Family(
    name="marian",
    types={"marian": {}},
    rows=(
        Row(
            "embed_tokens", "model.shared", "vocab_size, d_model", when="share_encoder_decoder_embeddings", heads=WHOLE
        ),
        Row(
            "embed_tokens",
            "model.encoder.embed_tokens",
            "vocab_size, d_model",
            heads=WHOLE,
            tied="tie_word_embeddings and share_encoder_decoder_embeddings",
            tower="encoder",
        ),
        Row(
            "embed_tokens",
            "model.decoder.embed_tokens",
            "decoder_vocab_size, d_model",
            heads=WHOLE,
            tied="tie_word_embeddings and share_encoder_decoder_embeddings",
            tower="decoder",
        ),
        Row(
            "embed_tokens",
            "model.decoder.embed_tokens",
            "decoder_vocab_size, d_model",
            heads="ForCausalLM body",
            tower="decoder",
        ),
        Row(
            "embed_positions",
            "model.encoder.embed_positions",
            "max_position_embeddings, d_model",
            heads="Model",
            tower="encoder",
        ),
        Row(
            "embed_positions",
            "model.decoder.embed_positions",
            "max_position_embeddings, d_model",
            heads="Model ForCausalLM body",
            tower="decoder",
        ),
        *ENCODER_LAYERS,
        *DECODER_LAYERS,
        Row(
            "lm_head",
            "lm_head",
            "vocab_size if share_encoder_decoder_embeddings else decoder_vocab_size, d_model",
            heads="ForConditionalGeneration",
            tied="tie_word_embeddings",
        ),
        Row("lm_head", "lm_head", "vocab_size, d_model", heads="ForCausalLM", tied="tie_word_embeddings"),
        Row(
            "final_logits_bias",
            "final_logits_bias",
            "1, vocab_size if share_encoder_decoder_embeddings else decoder_vocab_size",
            heads="ForConditionalGeneration",
            leaf="",
            buffer=True,
            persistent=True,
        ),
    ),
    prefix="model.",
    classes={"MarianMTModel": "ForConditionalGeneration"},
    defaults={**DEFAULTS, "vocab_size": 58101, "share_encoder_decoder_embeddings": True},
    derived={"decoder_vocab_size": "vocab_size"},
    fields=FIELDS,
    head="ForConditionalGeneration",
)
