"""What the libraries themselves write, each with its own count of parameters: small models with random weights.

Each function writes into a folder and returns how many parameters the library counts, or None where it counts none. Its
first word is the tool, as the table groups them. A tool that is not installed is left out.
"""

from __future__ import annotations

from . import adapters, diffusion, frameworks, programs, pytorch, quantizers, ranks, sentences, trainers
from .small import OUTPUTS

__all__ = [
    "OUTPUTS",
    "adapters",
    "diffusion",
    "frameworks",
    "programs",
    "pytorch",
    "quantizers",
    "ranks",
    "sentences",
    "trainers",
]
