"""The simplest expression, in `inspector.architectures.formula`'s language, that fits all observations.

A point is one place where a value was seen: the fields of the configuration, and the index variables of the
tensor's name. `fit` explains an integer over all points.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import combinations, combinations_with_replacement
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

Vector = tuple[int, ...]

#: Only single conditions and products: for types whose search would take minutes.
HASTE = False

#: Fields in whose products people think of a width, preferred to a field that happens to have the same value.
_PREFERRED = re.compile(r"(num_\w*heads|head_dim|hidden_size|n_embd|d_model|intermediate_size|vocab_size|num_labels)$")
#: Numbers of things, which people write before the size of one.
_NUMBER_OF = re.compile(r"(^|[._])(num|n)_|heads$")
#: Constants that may stand before a product.
_FACTORS = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 32)
_MULTIPLES = (8, 16, 32, 64, 128, 256)


@dataclass(frozen=True)
class Weights:
    """The likelihood of fields: higher if their change alone changed the value to be explained."""

    likely: frozenset[str] = frozenset()
    idle: frozenset[str] = frozenset()  # their change alone changed nothing
    strict: bool = True  # idle fields are excluded

    def cost(self, name: str) -> float | None:
        """The additional cost of a field compared with a likely one; None if it is excluded."""
        if name in self.idle:
            return None if self.strict else 2.0
        return 0.0 if name in self.likely or not self.likely else 1.0


#: Every field is as likely.
ANY = Weights()


@dataclass(frozen=True)
class Point:
    """A place where a value was observed."""

    fields: Mapping[str, Any]
    index: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Term:
    """A piece of an expression with its values."""

    text: str
    values: Vector
    cost: float
    kind: str = "atom"  # atom, product, quotient, sum: what needs brackets


def is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def atoms(points: Sequence[Point], weights: Weights = Weights()) -> list[Term]:
    """Every single integer that the configuration offers at all points."""
    found: list[Term] = []
    names = dict.fromkeys(name for point in points for name in point.fields)
    for name in names:
        values: list[Any] = [point.fields.get(name) for point in points]
        if any(value is None for value in values):
            continue
        extra = weights.cost(name)
        if extra is None:
            continue
        extra += 0.0 if _PREFERRED.search(name) else 0.1
        if all(map(is_whole, values)):
            found.append(Term(name, tuple(values), 1 + extra))
        elif all(isinstance(value, list) for value in values):
            found += _of_list(name, values, points, extra)
    found += _patches(found)
    for variable in dict(points[0].index) if points else ():
        at = [dict(point.index)[variable] for point in points]
        if len(set(at)) > 1 and max(at) < 16:
            found.append(Term(f"2 ** {variable}", tuple(2**n for n in at), 2, "product"))
            found.append(Term(f"2 ** ({variable} + 1)", tuple(2 ** (n + 1) for n in at), 2.5, "product"))
            found.append(Term(variable, tuple(at), 2))
    return found


def _patches(terms: list[Term]) -> Iterator[Term]:
    """Patches of an image, along a side and in all; offsets between places in a window."""
    patches = [t for t in terms if re.search(r"patch_size(\[\d\])?$|patch_stride$", t.text)]
    for image in [t for t in terms if re.search(r"(image|input|img|crop)_size(\[\d\])?$", t.text)]:
        for patch in patches:
            if image.text.rpartition(".")[0] != patch.text.rpartition(".")[0] or not all(patch.values):
                continue
            side = tuple(a // b for a, b in zip(image.values, patch.values, strict=True))
            text = f"{image.text} // {patch.text}"
            yield Term(text, side, 1.8 + image.cost + patch.cost - 2, "quotient")
            yield Term(f"({text}) ** 2", tuple(n * n for n in side), 2 + image.cost + patch.cost - 2, "product")
    for window in [t for t in terms if re.search(r"(window|tile|grid|image)_size(\[[\d\w]\])?$", t.text)]:
        squares = tuple((2 * n - 1) ** 2 for n in window.values)
        yield Term(f"(2 * {window.text} - 1) ** 2", squares, window.cost + 2, "product")
        yield Term(f"{window.text} ** 2", tuple(n * n for n in window.values), window.cost + 1, "product")


def _of_list(name: str, lists: list[Any], points: Sequence[Point], extra: float) -> Iterator[Term]:
    yield Term(f"len({name})", tuple(map(len, lists)), 1.5 + extra)
    if any(not all(map(is_whole, each)) or not each for each in lists):
        if all(each and isinstance(each[0], list) and each[0] and all(map(is_whole, each[0])) for each in lists):
            yield Term(f"{name}[0][0]", tuple(each[0][0] for each in lists), 2.5 + extra)
        return
    lengths = {len(each) for each in lists}
    for text, pick in (("[0]", 0), ("[-1]", -1)):
        yield Term(name + text, tuple(each[pick] for each in lists), 1.5 + extra)
    if max(lengths) <= 8:
        for at in range(1, min(lengths)):
            yield Term(f"{name}[{at}]", tuple(each[at] for each in lists), 1.6 + extra)
    yield Term(f"sum({name})", tuple(map(sum, lists)), 2 + extra)
    for variable in dict(points[0].index):
        places = [dict(point.index)[variable] for point in points]
        for text, shift in (("", 0), (" + 1", 1), (" - 1", -1)):
            if all(0 <= n + shift < len(each) for n, each in zip(places, lists, strict=True)):
                values = tuple(each[n + shift] for n, each in zip(places, lists, strict=True))
                yield Term(f"{name}[{variable}{text}]", values, 1.2 + abs(shift) / 2 + extra)


def floats(points: Sequence[Point]) -> list[tuple[str, tuple[float, ...]]]:
    """Every number that is a fraction at some point."""
    found = []
    for name in dict.fromkeys(name for point in points for name in point.fields):
        values: list[Any] = [point.fields.get(name) for point in points]
        if all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in values) and not all(
            map(is_whole, values)
        ):
            found.append((name, tuple(map(float, values))))
    return found


def _bracket(term: Term, inside: str) -> str:
    open_to_its_neighbours = ("sum", "quotient") if inside == "factor" else ("sum",)
    apart = term.kind in open_to_its_neighbours or (inside == "divisor" and term.kind != "atom")
    return f"({term.text})" if apart else term.text


def _product(*terms: Term, factor: int = 1) -> Term:
    terms = tuple(sorted(terms, key=lambda t: not _NUMBER_OF.search(t.text)))
    values = [factor] * len(terms[0].values)
    for term in terms:
        values = [a * b for a, b in zip(values, term.values, strict=True)]
    text = " * ".join([*([str(factor)] if factor != 1 else []), *(_bracket(term, "factor") for term in terms)])
    cost = sum(t.cost for t in terms) + (0.5 * (len(terms) - 1)) + (0.7 if factor != 1 else 0)
    return Term(text, tuple(values), cost, "atom" if len(terms) == 1 and factor == 1 else "product")


def _quotient(term: Term, divisor: Term) -> Term | None:
    if not all(divisor.values):
        return None
    values = tuple(a // b for a, b in zip(term.values, divisor.values, strict=True))
    if not all(values):
        return None
    text = f"{_bracket(term, 'dividend')} // {_bracket(divisor, 'divisor')}"
    return Term(text, values, term.cost + divisor.cost + 0.8, "quotient")


def _constant(number: int, length: int, cost: float = 1.0) -> Term:
    return Term(str(number), (number,) * length, cost)


class Book:
    """Terms by their values, the cheapest of equals."""

    def __init__(self, terms: Iterable[Term]) -> None:
        self.terms: dict[Vector, Term] = {}
        for term in terms:
            self.add(term)

    def add(self, term: Term | None) -> None:
        if term is not None and (term.values not in self.terms or self.terms[term.values].cost > term.cost):
            self.terms[term.values] = term

    def __iter__(self) -> Iterator[Term]:
        return iter(sorted(self.terms.values(), key=lambda t: t.cost))

    def get(self, values: Vector) -> Term | None:
        return self.terms.get(values)


def _monomials(base: list[Term], degree: int) -> Book:
    book = Book(base)
    for number in range(2, degree + 1):
        for group in combinations_with_replacement(base, number):
            book.add(_product(*group))
    return book


def fit(points: Sequence[Point], target: Vector, weights: Weights = Weights(), *, fast: bool = False) -> str | None:
    """The simplest expression with these values; None if the search finds none."""
    everything = atoms(points, weights)
    constant = len(set(target)) == 1
    if constant and (len(target) > 3 or target[0] <= 16):
        return _constant_text(everything, target)
    if constant:
        return _rare(everything, target, points)
    narrow = [t for t in everything if mentions(t.text) & weights.likely]
    for terms in [narrow, everything] if narrow else [everything]:
        varied = sorted((t for t in terms if len(set(t.values)) > 1), key=lambda t: t.cost)
        steady = [t for t in terms if len(set(t.values)) == 1]
        found = _search(varied, steady, target, points, thorough=terms is narrow or len(varied) <= 20, fast=fast)
        if found:
            return found.text
    if weights.strict and weights.idle and not HASTE:
        return fit(points, target, replace(weights, strict=False), fast=fast)
    return None


def mentions(text: str) -> set[str]:
    return set(re.findall(r"[A-Za-z_][\w.]*", text))


def _constant_text(terms: list[Term], target: Vector) -> str:
    """A number that never changes: a field's if it is clearly meant, otherwise itself."""
    number = target[0]
    equal = [t for t in terms if t.values == target and t.kind == "atom"]
    channels = [t for t in equal if re.search(r"(channels|num_labels)$", t.text)]
    if number == 3 and channels:
        return channels[0].text
    if number > 16 and equal:
        return min(equal, key=lambda t: t.cost).text
    return str(number)


