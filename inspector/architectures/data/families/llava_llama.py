"""LLaVA 1.5 and 1.6 as their authors publish them: the text model's own fields and names, with a projector in it.

Whether CLIP's tower lies in the checkpoint too, no field tells: 1.6 has it, 1.5 has not.
"""

from __future__ import annotations

from inspector.architectures.data.families.llama import LLAMA_7B
from inspector.architectures.data.families.shared import (
    ATTENTION,
    CLIP_LARGE,
    DECODER_DEFAULTS,
    DECODER_DERIVED,
    DECODER_HEADS,
    EMBED_TOKENS,
    FEED_FORWARD,
    NORMS,
    clip_large,
)
from inspector.architectures.table import Family, Row


def _projector(role: str, name: str, shape: str, when: str) -> Row:
    return Row(role, "model.mm_projector" + name, shape, bias="True", when=when, tower="projector", group="other")


FAMILY = Family(
    name="llava_llama",
    types={
        "llava_llama": {},
        "llava_mistral": {"num_key_value_heads": 8, "intermediate_size": 14336},
        "llava_qwen": {"qkv_bias": True, "o_bias": False},
    },
    rows=(
        EMBED_TOKENS,
        *ATTENTION,
        *FEED_FORWARD,
        *NORMS,
        *DECODER_HEADS,
        _projector("mm_projector", "", "hidden_size, mm_hidden_size", "mm_projector_type == 'linear'"),
        _projector("linear_1", ".0", "hidden_size, mm_hidden_size", "mm_projector_type == 'mlp2x_gelu'"),
        _projector("linear_2", ".2", "hidden_size, hidden_size", "mm_projector_type == 'mlp2x_gelu'"),
        Row(
            "image_newline",
            "model.image_newline",
            "hidden_size",
            when="'unpad' in mm_patch_merge_type",
            leaf="",
            tower="projector",
        ),
        *clip_large("model.vision_tower.vision_tower.vision_model.", optional=True),
    ),
    prefix="model.",
    defaults={
        **DECODER_DEFAULTS,
        **LLAMA_7B,
        **CLIP_LARGE,
        "mm_hidden_size": 1024,
        "mm_patch_merge_type": "flat",
        "mm_projector_type": "linear",
    },
    derived=DECODER_DERIVED,
)
