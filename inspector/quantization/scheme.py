"""The parts of a packing scheme, and the arithmetic that several share.

A scheme recognises its tensors by the suffixes of their names: `.qweight` holds the weight, `.scales` serves it. The
part before the suffix is the stem; the tensors of one stem make a `Unit`, whose shapes determine the weight's own shape
and bits. Data is never read, so a shape stored as a tensor is unavailable.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, NamedTuple

from inspector.model import Tensor

#: Dtypes of plain weights and of scales: their dimensions are those of the model.
FLOATS = frozenset({"F64", "F32", "F16", "BF16"})
#: Widths of packed weights, the most common first.
COMMON_BITS = (4, 8, 2, 3, 6, 5, 7)
#: Group sizes (weights that share a scale) that libraries offer.
COMMON_GROUPS = frozenset({16, 32, 64, 96, 128, 256, 512, 1024})
#: AutoRound exports to several libraries' layouts under its own name.
AUTO_ROUND = frozenset({"auto-round", "autoround", "intel/auto-round"})


class Unit(NamedTuple):
    """One packed weight with its side data."""

    stem: str  # "model.layers.0.self_attn.q_proj"
    pieces: Mapping[str, Tensor]  # suffix of the name → tensor
    form: int  # equal for units of one checkpoint whose pieces have equal suffixes, dtypes, shapes and bytes

    def first(self, *ends: str) -> Tensor | None:
        """The first of these pieces that exists."""
        return next((self.pieces[end] for end in ends if end in self.pieces), None)


@dataclass(frozen=True, slots=True)
class Weight:
    """The weight that a unit encodes."""

    end: str  # of the tensor that holds the weight
    shape: tuple[int, ...]  # logical; `(n,)` if only the number of elements is known
    bits: int  # per element, without side data
    group_size: int | None = None  # weights that share a scale
    variant: str = ""  # appended to the scheme's name: "nf4"
    sure: bool = True  # False if the shapes fit several widths and nothing decides


class Width(NamedTuple):
    """How much space a packed weight takes."""

    bits: int  # of an element
    group: int  # elements that share a scale


@dataclass(frozen=True, slots=True)
class Declared:
    """The configuration's packing declaration: claims, which the tensors confirm or not."""

    values: Mapping[str, Any] = field(default_factory=dict)  # the quantization object's fields
    sizes: frozenset[int] = frozenset()  # dimensions that float tensors of the checkpoint have
    assumed: Width | None = None  # the width assumed for most weights, used where it fits: `widths` tries several

    @property
    def method(self) -> str:
        """`quant_method`, in lower case; "" if absent."""
        value = self.values.get("quant_method")
        return value.lower() if isinstance(value, str) else ""

    def number(self, *names: str) -> int | None:
        """The first of these fields with a plausible number of bits or weights."""
        return next((n for n in (number_of(self.values, name) for name in names) if n is not None), None)

    def text(self, name: str) -> str:
        """A field's text in lower case; "" if it has none."""
        value = self.values.get(name)
        return value.lower() if isinstance(value, str) else ""


def number_of(values: Any, name: str) -> int | None:
    """A field that counts bits or weights; None if it is absent or implausible."""
    value = values.get(name) if isinstance(values, Mapping) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**31 else None


def inner(values: Any) -> Iterator[Mapping[str, Any]]:
    """The objects nested in an object, at any depth, the outermost first; at most 1,000."""
    queue, seen = [values], 0
    while queue and seen < 1000:
        each = queue.pop(0)
        seen += 1
        if isinstance(each, Mapping):
            yield each
            queue += each.values()
        elif isinstance(each, list):
            queue += each


