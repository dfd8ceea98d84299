"""The meaning of the tables' language and columns, where no single model shows it."""

from __future__ import annotations

from typing import Any

import pytest

import inspector
from inspector.architectures import family_of, formula
from inspector.architectures.formula import divisible
from inspector.architectures.naming import Namer
from inspector.architectures.prediction import predict
from inspector.architectures.scope import Scope
from inspector.model import Config

#: Widths of published networks: MobileNetV2 at 1.4 and 0.35, EfficientNet-B1 at 1.0 and B7 at 2.0, MobileViTV2's stem.
WIDTHS = (
    ((32 * 1.4, 8), 48),
    ((round(24 * 0.35), 8), 8),
    ((round(16 * 0.35), 8), 8),
    ((112 * 1.0, 8), 112),
    ((40 * 2.0, 8), 80),
    ((32 * 0.5, 8, 16), 16),
    ((20, 16), 32),  # 16 would be less than nine tenths
)


@pytest.mark.parametrize(("arguments", "width"), WIDTHS)
def test_a_mobile_networks_width(arguments: tuple[Any, ...], width: int) -> None:
    """The nearest multiple, but at least the stated minimum and nine tenths of the number."""
    assert divisible(*arguments) == width


def test_a_loop_takes_what_its_condition_allows() -> None:
    """The condition may name fields, which then count among those that the formula needs."""
    text = "sum([2 * layer for layer in range(layers) if layer % every])"
    assert formula.evaluate(text, {"layers": 6, "every": 3}) == 2 * (1 + 2 + 4 + 5)
    assert formula.names(text) == {"layers", "every"}


def names(config: dict[str, Any]) -> set[str]:
    return {row.name_of(key) for row in predict(Config(config, "config.json")).expected for key in row.keys()}


def test_a_backbone_is_a_class_of_its_own() -> None:
    """It has no prefix, has norms for the stages that it outputs, and no classifier."""
    given = {"model_type": "swin", "depths": [1, 1, 1, 1], "out_indices": [2, 4]}
    backbone = names({**given, "architectures": ["SwinBackbone"]})
    assert {name.split(".")[1] for name in backbone if name.startswith("hidden_states_norms.")} == {"stage2", "stage4"}
    classes = names({**given, "architectures": ["SwinForImageClassification"]})
    assert classes - backbone >= {"swin.embeddings.norm.weight", "classifier.weight"}
    assert backbone - classes >= {"embeddings.norm.weight"}


def test_another_part_loses_its_own_prefix() -> None:
    """Canary's encoder is FastConformer's; Llama in its place is written without the `model.` that it has alone."""
    small = {
        "hidden_size": 16,
        "intermediate_size": 24,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "vocab_size": 9,
    }
    found = names({"model_type": "canary", "encoder_config": {"model_type": "llama", **small}})
    assert "model.encoder.layers.0.self_attn.q_proj.weight" in found
    assert not any(name.startswith("model.encoder.model.") for name in found)


def test_a_part_that_is_given_needs_no_default_in_the_whole() -> None:
    """SAM 3's table has no default for its vision tower; the tower's own table does."""
    values = {"model_type": "sam3", "vision_config": {"model_type": "sam3_vision_model", "scale_factors": [2.0]}}
    family = family_of(values)
    assert family is not None
    vision = Scope(family, values)["vision_config"]
    assert (vision["scale_factors"], vision["fpn_hidden_size"]) == ([2.0], 256)


WHOLES = ("rf_detr", "grounding-dino", "mask2former", "sam3_video", "depth_pro")


@pytest.mark.parametrize("model_type", WHOLES)
def test_keys_of_parts_are_the_same_from_both_sides(model_type: str) -> None:
    """Numbers before a part, as in `backbone.0.encoder`, count; rows of a body alone explain names, too."""
    prediction = inspector.predict({"model_type": model_type})
    keys = {row.name_of(key): key for row in prediction.expected for key in row.keys()}
    named = Namer(family_of({"model_type": model_type}), {"model_type": model_type}).name(list(keys))
    assert named.keys() == list(keys.values())
    assert all(slot.row for slot in named.slots)
