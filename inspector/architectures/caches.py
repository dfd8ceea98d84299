"""Configuration → what each layer caches of past tokens, in elements, before any engine's rounding.

The knowledge is in the tables (`Cache`); this module evaluates it for one configuration.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from inspector.architectures import family_of, formula
from inspector.architectures.expansion import MAX_INDEX, expand_row
from inspector.architectures.prediction import head_of
from inspector.architectures.scope import PER_LAYER, Scope
from inspector.architectures.table import Cache, Family, Include, Row, nested_values
from inspector.errors import ConfigError
from inspector.model import Config
from inspector.tabular import NamedTuple

#: Kinds that keep something per encoder token, and per sequence; the others keep something per token.
PER_SOURCE = frozenset({"cross"})
PER_SEQUENCE = frozenset({"recurrent", "linear"})

#: Towers that have a cache: a T5 has none when it is MusicGen's encoder.
GENERATING = frozenset({"text", "decoder"})

#: Words in the names of classes that continue what they are given, token by token or frame by frame.
GENERATES = ("CausalLM", "LMHead", "Generation", "DoubleHeads", "Seq2Seq", "TextTo", "SpeechTo", "Prediction")
#: The tower that keeps what earlier frames of a video showed: SAM 2's.
MEMORY = "memory"
#: Ends of the class suffixes of decoders without an encoder, which `generate` gives a cache whatever `is_decoder` says.
CAUSAL = ("ForCausalLM", "LMHeadModel", "Decoder")

#: The most elements that a layer may keep.
MOST_ELEMENTS = 2**48


class Kept(NamedTuple):
    """Layers with equal caches."""

    kind: str
    layers: tuple[int, ...]
    keys: int  # elements per token and layer; for states, per sequence and layer
    values: int
    window: int | None  # tokens that a layer looks back at, itself included; None for all
    kernel: int | None  # width of the convolution whose channels `keys` counts
    dtype: str | None  # if it is not the cache's own
    stride: int  # tokens that are merged into one
    waiting: bool  # whether only the tokens that do not fill a stride are kept
    heads: int | None  # of keys and values, if these can be divided; None if indivisible
    mixer: str  # whose states these are: "mamba2"; "" if irrelevant
    chunked: bool  # whether the window is a chunk
    engines: tuple[str, ...]  # that keep this; none for all
    formula: str

    @property
    def elements(self) -> int:
        """Elements per token and layer."""
        return self.keys + self.values


def kept(config: Config) -> tuple[Kept, ...]:
    """What each layer keeps, with equal layers grouped.

    Raises:
        ConfigError: no table says; the message says why.
    """
    with formula.bounded():
        family = _family(config)
        if family is None:
            raise ConfigError(f"there is no table for model_type {str(config.model_type)!r:.60}")
        found = _of_family(family, config.values, head_of(family, config))
        if found is None and keeps_nothing(family):
            return ()
        if found is None:
            part = "a pipeline's part keeps no tokens, and what computing takes is not known"
            no_table = f"no table says what the layers of {family.name} keep"
            raise ConfigError(family.uncached or (part if "_class_name" in config.values else no_table))
        return found


def of_engine(kept: Sequence[Kept], engine: str) -> tuple[Kept, ...]:
    """What an engine keeps: some keep a layer's tokens in a form of their own."""
    return tuple(group for group in kept if not group.engines or engine in group.engines)


def _family(config: Config) -> Family | None:
    """A configuration's family; the package's own where a library that was asked did not say what is kept."""
    family: Family | None = config.family
    return family_of(config.values) or family if family and family.asked and family.cache is None else family


def text_scope(config: Config) -> Scope | None:
    """The fields of the part that has a cache: the text model of a larger one."""
    family = _family(config)
    if family is None:
        return None
    head = head_of(family, config)
    found = _text_scope(family, config.values, head)
    return _scope(family, config.values, head) if found is None and keeps_nothing(family) else found


def keeps_nothing(family: Family) -> bool:
    """Whether the table has classes for tasks, and none of them generates: an encoder's layers keep no past tokens.

    Transformers 5.24: `generate` is a method of classes with these words alone (`GenerationMixin`).
    """
    heads = family.heads
    words = (*heads, family.head, *family.classes)
    towers = {entry.tower for entry in family.rows}
    return len(heads) > 1 and MEMORY not in towers and not any(word in head for word in GENERATES for head in words)


def is_decoder_alone(config: Config) -> bool:
    """Whether its class is a decoder without an encoder, although it may be designed for one: `BartForCausalLM`."""
    family: Family | None = config.family
    return family is not None and head_of(family, config).endswith(CAUSAL)


def _text_scope(family: Family, values: Mapping[str, Any], head: str) -> Scope | None:
    if family.cache is not None:
        return _scope(family, values, head)
    if family.uncached:
        return None
    parts = list(_parts(family, values, head))
    generating = [part for part, tower in parts if tower in GENERATING]
    inner = (_text_scope(*each) for each in generating or [part for part, _ in parts])
    return next((each for each in inner if each is not None), None)


def _of_family(family: Family, values: Mapping[str, Any], head: str) -> tuple[Kept, ...] | None:
    scope = _text_scope(family, values, head)
    if scope is None or scope.family.cache is None:
        return None
    groups: dict[Kept, list[int]] = {}
    at: dict[int, Scope] = {}
    for cache in scope.family.cache:
        for layer, each in _layers(cache, scope, at):
            groups.setdefault(each, []).append(layer)
    return tuple(each._replace(layers=tuple(layers)) for each, layers in groups.items())


