"""What an adapter does to its base's numbers, and whether a merged model is exactly that.

    effects(attachment(base, adapter))                         how large each change is beside the weight
    effects(attachment(base, adapter), diff(base, merged))     and whether the merged weight is the sum

LoRA: W + s·B·A, where s is lora_alpha / r, or lora_alpha / √r (`use_rslora`), per module if patterns say so. DoRA: the
same, with each output scaled to its magnitude.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, closing
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from inspector.adapters.prediction import own_pattern
from inspector.comparing import differences
from inspector.comparing.agreement import Data, Sums
from inspector.comparing.attachment import Attached, Attachment
from inspector.comparing.data import Comparison
from inspector.comparing.diff import Diff
from inspector.comparing.differences import agreement
from inspector.comparing.pairing import Pair
from inspector.formats.decoding import Array
from inspector.measuring.weights import Weights
from inspector.model import Labelled
from inspector.quantization.precision import spacing

#: Elements of a weight that are read at once.
CHUNK = 1 << 20
#: The pieces of a module that are supported here.
KNOWN = frozenset({"lora_A", "lora_B", "magnitude", "alpha"})
#: The relative error of rounding the product to BF16 before adding it.
PRODUCT = np.float32(2.0**-7)


class Effect(NamedTuple):
    """The effect on one weight."""

    base: Labelled
    relative: float | None = None  # ‖W′ − W‖ / ‖W‖; None if W is zero, or unknown
    merged: Data | None = None  # how the merged weight agrees with W′; None without one
    why: str = ""  # why it is unknown


class _Factors(NamedTuple):
    """The numbers of one module's adapter."""

    down: Array  # A: [r, inputs]
    up: Array  # B: [outputs, r], scaled
    magnitude: Array | None  # [outputs]
    turned: bool  # the base has [inputs, outputs]


def effects(result: Attachment, merged: Diff | None = None) -> tuple[Effect, ...]:
    """The effect on each weight that the adapter changes. Raises SourceError, FormatError as reading values does.

    Args:
        merged: the base compared with the allegedly merged model, from headers.
    """
    modules: dict[str, list[Attached]] = {}
    for each in result.tensors:
        if each.base is not None:
            modules.setdefault(each.base.tensor.name, []).append(each)
    with ExitStack() as stack:
        base, adapter = (stack.enter_context(closing(Weights(side))) for side in (result.base, result.adapter))
        comparison = stack.enter_context(closing(Comparison(merged))) if merged else None
        pairs = _pairs_by_name(merged) if merged else {}
        return tuple(
            _effect(members, result, base, adapter, comparison, pairs.get(name)) for name, members in modules.items()
        )


def _pairs_by_name(merged: Diff) -> Mapping[str, Pair]:
    """The pairs of a comparison, by the name of the base's weight."""
    return {pair.a.tensors[0].tensor.name: pair for pair in merged.pairs if pair.a and pair.b}


def _effect(
    members: Iterable[Attached],
    result: Attachment,
    base: Weights,
    adapter: Weights,
    comparison: Comparison | None,
    pair: Pair | None,
) -> Effect:
    pieces = {each.piece.key.part: each for each in members}
    own = next(iter(pieces.values())).base
    assert own is not None
    module = _factors_of(pieces, own, result, base, adapter)
    if isinstance(module, str):
        return Effect(own, why=module)
    if comparison is None:
        return Effect(own, _relative_change(_with_adapter(module, rows) for rows in _rows_of_weight(own, base)))
    if pair is None or comparison.matrix(pair) is None:
        return Effect(own, why="the merged model has no such matrix in the same order")
    return _compared_effect(own, pair, module, comparison)


