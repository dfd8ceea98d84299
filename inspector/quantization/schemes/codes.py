"""Codes: weights as entries of code books, points of a lattice or paths through a trellis, or at bits that vary."""

from __future__ import annotations

from collections.abc import Mapping

from inspector.quantization.scheme import (
    Declared,
    Scheme,
    Unit,
    Weight,
    always,
    by_suffix,
    group_of,
    nearest_bits,
    number_of,
)


def _aqlm(unit: Unit, declared: Declared) -> Weight | None:
    """AQLM: each group of weights is the sum of a few entries of code books.

        codes I8 or I16 [O/o, I/i, k]    codebooks F16 [k, 2^b, o, i]    scales F16 [O/o, 1, 1, 1]

    k·b bits encode o·i weights; the shapes determine all of them.
    """
    codes, books = unit.pieces.get(".codes"), unit.pieces.get(".codebooks")
    if codes is None or books is None or len(codes.shape) != 3 or len(books.shape) != 4 or not all(books.shape):
        return None
    number, entries, out_group, in_group = books.shape
    bits = -(-number * (entries - 1).bit_length() // (out_group * in_group))
    shape = (codes.shape[0] * out_group, codes.shape[1] * in_group)
    return Weight(".codes", shape, max(bits, 1), out_group * in_group)


AQLM = Scheme(
    name="aqlm",
    methods=frozenset({"aqlm"}),
    weights={".codes": ".weight"},
    side={".codebooks": "code books", ".scales": "scales"},
    unpack=_aqlm,
    needs=always(".codebooks .scales"),
    uneven=True,
)


def _exl2(unit: Unit, declared: Declared) -> Weight | None:
    """EXL2, ExLlamaV2's format: groups of rows at 2 to 8 bits within one tensor.

        q_weight I32 [Σ rows·b/32, O]    q_scale I32 [groups, O/8]    q_scale_max F16 [groups]
        q_groups I16 [2·groups]          q_invperm I32 [I], or q_perm

    The order of rows gives the inputs; the bits vary between rows, and the nearest integer is reported.
    """
    packed = unit.pieces.get(".q_weight")
    order = unit.first(".q_invperm", ".q_perm")
    if packed is None or order is None or len(packed.shape) != 2 or len(order.shape) != 1:
        return None
    outputs, inputs = packed.shape[1], order.shape[0]
    if not outputs or not inputs:
        return None
    scales = unit.pieces.get(".q_scale")
    group = group_of(inputs, scales.shape[0]) if scales is not None and scales.shape else None
    return Weight(".q_weight", (outputs, inputs), nearest_bits(packed, inputs * outputs), group)


EXL2 = Scheme(
    name="exl2",
    methods=frozenset({"exl2"}),
    weights={".q_weight": ".weight"},
    side=by_suffix(
        scales=".q_scale",
        scales_of_scales=".q_scale_max",
        groups=".q_groups",
        order_of_columns=".q_invperm .q_perm",
    ),
    unpack=_exl2,
    needs=always(".q_scale .q_scale_max .q_groups .q_invperm|.q_perm"),
    uneven=True,
)


EXL3_TILE = 16


def _exl3(unit: Unit, declared: Declared) -> Weight | None:
    """EXL3, ExLlamaV3's trellis-coded weights: tiles of 16 × 16.

        trellis I16 [I/16, O/16, 16·b]    suh F16 [I]    svh F16 [O]    mcg, mul1 I32 []

    Older files keep the signs as bits, `su` I16 [I/16] and `sv` I16 [O/16]. The shapes determine everything.
    """
    trellis = unit.pieces.get(".trellis")
    if trellis is None or len(trellis.shape) != 3 or trellis.shape[2] % EXL3_TILE:
        return None
    inputs, outputs, words = trellis.shape
    return Weight(".trellis", (outputs * EXL3_TILE, inputs * EXL3_TILE), words // EXL3_TILE)


EXL3 = Scheme(
    name="exl3",
    methods=frozenset({"exl3"}),
    weights={".trellis": ".weight"},
    side=by_suffix(
        scales_and_signs=".suh .svh",
        signs=".su .sv",
        code_books=".mcg .mul1",
    ),
    unpack=_exl3,
    needs=always(".suh|.su .svh|.sv"),
)


def _higgs(unit: Unit, declared: Declared) -> Weight | None:
    """HIGGS: Hadamard-rotated weights on a Gaussian grid, packed for FLUTE's kernels.

    weight I16 [O·b/16, I]    scales F16 [O, I/g]    tables F16 [2^b]    tables2 F16 [2^b, 2^b, 2]
    """
    weight, scales = unit.pieces.get(".weight"), unit.pieces.get(".scales")
    if weight is None or scales is None or weight.dtype != "I16" or ".tables" not in unit.pieces:
        return None
    if len(weight.shape) != 2 or len(scales.shape) != 2 or not scales.shape[0]:
        return None
    (rows, inputs), (outputs, groups) = weight.shape, scales.shape
    return Weight(".weight", (outputs, inputs), rows * 16 // outputs, group_of(inputs, groups))


HIGGS = Scheme(
    name="higgs",
    methods=frozenset({"higgs"}),
    side=by_suffix(scales=".scales", code_books=".tables .tables2"),
    unpack=_higgs,
    needs=always(".scales .tables .tables2"),
)


def _quip(unit: Unit, declared: Declared) -> Weight | None:
    """QuIP#: lattice codes, eight weights per code, between random rotations.

        Qidxs I16 [O, I/8], I64 [O, I/32]    SU F16 [I]    SV F16 [O]    Wscale F32 []    codebook_id I64 []

    The signs of the rotations give both dimensions, whatever the code book.
    """
    codes, inputs, outputs = (unit.pieces.get(end) for end in (".Qidxs", ".SU", ".SV"))
    if codes is None or inputs is None or outputs is None:
        return None
    if len(inputs.shape) != 1 or len(outputs.shape) != 1 or not inputs.shape[0] or not outputs.shape[0]:
        return None
    shape = (outputs.shape[0], inputs.shape[0])
    return Weight(".Qidxs", shape, nearest_bits(codes, shape[0] * shape[1]))


QUIP = Scheme(
    name="quip",
    methods=frozenset({"quip", "quip#", "quip_sharp"}),
    weights={".Qidxs": ".weight"},
    side=by_suffix(
        signs=".SU .SV",
        scales=".Wscale .scaleWH .rescale_WH",
        code_books=".codebook_id",
        **{"low-rank corrections": ".A .B"},
    ),
    unpack=_quip,
    needs=always(".SU .SV .Wscale"),
    uneven=True,
)


SPQR_TILE = 16


def _spqr(unit: Unit, declared: Declared) -> Weight | None:
    """SpQR: 3 bits in tiles of 16 × 16, with separate outliers at full precision.

        dense_weights I64 [⌈O/16⌉·⌈I/16⌉·16]    row_offsets I32 [O + 1]    col_vals I32 [outliers]    in_perm I32 [I]

    Each word of 64 bits holds 16 weights of 3 bits with their scale, zero point and a piece of second-order
    statistics: everything except the weights is side data in the same tensor.
    """
    dense, rows, order = (unit.pieces.get(end) for end in (".dense_weights", ".row_offsets", ".in_perm"))
    if dense is None or rows is None or len(dense.shape) != 1 or len(rows.shape) != 1:
        return None
    bits = declared.number("bits")
    bits = bits if bits in (2, 3, 4) else 3
    elements = dense.shape[0] * SPQR_TILE
    if order is None or len(order.shape) != 1 or not order.shape[0] or elements % order.shape[0]:
        return Weight(".dense_weights", (elements,), bits, SPQR_TILE)
    return Weight(".dense_weights", (elements // order.shape[0], order.shape[0]), bits, SPQR_TILE)


SPQR = Scheme(
    name="spqr",
    methods=frozenset({"spqr"}),
    weights={".dense_weights": ".weight"},
    side=by_suffix(
        places_of_outliers=".row_offsets",
        outliers=".col_vals",
        order_of_columns=".in_perm",
    ),
    unpack=_spqr,
    needs=always(".row_offsets .col_vals .in_perm?"),
)


def _vptq(unit: Unit, declared: Declared) -> Weight | None:
    """VPTQ: vectors of weights as indices into centroids.

        indices I16 or I32 […]    centroids.weight, res_centroids.weight    weight_scale, weight_bias, perm [I]

    The indices of the two code books are packed into one word, so shapes alone do not determine the weight's;
    `config_for_layers` gives `in_features` and `out_features` of each module.
    """
    indices, layers = unit.pieces.get(".indices"), declared.values.get("config_for_layers")
    if indices is None or not isinstance(layers, Mapping):
        return None
    own = layers.get(unit.stem)
    inputs, outputs = number_of(own, "in_features"), number_of(own, "out_features")
    if not inputs or not outputs:
        return None
    return Weight(".indices", (outputs, inputs), nearest_bits(indices, inputs * outputs))


VPTQ = Scheme(
    name="vptq",
    methods=frozenset({"vptq"}),
    weights={".indices": ".weight"},
    side=by_suffix(
        code_books=".centroids.weight .res_centroids.weight .outlier_centroids.weight",
        indices_of_outliers=".outlier_indices",
        indices_of_residuals=".res_indices",
        scales=".weight_scale",
        zero_points=".weight_bias",
        order_of_columns=".perm .invert_perm",
    ),
    unpack=_vptq,
    by_module=True,
    needs=always(".centroids.weight .res_centroids.weight? .weight_scale? .weight_bias? .perm?"),
    uneven=True,
)
