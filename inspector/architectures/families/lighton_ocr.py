"""Model type lighton_ocr: text_config, vision_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="lighton_ocr",
    types={"lighton_ocr": {}},
    rows=(
        Include("text_config", "model.language_model.", head="Model", default_type="qwen3"),
        Include("vision_config", "model.vision_encoder.", tower="vision", head="Model", default_type="pixtral"),
        Row("vision_projection_norm", "model.vision_projection.norm", "vision_config.hidden_size"),
        Row(
            "merging_layer",
            "model.vision_projection.patch_merger.merging_layer",
            "vision_config.hidden_size, vision_config.hidden_size * spatial_merge_size * spatial_merge_size",
        ),
        Row("linear_1", "model.vision_projection.linear_1", "text_config.hidden_size, vision_config.hidden_size"),
        Row("linear_2", "model.vision_projection.linear_2", "text_config.hidden_size, text_config.hidden_size"),
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
        "spatial_merge_size": 2,
        "text_config": {"hidden_size": 1024, "vocab_size": 151936},
        "tie_word_embeddings": True,
        "vision_config": {"hidden_size": 1024},
    },
    head="ForConditionalGeneration",
)
