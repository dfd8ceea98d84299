"""Configuration → prediction: which tensors a checkpoint should hold, from its configuration alone.

The knowledge is in `architectures`; this reads a family's table forwards.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from inspector.architectures import family_of, formula
from inspector.architectures.data.layer_kinds import LAYER_KINDS, OLD_KINDS
from inspector.architectures.data.roles import group_of
from inspector.architectures.table import (
    Family,
    Include,
    Row,
    class_suffix,
    inner_branch,
    inner_tower,
    is_left_out,
    nested_values,
    numbers_of,
)
from inspector.errors import ConfigError, CostError
from inspector.model import Config, Expected, Prediction, RoleForecast
from inspector.units import integer

#: A configuration comes from strangers: more layers, experts or rows than this are refused.
MAX_INDEX = 10_000
MAX_TENSORS = 200_000  # three times the largest published model's
MAX_DIMENSION = 2**63 - 1
#: What one layer, block or branch costs beside its formulas, in steps of evaluation; and one more shape.
STEPS_PER_COMBINATION, STEPS_PER_SHAPE = 8, 100

#: Fields that every configuration has, though files leave them out, and their values there.
EVERYWHERE: Mapping[str, Any] = {"id2label": {"0": "LABEL_0", "1": "LABEL_1"}, "tie_word_embeddings": True}
EVERYWHERE_DERIVED: Mapping[str, str] = {"num_labels": "len(id2label)"}
#: Fields that files leave at null, and what every class takes then.
FOR_NULL: Mapping[str, str] = {
    "num_key_value_heads": "num_attention_heads",
    "head_dim": "hidden_size // num_attention_heads",
}

#: The field of the number of layers, and as many as ever predict further tokens.
DEPTH, MAX_AHEAD = "num_hidden_layers", 16

#: Whole models that do not say whether their head is tied go by what their text model says, or its type.
TIED, TEXT = "tie_word_embeddings", "text_config"

#: Mappings that are one value: labels by their numbers, which a file gives whole.
WHOLE = frozenset({"id2label", "label2id"})

#: The field that says what a file is, where it holds no model.
NO_MODEL = "general.type"

#: The field in which a configuration gives layers values of their own: `{"4": {"head_dim": 512}}`.
PER_LAYER = "per_layer_config"

#: Dtypes at which a prediction's size is shown → bits a parameter.
BYTES_AT: Mapping[str, int] = {"F32": 32, "F16": 16, "BF16": 16, "F8": 8, "I8": 8, "I4": 4}


def bytes_at(prediction: Prediction, bits: int) -> int:
    """Bytes of all predicted parameters at so many bits each, every tensor filled up to whole bytes."""
    return sum(row.tensors * size_of(row.elements, bits) for row in prediction.expected if not row.buffer)


def size_of(elements: int, bits: int) -> int:
    """Bytes of so many elements, the last byte filled up."""
    return -(-elements * bits // 8)


def by_role(prediction: Prediction) -> tuple[RoleForecast, ...]:
    """The prediction with one line a role and branch, in the table's order."""
    lines: dict[tuple[str, str, str, str], list[Expected]] = {}
    for row in prediction.expected:
        lines.setdefault((row.role, row.group, row.tower, row.branch), []).append(row)
    return tuple(
        RoleForecast(
            *key,
            sum(row.tensors for row in rows),
            sum(row.parameters for row in rows),
            _distinct((row.part, row.formula) for row in rows),
            _distinct((row.part, row.numbers) for row in rows),
        )
        for key, rows in lines.items()
    )


def _distinct(shapes: Iterable[tuple[str, tuple[str, ...]]]) -> str:
    """`a × b; c × b + a`: each shape once, biases last."""
    told: dict[bool, dict[str, None]] = {False: {}, True: {}}
    for part, shape in shapes:
        told[part == "bias"][" × ".join(shape) or "1"] = None
    return " + ".join(filter(None, ("; ".join(texts) for texts in told.values())))


