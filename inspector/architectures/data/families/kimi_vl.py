"""Kimi-VL, whose code comes with its checkpoints: DeepSeek-V3's text model, MoonViT, and two layers between them."""

from __future__ import annotations

from inspector.architectures.data.families.shared import projector
from inspector.architectures.table import Family, Include

_MERGED = "vision_config.merge_kernel_size[0] * vision_config.merge_kernel_size[1] * vision_config.hidden_size"

FAMILY = Family(
    name="kimi_vl",
    types={"kimi_vl": {}},
    rows=(
        Include("text_config", "language_model.", head="ForCausalLM", default_type="deepseek_v3"),
        Include("vision_config", "vision_tower.", tower="vision", head="Model", default_type="moonvit"),
        projector("pre_norm", "pre_norm", "vision_config.hidden_size", bias="True"),
        projector("linear_1", "linear_1", f"{_MERGED}, {_MERGED}", bias="True"),
        projector("linear_2", "linear_2", f"text_config.hidden_size, {_MERGED}", bias="True"),
    ),
    head="ForConditionalGeneration",
    defaults={"text_config": {}, "vision_config": {"hidden_size": 1152, "merge_kernel_size": [2, 2]}},
)
