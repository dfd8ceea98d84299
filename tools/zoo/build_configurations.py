"""Configurations: their fields, including nested ones, and similar new ones with other values."""

from __future__ import annotations

import copy
import dataclasses
import functools
from typing import TYPE_CHECKING, Any

from transformers import PreTrainedConfig

from zoo.build_models import Unbuildable

if TYPE_CHECKING:
    from collections.abc import Iterator

Path_ = tuple[str, ...]
Overrides = dict[Path_, Any]

GENERIC = set(PreTrainedConfig().to_dict()) | {
    "model_type", "transformers_version", "dtype", "num_labels", "architectures", "auto_map", "id2label",
    "label2id", "rope_parameters", "rope_scaling", "use_cache", "initializer_range",
}  # fmt: skip
KEEP = {"tie_word_embeddings", "is_encoder_decoder", "chunk_size_feed_forward"}

MISSING = object()


def nested_configs(config: PreTrainedConfig) -> dict[str, PreTrainedConfig]:
    return {k: v for k, v in vars(config).items() if isinstance(v, PreTrainedConfig)}


@functools.cache
def class_defaults(cls: Any) -> dict[str, Any]:
    try:
        return cls().to_dict()
    except Exception:
        return {}


def own_differences(config: PreTrainedConfig) -> dict[str, Any]:
    """Fields in which a configuration differs from the default one of its class."""
    default = class_defaults(config.__class__)
    nested = nested_configs(config)
    skip = {"transformers_version", "model_type", *nested}
    return {
        key: value
        for key, value in config.to_dict().items()
        if key not in skip and (key not in default or default[key] != value)
    }


def construct(template: PreTrainedConfig, overrides: Overrides) -> PreTrainedConfig:
    """A new configuration like the template, with other values of some (nested) fields.

    The constructor is run again, so that fields derived from others (layer patterns, say) follow.
    """

    def make(node: PreTrainedConfig, prefix: Path_) -> PreTrainedConfig:
        arguments = own_differences(node)
        for name, child in nested_configs(node).items():
            arguments[name] = make(child, (*prefix, name))
        for path, value in overrides.items():
            if path[:-1] == prefix:
                arguments[path[-1]] = copy.deepcopy(value)
            elif path[:-2] == prefix and isinstance(field_value(node, path[-2]), dict):
                table = arguments.get(path[-2]) or copy.deepcopy(field_value(node, path[-2]))
                arguments[path[-2]] = {**table, path[-1]: copy.deepcopy(value)}
        return type(node)(**arguments)

    try:
        return make(template, ())
    except Exception as error:
        raise Unbuildable(f"{type(error).__name__}: {error}") from error


def field_value(config: PreTrainedConfig, name: str) -> Any:
    """A field, also if its value differs between layers (a plain access then raises)."""
    return config._getattr_without_heterogeneous_validation(name, MISSING)


def walk(config: PreTrainedConfig, prefix: Path_ = ()) -> Iterator[tuple[Path_, Any, str, type]]:
    """Every field of a configuration that may shape a model: path, value, annotation, class."""
    known = dataclasses.fields(config) if dataclasses.is_dataclass(config) else ()
    fields = {field.name: field for field in known}
    nested = nested_configs(config)
    for name in [*fields, *(k for k in vars(config) if k not in fields)]:
        value = field_value(config, name)
        if name in nested or name.startswith("_") or value is MISSING:
            continue
        if (name in GENERIC and name not in KEEP) or (fields and name not in fields):
            continue
        annotation = fields[name].type if name in fields else ""
        text = annotation if isinstance(annotation, str) else str(annotation)
        if isinstance(annotation, type):
            text = annotation.__name__
        yield (*prefix, name), value, text, type(config)
    for name, child in nested.items():
        yield from walk(child, (*prefix, name))


def is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def attribute_maps(config: PreTrainedConfig) -> dict[str, dict[str, str]]:
    """Other names of fields, by the dotted path of the (nested) configuration ("" is the top)."""
    maps = {"": dict(config.attribute_map)} if config.attribute_map else {}
    for name, child in nested_configs(config).items():
        for path, aliases in attribute_maps(child).items():
            maps[f"{name}.{path}".rstrip(".")] = aliases
    return maps
