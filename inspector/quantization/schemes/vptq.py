"""VPTQ: vectors of weights as indices into centroids.

    indices I16 or I32 […]    centroids.weight, res_centroids.weight    weight_scale [I]    weight_bias [I]    perm [I]

The indices of the two code books are packed into one word, so shapes alone do not determine the weight's;
`config_for_layers` gives `in_features` and `out_features` of each module.
"""

from __future__ import annotations

from collections.abc import Mapping

from inspector.quantization.scheme import Declared, Scheme, Unit, Weight, always, by_suffix, nearest_bits, number_of


def _unpack(unit: Unit, declared: Declared) -> Weight | None:
    indices, layers = unit.pieces.get(".indices"), declared.values.get("config_for_layers")
    if indices is None or not isinstance(layers, Mapping):
        return None
    own = layers.get(unit.stem)
    inputs, outputs = number_of(own, "in_features"), number_of(own, "out_features")
    if not inputs or not outputs:
        return None
    return Weight(".indices", (outputs, inputs), nearest_bits(indices, inputs * outputs))


SCHEME = Scheme(
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
    unpack=_unpack,
    by_module=True,
    needs=always(".centroids.weight .res_centroids.weight? .weight_scale? .weight_bias? .perm?"),
    uneven=True,
)
