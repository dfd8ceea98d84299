"""The expression language of the tables: integer expressions over configuration fields.

`num_attention_heads * head_dim`, `layer_types[layer] == "full_attention"`, `vision_config.hidden_size`.
The syntax is Python's, read by `ast`; the supported syntax is listed in `_EVALUATE` and `FUNCTIONS`, and nothing else
evaluates. A dotted name is a field of a nested configuration.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from itertools import accumulate
from typing import Any, Protocol, TypeGuard

from inspector.errors import ConfigError, CostError, ShortListError
from inspector.units import integer


class Scope(Protocol):
    """Where names get their values: index variables, configuration fields, defaults."""

    def __getitem__(self, name: str) -> Any:
        """The value of a name. Raises ConfigError if there is none."""


#: Steps that one prediction may take, one per node of an expression; the most expensive known model takes 700,000.
MOST_STEPS = 2_000_000
_left: ContextVar[list[int] | None] = ContextVar("left", default=None)


@contextmanager
def bounded(steps: int = MOST_STEPS) -> Iterator[None]:
    """Within this context, all evaluation together takes at most this many steps, or what remains of an enclosing one.

    Raises:
        CostError: it would take more: configurations are untrusted.
    """
    if _left.get() is not None:
        yield
        return
    token = _left.set([steps])
    try:
        yield
    finally:
        _left.reset(token)


def spend(steps: int) -> None:
    """Count work that a configuration asks for. Raises CostError if it exceeds any model's."""
    left = _left.get()
    if left is not None:
        left[0] -= steps
        if left[0] < 0:
            raise CostError(
                f"the configuration asks for more than {integer(MOST_STEPS)} steps of work, more than any model needs: "
                "not predicted"
            )


