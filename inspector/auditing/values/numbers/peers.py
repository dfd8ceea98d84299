"""A model's tensors as the data rules see them: with their roles, and next to the same role in other layers."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from math import log2, prod
from typing import TYPE_CHECKING, NamedTuple

from inspector.auditing.values.numbers.facts import Facts, Run
from inspector.formats.gguf.types import TYPES
from inspector.model import Header, Key, Labelled, Packing, Reconciliation

if TYPE_CHECKING:  # it needs NumPy
    from inspector.auditing.values.numbers.passing import Measured

#: Groups of roles whose matrices are trained.
LEARNT = frozenset({"attention", "feed_forward", "router", "convolution", "state_space"})
#: Embeddings and heads, whose rows may be unused.
TABLES = frozenset({"embed_tokens", "lm_head"})
#: The most tensors of a role that another is compared with, since there may be thousands.
MOST_PEERS = 64
_BLOCKS = frozenset(kind.name for kind in TYPES.values() if kind.block > 1)
FLOATS = frozenset({"BF16", "F16", "F32", "F64"})
SMALL_FLOATS = frozenset({"F8_E4M3", "F8_E5M2", "F8_E4M3FNUZ", "F8_E5M2FNUZ"})


class Seen(NamedTuple):
    """A tensor with the facts about its data."""

    labelled: Labelled
    facts: Facts
    holds: bool  # whether it holds packed weights
    side: str | None  # its purpose for packed weights, if it serves them: "scales"

    @property
    def name(self) -> str:
        return self.labelled.tensor.name

    @property
    def path(self) -> str:
        return self.labelled.file

    @property
    def dtype(self) -> str:
        return self.labelled.tensor.dtype

    @property
    def key(self) -> Key:
        return self.labelled.key

    @property
    def is_block(self) -> bool:
        """Whether its numbers are the scales of GGUF's blocks."""
        return self.dtype in _BLOCKS

    @property
    def is_float(self) -> bool:
        return self.dtype in FLOATS or self.is_block

    @property
    def is_weight(self) -> bool:
        """Whether it is a trained matrix, or has more dimensions; includes packed ones."""
        if self.side is not None or self.labelled.group == "buffer" or self.key.part == "bias":
            return False
        matrix = sum(size > 1 for size in self.labelled.tensor.shape) >= 2 or self.holds
        return matrix and (self.dtype in FLOATS | SMALL_FLOATS or self.is_block or self.holds)

    @property
    def is_learnt(self) -> bool:
        """Whether it is such a matrix of a known role."""
        return self.is_weight and (self.labelled.group in LEARNT or self.key.role in TABLES)

    @property
    def extent(self) -> Run:
        tensor = self.labelled.tensor
        return Run(tensor.offset, tensor.offset + tensor.nbytes)

    @property
    def row(self) -> int:
        """Bytes of a row; the tensor's of one dimension."""
        tensor = self.labelled.tensor
        rows = prod(tensor.shape[:-1])
        return tensor.nbytes // rows if len(tensor.shape) > 1 and rows and tensor.nbytes % rows == 0 else tensor.nbytes

    def is_row_end(self, place: int) -> bool:
        """Whether a position in the file is the end of a row, up to zero bytes of a number."""
        at = place - self.labelled.tensor.offset
        return min(at % self.row, -at % self.row) < 8


class Peers:
    """All tensors of a model, and those with the same role."""

    def __init__(self, measured: Measured, results: Sequence[Reconciliation], headers: tuple[Header, ...]) -> None:
        """
        Args:
            results: of the model, and of others next to it.
        """
        self.measured = measured
        self.headers = headers
        labels = dict(pair for number, result in enumerate(results) for pair in _labelled(result, number))
        self._packings = {header.path: result.packing for result in results for header in result.checkpoint.files}
        self.all = tuple(
            self._seen(header, number, labels) for header in headers for number in range(len(header.tensors))
        )

    def _seen(self, header: Header, number: int, labels: Mapping[tuple[str, str], Labelled]) -> Seen:
        name, packing = header.tensors[number].name, self._packings.get(header.path)
        return Seen(
            labels.get((header.path, name)) or _unknown(header, name, number),
            self.measured.facts[header.path, name],
            packing is not None and name in packing.names,
            packing.kinds.get(name, "other") if packing and name in packing.side else None,
        )

    def packing_of(self, seen: Seen) -> Packing | None:
        """The packing of the model that a tensor belongs to."""
        return self._packings.get(seen.path)

    @cached_property
    def groups(self) -> Mapping[tuple[object, ...], tuple[Seen, ...]]:
        """The tensors of one role, of all layers and experts, stored in the same way."""
        found: dict[tuple[object, ...], list[Seen]] = defaultdict(list)
        for each in self.all:
            found[_role(each)].append(each)
        return {role: tuple(together) for role, together in found.items()}

    @cached_property
    def by_name(self) -> Mapping[str, Seen]:
        return {each.name: each for each in self.all}

    @cached_property
    def layers(self) -> Mapping[tuple[str, int | None], tuple[Seen, ...]]:
        """The tensors of each layer of a tower."""
        found: dict[tuple[str, int | None], list[Seen]] = defaultdict(list)
        for each in self.all:
            found[each.key.tower, each.key.layer].append(each)
        return {place: tuple(together) for place, together in found.items()}

    def of(self, seen: Seen) -> tuple[Seen, ...]:
        """Other tensors of its role: all of them, or an evenly spread selection if there are many, such as experts."""
        group = self.groups[_role(seen)]
        return tuple(each for each in group[:: -(-len(group) // MOST_PEERS)] if each is not seen)

    @cached_property
    def files(self) -> Mapping[str, InFile]:
        """The tensors of each file."""
        found: dict[str, list[Seen]] = {header.path: [] for header in self.headers}
        for each in self.all:
            found[each.path].append(each)
        return {path: InFile(tensors) for path, tensors in found.items()}


class InFile:
    """A file's tensors in the order of their bytes."""

    def __init__(self, tensors: Iterable[Seen]) -> None:
        self.tensors = sorted(tensors, key=lambda each: each.labelled.tensor.offset)
        self._starts = [each.extent.start for each in self.tensors]
        self._ends = list(accumulate((each.extent.end for each in self.tensors), max))

    def touched(self, run: Run) -> list[Seen]:
        """The tensors with bytes in a range."""
        last = bisect_left(self._starts, run.end)
        first = bisect_right(self._ends, run.start, 0, last)
        return [each for each in self.tensors[first:last] if run.start < each.extent.end]


def _role(seen: Seen) -> tuple[object, ...]:
    key, name = seen.key, "" if seen.key.role else seen.name
    return (key.tower, key.branch, key.role, key.part, name, seen.is_block or seen.dtype, seen.side)


def _labelled(result: Reconciliation, number: int) -> Iterator[tuple[tuple[str, str], Labelled]]:
    """(file, tensor) → its label; in its own tower if the model is one of several in the folder."""
    for each in result.tensors:
        own = each._replace(key=each.key._replace(tower=f"{each.key.tower} {number}")) if number else each
        yield (each.file, each.tensor.name), own


def _unknown(header: Header, name: str, number: int) -> Labelled:
    """A tensor of which only the name is known."""
    part = name.rpartition(".")[2]
    return Labelled(header.tensors[number], header.path, Key("text", None, None, "", part), "other", 0)


def octaves(value: float) -> float | None:
    """A magnitude in powers of two; None for zero."""
    return log2(value) if value > 0 else None
