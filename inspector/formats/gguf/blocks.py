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


#: Type → the scales of a block. IQ1_M spreads one over four words, and NVFP4's bytes may have any value.
SCALES: Mapping[str, Scales] = {
    "Q4_0": Scales((0,)),
    "Q4_1": Scales((0, 2)),
    "Q5_0": Scales((0,)),
    "Q5_1": Scales((0, 2)),
    "Q8_0": Scales((0,)),
    "Q8_1": Scales((0, 2)),
    "Q2_K": Scales((80, 82)),
    "Q3_K": Scales((108,)),
    "Q4_K": Scales((0, 2)),
    "Q5_K": Scales((0, 2)),
    "Q6_K": Scales((208,)),
    "Q8_K": Scales((0,), "F32"),
    "IQ2_XXS": Scales((0,)),
    "IQ2_XS": Scales((0,)),
    "IQ2_S": Scales((0,)),
    "IQ3_XXS": Scales((0,)),
    "IQ3_S": Scales((0,)),
    "IQ1_S": Scales((0,)),
    "IQ4_NL": Scales((0,)),
    "IQ4_XS": Scales((0,)),
    "TQ1_0": Scales((52,)),
    "TQ2_0": Scales((64,)),
    "MXFP4": Scales((0,), "F8_E8M0"),
    "Q1_0": Scales((0,)),
    "Q2_0": Scales((0,)),
}
#: Where IQ1_M's four words of scales begin; the upper four bits of each, the first lowest, are one F16.
IQ1_M_SCALES = 48
