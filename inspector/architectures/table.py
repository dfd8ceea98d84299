"""What a family's table is made of. Read forwards it predicts, backwards it names.

    Row("q_proj", "model.layers.{layer<num_hidden_layers}.self_attn.q_proj",
        "num_attention_heads * head_dim, hidden_size", bias="attention_bias")

A placeholder gives the number of its values: `{expert<num_local_experts}` counts from 0. Later uses
of the same index need no bound. Every expression is in `formula`'s language.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_PLACEHOLDER = re.compile(r"\{(\w+)(?:<([^{}]*))?\}")


@dataclass(frozen=True, slots=True)
class Row:
    """The tensors of one role: where they are, what shape they have, when they are there."""

    role: str  # a word of `roles.ROLES`
    name: str  # the tensor's name as Transformers writes it, without `leaf`
    shape: str  # row-major dimensions, as expressions: "vocab_size, hidden_size"; "" for a scalar
    bias: str = ""  # condition for `name.bias` beside it, of the first dimension
    when: str = ""  # condition for the row, asked for every index it mentions
    heads: str = ""  # class suffixes that have the row ("ForCausalLM LMHeadModel"); "" for the body
    tied: str = ""  # condition under which it is the token embedding itself, and not stored
    active: str = ""  # how many of the experts work on one token; "" for all
    tower: str = "text"
    leaf: str = "weight"  # last word of the tensor's name; "" where `name` is the whole
    buffer: bool = False  # stored, and no parameter
    transposed: bool = False  # [in, out] where other conventions write [out, in]
    group: str = ""  # where the role's usual one does not fit

    @property
    def indexes(self) -> tuple[tuple[str, str], ...]:
        """Each placeholder with the expression of its bound, outermost first."""
        return tuple((m[1], m[2] or "") for m in _PLACEHOLDER.finditer(self.name))

    @property
    def part(self) -> str:
        """ "bias" for a row that is one by itself: `cls.predictions.bias`, `experts.down_proj_bias`."""
        bias = self.leaf == "bias" or (not self.leaf and self.name.endswith("_proj_bias"))
        return "bias" if bias and not self.buffer else "weight"

    @property
    def template(self) -> str:
        """The whole name with bare placeholders: `model.layers.{layer}.self_attn.q_proj.weight`."""
        return ".".join(filter(None, (_PLACEHOLDER.sub(r"{\1}", self.name), self.leaf)))


@dataclass(frozen=True, slots=True)
class Include:
    """Another family's rows, chosen by the `model_type` of a nested configuration."""

    scope: str  # the field that holds the nested configuration: "text_config"
    prefix: str  # goes before each name
    strip: str = ""  # taken off the front of the included names first: "model."
    tower: str = "text"
    head: str = ""  # the class suffix to read the included family as; "" for its body alone
    default_type: str = ""  # `model_type` where the nested configuration names none


@dataclass(frozen=True, slots=True)
class Family:
    """Relatives that differ by a column."""

    name: str
    types: Mapping[str, Mapping[str, Any]]  # model_type → the field values that set it apart
    rows: tuple[Row | Include, ...]
    prefix: str = ""  # of the body's names, as `rows` have it
    prefixes: Mapping[str, str] = field(default_factory=dict)  # class suffix → its own; "Model" has none
    head: str = "ForCausalLM"  # the class suffix where `architectures` says nothing
    defaults: Mapping[str, Any] = field(default_factory=dict)  # fields that may be absent
    derived: Mapping[str, str] = field(default_factory=dict)  # expressions for absent fields
    fields: Mapping[str, str] = field(default_factory=dict)  # common field name → the family's own
    gguf: tuple[str, ...] = ()  # `general.architecture` values that mean this family
    gguf_head: str = ""  # the class suffix whose tensors the conversion to GGUF keeps, where it is not `head`


def placeholders(name: str) -> list[str]:
    """The index variables of a template, outermost first."""
    return [m[1] for m in _PLACEHOLDER.finditer(name)]


_SUFFIX = re.compile(r"(For[A-Z]\w*|LMHeadModel|DoubleHeadsModel|Model)$")


def class_suffix(class_name: str | None) -> str | None:
    """What a class adds to its family's body: `LlamaForCausalLM` → `ForCausalLM`, `LlamaModel` → `Model`."""
    match = _SUFFIX.search(class_name or "")
    return match[1] if match else None
