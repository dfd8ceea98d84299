"""The fields of a configuration as a family's table sees them: the values of names in formulas."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from inspector.architectures import family_of, formula
from inspector.architectures.table import Family, Include, nested_values
from inspector.errors import ConfigError

#: Larger numbers are not dimensions.
MAX_DIMENSION = 2**63 - 1

#: Fields that every configuration has, even if omitted, with their defaults.
EVERYWHERE: Mapping[str, Any] = {
    "id2label": {"0": "LABEL_0", "1": "LABEL_1"},
    "tie_word_embeddings": True,
    "out_indices": None,
    "out_features": None,
    "first_stage": 0,
}
#: A backbone returns the features of some stages, by default the last; stage 0 is the stem. Its table has each stage's
#: width (`stage_widths`), and the first stage if there is no stem (`first_stage`).
EVERYWHERE_DERIVED: Mapping[str, str] = {
    "num_labels": "len(id2label)",
    "output_stages": "out_indices or ([sum(numbers(out_features[at])) - first_stage for at in range(len(out_features))]"
    " if out_features else [-1])",
    "channels": "[stage_widths[output_stages[at]] for at in range(len(output_stages))]",
}
#: Former names of kinds of layers → their current names.
OLD_KINDS: Mapping[str, str] = {
    "attention": "full_attention",
    "deepseek_sparse_attention": "indexed_attention",
    "mamba": "linear_attention",
    "qwen_sparse_attention": "indexed_attention",
}
#: The fields with the kinds of layers.
LAYER_KINDS = ("layer_types", "layers_block_type")
#: Fields that files leave at null, with the value that every class then uses.
FOR_NULL: Mapping[str, str] = {
    "num_key_value_heads": "num_attention_heads",
    "head_dim": "hidden_size // num_attention_heads",
}

#: If a whole model does not say whether its head is tied, its text model, or that model's type, decides.
TIED, TEXT = "tie_word_embeddings", "text_config"

#: Mappings that are a single value: labels by number, which a file replaces as a whole.
WHOLE = frozenset({"id2label", "label2id"})

#: The field with per-layer values: `{"4": {"head_dim": 512}}`.
PER_LAYER = "per_layer_config"


class Scope(dict[str, Any]):
    """Names → values, each looked up once. The first of these with a value provides it:

        an index variable                       layer, expert
        the layer's own configuration           `per_layer_config`
        the configuration                       under the family's name for the field, or a common one
        the type's own value                    `types` of the table; not for a null field
        a derived value                         `derived`
        the meaning of null                     FOR_NULL, else None
        the family's default                    `defaults`
        the values common to all configurations EVERYWHERE_DERIVED, EVERYWHERE

    A nested configuration is completed first by the whole's table, then by the table of its own type.
    """

    def __init__(self, family: Family, values: Mapping[str, Any], indexes: Mapping[str, int] | None = None) -> None:
        super().__init__(indexes or {})
        self.family = family
        self.config = _with_new_kinds(_without(family, values))
        self.indexes = indexes or {}
        self._aliases: dict[str, list[str]] = {}
        for alias, own in family.fields.items():
            self._aliases.setdefault(own, [own]).append(alias)
        self._pending: set[str] = set()
        self._known: dict[str, Any] = {}  # derived fields that are the same for every index
        self._here: dict[str, Any] = {}  # those that depend on these indexes
        self._common: dict[str, Any] = self  # the scope without indexes: what is the same for all is looked up once
        self._layers = _own_values(values.get(PER_LAYER))
        self._parts = {entry.scope: entry for entry in reversed(family.rows) if isinstance(entry, Include)}
        self._followed = {name.rpartition(".")[0] for name in family.derived}  # parts with derived fields

    def __missing__(self, name: str) -> Any:
        """The value of a field. Raises ConfigError if the configuration must give it but does not."""
        value = self._configured(name)
        is_stated = value is not None
        if not is_stated:
            value = self._omitted(name)
        elif isinstance(value, Mapping) and name not in WHOLE:
            value = self._nested(name, value)
        if not (self._pending and isinstance(value, Mapping)):  # a part may still lack what is being derived
            self[name] = value
            if not self._varies(name) and (is_stated or name not in FOR_NULL):
                self._common[name] = value
        return value

    def _varies(self, name: str) -> bool:
        """Whether a field may differ between indexes."""
        return bool(self._layers) or name in self.family.derived or name in self._followed

    def _omitted(self, name: str) -> Any:
        """The value of a field that the configuration omits or leaves at null. A part's default is completed, too."""
        if name in self._parts:
            return self._omitted_part(name)
        null = self._is_null(name) and (name in WHOLE or not isinstance(self.family.defaults.get(name), Mapping))
        default = self._default(name, null)
        return self.filled(name, default) if isinstance(default, Mapping) and name not in WHOLE else default

    def _omitted_part(self, name: str) -> Any:
        """A part that is omitted or null, which classes take for its type's own values; None if the table has none."""
        default = self._default(name, null=False)
        if default is None:
            return None
        return _part(self._parts[name], self, default if isinstance(default, Mapping) else {})

    def _nested(self, name: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """A nested configuration, completed by the whole's table and then by the table of its own type."""
        default = self._whole_default(name)
        whole = default if isinstance(default, Mapping) else {}
        if name in self._parts:
            return _part(self._parts[name], self, whole)
        return _typed_part(self.filled(name, given), whole, self.config.get("model_type"))

    def filled(self, part: str, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """A part's fields, including omitted ones that follow from the whole (`Family.followers`)."""
        fixed = self.family.overwritten
        follow = {
            name: field for name, field in self.family.followers(part) if values.get(field) is None or name in fixed
        }
        found = {field: self._derived(name) for name, field in follow.items() if name not in self._pending}
        return {**values, **found} if found else values

    def _whole_default(self, name: str) -> Any:
        """The table's values for a given nested configuration; None if it leaves them to the part's own table."""
        with suppress(ConfigError):
            return self._default(name, null=False)
        return None

    def _configured(self, name: str) -> Any:
        """What the configuration says, for the layer or under any of the field's names; None if nothing."""
        if self._layers:
            own = self._of_layer().get(name)
            if own is not None:
                return _checked(name, own)
        stated = (self.config.get(alias) for alias in self._aliases.get(name, (name,)))
        return _checked(name, next((value for value in stated if value is not None), None))

    def _of_layer(self) -> Mapping[str, Any]:
        """The values of `per_layer_config` for the current layer."""
        return self._layers.get(self.indexes["layer"], {}) if "layer" in self.indexes else {}

    def _is_null(self, name: str) -> bool:
        """Whether the configuration has a field for which `_configured` finds no value: it must be null."""
        return any(alias in self.config for alias in self._aliases.get(name, (name,)))

    def _default(self, name: str, null: bool) -> Any:
        """The value if the configuration omits the field, or has null."""
        family = self.family
        typed = family.types.get(self.config.get("model_type", ""), {})
        if name == TIED and not any(name in known for known in (typed, family.derived, family.defaults)):
            stated = _tied_by_text(self.config.get(TEXT))
            if stated is not None:
                return stated
        if name in typed and not null:
            return typed[name]
        if name in family.derived:
            return self._derived(name)
        if null:
            return formula.evaluate(FOR_NULL[name], self) if name in FOR_NULL else None
        return family.defaults[name] if name in family.defaults else self._everywhere(name)

    def _everywhere(self, name: str) -> Any:
        """The value if neither configuration nor table has one."""
        if name in EVERYWHERE_DERIVED:
            return formula.evaluate(EVERYWHERE_DERIVED[name], self)
        if name in EVERYWHERE:
            return EVERYWHERE[name]
        raise self._needed(name)

    def _needed(self, name: str) -> ConfigError:
        return ConfigError(f"the configuration has no `{name}`, which a {self.family.name} model needs")

    def _derived(self, name: str) -> Any:
        """A derived field's value; one that depends on no index is computed once."""
        if name in self._known or name in self._here:
            return self._known[name] if name in self._known else self._here[name]
        if name in self._pending:
            raise self._needed(name)
        self._pending.add(name)
        try:
            value = formula.evaluate(self.family.derived[name], self)
        finally:
            self._pending.discard(name)
        if not self._layers and not self.mentions(self.indexes, self.family.derived[name]):
            self._known[name] = value
        elif self.indexes:
            self._here[name] = value
        return value

    def mentions(self, indexes: Collection[str], *texts: str) -> bool:
        """Whether an expression's value may vary with the indexes, directly or through a derived field."""
        left, seen = [name for text in texts if text for name in formula.names(text)], set[str]()
        while left:
            name = left.pop()
            if name in indexes:
                return True
            if name not in seen and name in self.family.derived:
                left += formula.names(self.family.derived[name])
            seen.add(name)
        return False

    def varying(self, indexes: Collection[str], *groups: Collection[str]) -> list[bool]:
        """For each group of expressions, whether one of their values may vary with the indexes (`mentions`)."""
        return [self.mentions(indexes, *texts) for texts in groups]

    def at(self, **indexes: int) -> Scope:
        """The same scope with index variables set."""
        inner = Scope.__new__(Scope)
        inner.update(self.indexes if self._layers else {**self._common, **self}, **indexes)
        inner.family, inner.config, inner.indexes = self.family, self.config, {**self.indexes, **indexes}
        inner._aliases, inner._pending, inner._known, inner._here = self._aliases, self._pending, self._known, {}
        inner._layers, inner._parts, inner._common = self._layers, self._parts, self._common
        inner._followed = self._followed
        return inner

    def layers(self, numbers: Iterable[int]) -> dict[int, Scope]:
        """The same scope in each of these layers."""
        return {number: self.at(layer=number) for number in numbers}


def _without(family: Family, values: Mapping[str, Any]) -> Mapping[str, Any]:
    """The configuration without the fields that the class works out itself."""
    if not family.overwritten:
        return values
    aliases = {alias for alias, own in family.fields.items() if own in family.overwritten}
    return {name: value for name, value in values.items() if name not in aliases and name not in family.overwritten}


def _with_new_kinds(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """The configuration with current names for the kinds of its layers."""
    lists = {name: values[name] for name in LAYER_KINDS if isinstance(values.get(name), list)}
    new = {
        name: [OLD_KINDS.get(kind, kind) if isinstance(kind, str) else kind for kind in lists[name]] for name in lists
    }
    return values if new == lists else {**values, **new}


def _tied_by_text(text: Any) -> bool | None:
    """Whether a text model's head is tied, by its configuration or type; None if it leaves that to the whole."""
    if not isinstance(text, Mapping):
        return None
    family = family_of(text) if text.get("model_type") else None
    usual = {**family.defaults, **family.types.get(text["model_type"], {})} if family else {}
    stated = text.get(TIED, usual.get(TIED))
    return None if stated is None else bool(stated)


class Part(Mapping[str, Any]):
    """A nested configuration; omitted fields come from the table of its own type, or else the whole's."""

    def __init__(self, scope: Scope, whole: Mapping[str, Any]) -> None:
        self.scope = scope
        self.whole = whole  # the whole's table's values for the part

    def __getitem__(self, name: str) -> Any:
        try:
            value = self.scope[self.scope.family.fields.get(name, name)]
        except ConfigError:
            value = None
        return self.whole[name] if value is None else value

    def __iter__(self) -> Iterator[str]:
        return iter({**self.whole, **self.scope.config})

    def __len__(self) -> int:
        return len({**self.whole, **self.scope.config})


def _part(include: Include, scope: Scope, whole: Mapping[str, Any]) -> Mapping[str, Any]:
    """An included configuration; if its own type is given, this type's values take precedence over the whole's."""
    own = scope.filled(include.scope, nested_values(include, scope.config))
    family = family_of(own)
    given = scope.config.get(include.scope)
    if family is None:
        return {**whole, **given} if isinstance(given, Mapping) else whole
    return Part(Scope(family, own if isinstance(given, Mapping) else {**whole, **own}), whole)


def _typed_part(given: Mapping[str, Any], whole: Mapping[str, Any], outer: Any) -> Mapping[str, Any]:
    """A nested configuration whose rows are in the whole's table; omitted fields come from its own type."""
    values = _completed(whole, given)
    family = family_of(values) if values.get("model_type") not in (None, outer) else None
    return values if family is None else Part(Scope(family, values), whole)


def _completed(usual: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The usual values of a nested configuration and of its own parts, where a file gives no others."""
    found = {**usual, **given}
    for name, value in usual.items():
        own = given.get(name, value)
        if isinstance(value, Mapping) and name not in WHOLE and (own is None or isinstance(own, Mapping)):
            found[name] = _completed(value, own or {})
    return found


def _own_values(layers: Any) -> dict[int, Mapping[str, Any]]:
    """Layer → its own values; layers are written with leading zeros: `{"05": {"head_dim": 512}}`."""
    if not isinstance(layers, Mapping):
        return {}
    numbered = ((str(number), own) for number, own in layers.items() if isinstance(own, Mapping))
    return {int(number): own for number, own in numbered if number.isdecimal() and len(number) < 9}


def _checked(name: str, value: Any) -> Any:
    """A number from a configuration: integral floats become integers, absurd values are refused."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)
    if isinstance(value, int) and not -MAX_DIMENSION <= value <= MAX_DIMENSION:
        raise ConfigError(f"the configuration's `{name}` is beyond 64 bits")
    return value
