"""Which quantization fits: what each of llama.cpp's mixtures, and of the libraries' packings, would take of a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from operator import attrgetter
from typing import NamedTuple

from inspector.errors import UsageError
from inspector.quantization.mixtures import BY_NAME, MIXTURES
from inspector.sizing.memory import Memory, size
from inspector.sizing.model import Model
from inspector.sizing.packings import LIBRARIES, of_libraries
from inspector.sizing.requantized import ALIGNMENT, Source, bytes_of, made, source_of, weights_of
from inspector.tabular import Tabular
from inspector.units import decimal, escape

#: Types of three values, which only models trained for them survive: not advised (llama.cpp, tools/quantize).
TERNARY = frozenset({"TQ1_0", "TQ2_0"})


class Kind(NamedTuple):
    """The tensors of one type."""

    dtype: str
    tensors: int
    nbytes: int


@dataclass(frozen=True, slots=True)
class Quant:
    """A model in one quantization."""

    name: str
    nbytes: int  # of the file, or of the tensors alone: `Quants.whole`
    kinds: tuple[Kind, ...]
    elements: int
    by: str  # "llama.cpp", or the library
    weighted: bool  # whether the quantizer refuses to make it without an importance matrix
    memory: Memory | None

    def __repr__(self) -> str:
        return f"<Quant {self.name}: {decimal(self.nbytes)}>"

    @property
    def advised(self) -> bool:
        """Whether it is one of llama.cpp's for any model."""
        return self.by == "llama.cpp" and self.name not in TERNARY

    @property
    def bits(self) -> float:
        """Bits per weight, without header and padding."""
        return sum(each.nbytes for each in self.kinds) * 8 / self.elements if self.elements else 0.0

    @property
    def fits(self) -> bool | None:
        return self.memory.fits if self.memory else None


@dataclass(frozen=True, slots=True)
class Quants(Tabular):
    """A model in each quantization, the smallest first."""

    target: str
    quants: tuple[Quant, ...]
    whole: bool  # whether the bytes of llama.cpp's are those of the whole file
    notes: tuple[str, ...]
    vocabulary: int  # tokens, of whose names the size is not included
    devices: str | None  # as given

    def __repr__(self) -> str:
        fitting = (
            f", {sum(bool(each.fits) for each in self.quants)} fit {escape(self.devices, 40)}" if self.devices else ""
        )
        return f"<Quants {escape(self.target, 100)}: {len(self.quants)}{fitting}>"

    @property
    def best(self) -> Quant | None:
        """The largest of llama.cpp's that fits, or of all if it has none; None if none does, or no device was named."""
        order = list(MIXTURES)
        own = [each for each in self.quants if each.advised] or self.quants
        fitting = (each for each in own if each.fits)
        return max(
            fitting, key=lambda each: (each.nbytes, order.index(each.name) if each.name in order else 0), default=None
        )


def quants(
    model: Model,
    *,
    gpu: str | None = None,
    context: int | str | None = None,
    sequences: int | str = 1,
    cache_dtype: str | None = None,
    imatrix: bool = False,
) -> Quants:
    """What a model takes in each quantization, and which of them fit.

    Args:
        gpu, context, sequences, cache_dtype: as for `size`.
        imatrix: whether there is an importance matrix for the mixtures that do not require one.

    Raises:
        UsageError: an option makes no sense, or nothing is known about the tensors.
    """
    notes: list[str] = []
    found: list[Quant] = []
    source = source_of(model, notes)
    if source is not None:
        if already := sorted({kind for _, _, kind in source.entries if BY_NAME[kind].block > 1}):
            notes.append(f"it is packed already ({', '.join(already)}): the sizes are those made from its original")
        for name in MIXTURES:
            kinds, weighted = made(name, source, imatrix)
            sizes = {entry[0]: bytes_of(entry[1], kind) for entry, kind in zip(source.entries, kinds, strict=True)}
            total = sum(-(-each // ALIGNMENT) * ALIGNMENT for each in sizes.values()) + (source.head or 0)
            weights = weights_of(model, source, sizes, name)
            memory = (
                size(
                    model,
                    engine="llama.cpp",
                    weights=weights,
                    gpu=gpu,
                    context=context,
                    sequences=sequences,
                    cache_dtype=cache_dtype,
                )
                if gpu
                else None
            )
            elements = sum(prod(shape) for _, shape, _ in source.entries)
            found.append(Quant(name, total, _summed(kinds, sizes, source), elements, "llama.cpp", weighted, memory))
    for name, weights in of_libraries(model):
        memory = size(model, weights=weights, gpu=gpu, context=context, sequences=sequences) if gpu else None
        elements = model.prediction.parameters if model.prediction else 0
        packed = Kind(name, model.prediction.tensors if model.prediction else 0, weights.nbytes)
        found.append(Quant(name, weights.nbytes, (packed,), elements, LIBRARIES[name], False, memory))
    if not found:
        raise UsageError(f"{model.target}: its tensors, as a quantizer would read them, are not known")
    found.sort(key=attrgetter("nbytes"))
    tokens = next((s[0] for n, s, _ in source.entries if n == "token_embd.weight"), 0) if source else 0
    whole = source is not None and source.head is not None
    return Quants(model.target, tuple(found), whole, tuple(notes), tokens, gpu)


def _summed(kinds: Sequence[str], sizes: Mapping[str, int], source: Source) -> tuple[Kind, ...]:
    numbers, nbytes = Counter[str](), Counter[str]()
    for (name, _, _), kind in zip(source.entries, kinds, strict=True):
        numbers[kind] += 1
        nbytes[kind] += sizes[name]
    return tuple(Kind(kind, numbers[kind], amount) for kind, amount in nbytes.most_common())
