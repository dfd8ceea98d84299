"""Inkling: a mixture that sees and hears; its tower unfolds each patch in many layers."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families.inkling_text import INSIDE
from inspector.architectures.table import Family, Include, Row

GENERATION = "ForConditionalGeneration"
BODY, WIDTH = "model.llm.", "text_config.hidden_size"
TOKENS = f"text_config.vocab_size, {WIDTH}"
#: Layers of the tower of which the table has rows; the published one has 24.
MOST_LAYERS = 64


def vision(at: str, heads: str) -> Iterator[Row]:
    """Layers that take in neighbouring places and frames; the last leads into the text model, and has no norm."""
    for number in range(MOST_LAYERS):
        before, after = f"plan[{number}]", f"plan[{number + 1}]"
        folded = f"({after}[0] // {before}[0]) * ({after}[1] // {before}[1]) ** 2 * {before}[2]"
        width = f"vision_config.text_hidden_size if depth == {number + 1} else {after}[2]"
        name = f"{at}layers.linear_{number}"
        yield Row(f"linear_{number}", name, f"{width}, {folded}", when=f"depth > {number}", heads=heads, tower="vision")
        yield Row(
            f"norm_{number}",
            f"{at}layers.norm_{number}",
            f"{after}[2]",
            when=f"depth > {number + 1}",
            heads=heads,
            tower="vision",
        )
    yield Row("norm", at + "final_norm", "vision_config.text_hidden_size", heads=heads, tower="vision")


def audio(at: str, heads: str) -> Iterator[Row]:
    """An embedding for each step of each band."""
    shape = "audio_config.n_mel_bins * audio_config.mel_vocab_size, audio_config.text_hidden_size"
    yield Row("embed_tokens", at + "encoder", shape, heads=heads, tower="audio")
    yield Row("norm", at + "final_norm", "audio_config.text_hidden_size", heads=heads, tower="audio")


FAMILY = Family(
    name="inkling_mm_model",
    types={"inkling_mm_model": {}},
    rows=(
        *vision("model.visual.", GENERATION),
        *vision("vision_tower.", "Model"),
        *audio("model.audio.", GENERATION),
        *audio("audio_tower.", "Model"),
        Row("embed_tokens", BODY + "embed", TOKENS, heads=GENERATION),
        Row("embed_norm", BODY + "embed_norm", WIDTH, heads=GENERATION),
        Row("embed_tokens", BODY + "embed_tokens", TOKENS, heads="Model"),
        Row("embed_norm", BODY + "embed_tokens.embed_norm", WIDTH, heads="Model"),
        Include(
            "text_config",
            BODY,
            "model.",
            head=INSIDE,
            default_type="inkling_text",
            without="embed_tokens embed_norm",
        ),
        Row("lm_head", BODY + "unembed", TOKENS, heads=GENERATION),
    ),
    prefix=BODY,
    prefixes={"Model": "language_model."},
    head=GENERATION,
    defaults={
        "audio_config": {"mel_vocab_size": 256, "n_mel_bins": 80, "text_hidden_size": 6144},
        "text_config": {},
        "vision_config": {
            "num_channels": 3,
            "patch_size": 40,
            "temporal_patch_size": 2,
            "text_hidden_size": 6144,
        },
    },
    derived={
        "depth": "vision_config.n_layers or vision_config.num_hidden_layers or 24",
        "plan": (
            "unfolding(vision_config.patch_size, vision_config.temporal_patch_size, vision_config.num_channels, depth)"
        ),
    },
)
