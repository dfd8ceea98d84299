"""Would the libraries accept the configurations? The type of each field's value, and consistency between fields.

`auditing/data/fields.json` has the types, as extracted from the classes of Transformers and PEFT.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from functools import cache, partial
from typing import Any

from inspector.auditing import data
from inspector.auditing.rules.rule import Found, rule
from inspector.auditing.rules.subject import Subject
from inspector.model import Severity
from inspector.opening.configs import ADAPTER_FILE
from inspector.sources.listing import Entry
from inspector.units import integer, plural

_rule = partial(rule, group="consistent")

#: The most findings reported per configuration, and items of a list that are checked.
_MOST, _MOST_ITEMS = 8, 1_000
#: Sizes, of which none is negative.
SIZES = re.compile(
    r"(?:hidden|intermediate|embedding|vocab|projection|patch|image|ffn|codebook)_(?:size|dim)|(?:head|embed|cross_attention)_dim"
    r"|num_(?:hidden_|attention_|key_value_)?(?:layers|heads)|num_(?:mel_bins|experts|channels|labels)|\w+_groups"
    r"|(?:encoder|decoder)_(?:layers|ffn_dim|attention_heads)|d_model|d_ff|n_embd|n_layers?|n_heads?|(?:in|out)_channels"
)
#: Sizes that others are divided by.
DIVISORS = re.compile(
    r"(?:num_|encoder_|decoder_)attention_heads|num_key_value_heads|num_heads|n_heads?|\w+_groups|patch_size"
)


def fields() -> dict[str, Any]:
    """The table: `transformers` and `peft`, each with the types that its fields accept."""
    return data.table("fields")


def takes(library: str, kind: str, field: str) -> str | None:
    """The type letters that a model type's field accepts; None if it accepts anything, or has no such field."""
    table = fields()[library]
    if field in table["types"].get(kind, {}):
        return str(table["types"][kind][field])
    return _of(library, kind).get(field)


@cache
def _of(library: str, kind: str) -> dict[str, str]:
    """The fields of a type that are as usual."""
    table = fields()[library]
    usual = list(table["usual"].items())
    return dict(usual[place] for place in table["fields"].get(kind, ()))


#: Words for the letters of kinds, as people know them from JSON.
_WORDS = {
    "i": "a whole number",
    "f": "a number with a point",
    "s": "a text",
    "b": "true or false",
    "n": "null",
    "IFSLO": "a list",
    "d": "an object",
}


def kind_of(value: Any) -> str:
    """The letter of a value's kind; of a list its first item's, of an empty one every list's."""
    if isinstance(value, bool):
        return "b"
    if isinstance(value, dict) and value.keys() == {"__float__"}:  # how Transformers 5 writes numbers that JSON lacks
        return "f"
    for known, letter in ((int, "i"), (float, "f"), (str, "s"), (type(None), "n"), (dict, "d")):
        if isinstance(value, known):
            return letter
    if not value:
        return "IFSLO"
    if kind_of(value[0]) == "f":
        return "IF"
    items = {bool: "IFSLO", int: "I", float: "F", str: "S", list: "L", dict: "O", type(None): ""}
    found = items.get(type(value[0]), "IFSLO")
    return "IF" if found and found in "IF" else found


def wrong_kind(library: str, kind: str, field: str, value: Any) -> str | None:
    """The expected type of a field, if it has another."""
    taken = takes(library, kind, field)
    if taken is None:
        return None
    items = [[each] for each in value[:_MOST_ITEMS]] if isinstance(value, list) and value else [value]
    if all(set(kind_of(each)) & set(taken) or (each == [None] and set("IFSLO") <= set(taken)) for each in items):
        return None
    words = [text for letters, text in _WORDS.items() if set(letters) & set(taken)]
    return " or ".join(words) if words else "left out"


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)[:40]


# --- Transformers ---------------------------------------------------------------------------------


@_rule("config-field", "error")
def config_field(subject: Subject) -> Iterator[Found]:
    """A field of config.json has a value of a type that Transformers does not accept.

    A string in place of a number, null in place of a size: its configuration classes check each field and refuse. The
    file was edited, or written by another program: get the model's own.
    """
    for entry in subject.named("config.json"):
        own = subject.document(entry.path) if entry.name == "config.json" else {}
        if isinstance(own.get("model_type"), str) and "auto_map" not in own:
            wrong = list(_wrong_fields(own, own["model_type"], ""))
            yield from (Found(what, entry.path) for what in wrong[:_MOST])
            if len(wrong) > _MOST:
                yield Found(f"{plural(len(wrong) - _MOST, 'further field')} of other kinds", entry.path)


