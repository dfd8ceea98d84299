"""A family's rows → tensors, for one configuration and class."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from inspector.architectures import family_of, formula, taken_off
from inspector.architectures.data.roles import group_of
from inspector.architectures.scope import MAX_DIMENSION, PER_LAYER, Scope
from inspector.architectures.table import (
    Family,
    Include,
    Row,
    frozen,
    inner_branch,
    inner_head,
    inner_name,
    inner_tower,
    is_left_out,
    nested_values,
    numbers_of,
)
from inspector.errors import ConfigError, CostError
from inspector.model import Expected
from inspector.tabular import NamedTuple

#: Configurations are untrusted: more layers, experts or blocks than this are refused.
MAX_INDEX = 10_000
#: The cost of one layer, block or branch besides its formulas, in evaluation steps; and of one more shape.
STEPS_PER_COMBINATION, STEPS_PER_SHAPE = 8, 100

#: Index variable → its value.
Combination = Mapping[str, int]


def expand(family: Family, values: Mapping[str, Any], head: str) -> Iterator[tuple[Row, Expected, bool]]:
    """Each row of a family with its tensors, under the names of the class, and whether they are tied."""
    if head in family.pieces:
        yield from _piece(family, values, family.pieces[head])
        return
    scope = Scope(family, values)
    for entry in family.rows:
        if entry.heads and head not in entry.heads.split():
            continue
        if isinstance(entry, Include):
            if entry.when and not formula.evaluate(entry.when, scope):
                continue
            for row, expected, tied in _expand_include(entry, values, scope):
                yield row, _under_class(expected, family, head), tied
            continue
        tied = bool(entry.tied) and bool(formula.evaluate(entry.tied, scope))
        for expected in expand_row(entry, scope):
            yield entry, _under_class(expected, family, head), tied


def _piece(family: Family, values: Mapping[str, Any], prefix: str) -> Iterator[tuple[Row, Expected, bool]]:
    """A part of the whole as a separate model. Its embeddings are stored even if they are tied in the whole."""
    rows = tuple(
        entry._replace(heads="", tied="" if entry.role == "embed_tokens" else entry.tied)
        for entry in family.rows
        if isinstance(entry, Row) and entry.name.startswith(prefix)
    )
    for row, expected, tied in expand(family._replace(rows=rows, pieces={}, prefix="", prefixes={}), values, ""):
        yield row, expected._replace(name=expected.name.removeprefix(prefix)), tied


def _under_class(expected: Expected, family: Family, head: str) -> Expected:
    """The tensor under the name that this class gives it."""
    prefix = family.prefix_under(head)
    if prefix == family.prefix or not expected.name.startswith(family.prefix):
        return expected
    return expected._replace(name=prefix + expected.name[len(family.prefix) :])


def _expand_include(include: Include, outer: Mapping[str, Any], scope: Scope) -> Iterator[tuple[Row, Expected, bool]]:
    values = scope.filled(include.scope, nested_values(include, outer))
    if include.tied:
        values = {**values, "tie_word_embeddings": bool(formula.evaluate(include.tied, scope))}
    family = family_of(values)
    if family is None:
        raise ConfigError(f"no prediction for {include.scope}.model_type {str(values['model_type'])!r:.60}")
    without, stripped = include.without.split(), taken_off(include, family)
    head = inner_head(include, family, str(values["model_type"]))
    rows = [each for each in expand(family, values, head) if not is_left_out(each[0], without)]
    if include.frozen and formula.evaluate(include.frozen, scope):
        rows = [_frozen(*each) for each in rows]
    bounds = dict(include.indexes)
    for combination in _combinations(list(bounds), bounds, scope):
        prefix = _fill(include.template, combination)
        numbers = _literal(prefix)
        formula.spend(STEPS_PER_COMBINATION * len(rows))
        for row, expected, tied in rows:
            inner = inner_name(include, expected.name.removeprefix(stripped))
            yield (
                row,
                expected._replace(
                    name=prefix + inner,
                    tower=inner_tower(include, expected.tower),
                    branch=inner_branch(include, expected.branch),
                    indexes=(*numbers, *(_literal(inner) if include.renamed else expected.indexes)),
                ),
                tied,
            )


def _frozen(row: Row, expected: Expected, tied: bool) -> tuple[Row, Expected, bool]:
    """A row and its tensors in a part whose batch norms are frozen."""
    row = frozen(row)
    return row, expected._replace(buffer=True, group="buffer") if row.buffer else expected, tied


def _literal(name: str) -> tuple[int, ...]:
    """The numbers in a name, apart from placeholders."""
    return tuple(number for number in numbers_of(name) if isinstance(number, int))


class _Alike(NamedTuple):
    """What the tensors of a row that become one `Expected` have in common."""

    shape: tuple[int, ...]
    experts: int | None
    indexes: tuple[Any, ...]  # numbers in the name that count neither layers nor experts
    has_bias: bool


def expand_row(row: Row, scope: Scope) -> Iterator[Expected]:
    """A row's tensors, one `Expected` for each shape over its layers."""
    bounds = dict(row.indexes)
    conditions = _Conditions(row, scope, bounds)
    if conditions.never():
        return
    combinations = _combinations([name for name in bounds if name != "expert"], bounds, scope)
    for common, together in _together(conditions, combinations).items():
        formula.spend(STEPS_PER_SHAPE)
        yield from _weight_and_bias(row, scope, _Alike(*common), together)


