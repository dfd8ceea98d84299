"""Would Transformers accept config.json and generation_config.json? Their fields and words.

`auditing/data/fields.json` has the classes and the types that their fields accept, extracted from Transformers.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from functools import partial
from math import inf
from typing import Any

from inspector.auditing import data
from inspector.auditing.loading import accepted_values as accepted
from inspector.auditing.loading.accepted_values import documents, fields, is_number, reported, shown, wrong_kind
from inspector.auditing.rule import Found, rule
from inspector.auditing.subject import Subject
from inspector.sources.listing import Entry
from inspector.units import integer, plural


@rule("config-field", "consistent", "error")
def config_field(subject: Subject) -> Iterator[Found]:
    """A field of config.json has a value of a type that Transformers does not accept.

    A string in place of a number, null in place of a size: its configuration classes check each field and refuse the
    file, which was edited or written by another program. Get the model's original.
    """
    for entry, own in documents(subject, "config.json"):
        if isinstance(own.get("model_type"), str) and "auto_map" not in own:
            yield from accepted.first_reported(_wrong_fields(own, own["model_type"], ""), entry.path, "field")


def _wrong_fields(own: Mapping[str, Any], kind: str, where: str, *, is_known: bool | None = None) -> Iterator[str]:
    """What is wrong with a configuration, and with those within it, which state no version of their own."""
    table = fields()["transformers"]
    is_known = accepted.not_newer(own, table) if is_known is None else is_known
    parts = table["parts"].get(kind, {})
    # Transformers checks no other layers than counted ones: PP-DocLayout has blocks.
    counted = "num_hidden_layers" in own or accepted.takes("transformers", kind, "num_hidden_layers") is not None
    for field, value in own.items():
        inner = value.get("model_type", parts.get(field)) if isinstance(value, Mapping) else None
        if isinstance(inner, str) and field.endswith("config") and field != "quantization_config":
            not_newer = is_known or accepted.not_newer(value, table)
            yield from _wrong_fields(value, inner, f"{where}{field}.", is_known=not_newer)
        elif should := wrong_kind("transformers", kind, field, value):
            yield f"{where}{field} is {shown(value)}, but should be {should}"
        elif (wrong := _wrong_value(field, value, kind)) is not None:
            yield f"{where}{field} is {wrong}"
        elif field in ("dtype", "torch_dtype") and not isinstance(value, str | dict | None):
            yield f"{where}{field} is {shown(value)}, but should be a string"
        elif field == "layer_types" and isinstance(value, list) and is_known and counted:
            words = dict.fromkeys(each for each in value[: accepted.MOST_ITEMS] if isinstance(each, str))
            odd = (each for each in words if each not in table["layer_types"])
            yield from (f"{where}layer_types has {shown(each)}, which is not a kind of layer" for each in odd)
        elif isinstance(value, str) and (wrong := _unknown_word(table, field, value, is_known=is_known)):
            yield f"{where}{field} is {shown(value)}: {wrong}"
    # Audio models' convolutions have a width, a stride and a kernel each (`validate_architecture`).
    convolutions = accepted.unequal_lengths(own, "conv_dim", "conv_stride", "conv_kernel")
    for what in (*_wrong_labels(own), *accepted.beyond_one(own), *_wrong_packing(own), *convolutions):
        yield where + what


def _wrong_packing(own: Mapping[str, Any]) -> Iterator[str]:
    """Checks quantization_config: Transformers needs a method in it. MLX, which writes a second key, does not."""
    how = own.get("quantization_config")
    if not isinstance(how, Mapping) or "quantization" in own:
        return
    if how.get("quant_method") is None and not (how.get("load_in_4bit") or how.get("load_in_8bit")):
        yield "quantization_config has no quant_method"
    block = how.get("weight_block_size")
    if how.get("quant_method") == "fp8" and isinstance(block, list) and len(block) != len(("rows", "columns")):
        yield f"quantization_config.weight_block_size is {shown(block)}, but should be two numbers"


def _wrong_value(field: str, value: Any, kind: str) -> str | None:
    """Describes a value of the right type with which the model cannot be built or called."""
    if field == "initializer_range" and isinstance(value, int | float) and value < 0:
        return f"{shown(value)}, but a standard deviation cannot be negative"
    if field == "pad_token_id" and value is None and kind in fields()["transformers"]["padded"]:
        return f"null, but {kind} counts positions from the padding token's id"
    return accepted.wrong_size(field, value)


def _most_similar(word: str, known: Collection[str], least: float) -> list[str]:
    """The known word that is most similar; None if none is similar enough."""
    from difflib import get_close_matches  # only if a word is unknown

    return get_close_matches(word.lower(), known, 1, least)


def _unknown_word(table: Mapping[str, Any], field: str, value: str, *, is_known: bool) -> str | None:
    """Why a value is refused, for the fields whose possible values are all known."""
    if field in ("dtype", "torch_dtype"):
        word = value.removeprefix("torch.")
        if word in table["dtypes"] and not word.startswith(tuple(data.overlay("config")["float_dtypes"])):
            return "not a floating-point dtype, which a model's parameters need"
        return None if word in table["dtypes"] or value == "auto" else "not a dtype of PyTorch"
    if field in table["activation_fields"]:
        table = table["activations"]  # a newer version may have more functions
        newer = not is_known and value and not _most_similar(value, table, 0.7)
        return None if value in table or newer else "not an activation function that Transformers knows"
    return None


def _wrong_labels(own: Mapping[str, Any]) -> Iterator[str]:
    """Checks id2label, an object whose keys are numbers."""
    labels = own.get("id2label")
    if labels is not None and not isinstance(labels, Mapping):
        yield f"id2label is {shown(labels)}, but should be an object"
    elif isinstance(labels, Mapping) and (odd := [key for key in labels if not key.lstrip("-").isdecimal()]):
        yield f"id2label has the key {shown(odd[0])}, but its keys should be numbers"


@rule("model-type", "consistent", "error")
def model_type(subject: Subject) -> Iterator[Found]:
    """`config.json` names no model type, or one that Transformers does not have.

    Transformers chooses the classes of model and tokenizer by `model_type`. Reported are values that no version can
    accept: one that is not a string, none although a class of Transformers is named, or an evident misspelling of a
    type.
    """
    for entry, own in documents(subject, "config.json"):
        yield from reported(_wrong_type(subject, entry, own), entry.path)


def _wrong_type(subject: Subject, entry: Entry, own: Mapping[str, Any]) -> Iterator[str]:
    table = fields()["transformers"]
    kind, classes = own.get("model_type"), own.get("architectures")
    first = classes[0] if isinstance(classes, list) and classes else None
    of_transformers = "transformers_version" in own and isinstance(first, str) and "auto_map" not in own
    inner = accepted.wrapped(own, "model_type")
    if kind is None and inner is not None and "transformers_version" in own[inner]:
        yield f"everything is nested under {inner!r:.40}, where Transformers does not look"
    elif "model_type" in own and not isinstance(kind, str):
        yield f"model_type is {shown(kind)}, but should be a string"
    elif of_transformers and not kind:
        yield f"no model_type, but {shown(classes)} needs one"
    elif not own.keys() - {"transformers_version"}:
        if _is_whole(subject, entry):
            yield "neither a model_type nor any other field of a model"
    elif _is_anonymous(own) and {"model.safetensors", "model.safetensors.index.json"} & subject.names_beside(entry):
        yield "neither a model_type nor a class, of which Transformers needs one"
    elif of_transformers and isinstance(kind, str) and kind not in table["fields"] and accepted.not_newer(own, table):
        near = [*_most_similar(kind, table["fields"], 0.75), *_of_class(str(first), table["fields"])]
        if near and str(first).lower().startswith(_plain(near[-1])[:4]):
            yield f"model_type {shown(kind)} is unknown to Transformers; {near[-1]!r} is known"


def _is_anonymous(own: Mapping[str, Any]) -> bool:
    """Whether a configuration written by Transformers names neither type nor class."""
    named = own.keys() & {"model_type", "architectures", "auto_map", "_class_name"}
    return "transformers_version" in own and not named


def _is_whole(subject: Subject, entry: Entry) -> bool:
    """Whether a configuration without fields belongs to weights of a Transformers model."""
    names = {each.name for each in subject.entries if each.folder == entry.folder}
    beside = names & {"tokenizer_config.json", "generation_config.json", "preprocessor_config.json"}
    return bool(beside and entry.size < 100 and names & {"model.safetensors", "pytorch_model.bin"})


def _of_class(name: str, known: Collection[str]) -> list[str]:
    """The type after which a class of Transformers is named: speech_to_text for Speech2TextForConditionalGeneration."""
    stem = re.sub(r"(For[A-Z]|Model|LMHead).*", "", name).lower().replace("2", "to")
    return [kind for kind in known if stem and _plain(kind).replace("2", "to") == stem][:1]


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


@rule("rope", "consistent", "error")
def rope(subject: Subject) -> Iterator[Found]:
    """The parameters of the rotary embedding are not those its kind needs.

    `rope_parameters`, or `rope_scaling` in older files: a factor is missing, the kind is unknown, longrope's lists do
    not have one number for each pair of a head's dimensions, or a value that should be a number is not. Transformers
    refuses the configuration or the model.
    """
    for entry, own in documents(subject, "config.json"):
        nested = own.get("text_config")
        known = accepted.is_of_transformers(own) and "auto_map" not in own
        for scope in (own, nested if isinstance(nested, Mapping) else {}) if known else ():
            for field in ("rope_parameters", "rope_scaling"):
                if isinstance(stated := scope.get(field), Mapping) and stated:
                    wrong = _wrong_rope(stated, scope, is_known=accepted.not_newer(own, fields()["transformers"]))
                    yield from reported((f"{field}: {what}" for what in wrong), entry.path)


def _wrong_rope(stated: Mapping[str, Any], scope: Mapping[str, Any], *, is_known: bool = False) -> Iterator[str]:
    table = data.overlay("rope")
    needed = table["needed"]
    for own in stated.values() if all(isinstance(each, Mapping) for each in stated.values()) else (stated,):
        kind = own.get("rope_type", own.get("type", "default"))
        for field in {*table["numbers"]} & own.keys():
            if own[field] is not None and not set(accepted.kind_of(own[field])) & set("if"):
                yield f"{field} is {shown(own[field])}, but should be a number"
        if not isinstance(kind, str):
            yield f"rope_type is {shown(kind)}"
        elif kind not in needed:
            if kind not in table["without_fields"] and (is_known or _most_similar(kind, (*needed, "default"), 0.6)):
                yield f"unknown kind {shown(kind)}"
        elif missing := [field for field in needed[kind] if own.get(field) is None]:
            yield f"{kind} needs {', '.join(missing)}"
        elif kind == "longrope":
            yield from _wrong_lengths(own, scope)


def _wrong_lengths(own: Mapping[str, Any], scope: Mapping[str, Any]) -> Iterator[str]:
    """Longrope's lists that do not have one number for each rotated pair of dimensions."""
    width, heads, head = (scope.get(field) for field in ("hidden_size", "num_attention_heads", "head_dim"))
    share = own.get("partial_rotary_factor", scope.get("partial_rotary_factor", 1.0))
    if type(head) is not int and type(width) is type(heads) is int and heads:
        head = width // heads
    if type(head) is not int or not is_number(share):
        return
    pairs = int(head * share) // 2
    for field in ("short_factor", "long_factor"):
        listed = own[field]
        if not isinstance(listed, list) or len(listed) != pairs:
            has = plural(len(listed), "number") if isinstance(listed, list) else shown(listed)
            yield f"{field} has {has}, but a head has {integer(pairs)} pairs of dimensions"


