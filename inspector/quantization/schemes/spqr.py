"""SpQR: 3 bits in tiles of 16 × 16, with separate outliers at full precision.

    dense_weights I64 [⌈O/16⌉·⌈I/16⌉·16]    row_offsets I32 [O + 1]    col_vals I32 [outliers]    in_perm I32 [I]

Each word of 64 bits holds 16 weights of 3 bits with their scale, zero point and a piece of second-order
statistics: everything except the weights is side data in the same tensor.
"""

from __future__ import annotations

from inspector.quantization.scheme import Declared, Scheme, Unit, Weight, always, by_suffix

TILE = 16


def _unpack(unit: Unit, declared: Declared) -> Weight | None:
    dense, rows, order = (unit.pieces.get(end) for end in (".dense_weights", ".row_offsets", ".in_perm"))
    if dense is None or rows is None or len(dense.shape) != 1 or len(rows.shape) != 1:
        return None
    bits = declared.number("bits")
    bits = bits if bits in (2, 3, 4) else 3
    elements = dense.shape[0] * TILE
    if order is None or len(order.shape) != 1 or not order.shape[0] or elements % order.shape[0]:
        return Weight(".dense_weights", (elements,), bits, TILE)
    return Weight(".dense_weights", (elements // order.shape[0], order.shape[0]), bits, TILE)


SCHEME = Scheme(
    name="spqr",
    methods=frozenset({"spqr"}),
    weights={".dense_weights": ".weight"},
    side=by_suffix(
        places_of_outliers=".row_offsets",
        outliers=".col_vals",
        order_of_columns=".in_perm",
    ),
    unpack=_unpack,
    needs=always(".row_offsets .col_vals .in_perm?"),
)
