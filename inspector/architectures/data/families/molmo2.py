"""Molmo2: a text model, a tower, and attention that pools neighbouring patches of some of the tower's layers."""

from __future__ import annotations

from inspector.architectures.data.families.molmo2_text import INSIDE
from inspector.architectures.data.families.molmo2_vision import attention
from inspector.architectures.table import Family, Include, Row

BACKBONE = "model.vision_backbone."
PROJECTOR = BACKBONE + "image_projector."
WIDTH, INNER = "adapter_config.hidden_size", "adapter_config.intermediate_size"


def projector(role: str, name: str, shape: str, bias: str = "") -> Row:
    return Row(role, PROJECTOR + name, shape, bias=bias, tower="projector")


FAMILY = Family(
    name="molmo2",
    types={"molmo2": {}},
    rows=(
        Include("text_config", "model.transformer.", head=INSIDE, default_type="molmo2_text"),
        Include("vision_config", BACKBONE + "image_vit.", tower="vision", head="Model", default_type="molmo2_vision"),
        *attention(
            BACKBONE + "image_pooling_2d",
            f"len(adapter_config.vision_feature_layer) * {WIDTH}",
            "adapter_config.",
            "projector",
        ),
        projector("gate_proj", "w1", f"{INNER}, {WIDTH}", "adapter_config.mlp_bias"),
        projector("up_proj", "w3", f"{INNER}, {WIDTH}", "adapter_config.mlp_bias"),
        projector("down_proj", "w2", f"adapter_config.text_hidden_size, {INNER}"),
        Row("lm_head", "lm_head", "text_config.vocab_size, text_config.hidden_size", heads="ForConditionalGeneration"),
    ),
    prefix="model.",
    head="ForConditionalGeneration",
    defaults={
        "adapter_config": {
            "attention_bias": True,
            "head_dim": 72,
            "hidden_size": 1152,
            "intermediate_size": 18944,
            "mlp_bias": False,
            "num_attention_heads": 16,
            "num_key_value_heads": 16,
            "text_hidden_size": 3584,
            "vision_feature_layer": [24, 18],
        },
        "text_config": {},
        "vision_config": {},
    },
)
