"""Formulas by which a converter changes a tensor's numbers: `x + 1`, `-exp(x)`, `x * embedding_multiplier`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np

from inspector.errors import TableError
from inspector.formats.decoding import Array

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


def slack(text: str, known: Mapping[str, float]) -> float | None:
    """The largest mean in a formula that libraries compute differently, or 0; None if they compute it identically."""
    if not text or not any(isinstance(node, ast.Name) and node.id in ROUNDED for node in ast.walk(_parse(text))):
        return None
    return max((abs(known[name]) for name in MEANS.keys() & known.keys()), default=0.0)


def applied(text: str, x: Array, number: Callable[[str], float | Array | None]) -> Array:
    """A formula's value for each x: `x + 1`, `-exp(x)`, `x * embedding_multiplier`. Raises TableError for any other."""
    with np.errstate(all="ignore"):
        found = np.asarray(_evaluate(_parse(text), x, number), x.dtype)
        return found if found.ndim else np.broadcast_to(found, x.shape)


def words(text: str) -> frozenset[str]:
    """The names in a formula of x."""
    names = {node.id for node in ast.walk(_parse(text)) if isinstance(node, ast.Name)} if text else set()
    return frozenset(names - FUNCTIONS.keys() - {"x"})


@cache
def _parse(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _evaluate(node: ast.expr, x: Array, number: Callable[[str], float | Array | None]) -> Any:
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
            return -_evaluate(operand, x, number)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATIONS:
            return _OPERATIONS[type(op)](_evaluate(left, x, number), _evaluate(right, x, number))
        case ast.Call(func=ast.Name(id=name), args=arguments) if name in FUNCTIONS:
            return FUNCTIONS[name](*(_evaluate(argument, x, number) for argument in arguments))
    raise TableError(f"no conversion is `{ast.unparse(node)}`")


_OPERATIONS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.FloorDiv: lambda a, b: a // b if b else 0,
    ast.Pow: lambda a, b: a**b,
}