def predict(config: Config) -> Prediction:
    """The tensors that `config` says there are.

    Raises:
        ConfigError: no family knows the `model_type`, or a field that the family needs is missing.
        CostError: it asks for more layers, experts or tensors than any model has.
    """
    try:
        with formula.bounded():
            return _predict(config)
    except RecursionError as error:
        raise CostError("the configuration's parts are nested too deep: not predicted") from error


def _predict(config: Config) -> Prediction:
    if NO_MODEL in config.values:
        raise ConfigError(f"nothing is predicted of what is no model: {config.values[NO_MODEL]}")
    family = family_of(config.values)
    if family is None:
        named = f"model_type {config.model_type!r}" if config.model_type else "a configuration without model_type"
        raise ConfigError(f"no prediction for {named}: its architecture has no table")
    head = head_of(family, config)
    if not family.has_head(head):
        note = f"{config.architecture} is no class that the table of {family.name} knows: its body alone is predicted"
        config = config._replace(notes=(*config.notes, note))
    stored: list[Expected] = []
    tied: list[Expected] = []
    buffers: list[Expected] = []
    optional: list[Expected] = []
    ahead: list[Expected] = []
    for row, expected, is_tied in expand(family, config.values, head):
        if row.buffer and not row.persistent:
            buffers.append(expected)
        elif row.ahead:
            ahead.append(expected)
        elif row.optional:
            optional.append(expected)
        elif is_tied:
            tied.append(expected)
        else:
            stored.append(expected)
    predicted = Prediction(
        config,
        family.name,
        head,
        tuple(stored),
        tuple(tied),
        tuple(buffers),
        tuple(optional),
        ahead=(*_ahead(family, config), *ahead),
    )
    if predicted.tensors > MAX_TENSORS:
        raise CostError(f"the configuration asks for {integer(predicted.tensors)} tensors: no model has so many")
    return predicted


def _ahead(family: Family, config: Config) -> tuple[Expected, ...]:
    """The layers after the last that predict further tokens: built like it, and left out of the model's own count."""
    number = config.values.get(family.ahead) if family.ahead else None
    if not isinstance(number, int) or not 0 < number <= MAX_AHEAD:
        return ()
    depth = formula.evaluate(DEPTH, Scope(family, config.values))
    longer = {**config.values, DEPTH: depth + number}
    rows = (row for row in expand(family, longer, "body") if not (row[0].optional or row[0].ahead or row[0].buffer))
    found = ((expected, tuple(layer for layer in expected.layers or () if layer >= depth)) for _, expected, _ in rows)
    return tuple(expected._replace(layers=layers) for expected, layers in found if layers)


def head_of(family: Family, config: Config) -> str:
    """What the tables call the class: its suffix, or a word of the family's own."""
    named = family.classes.get(config.architecture or "") or class_suffix(config.architecture)
    return named or family.head


def scope_of(prediction: Prediction) -> Scope:
    """The fields from which a prediction was made."""
    family = family_of(prediction.config.values)
    assert family is not None
    return Scope(family, prediction.config.values)


