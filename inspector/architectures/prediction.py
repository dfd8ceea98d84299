"""Configuration → prediction: which tensors a checkpoint should hold, from its configuration alone.

The knowledge is in the tables; this module reads a family's table forwards.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from inspector.architectures import formula, included, refusal
from inspector.architectures.expansion import expand
from inspector.architectures.scope import Scope
from inspector.architectures.store import store
from inspector.architectures.table import BARE, Family, Include, Row, class_suffix, part_at
from inspector.errors import ConfigError, CostError
from inspector.model import Config, Expected, Prediction, RoleForecast
from inspector.units import integer

#: Configurations are untrusted: more tensors are refused. Kimi K3 has 249,924.
MAX_TENSORS = 300_000

#: The field for the number of layers, and the most layers that predict further tokens.
DEPTH, MAX_AHEAD = "num_hidden_layers", 16

#: How deep parts within parts are searched.
_DEEPEST = 4

#: The field that says what a file is, if not a model.
NO_MODEL = "general.type"

#: Dtypes at which a prediction's size is shown → bits per parameter.
BYTES_AT: Mapping[str, int] = {"F32": 32, "F16": 16, "BF16": 16, "F8": 8, "I8": 8, "I4": 4}


def bytes_at(prediction: Prediction, bits: int) -> int:
    """Bytes of all predicted parameters at this many bits each, every tensor rounded up to whole bytes."""
    return sum(row.tensors * size_of(row.elements, bits) for row in prediction.expected if not row.buffer)


def size_of(elements: int, bits: int) -> int:
    """Bytes of this many elements, rounded up."""
    return -(-elements * bits // 8)


def by_role(prediction: Prediction) -> tuple[RoleForecast, ...]:
    """The prediction with one line per role and branch, in the table's order."""
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
    weights_and_biases: tuple[dict[str, None], dict[str, None]] = ({}, {})
    for part, shape in shapes:
        weights_and_biases[part == "bias"][" × ".join(shape) or "1"] = None
    return " + ".join(filter(None, map("; ".join, weights_and_biases)))


def predict(config: Config) -> Prediction:
    """The tensors that `config` implies.

    Raises:
        ConfigError: no family has the `model_type`, or a field that the family needs is missing.
        CostError: it asks for more layers, experts or tensors than any model has.
    """
    return _bounded(config)


def predict_as(config: Config, head: str) -> Prediction:
    """The tensors that `config` implies for another class of its family, by that class's suffix.

    Raises:
        ConfigError: as `predict`.
        CostError: as `predict`.
    """
    return _bounded(config, head)


def by_fields(config: Config) -> Prediction | None:
    """What the nearest relative of a type without a table predicts, where only the configuration's fields decide.

    None if its fields do not fit, or if one that is almost as near predicts a model of another size.
    """
    from inspector.architectures import relatives  # only types without a table need it

    near = {each.model_type: each for each in relatives.nearest(store(), config.values)}
    found = [(near[each.config.relative or ""], each) for each in by_relatives(config)]
    if not found or found[0][0].fit < relatives.FITS:
        return None
    least = found[0][0].nearness - relatives.AS_NEAR
    sizes = [each.parameters for relative, each in found if relative.nearness >= least]
    return found[0][1] if max(sizes) <= relatives.APART * min(sizes) else None


def by_relatives(config: Config, beside: str | None = None, *, by_tensors: bool = False) -> Iterator[Prediction]:
    """What the nearest relatives of a type without a table predict, the nearest first.

    A relative must need no number and no part that the configuration does not have, and use its counts of experts.

    Args:
        beside: a relative: the other types of its table are tried instead.
        by_tensors: whether tensors decide between them, so that farther ones are tried.
    """
    from inspector.architectures import relatives  # only types without a table need it

    if config.kind != "config.json" or not config.model_type or config.family is not None:
        return
    values = relatives.parts_as_relatives(store(), config.values)
    most = relatives.MOST_BY_TENSORS if by_tensors else relatives.MOST
    near = relatives.nearest(store(), config.values, most=most)
    types = relatives.types_beside(store(), beside) if beside else [each.model_type for each in near]
    found = [config._replace(values=values, relative=each) for each in types]
    for relative in sorted(found, key=_lacks_class):
        parts = (entry.scope for entry in relative.family.rows if isinstance(entry, Include) and not entry.when)
        if not all(isinstance(part_at(values, scope), Mapping) for scope in parts):
            continue
        with suppress(ConfigError):
            prediction = predict(relative)
            if prediction.parameters and unread_experts(prediction) is None:
                yield prediction