def _wrong_fields(own: Mapping[str, Any], kind: str, where: str) -> Iterator[str]:
    table = fields()["transformers"]
    parts = table["parts"].get(kind, {})
    for field, value in own.items():
        inner = value.get("model_type", parts.get(field)) if isinstance(value, Mapping) else None
        if isinstance(inner, str) and field.endswith("config") and field != "quantization_config":
            yield from _wrong_fields(value, inner, f"{where}{field}.")
        elif should := wrong_kind("transformers", kind, field, value):
            yield f"{where}{field} is {_shown(value)}, and should be {should}"
        elif (wrong := wrong_size(field, value)) is not None:
            yield f"{where}{field} is {wrong}"
        elif field == "initializer_range" and isinstance(value, int | float) and value < 0:
            yield f"{where}initializer_range is {_shown(value)}, and a deviation cannot be negative"
        elif field == "pad_token_id" and value is None and kind in table["padded"]:
            yield f"{where}pad_token_id is null, and {kind} counts positions from the padding"
        elif field in ("dtype", "torch_dtype") and not isinstance(value, str | dict | None):
            yield f"{where}{field} is {_shown(value)}, and should be a string"
        elif field == "layer_types" and isinstance(value, list) and _not_newer(own, table):
            odd = (each for each in value[:_MOST_ITEMS] if isinstance(each, str) and each not in table["layer_types"])
            yield from (f"{where}layer_types has {_shown(each)}, which is no kind of layer" for each in set(odd))
        elif isinstance(value, str) and (wrong := _unknown_word(table, field, value)):
            yield f"{where}{field} is {_shown(value)}: {wrong}"
    yield from (where + what for what in (*_wrong_labels(own), *_beyond_one(own)))


def wrong_size(field: str, value: Any) -> str | None:
    """What a size is, where it cannot be one: below 0, or 0 where others are divided by it."""
    if type(value) is not int or value > 0:
        return None
    if value < 0 and SIZES.fullmatch(field):
        return f"{integer(value)}, and a size cannot be negative"
    return "0, and sizes are divided by it" if value == 0 and DIVISORS.fullmatch(field) else None


def _near(word: str, known: Collection[str], least: float) -> list[str]:
    """The known word that is most similar; None if none is similar enough."""
    from difflib import get_close_matches  # only if a word is unknown

    return get_close_matches(word.lower(), known, 1, least)


def _unknown_word(table: Mapping[str, Any], field: str, value: str) -> str | None:
    """Why a word is refused, of the fields whose words are all known."""
    if field in ("dtype", "torch_dtype"):
        known = value.removeprefix("torch.") in table["dtypes"] or value == "auto"
        return None if known else "not a dtype of PyTorch"
    if field in table["activation_fields"]:
        known = value in table["activations"] or bool(value and not _near(value, table["activations"], 0.7))
        return None if known else "not an activation function that it knows"
    return None


def _wrong_labels(own: Mapping[str, Any]) -> Iterator[str]:
    """Labels: an object whose keys are numbers."""
    labels = own.get("id2label")
    if labels is not None and not isinstance(labels, Mapping):
        yield f"id2label is {_shown(labels)}, and should be an object"
    elif isinstance(labels, Mapping) and (odd := [key for key in labels if not key.lstrip("-").isdecimal()]):
        yield f"id2label has the key {_shown(odd[0])}, whose keys should be numbers"


