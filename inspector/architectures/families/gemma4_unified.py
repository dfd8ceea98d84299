"""Model type gemma4_unified: text_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

LAYER = "model.language_model.layers.{layer}"

FAMILY = Family(
    name="gemma4_unified",
    types={"gemma4_unified": {}},
    rows=(
        Include(
            "text_config", "model.language_model.", strip="model.", head="body", default_type="gemma4_unified_text"
        ),
        Row("q_proj", LAYER + ".self_attn.q_proj", ""),
        Row("k_proj", LAYER + ".self_attn.k_proj", ""),
        Row("v_proj", LAYER + ".self_attn.v_proj", ""),
        Row("o_proj", LAYER + ".self_attn.o_proj", ""),
        Row("lm_head", "lm_head", ""),
    ),
    prefix="model.",
    names_only=True,
    head="ForConditionalGeneration",
)
