"""A model as llama.cpp's converter would write it: each predicted tensor as the one that its GGUF has for it.

A GGUF architecture's table has names for roles; `architectures/conversions` has which roles the converter renames,
fuses, divides, turns or omits. The shapes are the model's own, so no key-value of the file needs to be known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from math import prod
from typing import NamedTuple

from inspector.architectures import GGUF_ARCHITECTURE, GgufArchitecture, family_of, formula, load_gguf, predicted_gguf
from inspector.architectures.conversions import EXPERTS, Conversion, conversion_of, key_text, named
from inspector.architectures.data.gguf_keys import CONVERTED_AS, MODEL_TYPES, PADDED
from inspector.architectures.data.projections import PARTS
from inspector.architectures.scope import Scope
from inspector.architectures.table import Row
from inspector.errors import ConfigError, InspectorError
from inspector.model import Config, Expected, Key, Prediction
from inspector.sizing.model import Model

#: Fields of which engines' buffers depend → what configurations call them beside.
_FIELDS = {
    "hidden_size": "n_embd d_model dim",
    "num_hidden_layers": "n_layer n_layers",
    "num_attention_heads": "n_head n_heads",
    "num_key_value_heads": "num_kv_heads",
    "num_experts_per_tok": "moe_k moe_topk",
    "conv_kernel": "mamba_d_conv linear_conv_kernel_dim",
    "state_size": "mamba_d_state",
    "time_step_rank": "mamba_n_heads linear_num_value_heads",
}
#: Towers that a language model's file has.
TOWERS = frozenset({"text", "encoder", "decoder"})


def converted(model: Model) -> Prediction | None:
    """The prediction of the model's GGUF; None unless each of its tensors has its place there."""
    if model.scope is None or model.prediction is None:
        return None
    for architecture in _architectures(model.scope.config.get("model_type")):
        family = load_gguf(architecture, architecture)
        rows = [each for each in family.rows if isinstance(each, Row)] if family else []
        joined = _Join(model, conversion_of(architecture), model.scope)
        with suppress(InspectorError, ArithmeticError, TypeError, ValueError, LookupError):
            if found := joined.all_of(rows):
                fields = {field: number_of(model, field, *names.split()) for field, names in _FIELDS.items()}
                values = {**model.scope.config, **{field: number for field, number in fields.items() if number}}
                values[GGUF_ARCHITECTURE] = GgufArchitecture(architecture)
                return Prediction(Config(values, "gguf"), architecture, "", tuple(found))
    return None


def _architectures(model_type: object) -> Iterator[str]:
    known = predicted_gguf()
    if isinstance(model_type, str):
        bare = model_type.removesuffix("_text")
        others = (each for each, of in MODEL_TYPES.items() if of in (model_type, bare))
        named = (*CONVERTED_AS.get(model_type, "").split(), model_type, bare, bare.replace("_", "-"), *others)
        yield from (each for each in dict.fromkeys(named) if each in known)


class _Part(NamedTuple):
    """A tensor of a table, weight or bias."""

    row: Row
    name: str
    key: Key


