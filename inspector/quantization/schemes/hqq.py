"""HQQ (half-quadratic quantization): groups as rows or columns, and every setting as a tensor.

    W_q U8 [n/g·b/8, g]      scale F16 [n/g, 1]    zero F16 [n/g, 1]     axis 1
    W_q U8 [g·b/8, n/g]      scale F16 [1, n/g]    zero F16 [1, n/g]     axis 0
    W_q I32 with ten weights of 3 bits per word

`shape` is data, which is not read: only the elements are counted.
"""

from __future__ import annotations

from inspector.model import Tensor
from inspector.quantization.scheme import (
    COMMON_GROUPS,
    Declared,
    Scheme,
    Unit,
    Weight,
    always,
    by_suffix,
    count,
    inner,
    number_of,
)

WIDTHS = frozenset({1, 2, 3, 4, 8})  # `nbits`; 3 in 32-bit words
DEFAULT_GROUP = 64
_SETTINGS = (
    ".axis .channel_wise .compute_dtype .encoded_state_dict .group_size .nbits .offload_meta .optimize .packing"
    " .quant_scale .quant_zero .round_zero .shape .stores_quant_config .unpack_view_dtype .view_as_float"
)


def _unpack(unit: Unit, declared: Declared) -> Weight | None:
    packed, scale = unit.pieces.get(".W_q"), unit.pieces.get(".scale")
    if packed is None or scale is None or len(packed.shape) != 2 or len(scale.shape) != 2 or not all(packed.shape):
        return None
    groups = count(scale)
    bits, group, sure = _groups_as_rows(packed, groups) if scale.shape[1] == 1 else _groups_as_columns(packed, declared)
    return Weight(".W_q", (groups * group,), bits, group, sure=sure) if bits else None


def _groups_as_rows(packed: Tensor, groups: int) -> tuple[int, int, bool]:
    """One group per row: the number of rows packed together gives the bits."""
    bits = 3 if packed.dtype == "I32" else packed.shape[0] * 8 // max(groups, 1)
    return bits, packed.shape[1], True


def _groups_as_columns(packed: Tensor, declared: Declared) -> tuple[int, int, bool]:
    """One group per column, padded to whole elements: the configuration must say how many weights each holds."""
    claimed = next((b for each in inner(declared.values) if (b := number_of(each, "nbits")) in WIDTHS), None)
    bits = 3 if packed.dtype == "I32" else claimed or _bits_of_default_group(packed.shape[0])
    per_element = 10 if packed.dtype == "I32" else 8 // bits
    room = packed.shape[0] * per_element
    sizes = [n for each in inner(declared.values) if (n := number_of(each, "group_size"))]
    group = next((n for n in (*sizes, *sorted(COMMON_GROUPS)) if 0 <= room - n < per_element), room)
    return bits, group, claimed == bits or packed.dtype == "I32"


def _bits_of_default_group(rows: int) -> int:
    """The bits at which a column holds a group of the library's default size; 4 if none does."""
    return next((bits for bits in sorted(WIDTHS) if rows * 8 == bits * DEFAULT_GROUP and bits != 3), 4)


SCHEME = Scheme(
    name="hqq",
    methods=frozenset({"hqq"}),
    weights={".W_q": ".weight"},
    side=by_suffix(
        scales=".scale",
        zero_points=".zero",
        settings=_SETTINGS,
    ),
    unpack=_unpack,
    needs=always(".scale .zero"),
)
