"""Faults of texts: configurations, tokenizers, templates, settings, pipelines, and what any JSON may have."""

from __future__ import annotations

import json
import random
import re
from typing import Any

from fault import (
    FAULTS,
    GONE,
    JSON,
    TEXT,
    Done,
    OneOf,
    Place,
    Table,
    drawn,
    holder_of,
    of_another_type,
    other_value,
    places_in,
    write_json,
)

Document = dict[str, Any]

# --- any JSON -------------------------------------------------------------------------------------


def _field(place: Place, draw: random.Random) -> Done | None:
    """A field is removed, null, of another type, or has another value."""
    document = JSON.read(place.path)
    kept = ("vocab", "transformers_version", "_diffusers_version")
    places = [each for each in places_in(document) if each[0] not in kept]
    if not places:
        return None
    at = draw.choice(places)
    inner = holder_of(document, at)
    old = inner[at[-1]]
    how = draw.choice(("removed", "null", "of another type", "changed", "changed"))
    if how == "removed":
        del inner[at[-1]]
    else:
        inner[at[-1]] = None if how == "null" else (of_another_type if how[0] == "o" else other_value)(old, draw)
        if inner[at[-1]] == old and type(inner[at[-1]]) is type(old):
            return None
    write_json(place.path, document)
    now = "" if how == "removed" else f" → {str(inner[at[-1]])[:40]!r}"
    return f"field {how}", f"{'.'.join(map(str, at))} {str(old)[:40]!r}{now}"


def _field_otherwise(place: Place, draw: random.Random) -> Done | None:
    """A field has another name, another field's value, its value in another form; or there is one more."""
    document = JSON.read(place.path)
    places = [each for each in places_in(document) if isinstance(each[-1], str) and each[0] != "vocab"]
    if not places:
        return None
    at = draw.choice(places)
    inner = holder_of(document, at)
    name, old = at[-1], inner[at[-1]]
    how = draw.choice(("renamed", "exchanged", "form", "form", "more", "of another download"))
    if how == "renamed":
        new = draw.choice((name.upper(), name + "s", name[:-1], name.replace("_", "-"), "_" + name))
        items = list(inner.items())
        inner.clear()
        inner.update({new if key == name else key: value for key, value in items})
    elif how == "exchanged":
        alike = [key for key, value in inner.items() if type(value) is type(old) and key != name and value != old]
        if not alike:
            return None
        other = draw.choice(alike)
        inner[name], inner[other] = inner[other], old
    elif how == "form":
        forms = [str(old), [old], float(old) if isinstance(old, int) else None, {"value": old}, json.dumps(old)]
        inner[name] = draw.choice(forms)
    elif how == "more":
        inner[draw.choice(("comment", "_extra", "use_flash", "notes"))] = draw.choice((1, "text", [1, 2], {"a": None}))
    else:
        found = [own for each in place.elsewhere() if isinstance(own := JSON.read(each), dict)]
        values = [each[name] for each in found if len(at) == 1 and name in each and each[name] != old]
        if not values:
            return None
        inner[name] = draw.choice(values)
    write_json(place.path, document)
    return f"field {how}", f"{'.'.join(map(str, at))} {str(old)[:40]!r} → {str(inner.get(name, ''))[:40]!r}"


def _number(word: str) -> Any:
    """A number gives way to a word that JSON does not have."""

    def way(text: str, draw: random.Random) -> str | None:
        numbers = [*re.finditer(r"(?<=: )-?[0-9.e-]+(?=[,\n}])", text)]
        if not numbers:
            return None
        one = draw.choice(numbers)
        return text[: one.start()] + word + text[one.end() :]

    return way


def _field_twice(text: str, draw: random.Random) -> str | None:
    fields = [*re.finditer(r'"(\w+)": ("[^"\n]*"|[0-9.]+)(?=,\n)', text)]
    if not fields:
        return None
    one = draw.choice(fields)
    return text[: one.end()] + f', "{one[1]}": ' + ('"other"' if one[2][0] == '"' else "7") + text[one.end() :]


def _conflict(text: str, draw: random.Random) -> str:
    lines = text.splitlines()
    at = draw.randrange(len(lines))
    lines[at : at + 1] = ["<<<<<<< HEAD", lines[at], "=======", lines[at], ">>>>>>> main"]
    return "\n".join(lines)