class _Join:
    """The model's tensors, and which of them have their place already."""

    def __init__(self, model: Model, conversion: Conversion, scope: Scope) -> None:
        assert model.prediction is not None
        self.conversion, self.scope = conversion, scope
        family = family_of(model.prediction.config.values)
        rows = family.rows if family else ()
        turned = {each.template for each in rows if isinstance(each, Row) and each.transposed}
        self.known: dict[Key, list[Expected]] = {}
        self.taken: set[int] = set()
        self.roles: set[str] = set()  # of the table
        for each in model.prediction.expected:
            key = Key(each.tower, None, None, each.role, each.part, each.branch, each.indexes)
            if each.tower in TOWERS and not each.spare:
                self.known.setdefault(key, []).append(self._in_rows(key, each, each.name in turned))

    def _in_rows(self, key: Key, each: Expected, turned: bool) -> Expected:
        """A tensor with its outputs as rows, and all experts in one."""
        shape = each.shape
        if turned or key_text(key) + (EXPERTS if each.stacked else "") in self.conversion.transposed:
            shape = (*shape[:-2], *reversed(shape[-2:]))
        if each.role == "embed_positions" and (left := PADDED.get(str(self.scope.config.get("model_type")))):
            shape = (shape[0] - int(formula.evaluate(left, self.scope)), *shape[1:])
        if len(shape) == 3 and 1 in shape[1:] and not each.stacked:
            shape = (shape[0], prod(shape[1:]))  # a convolution of each channel by itself
        if each.experts is not None:
            return each._replace(shape=(each.experts, *shape), stacked=each.experts, experts=None)
        return each._replace(shape=shape)

    def all_of(self, rows: Sequence[Row]) -> list[Expected]:
        """The file's tensors; empty if one of the model's has no place in it."""
        self.roles = {row.role for row in rows}
        biased = [row for row in rows if row.bias]
        parts = [_Part(row, row.template, _key(row, row.part)) for row in rows]
        parts += [_Part(row, f"{row.template.removesuffix('.weight')}.bias", _key(row, "bias")) for row in biased]
        found: list[Expected] = []
        for how in (self._alone, self._fused, self._divided):
            made = [list(how(part)) for part in parts]
            found += [each for many in made for each in many]
            parts = [part for part, many in zip(parts, made, strict=True) if not many]
        every = [(key, each) for key, many in self.known.items() for each in many]
        complete = all(id(each) in self.taken or self.conversion.leaves_out(key, each.name) for key, each in every)
        whole = sum(each.tensors * each.elements for _, each in every if id(each) in self.taken)
        placed = sum(each.tensors * each.elements for each in found)
        return [*found, *self._made(parts)] if complete and whole == placed else []

    def _held(self, key: Key, part: _Part) -> list[Expected]:
        """The model's tensors with a key, of the kind that the row is for."""
        many = [each for each in self.known.get(key, ()) if bool(each.stacked) == bool(part.row.stacked)]
        if "{layer}" in part.name or len(formula.dimensions(part.row.shape)) == 3:
            return [each for each in many if each.layers is not None]
        return [each for each in many if each.layers is None]

    def _alone(self, part: _Part) -> Iterator[Expected]:
        """The same tensor; or some of its rows, if the file has the others elsewhere."""
        rows = self.conversion.file.get(key_text(part.key._replace(part="weight")), {})
        keys = [key for key in self.conversion.keys(part.key) if self._held(key, part)]
        divided = self.roles.issuperset(PARTS.get(part.row.role, " "))
        if part.row.optional or (keys == [part.key] and divided):
            return  # older files have it in one piece
        if len(keys) == 1 and keys[0] != part.key and self.conversion.leaves_out(keys[0], ""):
            return
        for key in keys:
            spec = self.conversion.model.get(key_text(key._replace(part="weight")), {})
            given = {name: text or spec.get(name, "") for name, text in rows.items()}
            several = given.keys() < spec.keys() - {"by"}
            held = [each for each in self._held(key, part) if several or id(each) not in self.taken]
            for each in held:
                yield self._with_rows(each, part, {**spec, **given}, given) if several else self._placed(each, part)
            if held:
                return

    def _fused(self, part: _Part) -> Iterator[Expected]:
        """Several tensors in one, if the converter writes them so; it leaves those of attention apart."""
        names = self.conversion.file.get(key_text(part.key._replace(part="weight")), {}).keys() - {"by"}
        held = [self._held(named(f"{name}.{part.key.part}", part.key), part) for name in names]
        if part.row.optional or len(held) < 2 or not all(held) or self.taken & {id(e) for many in held for e in many}:
            return
        for several in zip(*held, strict=True):
            self.taken |= set(map(id, several))
            if part.row.role == "qkv_proj":
                for each in several:
                    yield each._replace(name=part.name.replace("attn_qkv", f"attn_{each.role[0]}"))
            else:
                yield self._placed(several[0], part, sum(each.shape[_axis(each)] for each in several))

    def _divided(self, part: _Part) -> Iterator[Expected]:
        """A part of a tensor."""
        for role, names in PARTS.items():
            spec = {**dict.fromkeys(names, ""), **self.conversion.model.get(role, {})}
            for each in self._held(part.key._replace(role=role), part) if part.row.role in names else ():
                found = self._with_rows(each, part, spec, (part.row.role,))
                yield found._replace(shape=self._by_heads(part, found.shape))

    def _made(self, parts: Sequence[_Part]) -> Iterator[Expected]:
        """What the converter makes for each layer, of the table's shape."""
        numbered = [tuple(each.layers or ()) for many in self.known.values() for each in many]
        for row, name, key in parts:
            if not row.optional and "{layer}" in name and self.conversion.makes(key):
                shape = tuple(int(formula.evaluate(each, self.scope)) for each in formula.dimensions(row.shape))
                yield Expected(
                    row.role, "", row.tower, key.part, name, shape, (), (), max(numbered, key=len), buffer=True
                )

    def _with_rows(self, each: Expected, part: _Part, spec: Mapping[str, str], names: Iterable[str]) -> Expected:
        """Some of a tensor's rows: those of the parts with these names.

        Args:
            spec: all parts of the tensor, each with its number of rows; parts without one have as many as each other.
        """
        scope = self.scope.at(layer=each.layers[0]) if each.layers else self.scope
        given = {name: int(formula.evaluate(text, scope)) for name, text in spec.items() if text and name != "by"}
        others = len(spec.keys() - given.keys() - {"by"})
        left = (each.shape[_axis(each)] - sum(given.values())) // others if others else 0
        return self._placed(each, part, sum(given.get(name, left) for name in names))

    def _by_heads(self, part: _Part, shape: Sequence[int]) -> tuple[int, ...]:
        """The shape with an axis for heads, if the file has one, in the file's order."""
        if part.row.stacked or len(formula.dimensions(part.row.shape)) != 3 or len(shape) != 2:
            return tuple(shape)
        heads = int(formula.evaluate(formula.dimensions(part.row.shape)[0], self.scope))
        parts = (heads, shape[0] // heads, shape[1])
        order = self.conversion.converted.get(part.row.role, {}).get("order", "a b c -> a b c")
        before, _, after = order.partition(" -> ")
        return tuple(parts[before.split().index(word)] for word in after.split())

    def _placed(self, each: Expected, part: _Part, rows: int | None = None) -> Expected:
        """A tensor under the file's name; with another number of rows, if one is given."""
        self.taken.add(id(each))
        axis, shape = _axis(each), each.shape
        if rows is not None:
            shape = (*shape[:axis], rows, *shape[axis + 1 :])
        if each.layers is not None and "{layer}" not in part.name:  # one tensor instead of numbered ones
            shape, each = (len(each.layers), *shape), each._replace(layers=None)
        return each._replace(name=part.name, shape=shape, role=part.row.role, branch=part.row.branch, indexes=())


def _axis(each: Expected) -> int:
    """The axis of a tensor's outputs."""
    return 1 if each.stacked else 0


def _key(row: Row, part: str) -> Key:
    return Key(row.tower, None, None, row.role, part, row.branch)


def number_of(model: Model, *names: str) -> int:
    """The first of these fields that is a number, or a list of numbers, whose first it then is; 0 if none is."""
    for name in names:
        with suppress(ConfigError):
            value = model.scope[name] if model.scope is not None else None
            first = value[0] if isinstance(value, (list, tuple)) and value else value
            if isinstance(first, int) and not isinstance(first, bool):
                return first
    return 0
