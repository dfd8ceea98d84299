"""Configurations: finding them, reading them, and converting them to Transformers' field names."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from inspector.architectures import formula, model_types
from inspector.architectures.data.dialects import OWN_TYPES, Dialect, dialects, type_of_class
from inspector.architectures.facts import SENTENCE_LENGTH
from inspector.errors import ConfigError, FormatError, NetworkError, SourceError
from inspector.model import PACKING_FIELDS, Config
from inspector.sources import Place
from inspector.units import escape, integer

#: A configuration file larger than this is not read. Real ones with long lists reach some 100 kB, a tokenizer's 1.2 MB.
MAX_CONFIG = 4 * 1024 * 1024
#: Each object or list costs 60 bytes of memory or more. A tokenizer's configuration has one for each special token.
MAX_BRACKETS = 200_000
#: Names of a configuration next to the weights, in order of precedence.
FILES = ("config.json", "params.json")
#: PEFT's configuration of an adapter.
ADAPTER_FILE = "adapter_config.json"
#: Files of quantization libraries, used if the configuration declares no packing → their `quant_method`.
PACKING_FILES: Mapping[str, str] = {
    "hf_quant_config.json": "modelopt",
    "quantize_config.json": "gptq",
    "quant_config.json": "awq",
    "quanto_qmap.json": "quanto",
}
#: sentence-transformers' file beside a model, by the names that its `Transformer.load` tries (6.2).
SENTENCE_FILES = tuple(
    f"sentence_{name}_config.json"
    for name in ("bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet")
)
#: Dtypes in configurations → safetensors' names.
DTYPES: Mapping[str, str] = {
    "float32": "F32",
    "float": "F32",
    "fp32": "F32",
    "float16": "F16",
    "half": "F16",
    "fp16": "F16",
    "bfloat16": "BF16",
    "bf16": "BF16",
    "float64": "F64",
    "float8_e4m3fn": "F8_E4M3",
    "float8_e5m2": "F8_E5M2",
    "int8": "I8",
    "uint8": "U8",
}


def find(place: Place, beside: str = "") -> Config | None:
    """The configuration that the place names, or has, or has in its folder `beside`; None if there is none.

    Raises:
        ConfigError: it exists but cannot be read.
    """
    chosen = place.selected or ""
    named = (chosen,) if chosen.endswith(".json") and not chosen.endswith(".index.json") and not beside else ()
    for path in named or [beside + name for name in FILES]:
        if path in place.files:
            config = _with_packing(place, beside, parse(_text(place, path), path))
            return _with_sentence_length(place, beside, config)
    return None


def adapter(place: Place, beside: str = "") -> Mapping[str, Any] | None:
    """The fields of an adapter's configuration; None if there is none. Raises ConfigError."""
    path = beside + ADAPTER_FILE
    return parse(_text(place, path), path).values if path in place.files else None


def base_of(adapter: Mapping[str, Any], folder: Path | None) -> Config | None:
    """The configuration of an adapter's base: within the adapter's folder, or of that name in the Hub's cache.

    A path outside would let an untrusted adapter name files of this machine, so it is not followed: `--config` names
    the base's configuration. Raises ConfigError.
    """
    name = adapter.get("base_model_name_or_path")
    if not isinstance(name, str) or Path(name).is_absolute() or ".." in Path(name).parts:
        return None
    if folder is not None and (path := _within(folder, f"{name}/{FILES[0]}")):
        return load(path)
    from inspector.sources.hub_cache import cached_file  # only for adapters

    cached = cached_file(name, FILES[0], MAX_CONFIG)
    return load(cached)._replace(path=f"{name}/{FILES[0]}") if cached else None


def _within(folder: Path, path: str) -> Path | None:
    """A file inside a folder, not reached through a link that leaves it; None if there is none."""
    file = folder / path
    try:
        return file if file.is_file() and file.resolve().is_relative_to(folder.resolve()) else None
    except (OSError, ValueError):  # too long for a path, or with a NUL in it
        return None