def by_suffix(**described: str) -> Mapping[str, str]:
    """Suffix → description, from the suffixes of each description: `scales_of_inputs=".input_scale .act_scale"`."""
    return {suffix: name.replace("_", " ") for name, suffixes in described.items() for suffix in suffixes.split()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheme:
    """One way to pack weights."""

    name: str
    methods: frozenset[str]  # values of `quant_method` that declare it
    #: Suffix of the tensor that holds a weight → suffix of the weight's own name.
    weights: Mapping[str, str] = field(default_factory=lambda: {".weight": ".weight"})
    side: Mapping[str, str]  # suffix of a side-data tensor → its description
    loose: Mapping[str, str] = field(default_factory=dict)  # the same for side data without a weight of its own
    unpack: Callable[[Unit, Declared], Weight | None]  # None for a unit that is not packed this way
    #: Suffixes of the pieces without which the scheme's library cannot unpack a weight: "a|b" if either is enough,
    #: "a?" if the library's settings decide, and hence the other weights.
    needs: Callable[[Unit, Weight, Declared], str]
    declared_by: Callable[[Mapping[str, Any]], bool] = lambda _: False  # for configurations without a `quant_method`
    by_module: bool = False  # `unpack` looks up the module's own settings in the configuration
    uneven: bool = False  # bits vary within a weight, or are fractional: `Weight.bits` is the nearest integer


def always(ends: str) -> Callable[[Unit, Weight, Declared], str]:
    """`Scheme.needs` of a scheme whose weights all need the same."""
    return lambda *_: ends


# --- shared arithmetic ------------------------------------------------------------------------


def packed_elements(tensor: Tensor, bits: int) -> int:
    """How many weights of this many bits fit into a tensor's bytes."""
    return tensor.nbytes * 8 // bits


def nearest_bits(tensor: Tensor, elements: int) -> int:
    """Bits of each of a tensor's weights, of which it has this many: the nearest integer, at least 1."""
    return max(1, (2 * tensor.nbytes * 8 + elements) // (2 * elements))


def group_of(columns: int, groups: int) -> int | None:
    """How many weights share a scale, in a row of `columns`; None if the whole row does."""
    return columns // groups if groups > 1 and columns % groups == 0 else None


class Fit(NamedTuple):
    """A width for which packed columns and their scales agree."""

    columns: int  # logical
    bits: int
    sure: bool


def fit(
    room: int, groups: int, declared: Declared, *, usual: int, bits: int | None = None, group: int | None = None
) -> Fit | None:
    """How many columns a row of `room` bits with `groups` scales encodes; None if no width fits.

    The first that fits decides: the configuration's claim, as `bits` and `group`; the width assumed for the checkpoint;
    widths whose columns are a dimension elsewhere in it, preferring the scheme's `usual` group. Only among the last may
    several fit, in which case none is sure.
    """
    if bits and group and 0 <= room - groups * group * bits < 32:  # rows are padded to whole words
        return Fit(groups * group, bits, True)
    fits = [Fit(room // b, b, True) for b in COMMON_BITS if room % b == 0 and _has_usual_group(room // b, groups)]
    claimed = next((each for each in fits if each.bits == bits), None)
    return claimed or _as_assumed(fits, groups, declared.assumed) or _likeliest(fits, groups * usual, declared.sizes)


def _as_assumed(fits: Sequence[Fit], groups: int, width: Width | None) -> Fit | None:
    """The fit with the assumed group, and the assumed bits if possible."""
    if width is None:
        return None
    alike = [each for each in fits if each.columns == groups * width.group]
    return next((each for each in alike if each.bits == width.bits), alike[0] if alike else None)


def _likeliest(fits: Sequence[Fit], usual: int, sizes: Collection[int]) -> Fit | None:
    """A fit whose columns are one of these sizes, if any: the usual number, or that of the most common bits."""
    known = [each for each in fits if each.columns in sizes] or fits
    if not known:
        return None
    likeliest = next((each for each in known if each.columns == usual), known[0])
    return likeliest._replace(sure=len(known) == 1)


def _has_usual_group(columns: int, groups: int) -> bool:
    """Whether scales have a usual group, or are one per row."""
    return groups == 1 or (columns % max(groups, 1) == 0 and columns // max(groups, 1) in COMMON_GROUPS)


def flat(
    end: str, weight: Tensor, bits: int, group: int | None = None, variant: str = "", *, sure: bool = True
) -> Weight:
    """A weight of which only the number of elements is known."""
    return Weight(end, (packed_elements(weight, bits),), bits, group, variant, sure)


def count(tensor: Tensor) -> int:
    """Stored elements; 1 for a scalar."""
    return prod(tensor.shape)
