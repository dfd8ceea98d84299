"""Perception Encoder for sound, video and text: a model for sound, one for video, and a tower over both.

The towers and the text model are each stored once, where `tie_word_embeddings` says that the parts share them.
"""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families.pe_audio_video_encoder import ALONE
from inspector.architectures.table import Family, Include, Row

TEXT, BOTH = "text_config.hidden_size", "audio_video_config.hidden_size"
AUDIO, VIDEO = "audio_video_config.audio_config", "audio_video_config.video_config"
APART = "not tie_word_embeddings"


def tower(scope: str, word: str, prefix: str, name: str, when: str = "") -> Include:
    """The tower of sound or of video."""
    kind = f"Pe{word.capitalize()}Encoder"
    return Include(scope, prefix, tower=name, head=kind, default_type=f"pe_{word}_encoder", when=when)


def text(prefix: str, name: str, when: str = "") -> Include:
    return Include("text_config", prefix, tower=name, head="Model", default_type="modernbert", when=when)


def head(name: str, width: str, prefix: str = "") -> Iterator[Row]:
    """A norm and a matrix into the space that texts are compared in."""
    at = f"{prefix}{name}_head."
    yield Row(f"{name}_norm", at + "layer_norm", width, bias="True", tower="heads")
    yield Row(f"{name}_proj", at + "proj", f"{TEXT}, {width}", tower="heads", group="head")


def logits(name: str, prefix: str = "") -> Iterator[Row]:
    """The scale and the shift of a comparison."""
    for word in ("logit_scale", "logit_bias"):
        yield Row(f"{name}_{word}", f"{prefix}{name}_{word}", "1", leaf="", tower="heads", group="head")


def model(word: str, scope: str) -> Iterator[Row]:
    """The heads of the model for sound or for video."""
    prefix = f"{word}_model."
    yield from logits(f"text_{word}", prefix)
    yield from head(f"text_{word}", TEXT, prefix)
    yield from head(word, f"{scope}.hidden_size", prefix)


FAMILY = Family(
    name="pe_audio_video",
    types={"pe_audio_video": {}},
    rows=(
        text("text_model.", "text"),
        text("audio_model.text_model.", "audio_text", APART),
        text("video_model.text_model.", "video_text", APART),
        tower(AUDIO, "audio", "audio_model.audio_encoder.", "audio"),
        tower(VIDEO, "video", "video_model.video_encoder.", "video"),
        tower(AUDIO, "audio", "audio_video_encoder.embedder.audio_encoder.", "joint_audio", APART),
        tower(VIDEO, "video", "audio_video_encoder.embedder.video_encoder.", "joint_video", APART),
        Include(
            "audio_video_config",
            "audio_video_encoder.",
            tower="audio_video",
            head=ALONE,
            default_type="pe_audio_video_encoder",
        ),
        *model("audio", AUDIO),
        *model("video", VIDEO),
        *logits("audio_video"),
        *logits("text_audio_video"),
        *logits("audio_plus_text"),
        *logits("video_plus_text"),
        *head("audio_video", BOTH),
        *head("text_audio_video", TEXT),
        *head("audio_plus_text", f"{TEXT} + {AUDIO}.hidden_size"),
        *head("video_plus_text", f"{TEXT} + {VIDEO}.hidden_size"),
    ),
    defaults={"audio_video_config": {}, "text_config": {"hidden_size": 1024}, "tie_word_embeddings": True},
    head="Model",
)