#: Stands in the table for any activation function.
_ACTIVATION = "activation"
_DEPTH = 4
#: The words that each field takes, and the sizes that numbers of heads or groups must divide, by model type.
_choices = partial(data.table, "choices")


@rule("config-choice", "consistent", "error")
def config_choice(subject: Subject) -> Iterator[Found]:
    """A field of config.json has a word that the model does not know, or sizes do not go together.

    `feat_extract_norm: "batch"`, 5 heads for a width of 32, a backbone's feature from a stage that it does not have:
    Transformers refuses to build the model. The file was edited, or belongs to another model. Unknown words are not
    reported if a newer version of Transformers than this program knows wrote the file.
    """
    for entry, own in documents(subject, "config.json"):
        if isinstance(own.get("model_type"), str) and "auto_map" not in own:
            wrong = _wrong_choices(own, own["model_type"], "", 0, is_known=accepted.not_newer(own, _choices()))
            yield from accepted.first_reported(wrong, entry.path)


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
    for field, taken in _choices()["words"].get(kind, {}).items():
        value = own.get(field)
        words = fields()["transformers"]["activations"] if taken == _ACTIVATION else taken
        listed = value if isinstance(value, list) else [value]
        odd = [each for each in listed if isinstance(each, str) and each not in words]
        # another rule checks these
        checked = taken == _ACTIVATION and field in fields()["transformers"]["activation_fields"]
        if odd and not checked:
            known = "an activation function" if taken == _ACTIVATION else f"one of {', '.join(words)}"
            yield f"{field} is {shown(odd[0])}, but should be {known:.120}"


