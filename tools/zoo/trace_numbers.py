"""Numbers that record their computation: `Int(96, "num_attention_heads") * 16` is 1536 and `16 * num_attention_heads`.

Put in place of a configuration's numbers, they pass through a model's code to the sizes of its tensors. Their record is
a tree; `text` writes it in the language of `inspector.architectures.formula`.
"""

from __future__ import annotations

import math
import operator
import re
from functools import reduce
from typing import TYPE_CHECKING, Any

from typing_extensions import Self

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

#: A field's path, a number, or an operator with its operands.
Tree = Any

_COMMUTES = {"+", "*"}
_STRENGTH = {"+": 1, "-": 1, "*": 2, "//": 2, "/": 2, "%": 2, "**": 4}
#: Numbers of things, which people write before the size of one.
_NUMBER_OF = re.compile(r"(^|[._])(num|n)_|heads$")
#: A longer expression is nothing that people wrote.
LONGEST = 400


# --- trees ------------------------------------------------------------------------------------


def operation(symbol: str, left: Tree, right: Tree) -> Tree:
    """The tree of `left symbol right`, simplified if that changes no value."""
    if isinstance(left, int) and isinstance(right, int) and symbol in _WHOLE:
        return _WHOLE[symbol](left, right)
    simple = _SIMPLER.get(symbol, lambda *_: None)(left, right)
    return (symbol, left, right) if simple is None else simple


_WHOLE: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": lambda a, b: a // b if b else 0,
    "%": lambda a, b: a % b if b else 0,
}


def factors(tree: Tree) -> list[Tree]:
    """The factors of a tree; of a tree without a product, itself."""
    return [*factors(tree[1]), *factors(tree[2])] if _is(tree, "*") else [tree]


def terms(tree: Tree) -> list[Tree]:
    """The summands of a tree."""
    if _is(tree, "-") and isinstance(tree[2], int):
        return [*terms(tree[1]), -tree[2]]
    return [*terms(tree[1]), *terms(tree[2])] if _is(tree, "+") else [tree]


def _is(tree: Tree, symbol: str) -> bool:
    return isinstance(tree, tuple) and tree[0] == symbol


def product(parts: Iterable[Tree]) -> Tree:
    """The product of all parts: numbers first and multiplied, then counts, then sizes."""
    number, rest = 1, []
    for part in parts:
        for factor in factors(part):
            if isinstance(factor, int):
                number *= factor
            else:
                rest.append(factor)
    if number == 0 or not rest:
        return number
    number, rest = _rounded_up(number, rest)
    rest = _squared(rest)
    rest.sort(key=lambda t: (_is_fraction(t), not _NUMBER_OF.search(text(t)), text(t)))
    return reduce(lambda a, b: ("*", a, b), [*([number] if number != 1 else []), *rest])


def _rounded_up(number: int, rest: list[Tree]) -> tuple[int, list[Tree]]:
    """`(a + 7) // 8 * 8` as `ceil_to(a, 8)`."""
    for quotient in rest:
        if _is(quotient, "//"):
            lack = _less(quotient[1], operation("-", quotient[2], 1))
            if lack is not None and quotient[2] in (number, *rest) and not isinstance(lack, int):
                others = [t for t in rest if t is not quotient]
                if quotient[2] == number:
                    return 1, [*others, ("ceil_to", lack, number)]
                others.remove(quotient[2])
                return number, [*others, ("ceil_to", lack, quotient[2])]
    return number, rest


def _squared(rest: list[Tree]) -> list[Tree]:
    """A whole expression that occurs twice, once and squared."""
    for tree in rest:
        if isinstance(tree, tuple) and rest.count(tree) == 2 and not _floating(tree):
            return [("**", tree, 2), *(t for t in rest if t != tree)]
    return rest


def total(parts: Iterable[Tree]) -> Tree:
    """The sum of all parts, equal ones counted, numbers last."""
    number = 0
    counts: dict[Any, int] = {}
    for part in parts:
        for term in terms(part):
            if isinstance(term, int):
                number += term
            else:
                many, core = _times(term)
                counts[core] = counts.get(core, 0) + many
    rest = [product([many, core]) for core, many in counts.items() if many]
    if not rest:
        return number
    whole = reduce(lambda a, b: ("+", a, b), rest)
    if number < 0:
        return ("-", whole, -number)
    return ("+", whole, number) if number else whole


def _times(term: Tree) -> tuple[int, Tree]:
    parts = factors(term)
    number = math.prod(p for p in parts if isinstance(p, int))
    return number, product(p for p in parts if not isinstance(p, int))


def _less(left: Tree, right: Tree) -> Tree | None:
    if left == right:
        return 0
    if right == 0:
        return left
    rest = list(terms(left))
    for term in terms(right):
        if term in rest:
            rest.remove(term)
        elif isinstance(term, int) and any(isinstance(other, int) for other in rest):
            rest.append(-term)
        else:
            break
    else:
        return total(rest)
    if isinstance(right, int):
        return None
    (one, core), (two, other) = _times(left), _times(right)
    if core == other and one > two:
        return product([one - two, core])
    return None


