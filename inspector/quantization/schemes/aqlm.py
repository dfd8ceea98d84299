"""AQLM: each group of weights is the sum of a few entries of code books.

    codes I8 or I16 [O/o, I/i, k]    codebooks F16 [k, 2^b, o, i]    scales F16 [O/o, 1, 1, 1]

k·b bits encode o·i weights; the shapes determine all of them.
"""

from __future__ import annotations

from inspector.quantization.scheme import Declared, Scheme, Unit, Weight, always


def _unpack(unit: Unit, declared: Declared) -> Weight | None:
    codes, books = unit.pieces.get(".codes"), unit.pieces.get(".codebooks")
    if codes is None or books is None or len(codes.shape) != 3 or len(books.shape) != 4 or not all(books.shape):
        return None
    number, entries, out_group, in_group = books.shape
    bits = -(-number * (entries - 1).bit_length() // (out_group * in_group))
    shape = (codes.shape[0] * out_group, codes.shape[1] * in_group)
    return Weight(".codes", shape, max(bits, 1), out_group * in_group)


SCHEME = Scheme(
    name="aqlm",
    methods=frozenset({"aqlm"}),
    weights={".codes": ".weight"},
    side={".codebooks": "code books", ".scales": "scales"},
    unpack=_unpack,
    needs=always(".codebooks .scales"),
    uneven=True,
)
