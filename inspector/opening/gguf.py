"""GGUF files: key-values → a configuration with Transformers' field names; what they claim; and checks of a split.

Splits are written by llama.cpp's `gguf-split`: `split.no` counts from 0, file names from 1; `split.tensors.count`
counts all parts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from inspector.architectures import GGUF_ARCHITECTURE, PROJECTOR, GgufArchitecture
from inspector.architectures.data.gguf_keys import (
    BESIDE,
    COUNTS,
    FIELDS,
    FIELDS_OF,
    GENERAL_FIELDS,
    LISTS,
    MODEL_TYPES,
    MODEL_TYPES_BY_KEY,
    NO_MODELS,
    PROJECTORS,
    PROJECTORS_IN_ONE,
    SHOWN,
    SHOWN_LAYERS,
    SHOWN_ROWS,
    TOKENS,
)
from inspector.architectures.prediction import NO_MODEL
from inspector.architectures.scope import PER_LAYER, TIED
from inspector.formats.ggml import FILE_TYPES
from inspector.formats.gguf.values import KeyValues
from inspector.model import Claim, Config, Finding, Header
from inspector.units import first_few, integer, plural

#: A per-layer array longer than this is not one.
MOST_LAYERS = 4096
#: The most tensors of an mmproj file that are examined for facts that no key states.
MOST_SHOWN = 10_000

#: The start of a name in a block, the block's number, and the rest of the name.
_BLOCK = re.compile(r"(.*?blk)\.([0-9]{1,4})\.(.*)", re.DOTALL)
_NO_LETTER = re.compile(r"[^0-9A-Za-z_]")


#: The output head's own matrix. If it is not stored, llama.cpp uses the token embedding.
HEAD = "output.weight"


def config_of(files: Sequence[Header]) -> Config | None:
    """The configuration in the first file that has one: later shards of a split have none."""
    for header in files:
        if not isinstance(header.metadata, KeyValues):
            continue
        other = _no_model(header.metadata, header.path)
        if other is not None:
            return other
        if "general.architecture" in header.metadata:
            config = _config(header.metadata, header.path)
            beside = header.metadata["general.architecture"] in BESIDE
            shown = _facts_of_tower(files) if beside else _facts_of_tensors(files, header.metadata)
            return config and config._replace(values=_towers(config.values, header.metadata, shown))
    return None


def _no_model(pairs: KeyValues, path: str) -> Config | None:
    """What the file is if not a model: an adapter, statistics, a direction. None for models."""
    architecture = _value(pairs, "general.architecture")
    for kind in (_value(pairs, "general.type"), architecture):
        if isinstance(kind, str) and kind in NO_MODELS:
            what, keys = NO_MODELS[kind]
            values = {"architectures": [what], NO_MODEL: what}
            if isinstance(architecture, str):
                values |= {
                    "model_type": _model_type(architecture, pairs),
                    GGUF_ARCHITECTURE: GgufArchitecture(architecture),
                }
            return Config(values, "gguf", path, _notes(pairs, keys))
    return None


def _notes(pairs: KeyValues, keys: Mapping[str, str]) -> tuple[str, ...]:
    """A note for the given keys; none for keys that are absent or false."""
    values = {text: _value(pairs, key) for key, text in keys.items()}
    given = [text.format(str(value)[:60]) for text, value in values.items() if value not in (None, False)]
    return (", ".join(given),) if given else ()


def _facts_of_tensors(files: Sequence[Header], pairs: KeyValues) -> Mapping[str, Any]:
    """Facts that no key states but the presence of a tensor shows: biases, gates, classifiers, and whether an absent
    head is the token embedding.

    Nothing for a vocabulary without tensors. In a split with missing parts, a tensor's absence shows nothing.
    """
    parts = _value(pairs, "split.count")
    shapes: dict[str, tuple[int, ...]] = {}
    layers: dict[str, set[int]] = {weight: set() for weight in SHOWN_LAYERS.values()}
    for header in files:
        for tensor in header.tensors:
            layer, name = _in_block(tensor.name)
            shapes[name] = tensor.shape
            weight = name.removesuffix(".weight")
            if weight in layers and layer.isdecimal() and len(layer) < 6:
                layers[weight].add(int(layer))
    if not shapes:
        return {}
    if isinstance(parts, int) and parts > len(files):
        present = {field: True for field, names in SHOWN.items() if any(name in shapes for name in names.split())}
        return {**present, TIED: False} if HEAD in shapes else present
    return {
        TIED: HEAD not in shapes,
        **{field: any(name in shapes for name in names.split()) for field, names in SHOWN.items()},
        **{field: sorted(layers[weight]) for field, weight in SHOWN_LAYERS.items()},
        **{field: shapes[name][0] for field, name in SHOWN_ROWS.items() if shapes.get(name)},
    }


def _facts_of_tower(files: Sequence[Header]) -> Mapping[str, Any]:
    """The tensors of a tower beside a language model and their sizes, as fields; blocks share those of the first.

    `mm.a.mlp.1.weight` of 80 × 64 gives `has_mm_a_mlp_1_weight`, `mm_a_mlp_1_rows` and `mm_a_mlp_1_columns`, and
    `a.proj_blk.3.ffn_up.weight` that `a_proj_blk_count` is at least 4. llama.cpp takes widths in a projector, and which
    biases exist, from the tensors: no key states them.
    """
    shown: dict[str, Any] = {}
    first: dict[str, int] = {}  # word → the block whose sizes it has
    for tensor in islice((tensor for header in files for tensor in header.tensors), MOST_SHOWN):
        block = _BLOCK.match(tensor.name)
        number = int(block[2]) if block else 0
        if block:
            count = f"{_NO_LETTER.sub('_', block[1])}_count"
            shown[count] = max(shown.get(count, 0), number + 1)
        word = _NO_LETTER.sub("_", f"{block[1]}.{block[3]}" if block else tensor.name)[:80]
        if first.setdefault(word, number) < number:
            continue
        first[word] = number
        shown[f"has_{word}"] = True
        if tensor.shape and not word.endswith("_bias"):
            stem = word.removesuffix("_weight")
            shown |= {f"{stem}_rows": tensor.shape[0], f"{stem}_columns": tensor.shape[-1]}
            shown |= {f"{stem}_middle": tensor.shape[1]} if len(tensor.shape) > 2 else {}
    return shown


def _towers(values: Mapping[str, Any], pairs: KeyValues, shown: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration with what tensors show; with one nested for each tower if a file has two towers."""
    both = {**values, **shown}
    kind = str(values.get(PROJECTOR, ""))
    kinds = PROJECTORS_IN_ONE.get(kind) or {
        tower: _value(pairs, f"clip.{tower}.projector_type") for tower in ("vision", "audio")
    }
    if not all(kinds.values()) or ("+" not in kind and kind not in PROJECTORS_IN_ONE):
        return both
    for tower, projector in kinds.items():
        common = {key: values[key] for key in ("model_type", GGUF_ARCHITECTURE)}
        own = dict(_fields_of_tower(pairs, tower))
        layers = _by_layer(own)
        own |= {PER_LAYER: layers} if layers else {}
        both[f"{tower}_config"] = {**common, PROJECTOR: str(projector), **own, **shown}
    return both


