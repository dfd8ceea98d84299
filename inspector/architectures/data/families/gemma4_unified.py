"""Gemma 4 without towers: patches and audio frames go through one projection into the text model."""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

VISION, AUDIO = "vision_config is not None", "audio_config is not None"


def vision(role: str, name: str, shape: str, *, bias: str = "True", leaf: str = "weight") -> Row:
    return Row(role, f"model.vision_embedder.{name}", shape, bias=bias, when=VISION, leaf=leaf, tower="projector")


FAMILY = Family(
    name="gemma4_unified",
    types={"gemma4_unified": {}},
    rows=(
        Include(
            "text_config", "model.language_model.", strip="model.", head="Model", default_type="gemma4_unified_text"
        ),
        vision("embed_patches", "patch_dense", "vision_width, 3 * patch_side ** 2"),
        vision("embed_positions", "pos_embedding", "vision_positions, 2, vision_width", bias="", leaf=""),
        vision("patch_norm1", "patch_ln1", "3 * patch_side ** 2"),
        vision("patch_norm2", "patch_ln2", "vision_width"),
        vision("position_norm", "pos_norm", "vision_width"),
        Row(
            "vision_proj",
            "model.embed_vision.embedding_projection",
            "text_config.hidden_size, vision_out",
            when=VISION,
            tower="projector",
            group="other",
        ),
        Row(
            "audio_proj",
            "model.embed_audio.embedding_projection",
            "text_config.hidden_size, audio_width",
            when=AUDIO,
            tower="projector",
            group="other",
        ),
        Row(
            "lm_head",
            "lm_head",
            "text_config.vocab_size, text_config.hidden_size",
            heads="ForConditionalGeneration",
            tied="tie_word_embeddings",
        ),
    ),
    prefix="model.",
    head="ForConditionalGeneration",
    defaults={
        "text_config": {"hidden_size": 2304, "vocab_size": 262144},
        "vision_config": None,
        "audio_config": None,
        "tie_word_embeddings": True,
    },
    derived={
        "patch_side": "(vision_config.patch_size or 16) * (vision_config.pooling_kernel_size or 3)",
        "vision_width": "vision_config.mm_embed_dim or 3840",
        "vision_positions": "vision_config.mm_posemb_size or 1120",
        "vision_out": "vision_config.output_proj_dims or 3840",
        "audio_width": "audio_config.audio_embed_dim or 640",
    },
)