def _not_divided(own: Mapping[str, Any], kind: str) -> Iterator[str]:
    for size, divisor in _choices()["divisors"].get(kind, ()):
        width, parts = own.get(size), own.get(divisor)
        if type(width) is type(parts) is int and parts > 0 and width > 0 and width % parts:
            yield f"{size} is {integer(width)}, which is not a multiple of {divisor} ({integer(parts)})"


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
            yield f"{field} is {integer(experts)}, which is not a multiple of n_group ({integer(groups)})"
    how = own.get("attn_implementation", own.get("_attn_implementation"))
    if isinstance(how, str) and not re.fullmatch(table["attention"], how):
        yield f"attn_implementation is {shown(how)}, which Transformers does not have"


def _wrong_stages(own: Mapping[str, Any], kind: str) -> Iterator[str]:
    """Wrong stages of a backbone, given by name and by place (`BackboneMixin.verify_out_features_out_indices`)."""
    stages, table = own.get("stage_names"), fields()["transformers"]
    if not isinstance(stages, list) or "out_features" not in own or kind not in table["fields"]:
        return
    names, places = own["out_features"], own.get("out_indices")
    odd = [each for each in names if each not in stages] if isinstance(names, list) else []
    listed, within = places if isinstance(places, list) else (), range(-len(stages), len(stages))
    beyond = [each for each in listed if type(each) is not int or each not in within]
    if odd:
        yield f"out_features has {shown(odd[0])}, which is not in stage_names"
    if beyond:
        yield f"out_indices has {shown(beyond[0])}, but there are {plural(len(stages), 'stage')}"
    if isinstance(names, list) and isinstance(places, list) and len(names) != len(places):
        yield f"out_features has {plural(len(names), 'stage')}, but out_indices {integer(len(places))}"


