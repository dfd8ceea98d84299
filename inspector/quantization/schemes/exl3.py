"""EXL3, ExLlamaV3's trellis-coded weights: tiles of 16 × 16.

    trellis I16 [I/16, O/16, 16·b]    suh F16 [I]    svh F16 [O]    mcg, mul1 I32 []

Older files keep the signs as bits, `su` I16 [I/16] and `sv` I16 [O/16]. The shapes determine everything.
"""

from __future__ import annotations

from inspector.quantization.scheme import Declared, Scheme, Unit, Weight, always, by_suffix

TILE = 16


def _unpack(unit: Unit, declared: Declared) -> Weight | None:
    trellis = unit.pieces.get(".trellis")
    if trellis is None or len(trellis.shape) != 3 or trellis.shape[2] % TILE:
        return None
    inputs, outputs, words = trellis.shape
    return Weight(".trellis", (outputs * TILE, inputs * TILE), words // TILE)


SCHEME = Scheme(
    name="exl3",
    methods=frozenset({"exl3"}),
    weights={".trellis": ".weight"},
    side=by_suffix(
        scales_and_signs=".suh .svh",
        signs=".su .sv",
        code_books=".mcg .mul1",
    ),
    unpack=_unpack,
    needs=always(".suh|.su .svh|.sv"),
)
