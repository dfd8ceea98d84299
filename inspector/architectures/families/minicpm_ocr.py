"""Model type minicpm_ocr: text_config, vision_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

LAYER = "model.merger.mlp.{layer<merger_times}"

FAMILY = Family(
    name="minicpm_ocr",
    types={"minicpm_ocr": {}},
    rows=(
        Include("text_config", "model.language_model.", head="Model", default_type="qwen3_5_text"),
        Include(
            "vision_config", "model.vision_tower.", tower="vision", head="Model", default_type="minicpm_ocr_vision"
        ),
        Row("pre_norm", LAYER + ".pre_norm", "4 * vision_config.hidden_size", bias="True"),
        Row(
            "linear_1",
            LAYER + ".linear_1",
            "4 * vision_config.hidden_size, 4 * vision_config.hidden_size",
            bias="True",
            group="feed_forward",
        ),
        Row(
            "linear_2",
            LAYER + ".linear_2",
            "text_config.hidden_size, 4 * vision_config.hidden_size",
            bias="True",
            group="feed_forward",
        ),
        Row(
            "lm_head",
            "lm_head",
            "text_config.vocab_size, text_config.hidden_size",
            heads="ForConditionalGeneration",
            tied="tie_word_embeddings",
        ),
    ),
    prefix="model.",
    defaults={
        "merger_times": 1,
        "text_config": {"hidden_size": 4096, "vocab_size": 248320},
        "tie_word_embeddings": True,
        "vision_config": {"hidden_size": 768},
    },
    head="ForConditionalGeneration",
)
