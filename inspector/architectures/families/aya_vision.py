"""Model type aya_vision: text_config, vision_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="aya_vision",
    types={"aya_vision": {}},
    rows=(
        Include(
            "text_config",
            "language_model.",
            head="ForCausalLM",
            default_type="cohere2",
            heads="ForConditionalGeneration",
        ),
        Include("text_config", "language_model.model.", head="Model", default_type="cohere2", heads="Model"),
        Include("vision_config", "vision_tower.", tower="vision", head="Model", default_type="siglip_vision_model"),
        Row(
            "language_model_lm_head",
            "language_model.lm_head",
            "text_config.vocab_size, text_config.hidden_size",
            when="text_config.tie_word_embeddings",
            tied="tie_word_embeddings",
        ),
        Row(
            "layernorm",
            "multi_modal_projector.layernorm",
            "vision_config.hidden_size * downsample_factor * downsample_factor",
            bias="True",
            tower="projector",
        ),
        Row(
            "linear_1",
            "multi_modal_projector.linear_1",
            "text_config.hidden_size, vision_config.hidden_size * downsample_factor * downsample_factor",
            bias="True",
            tower="projector",
        ),
        Row(
            "linear_2",
            "multi_modal_projector.linear_2",
            "text_config.hidden_size, text_config.hidden_size // 2",
            bias="True",
            tower="projector",
        ),
    ),
    defaults={
        "downsample_factor": 2,
        "text_config": {"hidden_size": 8192, "tie_word_embeddings": True, "vocab_size": 256000},
        "tie_word_embeddings": True,
        "vision_config": {"hidden_size": 1152},
    },
    head="ForConditionalGeneration",
)