@_rule("model-type", "error")
def model_type(subject: Subject) -> Iterator[Found]:
    """`config.json` names no model type, or one that Transformers does not have.

    `model_type` chooses the classes of model and tokenizer. Reported is what no version
    can have: not a string, nothing where a class of Transformers is named, or an evident misspelling of a type.
    """
    table = fields()["transformers"]
    for entry in subject.named("config.json"):
        if entry.name != "config.json":
            continue
        own = subject.document(entry.path)
        kind, classes = own.get("model_type"), own.get("architectures")
        first = classes[0] if isinstance(classes, list) and classes else None
        of_transformers = "transformers_version" in own and isinstance(first, str) and "auto_map" not in own
        if "model_type" in own and not isinstance(kind, str):
            yield Found(f"model_type is {_shown(kind)}, and should be a string", entry.path)
        elif of_transformers and not kind:
            yield Found(f"no model_type, and {_shown(classes)} needs one", entry.path)
        elif not own.keys() - {"transformers_version"} and _is_whole(subject, entry):
            yield Found("neither a model_type nor anything else of a model", entry.path)
        elif of_transformers and isinstance(kind, str) and kind not in table["fields"] and _not_newer(own, table):
            near = [*_near(kind, table["fields"], 0.75), *_of_class(str(first), table["fields"])]
            if near and str(first).lower().startswith(_flat(near[-1])[:4]):
                yield Found(f"model_type {_shown(kind)} is unknown to Transformers; {near[-1]!r} is known", entry.path)


def _is_whole(subject: Subject, entry: Entry) -> bool:
    """Whether a configuration without fields belongs to weights of a Transformers model."""
    names = {each.name for each in subject.entries if each.folder == entry.folder}
    beside = names & {"tokenizer_config.json", "generation_config.json", "preprocessor_config.json"}
    return bool(beside and entry.size < 100 and names & {"model.safetensors", "pytorch_model.bin"})


def _of_class(name: str, known: Collection[str]) -> list[str]:
    """The type that a class of Transformers is named after, as Speech2TextForConditionalGeneration is."""
    stem = re.sub(r"(For[A-Z]|Model|LMHead).*", "", name).lower().replace("2", "to")
    return [kind for kind in known if stem and _flat(kind).replace("2", "to") == stem][:1]