def _lacks_class(config: Config) -> bool:
    """Whether the family has no class like the one that the configuration names."""
    suffix = class_suffix(config.architecture)
    return suffix is not None and not config.family.has_head(suffix)


def _bounded(config: Config, head: str | None = None) -> Prediction:
    try:
        with formula.bounded():
            return _predict(config, head)
    except RecursionError as error:
        raise CostError("the configuration's parts are nested too deep: not predicted") from error


def _predict(config: Config, head: str | None) -> Prediction:
    if NO_MODEL in config.values:
        raise ConfigError(f"this file does not hold a model, so nothing is predicted: {config.values[NO_MODEL]}")
    family: Family | None = config.family
    if family is None:
        named = f"model_type {config.model_type!r}" if config.model_type else "a configuration without model_type"
        raise ConfigError(f"no prediction for {named}: there is no table for its architecture{_what_to_do(config)}")
    unknown = None if head else _unknown_class(family, config, head_of(family, config))
    head = head or head_of(family, config)
    config = config._replace(notes=(*config.notes, *filter(None, (_by_whom(family, config), unknown))))
    kinds = _by_kind(expand(family, config.values, head))
    predicted = Prediction(
        config,
        family.name,
        head,
        kinds["expected"],
        kinds["tied"],
        kinds["buffers"],
        kinds["optional"],
        ahead=(*_ahead(family, config), *kinds["ahead"]),
    )
    if predicted.tensors > MAX_TENSORS:
        raise CostError(f"the configuration asks for {integer(predicted.tensors)} tensors: no model has that many")
    omitted = unread_experts(predicted)
    return predicted._replace(config=config._replace(notes=(*config.notes, omitted))) if omitted else predicted


def _by_whom(family: Family, config: Config) -> str:
    """What a prediction rests on, if not on a table of the package's own; or the library that was asked in vain."""
    if config.relative:
        return f"no table for {config.model_type}: read as {config.relative}, by analogy{_what_to_do(config)}"
    if family.asked:
        return f"as {family.asked} builds it"
    refused = refusal(config.values)
    return f"{refused}: predicted by its table" if refused else ""


def _what_to_do(config: Config) -> str:
    """How a type without a table can still be predicted."""
    refused = refusal(config.values)
    return f"; {refused}" if refused else ""


def unread_experts(prediction: Prediction) -> str | None:
    """The experts that a prediction omits, because no table read for it uses a field that counts them; None if none."""
    values = prediction.config.values
    if not _names_experts(values) or any(row.experts or row.stacked for row in prediction.expected):
        return None
    from inspector.architectures.data.meanings import WELL_KNOWN  # only mixtures of experts need it

    fields_of_experts = ("num_experts", *WELL_KNOWN["num_experts"][0].split())
    counted = dict(_counting_fields(values, fields_of_experts, _DEEPEST))
    family: Family | None = prediction.config.family
    if not counted or family is None:
        return None
    read = " ".join(_texts(family, values, _DEEPEST))
    if any(re.search(rf"\b{field}\b", read) for field in counted):
        return None
    fields = ", ".join(f"{field} = {number}" for field, number in counted.items())
    return f"{fields}, which the table of {family.name} does not use: the experts are missing from the prediction"


def _counting_fields(values: Mapping[str, Any], fields: Sequence[str], deepest: int) -> Iterator[tuple[str, int]]:
    """The fields that count more than one, in a configuration and its parts; of a list, its largest number."""
    for field in fields:
        given = values.get(field)
        numbers = [each for each in (given if isinstance(given, list) else [given]) if type(each) is int]
        if max(numbers, default=0) > 1:
            yield field, max(numbers)
    for part in values.values() if deepest else ():
        if isinstance(part, Mapping):
            yield from _counting_fields(part, fields, deepest - 1)


def _texts(family: Family, values: Mapping[str, Any], deepest: int) -> Iterator[str]:
    """The expressions and names of fields in a table, and in the tables of its parts."""
    yield from (*family.derived.values(), *family.fields, *family.fields.values())
    for entry in family.rows:
        yield from (text for text in entry if isinstance(text, str))
        if isinstance(entry, Include) and deepest:
            part, inner = included(entry, values)
            yield from _texts(part, inner, deepest - 1) if part else ()


