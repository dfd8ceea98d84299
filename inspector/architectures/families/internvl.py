"""Model type internvl: text_config, vision_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="internvl",
    types={"internvl": {}},
    rows=(
        Include("text_config", "language_model.model.", head="Model", default_type="qwen2"),
        Include("vision_config", "vision_tower.", tower="vision", head="Model", default_type="internvl_vision"),
        Row(
            "layer_norm",
            "multi_modal_projector.layer_norm",
            "int(1 / downsample_ratio) ** 2 * vision_config.hidden_size",
            bias="True",
            tower="projector",
        ),
        Row(
            "linear_1",
            "multi_modal_projector.linear_1",
            "text_config.hidden_size, int(1 / downsample_ratio) ** 2 * vision_config.hidden_size",
            bias="True",
            tower="projector",
        ),
        Row(
            "linear_2",
            "multi_modal_projector.linear_2",
            "text_config.hidden_size, text_config.hidden_size",
            bias="True",
            tower="projector",
        ),
        Row(
            "lm_head",
            "language_model.lm_head",
            "text_config.vocab_size, text_config.hidden_size",
            heads="ForConditionalGeneration",
            tied="tie_word_embeddings",
        ),
    ),
    defaults={
        "downsample_ratio": 0.5,
        "text_config": {"hidden_size": 4096, "vocab_size": 151936},
        "tie_word_embeddings": True,
        "vision_config": {"hidden_size": 1024},
    },
    head="ForConditionalGeneration",
)
