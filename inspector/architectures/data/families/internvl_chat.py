"""InternVL 1.2 to 3.5 as their authors publish them: any text model, InternViT, and two layers between them.

The pixels of `1 / downsample_ratio` patches a side are laid side by side before the projector.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

_SHUFFLED = "int(1 / downsample_ratio) ** 2 * vision_config.hidden_size"

FAMILY = Family(
    name="internvl_chat",
    types={"internvl_chat": {}},
    rows=(
        Include("llm_config", "language_model.", head="ForCausalLM", default_type="llama"),
        Include("vision_config", "vision_model.", tower="vision", head="Model", default_type="intern_vit_6b"),
        Row("pre_norm", "mlp1.0", _SHUFFLED, bias="True", tower="projector", group="norm"),
        Row(
            "linear_1", "mlp1.1", f"llm_config.hidden_size, {_SHUFFLED}", bias="True", tower="projector", group="other"
        ),
        Row(
            "linear_2",
            "mlp1.3",
            "llm_config.hidden_size, llm_config.hidden_size",
            bias="True",
            tower="projector",
            group="other",
        ),
    ),
    head="Model",
    classes={"InternVLChatModel": "Model"},
    defaults={"downsample_ratio": 0.5, "llm_config": {}, "vision_config": {"hidden_size": 3200}},
)