def _parts(
    family: Family, values: Mapping[str, Any], head: str
) -> Iterator[tuple[tuple[Family, Mapping[str, Any], str], str]]:
    """The families of the parts that a model of this class has, and their towers."""
    scope = Scope(family, values)
    for entry in family.rows:
        if not isinstance(entry, Include) or (entry.heads and head not in entry.heads.split()):
            continue
        if entry.when and not formula.evaluate(entry.when, scope):
            continue
        inner = scope.filled(entry.scope, nested_values(entry, values))
        part = family_of(inner)
        if part is not None and part is not family:
            yield (part, inner, entry.head or "body"), entry.tower


def _scope(family: Family, values: Mapping[str, Any], head: str) -> Scope:
    """The fields of a family, with those that only its cache needs: `class_generates` is its class's."""
    defaults = {"class_generates": head.endswith(CAUSAL), **family.cache_defaults, **family.defaults}
    own = {name: text for name, text in family.cache_derived.items() if family.defaults.get(name) is None}
    derived = {**own, **family.derived}
    return Scope(family._replace(defaults=defaults, derived=derived), values)


def _layers(cache: Cache, scope: Scope, at: dict[int, Scope]) -> Iterator[tuple[int, Kept]]:
    """The layers that keep this, and what each keeps; `at` caches the layers' scopes."""
    keys, values = (_outputs(text, cache, scope) for text in (cache.keys, cache.values))
    differ = _differs(cache, scope)
    alike: Kept | None = None
    layers = range(_whole(cache.layers, scope, MAX_INDEX)) if keys is None else sorted(keys)
    holds: list[bool] = []
    for some in (layers[:1], layers[1:]):  # the others' scopes begin with what the first one looked up
        at.update(scope.layers([layer for layer in some if layer not in at]))
        holds += formula.hold(cache.when, [at[layer] for layer in some])
    for layer in (layer for layer, held in zip(layers, holds, strict=True) if held):
        if alike is None or differ:
            alike = _one(cache, at[layer], keys is None, values is None)
        if keys is not None:
            alike = alike._replace(keys=keys[layer])
        if values is not None:
            alike = alike._replace(values=values.get(layer, 0))
        yield layer, alike


def _differs(cache: Cache, scope: Scope) -> bool:
    """Whether one of its formulas may vary between layers."""
    texts = (cache.keys, cache.values, cache.window, cache.kernel, cache.stride, cache.heads)
    return PER_LAYER in scope.config or scope.mentions(("layer",), *texts)


def _one(cache: Cache, scope: Scope, keys: bool, values: bool) -> Kept:
    """What a layer keeps, if keys and values are formulas."""
    window = formula.evaluate(cache.window, scope) if cache.window else None
    return Kept(
        cache.kind,
        (),
        _whole(cache.keys, scope) if keys else 0,
        _whole(cache.values, scope) if values else 0,
        window if isinstance(window, int) and window > 0 else None,
        _whole(cache.kernel, scope) if cache.kernel else None,
        cache.dtype or None,
        max(1, _whole(cache.stride, scope)) if cache.stride else 1,
        cache.waiting,
        _heads(cache.heads, scope),
        cache.mixer,
        cache.chunked,
        tuple(cache.engines.split()),
        _shown_formula(cache, scope.family),
    )


def _heads(text: str, scope: Scope) -> int | None:
    """The number of heads; None if the family has no field for it: then nothing is divided by head."""
    with suppress(ConfigError):
        return _whole(text, scope) if text else None
    return None


def _shown_formula(cache: Cache, family: Family) -> str:
    """The formula in readable form."""
    texts = [_formula_of(text, family) for text in (cache.keys, cache.values) if text != "0"]
    if len(texts) == 2 and texts[0] == texts[1]:
        return f"2·{texts[0]}" if "+" not in texts[0] else f"2·({texts[0]})"
    whole = " + ".join(texts)
    return f"({whole})·{formula.show(cache.kernel)}" if cache.kernel else whole


def _formula_of(text: str, family: Family) -> str:
    row = next((row for row in family.rows if isinstance(row, Row) and row.role == text), None)
    return formula.show(formula.dimensions(row.shape)[-1 if row.transposed else 0] if row else text)


def _outputs(text: str, cache: Cache, scope: Scope) -> Mapping[int, int] | None:
    """Layer → the width of a role's outputs; None for a formula."""
    rows = [row for row in scope.family.rows if isinstance(row, Row) and row.role == text]
    if not rows:
        return None
    place = (cache.tower, cache.branch)
    here = [
        row
        for row in rows
        if (row.tower, row.branch) == place and row.part == "weight" and not (row.optional or row.ahead)
    ]
    found: dict[int, int] = {}
    for row in here:
        for expected in expand_row(row, scope):
            found.update(dict.fromkeys(expected.layers or (), expected.shape[-1 if row.transposed else 0]))
    return found


def _whole(text: str, scope: Scope, most: int = MOST_ELEMENTS) -> int:
    value = formula.evaluate(text, scope)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        raise ConfigError(f"the configuration gives {value!r:.40} for `{formula.show(text)}`: not a number of elements")
    return value