#: What JSON does not have, or has in two ways.
_syntax = drawn(
    "JSON with {}",
    TEXT,
    {
        "comma": lambda text, draw: re.sub(r"(\s*[}\]])\s*$", r",\1", text),
        "comment": lambda text, draw: text.replace("{", "{ // as trained\n", 1),
        "single quotes": lambda text, draw: text.replace('"', "'"),
        "NaN": _number("NaN"),
        "Infinity": _number("Infinity"),
        "twice": _field_twice,
        "escapes": lambda text, draw: text.replace("_", "\\u005f"),
        "Python": lambda text, draw: text.replace("true", "True").replace("false", "False").replace("null", "None"),
        "tabs": lambda text, draw: text.replace('": "', '": "\t', 1),
        "conflict": _conflict,
    },
)


def _first_half(value: Any, draw: random.Random) -> Any:
    half = len(value) // 2
    return dict(list(value.items())[:half]) if isinstance(value, dict) else value[:half]


#: The document lies within another, or stands as a text.
_wrapped = drawn(
    "document {}",
    JSON,
    {
        "in a list": lambda value, draw: [value],
        "under a key": lambda value, draw: {draw.choice(("config", "model", "data")): value},
        "as text": lambda value, draw: json.dumps(value),
        "its first half": _first_half,
    },
)

# --- configurations -------------------------------------------------------------------------------

_SIZES = re.compile(r"(size|dim|num|layers|heads|width|depth|rank|channels|positions|experts|factor|kernel|stride)")


