"""A model's tensors as the data rules see them: with their roles, and next to the same role in other layers."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, wraps
from itertools import accumulate
from math import log2, prod
from typing import NamedTuple, TypeVar

from inspector.auditing.rule import Check, Found, NotJudged
from inspector.auditing.subject import Subject
from inspector.auditing.values.numbers.facts import BLOCKS, Facts, Measured, Run
from inspector.model import Header, Key, Labelled, Packing, Reconciliation

#: Groups of roles whose matrices are trained.
LEARNT = frozenset({"attention", "feed_forward", "router", "convolution", "state_space"})
#: Embeddings and heads, whose rows may be unused.
TABLES = frozenset({"embed_tokens", "lm_head"})
#: The most tensors of a role that another is compared with, since there may be thousands.
MOST_PEERS = 64
#: The fewest other layers that show what is usual.
LEAST_PEERS = 2
#: A file system's allocation unit in bytes.
PAGE = 4096
#: The share of zeros in a tensor above which neither runs of zeros nor single bits mean anything.
SPARSE = 0.5
#: An interquartile range, in powers of two, larger than that of any learned numbers: a normal distribution's is 1.9.
SCRAMBLED = 6.0
#: Median, in powers of two, below which BF16 with that spread is F16. F32 is what weight decay left (LocalMapper).
MISREAD = -30.0
#: How far above their median, in powers of two, some of such numbers then are.
SCRAMBLED_REACH = 16.0
#: The largest magnitude beside which small ones may be what weight decay left, or a mask: of norms half of whose
#: channels are dead (IgFold's, whose median is 2**-19) it is 1.3, of a CRF's transitions 10,000 (monpa's); of bytes
#: read as numbers, near the dtype's largest, which for F16 and the scales of blocks is 65,504.
DECAYS_TO, HALF_DECAYS_TO = 1 << 20, 1 << 10
FLOATS = frozenset({"BF16", "F16", "F32", "F64"})
SMALL_FLOATS = frozenset({"F8_E4M3", "F8_E5M2", "F8_E4M3FNUZ", "F8_E5M2FNUZ"})
_Key = TypeVar("_Key")


class TensorData(NamedTuple):
    """A tensor with the facts about its data."""

    labelled: Labelled
    facts: Facts
    is_packed: bool  # whether it contains packed weights
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
    def nbytes(self) -> int:
        return self.labelled.tensor.nbytes

    @property
    def key(self) -> Key:
        return self.labelled.key

    @property
    def is_block(self) -> bool:
        """Whether its numbers are the scales of GGUF's blocks."""
        return self.dtype in BLOCKS

    @property
    def is_float(self) -> bool:
        return self.dtype in FLOATS or self.is_block

    @property
    def is_table(self) -> bool:
        """Whether it is an embedding or a head, whose rows may be unused."""
        return self.key.role in TABLES

    @property
    def is_norm(self) -> bool:
        """Whether it is a norm's weight."""
        return self.labelled.group == "norm" and self.key.part == "weight"

    @property
    def is_weight(self) -> bool:
        """Whether it is a trained matrix, or has more dimensions; includes packed ones."""
        if self.side is not None or self.labelled.group == "buffer" or self.key.part == "bias":
            return False
        matrix = sum(size > 1 for size in self.labelled.tensor.shape) >= 2 or self.is_packed
        return matrix and (self.dtype in FLOATS | SMALL_FLOATS or self.is_block or self.is_packed)

    @property
    def is_learnt(self) -> bool:
        """Whether it is a trained matrix of a known role."""
        return self.is_weight and (self.labelled.group in LEARNT or self.is_table)

    @property
    def is_scrambled(self) -> bool:
        """Whether its numbers are of every possible magnitude, so not numbers at all."""
        facts = self.facts
        if not self.is_float or self.labelled.group == "buffer" or facts.spread <= SCRAMBLED or facts.middle is None:
            return False
        if self.dtype == "BF16" and self.is_learnt and not self.is_table and facts.middle < MISREAD:
            return True
        far = (octaves(facts.largest) or 0.0) - facts.middle > SCRAMBLED_REACH
        most = HALF_DECAYS_TO if self.dtype == "F16" or self.is_block else DECAYS_TO
        return not facts.is_finite or (far and facts.largest > most)

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

    def is_row_end(self, place: int, near: int = 7) -> bool:
        """Whether a position in the file is within this many bytes of a row's end: numbers may have zero bytes."""
        at = place - self.labelled.tensor.offset
        return min(at % self.row, -at % self.row) <= near

    def has_within(self, place: int) -> bool:
        """Whether a position in the file is within its bytes, and not at an end of them."""
        return self.extent.start < place < self.extent.end

    def is_covered_by(self, run: Run) -> bool:
        return run.start <= self.extent.start and self.extent.end <= run.end

    def overlap(self, run: Run) -> int:
        """Bytes that it has in a range."""
        return min(run.end, self.extent.end) - max(run.start, self.extent.start)


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
            self._tensor_data(header, number, labels) for header in headers for number in range(len(header.tensors))
        )

    def _tensor_data(self, header: Header, number: int, labels: Mapping[tuple[str, str], Labelled]) -> TensorData:
        name, packing = header.tensors[number].name, self._packings.get(header.path)
        return TensorData(
            labels.get((header.path, name)) or _unknown(header, name, number),
            self.measured.facts[header.path, name],
            packing is not None and name in packing.names,
            packing.kinds.get(name, "other") if packing and name in packing.side else None,
        )

    def packing_of(self, seen: TensorData) -> Packing | None:
        """The packing of the model that a tensor belongs to."""
        return self._packings.get(seen.path)

    @cached_property
    def groups(self) -> Mapping[tuple[object, ...], Sequence[TensorData]]:
        """The tensors of one role, of all layers and experts, stored in the same way."""
        return grouped(self.all, _role)

    @cached_property
    def by_name(self) -> Mapping[str, TensorData]:
        return {each.name: each for each in self.all}

    @cached_property
    def layers(self) -> Mapping[tuple[str, int | None], Sequence[TensorData]]:
        """The tensors of each layer of a tower."""
        return grouped(self.all, lambda each: (each.key.tower, each.key.layer))

    def of(self, seen: TensorData) -> tuple[TensorData, ...]:
        """Other tensors of its role: all of them, or an evenly spread selection if there are many, such as experts."""
        group = self.groups[_role(seen)]
        return tuple(each for each in group[:: -(-len(group) // MOST_PEERS)] if each is not seen)

    @cached_property
    def files(self) -> Mapping[str, InFile]:
        """The tensors of each file."""
        tensors = grouped(self.all, lambda each: each.path)
        return {header.path: InFile(tensors.get(header.path, ())) for header in self.headers}


class InFile:
    """A file's tensors in the order of their bytes."""

    def __init__(self, tensors: Iterable[TensorData]) -> None:
        self.tensors = sorted(tensors, key=lambda each: each.labelled.tensor.offset)
        self._starts = [each.extent.start for each in self.tensors]
        self._ends = list(accumulate((each.extent.end for each in self.tensors), max))

    def touched(self, run: Run) -> list[TensorData]:
        """The tensors with bytes in a range."""
        last = bisect_left(self._starts, run.end)
        first = bisect_right(self._ends, run.start, 0, last)
        return [each for each in self.tensors[first:last] if run.start < each.extent.end]


def grouped(tensors: Iterable[TensorData], key: Callable[[TensorData], _Key]) -> dict[_Key, list[TensorData]]:
    """Tensors with the same key."""
    found: defaultdict[_Key, list[TensorData]] = defaultdict(list)
    for each in tensors:
        found[key(each)].append(each)
    return dict(found)


def _role(seen: TensorData) -> tuple[object, ...]:
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


def peers(subject: Subject) -> Peers | None:
    """The tensors with their data; None if it was not read."""
    if subject.measured is None:
        return None
    if "peers" not in subject.memo:
        subject.memo["peers"] = Peers(subject.measured, subject.results, subject.all_headers)
    found: Peers = subject.memo["peers"]
    return found


def all_tensors(judge: Callable[[Peers, Subject], Iterator[Found | NotJudged]]) -> Check:
    """Turn a function of the tensors into a rule's check, which finds nothing if their data was not read."""

    @wraps(judge)
    def check(subject: Subject) -> Iterator[Found | NotJudged]:
        found = peers(subject)
        return judge(found, subject) if found else iter(())

    return check


def each_tensor(describe: Callable[[TensorData, Peers, Subject], str | None]) -> Check:
    """Turn a function that describes what is wrong with a tensor into such a check of all of them."""

    @wraps(describe)
    def judge(found: Peers, subject: Subject) -> Iterator[Found]:
        for each in found.all:
            if message := describe(each, found, subject):
                yield Found(message, each.path, each.name)

    return all_tensors(judge)