def _with_packing(place: Place, beside: str, config: Config) -> Config:
    """The configuration with the packing declaration that some libraries keep in a separate file."""
    if config.declared_packing:
        return config
    for name, method in PACKING_FILES.items():
        path = beside + name
        if path in place.files:
            declared = parse(_text(place, path), path).values
            return config._replace(values={**config.values, PACKING_FIELDS[0]: {"quant_method": method, **declared}})
    return config


def _with_sentence_length(place: Place, beside: str, config: Config) -> Config:
    """The configuration with the longest input that sentence-transformers gives the model, which is its own."""
    path = next((beside + name for name in SENTENCE_FILES if beside + name in place.files), None)
    if path is None:
        return config
    try:
        length = parse(_text(place, path), path).values.get("max_seq_length")
    except ConfigError:  # the audit reports it
        return config
    known = isinstance(length, int) and not isinstance(length, bool) and length > 0
    return config._replace(values={**config.values, SENTENCE_LENGTH: length}) if known else config


def _text(place: Place, path: str) -> str:
    try:
        return place.read_text(path, MAX_CONFIG)
    except NetworkError:
        raise
    except (SourceError, FormatError) as error:
        raise ConfigError(f"the configuration cannot be read: {error}") from error


def load(path: Path) -> Config:
    """A configuration file that the user named, or the one in a folder.

    Raises:
        ConfigError: it cannot be read, or is not a configuration.
    """
    if path.is_dir():
        path = next((path / name for name in FILES if (path / name).exists()), path / FILES[0])
    try:
        if path.stat().st_size > MAX_CONFIG:
            raise ConfigError(f"{escape(str(path))} has over {integer(MAX_CONFIG)} bytes: not a configuration")
        return parse(path.read_text(encoding="utf-8-sig"), str(path))
    except OSError as error:
        raise ConfigError(f"{escape(str(path))}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{escape(str(path))} is not UTF-8 text: byte {error.start}") from error


def parse(text: str, path: str) -> Config:
    """A configuration from its JSON text. Raises ConfigError."""
    try:
        values = loads(text)
    except json.JSONDecodeError as error:
        raise ConfigError(
            f"{escape(path)} is not JSON: {error.msg}, line {error.lineno} column {error.colno}"
        ) from error
    except ValueError as error:
        raise ConfigError(
            f"{escape(path)} is not a readable JSON document: nested too deep, or a number too long"
        ) from error
    if not isinstance(values, dict):
        raise ConfigError(f"{escape(path)} is JSON, but not an object of fields")
    return normalize(values, path)


