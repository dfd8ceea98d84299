"""GGML's tensor types and file types, as the `gguf` package of llama-cpp-python 0.3.36's source has them.

Written by `tools/write_gguf.py`; a test checks that it agrees with the installed package.
"""

from __future__ import annotations

from inspector.tabular import NamedTuple


class GGMLType(NamedTuple):
    """How a tensor's elements are stored: in blocks of fixed length and size."""

    name: str
    block: int  # elements per block
    nbytes: int  # bytes per block
    bits: int  # per element, without scales and the like: the number in the type's name


#: Type id in a tensor's info → type.
TYPES: dict[int, GGMLType] = {
    0: GGMLType("F32", 1, 4, 32),
    1: GGMLType("F16", 1, 2, 16),
    2: GGMLType("Q4_0", 32, 18, 4),
    3: GGMLType("Q4_1", 32, 20, 4),
    6: GGMLType("Q5_0", 32, 22, 5),
    7: GGMLType("Q5_1", 32, 24, 5),
    8: GGMLType("Q8_0", 32, 34, 8),
    9: GGMLType("Q8_1", 32, 36, 8),
    10: GGMLType("Q2_K", 256, 84, 2),
    11: GGMLType("Q3_K", 256, 110, 3),
    12: GGMLType("Q4_K", 256, 144, 4),
    13: GGMLType("Q5_K", 256, 176, 5),
    14: GGMLType("Q6_K", 256, 210, 6),
    15: GGMLType("Q8_K", 256, 292, 8),
    16: GGMLType("IQ2_XXS", 256, 66, 2),
    17: GGMLType("IQ2_XS", 256, 74, 2),
    18: GGMLType("IQ3_XXS", 256, 98, 3),
    19: GGMLType("IQ1_S", 256, 50, 1),
    20: GGMLType("IQ4_NL", 32, 18, 4),
    21: GGMLType("IQ3_S", 256, 110, 3),
    22: GGMLType("IQ2_S", 256, 82, 2),
    23: GGMLType("IQ4_XS", 256, 136, 4),
    24: GGMLType("I8", 1, 1, 8),
    25: GGMLType("I16", 1, 2, 16),
    26: GGMLType("I32", 1, 4, 32),
    27: GGMLType("I64", 1, 8, 64),
    28: GGMLType("F64", 1, 8, 64),
    29: GGMLType("IQ1_M", 256, 56, 1),
    30: GGMLType("BF16", 1, 2, 16),
    34: GGMLType("TQ1_0", 256, 54, 1),
    35: GGMLType("TQ2_0", 256, 66, 2),
    39: GGMLType("MXFP4", 32, 17, 4),
    40: GGMLType("NVFP4", 64, 36, 4),
    41: GGMLType("Q1_0", 128, 18, 1),
    42: GGMLType("Q2_0", 64, 18, 2),
}

#: `general.file_type` → the predominant type, as the file claims.
FILE_TYPES: dict[int, str] = {
    0: "F32",
    1: "F16",
    2: "Q4_0",
    3: "Q4_1",
    7: "Q8_0",
    8: "Q5_0",
    9: "Q5_1",
    10: "Q2_K",
    11: "Q3_K_S",
    12: "Q3_K_M",
    13: "Q3_K_L",
    14: "Q4_K_S",
    15: "Q4_K_M",
    16: "Q5_K_S",
    17: "Q5_K_M",
    18: "Q6_K",
    19: "IQ2_XXS",
    20: "IQ2_XS",
    21: "Q2_K_S",
    22: "IQ3_XS",
    23: "IQ3_XXS",
    24: "IQ1_S",
    25: "IQ4_NL",
    26: "IQ3_S",
    27: "IQ3_M",
    28: "IQ2_S",
    29: "IQ2_M",
    30: "IQ4_XS",
    31: "IQ1_M",
    32: "BF16",
    36: "TQ1_0",
    37: "TQ2_0",
    38: "MXFP4_MOE",
    39: "NVFP4",
    40: "Q1_0",
    41: "Q2_0",
    1024: "GUESSED",
}
