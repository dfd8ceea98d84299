"""The positions of the scales in a block of each GGML type: the struct's fields in `ggml-common.h`.

llama.cpp refuses a block whose scale is NaN or infinite (`ggml_validate_row_data`, `--check-tensors`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Scales(NamedTuple):
    """The scales of a block: their byte offsets in it, and their dtype."""

    places: tuple[int, ...]
    dtype: str = "F16"


_F16_AT = {
    (0,): "Q4_0 Q5_0 Q8_0 IQ2_XXS IQ2_XS IQ2_S IQ3_XXS IQ3_S IQ1_S IQ4_NL IQ4_XS Q1_0 Q2_0",
    (0, 2): "Q4_1 Q5_1 Q8_1 Q4_K Q5_K",
    (52,): "TQ1_0",
    (64,): "TQ2_0",
    (80, 82): "Q2_K",
    (108,): "Q3_K",
    (208,): "Q6_K",
}
#: Type → the scales of a block. IQ1_M spreads one over four words, and NVFP4's bytes may have any value.
SCALES: Mapping[str, Scales] = {
    **{kind: Scales(places) for places, kinds in _F16_AT.items() for kind in kinds.split()},
    "Q8_K": Scales((0,), "F32"),
    "MXFP4": Scales((0,), "F8_E8M0"),
}
#: Where IQ1_M's four words of scales begin; the upper four bits of each, the first lowest, are one F16.
IQ1_M_SCALES = 48