def _factors_of(
    pieces: Mapping[str, Attached], own: Labelled, result: Attachment, base: Weights, adapter: Weights
) -> _Factors | str:
    """The module's numbers, or why they are unavailable."""
    found = result.adapter.adapter
    unknown = sorted(pieces.keys() - KNOWN)
    if unknown or not {"lora_A", "lora_B"} <= pieces.keys():
        return f"{found.method if found else 'this adapter'} has no definition here"
    if not all(each.fits for each in pieces.values()):
        return "its shapes do not fit"
    values = {part: _values_of(each.piece, adapter) for part, each in pieces.items()}
    down, up, shape = values["lora_A"], values["lora_B"], base.shape(own)
    if len(shape) != 2 or down.ndim != 2 or up.ndim != 2 or down.shape[0] != up.shape[1]:
        return "not a matrix, or factors of different ranks"
    config = found.config if found else {}
    scale = _scale_of_product(config, own.tensor.name.removesuffix(".weight"), len(down), values.get("alpha"))
    if scale is None:
        return "the adapter does not state its lora_alpha"
    outputs, inputs = up.shape[0], down.shape[1]
    turned = shape != (outputs, inputs) or (outputs == inputs and config.get("fan_in_fan_out") is True)
    if sorted(shape) != sorted((outputs, inputs)):
        return "its shapes do not fit"
    magnitude = values["magnitude"].reshape(-1) if "magnitude" in values else None
    if magnitude is not None and turned:
        return "a magnitude for a weight of [inputs, outputs] is not supported here"
    return _Factors(down, up * np.float32(scale), magnitude, turned)


def _values_of(each: Labelled, weights: Weights) -> Array:
    return weights.values(each).reshape(each.tensor.shape)


def _scale_of_product(config: Mapping[str, Any], module: str, rank: int, stored: Array | None) -> float | None:
    """The factor of B·A."""
    name = own_pattern(config, "alpha_pattern", module)
    alpha = config["alpha_pattern"][name] if name is not None else config.get("lora_alpha")
    if stored is not None and stored.size == 1:
        alpha = float(stored.reshape(-1)[0])
    if not isinstance(alpha, (int, float)) or rank < 1:
        return None
    return alpha / sqrt(rank) if config.get("use_rslora") is True else alpha / rank


def _rows_of_weight(own: Labelled, base: Weights) -> Iterator[tuple[int, Array]]:
    """The weight's rows, some at a time, with the number of the first."""
    rows, columns = base.shape(own)
    step = max(1, CHUNK // columns)
    for first in range(0, rows, step):
        stop = min(first + step, rows)
        yield first, base.values(own, first * columns, stop * columns).reshape(-1, columns)


def _with_adapter(module: _Factors, rows: tuple[int, Array]) -> tuple[Array, Array]:
    """Rows of the weight, and the same rows with the adapter."""
    first, weight = rows
    part = slice(first, first + len(weight))
    product = module.down[:, part].T @ module.up.T if module.turned else module.up[part] @ module.down
    new: Array = weight + product
    if module.magnitude is not None:
        length = np.linalg.norm(new, axis=1, keepdims=True)
        new = new * (module.magnitude[part, None] / np.where(length, length, 1))
    return weight, new


def _relative_change(pieces: Iterable[tuple[Array, Array]]) -> float | None:
    change = whole = 0.0
    for weight, new in pieces:
        gap = np.nan_to_num(new - weight).astype(np.float64)
        change += float(np.vdot(gap, gap))
        whole += float(np.vdot(weight, weight))
    return sqrt(change / whole) if whole else None


def _compared_effect(own: Labelled, pair: Pair, module: _Factors, comparison: Comparison) -> Effect:
    """How large the change is, and whether the merged weight is the sum up to rounding."""
    total, sums = [0.0, 0.0], Sums()
    for first, weight, merged, step in comparison.rows(pair, CHUNK):
        _, new = _with_adapter(module, (first, weight))
        gap = np.nan_to_num(new - weight)
        total[0] += float(np.vdot(gap, gap))
        total[1] += float(np.vdot(weight, weight))
        allowed = [step.reshape(new.shape) + np.abs(gap) * PRODUCT, _truncation_error(new, pair)]
        sums += differences.sums(np.asarray(new, np.float32), merged, lambda allowed=allowed: allowed)  # type: ignore[misc]
    relative = sqrt(total[0] / total[1]) if total[1] else None
    return Effect(own, relative, Data(agreement(sums, lossy=True), "base + adapter", sums))


def _truncation_error(new: Array, pair: Pair) -> Array:
    """The additional error of truncating, instead of rounding, to the merged dtype."""
    found = spacing(np.asarray(new, np.float32), pair.b.dtype) if pair.b else None
    return found if found is not None else np.zeros_like(new)
