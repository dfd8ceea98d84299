"""Would Transformers build a model from these words and sizes? What each type takes was found by asking it.

`auditing/data/choices.json` has the words that a field takes, and the sizes that a number of heads or groups divides.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from inspector.auditing import data
from inspector.auditing.loading.accepted_values import documents, fields, first_reported, not_newer, shown
from inspector.auditing.rule import Found, rule
from inspector.auditing.subject import Subject
from inspector.units import integer, plural

#: Stands in the table for any activation function.
_ACTIVATION = "activation"
_DEPTH = 4


def _table() -> dict[str, Any]:
    return data.table("choices")


@rule("config-choice", "consistent", "error")
def config_choice(subject: Subject) -> Iterator[Found]:
    """A field of config.json has a word that the model does not know, or sizes do not go together.

    `feat_extract_norm: "batch"`, 5 heads for a width of 32, a backbone's feature from a stage that it does not have:
    Transformers refuses to build the model. The file was edited, or belongs to another model. Unknown words are not
    reported if a newer version of Transformers than this program knows wrote the file.
    """
    for entry, own in documents(subject, "config.json"):
        if isinstance(own.get("model_type"), str) and "auto_map" not in own:
            wrong = _wrong_choices(own, own["model_type"], "", 0, is_known=not_newer(own, _table()))
            yield from first_reported(wrong, entry.path)


def _wrong_choices(own: Mapping[str, Any], kind: str, where: str, depth: int, *, is_known: bool) -> Iterator[str]:
    """What is wrong with a configuration, and with those within it."""
    parts = fields()["transformers"]["parts"].get(kind, {})
    words = _wrong_words(own, kind) if is_known else ()
    for what in (*_wrong_experts(own), *words, *_not_divided(own, kind), *_wrong_stages(own, kind)):
        yield where + what
    for field, value in own.items():
        inner = value.get("model_type", parts.get(field)) if isinstance(value, Mapping) else None
        if isinstance(inner, str) and depth < _DEPTH:
            yield from _wrong_choices(value, inner, f"{where}{field}.", depth + 1, is_known=is_known)


def _wrong_words(own: Mapping[str, Any], kind: str) -> Iterator[str]:
    for field, taken in _table()["words"].get(kind, {}).items():
        value = own.get(field)
        words = fields()["transformers"]["activations"] if taken == _ACTIVATION else taken
        listed = value if isinstance(value, list) else [value]
        odd = [each for each in listed if isinstance(each, str) and each not in words]
        checked = taken == _ACTIVATION and field in fields()["transformers"]["activation_fields"]  # by another rule
        if odd and not checked:
            known = "an activation function" if taken == _ACTIVATION else f"one of {', '.join(words)}"
            yield f"{field} is {shown(odd[0])}, but should be {known:.120}"


def _not_divided(own: Mapping[str, Any], kind: str) -> Iterator[str]:
    for size, divisor in _table()["divisors"].get(kind, ()):
        width, parts = own.get(size), own.get(divisor)
        if type(width) is type(parts) is int and parts > 0 and width > 0 and width % parts:
            yield f"{size} is {integer(width)}, which is no multiple of {divisor} ({integer(parts)})"


def _wrong_experts(own: Mapping[str, Any]) -> Iterator[str]:
    """More experts for a token than there are, unequal groups of experts, an unknown way of computing attention."""
    chosen, groups, table = own.get("num_experts_per_tok"), own.get("n_group"), data.overlay("config")
    for field in table["experts"]:
        experts = own.get(field)
        if type(experts) is not int or experts < 1:
            continue
        if type(chosen) is int and chosen > experts:
            yield f"num_experts_per_tok is {integer(chosen)}, but {field} is {integer(experts)}"
        if type(groups) is int and groups > 0 and experts % groups:
            yield f"{field} is {integer(experts)}, which is no multiple of n_group ({integer(groups)})"
    how = own.get("attn_implementation", own.get("_attn_implementation"))
    if isinstance(how, str) and not re.fullmatch(table["attention"], how):
        yield f"attn_implementation is {shown(how)}, which Transformers does not have"


def _wrong_stages(own: Mapping[str, Any], kind: str) -> Iterator[str]:
    """A backbone's stages, by name and by place (`BackboneMixin.verify_out_features_out_indices`)."""
    stages, table = own.get("stage_names"), fields()["transformers"]
    if not isinstance(stages, list) or "out_features" not in own or kind not in table["fields"]:
        return
    names, places = own["out_features"], own.get("out_indices")
    odd = [each for each in names if each not in stages] if isinstance(names, list) else []
    beyond = [each for each in places if not _is_place(each, len(stages))] if isinstance(places, list) else []
    if odd:
        yield f"out_features has {shown(odd[0])}, which is not in stage_names"
    if beyond:
        yield f"out_indices has {shown(beyond[0])}, but there are {plural(len(stages), 'stage')}"
    if isinstance(names, list) and isinstance(places, list) and len(names) != len(places):
        yield f"out_features has {plural(len(names), 'stage')}, but out_indices {integer(len(places))}"


def _is_place(number: Any, length: int) -> bool:
    return type(number) is int and -length <= number < length
