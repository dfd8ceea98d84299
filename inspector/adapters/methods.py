"""Which tensors each of PEFT's methods adds to an adapted module, and which to the whole model.

They are tables: `architectures/data/tables/adapters`. Shapes and conditions are in `formula`'s language,
over the fields of adapter_config.json and the names that `prediction` provides for the module:

outputs, inputs     of its weight
r                   its rank: its own if a pattern names it, else the adapter's
experts             number of matrices in the weight
kernel_…            rows and columns of a convolution's kernel
has_bias            whether the module has one
feedforward         whether `feedforward_modules` names it
modules             how many modules are adapted, and `sizes` the sum of their weights' elements
width, keys         of the model: its token embedding's columns; keys and values of all layers
small_…, large_…    the factors of `outputs` and `inputs` (LoKr)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from inspector.architectures.store import store
from inspector.architectures.table_file import alternatives, filled


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
    convolution: tuple[Piece, ...] = ()  # of a convolution over images
    stacked: tuple[Piece, ...] = ()  # of all experts of a layer
    shared: tuple[Piece, ...] = ()  # of the whole model
    rank: str = "r"  # the field that a pattern overrides
    pattern: str = "rank_pattern"
    dimensions: int = 2  # of the weights that can be adapted
    usual_target: str = ""  # role of the adapted weights if the configuration names none
    defaults: Mapping[str, Any] = {}  # fields that older configurations lack
    derived: Mapping[str, str] = {}  # names used in shapes, and fields that may be null


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
        fields[field] = tuple(_read(filled(fields[field], document.get("let", {}))))
    return Method(**fields)


def _read(entries: list[Any]) -> Iterator[Piece]:
    """Pieces as tables write them: part, shape, and the columns that differ from their defaults."""
    for part, shape, *own in entries:
        yield from (Piece(**each) for each in alternatives({"part": part, "shape": shape, **(own[0] if own else {})}))
