"""Two arrays of numbers: measures of their difference, and what a converter makes of one."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.comparing.agreement import Sums
from inspector.errors import TableError

Array = NDArray[Any]

#: Functions of a value.
FUNCTIONS: Mapping[str, Callable[..., Array]] = {
    "exp": np.exp,
    "relu": lambda x: np.maximum(x, 0),
    "round": np.rint,
    "sqrt": np.sqrt,
    "clip": np.clip,
    "silu": lambda x: x / (1 + np.exp(-x)),
    "softplus": lambda x: np.logaddexp(np.float32(0), x),
    "linear": lambda x, weight, bias=0: x @ weight.T + bias,
}
#: Means over the model's whole tensor that a formula may name → what is averaged.
MEANS: Mapping[str, Callable[[Array], Array]] = {"mean": lambda x: x, "mean_abs": np.abs}
#: What a formula calls an element's place in the model's tensor, from 0.
INDEX = "index"
#: Functions that libraries compute differently in the last bits.
ROUNDED = frozenset({"exp", "linear", "silu", "softplus", "sqrt", *MEANS})
#: A sum of products below which some may have been too small for F32.
_SMALL = 1e-30
#: How far two libraries' `exp` may differ, in relative terms: four F32 steps.
_LAST_BITS = 4 * 2.0**-23


def sums(a: Array, b: Array, steps: Callable[[], Sequence[Array]] = tuple, *, slack: float | None = None) -> Sums:
    """What two arrays of one shape have in common.

    Args:
        steps: returns how far rounded values of each side may be from their originals; called if any differ.
        slack: None if equal means the same number; else up to the last F32 bits of each number and of this one, which
            contributed to each.
    """
    a, b = a.reshape(-1), b.reshape(-1)
    with np.errstate(all="ignore"):
        square_a, square_b = np.dot(a, a), np.dot(b, b)
        if not np.isfinite(square_a + square_b):
            return _with_infinite(a, b, steps, slack=slack)
        gap = a - b
        differing = np.count_nonzero(gap)
        if not differing:
            square = _dot(a, a)
            return Sums(elements=a.size, a=square, b=square, product=square)
        if slack is not None:
            gap[np.abs(gap) <= (np.abs(b) + np.float32(slack)) * np.float32(_LAST_BITS)] = 0
            differing = np.count_nonzero(gap)
        allowed = _allowed(steps())
        beyond = differing if allowed is None else np.count_nonzero(np.abs(gap) > allowed)
        return Sums(
            a.size,
            int(differing),
            int(beyond),
            float(max(gap.max(), -gap.min())),
            _dot(gap, gap),
            _dot(a, a),
            _dot(b, b),
            _dot(a, b),
            0.0 if allowed is None else _dot(allowed, allowed),
        )


def _allowed(steps: Sequence[Array]) -> Array | None:
    """How far two values may be apart after rounding; None if neither was rounded."""
    found: Array | None = None
    for step in steps:
        flat = step.reshape(-1)
        found = flat if found is None else found + flat
    return found


def _with_infinite(a: Array, b: Array, steps: Callable[[], Sequence[Array]], *, slack: float | None) -> Sums:
    """The same for NaN or infinite numbers: equal if both are NaN, or the same infinity."""
    nan_a, nan_b = np.isnan(a), np.isnan(b)
    finite = np.isfinite(a) & np.isfinite(b)
    alike = ~finite & ((a == b) | (nan_a & nan_b))
    found = [np.where(finite, each, 0).astype(np.float64) for each in (a, b)]

    def of_finite() -> list[Array]:
        return [np.where(finite, step.reshape(-1), 0) for step in steps()]

    rest = sums(found[0], found[1], of_finite, slack=slack)
    other = int(np.count_nonzero(~finite & ~alike))
    return rest._replace(
        differing=rest.differing + other,
        beyond=rest.beyond + other,
        nan_a=int(np.count_nonzero(nan_a)),
        nan_b=int(np.count_nonzero(nan_b)),
    )


def _dot(a: Array, b: Array) -> float:
    """Σ a·b; in 64 bits if F32 overflows or underflows."""
    found = float(np.dot(a, b))
    if np.isfinite(found) and (abs(found) > _SMALL or not a.any()):
        return found
    return float(np.dot(a.astype(np.float64), b.astype(np.float64)))


def slack(text: str, known: Mapping[str, float]) -> float | None:
    """The largest mean in a formula that libraries compute differently, or 0; None if they compute it identically."""
    if not text or not any(isinstance(node, ast.Name) and node.id in ROUNDED for node in ast.walk(_tree(text))):
        return None
    return max((abs(known[name]) for name in MEANS.keys() & known.keys()), default=0.0)


def applied(text: str, x: Array, number: Callable[[str], float | Array | None]) -> Array:
    """A formula's value for each x: `x + 1`, `-exp(x)`, `x * embedding_multiplier`. Raises TableError for any other."""
    with np.errstate(all="ignore"):
        found = np.asarray(_value(_tree(text), x, number), x.dtype)
        return found if found.ndim else np.broadcast_to(found, x.shape)


def words(text: str) -> frozenset[str]:
    """The names in a formula of x."""
    names = {node.id for node in ast.walk(_tree(text)) if isinstance(node, ast.Name)} if text else set()
    return frozenset(names - FUNCTIONS.keys() - {"x"})


@cache
def _tree(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _value(node: ast.expr, x: Array, number: Callable[[str], float | Array | None]) -> Any:
    match node:
        case ast.Name(id="x"):
            return x
        case ast.Constant(value=int() | float() as value):
            return value  # rounded to F32 when combined with x
        case ast.Name(id=name):
            found = number(name)
            if found is None:
                raise TableError(f"the configuration has no number {name}")
            return found
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, x, number)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATIONS:
            return _OPERATIONS[type(op)](_value(left, x, number), _value(right, x, number))
        case ast.Call(func=ast.Name(id=name), args=arguments) if name in FUNCTIONS:
            return FUNCTIONS[name](*(_value(argument, x, number) for argument in arguments))
    raise TableError(f"no conversion is `{ast.unparse(node)}`")


_OPERATIONS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.FloorDiv: lambda a, b: a // b if b else 0,
    ast.Pow: lambda a, b: a**b,
}