def loads(text: str, hook: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Any:
    """Parse untrusted JSON. Raises ValueError if it is invalid, or made to exhaust memory.

    Args:
        hook: makes a value from each object's pairs, as in `json.loads`.
    """
    if text.count("{") + text.count("[") > MAX_BRACKETS:
        raise ValueError("more objects and lists than a configuration has")
    try:
        return json.loads(text, object_pairs_hook=hook)
    except RecursionError as error:
        raise ValueError("nested too deep") from error


def repeated_keys(text: str) -> Iterator[tuple[str, bool]]:
    """Keys that appear twice in one object of a JSON document, and whether their values differ.

    Python's reader uses the last of them, others the first. Raises ValueError as `loads` does.
    """
    found: dict[str, bool] = {}

    def hook(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) != len(pairs):
            seen: set[str] = set()
            for key, value in pairs:
                if key in seen or value != made[key]:
                    found[key] = found.get(key, False) or value != made[key]
                seen.add(key)
        return made

    loads(text, hook)
    yield from found.items()


def normalize(values: Mapping[str, Any], path: str | None = None) -> Config:
    """A configuration with Transformers' field names, whichever dialect it was written in."""
    config = Config(values, "config.json", path)
    typed = values.get("model_type") or values.get("_class_name") or type_of_class(config.architecture or "")
    for dialect in dialects():
        if dialect.marks <= values.keys() and (not typed or _is_written_in(dialect, values)):
            return _translate(values, dialect, path)
    own = next((name for name in _classes(config) if name in OWN_TYPES), None)
    named = values.get("_class_name")  # such a class may have its own argument `model_type`
    if own or not values.get("model_type") or (isinstance(named, str) and named in model_types()):
        return _with_type(config, own)
    return config if named or config.family else _by_class(config)


def _is_written_in(dialect: Dialect, values: Mapping[str, Any]) -> bool:
    """Whether a configuration with a `model_type` has a dialect's keys only: mlx-examples' Llama, with Meta's sizes."""
    fields = {dialect.keys.get(mark, mark) for mark in dialect.marks} - dialect.marks
    implied = [model_type for _, model_type in dialect.model_types]
    return bool(fields) and values.get("model_type") in implied and fields.isdisjoint(values)


def _by_class(config: Config) -> Config:
    """A configuration whose `model_type` no table has, as the type of its class, by which engines choose their code."""
    model_type = type_of_class(config.architecture or "")
    if model_type is None:
        return config
    note = f"read as {model_type}, by the class {config.architecture}: no table has model_type {config.model_type}"
    return config._replace(values={**config.values, "model_type": model_type}, notes=(note,))


def _classes(config: Config) -> Iterator[str]:
    """The class of a configuration, then those of the code that comes with the model."""
    yield config.architecture or ""
    own_code = config.values.get("auto_map")
    if isinstance(own_code, Mapping):
        for auto in ("AutoModel", "AutoConfig"):
            if isinstance(named := own_code.get(auto), str):
                yield named.rpartition(".")[2]


def _with_type(config: Config, own: str | None) -> Config:
    """The configuration with the type that its class implies, or else the configuration of its only part.

    Args:
        own: a class with a type of its own, whatever `model_type` says.
    """
    own_class = config.values.get("_class_name")  # diffusers' configurations have no `model_type`
    if isinstance(own_class, str) and own_class:
        return config._replace(values={**config.values, "model_type": own_class})
    named = own or config.architecture or ""
    model_type = OWN_TYPES.get(named) or type_of_class(named)
    if model_type:
        note = f"model_type = {model_type}, by the class {named}"
        return config._replace(values={**config.values, "model_type": model_type}, notes=(note,))
    text = config.values.get("text_config")
    if isinstance(text, Mapping) and text.get("model_type"):
        parts = [key for key, value in config.values.items() if key.endswith("_config") and isinstance(value, Mapping)]
        whole = str(text["model_type"]).removesuffix("_text")
        if len(parts) > 1 and whole in model_types():
            note = f"model_type = {whole}, by text_config"
            return config._replace(values={**config.values, "model_type": whole}, notes=(note,))
        if len(parts) == 1:
            return config._replace(values=text, notes=("the configuration of text_config, its only part",))
    return config


def _translate(values: Mapping[str, Any], dialect: Dialect, path: str | None) -> Config:
    own = {key: value for key, value in values.items() if value is not None and dialect.unknown.get(key) != value}
    scope = {**dialect.constants, **own}
    translated = {dialect.keys[key]: value for key, value in own.items() if key in dialect.keys}
    notes = []
    for name, text in dialect.derived.items():
        if name in translated or not formula.names(text) <= scope.keys():
            continue
        value = formula.evaluate(text, scope)
        if value is None:
            continue
        translated[name] = value
        if isinstance(value, int):
            notes.append(f"{name} = {formula.show(text)} = {formula.show_numbers(text, scope)} = {integer(value)}")
    fitting = (
        model_type
        for condition, model_type in dialect.model_types
        if formula.names(condition) <= own.keys() and formula.evaluate(condition, own)
    )
    model_type = next(fitting, dialect.model_types[-1][1])
    values = {**scope, **translated, "model_type": model_type}
    return Config(values, dialect.kind, path, tuple(notes))


def dtype_of(config: Config | None) -> str | None:
    """The dtype that the configuration names, by safetensors' name; None if it names none."""
    if config is None:
        return None
    for values in (config.values, *(v for v in config.values.values() if isinstance(v, Mapping))):
        for field in ("dtype", "torch_dtype"):
            name = values.get(field)
            if isinstance(name, str) and (found := DTYPES.get(name.removeprefix("torch."))):
                return found
    return None
