"""What a library answers about a model that it built: its tensors, its configuration and what its caches hold."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from inspector.architectures.naming.by_words import LONGEST
from inspector.errors import ConfigError

#: Tensors of one model that an answer may list.
MOST_TENSORS = 200_000
#: Names that a table can have: these characters have no meaning there.
_NAME = re.compile(r"[\w.\-]+")


class Probe(NamedTuple):
    """What became of the model where a field has another value."""

    field: str  # by dotted path
    value: Any
    answer: Any  # the Answer


class Held(NamedTuple):
    """A part of what one layer's cache holds, in elements per token, or per sequence for states."""

    kind: str  # full, sliding or recurrent
    keys: int
    values: int = 0
    window: int = 0
    kernel: int = 0
    heads: int = 0
    dtype: str = ""


class Answer(NamedTuple):
    """A model that a library built, on the meta device."""

    cls: str
    config: Mapping[str, Any]  # all fields, as the class completes them
    tensors: Mapping[str, tuple[tuple[int, ...], bool]]  # name → shape, and whether it is a buffer
    tied: Mapping[str, tuple[int, ...]]  # name → shape of those that are left out
    probes: tuple[Probe, ...] = ()  # what other configurations show
    held: tuple[tuple[Held, ...], ...] = ()  # what each layer's cache holds of a prompt; none if that is not known

    @property
    def lists(self) -> dict[str, list[Any]]:
        """Fields with a word, a number or a flag for each layer, by path."""
        found = dict(flattened(self.config)).items()
        return {path: each for path, each in found if isinstance(each, list) and are_words(each)}

    @property
    def everything(self) -> Iterator[tuple[str, tuple[int, ...], str]]:
        """Name, shape and kind of all tensors."""
        yield from ((name, shape, "buffer" if buffer else "") for name, (shape, buffer) in self.tensors.items())
        yield from ((name, shape, "tied") for name, shape in self.tied.items() if name not in self.tensors)


def answer_of(document: Any) -> Answer:
    """An answer from its JSON. Raises ConfigError if it is none."""
    try:
        cls, config, tensors, tied = (document[field] for field in ("class", "config", "tensors", "tied"))
        found = Answer(
            str(cls),
            dict(config),
            {_checked(name): (_shape(shape), kind == "buffer") for name, (shape, kind) in tensors.items()},
            {_checked(name): _shape(shape) for name, shape in tied.items()},
            tuple(Probe(str(each["field"]), each["value"], answer_of(each)) for each in document.get("probes", ())),
            tuple(tuple(map(_entry_of_cache, layer)) for layer in document.get("held") or ()),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ConfigError(f"what the library answered is not a list of tensors: {error}") from error
    if not found.tensors or len(found.tensors) > MOST_TENSORS:
        raise ConfigError(f"the library answered with {len(found.tensors)} tensors")
    return found


def _entry_of_cache(entry: Mapping[str, Any]) -> Held:
    kind, dtype = str(entry["kind"]), str(entry.get("dtype") or "")
    keys, values, window, kernel, heads = (
        _shape([entry.get(field) or 0])[0] for field in ("keys", "values", "window", "kernel", "heads")
    )
    if kind not in ("full", "sliding", "recurrent") or dtype not in ("", "F32") or not keys:
        raise ValueError(f"a cache of kind {kind[:60]!r}")
    return Held(kind, keys, values, window, kernel, heads, dtype)


def are_words(items: Sequence[Any]) -> bool:
    """Whether a list has a word, a number or a flag for each layer."""
    return len(items) > 1 and all(type(each) in (str, int, bool) for each in items)


def _checked(name: str) -> str:
    if not _NAME.fullmatch(name) or len(name) > LONGEST:
        raise ValueError(f"a tensor named {name[:60]!r}")
    return name


def _shape(shape: Any) -> tuple[int, ...]:
    if not all(type(each) is int and each >= 0 for each in shape):
        raise ValueError(f"a shape {str(shape)[:60]}")
    return tuple(shape)


def flattened(config: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Fields by dotted path: `vision_config.hidden_size`."""
    for key, value in config.items():
        if isinstance(value, Mapping):
            yield from flattened(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
