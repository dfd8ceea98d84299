"""Emu3: Llama over words and over the tokens of images."""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="emu3",
    types={"emu3": {}},
    rows=(
        Include("text_config", "text_model.model.", "model.", head="Model", default_type="emu3_text_model"),
        Row(
            "lm_head",
            "text_model.lm_head",
            "text_config.vocab_size, text_config.hidden_size",
            heads="ForConditionalGeneration",
            tied="tie_word_embeddings",
        ),
        Include("vq_config", "vqmodel.", tower="vq", head="Model", default_type="emu3_vqgan"),
    ),
    head="ForConditionalGeneration",
    defaults={"text_config": {}, "tie_word_embeddings": False, "vq_config": {}},
)
