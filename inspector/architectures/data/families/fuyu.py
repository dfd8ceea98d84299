"""Fuyu: Persimmon, with patches of the image in place of some tokens."""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="fuyu",
    types={"fuyu": {}},
    rows=(
        Include("text_config", "language_model.model.", strip="model.", head="Model", default_type="persimmon"),
        Row(
            "embed_patches",
            "vision_embed_tokens",
            "text_config.hidden_size, num_channels * patch_size * patch_size",
            bias="True",
            tower="projector",
        ),
        Row(
            "lm_head",
            "language_model.lm_head",
            "text_config.vocab_size, text_config.hidden_size",
            heads="ForCausalLM",
            tied="tie_word_embeddings",
        ),
    ),
    defaults={"num_channels": 3, "patch_size": 30, "text_config": {}, "tie_word_embeddings": False},
)
