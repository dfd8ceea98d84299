"""Qwen3-Omni's talker with what leads into it, and the small Qwen3 that tells the further codes of each step."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.table import Family, Include, Row

TEXT, CODES = "text_config.", "code_predictor_config."
PREDICTOR = "code_predictor."


def projection(name: str) -> Iterator[Row]:
    """Two layers from the thinker's width to the talker's."""
    inner = TEXT + "intermediate_size"
    for number, shape in ((1, f"{inner}, thinker_hidden_size"), (2, f"{TEXT}hidden_size, {inner}")):
        role = f"{name}_{number}"
        yield Row(role, f"{name}.linear_fc{number}", shape, bias="True", tower="projector", group="other")


def codes(role: str, name: str) -> Row:
    """A matrix for each code of a step but the first."""
    each = f"{PREDICTOR}{name}.{{code<{CODES}num_code_groups - 1}}"
    return Row(role, each, f"{CODES}vocab_size, {CODES}hidden_size", tower="code_predictor")


FAMILY = Family(
    name="qwen3_omni_moe_talker",
    types={"qwen3_omni_moe_talker": {}},
    rows=(
        *projection("text_projection"),
        *projection("hidden_projection"),
        Include("text_config", "model.", "model.", head="Model", default_type="qwen3_omni_moe_talker_text"),
        Row("lm_head", "codec_head", f"{TEXT}vocab_size, {TEXT}hidden_size"),
        codes("embed_tokens", "model.codec_embedding"),
        Include(
            "code_predictor_config",
            PREDICTOR + "model.",
            "model.",
            tower="code_predictor",
            head="Model",
            default_type="qwen3_omni_moe_talker_code_predictor",
            without="embed_tokens",
        ),
        codes("lm_head", "lm_head"),
    ),
    head="Model",
    defaults={
        "code_predictor_config": {"num_code_groups": 32},
        "text_config": {},
        "thinker_hidden_size": 2048,
    },
)
