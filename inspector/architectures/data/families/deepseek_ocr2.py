"""DeepSeek-OCR 2 as Transformers has it: DeepSeek's mixture behind SAM and a small Qwen2."""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="deepseek_ocr2",
    types={"deepseek_ocr2": {}},
    rows=(
        Include("text_config", "model.", "model.", head="Model", default_type="deepseek_ocr2_text"),
        Include("vision_config", "model.", tower="vision", head="Model", default_type="deepseek_ocr2_vision"),
        Row(
            "projector",
            "model.projector.layers",
            "text_config.hidden_size, vision_config.encoder_config.hidden_size",
            bias="True",
            tower="projector",
        ),
        Row("view_seperator", "model.view_seperator", "text_config.hidden_size", leaf="", tower="projector"),
        Row(
            "lm_head",
            "lm_head",
            "text_config.vocab_size, text_config.hidden_size",
            heads="ForConditionalGeneration",
            tied="tie_word_embeddings",
        ),
    ),
    prefix="model.",
    head="ForConditionalGeneration",
    defaults={"text_config": {}, "tie_word_embeddings": False, "vision_config": {}},
)
