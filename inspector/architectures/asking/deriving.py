"""Numbers → formulas: what a number becomes where one field of a configuration has another value.

A dimension that doubles with a field has it as a factor, one that halves as a divisor; what is left over is a sum. A
formula that does not explain a probe is none: the fields that show it stay fixed (`learning`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import NamedTuple


class Change(NamedTuple):
    """A field that was changed, and what became of a number."""

    field: str
    before: int
    after: int
    number: int


def expressed(number: int, changes: Sequence[Change]) -> str | None:
    """The formula of a number, of which these are all changes by single fields; None if none is found."""
    own = [each for each in changes if each.number != number]
    above = [each for each in own if each.number * each.before == number * each.after]
    below = [each for each in own if each.number * each.after == number * each.before and each not in above]
    rest = [each for each in own if each not in above and each not in below]
    if not rest:
        return _product(number, above, below)
    if below:
        return None
    whole = prod(each.before for each in above)
    if number % whole or any(each.number % whole for each in rest):
        return None
    inner = _sum(number // whole, [each._replace(number=each.number // whole) for each in rest])
    if inner is None or not above:
        return inner
    return " * ".join((*(each.field for each in above), f"({inner})"))


def _product(number: int, above: Sequence[Change], below: Sequence[Change]) -> str | None:
    over, under = prod(each.before for each in above), prod(each.before for each in below)
    factor, left = divmod(number * under, over) if over else (0, 1)
    fields = [each.field for each in above]
    if left:  # a fraction of the fields
        divisor, left = divmod(over, number * under)
        below_too = [str(divisor), *(each.field for each in below)]
        return None if left else f"{' * '.join(fields)} // {_bracketed(below_too)}"
    factors = [*([str(factor)] if factor != 1 or not fields else []), *fields]
    text = " * ".join(factors)
    return f"{text} // {_bracketed([each.field for each in below])}" if below else text


def _bracketed(factors: Sequence[str]) -> str:
    return factors[0] if len(factors) == 1 else f"({' * '.join(factors)})"


def _sum(number: int, changes: Sequence[Change]) -> str | None:
    """A sum of terms of a field each, or of two fields, without a constant if there is a way."""
    terms: list[tuple[Change, int]] = []
    for each in changes:
        slope, left = divmod(each.number - number, each.after - each.before)
        if left or not slope:
            return None
        terms.append((each, slope * each.before))
    found = min(_paired(terms, number - sum(term for _, term in terms)), key=lambda pairs: pairs[0])[1]
    texts = [_term(term, fields) for fields, term in found]
    rest = number - sum(term for _, term in found)
    return " + ".join([*texts, *([str(rest)] if rest else [])]).replace("+ -", "- ")


def _term(term: int, fields: Sequence[Change]) -> str:
    factor = term // prod(each.before for each in fields)
    return " * ".join([*([str(factor)] if factor != 1 else []), *(each.field for each in fields)])


_Terms = list[tuple[tuple[Change, ...], int]]


def _paired(terms: Sequence[tuple[Change, int]], constant: int) -> Iterator[tuple[tuple[bool, int], _Terms]]:
    """All ways to read terms as products of two fields, each with how bad it is: a constant, and unlike names.

    A product is seen twice, by either field: once as much is too little in the constant.
    """
    if not terms:
        yield (constant != 0, 0), []
        return
    (first, own), *others = terms
    for badness, rest in _paired(others, constant):
        yield badness, [((first,), own), *rest]
    for at, (second, its) in enumerate(others):
        least = min(own, its)
        if least % (first.before * second.before) or constant + least > 0:
            continue
        more, less = (first, second) if own > its else (second, first)
        beyond = [((more,), abs(own - its))] if own != its else []
        if beyond and beyond[0][1] % more.before:
            continue
        for (left, unlike), rest in _paired([*others[:at], *others[at + 1 :]], constant + least):
            names = len(set(less.field.split("_")) ^ set(more.field.split("_")))
            yield (left, unlike + names), [((first, second), least), *beyond, *rest]