def _divided(left: Tree, right: Tree) -> Tree | None:
    """A quotient whose division leaves no remainder."""
    if right == 1:
        return left
    rest = list(factors(left))
    for divisor in factors(right):
        if divisor in rest:
            rest.remove(divisor)
            continue
        numbers = [n for n in rest if isinstance(n, int)]
        if not isinstance(divisor, int) or not numbers or not divisor or numbers[0] % divisor:
            if _is(left, "+"):
                parts = [_divided(term, right) for term in terms(left)]
                return None if any(part is None for part in parts) else total(parts)
            return None
        rest[rest.index(numbers[0])] = numbers[0] // divisor
    return product(rest)


_SIMPLER: dict[str, Callable[[Tree, Tree], Tree | None]] = {
    "+": lambda a, b: total([a, b]) if not _floating(a, b) else None,
    "*": lambda a, b: product([a, b]) if not _floating(a, b) else None,
    "-": _less,
    "//": _divided,
    "**": lambda a, b: a if b == 1 else None,
}


def _floating(*trees: Tree) -> bool:
    return any(isinstance(t, float) or _is(t, "/") for t in trees)


def whole(tree: Tree) -> Tree:
    """The tree of `int(…)` of a positive number."""
    if _is_whole(tree):
        return tree
    if _is(tree, "/") and _is_whole(tree[1]) and _is_whole(tree[2]):
        return operation("//", tree[1], tree[2])
    if _is(tree, "*") and any(_is_fraction(t) for t in tree[1:]):
        number, factor = (tree[1], tree[2]) if _is_fraction(tree[2]) else (tree[2], tree[1])
        if not _is_fraction(number):
            return ("scaled", number, factor)
    if _is(tree, "*") and any(_is(t, "/") for t in tree[1:]):
        quotient, factor = (tree[1], tree[2]) if _is(tree[1], "/") else (tree[2], tree[1])
        if all(map(_is_whole, (*quotient[1:], factor))):
            return operation("//", product([quotient[1], factor]), quotient[2])
    return ("int", tree)


def _is_whole(tree: Tree) -> bool:
    """Whether no part of it is a fraction."""
    if isinstance(tree, (str, int)):
        return True
    return isinstance(tree, tuple) and tree[0] not in ("/", "float") and all(map(_is_whole, tree[1:]))


def _is_fraction(tree: Tree) -> bool:
    return isinstance(tree, float) or _is(tree, "float")


def text(tree: Tree, strength: int = 0) -> str:
    """A tree as a formula."""
    if isinstance(tree, str):
        return tree
    if not isinstance(tree, tuple):
        return str(tree)
    symbol, *operands = tree
    if symbol == "float":
        return str(operands[0])
    own = _STRENGTH.get(symbol)
    if own is None:
        return f"{symbol}({', '.join(text(operand) for operand in operands)})"
    left = text(operands[0], own + (symbol == "**"))
    right = text(operands[1], own + (0 if _is(operands[1], symbol) and symbol in _COMMUTES else 1))
    reported = f"{left} {symbol} {right}"
    return f"({reported})" if own < strength else reported


def tree_of(value: Any) -> Tree:
    """The tree of a number; a plain one is itself."""
    tree = getattr(value, "tree", None)
    return value if tree is None else tree


# --- numbers ----------------------------------------------------------------------------------


class Int(int):
    """An integer with its tree."""

    tree: Tree

    def __new__(cls, value: int, tree: Tree) -> Self:
        made = super().__new__(cls, value)
        made.tree = tree
        return made

    def __deepcopy__(self, memo: Any) -> Int:
        return self

    def __copy__(self) -> Int:
        return self

    def __reduce__(self) -> Any:
        return int, (int(self),)

    def __pos__(self) -> Int:
        return self

    def __abs__(self) -> Int:
        return self if self >= 0 else Int(-int(self), ("abs", self.tree))

    def __neg__(self) -> Int:
        return Int(-int(self), operation("*", -1, self.tree))

    def __round__(self, digits: Any = None) -> Int:
        return self

    def __trunc__(self) -> Int:
        return self

    __ceil__ = __floor__ = __trunc__

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other


class Float(float):
    """A fraction with its tree."""

    tree: Tree

    def __new__(cls, value: float, tree: Tree) -> Self:
        made = super().__new__(cls, value)
        made.tree = tree
        return made

    def __deepcopy__(self, memo: Any) -> Float:
        return self

    def __copy__(self) -> Float:
        return self

    def __reduce__(self) -> Any:
        return float, (float(self),)

    def __trunc__(self) -> Int:
        return Int(math.trunc(float(self)), whole(self.tree))

    __floor__ = __trunc__

    def __ceil__(self) -> Int:
        return Int(math.ceil(float(self)), ("ceil", self.tree))

    def __round__(self, digits: Any = None) -> Any:
        return Int(round(float(self)), ("round", self.tree)) if digits is None else float.__round__(self, digits)


