"""What a packing scheme is made of, and the arithmetic that several share.

A scheme knows its tensors by the ends of their names: `.qweight` holds the weight, `.scales` serves
it. What stands before the end is the stem; the tensors of one stem make a `Unit`, from whose shapes
the weight's own shape and bits follow. Data is never read, so a shape kept in a tensor stays unseen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any, NamedTuple

from inspector.model import Tensor

#: Dtypes of plain weights and of scales: their dimensions are the checkpoint's own.
FLOATS = frozenset({"F64", "F32", "F16", "BF16"})
#: Widths that weights are packed in, the most common first.
COMMON_BITS = (4, 8, 2, 3, 6, 5, 7)
#: Weights that share a scale, as libraries offer them.
COMMON_GROUPS = frozenset({16, 32, 64, 96, 128, 256, 512, 1024})
#: AutoRound exports to several libraries' layouts under its own name.
AUTO_ROUND = frozenset({"auto-round", "autoround", "intel/auto-round"})


class Unit(NamedTuple):
    """One packed weight with what serves it."""

    stem: str  # "model.layers.0.self_attn.q_proj"
    pieces: Mapping[str, Tensor]  # end of the name → tensor


@dataclass(frozen=True, slots=True)
class Weight:
    """The weight that a unit encodes."""

    end: str  # of the tensor that holds the weight
    shape: tuple[int, ...]  # logical; `(n,)` where only the number of elements is known
    bits: int  # of an element, side data apart
    group_size: int | None = None  # weights that share a scale
    variant: str = ""  # goes behind the scheme's name: "nf4"
    sure: bool = True  # False where the shapes fit several widths and nothing decides


@dataclass(frozen=True, slots=True)
class Declared:
    """What the configuration says of packing: claims, which the tensors confirm or not."""

    values: Mapping[str, Any] = field(default_factory=dict)  # the quantization object's fields
    sizes: frozenset[int] = frozenset()  # dimensions that float tensors of the checkpoint have
    vote: tuple[int, int] | None = None  # bits and group to try first

    @property
    def method(self) -> str:
        """`quant_method`, in lower case; "" where none is named."""
        value = self.values.get("quant_method")
        return value.lower() if isinstance(value, str) else ""

    def number(self, *names: str) -> int | None:
        """The first of these fields that holds a sensible number of bits or of weights."""
        return next((n for n in (number_of(self.values, name) for name in names) if n is not None), None)

    def text(self, name: str) -> str:
        """A field's text in lower case, "" where it has none."""
        value = self.values.get(name)
        return value.lower() if isinstance(value, str) else ""


def number_of(values: Any, name: str) -> int | None:
    """A field that counts bits or weights; None where it is absent or senseless."""
    value = values.get(name) if isinstance(values, Mapping) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**31 else None


def inner(values: Any) -> Iterator[Mapping[str, Any]]:
    """The objects within an object, of any depth, the outermost first; 1,000 at most."""
    queue, seen = [values], 0
    while queue and seen < 1000:
        each = queue.pop(0)
        seen += 1
        if isinstance(each, Mapping):
            yield each
            queue += each.values()
        elif isinstance(each, list):
            queue += each


@dataclass(frozen=True, slots=True)
class Scheme:
    """One way to pack weights."""

    name: str
    methods: frozenset[str]  # values of `quant_method` that declare it
    weights: Mapping[str, str]  # end of the tensor that holds a weight → end of the weight's own name
    side: Mapping[str, str]  # end of a tensor that serves one → what it is, for people
    unpack: Callable[[Unit, Declared], Weight | None]  # None for a unit that is not packed this way
    loose: Mapping[str, str] = field(
        default_factory=dict
    )  # end of side data that has no weight of its own → what it is
    declared_by: Callable[[Mapping[str, Any]], bool] = lambda _: False  # where no `quant_method` tells it
    uneven: bool = False  # bits differ within a weight, or are no whole number: `Weight.bits` is the nearest


# --- shared arithmetic ------------------------------------------------------------------------


def packed_elements(tensor: Tensor, bits: int) -> int:
    """Weights of so many bits that a tensor's bytes have room for."""
    return tensor.nbytes * 8 // bits


def group_of(columns: int, groups: int) -> int | None:
    """Weights that share a scale, of a row of `columns`; None where the whole row does."""
    return columns // groups if groups > 1 and columns % groups == 0 else None


class Fit(NamedTuple):
    """A width under which packed columns and their scales agree."""

    columns: int  # logical
    bits: int
    sure: bool


def fit(
    room: int, groups: int, declared: Declared, *, usual: int, bits: int | None = None, group: int | None = None
) -> Fit | None:
    """How many columns a row of `room` bits with `groups` scales encodes; None if no width fits.

    `bits` and `group` are claimed by the configuration, and taken where they fit. Otherwise a width whose
    columns are a dimension elsewhere in the checkpoint, that with the scheme's `usual` group before others.
    """
    if bits and group and groups * group * bits <= room < (groups * group * bits) + 32:
        return Fit(groups * group, bits, True)
    fits = [(room // b, b) for b in COMMON_BITS if room % b == 0 and _even(room // b, groups)]
    if bits and (room // bits, bits) in fits:
        return Fit(room // bits, bits, True)
    if declared.vote and (columns := _voted(fits, groups, declared.vote)):
        return Fit(*columns, True)
    known = [each for each in fits if each[0] in declared.sizes] or fits
    if not known:
        return None
    columns = next((each for each in known if each[0] == groups * usual), known[0])
    return Fit(*columns, len(known) == 1)


def _voted(fits: list[tuple[int, int]], groups: int, vote: tuple[int, int]) -> tuple[int, int] | None:
    """The checkpoint's own width where it fits, or another width with the same group."""
    exact = [each for each in fits if each == (groups * vote[1], vote[0])]
    return next(iter(exact or [each for each in fits if each[0] == groups * vote[1]]), None)


def _even(columns: int, groups: int) -> bool:
    """Scales of a usual group, or one a row."""
    return groups == 1 or (columns % max(groups, 1) == 0 and columns // max(groups, 1) in COMMON_GROUPS)


def flat(
    end: str, weight: Tensor, bits: int, group: int | None = None, variant: str = "", *, sure: bool = True
) -> Weight:
    """A weight of which only the number of elements shows."""
    return Weight(end, (packed_elements(weight, bits),), bits, group, variant, sure)


def count(tensor: Tensor) -> int:
    """Stored elements; 1 for a scalar."""
    return prod(tensor.shape)
