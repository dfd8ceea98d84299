"""Two arrays of numbers: what their difference comes to, and what a converter makes of one."""

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

#: Functions of a value: two libraries' results differ in the last bits.
FUNCTIONS: Mapping[str, Callable[[Array], Array]] = {"exp": np.exp, "relu": lambda x: np.maximum(x, 0)}
ROUNDED = frozenset({"exp"})
#: So many of F32's steps two libraries' `exp` may differ by.
_LAST_BITS = 4 * 2.0**-23


def sums(a: Array, b: Array, steps: Sequence[Array], *, exact: bool = True) -> Sums:
    """What two arrays of one shape have in common.

    Args:
        steps: for each of the two that is rounded, how far its values may lie from others.
        exact: whether equal means the same number; else up to the last bits of F32.
    """
    a, b = a.reshape(-1), b.reshape(-1)
    with np.errstate(all="ignore"):
        same = a == b
        if exact and same.all():
            square = _dot(a, a)
            return Sums(elements=a.size, a=square, b=square, product=square)
        nan_a, nan_b = np.isnan(a), np.isnan(b)
        same |= nan_a & nan_b
        finite = np.isfinite(a) & np.isfinite(b)
        x, y = (a, b) if finite.all() else (np.where(finite, a, 0), np.where(finite, b, 0))
        gap = np.abs(x - y)
        if not exact:
            same |= finite & (gap <= np.abs(y) * np.float32(_LAST_BITS))
        allowed = np.zeros_like(gap)
        for step in steps:
            allowed += np.nan_to_num(step.reshape(-1), nan=0.0, posinf=0.0)
        beyond = ~same & ((gap > allowed) | ~finite)
        return Sums(
            a.size,
            int(a.size - np.count_nonzero(same)),
            int(np.count_nonzero(beyond)),
            float(gap.max(initial=0.0)),
            _dot(gap, gap),
            _dot(x, x),
            _dot(y, y),
            _dot(x, y),
            _dot(allowed, allowed),
            int(np.count_nonzero(nan_a)),
            int(np.count_nonzero(nan_b)),
        )


def _dot(a: Array, b: Array) -> float:
    """Σ a·b; of what overflows F32, or is too small for it, with 64 bits."""
    found = float(np.dot(a, b))
    if np.isfinite(found) and abs(found) > 1e-30:
        return found
    return float(np.dot(a.astype(np.float64), b.astype(np.float64)))


def is_rounded(text: str) -> bool:
    """Whether a formula has a function that libraries compute differently."""
    return bool(text) and any(isinstance(node, ast.Name) and node.id in ROUNDED for node in ast.walk(_tree(text)))


def applied(text: str, x: Array, number: Callable[[str], float | None]) -> Array:
    """A formula's value for each x: `x + 1`, `-exp(x)`, `x * embedding_multiplier`. Raises TableError for another."""
    with np.errstate(all="ignore"):
        found = _value(_tree(text), x, number)
        return np.asarray(found, x.dtype)


@cache
def _tree(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _value(node: ast.expr, x: Array, number: Callable[[str], float | None]) -> Any:
    match node:
        case ast.Name(id="x"):
            return x
        case ast.Constant(value=int() | float() as value):
            return np.float32(value)
        case ast.Name(id=name):
            found = number(name)
            if found is None:
                raise TableError(f"the configuration has no number {name}")
            return np.float32(found)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, x, number)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATIONS:
            return _OPERATIONS[type(op)](_value(left, x, number), _value(right, x, number))
        case ast.Call(func=ast.Name(id=name), args=[argument]) if name in FUNCTIONS:
            return FUNCTIONS[name](_value(argument, x, number))
    raise TableError(f"no conversion is `{ast.unparse(node)}`")


_OPERATIONS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
}
