"""Model type embedding_gemma2: text_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="embedding_gemma2",
    types={"embedding_gemma2": {}},
    rows=(
        Include(
            "text_config",
            "language_model.",
            head="Model",
            default_type="embedding_gemma2_text",
            without="o_proj q_proj",
        ),
        Row("q_proj", "language_model.layers.{layer}.self_attn.q_proj", ""),
        Row("o_proj", "language_model.layers.{layer}.self_attn.o_proj", ""),
    ),
    names_only=True,
    head="Model",
)