def _flat(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


def _not_newer(own: Mapping[str, Any], table: Mapping[str, Any]) -> bool:
    """Whether a configuration was written by a version whose types are all known here."""
    return _version(own.get("transformers_version")) <= _version(table["version"])


def _version(text: Any) -> tuple[int, ...]:
    parts = str(text).split(".")[:2]
    return tuple(int(part) for part in parts) if all(part.isdecimal() for part in parts) else (1 << 30,)


#: Kind of rotary embedding → fields without which Transformers refuses it (modeling_rope_utils). Those that the
#: configuration itself may have are not among them.
_ROPE: Mapping[str, tuple[str, ...]] = {
    "linear": ("factor",),
    "dynamic": ("factor",),
    "yarn": ("factor",),
    "longrope": ("short_factor", "long_factor"),
    "llama3": ("factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings"),
}
#: Fields of any kind that are computed with.
_NUMBERS = frozenset(
    {"rope_theta", "factor", "partial_rotary_factor", "attention_factor", "beta_fast", "beta_slow", "mscale"}
)
#: Kinds that exist without such fields: the default, others that single models have, old names.
_PLAIN_ROPE = frozenset({"default", "proportional", "axial", "mrope", "su", "none"})


@_rule("rope", "error")
def rope(subject: Subject) -> Iterator[Found]:
    """The parameters of the rotary embedding are not those that its kind needs.

    `rope_parameters`, or `rope_scaling` in older files: a factor is missing, the kind is unknown, longrope's lists are
    not one number for each pair of a head's dimensions, or what should be a number is none. Transformers refuses the
    configuration or the model.
    """
    for entry in subject.named("config.json"):
        own = subject.document(entry.path) if entry.name == "config.json" else {}
        known = own.get("model_type") in fields()["transformers"]["fields"] and "auto_map" not in own
        nested = own.get("text_config")
        for scope in (own, nested if isinstance(nested, Mapping) else {}) if known else ():
            for field in ("rope_parameters", "rope_scaling"):
                if isinstance(stated := scope.get(field), Mapping) and stated:
                    yield from (Found(f"{field}: {what}", entry.path) for what in _wrong_rope(stated, scope))


def _wrong_rope(stated: Mapping[str, Any], scope: Mapping[str, Any]) -> Iterator[str]:
    kinds = stated.values() if all(isinstance(each, Mapping) for each in stated.values()) else (stated,)
    for own in kinds:
        kind = own.get("rope_type", own.get("type", "default"))
        for field in _NUMBERS & own.keys():
            if own[field] is not None and not set(kind_of(own[field])) & set("if"):
                yield f"{field} is {_shown(own[field])}, and should be a number"
        if not isinstance(kind, str):
            yield f"rope_type is {_shown(kind)}"
        elif kind not in _ROPE:
            if kind not in _PLAIN_ROPE and _near(kind, (*_ROPE, "default"), 0.6):
                yield f"unknown kind {_shown(kind)}"
        elif missing := [field for field in _ROPE[kind] if own.get(field) is None]:
            yield f"{kind} needs {', '.join(missing)}"
        elif kind == "longrope":
            yield from _wrong_lengths(own, scope)


def _wrong_lengths(own: Mapping[str, Any], scope: Mapping[str, Any]) -> Iterator[str]:
    """Longrope's lists have one number for each rotated pair of dimensions."""
    width, heads, head = (scope.get(field) for field in ("hidden_size", "num_attention_heads", "head_dim"))
    share = own.get("partial_rotary_factor", scope.get("partial_rotary_factor", 1.0))
    if type(head) is not int and type(width) is type(heads) is int and heads:
        head = width // heads
    if type(head) is not int or not isinstance(share, int | float) or isinstance(share, bool):
        return
    pairs = int(head * share) // 2
    for field in ("short_factor", "long_factor"):
        listed = own[field]
        if not isinstance(listed, list) or len(listed) != pairs:
            has = plural(len(listed), "number") if isinstance(listed, list) else _shown(listed)
            yield f"{field} has {has}, and a head has {integer(pairs)} pairs of dimensions"


# --- generation -----------------------------------------------------------------------------------


@_rule("generation-field", "error")
def generation_field(subject: Subject) -> Iterator[Found]:
    """A field of generation_config.json has a value of a type that generation does not accept.

    Loading, or the first call of `generate`, raises a type error. Get the model's own file, or delete it.
    """
    for entry in subject.named("generation_config.json"):
        own = subject.document(entry.path)
        for field, value in own.items() if entry.name == "generation_config.json" else ():
            if value is not None and (should := wrong_kind("generation", "any", field, value)):
                yield Found(f"{field} is {_shown(value)}, and should be {should}", entry.path)
        beside = subject.document(entry.folder + "config.json")
        begins = [own.get(field) for field in ("decoder_start_token_id", "bos_token_id")]
        if (
            entry.name == "generation_config.json"
            and beside.get("is_encoder_decoder") is True
            and begins == [None, None]
        ):
            yield Found("neither decoder_start_token_id nor bos_token_id, with which decoding begins", entry.path)
        start = own.get("decoder_start_token_id")
        if type(start) is int and start < 0:
            yield Found(f"decoder_start_token_id is {integer(start)}: no token has such an id", entry.path)


# --- PEFT -----------------------------------------------------------------------------------------


@_rule("adapter-field", "error")
def adapter_field(subject: Subject) -> Iterator[Found]:
    """A field of adapter_config.json has a value that PEFT does not accept, or names a method that it does not have.

    PEFT makes the adapter from these fields alone, and refuses. A warning where a newer version than this program knows
    may have the method.
    """
    table = fields()["peft"]
    for entry in subject.named(ADAPTER_FILE):
        own = subject.document(entry.path)
        if entry.name != ADAPTER_FILE or ("peft_type" not in own and not _is_of_peft(own)):
            continue
        if "peft_type" not in own:
            yield Found("no peft_type, which says which method it is", entry.path)
            continue
        kind = own["peft_type"]
        if not isinstance(kind, str) or kind.upper() not in table["fields"]:
            newer = isinstance(kind, str) and _version(own.get("peft_version", "0")) > _version(table["version"])
            severity: Severity = "warning" if newer else "error"
            yield Found(f"peft_type {_shown(kind)} is not a method of PEFT", entry.path, severity=severity)
            continue
        wrong = [
            f"{field} is {_shown(value)}, and should be {should}"
            for field, value in own.items()
            if (should := wrong_kind("peft", kind.upper(), field, value)) and not _is_as_null(kind, field, value)
        ]
        task = own.get("task_type")
        if task is not None and task not in table["tasks"]:
            wrong.append(f"task_type is {_shown(task)}, which PEFT does not have")
        yield from (Found(what, entry.path) for what in (*wrong, *_wrong_targets(own))[:_MOST])


def _is_of_peft(own: Mapping[str, Any]) -> bool:
    """Whether a configuration without a method is PEFT's all the same."""
    return "peft_version" in own or {"base_model_name_or_path", "inference_mode", "task_type"} <= own.keys()


def _is_as_null(kind: str, field: str, value: Any) -> bool:
    """Whether a value is passed over as null is: PEFT asks `if config.field`, not what kind it is of."""
    return not value and "n" in (takes("peft", kind.upper(), field) or "")


_BIASES = ("none", "all", "lora_only")
#: Methods whose fields hold a number for each token of a prompt → the fields.
_ALONGSIDE = {"CPT": ("cpt_token_ids", "cpt_mask", "cpt_tokens_type_mask")}
#: Methods that are put into modules.
_TARGETED = frozenset({"LORA", "LOHA", "LOKR", "OFT", "BOFT", "VERA", "HRA", "LN_TUNING", "TRAINABLE_TOKENS", "MISS"})
#: Fields with a dropout probability.
_DROPOUT = re.compile(r"(?:\w+_)?(?:dropout|pdrop|drop_rate)(?:_p|_prob|_rate)?")


def _beyond_one(own: Mapping[str, Any]) -> Iterator[str]:
    """Invalid dropout probabilities: PyTorch refuses to create or call the module."""
    for field, value in own.items():
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if number and _DROPOUT.fullmatch(field) and not 0 <= value <= 1:
            yield f"{field} is {_shown(value)}, and a probability lies between 0 and 1"


def _wrong_targets(own: Mapping[str, Any]) -> Iterator[str]:
    """Constraints between fields."""
    for field in ("target_modules", "modules_to_save", "feedforward_modules"):
        listed = own.get(field)
        if isinstance(listed, list) and (odd := [each for each in listed if not isinstance(each, str)]):
            yield f"{field} has {_shown(odd[0])}, and should hold names"
        if isinstance(listed, Mapping) and listed:
            yield f"{field} is an object, and should be a list of names"
        if isinstance(listed, str) and listed[:1] in ("[", "{") and listed[-1:] in ("]", "}") and "'" in listed + '"':
            yield f"{field} is {_shown(listed)}: a list that was written as text"
    yield from _wrong_tokens(own)
    targets, forward = own.get("target_modules"), own.get("feedforward_modules")
    if isinstance(targets, list) and isinstance(forward, list):
        for name in sorted({*map(str, forward)} - {*map(str, targets)})[:1]:
            yield f"feedforward_modules has {name!r:.60}, which target_modules does not have"
    copies = own.get("layer_replication")
    if copies and not (isinstance(copies, list) and all(isinstance(each, list) and len(each) == 2 for each in copies)):
        yield f"layer_replication is {_shown(copies)}, and should be a list of pairs"
    if own.get("layers_pattern") and own.get("layers_to_transform") is None:
        yield "layers_pattern without layers_to_transform"
    yield from _wrong_values(own)


def _wrong_tokens(own: Mapping[str, Any]) -> Iterator[str]:
    """Lists that have a number for each token of a prompt."""
    lists = {field: own.get(field) for field in _ALONGSIDE.get(str(own.get("peft_type")).upper(), ())}
    for field, listed in lists.items():
        whole = isinstance(listed, list) and (field == "cpt_mask" or all(type(each) is int for each in listed))
        if not whole:
            yield f"{field} is {_shown(listed)}, and should be a list of whole numbers"
            return
    if len({len(listed) for listed in lists.values() if listed is not None}) > 1:
        yield f"{', '.join(lists)} have different lengths"


def _wrong_values(own: Mapping[str, Any]) -> Iterator[str]:
    """Values of the right kind that PEFT refuses."""
    rank = own.get("r")
    # OFT's r is 0 where blocks have a size, and AdaLoRA has `init_r`.
    if type(rank) is int and rank <= 0 and own.get("peft_type") not in ("OFT", "ADALORA"):
        yield f"r is {integer(rank)}: a rank must be positive"
    base, bias = own.get("base_model_name_or_path"), own.get("bias")
    if base and not isinstance(base, str):
        yield f"base_model_name_or_path is {_shown(base)}, and should be a string"
    if isinstance(bias, str) and bias not in _BIASES and not bias.endswith("_only"):
        yield f"bias is {_shown(bias)}, and should be one of {', '.join(_BIASES)}"
    if own.get("peft_type") in _TARGETED and own.get("target_modules") == [] and not own.get("target_parameters"):
        yield "target_modules names nothing to adapt"
    yield from _beyond_one(own)
