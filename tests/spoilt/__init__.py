"""Small models with realistic numbers, and their damage, or oddities that are sound.

    make(kind, seed, folder)     DAMAGED[kind] or SOUND[kind], drawn: dtype, sizes, places, layers

Models are Llamas of two to six layers. Damage is done to the file's bytes, as a disk or a network does it, or to the
numbers before they are written, as a bug does.
"""

from __future__ import annotations

from pathlib import Path

from spoilt.damage import DAMAGED
from spoilt.drawn import BF16, Drawn, bf16, safetensors
from spoilt.sound import SOUND

__all__ = ["BF16", "DAMAGED", "SOUND", "Drawn", "bf16", "make", "safetensors"]


def make(kind: str, seed: int, folder: Path) -> Path:
    """A folder with a model of this kind."""
    model = Drawn(seed, folder)
    {**DAMAGED, **SOUND}[kind](model)
    if not hasattr(model, "path"):
        model.save()
    return folder
