"""Model type fuyu: text_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="fuyu",
    types={"fuyu": {}},
    rows=(
        Include("text_config", "language_model.", head="ForCausalLM", default_type="persimmon", heads="ForCausalLM"),
        Include("text_config", "language_model.model.", head="Model", default_type="persimmon", heads="Model"),
        Row(
            "vision_embed_tokens",
            "vision_embed_tokens",
            "text_config.hidden_size, num_channels * patch_size * patch_size",
            bias="True",
        ),
    ),
    defaults={"num_channels": 3, "patch_size": 30, "text_config": {"hidden_size": 4096}},
)