def _size(values: Document, draw: random.Random) -> Document | None:
    """A size is that of another member of the family, or one that does not go with the others."""
    places = [each for each in places_in(values) if isinstance(each[-1], str) and _SIZES.search(each[-1])]
    draw.shuffle(places)
    for at in places:
        inner = holder_of(values, at)
        old = inner[at[-1]]
        if isinstance(old, bool) or not isinstance(old, int | list) or not old:
            continue
        if isinstance(old, list):
            doubled = [each * 2 if isinstance(each, int) else each for each in old]
            inner[at[-1]] = draw.choice((old[::-1], [*old, 1], old[1:], doubled))
        else:
            inner[at[-1]] = draw.choice((old * 2, old + 2, old * 3 // 2, max(1, old // 2), 7, 1))
        return values if inner[at[-1]] != old else None
    return None


def _packing(place: Place, draw: random.Random) -> Done | None:
    """How weights are packed is gone, of another method, or has other numbers; or plain weights are called packed."""
    values = JSON.read(place.path)
    own = values.get("quantization_config")
    if own is None:
        if draw.random() < 0.7:
            return None
        values["quantization_config"] = draw.choice(FAULTS["packings"])
        write_json(place.path, values)
        return "packing declared", str(values["quantization_config"])[:60]
    how = draw.choice(("gone", "method", "number", "list"))
    detail = how
    if how == "gone":
        del values["quantization_config"]
    elif how == "method":
        own["quant_method"] = draw.choice(("gptq", "awq", "fp8", "bitsandbytes", "exl2", "unknown", None))
    else:
        kinds = (int, list, bool) if how == "number" else (list,)
        names = [each for each in own if isinstance(own[each], kinds)]
        if not names:
            return None
        detail = draw.choice(names)
        old = own[detail]
        own[detail] = not old if isinstance(old, bool) else old * 2 if isinstance(old, int) else old[:-1]
    write_json(place.path, values)
    return f"packing: {how}", detail


# --- adapters, pipelines, modules -----------------------------------------------------------------


def _adapter(place: Place, draw: random.Random) -> Done | None:
    """A setting of an adapter, mostly one that it has."""
    values = JSON.read(place.path)
    forms = FAULTS["adapter"]
    name = draw.choice([each for each in forms if each in values or draw.random() < 0.2] or list(forms))
    return drawn(f"adapter's {name}", JSON, {name: {name: forms[name]}})(place, draw)


def _component(place: Place, draw: random.Random) -> Done:
    """A part of a pipeline has another class or library, is null, or lies in another folder."""
    values = JSON.read(place.path)
    name = draw.choice([name for name, each in values.items() if isinstance(each, list) and each and each[0]])
    library, kind = values[name]
    ways: dict[str, Document] = {
        "class": {name: OneOf([library, each] for each in FAULTS["components"])},
        "library": {name: OneOf([each, kind] for each in ("transformers", "diffusers", "my_code", "optimum", name))},
        "null": {name: [None, None]},
        "folder": {"_note": "moved"},
        "gone": {name: GONE},
        "more": {
            draw.choice(("refiner", "safety_checker", "feature_extractor")): ["transformers", "CLIPImageProcessor"]
        },
        "pipeline": {
            "_class_name": OneOf(["StableDiffusionPipeline", "DDPMPipeline", "FluxPipeline", "MyPipeline", ["a", "b"]])
        },
        "form": {name: OneOf([kind, [library], [library, kind, "x"], {"class": kind}])},
    }
    done = drawn("component {}", JSON, ways)(place, draw)
    if done and done[1] == "folder":
        (place.folder / name).rename(place.folder / f"{name}_old")
    assert done
    return done[0], name


def _module(values: list[Document], draw: random.Random, **fields: Any) -> list[Document]:
    draw.choice(values).update({key: draw.choice(each) for key, each in fields.items()})
    return values


def _without_one(values: list[Document], draw: random.Random) -> list[Document]:
    gone = draw.choice(values)
    return [each for each in values if each is not gone]


def _without_field(values: list[Document], draw: random.Random) -> list[Document]:
    one = draw.choice(values)
    del one[draw.choice(sorted(one))]
    return values


OLD_MODULES = "sentence_transformers.models"
_modules = drawn(
    "modules: {}",
    JSON,
    {
        "order": lambda values, draw: values[::-1],
        "path": lambda values, draw: _module(values, draw, path=("9_Other", "", "../x", "1_Pooling/x")),
        "type": lambda values, draw: _module(values, draw, type=(f"{OLD_MODULES}.Normalize", f"{OLD_MODULES}.Pooling")),
        "unknown type": lambda values, draw: _module(
            values, draw, type=("my.module.Pool", f"{OLD_MODULES}.Nothing", "os.path")
        ),
        "gone": _without_one,
        "twice": lambda values, draw: [*values, draw.choice(values)],
        "field gone": _without_field,
    },
)

# --- tokenizers -----------------------------------------------------------------------------------


def _longer(document: Document, draw: random.Random) -> Document:
    vocab, count = document["model"]["vocab"], draw.choice((1, 3, 40, 200))
    if isinstance(vocab, dict):
        highest = max(vocab.values())
        vocab |= {f"zz{number}": highest + 1 + number for number in range(count)}
    else:
        vocab += [[f"zz{number}", -9.0] for number in range(count)]
    return document


def _shorter(document: Document, draw: random.Random) -> Document:
    vocab, count = document["model"]["vocab"], draw.choice((1, 3, 40, 200))
    if isinstance(vocab, dict):
        for token in draw.sample(sorted(vocab), min(count, len(vocab) - 1)):
            del vocab[token]
    else:
        document["model"]["vocab"] = vocab[:-count]
    return document


_vocabulary = drawn("vocabulary {}", JSON, {"longer": _longer, "shorter": _shorter})


def _of_model(name: Any, value: Any) -> Any:
    """A field of a tokenizer's model, of this name or of the function's, is what a function makes of the model."""

    def way(document: Document, draw: random.Random) -> Document | None:
        own = document["model"]
        new = value(own, draw)
        field = name(own) if callable(name) else name
        return None if new is None else document | {"model": own | {field: new}}

    return way


def _other_form(own: Document, draw: random.Random) -> Any:
    vocab = own["vocab"]
    return (
        [[token, 0.0] for token in vocab] if isinstance(vocab, dict) else {each[0]: at for at, each in enumerate(vocab)}
    )


def _other_id(change: Any) -> Any:
    """A token has another id."""

    def value(own: Document, draw: random.Random) -> Document | None:
        vocab = own["vocab"]
        if not isinstance(vocab, dict):
            return None
        token = draw.choice(sorted(vocab))
        return vocab | {token: change(vocab[token])}

    return _of_model("vocab", value)


MODELS = ("BPE", "WordPiece", "Unigram", "WordLevel", "Chars")
#: Ids twice, negative, as texts or with holes; or the model under another name.
_model = drawn(
    "tokenizer's {}",
    JSON,
    {
        "model type": _of_model(
            "type", lambda own, draw: draw.choice([each for each in MODELS if each != own.get("type")])
        ),
        "unknown token": _of_model(
            lambda own: "unk_id" if own.get("type") == "Unigram" else "unk_token",
            lambda own, draw: 9999 if own.get("type") == "Unigram" else "zz?",
        ),
        "form": _of_model("vocab", _other_form),
        "ids twice": _other_id(lambda number: 5),
        "hole": _other_id(lambda number: number + 1000),
        "text id": _other_id(str),
        "negative": _other_id(lambda number: -1),
    },
)


def _merges(change: Any) -> Any:
    """The merges are what a function makes of them; None removes them."""

    def way(document: Document, draw: random.Random) -> Document | None:
        own = document["model"]
        if not own.get("merges"):
            return None
        return document | {"model": {**own, "merges": change(own["merges"])}}

    return way


def _without_merges(document: Document, draw: random.Random) -> Document | None:
    return document if document["model"].pop("merges", None) else None


_merge_faults = drawn(
    "merges: {}",
    JSON,
    {
        "gone": _without_merges,
        "unknown pieces": _merges(lambda merges: [*merges, ["qq", "zz"]]),
        "half of them": _merges(lambda merges: merges[: len(merges) // 2]),
    },
)


def _added(change: Any) -> Any:
    """The added tokens are what a function makes of them."""

    def way(document: Document, draw: random.Random) -> Document | None:
        added = document["added_tokens"]
        return document | {"added_tokens": change(added, draw)} if len(added) > 1 else None

    return way


def _one_added(change: Any) -> Any:
    """One of the added tokens has other fields."""

    def way(added: list[Document], draw: random.Random) -> list[Document]:
        one = draw.choice(added)
        return [each | change(each, draw) if each is one else each for each in added]

    return _added(way)


def _more_added(added: list[Document], draw: random.Random) -> list[Document]:
    return [*added, {**draw.choice(added), "id": draw.choice((310, 999)), "content": "<|more|>"}]


def _less_a_field(added: list[Document], draw: random.Random) -> list[Document]:
    gone = draw.choice(sorted(added[0]))
    return [{key: value for key, value in added[0].items() if key != gone}, *added[1:]]


def _without_added(added: list[Document], draw: random.Random) -> list[Document]:
    gone = draw.choice(added)
    return [each for each in added if each is not gone]


_added_tokens = drawn(
    "added tokens: {}",
    JSON,
    {
        "id": _one_added(lambda token, draw: {"id": draw.choice((token["id"] + 1, 5000, 4))}),
        "text": _one_added(lambda token, draw: {"content": token["content"] + "x"}),
        "gone": _added(_without_added),
        "more": _added(_more_added),
        "twice": _added(lambda added, draw: [*added, added[0]]),
        "unsorted": _added(lambda added, draw: added[::-1]),
        "empty": _added(lambda added, draw: []),
        "dictionary": _added(lambda added, draw: {each["content"]: each["id"] for each in added}),
        "less a field": _added(_less_a_field),
        "same id": _added(lambda added, draw: [added[0], {**added[1], "id": added[0]["id"]}, *added[2:]]),
        "ids moved": _added(lambda added, draw: [{**each, "id": each["id"] + 400} for each in added]),
    },
)


def _lines(change: Any) -> Any:
    """The lines are what a function makes of them and of a count."""

    def way(text: str, draw: random.Random) -> str:
        return "\n".join(change(text.splitlines(), draw.choice((1, 10, 300)))) + "\n"

    return way


def _list(more: str) -> Any:
    """A list of tokens or merges is shorter, longer, or has a line twice."""
    return drawn(
        "lines of a list: {}",
        TEXT,
        {
            "fewer": _lines(lambda lines, count: lines[: max(1, len(lines) - count)]),
            "more": _lines(lambda lines, count: [*lines, *(more.format(number) for number in range(count))]),
            "twice": _lines(lambda lines, count: [*lines[: len(lines) // 2], lines[-1], *lines[len(lines) // 2 :]]),
        },
    )


def _template(text: str, draw: random.Random) -> str:
    forms = next(ways for _, _, title, ways in FAULTS["fields"] if title == "template")
    form = draw.choice(forms["template"]["chat_template"])
    return form if isinstance(form, str) else json.dumps(form)


def _ways(ways: Any) -> dict[str, Any]:
    return ways if isinstance(ways, dict) else {str(each): each for each in ways}


DOCUMENTS: Table = [
    *((pattern, weight, drawn(title, JSON, _ways(ways))) for pattern, weight, title, ways in FAULTS["fields"]),
    ("*.json", 2, _field),
    ("*.json", 1, _field_otherwise),
    ("*.json", 1, _syntax),
    ("*.json", 1, _wrapped),
    ("config.json", 2, drawn("size of another model", JSON, {"another": _size})),
    ("config.json", 1, _packing),
    ("adapter_config.json", 4, _adapter),
    ("model_index.json", 4, _component),
    ("modules.json", 2, _modules),
    ("tokenizer.json", 3, _vocabulary),
    ("tokenizer.json", 2, _added_tokens),
    ("tokenizer.json", 1, _merge_faults),
    ("tokenizer.json", 1, _model),
    ("*.jinja", 1, drawn("template", TEXT, {"another": _template})),
    ("vocab.txt", 1, _list("zz{}")),
    ("merges.txt", 1, _list("zz{} yy")),
]
