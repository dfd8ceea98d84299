"""Infers a configuration from a few tensors, so that the rest can be tested against it.

Each dimension of a table's rows is an equation: `num_attention_heads * head_dim` is 4,096. Equations with one unknown
are solved repeatedly; a product of two unknowns is resolved by `ASSUMED`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from keyword import iskeyword
from math import prod
from typing import Any

from inspector.architectures import family_of, formula, naming
from inspector.architectures.prediction import predict
from inspector.architectures.scope import Scope
from inspector.architectures.store import store
from inspector.architectures.table import Family, Include, Row
from inspector.errors import ConfigError
from inspector.model import Config, Key
from inspector.units import integer

#: Field → values to try, in order, if only its product with another field is known.
ASSUMED: Mapping[str, tuple[int, ...]] = {
    "head_dim": (128, 64, 96, 80, 256, 192, 160, 112, 48, 32, 16, 8, 4, 2, 1),
}
#: The share of tensors that a family must explain to be named.
ENOUGH = 0.8


def infer(
    weights: Iterable[tuple[str, tuple[int, ...]]], roles: set[str], patterns: Iterable[str] = ()
) -> Config | None:
    """A configuration under which a known family explains the tensors; None if none does.

    Args:
        weights: name and logical shape of each weight, without side data; iterated only if a family may fit.
        roles: by the words in names.
        patterns: the names with numbers as `{}`, which identify some families immediately.
    """
    signs = store().signs
    likely = list(_by_signs(signs, patterns)) or [
        model_type for model_type in store().inferable if model_type not in signs and _needed(model_type) <= roles
    ]
    if not likely:
        return None
    shapes = dict(weights)
    score, config = max((_as(model_type, shapes) for model_type in likely), key=lambda pair: pair[0])
    return config if score >= ENOUGH else None


def _by_signs(signs: Mapping[str, Sequence[str]], patterns: Iterable[str]) -> Iterable[str]:
    """The types whose signs are all present."""
    met = {name for pattern in patterns for name in (pattern, naming.unwrapped(pattern))}
    return (model_type for model_type, wanted in signs.items() if met.issuperset(wanted))


def _needed(model_type: str) -> set[str]:
    """Roles present in every model of this type."""
    family = family_of({"model_type": model_type})
    assert family is not None
    rows = (row for row in family.rows if isinstance(row, Row))
    return {row.role for row in rows if not (row.when or row.heads or row.tied or row.buffer)}


def _as(model_type: str, shapes: Mapping[str, tuple[int, ...]]) -> tuple[float, Config]:
    """How well one model type explains the tensors, and under which configuration."""
    family = family_of({"model_type": model_type})
    assert family is not None
    named = naming.Namer(family).name(list(shapes))
    keys = named.keys()
    shape_of = dict(zip(keys, shapes.values(), strict=True))
    config = _solve(family, model_type, shape_of, shapes)
    known = {key for key, slot in zip(keys, named.slots, strict=True) if slot.group != "buffer"}
    scored = (
        (_score(candidate, known, shape_of), candidate) for candidate in (_under(config, h) for h in _heads(family))
    )
    return max(scored, key=lambda pair: pair[0])


def _heads(family: Family) -> list[str]:
    """Class suffixes for which a family has rows, its usual one first."""
    found = [family.head, "Model", *(head for row in family.rows if isinstance(row, Row) for head in row.heads.split())]
    return list(dict.fromkeys(found))


def _under(config: Config, head: str) -> Config:
    return config._replace(values={**config.values, "architectures": [head]})


def _score(config: Config, known: set[Key], shape_of: Mapping[Key, tuple[int, ...]]) -> float:
    """The share of stored and predicted tensors that are both, with the same shape."""
    try:
        prediction = predict(config)
    except ConfigError:
        return 0.0
    expected = {key: row.shape for row in prediction.expected for key in row.keys()}
    right = sum(_same(expected[key], shape_of[key]) for key in known & expected.keys())
    return right / max(1, len(known | expected.keys()))


def _same(predicted: tuple[int, ...], stored: tuple[int, ...]) -> bool:
    """The same dimensions in any order; or the same number of elements, if a packed weight shows no more."""
    return sorted(predicted) == sorted(stored) or (len(stored) == 1 and prod(predicted) == stored[0])


def _solve(family: Family, model_type: str, shape_of: Mapping[Key, tuple[int, ...]], names: Iterable[str]) -> Config:
    rows = [row for row in family.rows if isinstance(row, Row)]
    flags = {**_flags(rows, shape_of), **_parts(family, names)}
    values: dict[str, Any] = {"model_type": model_type, **_counts(rows, shape_of), **flags}
    equations = list(_equations(rows, shape_of))
    notes: list[str] = []
    while True:
        solved = _one_unknown(equations, Scope(_without_guesses(family), values))
        if not solved:
            solved = _assumption(equations, Scope(_without_guesses(family), values), notes)
        if not solved:
            break
        values.update(solved)
    used = ", ".join(f"{k} {integer(v) if type(v) is int else v}" for k, v in values.items() if k != "model_type")
    return Config(values, "inferred", None, (f"no configuration: inferred from the tensors: {used}", *notes))


def _without_guesses(family: Family) -> Family:
    """The family's fields as unknowns: neither defaults nor derived values replace them."""
    return Family(family.name, {}, (), fields=family.fields)


