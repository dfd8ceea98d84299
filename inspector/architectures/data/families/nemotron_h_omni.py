"""Nemotron 3 Nano Omni: Nemotron-H that sees through RADIO and, where it is asked for, hears through Parakeet."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.table import Family, Include, Row

TEXT = "text_config.hidden_size"
#: As many patches as make one token, after the tower.
MERGED = "vision_hidden_size * int(1 / downsample_ratio) ** 2"
HEARS, AUDIO = "audio_config is not None", "sound_projection."


def image_projector() -> Iterator[Row]:
    """A norm and two layers, which are numbers of one list."""
    for number, shape in (
        (0, MERGED),
        (1, f"projector_hidden_size, {MERGED}"),
        (3, f"{TEXT}, projector_hidden_size"),
    ):
        yield Row("mlp1", f"mlp1.{number}", shape, tower="projector", group="other")


def audio_projector() -> Iterator[Row]:
    """A norm and two layers."""
    inner, outer = "audio_config.projection_hidden_size", "audio_config.hidden_size"
    yield Row("sound_norm", AUDIO + "norm", outer, when=HEARS, tower="projector")
    for role, shape in (("linear1", f"{inner}, {outer}"), ("linear2", f"{TEXT}, {inner}")):
        yield Row(
            "sound_" + role,
            AUDIO + role,
            shape,
            bias="audio_config.projection_bias",
            when=HEARS,
            tower="projector",
            group="other",
        )


FAMILY = Family(
    name="nemotron_h_omni",
    types={"nemotron_h_omni": {}},
    rows=(
        Include("text_config", "language_model.backbone.", head="Model", default_type="nemotron_h"),
        Row("lm_head", "language_model.lm_head", f"text_config.vocab_size, {TEXT}"),
        # Images are normalized before they reach the tower.
        Include(
            "vision_config",
            "vision_model.",
            tower="vision",
            head="Model",
            default_type="radio",
            without="norm_mean norm_std",
        ),
        Row(
            "norm",
            "vision_final_layernorm",
            "vision_hidden_size",
            bias="True",
            when="text_config.num_nextn_predict_layers > 0",
            tower="vision",
        ),
        *image_projector(),
        Include(
            "audio_config",
            "sound_encoder.encoder.",
            tower="audio",
            head="Model",
            default_type="parakeet_encoder",
            when=HEARS,
        ),
        *audio_projector(),
    ),
    classes={"NemotronH_Omni_Reasoning_V3": "ForConditionalGeneration"},
    head="ForConditionalGeneration",
    defaults={
        "audio_config": None,
        "downsample_ratio": 0.5,
        "projector_hidden_size": 4096,
        "text_config": {"num_nextn_predict_layers": 0},
        "vision_config": {},
        "vision_hidden_size": 1280,
    },
    fields={"vit_hidden_size": "vision_hidden_size"},
)