def _rare(terms: list[Term], target: Vector, points: Sequence[Point]) -> str:
    """A number seen in few places: a product that people would write, if there is one."""
    names = [t for t in sorted(terms, key=lambda t: t.cost) if t.values[0] > 1][:24]
    found = Book(names).get(target)
    if found:
        return found.text
    names = list(Book([*names, *_exact_quotients(names)]))
    found = (
        _monomials(names, 2).get(target)
        or _factored(names, [], Book(names), target)
        or _monomials(names, 3).get(target)
    )
    return found.text if found and found.cost < 6 else str(target[0])


def _search(
    varied: list[Term],
    steady: list[Term],
    target: Vector,
    points: Sequence[Point],
    *,
    thorough: bool,
    fast: bool = False,
) -> Term | None:
    best = Book(varied).get(target)
    if best:
        return best
    base = list(Book(varied))[: 40 if not thorough else 24]
    base = list(Book([*base, *_exact_quotients(base)]))
    small = _monomials(base, 3 if thorough and len(base) <= 14 else 2)
    for term in list(small):
        for factor in (2, 3, 4):
            if term.cost < 3:
                small.add(_product(term, factor=factor))
    steps = (
        lambda: _scaled_product(small, target),
        lambda: _divided(small, base, steady, target),
        lambda: _shifted(small, steady, target),
        lambda: _summed(base, small, target),
        lambda: _factored(base, steady, small, target),
        lambda: _rounded(small, base, target, points),
        lambda: _summed_three(base, small, target) if thorough else None,
    )
    if fast:
        return steps[0]() or _shifted(small, steady, target)
    found = [one for step in steps[:3] if (one := step())]
    if found:
        return min(found, key=lambda t: t.cost)
    further = [each for step in steps[3:5] if (each := step())]
    if further:
        return min(further, key=lambda t: t.cost)
    return next((last for step in steps[5:] if (last := step())), None)


