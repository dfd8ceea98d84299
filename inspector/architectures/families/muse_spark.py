"""Model type muse_spark: audio_config, text_config, vision_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="muse_spark",
    types={"muse_spark": {}},
    rows=(
        Include("audio_config", "model.audio_tower.", tower="audio", head="Model", default_type="muse_spark_audio"),
        Include("text_config", "model.language_model.", head="Model", default_type="muse_spark_text"),
        Include("vision_config", "model.vision_tower.", tower="vision", head="Model", default_type="muse_spark_vision"),
        Row("up_proj", "model.vision_adapter.fc1", "projector_hidden_size, out_hidden_size"),
        Row("down_proj", "model.vision_adapter.fc2", "projector_hidden_size, projector_hidden_size"),
        Row("vision_projection", "model.vision_projection", "audio_config.out_hidden_size, projector_hidden_size"),
        Row(
            "lm_head",
            "lm_head",
            "text_config.vocab_size, audio_config.out_hidden_size",
            heads="ForConditionalGeneration",
        ),
    ),
    prefix="model.",
    defaults={
        "audio_config": {"out_hidden_size": 8192},
        "out_hidden_size": 6144,
        "projector_hidden_size": 4096,
        "text_config": {"vocab_size": 202048},
    },
    head="ForConditionalGeneration",
)
