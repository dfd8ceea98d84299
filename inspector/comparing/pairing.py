"""Tensors of two checkpoints, paired by their keys.

    pairs(a, b) → a Pair for each tensor, or for the tensors that one side fuses or stacks

Keys are compared whole first. What is left over is compared under coarser keys, which layouts share: all experts of a
layer together, then the projections that some writers fuse (`qkv_proj`), then both. What then is left is only in one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import prod
from typing import Literal, NamedTuple

from inspector.architectures.data.fusions import COARSE
from inspector.model import STACKED, Key, Labelled, Reconciliation

Status = Literal["same", "dtype", "shape", "only_a", "only_b"]


class Side(NamedTuple):
    """The tensors of one pair on one side: one, or those that the other side fuses or stacks."""

    tensors: tuple[Labelled, ...]
    shapes: tuple[tuple[int, ...], ...]  # logical, row-major: packed weights as the model has them
    dtype: str  # of the weights as stored; of several, joined by "+"
    nbytes: int  # as stored, the side data of packed weights included

    @property
    def elements(self) -> int:
        """Logical elements of all of them."""
        return sum(map(prod, self.shapes))

    @property
    def parameters(self) -> int:
        return sum(each.parameters for each in self.tensors)


class Pair(NamedTuple):
    """What one key, or one coarser key, has on either side."""

    key: Key
    status: Status
    a: Side | None
    b: Side | None


def pairs(a: Reconciliation, b: Reconciliation) -> tuple[Pair, ...]:
    """Every tensor of both, once: first what both have, in the order of `a`, then what only one has.

    Side data of packed weights is counted with the weight that it serves.
    """
    left, right = _Store(a), _Store(b)
    found: list[Pair] = []
    for coarse in (lambda key: key, _without_experts, _fused, lambda key: _fused(_without_experts(key))):
        found += _matched(left, right, coarse)
    found += [Pair(key, "only_a", side, None) for key, side in left.rest()]
    found += [Pair(key, "only_b", None, side) for key, side in right.rest()]
    return tuple(found)


class _Store:
    """The tensors of one checkpoint that are not paired yet."""

    def __init__(self, result: Reconciliation) -> None:
        packing = result.packing
        self._shapes = packing.shapes if packing else {}
        self._scheme = packing.scheme if packing else ""
        self._served: dict[str, int] = defaultdict(int)
        served = packing.side if packing else {}
        names = packing.names if packing else {}
        self._names = names
        self.left: dict[Key, list[Labelled]] = {}
        for each in result.tensors:
            if each.tensor.name in served:
                self._served[served[each.tensor.name]] += each.tensor.nbytes
            else:
                self.left.setdefault(each.key, []).append(each)

    def side(self, tensors: Sequence[Labelled]) -> Side:
        dtypes = dict.fromkeys(self._dtype(each) for each in tensors)
        return Side(
            tuple(tensors),
            tuple(self._shapes.get(each.tensor.name, each.tensor.shape) for each in tensors),
            "+".join(dtypes),
            sum(each.tensor.nbytes + self._side_bytes(each.tensor.name) for each in tensors),
        )

    def _dtype(self, each: Labelled) -> str:
        """A tensor's dtype; of words that hold packed weights, the scheme: `gptq`, not `I32`."""
        return self._scheme if each.tensor.name in self._shapes else each.tensor.dtype

    def _side_bytes(self, name: str) -> int:
        return self._served.get(self._names.get(name, name), 0)

    def take(self, keys: Iterable[Key]) -> Side:
        return self.side([each for key in keys for each in self.left.pop(key)])

    def rest(self) -> Iterator[tuple[Key, Side]]:
        for key, tensors in self.left.items():
            yield key, self.side(tensors)

    def by(self, coarse: Callable[[Key], Key]) -> dict[Key, list[Key]]:
        groups: dict[Key, list[Key]] = {}
        for key in self.left:
            groups.setdefault(coarse(key), []).append(key)
        return groups


def _matched(a: _Store, b: _Store, coarse: Callable[[Key], Key]) -> list[Pair]:
    """The pairs under a coarser key. Two unrelated leftovers of one coarse key are no pair: their sizes must agree."""
    found: list[Pair] = []
    theirs = b.by(coarse)
    for key, own in a.by(coarse).items():
        other = theirs.get(key)
        if other is None:
            continue
        exact = len(own) == len(other) == 1 and own == other
        left, right = a.take(own), b.take(other)
        if not exact and left.elements != right.elements:
            a.left.update(_regrouped(left))
            b.left.update(_regrouped(right))
            continue
        found.append(Pair(key, _status(left, right), left, right))
    return found


def _regrouped(side: Side) -> dict[Key, list[Labelled]]:
    back: dict[Key, list[Labelled]] = {}
    for each in side.tensors:
        back.setdefault(each.key, []).append(each)
    return back


def _status(a: Side, b: Side) -> Status:
    if not _alike(a.shapes, b.shapes):
        return "shape"
    return "same" if a.dtype == b.dtype else "dtype"


def _alike(a: Sequence[tuple[int, ...]], b: Sequence[tuple[int, ...]]) -> bool:
    """Whether shapes agree. Of tensors that one side fuses, stacks or flattens, it is the number of elements that does.

    Layouts differ in what means nothing: dimensions of 1, which converters drop (a convolution's [d, 1, 4] is GGUF's
    [d, 4]), and the order of the two of a matrix, which GPT-2 stores as [in, out].
    """
    if len(a) != len(b) or any(len(shape) == 1 for shape in (*a, *b)):
        return sum(map(prod, a)) == sum(map(prod, b))
    return sorted(map(_dimensions, a)) == sorted(map(_dimensions, b))


def _dimensions(shape: tuple[int, ...]) -> list[int]:
    return sorted(size for size in shape if size != 1)


def is_transposed(pair: Pair) -> bool:
    """Whether one side stores a matrix as the other's transpose."""
    if pair.a is None or pair.b is None or len(pair.a.shapes) != 1 or len(pair.b.shapes) != 1:
        return False
    own, other = pair.a.shapes[0], pair.b.shapes[0]
    return len(own) == 2 and own != other and own == other[::-1]


def _without_experts(key: Key) -> Key:
    return key if key.expert is None else key._replace(expert=STACKED)


def _fused(key: Key) -> Key:
    return key._replace(role=COARSE.get(key.role, key.role))