def _of(entry: Key | Row) -> tuple[str, str]:
    return entry.role, entry.branch


def _counts(rows: Iterable[Row], shape_of: Mapping[Key, tuple[int, ...]]) -> dict[str, int]:
    """Numbers of layers and experts: one more than the highest index."""
    counts: dict[str, int] = {}
    for row in rows:
        for index, bound in row.indexes:
            if index not in ("layer", "expert") or not bound.isidentifier():
                continue
            values = (key.layer if index == "layer" else key.expert for key in shape_of if _of(key) == _of(row))
            highest = max((value for value in values if value is not None), default=-1)
            if highest >= 0:
                counts[bound] = max(counts.get(bound, 0), highest + 1)
    return counts


def _flags(rows: Iterable[Row], shape_of: Mapping[Key, tuple[int, ...]]) -> dict[str, bool]:
    """Conditions that are a single field: true if a tensor that depends on them is present."""
    parts = {(*_of(key), key.part) for key in shape_of}
    flags: dict[str, bool] = {}
    for row in rows:
        if _is_field(row.bias):
            flags[row.bias] = flags.get(row.bias, False) or (*_of(row), "bias") in parts
        if _is_field(row.when):
            flags[row.when] = flags.get(row.when, False) or (*_of(row), "weight") in parts
        if _is_field(row.tied):
            flags[row.tied] = (*_of(row), "weight") not in parts
    return flags


def _is_field(condition: str) -> bool:
    """Whether a condition is a single field."""
    return condition.isidentifier() and not iskeyword(condition)


def _parts(family: Family, names: Iterable[str]) -> dict[str, bool]:
    """The same for parts with their own tables: true if a name has their prefix."""
    parts = {entry.prefix: entry.when for entry in family.rows if isinstance(entry, Include) and _is_field(entry.when)}
    return {field: any(name.startswith(prefix) for name in names) for prefix, field in parts.items()}


def _equations(rows: Iterable[Row], shape_of: Mapping[Key, tuple[int, ...]]) -> Iterable[tuple[str, int]]:
    """(expression, value) for each dimension of the first tensor of each row."""
    first = {(*_of(key), key.part): shape for key, shape in reversed(list(shape_of.items()))}
    for row in rows:
        shape = first.get((*_of(row), "weight"))
        dims = formula.dimensions(row.shape)
        if shape is not None and len(shape) == len(dims):
            yield from zip(dims, shape, strict=True)
        elif shape is not None and len(shape) == 1:  # a packed weight of which only the number of elements is known
            yield " * ".join(f"({dim})" for dim in dims), shape[0]


def _one_unknown(equations: Iterable[tuple[str, int]], scope: Scope) -> dict[str, int]:
    for text, value in equations:
        solved = _solve_for(formula.parse(text), value, scope)
        if solved and solved[0] not in scope.config:
            return dict([solved])
    return {}


def _assumption(equations: Iterable[tuple[str, int]], scope: Scope, notes: list[str]) -> dict[str, int]:
    for field, candidates in ASSUMED.items():
        products = [value for text, value in equations if field in formula.names(text) and "*" in text]
        if field in scope.config or not products:
            continue
        for candidate in candidates:
            if all(value % candidate == 0 for value in products):
                notes.append(
                    f"{field} {candidate} is assumed: the tensors only determine its product with the number of heads"
                )
                return {field: candidate}
    return {}


def _known(node: ast.expr, scope: Scope) -> int | None:
    try:
        value = formula.evaluate(ast.unparse(node), scope)
    except ConfigError:
        return None
    return value if isinstance(value, int) else None


def _solve_for(node: ast.expr, value: int, scope: Scope) -> tuple[str, int] | None:
    """The one unknown of `node == value`; None if there is none, or several."""
    if isinstance(node, ast.Name):
        return node.id, value
    if not isinstance(node, ast.BinOp):
        return None
    left, right = _known(node.left, scope), _known(node.right, scope)
    match node.op, left, right:
        case ast.Mult(), int(known), None if known and value % known == 0:
            return _solve_for(node.right, value // known, scope)
        case ast.Mult(), None, int(known) if known and value % known == 0:
            return _solve_for(node.left, value // known, scope)
        case ast.FloorDiv(), None, int(known):
            return _solve_for(node.left, value * known, scope)
        case ast.Add(), int(known), None:
            return _solve_for(node.right, value - known, scope)
        case ast.Add(), None, int(known):
            return _solve_for(node.left, value - known, scope)
        case ast.Sub(), None, int(known):
            return _solve_for(node.left, value + known, scope)
    return None
