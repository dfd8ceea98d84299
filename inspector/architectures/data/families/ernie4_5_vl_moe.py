"""ERNIE 4.5 VL: a mixture with experts for what is seen, a tower, and a resampler over neighbours in space and time."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.table import Family, Include, Row

RESAMPLER = "model.resampler_model."
MERGED = "vision_config.hidden_size * vision_config.spatial_merge_size ** 2"
TEXT = "text_config.hidden_size"


def merging(name: str, into: str) -> Iterator[Row]:
    """Two layers and a norm, which in checkpoints are numbers of one list."""
    for number, shape in ((0, f"{MERGED}, {into}"), (2, f"{MERGED}, {MERGED}"), (3, MERGED)):
        yield Row(name, f"{RESAMPLER}{name}.{number}", shape, bias="True", tower="projector", group="other")


FAMILY = Family(
    name="ernie4_5_vl_moe",
    types={"ernie4_5_vl_moe": {}},
    rows=(
        Include("text_config", "model.", "model.", head="Model", default_type="ernie4_5_vl_moe_text"),
        Include(
            "vision_config", "model.vision_model.", tower="vision", head="Model", default_type="ernie4_5_vl_moe_vision"
        ),
        *merging("spatial_linear", MERGED),
        *merging("temporal_linear", f"vision_config.temporal_merge_size * {MERGED}"),
        Row("resampler_proj", RESAMPLER + "mlp", f"{TEXT}, {MERGED}", bias="True", tower="projector", group="other"),
        Row("resampler_norm", RESAMPLER + "after_norm", TEXT, tower="projector"),
        Row(
            "lm_head",
            "lm_head",
            f"text_config.vocab_size, {TEXT}",
            heads="ForConditionalGeneration",
            tied="tie_word_embeddings",
        ),
    ),
    prefix="model.",
    head="ForConditionalGeneration",
    defaults={"text_config": {}, "tie_word_embeddings": True, "vision_config": {}},
)