def _together(
    conditions: _Conditions, combinations: Iterable[Combination]
) -> Mapping[tuple[Any, ...], list[Combination]]:
    """Combinations grouped by the fields of `_Alike`, without those for which the row is absent."""
    if not conditions.varies:
        every = list(combinations)
        common = conditions.under(every[0]) if every else None
        return {common: every} if common else {}
    found: dict[tuple[Any, ...], list[Combination]] = {}
    for each in combinations:
        common = conditions.under(each)
        if common is not None:
            found.setdefault(common, []).append(each)
    return found


class _Conditions:
    """Whether a row exists under a combination of its indexes, and its shape.

    A formula without an index is evaluated once: there are many layers, and most rows are the same in all of them.
    """

    def __init__(self, row: Row, scope: Scope, bounds: Mapping[str, str]) -> None:
        by_layer = "layer" in bounds and PER_LAYER in scope.config
        self._row, self._scope = row, scope
        self._experts = bounds.get("expert")
        self._dimensions = formula.dimensions(row.shape)
        self._further = [number for number in numbers_of(row.template) if number not in ("layer", "expert")]
        when, size, bias = scope.varying(bounds, (row.when,), (self._experts or "", *self._dimensions), (row.bias,))
        self._when_varies = bool(row.when) and (by_layer or when)
        self._size_varies = by_layer or size
        self._bias_varies = bias
        self._scope_varies = self._when_varies or self._size_varies or self._bias_varies
        #: Whether `under` may differ between two combinations.
        self.varies = self._scope_varies or any(isinstance(each, str) for each in self._further)
        self._size: tuple[tuple[int, ...], int | None] | None = None
        self._bias: bool | None = None if row.bias else False

    def never(self) -> bool:
        """Whether the row is absent for every combination."""
        row = self._row
        return bool(row.when) and not self._when_varies and not formula.evaluate(row.when, self._scope)

    def under(self, combination: Combination) -> tuple[Any, ...] | None:
        """The fields of `_Alike`; None if the row is absent."""
        scope = self._scope.at(**combination) if self._scope_varies else self._scope
        if self._when_varies and not formula.evaluate(self._row.when, scope):
            return None
        if self._size is None or self._size_varies:
            self._size = self._size_under(scope)
        if self._bias is None or self._bias_varies:
            self._bias = bool(formula.evaluate(self._row.bias, scope if self._bias_varies else self._scope))
        indexes = tuple(combination[each] if isinstance(each, str) else each for each in self._further)
        return (*self._size, indexes, self._bias)

    def _size_under(self, scope: Scope) -> tuple[tuple[int, ...], int | None]:
        shape = tuple(_dimension(text, self._row, scope) for text in self._dimensions)
        return shape, None if self._experts is None else _bound(self._experts, scope)


def _weight_and_bias(row: Row, scope: Scope, alike: _Alike, combinations: Sequence[Combination]) -> Iterator[Expected]:
    """The tensors of a row under these combinations, and their biases."""
    first = combinations[0]
    inner = scope.at(**first)
    dimensions = formula.dimensions(row.shape)
    weight = Expected(
        role=row.role,
        group="buffer" if row.buffer else group_of(row.role),
        tower=row.tower,
        part=row.part,
        name=_fill(row.template, {name: number for name, number in first.items() if name != "layer"}),
        shape=alike.shape,
        formula=tuple(map(formula.show, dimensions)),
        numbers=tuple(formula.show_numbers(text, inner) for text in dimensions),
        layers=tuple(each["layer"] for each in combinations) if "layer" in first else None,
        experts=alike.experts,
        first_expert=_bound(row.first_expert, inner) if row.first_expert else 0,
        active=_active(row.active, scope),
        branch=row.branch,
        indexes=alike.indexes,
        stacked=_bound(row.stacked, inner) if row.stacked else None,
        buffer=row.buffer,
        spare=row.spare,
    )
    yield weight
    if alike.has_bias:
        yield _bias_of(weight, row)


def _bias_of(weight: Expected, row: Row) -> Expected:
    """The bias of a weight: one number for each of its outputs."""
    outputs = slice(-1, None) if row.transposed else slice(0, 1)
    return weight._replace(
        part="bias",
        name=weight.name.removesuffix("weight") + "bias",
        shape=weight.shape[outputs],
        formula=weight.formula[outputs],
        numbers=weight.numbers[outputs],
    )


def _combinations(free: list[str], bounds: Mapping[str, str], scope: Scope) -> Iterator[dict[str, int]]:
    """Every assignment of the free indexes, the outermost varying slowest."""
    if not free:
        yield {}
        return
    first, *further = free
    values = range(_bound(bounds[first], scope))
    formula.spend(STEPS_PER_COMBINATION * len(values))
    for value in values:
        if not further:
            yield {first: value}
            continue
        for rest in _combinations(further, bounds, scope.at(**{first: value})):
            yield {first: value, **rest}


def _bound(expression: str, scope: Scope) -> int:
    value = formula.evaluate(expression, scope)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_INDEX:
        odd = CostError if isinstance(value, int) and value > MAX_INDEX else ConfigError
        raise odd(
            f"the configuration gives {value!r:.40} for `{formula.show(expression)}`: not a number of layers or experts"
        )
    return value


def _active(expression: str, scope: Scope) -> int | None:
    """Active experts per token; None for all, as for a configuration that leaves their number at null."""
    if not expression or formula.evaluate(expression, scope) is None:
        return None
    return _bound(expression, scope)


def _dimension(text: str, row: Row, scope: Scope) -> int:
    value = formula.evaluate(text, scope)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_DIMENSION:
        raise ConfigError(
            f"the configuration gives {value!r:.40} for `{formula.show(text)}` of {row.role}: not a dimension"
        )
    return value


def _fill(template: str, values: Mapping[str, int]) -> str:
    for name, value in values.items():
        template = template.replace(f"{{{name}}}", str(value))
    return template