def _fields_of_tower(pairs: KeyValues, tower: str) -> Iterator[tuple[str, Any]]:
    for key, fields in FIELDS_OF["clip"].items():
        value = _value(pairs, f"clip.{key}") if key.startswith(f"{tower}.") else None
        if value is not None:
            yield from ((field, value) for field in fields)


def _in_block(name: str) -> tuple[str, str]:
    """`blk.7.attn_q.bias` → `7` and `attn_q.bias`; for other names, "" and the whole name."""
    if not name.startswith("blk."):
        return "", name
    layer, _, rest = name[len("blk.") :].partition(".")
    return layer, rest


def _config(pairs: KeyValues, path: str) -> Config | None:
    architecture = pairs["general.architecture"]
    if not isinstance(architecture, str):
        return None
    values: dict[str, Any] = {
        "model_type": _model_type(architecture, pairs),
        GGUF_ARCHITECTURE: GgufArchitecture(architecture),
    }
    values.update(_fields(architecture, pairs))
    notes: list[str] = []
    if architecture in BESIDE:
        what, keys = BESIDE[architecture]
        values["architectures"] = [what]
        values[PROJECTOR] = "+".join(dict.fromkeys(str(kind) for key in PROJECTORS if (kind := _value(pairs, key))))
        notes += _notes(pairs, keys)
    _add_label(values, pairs)
    tokens = pairs.fields.get(TOKENS)
    if "vocab_size" not in values and tokens is not None and tokens.items is not None:
        values["vocab_size"] = tokens.items
        notes.append(f"vocab_size {integer(tokens.items)} is the number of {TOKENS}")
    ahead = values.get("num_nextn_predict_layers")
    if isinstance(ahead, int) and isinstance(values.get("num_hidden_layers"), int) and ahead > 0:
        values["num_hidden_layers"] -= ahead  # GGUF's blocks include them, Transformers' layers do not
        notes.append(f"{integer(ahead)} of the blocks predict further tokens")
    layers = _by_layer(values)
    if layers:
        values[PER_LAYER] = layers
    return Config(values, "gguf", path, tuple(notes))


def _fields(architecture: str, pairs: KeyValues) -> Iterator[tuple[str, Any]]:
    """The fields given by keys."""
    own = {f"{architecture}.{key}": fields for key, fields in {**FIELDS, **FIELDS_OF.get(architecture, {})}.items()}
    for key, fields in {**own, **{key: (field,) for key, field in GENERAL_FIELDS.items()}}.items():
        value = _value(pairs, key)
        if value is not None:
            yield from ((field, value) for field in fields)
    for key, field in COUNTS.items():
        array = pairs.fields.get(f"{architecture}.{key}")
        if array is not None and array.items is not None:
            yield field, array.items
    for key, field in LISTS.items():
        array = pairs.fields.get(f"{architecture}.{key}")
        if array is not None and array.items is not None and array.items <= MOST_LAYERS:
            yield field, pairs[f"{architecture}.{key}"]


