"""What the layouts of two checkpoints depend on: configurations, tables, and which was converted from the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

from inspector.architectures import formula, included
from inspector.architectures.conversions import EXPERTS, Conversion, key_text
from inspector.architectures.scope import Scope
from inspector.architectures.table import Family, Include, Row, inner_branch, inner_tower
from inspector.comparing.pairing import conversion_from, loaded_from
from inspector.errors import ConfigError
from inspector.model import STACKED, Key, Labelled, Reconciliation

_T = TypeVar("_T")

#: The deepest nesting of parts that is searched.
_DEEPEST = 6


class Known:
    """What the layouts of one checkpoint depend on."""

    def __init__(self, result: Reconciliation) -> None:
        config = result.prediction.config if result.prediction else result.checkpoint.config
        self.values: Mapping[str, Any] = config.values if config else {}
        self.conversion: Conversion | None = conversion_from(result)
        self.loaded: Conversion | None = loaded_from(result)
        self.family: Family | None = config.family if config else None

    @cached_property
    def transposed(self) -> frozenset[tuple[str, str, str, bool]]:
        """Tower, branch and role of matrices stored as [in, out], and whether experts are stacked."""
        return frozenset(_transposed(self.family, self.values, _DEEPEST)) if self.family else frozenset()

    def number(self, text: str, layer: int | None = None) -> float | None:
        """The value of a formula over the configuration, in a layer; None if it has none."""
        family = self.family or Family("", {}, ())
        try:
            value = formula.evaluate(text, Scope(family, self.values, {} if layer is None else {"layer": layer}))
        except ConfigError:
            return None
        if isinstance(value, list) and layer is not None and layer < len(value):
            value = value[layer]
        return value if isinstance(value, (int, float)) else None


def _transposed(family: Family, values: Mapping[str, Any], deep: int) -> Iterator[tuple[str, str, str, bool]]:
    for entry in family.rows:
        if isinstance(entry, Row):
            if entry.transposed:
                yield entry.tower, entry.branch, entry.role, bool(entry.stacked)
        elif isinstance(entry, Include) and deep:
            part, inner = included(entry, values)
            if part is not None:
                for tower, branch, role, stacked in _transposed(part, inner, deep - 1):
                    yield inner_tower(entry, tower), inner_branch(entry, branch), role, stacked


class Sides(NamedTuple):
    a: Known
    b: Known

    @property
    def file(self) -> int | None:
        """Which side was converted from a model like the other: 0 or 1; None if both are of one kind."""
        own, other = (each is not None for each in self._conversions)
        return None if own == other else 0 if own else 1

    def model_and_file(self, a: _T, b: _T) -> tuple[_T, _T]:
        """Reorders a pair for sides a and b as one for model and file; or the reverse, since both swap the same way."""
        return (a, b) if self.file == 1 else (b, a)

    @property
    def conversion(self) -> Conversion:
        """The conversion that produced that side; empty for two of a kind."""
        known = next((each for each in self._conversions if each is not None), None)
        return known if known is not None and self.file is not None else Conversion()

    @property
    def _conversions(self) -> tuple[Conversion | None, Conversion | None]:
        found = self.a.conversion, self.b.conversion
        return found if found != (None, None) else (self.a.loaded, self.b.loaded)

    def number(self, text: str, layer: int | None = None) -> float | None:
        """A formula's value, preferring the file's configuration, which its converter used."""
        values = (side.number(text, layer) for side in reversed(self.model_and_file(self.a, self.b)))
        return next((value for value in values if value is not None), None)

    def size(self, text: str, layer: int | None = None) -> int | None:
        """The value of `number`, if it is an integer."""
        value = self.number(text, layer)
        return value if isinstance(value, int) else None


def is_turned(tensor: Labelled, key: Key, shape: Sequence[int], known: Known, sides: Sides) -> bool:
    """Whether a side stores a matrix as [in, out]; packed weights are returned as [out, in]."""
    plain = len(shape) > 1 and key.part != "bias" and tuple(shape) == tensor.tensor.shape
    if not plain or known.conversion is not None:
        return False
    stacked = key.expert == STACKED
    if (key.tower, key.branch, key.role, stacked) in known.transposed:
        return True
    text = key_text(key)
    return any(each in sides.conversion.transposed for each in ((text, text + EXPERTS) if stacked else (text,)))
