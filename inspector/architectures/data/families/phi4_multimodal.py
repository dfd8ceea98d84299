"""Phi-4 multimodal: Phi-3 with SigLIP's tower, a conformer for audio, and projectors within its embedding."""

from __future__ import annotations

from inspector.architectures.data.families.phi3 import FAMILY as PHI3
from inspector.architectures.table import Family, Include, Row

IMAGE, AUDIO = "model.embed_tokens_extend.image_embed.", "model.embed_tokens_extend.audio_embed."


def linear(role: str, at: str, width: str) -> Row:
    """A layer of a projector."""
    return Row(role, at + role, f"hidden_size, {width}", bias="True", tower="projector", group="other")


FAMILY = Family(
    name="phi4_multimodal",
    types={"phi4_multimodal": {"num_key_value_heads": 8}},
    rows=(
        *PHI3.rows,
        Include(
            "vision_config",
            IMAGE + "img_processor.",
            tower="vision",
            head="Model",
            default_type="phi4_multimodal_vision",
        ),
        Row(
            "global_img_feature_extensor",
            IMAGE + "global_img_feature_extensor",
            "1, 1, vision_config.hidden_size",
            leaf="",
            tower="projector",
            group="embedding",
        ),
        Row(
            "sub_img_feature_extensor",
            IMAGE + "sub_img_feature_extensor",
            "1, 1, 1, vision_config.hidden_size",
            leaf="",
            tower="projector",
            group="embedding",
        ),
        linear("img_projection_up", IMAGE, "vision_config.hidden_size"),
        linear("img_projection_down", IMAGE, "hidden_size"),
        Include("audio_config", AUDIO + "encoder.", tower="audio", head="Model", default_type="phi4_multimodal_audio"),
        linear("up_proj_for_speech", AUDIO, "audio_config.downsample_rate * audio_config.hidden_size"),
        linear("down_proj_for_speech", AUDIO, "hidden_size"),
        linear("up_proj_for_vision_speech", AUDIO, "audio_config.downsample_rate * audio_config.hidden_size"),
        linear("down_proj_for_vision_speech", AUDIO, "hidden_size"),
    ),
    prefix="model.",
    defaults={
        "audio_config": {},
        "hidden_size": 3072,
        "intermediate_size": 8192,
        "num_attention_heads": 32,
        "num_hidden_layers": 32,
        "tie_word_embeddings": False,
        "vision_config": {},
        "vocab_size": 200064,
    },
    derived={"head_dim": "hidden_size // num_attention_heads", "num_key_value_heads": "num_attention_heads"},
)
