"""HIGGS: Hadamard-rotated weights on a Gaussian grid, packed for FLUTE's kernels.

weight I16 [O·b/16, I]    scales F16 [O, I/g]    tables F16 [2^b]    tables2 F16 [2^b, 2^b, 2]
"""

from __future__ import annotations

from inspector.quantization.scheme import Declared, Scheme, Unit, Weight, always, by_suffix, group_of


def _unpack(unit: Unit, declared: Declared) -> Weight | None:
    weight, scales = unit.pieces.get(".weight"), unit.pieces.get(".scales")
    if weight is None or scales is None or weight.dtype != "I16" or ".tables" not in unit.pieces:
        return None
    if len(weight.shape) != 2 or len(scales.shape) != 2 or not scales.shape[0]:
        return None
    (rows, inputs), (outputs, groups) = weight.shape, scales.shape
    return Weight(".weight", (outputs, inputs), rows * 16 // outputs, group_of(inputs, groups))


SCHEME = Scheme(
    name="higgs",
    methods=frozenset({"higgs"}),
    side=by_suffix(scales=".scales", code_books=".tables .tables2"),
    unpack=_unpack,
    needs=always(".scales .tables .tables2"),
)
