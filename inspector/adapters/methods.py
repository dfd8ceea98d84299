"""Which tensors each of PEFT's methods adds to an adapted module, and which to the whole model.

They are tables: `architectures/data/tables/adapters`. Shapes and conditions are in `formula`'s language,
over the fields of adapter_config.json and the names that `prediction` provides for the module:

outputs, inputs     of its weight
r                   its rank: its own if a pattern names it, else the adapter's
experts             number of matrices in the weight
dimensions          of its weight
kernel, kernel_…    elements of a convolution's kernel; its rows, columns and depth
blocks_in_…         whether `use_bdlora` makes LoRA's A or B block-diagonal for the module
has_bias            whether the module has one
feedforward         whether `feedforward_modules` names it
modules             how many modules are adapted, and `sizes` the sum of their weights' elements
width, keys         of the model: its token embedding's columns; keys and values of all layers
small_…, large_…    the factors of `outputs` and `inputs` (LoKr)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from math import isqrt
from typing import Any, NamedTuple

from inspector.architectures import formula
from inspector.architectures.store import store
from inspector.architectures.table_file import alternatives, filled
from inspector.errors import ConfigError
from inspector.units import integer


class Piece(NamedTuple):
    """One tensor."""

    part: str  # as in `adapters.ENDS`; a number that counts from 0 is written `{}`
    shape: str
    when: str = ""
    times: str = ""  # how many, if they are counted


class Method(NamedTuple):
    """What one `peft_type` stores, without untrained random projections."""

    pieces: tuple[Piece, ...] = ()  # of each adapted module
    embedding: tuple[Piece, ...] = ()  # of an embedding, if that differs
    convolution: tuple[Piece, ...] = ()  # of a convolution
    stacked: tuple[Piece, ...] = ()  # of all experts of a layer
    shared: tuple[Piece, ...] = ()  # of the whole model
    rank: str = "r"  # the field that a pattern overrides
    pattern: str = "rank_pattern"
    dimensions: int = 2  # of the weights that can be adapted
    usual_target: str = ""  # role of the adapted weights if the configuration names none
    defaults: Mapping[str, Any] = {}  # fields that older configurations lack
    derived: Mapping[str, str] = {}  # names used in shapes, and fields that may be null


#: Ranks and numbers of tokens are untrusted: larger ones are refused.
MAX_NUMBER = 1 << 30
MAX_PIECES = 1000
#: Names in LoKr's shapes: which factor of which size.
_FACTORS = {
    f"{kind}_{size}": (size, at) for size in ("outputs", "inputs") for at, kind in enumerate(("small", "large"))
}
#: Fields that are lists of pieces.
_PIECES = frozenset({"pieces", "embedding", "convolution", "stacked", "shared"})


@cache
def method(name: str) -> Method | None:
    """What a `peft_type` stores; None if there is no table."""
    try:
        document = store().find("adapters", name)
    except KeyError:
        return None
    if "like" in document:
        return method(document["like"])
    fields: dict[str, Any] = {field: value for field, value in document.items() if field in Method._fields}
    for field in _PIECES & fields.keys():
        fields[field] = tuple(_parsed_pieces(filled(fields[field], document.get("let", {}))))
    return Method(**fields)


def _parsed_pieces(entries: list[Any]) -> Iterator[Piece]:
    """Pieces as tables write them: part, shape, and the columns that differ from their defaults."""
    for part, shape, *own in entries:
        yield from (Piece(**each) for each in alternatives({"part": part, "shape": shape, **(own[0] if own else {})}))


# --- their sizes --------------------------------------------------------------------------------


class Scope:
    """The values of the names in a method's shapes, for one module."""

    def __init__(self, config: Mapping[str, Any], method: Method, words: Mapping[str, Any]) -> None:
        self.config, self.method, self.words = config, method, words

    def __getitem__(self, name: str) -> Any:
        """A field's value; None if it has none. Raises ConfigError for an absurd number."""
        if name in self.words:
            return self.words[name]
        if name in _FACTORS:
            size, at = _FACTORS[name]
            return factors(self.words[size], self["decompose_factor"])[at]
        first, _, field = name.partition(".")
        value = self.config.get(first)
        if field:
            value = value.get(field) if isinstance(value, Mapping) else None
        if value is None:
            value = self.method.defaults.get(name)
        if value is None and name in self.method.derived:
            return formula.evaluate(self.method.derived[name], self)
        if isinstance(value, int) and abs(value) > MAX_NUMBER:
            raise ConfigError(f"the adapter's configuration gives {value!r:.40} for `{name}`: not a valid number")
        return value


def tensors_of(piece: Piece, scope: Scope) -> Iterator[tuple[str, tuple[int, ...], tuple[str, ...]]]:
    """A piece's name, shape and formula, once for each time it occurs."""
    if piece.when and not formula.evaluate(piece.when, scope):
        return
    dimensions = formula.dimensions(piece.shape)
    shape = tuple(formula.evaluate(text, scope) for text in dimensions)
    times = formula.evaluate(piece.times, scope) if piece.times else 1
    for text, number in zip(dimensions, shape, strict=True):
        computed = scope.method.derived.get(text, text)
        least = 0 if computed.startswith("max(0,") else 1  # what a formula says may be nothing
        if type(number) is not int or not least <= number <= MAX_NUMBER * MAX_NUMBER:
            what = f"the adapter's configuration gives {number!r:.40} for `{text}` of {piece.part}: not a size"
            raise ConfigError(what)
    if type(times) is not int or not 0 <= times <= MAX_PIECES:
        raise ConfigError(
            f"the adapter's configuration gives {times!r:.40} for `{piece.times}`: not a number of pieces"
        )
    for at in range(times):
        yield piece.part.replace("{}", str(at)), shape, tuple(map(formula.show, dimensions))


def factors(size: int, factor: Any = -1) -> tuple[int, int]:
    """Two factors of a dimension, the smaller first: as close to each other as possible, or at most `factor`.

    After LyCORIS' `factorization`, which PEFT took over: 512 → 16 · 32.
    """
    if size > MAX_NUMBER:
        raise ConfigError(f"{integer(size)} is not a dimension of a matrix")
    limit = factor if isinstance(factor, int) and factor > 0 else size
    if factor == limit and size % limit == 0:
        return min(limit, size // limit), max(limit, size // limit)
    small = max((n for n in range(1, isqrt(size) + 1) if size % n == 0 and n <= limit), default=1)
    return small, size // small
