"""SINQ (Sinkhorn-normalised quantization): groups as rows, a scale for the inputs, scales packed once more.

    W_q U8 [n/g·b/8, g]    meta.scale2 F16 [1, I]    meta.scale, meta.zero F16 [n/g, 1], or in three pieces:
    meta.zero.x U8 [n/g, 1], meta.zero.m, meta.zero.s F16

Shapes are in a JSON file next to the index; the zero points give the number of groups, and thus the bits.
"""

from __future__ import annotations

from inspector.quantization.scheme import Declared, Scheme, Unit, Weight, by_suffix, count

_PIECES = ("", ".x", ".m", ".s")


def _unpack(unit: Unit, declared: Declared) -> Weight | None:
    packed, inputs = unit.pieces.get(".W_q"), unit.pieces.get(".meta.scale2")
    zeros = unit.first(".meta.zero.x", ".meta.zero")
    if packed is None or zeros is None or len(packed.shape) != 2 or not count(zeros):
        return None
    rows, group = packed.shape
    bits = rows * 8 // count(zeros)
    elements = count(zeros) * group
    if inputs is None or not count(inputs) or elements % count(inputs):
        return Weight(".W_q", (elements,), bits, group)
    return Weight(".W_q", (elements // count(inputs), count(inputs)), bits, group)


def _needs(unit: Unit, weight: Weight, declared: Declared) -> str:
    """Scales and zero points, each of which may itself be packed, in three pieces."""
    ends = ".meta.scale2"
    for kind in (".meta.scale", ".meta.zero"):
        ends += " " + (f"{kind}.x {kind}.m {kind}.s" if f"{kind}.x" in unit.pieces else f"{kind}|{kind}.x")
    return ends


SCHEME = Scheme(
    name="sinq",
    methods=frozenset({"sinq"}),
    weights={".W_q": ".weight"},
    side=by_suffix(
        scales=" ".join(f".meta.scale{piece}" for piece in _PIECES),
        zero_points=" ".join(f".meta.zero{piece}" for piece in _PIECES),
        scales_of_inputs=".meta.scale2 .meta.awq_scale",
    ),
    unpack=_unpack,
    needs=_needs,
)
