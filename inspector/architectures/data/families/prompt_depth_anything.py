"""Prompt Depth Anything: Depth Anything whose joining also takes a coarse depth in."""

from __future__ import annotations

from inspector.architectures.data.families.depth_anything import DEFAULTS, SQUARE, convolution, head, neck
from inspector.architectures.table import Family, Include

PROMPT = "neck.fusion_stage.layers.{layer<len(neck_hidden_sizes)}.prompt_depth_layer.convolution"

FAMILY = Family(
    name="prompt_depth_anything",
    types={"prompt_depth_anything": {}},
    rows=(
        Include("backbone_config", "backbone.", tower="vision", head="Model", default_type="dinov2"),
        *neck("reassemble_hidden_size"),
        convolution("prompt_convolution1", PROMPT + "1", "fusion_hidden_size, 1, 3, 3"),
        convolution("prompt_convolution2", PROMPT + "2", f"{SQUARE}, 3, 3"),
        convolution("prompt_convolution3", PROMPT + "3", f"{SQUARE}, 3, 3"),
        *head("head", "head_hidden_size"),
    ),
    defaults={**DEFAULTS, "backbone_config": {"hidden_size": 384, "image_size": 518, "num_attention_heads": 6}},
    head="ForDepthEstimation",
)
