"""A model's basic facts: layers, width, heads, vocabulary, context, experts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from inspector.architectures.scope import Scope
from inspector.errors import ConfigError
from inspector.model import Config
from inspector.tabular import NamedTuple

#: Nested configurations that describe the language model, if there are several.
TEXT_PARTS = ("text_config", "llm_config", "language_config", "thinker_config", "decoder_config", "decoder")
#: The name here for `max_seq_length` of sentence-transformers' own file, which goes before the model's positions.
SENTENCE_LENGTH = "sentence_max_seq_length"
#: Fact → the fields that give it, Transformers' usual name first.
FIELDS: Mapping[str, tuple[str, ...]] = {
    "layers": ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "decoder_layers", "encoder_layers"),
    "width": ("hidden_size", "n_embd", "d_model", "dim", "model_dim", "hidden_dim"),
    "heads": ("num_attention_heads", "n_head", "n_heads", "num_heads", "decoder_attention_heads"),
    "kv_heads": ("num_key_value_heads", "num_kv_heads", "n_head_kv", "n_kv_heads", "multi_query_group_num"),
    "vocabulary": ("vocab_size", "padded_vocab_size", "n_vocab"),
    "context": (
        SENTENCE_LENGTH,
        "max_position_embeddings",
        "n_positions",
        "n_ctx",
        "max_seq_len",
        "seq_length",
        "max_sequence_length",
        "max_target_positions",
        "model_max_length",
    ),
    "window": ("sliding_window", "attention_window_size"),
    "experts": (
        "num_local_experts",
        "n_routed_experts",
        "num_experts",
        "moe_num_experts",
        "ffn_config.moe_num_experts",
    ),
    "active_experts": ("num_experts_per_tok", "num_experts_per_token", "moe_topk", "moe_top_k", "top_k_experts"),
}


#: Fact → the switch without which the number is meaningless.
SWITCHES: Mapping[str, str] = {"window": "use_sliding_window"}


class Fact(NamedTuple):
    """One number of a model's architecture."""

    name: str  # a key of FIELDS, or "tied_head"
    value: int | bool


def facts(config: Config | None) -> tuple[Fact, ...]:
    """The facts about a (language) model in its configuration, with the defaults of its family's table."""
    return tuple(_facts(config)) if config else ()


def _facts(config: Config) -> Iterator[Fact]:
    values = _text_of(config.values)
    family = (config if values is config.values else config._replace(values=values)).family
    scope = Scope(family, values) if family else values
    for name, fields in FIELDS.items():
        if name in SWITCHES and _value(scope, SWITCHES[name]) is False:
            continue
        numbers = (number for field in fields if (number := _number(scope, field)) is not None)
        if (found := next(numbers, None)) is not None:
            yield Fact(name, found)
    tied = _value(scope, "tie_word_embeddings")
    if isinstance(tied, bool) and _number(scope, "vocab_size"):
        yield Fact("tied_head", tied)


def _text_of(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """The configuration of the language model: nested if there are several parts, else the whole."""
    for part in TEXT_PARTS:
        nested = values.get(part)
        if isinstance(nested, Mapping):
            return _text_of(nested) if nested is not values else values
    return values


def _number(scope: Any, field: str) -> int | None:
    """A field's number. A per-layer list counts if all are equal: hybrids have no single number."""
    value = _value(scope, field)
    if isinstance(value, list) and value and all(each == value[0] for each in value):
        value = value[0]
    sensible = isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**40
    return value if sensible else None


def _value(scope: Any, field: str) -> Any:
    with suppress(ConfigError, KeyError, TypeError):
        for part in field.split("."):
            scope = scope[part]
        return scope
    return None
