"""Inkling 2: a mixture that sees."""

from __future__ import annotations

from inspector.architectures.data.families.inkling2_vision import HALF, PUBLISHED
from inspector.architectures.table import Family, Include, Row

GENERATION = "ForConditionalGeneration"
BODY = "model.llm."

FAMILY = Family(
    name="inkling2",
    types={"inkling2": {}},
    rows=(
        Include(
            "vision_config",
            "model.visual.",
            tower="vision",
            head=PUBLISHED,
            default_type="inkling2_vision",
            heads=GENERATION,
        ),
        Include(
            "vision_config",
            "vision_tower.",
            tower="vision",
            head=HALF,
            default_type="inkling2_vision",
            heads="Model",
        ),
        Include("text_config", BODY, BODY, head="Model", default_type="inkling2_text"),
        Row("lm_head", BODY + "unembed", "text_config.vocab_size, text_config.hidden_size", heads=GENERATION),
    ),
    prefix=BODY,
    prefixes={"Model": "language_model."},
    head=GENERATION,
    defaults={"text_config": {}, "vision_config": {}},
)