def traced(value: Any, tree: Tree) -> Any:
    """A number with its tree; other results unchanged."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    if isinstance(value, int):
        return Int(int(value), tree)
    return Float(float(value), tree)


def _give_operators() -> None:
    names = {"add": "+", "sub": "-", "mul": "*", "floordiv": "//", "truediv": "/", "mod": "%", "pow": "**"}
    for kind, plain in ((Int, int), (Float, float)):
        for name, symbol in names.items():
            setattr(kind, f"__{name}__", _operator(plain, f"__{name}__", symbol, turned=False))
            setattr(kind, f"__r{name}__", _operator(plain, f"__r{name}__", symbol, turned=True))


def _operator(plain: type, method: str, symbol: str, *, turned: bool) -> Callable[[Any, Any], Any]:
    def apply(self: Any, other: Any) -> Any:
        value = getattr(plain, method)(self, other)
        if value is NotImplemented and plain is int and isinstance(other, float):
            value = getattr(float, method)(float(self), other)
        if value is NotImplemented or isinstance(value, complex):
            return value
        pair = (tree_of(other), self.tree) if turned else (self.tree, tree_of(other))
        return traced(value, operation(symbol, *map(_plain, pair)))

    return apply


def _plain(tree: Tree) -> Tree:
    """A plain number as a leaf: whole floats and booleans become integers."""
    if isinstance(tree, float) and tree.is_integer() and abs(tree) < 2**53:
        return int(tree)
    return int(tree) if isinstance(tree, bool) else tree


_give_operators()


def _item(kind: Any) -> Callable[[Any, Any], Any]:
    """Subscripts from the end, and by the index of a loop, are recorded."""

    def get(self: Any, at: Any) -> Any:
        value = kind.__getitem__(self, at)
        if self.path and isinstance(value, (Int, Float)) and (isinstance(at, Int) or at < 0):
            tree = f"{self.path}[{text(tree_of(at))}]"
            return traced(value, tree if isinstance(value, Int) else ("float", tree))
        return value

    return get


class List(list):  # type: ignore[type-arg]
    """A configuration's list, whose items and length record their field."""

    path: str = ""
    __getitem__ = _item(list)


class Tuple(tuple):  # type: ignore[type-arg]
    """The same of a tuple."""

    path: str = ""
    __getitem__ = _item(tuple)


# --- functions --------------------------------------------------------------------------------


class _IntMeta(type):
    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, int)

    def __subclasscheck__(cls, other: type) -> bool:
        return issubclass(other, int)

    def __call__(cls, value: Any = 0, *rest: Any) -> Any:
        if isinstance(value, Int):
            return value
        return value.__trunc__() if isinstance(value, Float) else int(value, *rest)


class IntType(int, metaclass=_IntMeta):
    """Replaces `int`, and keeps a number's tree."""


class Recorder:
    """Replacements of builtins in a model's code; loops are counted in `ranges`."""

    def __init__(self) -> None:
        self.ranges: dict[str, int] = {}

    def names(self) -> dict[str, Any]:
        """Name of a builtin → its replacement."""
        return {
            "int": IntType,
            "len": length,
            "range": self.range,
            "enumerate": self.enumerate,
            "max": _chosen(max, "max"),
            "min": _chosen(min, "min"),
            "sum": summed,
        }

    def range(self, *bounds: Any) -> Any:
        """`range`, whose numbers record that they count; its length is recorded."""
        if len(bounds) < 3 and isinstance(bounds[-1], Int):
            times: Any = bounds[-1] - (bounds[0] if len(bounds) > 1 else 0)
            self.ranges[text(times.tree)] = int(times)
        numbers = range(*bounds)
        return [Int(number, f"@{number}") for number in numbers] if len(numbers) < LONGEST_LOOP else numbers

    def enumerate(self, items: Iterable[Any], start: int = 0) -> Any:
        """`enumerate`, whose numbers record that they count."""
        if isinstance(items, (List, Tuple)) and items.path:
            self.ranges[f"len({items.path})"] = len(items)
        return ((Int(at, f"@{at}"), item) for at, item in enumerate(items, start))


#: Longer loops count no modules.
LONGEST_LOOP = 1000


def length(items: Any) -> int:
    """`len` of a configuration's list, which records it."""
    path = getattr(items, "path", "") if isinstance(items, (List, Tuple)) else ""
    return Int(len(items), f"len({path})") if path else len(items)


def summed(items: Any, *start: Any) -> Any:
    """`sum` of a configuration's list, which records it."""
    path = getattr(items, "path", "") if isinstance(items, (List, Tuple)) else ""
    value = sum(items, *start)
    return Int(int(value), f"sum({path})") if path and isinstance(value, int) and not start else value


def _chosen(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    def choose(*items: Any, **options: Any) -> Any:
        value = function(*items, **options)
        if len(items) == 2 and not options and any(isinstance(item, (Int, Float)) for item in items):
            return traced(value, (name, *(_plain(tree_of(item)) for item in items)))
        return value

    return choose
