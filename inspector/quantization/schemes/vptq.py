"""VPTQ: vectors of weights as indices into centroids.

    indices I16 or I32 […]    centroids.weight, res_centroids.weight    weight_scale [I]    weight_bias [I]    perm [I]

The indices of the two code books are packed into one word, so shapes alone do not determine the weight's;
`config_for_layers` gives `in_features` and `out_features` of each module.
"""

from __future__ import annotations

from collections.abc import Mapping

from inspector.quantization.scheme import Declared, Scheme, Unit, Weight, number_of


def _unpack(unit: Unit, declared: Declared) -> Weight | None:
    indices, layers = unit.pieces.get(".indices"), declared.values.get("config_for_layers")
    if indices is None or not isinstance(layers, Mapping):
        return None
    own = layers.get(unit.stem)
    inputs, outputs = number_of(own, "in_features"), number_of(own, "out_features")
    if not inputs or not outputs:
        return None
    bits = max(1, (2 * indices.nbytes * 8 + inputs * outputs) // (2 * inputs * outputs))  # the nearest
    return Weight(".indices", (outputs, inputs), bits)


SCHEME = Scheme(
    name="vptq",
    methods=frozenset({"vptq"}),
    weights={".indices": ".weight"},
    side={
        ".centroids.weight": "code books",
        ".res_centroids.weight": "code books",
        ".outlier_centroids.weight": "code books",
        ".outlier_indices": "indices of outliers",
        ".res_indices": "indices of residuals",
        ".weight_scale": "scales",
        ".weight_bias": "zero points",
        ".perm": "order of columns",
        ".invert_perm": "order of columns",
    },
    unpack=_unpack,
    uneven=True,
)
