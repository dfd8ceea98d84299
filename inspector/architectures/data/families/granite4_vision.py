"""Granite 4 Vision: Granite that is given the features of some layers of CLIP's tower at some layers of its own."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.table import Family, Include, Row

WIDTH = "vision_config.hidden_size"
#: One for each pair of layers; and one for each of the four neighbours of which one is sampled.
LAYERWISE = "model.layerwise_projectors.{projector<len(deepstack_layer_map)}."
SPATIAL = "model.spatial_projectors.{projector<4}."


def projector(at: str, tower: str) -> Iterator[Row | Include]:
    """A Q-Former that makes of each window of patches so many queries, both given by their sides: "4/8"."""
    for role, side in (("query", "numbers(downsample_rate)[0]"), ("image_positions", "numbers(downsample_rate)[1]")):
        yield Row(role, at + role, f"1, {side} ** 2, {WIDTH}", leaf="", tower=tower, group="embedding")
    yield Include("qformer_config", at + "qformer.", tower=tower, head="Model", default_type="blip_2_qformer")
    yield Row("norm", at + "norm", WIDTH, bias="True", tower=tower)
    yield Row("out_linear", at + "out_linear", f"text_config.hidden_size, {WIDTH}", bias="True", tower=tower)


FAMILY = Family(
    name="granite4_vision",
    types={"granite4_vision": {}},
    rows=(
        Include("text_config", "model.language_model.", "model.", head="Model", default_type="granite4_vision_text"),
        Include("vision_config", "model.vision_tower.", tower="vision", head="Model", default_type="clip_vision_model"),
        Row("image_newline", "model.image_newline", "text_config.hidden_size", leaf="", group="embedding"),
        *projector(LAYERWISE, "projector"),
        *projector(SPATIAL, "spatial_projector"),
        Row(
            "lm_head",
            "lm_head",
            "text_config.vocab_size, text_config.hidden_size",
            heads="ForConditionalGeneration",
            tied="tie_word_embeddings",
        ),
    ),
    prefix="model.",
    head="ForConditionalGeneration",
    defaults={"text_config": {}, "tie_word_embeddings": False, "vision_config": {}},
)
