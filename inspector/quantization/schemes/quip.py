"""QuIP#: lattice codes, eight weights per code, between random rotations.

    Qidxs I16 [O, I/8], I64 [O, I/32]    SU F16 [I]    SV F16 [O]    Wscale F32 []    codebook_id I64 []

The signs of the rotations give both dimensions, whatever the code book.
"""

from __future__ import annotations

from inspector.quantization.scheme import Declared, Scheme, Unit, Weight, always, by_suffix, nearest_bits


def _unpack(unit: Unit, declared: Declared) -> Weight | None:
    codes, inputs, outputs = (unit.pieces.get(end) for end in (".Qidxs", ".SU", ".SV"))
    if codes is None or inputs is None or outputs is None:
        return None
    if len(inputs.shape) != 1 or len(outputs.shape) != 1 or not inputs.shape[0] or not outputs.shape[0]:
        return None
    shape = (outputs.shape[0], inputs.shape[0])
    return Weight(".Qidxs", shape, nearest_bits(codes, shape[0] * shape[1]))


SCHEME = Scheme(
    name="quip",
    methods=frozenset({"quip", "quip#", "quip_sharp"}),
    weights={".Qidxs": ".weight"},
    side=by_suffix(
        signs=".SU .SV",
        scales=".Wscale .scaleWH .rescale_WH",
        code_books=".codebook_id",
        **{"low-rank corrections": ".A .B"},
    ),
    unpack=_unpack,
    needs=always(".SU .SV .Wscale"),
    uneven=True,
)
