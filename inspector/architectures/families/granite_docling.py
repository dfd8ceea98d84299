"""Model type granite_docling: text_config, vision_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="granite_docling",
    types={"granite_docling": {}},
    rows=(
        Include("text_config", "model.text_model.", head="Model", default_type="granite_docling_text"),
        Include(
            "vision_config", "model.vision_model.", tower="vision", head="Model", default_type="granite_docling_vision"
        ),
        Row(
            "att",
            "model.density_router.att",
            "1, vision_config.hidden_size",
            bias="True",
            when="density_router_hidden_size is not None",
            group="router",
        ),
        Row(
            "density_router_norm",
            "model.density_router.norm",
            "vision_config.hidden_size",
            bias="True",
            when="density_router_hidden_size is not None",
        ),
        Row(
            "up_proj",
            "model.density_router.fc1",
            "density_router_hidden_size, vision_config.hidden_size",
            bias="True",
            when="density_router_hidden_size is not None",
        ),
        Row(
            "down_proj",
            "model.density_router.fc2",
            "1, density_router_hidden_size",
            bias="True",
            when="density_router_hidden_size is not None",
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
        "density_router_hidden_size": None,
        "text_config": {"hidden_size": 1024, "vocab_size": 133800},
        "tie_word_embeddings": True,
        "vision_config": {"hidden_size": 768},
    },
    head="ForConditionalGeneration",
)
