"""Qwen3-Omni: a thinker that sees and hears and, where it is asked for, a talker and what makes sound of its codes."""

from __future__ import annotations

from inspector.architectures.table import Family, Include

SPEAKS = "enable_audio_output"

FAMILY = Family(
    name="qwen3_omni_moe",
    types={"qwen3_omni_moe": {}},
    rows=(
        Include("thinker_config", "thinker.", head="ForConditionalGeneration", default_type="qwen3_omni_moe_thinker"),
        Include(
            "talker_config",
            "talker.",
            tower="talker",
            head="Model",
            default_type="qwen3_omni_moe_talker",
            when=SPEAKS,
        ),
        Include(
            "code2wav_config",
            "code2wav.",
            tower="code2wav",
            head="Model",
            default_type="qwen3_omni_moe_code2wav",
            when=SPEAKS,
        ),
    ),
    head="ForConditionalGeneration",
    defaults={SPEAKS: True},
)