def ceil_to(number: int, multiple: int) -> int:
    """`number` rounded up to a multiple: `ceil_to(10922, 256)` = 11,008."""
    return -(-number // multiple) * multiple


def scaled(number: int, factor: float) -> int:
    """`int(factor · number)`, the only place where a configuration's float affects a size."""
    return int(_OPERATORS[ast.Mult](factor, number))


def divisible(number: float, divisor: int, least: int | None = None) -> int:
    """The nearest multiple of `divisor`, at least `least` and nine tenths of the number: a MobileNet's width.

    `divisible(30 * 1.4, 8)` = 40. `least` defaults to the divisor.
    """
    nearest = max(divisor if least is None else least, int(number + divisor / 2) // divisor * divisor)
    return nearest + divisor if nearest < 0.9 * number else nearest


def power(base: float, exponent: int) -> float:
    """`2 ** stage`; `0.5 ** stage` remains a fraction. Raises ValueError for an impossible width."""
    if not 0 <= exponent <= 32 or abs(base) > (64 if exponent > 3 else 100_000):
        raise ValueError(f"{base} ** {exponent}")
    return base**exponent if base % 1 else int(base**exponent)


#: The longest list that is made: configurations are untrusted.
LONGEST_LIST = 100_000

_DIGITS = re.compile(r"[0-9]{1,18}")


def _numbers_only(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """The operation for numbers only: a list times a number could be arbitrarily long."""

    def checked(left: Any, right: Any) -> Any:
        if not (isinstance(left, (int, float)) and isinstance(right, (int, float))):
            raise TypeError(f"{left!r:.40} and {right!r:.40} are not two numbers")
        return operation(left, right)

    return checked


def place(items: Sequence[Any], item: Any) -> int:
    """The first position of an item in a list; -1 if it is not there."""
    return list(items).index(item) if item in items else -1


def count(value: Any) -> int:
    """The number of items of a list; 1 for anything else."""
    return len(value) if isinstance(value, (list, tuple)) else 1


def spread(value: Any, number: int) -> Any:
    """A list unchanged, anything else repeated: a field's value for all stages, or one for each."""
    if isinstance(value, (list, tuple)):
        return value
    if not 0 <= number <= LONGEST_LIST:
        raise ValueError(f"a list of {number} items")
    spend(number)
    return [value] * number


def stage(counts: Sequence[int], at: int) -> int:
    """The stage that contains block `at`, given the stages' numbers of blocks; the first for anything before it."""
    for number, end in enumerate(accumulate(counts)):
        if at < end:
            return number
    raise IndexError(f"stages of {list(counts)} have no block {at}")


def product(numbers: Sequence[int]) -> int:
    """The product of a list's numbers: `product(upsampling_ratios)`. Raises ValueError beyond 64 bits."""
    result = 1
    for number in numbers:
        result = _OPERATORS[ast.Mult](result, number)
        if abs(result) >= 2**63:
            raise ValueError(f"the product of {len(numbers)} numbers is beyond 64 bits")
    return result


def bits(number: int) -> int:
    """Bits needed to distinguish this many things, the base-2 logarithm rounded up: `bits(1024)` = 10."""
    return (number - 1).bit_length()


def numbers(text: str) -> list[int]:
    """The integers in a string: `numbers("4/8")` = [4, 8]."""
    return [int(digits) for digits in _DIGITS.findall(text)]


#: Numbers to factor are sides of patches or counts, and never near this.
LARGEST_PRODUCT = 10_000


def factors(number: int) -> list[int]:
    """Prime factors, the largest first: `factors(40)` = [5, 2, 2, 2]."""
    if not 1 <= number <= LARGEST_PRODUCT:
        raise ValueError(f"the factors of {number}")
    found, factor = list[int](), 2
    while number > 1:
        while number % factor == 0:
            found.append(factor)
            number //= factor
        factor += 1
    return found[::-1]


def products(numbers: Sequence[int]) -> list[int]:
    """The cumulative products of a list: `products([5, 2, 2])` = [5, 10, 20]."""
    return list(accumulate(numbers, _OPERATORS[ast.Mult]))


def evenly(sizes: Sequence[int], most: int, turns: int) -> list[int]:
    """Positions in a list of ascending sizes, one per turn on the way from the first to the last.

    The sizes grow as evenly as possible towards `most`, on a logarithmic scale; none is used twice while there are
    enough.
    """
    if not 1 <= turns <= LONGEST_LIST:
        raise ValueError(f"{turns} turns")
    spend(turns * len(sizes))
    logarithms = [math.log(size) for size in sizes]
    ideal = [math.log(most) * at / turns for at in range(turns + 1)]
    if turns < len(sizes):
        met = _nearest(ideal, logarithms)
    else:
        met = [min(range(len(sizes)), key=lambda place: abs(size - logarithms[place])) for size in ideal]
    return [0, *met[1:-1], len(sizes) - 1]


def _nearest(ideal: Sequence[float], sizes: Sequence[float]) -> list[int]:
    """A distinct position for each ascending ideal among more ascending sizes, with the least sum of distances."""
    best: list[tuple[float, list[int]]] = [(0.0, [])] * (len(sizes) + 1)
    for number, size in enumerate(ideal):
        rows: list[tuple[float, list[int]]] = [(math.inf, [])] * (len(sizes) + 1)
        for place in range(number, len(sizes)):
            cost, taken = best[place]
            rows[place + 1] = min(
                rows[place], (cost + abs(size - sizes[place]), [*taken, place]), key=lambda row: row[0]
            )
        best = rows
    return best[-1][1]


def unknown(kind: str, name: object) -> None:
    """Raises ConfigError: the tables lack this one of the kind, as in `unknown("timm architecture", architecture)`."""
    raise ConfigError(f"the {kind} {name!r:.80} is not in the tables")


#: Functions that a formula may call.
FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "ceil_to": ceil_to,
    "scaled": scaled,
    "divisible": divisible,
    "len": len,
    "min": min,
    "max": max,
    "sum": sum,
    "place": place,
    "count": count,
    "spread": spread,
    "stage": stage,
    "product": product,
    "bits": bits,
    "numbers": numbers,
    "factors": factors,
    "products": products,
    "evenly": evenly,
    "round": round,
    "int": int,
    "ceil": math.ceil,
    "unknown": unknown,
}

_OPERATORS: Mapping[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: _numbers_only(operator.mul),
    ast.FloorDiv: operator.floordiv,
    ast.Div: operator.truediv,
    ast.Mod: _numbers_only(operator.mod),
    ast.Pow: power,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda item, items: item in (items or ()),
    ast.NotIn: lambda item, items: item not in (items or ()),
    ast.Not: operator.not_,
    ast.USub: operator.neg,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}


@cache
def parse(text: str) -> ast.expr:
    """The expression's syntax tree. Raises SyntaxError: the table is wrong, not the user."""
    return ast.parse(text.strip(), mode="eval").body


@cache
def names(text: str) -> frozenset[str]:
    """The names in an expression: fields and index variables, not functions."""
    return frozenset(_names(parse(text))) - FUNCTIONS.keys()


def _names(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Name):
        return {node.id}
    if isinstance(node, ast.ListComp):
        (loop,) = node.generators
        assert isinstance(loop.target, ast.Name)
        assert isinstance(loop.iter, ast.Call)
        inner = set[str]().union(_names(node.elt), *map(_names, loop.ifs))
        return inner - {loop.target.id} | _names(loop.iter.args[0])
    return set[str]().union(*map(_names, ast.iter_child_nodes(node)))


def evaluate(text: str, scope: Scope) -> Any:
    """The expression's value.

    Raises:
        ConfigError: a field is missing, or its value does not suit the arithmetic.
    """
    cost, value = _compiled(text)
    spend(cost)
    try:
        return value(scope)
    except IndexError as error:
        raise ShortListError(f"the configuration does not allow `{show(text)}`: {error}") from error
    except (TypeError, ValueError, ArithmeticError, LookupError, AttributeError, RecursionError) as error:
        raise ConfigError(f"the configuration does not allow `{show(text)}`: {error}") from error


def hold(text: str, scopes: Sequence[Scope]) -> list[bool]:
    """In which of these scopes a condition holds; "" holds in all. Raises ConfigError as `evaluate` does."""
    return [not text or bool(evaluate(text, scope)) for scope in scopes]


#: A node of an expression as a function of the scope: trees are walked once, and evaluated for each row of each model.
Evaluation = Callable[[Scope], Any]


@cache
def _compiled(text: str) -> tuple[int, Evaluation]:
    """An expression's cost, in nodes of its tree; and its value in a scope."""
    tree = parse(text)
    return sum(1 for _ in ast.walk(tree)), _evaluation(tree)


def _evaluation(node: ast.expr) -> Evaluation:
    return _EVALUATE[type(node)](node)


def _constant(node: Any) -> Evaluation:
    value = node.value
    return lambda _: value


def _name(node: Any) -> Evaluation:
    name = node.id
    return lambda scope: scope[name]


def _attribute(node: Any) -> Evaluation:
    """A field of a nested configuration; None if either is absent."""
    outer, name = _evaluation(node.value), node.attr

    def value(scope: Scope) -> Any:
        fields = outer(scope)
        return fields.get(name) if isinstance(fields, Mapping) else None

    return value


def _binary(node: Any) -> Evaluation:
    operation, left, right = _OPERATORS[type(node.op)], _evaluation(node.left), _evaluation(node.right)
    return lambda scope: operation(left(scope), right(scope))


def _unary(node: Any) -> Evaluation:
    operation, operand = _OPERATORS[type(node.op)], _evaluation(node.operand)
    return lambda scope: operation(operand(scope))


def _boolean(node: Any) -> Evaluation:
    """`and` / `or`, with Python's short-circuiting."""
    parts, stop_at = [*map(_evaluation, node.values)], isinstance(node.op, ast.Or)

    def value(scope: Scope) -> Any:
        found: Any = None
        for part in parts:
            found = part(scope)
            if bool(found) == stop_at:
                break
        return found

    return value


def _compare(node: Any) -> Evaluation:
    first = _evaluation(node.left)
    further = [(_OPERATORS[type(op)], _evaluation(each)) for op, each in zip(node.ops, node.comparators, strict=True)]

    def value(scope: Scope) -> bool:
        left = first(scope)
        for holds, evaluation in further:
            right = evaluation(scope)
            if isinstance(right, (list, str)):  # searched by `in`, or compared item by item
                spend(len(right))
            if not holds(left, right):
                return False
            left = right
        return True

    return value


def _choice(node: Any) -> Evaluation:
    test, body, orelse = _evaluation(node.test), _evaluation(node.body), _evaluation(node.orelse)
    return lambda scope: body(scope) if test(scope) else orelse(scope)


def _subscript(node: Any) -> Evaluation:
    items, at = _evaluation(node.value), _evaluation(node.slice)
    return lambda scope: items(scope)[at(scope)]


def _items(node: Any) -> Evaluation:
    items, kind = [*map(_evaluation, node.elts)], tuple if isinstance(node, ast.Tuple) else list
    return lambda scope: kind(item(scope) for item in items)


class _Inner:
    """A scope with one more index variable."""

    def __init__(self, outer: Scope, name: str, value: int) -> None:
        self.outer = outer
        self.name = name
        self.value = value

    def __getitem__(self, name: str) -> Any:
        return self.value if name == self.name else self.outer[name]


def _list(node: Any) -> Evaluation:
    """`[… for layer in range(num_hidden_layers) if …]`, the only loop."""
    (loop,) = node.generators
    item, bound, tests = _evaluation(node.elt), _evaluation(loop.iter.args[0]), [*map(_evaluation, loop.ifs)]
    name, cost = loop.target.id, sum(1 for each in (node.elt, *loop.ifs) for _ in ast.walk(each))

    def value(scope: Scope) -> list[Any]:
        number = bound(scope)
        if not 0 <= number <= LONGEST_LIST:
            raise ValueError(f"a list of {number} items")
        spend(number * cost)
        turns = (_Inner(scope, name, at) for at in range(number))
        return [item(turn) for turn in turns if all(test(turn) for test in tests)]

    return value


def _call(node: Any) -> Evaluation:
    """A function's value; it may traverse all of a list or string from a configuration."""
    function, arguments = FUNCTIONS[node.func.id], [*map(_evaluation, node.args)]

    def value(scope: Scope) -> Any:
        values = [argument(scope) for argument in arguments]
        spend(sum(len(each) for each in values if isinstance(each, (list, tuple, str, Mapping))))
        return function(*values)

    return value


_EVALUATE: Mapping[type[ast.AST], Callable[[Any], Evaluation]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.BoolOp: _boolean,
    ast.Compare: _compare,
    ast.IfExp: _choice,
    ast.Subscript: _subscript,
    ast.Call: _call,
    ast.Tuple: _items,
    ast.List: _items,
    ast.ListComp: _list,
}


def is_loop(node: ast.AST) -> TypeGuard[ast.ListComp]:
    """Whether a node is an allowed loop: one name that ranges over the numbers below another."""
    if not isinstance(node, ast.ListComp) or len(node.generators) != 1:
        return False
    loop = node.generators[0]
    counted = loop.iter
    return (
        isinstance(loop.target, ast.Name)
        and isinstance(counted, ast.Call)
        and isinstance(counted.func, ast.Name)
        and counted.func.id == "range"
        and len(counted.args) == 1
        and not (counted.keywords or loop.is_async)
    )


#: Nodes inside others that have no value themselves.
_WITHIN = (ast.expr_context, ast.comprehension, ast.And, ast.Or)


def known(node: ast.AST) -> bool:
    """Whether formulas may contain such a node."""
    return isinstance(node, _WITHIN) or type(node) in _EVALUATE or type(node) in _OPERATORS


@cache
def dimensions(shape: str) -> tuple[str, ...]:
    """`"vocab_size, hidden_size"` → its expressions; the empty text denotes a scalar."""
    if not shape.strip():
        return ()
    node = parse(shape)
    return tuple(ast.unparse(item) for item in node.elts) if isinstance(node, ast.Tuple) else (shape.strip(),)


@cache
def show(text: str) -> str:
    """An expression in readable form: `num_attention_heads·head_dim`."""
    return ast.unparse(parse(text)).replace(" * ", "·")


class _Fields(ast.NodeTransformer):
    """Puts the number of each field of an expression, between null characters, in the field's place."""

    def __init__(self) -> None:
        self.found: list[ast.Name | ast.Attribute] = []

    def visit_Name(self, node: ast.Name | ast.Attribute) -> ast.Name:
        self.found.append(node)
        return ast.Name(f"\0{len(self.found) - 1}\0")

    def visit_Attribute(self, node: ast.Attribute) -> ast.Name:
        return self.visit_Name(node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        node.args = [self.visit(arg) for arg in node.args]
        return node


@cache
def _around_fields(text: str) -> tuple[tuple[tuple[str, Evaluation], ...], tuple[str, ...]]:
    """An expression's fields; and its readable form in pieces, of which every second one is the number of a field."""
    fields = _Fields()
    shown = ast.unparse(fields.visit(ast.parse(text.strip(), mode="eval").body)).replace(" * ", "·")
    return tuple((ast.unparse(each), _evaluation(each)) for each in fields.found), tuple(shown.split("\0"))


def show_numbers(text: str, scope: Scope) -> str:
    """The same with the configuration's numbers: `32·128`."""
    fields, pieces = _around_fields(text)
    values = [(name, evaluation(scope)) for name, evaluation in fields]
    words = [str(value) if isinstance(value, int) else name for name, value in values]
    return "".join(words[int(piece)] if at % 2 else piece for at, piece in enumerate(pieces))