class Scope:
    """Names → values: index variables, the configuration's fields, the family's defaults, in this order."""

    def __init__(self, family: Family, values: Mapping[str, Any], indexes: Mapping[str, int] | None = None) -> None:
        self.family = family
        self.values = _with_new_kinds(values)
        self.indexes = indexes or {}
        self._aliases: dict[str, list[str]] = {}
        for alias, own in family.fields.items():
            self._aliases.setdefault(own, [own]).append(alias)
        self._pending: set[str] = set()
        self._known: dict[str, Any] = {}  # derived fields that are the same for every index
        self._layers = _own_values(values.get(PER_LAYER))
        self._parts = {entry.scope: entry for entry in reversed(family.rows) if isinstance(entry, Include)}

    def __getitem__(self, name: str) -> Any:
        """The value of a field or index. Raises ConfigError where the configuration must give it."""
        if name in self.indexes:
            return self.indexes[name]
        given = self._given(name)
        if given is not None and (name in WHOLE or not isinstance(given, Mapping)):
            return given
        default = self._default(name, self._is_null(name)) if given is None else self._whole_default(name)
        whole = default if isinstance(default, Mapping) else {}
        if name in self._parts and (given is not None or default is not None):
            return _part(self._parts[name], self, whole)
        if isinstance(given, Mapping):
            return _typed_part(self.filled(name, given), whole, self.values.get("model_type"))
        return self.filled(name, default) if isinstance(default, Mapping) and name not in WHOLE else default

    def filled(self, part: str, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """A part's fields, with those that follow from the whole where it leaves them out (`Family.followers`)."""
        follow = {name: field for name, field in self.family.followers(part) if values.get(field) is None}
        found = {field: self._derived(name) for name, field in follow.items() if name not in self._pending}
        return {**values, **found} if found else values

    def _whole_default(self, name: str) -> Any:
        """What the table says of a nested configuration that is given; None where it leaves that to the part's own."""
        with suppress(ConfigError):
            return self._default(name, null=False)
        return None

    def _given(self, name: str) -> Any:
        own = self._of_layer().get(name)
        if own is not None:
            return _checked(name, own)
        for alias in self._aliases.get(name, (name,)):
            value = self.values.get(alias)
            if value is not None:
                return _checked(name, value)
        return None

    def _of_layer(self) -> Mapping[str, Any]:
        """The values that `per_layer_config` gives to the layer that is asked for."""
        return self._layers.get(self.indexes["layer"], {}) if self._layers and "layer" in self.indexes else {}

    def _is_null(self, name: str) -> bool:
        return any(alias in self.values for alias in self._aliases.get(name, (name,)))

    def _default(self, name: str, null: bool) -> Any:
        """What holds where the configuration says nothing, or says null."""
        typed = self.family.types.get(self.values.get("model_type", ""), {})
        if name == TIED and not {TIED} & {*typed, *self.family.derived, *self.family.defaults}:
            said = _tied_by_text(self.values.get(TEXT))
            if said is not None:
                return said
        if name in typed and not null:
            return typed[name]
        if name in self.family.derived:
            return self._derived(name)
        if null:
            return formula.evaluate(FOR_NULL[name], self) if name in FOR_NULL else None
        if name in self.family.defaults:
            return self.family.defaults[name]
        if name in EVERYWHERE_DERIVED:
            return formula.evaluate(EVERYWHERE_DERIVED[name], self)
        if name in EVERYWHERE:
            return EVERYWHERE[name]
        raise ConfigError(f"the configuration has no `{name}`, which a {self.family.name} model needs")

    def _derived(self, name: str) -> Any:
        """A derived field's value; one that no index changes is worked out once."""
        if name in self._known:
            return self._known[name]
        if name in self._pending:
            raise ConfigError(f"the configuration has no `{name}`, which a {self.family.name} model needs")
        self._pending.add(name)
        try:
            value = formula.evaluate(self.family.derived[name], self)
        finally:
            self._pending.discard(name)
        if not self._layers and not self.mentions(self.family.derived[name], self.indexes):
            self._known[name] = value
        return value

    def mentions(self, text: str, indexes: Collection[str]) -> bool:
        """Whether an expression's value may differ between the indexes, by itself or through a derived field."""
        left, seen = [*formula.names(text)], set[str]()
        while left:
            name = left.pop()
            if name in indexes:
                return True
            if name not in seen and name in self.family.derived:
                left += formula.names(self.family.derived[name])
            seen.add(name)
        return False

    def at(self, **indexes: int) -> Scope:
        """The same scope with index variables set."""
        inner = Scope.__new__(Scope)
        inner.family, inner.values, inner.indexes = self.family, self.values, {**self.indexes, **indexes}
        inner._aliases, inner._pending, inner._known = self._aliases, self._pending, self._known
        inner._layers, inner._parts = self._layers, self._parts
        return inner


def _with_new_kinds(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """The configuration with today's words for the kinds of its layers."""
    lists = {name: values[name] for name in LAYER_KINDS if isinstance(values.get(name), list)}
    new = {
        name: [OLD_KINDS.get(kind, kind) if isinstance(kind, str) else kind for kind in lists[name]] for name in lists
    }
    return values if new == lists else {**values, **new}


def _tied_by_text(text: Any) -> bool | None:
    """Whether a text model says that its head is tied, or its type does; None where it leaves that to the whole."""
    if not isinstance(text, Mapping):
        return None
    family = family_of(text) if text.get("model_type") else None
    usual = {**family.defaults, **family.types.get(text["model_type"], {})} if family else {}
    said = text.get(TIED, usual.get(TIED))
    return None if said is None else bool(said)


class Part(Mapping[str, Any]):
    """A nested configuration: what it leaves out is what the table of its own type says, or else the whole's."""

    def __init__(self, scope: Scope, whole: Mapping[str, Any]) -> None:
        self.scope = scope
        self.whole = whole  # what the whole's table says of the part

    def __getitem__(self, name: str) -> Any:
        try:
            value = self.scope[self.scope.family.fields.get(name, name)]
        except ConfigError:
            value = None
        return self.whole[name] if value is None else value

    def __iter__(self) -> Iterator[str]:
        return iter({**self.whole, **self.scope.values})

    def __len__(self) -> int:
        return len({**self.whole, **self.scope.values})


def _part(include: Include, scope: Scope, whole: Mapping[str, Any]) -> Mapping[str, Any]:
    own = scope.filled(include.scope, nested_values(include, scope.values))
    family = family_of(own)
    given = scope.values.get(include.scope)
    if family is None:
        return {**whole, **given} if isinstance(given, Mapping) else whole
    return Part(Scope(family, own if isinstance(given, Mapping) else {**whole, **own}), whole)


def _typed_part(given: Mapping[str, Any], whole: Mapping[str, Any], outer: Any) -> Mapping[str, Any]:
    """A nested configuration whose rows the whole's table has: what it leaves out is its own type's to say."""
    values = {**whole, **given}
    family = family_of(values) if values.get("model_type") not in (None, outer) else None
    return values if family is None else Part(Scope(family, values), whole)


def _own_values(layers: Any) -> dict[int, Mapping[str, Any]]:
    """Layer → its own values; the numbers are written with leading zeros: `{"05": {"head_dim": 512}}`."""
    if not isinstance(layers, Mapping):
        return {}
    numbered = ((str(number), own) for number, own in layers.items() if isinstance(own, Mapping))
    return {int(number): own for number, own in numbered if number.isdecimal() and len(number) < 9}


def _checked(name: str, value: Any) -> Any:
    """A number from a configuration: whole floats become integers, absurd ones are refused."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)
    if isinstance(value, int) and not -MAX_DIMENSION <= value <= MAX_DIMENSION:
        raise ConfigError(f"the configuration's `{name}` is beyond 64 bits")
    return value


def expand(family: Family, values: Mapping[str, Any], head: str) -> Iterator[tuple[Row, Expected, bool]]:
    """Each row of a family with its tensors, and whether they are tied, under the class's names."""
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


def _under_class(expected: Expected, family: Family, head: str) -> Expected:
    """The row under the name that this class gives its body."""
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
    without = include.without.split()
    rows = [each for each in expand(family, values, include.head or "body") if not is_left_out(each[0], without)]
    bounds = dict(include.indexes)
    for combination in _combinations(list(bounds), bounds, scope):
        prefix = _fill(include.template, combination)
        numbers = tuple(number for number in numbers_of(prefix) if isinstance(number, int))
        formula.spend(STEPS_PER_COMBINATION * len(rows))
        for row, expected, tied in rows:
            yield (
                row,
                expected._replace(
                    name=prefix + expected.name.removeprefix(include.strip),
                    tower=inner_tower(include, expected.tower),
                    branch=inner_branch(include, expected.branch),
                    indexes=(*numbers, *expected.indexes),
                ),
                tied,
            )


def expand_row(row: Row, scope: Scope) -> Iterator[Expected]:
    """A row's tensors, one `Expected` for each shape that it has over its layers."""
    bounds = dict(row.indexes)
    free = [name for name in bounds if name != "expert"]
    further = [n for n in numbers_of(row.template) if n not in ("layer", "expert")]
    by_shape: dict[tuple[tuple[int, ...], int | None, tuple[Any, ...], bool], list[dict[str, int]]] = {}
    by_layer = "layer" in free and PER_LAYER in scope.values
    constant_when = row.when and not by_layer and not scope.mentions(row.when, bounds)
    if constant_when and not formula.evaluate(row.when, scope):
        return
    dims = formula.dimensions(row.shape)
    varying = by_layer or any(scope.mentions(text, bounds) for text in (*dims, bounds.get("expert") or "0"))
    fixed: tuple[tuple[int, ...], int | None] | None = None
    fixed_bias = not row.bias or not scope.mentions(row.bias, bounds)
    bias = bool(row.bias) and fixed_bias and bool(formula.evaluate(row.bias, scope))
    for combination in _combinations(free, bounds, scope):
        inner = scope.at(**combination) if combination else scope
        if row.when and not constant_when and not formula.evaluate(row.when, inner):
            continue
        if varying or fixed is None:
            fixed = _shape(row, dims, inner), (_bound(bounds["expert"], inner) if "expert" in bounds else None)
        if not fixed_bias:
            bias = bool(formula.evaluate(row.bias, inner))
        indexes = tuple(combination[n] if isinstance(n, str) else n for n in further)
        by_shape.setdefault((*fixed, indexes, bias), []).append(combination)
    for (shape, experts, indexes, has_bias), combinations in by_shape.items():
        formula.spend(STEPS_PER_SHAPE)
        inner = scope.at(**combinations[0])
        weight = Expected(
            role=row.role,
            group="buffer" if row.buffer else group_of(row.role),
            tower=row.tower,
            part=row.part,
            name=_fill(row.template, {k: v for k, v in combinations[0].items() if k != "layer"}),
            shape=shape,
            formula=tuple(formula.show(d) for d in dims),
            numbers=tuple(formula.show_numbers(d, inner) for d in dims),
            layers=tuple(c["layer"] for c in combinations) if "layer" in free else None,
            experts=experts,
            first_expert=_bound(row.first_expert, inner) if row.first_expert else 0,
            active=_active(row.active, scope),
            branch=row.branch,
            indexes=indexes,
            stacked=_bound(row.stacked, inner) if row.stacked else None,
            buffer=row.buffer,
        )
        yield weight
        if has_bias:
            out = slice(-1, None) if row.transposed else slice(0, 1)
            yield weight._replace(
                part="bias",
                name=weight.name.removesuffix("weight") + "bias",
                shape=shape[out],
                formula=weight.formula[out],
                numbers=weight.numbers[out],
            )


def _combinations(free: list[str], bounds: Mapping[str, str], scope: Scope) -> Iterator[dict[str, int]]:
    """Every assignment of the free indexes, the outermost slowest."""
    if not free:
        yield {}
        return
    for value in range(_bound(bounds[free[0]], scope)):
        formula.spend(STEPS_PER_COMBINATION)
        for rest in _combinations(free[1:], bounds, scope.at(**{free[0]: value})):
            yield {free[0]: value, **rest}


def _bound(expression: str, scope: Scope) -> int:
    value = formula.evaluate(expression, scope)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_INDEX:
        odd = CostError if isinstance(value, int) and value > MAX_INDEX else ConfigError
        raise odd(
            f"the configuration gives {value!r:.40} for `{formula.show(expression)}`: no count of layers or experts"
        )
    return value


def _active(expression: str, scope: Scope) -> int | None:
    """How many experts work on one token; None for all, as for a configuration that leaves their number at null."""
    if not expression or formula.evaluate(expression, scope) is None:
        return None
    return _bound(expression, scope)


def _shape(row: Row, dims: tuple[str, ...], scope: Scope) -> tuple[int, ...]:
    shape = []
    for dim in dims:
        value = formula.evaluate(dim, scope)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_DIMENSION:
            raise ConfigError(
                f"the configuration gives {value!r:.40} for `{formula.show(dim)}` of {row.role}: no dimension"
            )
        shape.append(value)
    return tuple(shape)


def _fill(template: str, values: Mapping[str, int]) -> str:
    for name, value in values.items():
        template = template.replace(f"{{{name}}}", str(value))
    return template