# --- generation_config.json, within the bounds of `GenerationConfig.validate` and logits_process ----------------------

_FILE = "generation_config.json"


@rule("generation-field", "consistent", "error")
def generation_field(subject: Subject) -> Iterator[Found]:
    """A field of generation_config.json has a value of a type that generation does not accept.

    Loading, or the first call of `generate`, raises a type error. Get the model's original file, or delete this one.
    """
    for entry, own in documents(subject, _FILE):
        yield from reported(_wrong_settings(own, subject.document(entry.folder + "config.json")), entry.path)


def _wrong_settings(own: Mapping[str, Any], config: Mapping[str, Any]) -> Iterator[str]:
    for field, value in own.items():
        if value is not None and (should := wrong_kind("generation", "any", field, value)):
            yield f"{field} is {shown(value)}, but should be {should}"
    start, several = own.get("decoder_start_token_id"), own.get("num_return_sequences")
    if config.get("is_encoder_decoder") is True and start is own.get("bos_token_id") is None:
        yield "neither decoder_start_token_id nor bos_token_id, so decoding cannot start"
    alone = not own.get("do_sample") and own.get("num_beams") in (None, 1)
    if type(several) is int and several > 1 and alone:
        yield f"num_return_sequences is {integer(several)}, but there is neither sampling nor beam search"
    if type(start) is int and start < 0:
        yield f"decoder_start_token_id is {integer(start)}: no token has such an id"


