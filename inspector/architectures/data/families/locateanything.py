"""LocateAnything, whose code comes with its checkpoints: Qwen2.5, MoonViT, and two layers between them.

The head is stored, though the configuration ties it.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

_MERGED = "vision_config.merge_kernel_size[0] * vision_config.merge_kernel_size[1] * vision_config.hidden_size"


def _projector(role: str, name: str, shape: str, group: str) -> Row:
    return Row(role, name, shape, bias="True", tower="projector", group=group)


FAMILY = Family(
    name="locateanything",
    types={"locateanything": {}},
    rows=(
        Include("text_config", "language_model.", head="ForCausalLM", default_type="qwen2", tied="False"),
        Include("vision_config", "vision_model.", tower="vision", head="Model", default_type="moonvit"),
        _projector("pre_norm", "mlp1.0", _MERGED, "norm"),
        _projector("linear_1", "mlp1.1", f"text_config.hidden_size, {_MERGED}", "other"),
        _projector("linear_2", "mlp1.3", "text_config.hidden_size, text_config.hidden_size", "other"),
    ),
    head="ForConditionalGeneration",
    defaults={"text_config": {}, "vision_config": {"hidden_size": 1152, "merge_kernel_size": [2, 2]}},
)