def _by_layer(values: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Layer → the fields that have their own value there."""
    layers: dict[str, dict[str, Any]] = {}
    for field, numbers in values.items():
        if not isinstance(numbers, list) or field in LISTS.values():
            continue
        for layer, number in enumerate(numbers):
            layers.setdefault(str(layer), {})[field] = number
    return layers


def _add_label(values: dict[str, Any], pairs: KeyValues) -> None:
    """Append the converter's size label ("8B", "8x7B") to the name, where people would look for it."""
    label = _value(pairs, "general.size_label")
    if isinstance(label, str):
        values["_name_or_path"] = f"{values.get('_name_or_path', '')} {label}".strip()


def _model_type(architecture: str, pairs: KeyValues) -> str:
    key, model_type = MODEL_TYPES_BY_KEY.get(architecture, ("", ""))
    if model_type and _value(pairs, f"{architecture}.{key}"):
        return model_type
    return MODEL_TYPES.get(architecture, architecture)


def _value(pairs: KeyValues, key: str) -> Any:
    """A scalar, or an array of one number per layer: that number if all layers agree."""
    field = pairs.fields.get(key)
    if field is None:
        return None
    if field.item is None:
        return pairs[key]
    if field.items is None or not 0 < field.items <= MOST_LAYERS:
        return None
    values = pairs[key]
    return values[0] if all(value == values[0] for value in values) else values


def claims(files: Iterable[Header], logical: int, scheme: str | None) -> Iterator[Claim]:
    """The first file's claims about the whole, next to the counts."""
    pairs = next((header.metadata for header in files if "general.architecture" in header.metadata), {})
    if not isinstance(pairs, KeyValues):
        return
    kinds = {_value(pairs, "general.type"), pairs["general.architecture"]}
    for key, counted in _claimable(logical, scheme):
        if key == "general.name" and not kinds.isdisjoint({*NO_MODELS, *BESIDE}):
            continue  # the name of the model that it accompanies
        value = _value(pairs, key)
        if value is not None and not isinstance(value, list):
            stated = FILE_TYPES.get(value, f"file type {value}") if key == "general.file_type" else str(value)
            yield Claim(key, stated[:80], counted)


def _claimable(logical: int, scheme: str | None) -> tuple[tuple[str, int | str], ...]:
    return (
        ("general.name", integer(logical) + " parameters"),
        ("general.size_label", integer(logical) + " parameters"),
        ("general.parameter_count", logical),
        ("general.file_type", scheme or "no quantization"),
    )


# --- a GGUF that is split into files ------------------------------------------------------------


def check_split(files: Sequence[Header]) -> tuple[Finding, ...]:
    """Parts that are missing, duplicated or from another split, and tensors that are missing or duplicated."""
    return tuple(_split_findings(files))


def _split_findings(files: Sequence[Header]) -> Iterator[Finding]:
    first = files[0]
    counts = {header.path: _number(header, "split.count") for header in files}
    for path, count in counts.items():
        if count != counts[first.path]:
            what = (
                f"split.count is {count if count is not None else 'absent'}, and {counts[first.path]} in {first.path}"
            )
            yield Finding("split-count", "error", what, path)
    numbers = Counter(_number(header, "split.no") for header in files)
    for number, times in numbers.items():
        if number is not None and times > 1:
            yield Finding("split-number", "error", f"{times} files have split.no {number}", first.path)
    total = counts[first.path]
    if len(files) > 1 and total is not None and len(files) < total <= len(files) + 100_000:
        absent = [number + 1 for number in range(total) if number not in numbers]
        what = f"{plural(len(absent), 'part')} of {total} missing: {first_few(absent)}"
        yield Finding("missing-part", "error", what, first.path)
    if (total or 0) < len(files) and len(files) > 1:
        stated = f"split.count is {'absent' if total is None else integer(total)}"
        yield Finding("split-count", "error", f"{stated}, but there are {integer(len(files))} parts", first.path)
    yield from _tensors_of_split(files, total)


def _tensors_of_split(files: Sequence[Header], total: int | None) -> Iterator[Finding]:
    names = Counter(tensor.name for header in files for tensor in header.tensors)
    stated = _number(files[0], "split.tensors.count")
    if len(files) == total and stated is not None and stated != names.total():
        what = f"split.tensors.count says {plural(stated, 'tensor')}; the parts have {integer(names.total())}"
        yield Finding("split-tensors", "error", what, files[0].path)
    for header in files:
        twice = sum(names[tensor.name] > 1 for tensor in header.tensors)
        if twice:
            what = f"{plural(twice, 'tensor')} of this part are in several parts"
            yield Finding(
                "split-duplicate", "error", what, header.path, next(t.name for t in header.tensors if names[t.name] > 1)
            )


def _number(header: Header, key: str) -> int | None:
    value = header.metadata.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
