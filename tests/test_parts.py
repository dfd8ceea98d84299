"""A part of a whole is a model of its own, from the whole's rows."""

from __future__ import annotations

import inspector
from inspector.architectures.table import Family, Row
from inspector.architectures.table_file import part_of

WHOLE = Family(
    "whole",
    {"whole": {}},
    (
        Row("q_proj", "text.layers.{layer<text_config.depth}.q", "text_config.width, text_config.width"),
        Row("head", "text.head", "outer, text_config.width", bias="text_config.biased", heads="Model", tower="text"),
        Row("head", "text.other", "outer, text_config.width", heads="ForX"),
        Row("embed_patches", "vision.patches", "vision_config.width", tower="vision"),
    ),
    defaults={"outer": 5, "text_config": {"depth": 2, "width": 8}},
    derived={"text_config.biased": "text_config.width > 4", "vision_config.width": "text_config.width"},
)


def test_a_parts_fields_are_its_own() -> None:
    part = part_of(WHOLE, "text_config", "text.", head="Model")
    assert [row.name for row in part.rows if isinstance(row, Row)] == ["layers.{layer<depth}.q", "head"]
    assert [row.shape for row in part.rows if isinstance(row, Row)] == ["width, width", "outer, width"]
    assert part.defaults == {"depth": 2, "width": 8}
    assert part.derived == {"biased": "width > 4"}


def test_a_part_may_keep_its_names() -> None:
    part = part_of(WHOLE, "text_config", "text.", keep=True)
    assert [row.name for row in part.rows if isinstance(row, Row)][1:] == ["text.head", "text.other"]


def test_siglips_text_model_alone() -> None:
    """As many parameters as in the whole, and the names without `text_model.`."""
    text = {
        "hidden_size": 64,
        "num_hidden_layers": 1,
        "intermediate_size": 96,
        "vocab_size": 50,
        "max_position_embeddings": 7,
    }
    alone = inspector.predict({"model_type": "siglip_text_model", **text})
    layer = 4 * (64 * 64 + 64) + 2 * 64 * 96 + 96 + 64 + 4 * 64
    assert alone.parameters == layer + (50 + 7) * 64 + 2 * 64 + 64 * 64 + 64
    assert {row.name.split(".")[0] for row in alone.expected} == {"embeddings", "encoder", "final_layer_norm", "head"}
