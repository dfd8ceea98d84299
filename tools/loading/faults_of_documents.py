"""Faults of texts: configurations, tokenizers, templates, settings, pipelines, and those of any JSON."""

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
    """Remove a field, or make it null, of another type or of another value."""
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
    """Rename a field, give it another field's value, another form of its value, or add one."""
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
    """Replace a number by a word that JSON does not have."""

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


#: Syntax that JSON does not have, or has in two ways.
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


#: The document nested in another, or as a text.
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
    """Set a size to that of another model of the family, or to one that does not fit the others."""
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
    """Remove the declaration of packing, or change its method or numbers; or declare plain weights as packed."""
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
    """Change a setting of an adapter, mostly one that it has."""
    values = JSON.read(place.path)
    forms = FAULTS["adapter"]
    name = draw.choice([each for each in forms if each in values or draw.random() < 0.2] or list(forms))
    return drawn(f"adapter's {name}", JSON, {name: {name: forms[name]}})(place, draw)


def _component(place: Place, draw: random.Random) -> Done:
    """Give a part of a pipeline another class or library, null, or another folder."""
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

# --- the table ---------------------------------------------------------------------------------------


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
    ("*.jinja", 1, drawn("template", TEXT, {"another": _template})),
]