@rule("generation-value", "consistent", "error")
def generation_value(subject: Subject) -> Iterator[Found]:
    """A field of generation_config.json has a value that `generate` refuses.

    A temperature of 0 with sampling, `top_p` above 1, an unknown kind of cache: the file cannot be loaded, or the first
    call of `generate` fails. Values that only sampling uses are not looked at without `do_sample`.
    """
    for entry, own in documents(subject, _FILE):
        yield from accepted.first_reported([*_out_of_range(own), *_unknown_words(own), *_wrong_lists(own)], entry.path)
        share = own.get("top_p")
        if own.get("do_sample") and isinstance(share, int | float) and share > 1:
            what = f"top_p is {shown(share)}: above 1 it is ignored, and all tokens are drawn from"
            yield Found(what, entry.path, severity="warning")


def _out_of_range(own: Mapping[str, Any]) -> Iterator[str]:
    for field, allowed in data.overlay("generation")["ranges"].items():
        value = own.get(field)
        if "with" in allowed and not own.get(allowed["with"]):
            continue
        most, least = allowed.get("most", inf), allowed.get("least", -inf)
        if is_number(value) and not (allowed.get("above", -inf) < value and least <= value <= most):
            yield f"{field} is {shown(value)}, but should be {_range(**allowed)}"
        elif isinstance(value, str):
            yield f"{field} is {shown(value)}, but should be a number"


def _range(above: float | None = None, least: float | None = None, most: float | None = None, **_: str) -> str:
    low = f"at least {least:g}" if above is None else f"more than {above:g}"
    return low if most is None else f"{low} and at most {most:g}"


def _unknown_words(own: Mapping[str, Any]) -> Iterator[str]:
    words, table = fields()["words"], data.overlay("generation")
    names = ("early_stopping", "cache_implementation", "watermarking_config")
    stopping, cache, mark = (own.get(name) for name in names)
    if isinstance(stopping, str) and stopping != "never":
        yield f'early_stopping is {shown(stopping)}, but should be true, false or "never"'
    if isinstance(cache, str) and cache not in (*words["cache_implementations"], *table["caches"]):
        yield f"cache_implementation is {shown(cache)}, which is not a kind of cache"
    odd = sorted(mark.keys() - {*words["watermark_fields"]}) if isinstance(mark, Mapping) else []
    if odd:
        yield f"watermarking_config has no field {odd[0]!r:.40}"
    for field in table["ids"]:
        value = own.get(field)
        texts = [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, str)]
        if texts:
            yield f"{field} has {shown(texts[0])}, but should have ids"


def _wrong_lists(own: Mapping[str, Any]) -> Iterator[str]:
    """Lists of lists of ids."""
    for field in data.overlay("generation")["lists_of_ids"]:
        value = own.get(field)
        words = value if isinstance(value, list) else []
        if value == [] or any(not isinstance(each, list) for each in words):
            yield f"{field} is {shown(value)}, but should be a list of lists of ids"
    bias = own.get("sequence_bias")
    if isinstance(bias, Mapping):
        yield "sequence_bias is an object, but should be a list of pairs: ids, and a number"
