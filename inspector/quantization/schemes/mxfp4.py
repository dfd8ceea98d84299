"""MXFP4 as gpt-oss stores its experts: 32 weights of 4 bits share an exponent.

    …_blocks U8 [E, O, I/32, 16]    …_scales U8 [E, O, I/32]

OpenAI's own files write `.blocks` and `.scales`. The OCP Microscaling specification gives the format.
"""

from __future__ import annotations

from inspector.quantization.scheme import Declared, Scheme, Unit, Weight

BLOCK = 32  # weights that share an exponent
_ENDS = {"_blocks": "_scales", ".blocks": ".scales"}


def _unpack(unit: Unit, declared: Declared) -> Weight | None:
    for end, scale_end in _ENDS.items():
        blocks, scales = unit.pieces.get(end), unit.pieces.get(scale_end)
        if blocks is None or scales is None or blocks.dtype != "U8" or blocks.shape[:-1] != scales.shape:
            continue
        *outer, groups, half = blocks.shape
        if half * 2 == BLOCK:
            return Weight(end, (*outer, groups * BLOCK), 4, BLOCK)
    return None


def _needs(unit: Unit, weight: Weight, declared: Declared) -> str:
    return _ENDS[weight.end]


SCHEME = Scheme(
    name="mxfp4",
    methods=frozenset({"mxfp4"}),
    weights={"_blocks": "", ".blocks": ""},
    side={"_scales": "scales", ".scales": "scales"},
    unpack=_unpack,
    needs=_needs,
)
