"""Step 3.7: Step 3.5's text model behind a tower, with one layer between them."""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

GENERATION = "ForConditionalGeneration"


def projector(name: str, heads: str) -> Row:
    """The layer between the tower and the text model, under the name that a class gives it."""
    shape = "text_config.hidden_size, 4 * vision_config.hidden_size"
    return Row("projector", name, shape, bias="projector_bias", tower="projector", heads=heads)


FAMILY = Family(
    name="step3p7",
    types={"step3p7": {}},
    rows=(
        Include("vision_config", "vision_model.", tower="vision", head="Model", default_type="step3p5_vision"),
        projector("vit_large_projector", GENERATION),
        projector("multi_modal_projector", "Model"),
        Include("text_config", "model.", head="Model", default_type="step3p5"),
        # Tied only where the whole says so, and its configuration has no such field.
        Row("lm_head", "lm_head", "text_config.vocab_size, text_config.hidden_size", heads=GENERATION),
    ),
    prefix="model.",
    prefixes={"Model": "language_model."},
    head=GENERATION,
    defaults={"projector_bias": False, "text_config": {}, "vision_config": {}},
)