def _names_experts(values: Mapping[str, Any]) -> bool:
    """Whether a configuration, or a part of it, has a field named for experts."""
    return any(
        "expert" in str(key) or (isinstance(part, Mapping) and _names_experts(part)) for key, part in values.items()
    )


def _by_kind(rows: Iterable[tuple[Row, Expected, bool]]) -> Mapping[str, tuple[Expected, ...]]:
    """The tensors by the field of `Prediction` that they belong to."""
    found: dict[str, list[Expected]] = {kind: [] for kind in ("expected", "tied", "buffers", "optional", "ahead")}
    for row, expected, tied in rows:
        found[_kind_of(row, tied=tied)].append(expected)
    return {kind: tuple(those) for kind, those in found.items()}


def _kind_of(row: Row, *, tied: bool) -> str:
    if row.buffer and not row.persistent:
        return "buffers"
    if row.ahead:
        return "ahead"
    if row.optional:
        return "optional"
    return "tied" if tied else "expected"


def _ahead(family: Family, config: Config) -> tuple[Expected, ...]:
    """The layers after the last that predict further tokens: built like it, but excluded from the model's own count."""
    number = config.values.get(family.ahead) if family.ahead else None
    if not isinstance(number, int) or not 0 < number <= MAX_AHEAD:
        return ()
    depth = formula.evaluate(DEPTH, Scope(family, config.values))
    longer = {
        **{name: _lengthened(value, depth, number) for name, value in config.values.items()},
        DEPTH: depth + number,
    }
    rows = (row for row in expand(family, longer, "body") if not (row[0].optional or row[0].ahead or row[0].buffer))
    found = ((expected, tuple(layer for layer in expected.layers or () if layer >= depth)) for _, expected, _ in rows)
    return tuple(expected._replace(layers=layers) for expected, layers in found if layers)


def _lengthened(value: Any, depth: int, number: int) -> Any:
    """A list with an entry for each layer, such as their types, with the last repeated for further layers."""
    return [*value, *value[-1:] * number] if isinstance(value, list) and len(value) == depth else value


def head_of(family: Family, config: Config) -> str:
    """The tables' name for the class: its suffix, or the family's own word.

    A language model with other towers has its head in a class of another suffix than a language model alone.
    """
    head = _suffix_of(family, config.architecture) or family.head
    other = _LIKE.get(head)
    return other if other and not family.has_head(head) and family.has_head(other) else head


#: Suffix of a class → that of the class with the same head in families of several towers.
_LIKE = {"ForCausalLM": "ForConditionalGeneration"}


def class_name(family: Family, config: Config, head: str) -> str:
    """The class of this suffix, named like the one that the configuration names: `BertForPreTraining`."""
    named, kind = config.architecture or "", (config.model_type or "").replace("-", "").replace("_", "")
    if head in family.classes:
        return head
    stem = named[: len(kind)] if named.lower().startswith(kind) else named.removesuffix(class_suffix(named) or named)
    if not stem:
        return "its body alone" if head in BARE else f"the family's {head}"
    return next((each for each, word in family.classes.items() if word == head and each.startswith(stem)), stem + head)


def knows_class(prediction: Prediction) -> bool:
    """Whether the table has the class that the configuration names, if it names one."""
    family: Family = prediction.config.family
    return _unknown_class(family, prediction.config, head_of(family, prediction.config)) is None


def _unknown_class(family: Family, config: Config, head: str) -> str | None:
    """What is predicted instead of the named class, if the table does not know it."""
    named = config.architecture
    suffix = _suffix_of(family, named)
    if not named or (suffix == head and family.has_head(head)):
        return None
    default = "its default class, " if suffix is None else ""
    instead = f"predicted as {default}{head}" if family.has_head(head) else "only its body is predicted"
    return f"{named} is not a class in the table of {family.name}: {instead}"


def _suffix_of(family: Family, named: str | None) -> str | None:
    return family.classes.get(named or "") or class_suffix(named)


def scope_of(prediction: Prediction) -> Scope:
    """The fields from which a prediction was made."""
    return Scope(prediction.config.family, prediction.config.values)
