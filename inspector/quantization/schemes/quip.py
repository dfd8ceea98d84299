"""QuIP#: lattice codes, eight weights per code, between random rotations.

    Qidxs I16 [O, I/8], I64 [O, I/32]    SU F16 [I]    SV F16 [O]    Wscale F32 []    codebook_id I64 []

The signs of the rotations give both dimensions, whatever the code book.
"""

from __future__ import annotations

from inspector.quantization.scheme import Declared, Scheme, Unit, Weight


def _unpack(unit: Unit, declared: Declared) -> Weight | None:
    codes, inputs, outputs = (unit.pieces.get(end) for end in (".Qidxs", ".SU", ".SV"))
    if codes is None or inputs is None or outputs is None:
        return None
    if len(inputs.shape) != 1 or len(outputs.shape) != 1 or not inputs.shape[0] or not outputs.shape[0]:
        return None
    shape = (outputs.shape[0], inputs.shape[0])
    bits = (2 * codes.nbytes * 8 + shape[0] * shape[1]) // (2 * shape[0] * shape[1])  # the nearest
    return Weight(".Qidxs", shape, max(bits, 1))


SCHEME = Scheme(
    name="quip",
    methods=frozenset({"quip", "quip#", "quip_sharp"}),
    weights={".Qidxs": ".weight"},
    side={
        ".SU": "signs",
        ".SV": "signs",
        ".Wscale": "scales",
        ".codebook_id": "code books",
        ".scaleWH": "scales",
        ".rescale_WH": "scales",
        ".A": "low-rank corrections",
        ".B": "low-rank corrections",
    },
    unpack=_unpack,
    uneven=True,
)