def _exact_quotients(base: list[Term]) -> Iterator[Term]:
    """A width over a number of heads, if it always divides."""
    for one in base:
        for two in base:
            if "head" not in two.text or one is two or not all(two.values):
                continue
            pairs = list(zip(one.values, two.values, strict=True))
            wide = re.search(r"hidden_size|n_embd|d_model|embed_dim|\bdim$", one.text)
            if all(a >= b for a, b in pairs) and (wide or all(a % b == 0 for a, b in pairs)):
                if (quotient := _quotient(one, two)) is not None:
                    yield quotient


def _scaled_product(small: Book, target: Vector) -> Term | None:
    found = [small.get(target)]
    for factor in _FACTORS:
        if all(value % factor == 0 for value in target):
            term = small.get(tuple(value // factor for value in target))
            found.append(_product(term, factor=factor) if term else None)
    return min(filter(None, found), key=lambda t: t.cost, default=None)


def _divided(small: Book, base: list[Term], steady: list[Term], target: Vector) -> Term | None:
    """a // b, a·b // c, 4·a // 3: also if the division leaves a remainder."""
    found = []
    size = len(target)
    divisors = [*base[:14], *(t for t in steady if t.values[0] > 1), *(_constant(n, size) for n in (2, 3, 4, 8, 16))]
    dividends = [t for t in small if t.cost < 4.5][:400]
    for divisor in divisors:
        low = [value * d for value, d in zip(target, divisor.values, strict=True)]
        for term in dividends:
            if all(a <= v < a + d for a, v, d in zip(low, term.values, divisor.values, strict=True)):
                if (quotient := _quotient(term, divisor)) and quotient.values == target:
                    found.append(quotient)
                    break
    return min(found, key=lambda t: t.cost, default=None)


def _shifted(small: Book, steady: list[Term], target: Vector) -> Term | None:
    """a + 2, 2·a − 1, a + (a field that never changed)."""
    found = []
    for number in (1, 2, 3, 4, 5, -1, -2, -3, -4):
        term = small.get(tuple(value - number for value in target))
        if term:
            sign = "+" if number > 0 else "-"
            found.append(Term(f"{term.text} {sign} {abs(number)}", target, term.cost + 1 + abs(number) / 10, "sum"))
    for fixed in steady:
        term = small.get(tuple(value - fixed.values[0] for value in target))
        if term and fixed.values[0] > 4:
            found.append(Term(f"{term.text} + {fixed.text}", target, term.cost + fixed.cost + 2, "sum"))
        if fixed.values[0] > 1 and all(value % fixed.values[0] == 0 for value in target):
            term = small.get(tuple(value // fixed.values[0] for value in target))
            if term:
                found.append(_product(fixed, term))
    return min(found, key=lambda t: t.cost, default=None)


def _summed(base: list[Term], small: Book, target: Vector) -> Term | None:
    """m + n, m − n over products."""
    found = []
    heads = {key[:2] for key in small.terms}
    first, second = target[0], target[min(1, len(target) - 1)]
    for term in small:
        if term.cost > 5:
            break
        one, two = first - term.values[0], second - term.values[min(1, len(target) - 1)]
        if len(target) > 1 and (one, two) not in heads and (-one, -two) not in heads:
            continue
        rest = tuple(a - b for a, b in zip(target, term.values, strict=True))
        other = small.get(rest)
        if other and other.cost >= term.cost:
            found.append(Term(f"{term.text} + {other.text}", target, term.cost + other.cost + 1, "sum"))
        lack = tuple(-a for a in rest)
        other = small.get(lack)
        if other:
            found.append(
                Term(f"{term.text} - {_bracket(other, 'dividend')}", target, term.cost + other.cost + 1.2, "sum")
            )
        if len(found) > 60:
            break
    return min(found, key=lambda t: t.cost, default=None)


def _summed_three(base: list[Term], small: Book, target: Vector) -> Term | None:
    found = []
    first = [t for t in small if t.cost < 4][:120]
    heads = {key[:2] for key in small.terms}
    if len(target) < 2:
        return None
    a, b = target[:2]
    for one, two in combinations(first, 2):
        if (a - one.values[0] - two.values[0], b - one.values[1] - two.values[1]) not in heads:
            continue
        rest = tuple(a - b - c for a, b, c in zip(target, one.values, two.values, strict=True))
        other = small.get(rest)
        if other:
            found.append(
                Term(f"{one.text} + {two.text} + {other.text}", target, one.cost + two.cost + other.cost + 2, "sum")
            )
            if len(found) > 20:
                break
    return min(found, key=lambda t: t.cost, default=None)


def _factored(base: list[Term], steady: list[Term], small: Book, target: Vector) -> Term | None:
    """a·(b + c), a·(b + 2), a·(b // c) and with a fixed field before the bracket."""
    found = []
    factors = [*base, *(t for t in steady if t.values[0] > 1), *(_constant(n, len(target), 0.7) for n in (2, 3, 4))]
    factors += [_product(a, b) for a, b in combinations_with_replacement(base[:10], 2)]
    for factor in factors:
        if not all(factor.values) or any(v % f for v, f in zip(target, factor.values, strict=True)):
            continue
        rest = tuple(v // f for v, f in zip(target, factor.values, strict=True))
        inner = _shifted(small, steady, rest) or _summed(base, small, rest) or _divided(small, base[:10], steady, rest)
        if inner:
            text = f"{_bracket(factor, 'factor')} * ({inner.text})"
            found.append(Term(text, target, factor.cost + inner.cost + 1, "product"))
            if len(found) > 12:
                break
    return min(found, key=lambda t: t.cost, default=None)


def _rounded(small: Book, base: list[Term], target: Vector, points: Sequence[Point]) -> Term | None:
    """Rounded up to a multiple, or multiplied by a fraction."""
    for multiple in _MULTIPLES:
        if any(value % multiple for value in target):
            continue
        for term in list(small)[:200]:
            if all(v - multiple < t <= v for t, v in zip(term.values, target, strict=True)):
                return Term(f"ceil_to({term.text}, {multiple})", target, term.cost + 2)
    for name, factors in floats(points):
        for many in [t for t in base if "multiple" in t.text] + [t for t in atoms(points) if "multiple" in t.text]:
            for term in list(small)[:60]:
                made = [-(-int(f * t) // m) * m for t, f, m in zip(term.values, factors, many.values, strict=True)]
                if made == list(target):
                    return Term(f"ceil_to(scaled({term.text}, {name}), {many.text})", target, term.cost + 3)
        for term in list(small)[:200]:
            if all(int(f * t) == v for t, f, v in zip(term.values, factors, target, strict=True)):
                return Term(f"scaled({term.text}, {name})", target, term.cost + 2)
            if all(2 * int(f * t) == v for t, f, v in zip(term.values, factors, target, strict=True)):
                return Term(f"2 * scaled({term.text}, {name})", target, term.cost + 2, "product")
    for number in (8, 16, 32):
        for term in list(small)[:60]:
            if all(-(-t // number) == v for t, v in zip(term.values, target, strict=True)):
                return Term(f"ceil_to({term.text}, {number}) // {number}", target, term.cost + 3, "quotient")
    return None
