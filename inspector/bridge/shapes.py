"""Tensors whose size differs from the prediction, singly or in another layout."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from math import prod

from inspector.architectures.naming import Named
from inspector.architectures.prediction import size_of
from inspector.bridge.identify import Stored
from inspector.bridge.join import Unit
from inspector.bridge.ledger import Ledger
from inspector.bridge.words import short
from inspector.model import Expected, Finding, Severity
from inspector.model.codes import Code
from inspector.units import integer, plural

#: Roles whose first dimension counts a vocabulary.
VOCABULARY = ("embed_tokens", "embed_tokens_per_layer", "lm_head")

Resized = tuple[int, Expected]


def of_another_size(stored: Stored, resized: Iterable[Resized]) -> list[Resized]:
    """Those whose size differs: another order of dimensions is only another layout."""
    packing = stored.packing

    def differs(at: int, expected: Expected) -> bool:
        shape = stored.shapes[at]
        # For some packed weights only the number of elements is known.
        flat = packing is not None and len(shape) == 1 and stored.tensors[at].name in packing.shapes
        return not alike(shape, expected.shape) and not (flat and prod(shape) == expected.elements)

    return [(at, expected) for at, expected in resized if differs(at, expected)]


def alike(stored: tuple[int, ...], predicted: tuple[int, ...]) -> bool:
    """Whether the dimensions are the same, ignoring order and dimensions of 1."""
    return sorted(d for d in stored if d != 1) == sorted(d for d in predicted if d != 1)


def cause_of(role: str, stored: tuple[int, ...], predicted: tuple[int, ...]) -> str:
    """`vocab_padding` if only the vocabulary differs."""
    vocabulary = role in VOCABULARY and len(stored) == len(predicted)
    return "vocab_padding" if vocabulary and stored[1:] == predicted[1:] else "shape"


def book(ledger: Ledger, stored: Stored, named: Named, resized: Sequence[Resized], bits: int) -> Iterator[Finding]:
    """Book the difference in size, and return a finding for each row and shape."""
    alike_ones: dict[tuple[str, int, tuple[int, ...]], list[int]] = defaultdict(list)
    rows: dict[int, Expected] = {}
    for at, expected in resized:
        shape = stored.shapes[at]
        cause = cause_of(named.slots[at].role, shape, expected.shape)
        difference = size_of(prod(shape), bits) - size_of(expected.elements, bits)
        ledger.add(cause, difference, short(stored.tensors[at].name))
        alike_ones[cause, id(expected), shape].append(at)
        rows[id(expected)] = expected
    for (cause, row, shape), members in alike_ones.items():
        expected = rows[row]
        what = f"{times(shape)} stored, {times(expected.shape)} = {' × '.join(expected.formula)} predicted"
        more = f", and {plural(len(members) - 1, 'tensor')} like it" if len(members) > 1 else ""
        severity: Severity = "warning" if cause == "vocab_padding" else "error"
        name = stored.tensors[members[0]].name
        code: Code = "vocab-padding" if cause == "vocab_padding" else "shape"
        yield Finding(code, severity, what + more, None, name)


def book_units(ledger: Ledger, stored: Stored, units: Iterable[Unit], bits: int) -> Iterator[Finding]:
    """Book the difference, if any, of fused and stacked layouts."""
    for unit in units:
        elements = [prod(stored.shapes[at]) for at in unit.stored]
        predicted = [wanted.row.elements for wanted in unit.wanted]
        have, want = (sum(size_of(each, bits) for each in side) for side in (elements, predicted))
        if have != want:
            name = stored.tensors[unit.stored[0]].name
            ledger.add("shape", have - want, short(name), len(unit.stored))
            what = f"{integer(sum(elements))} elements stored, {integer(sum(predicted))} predicted for "
            yield Finding("shape", "error", what + unit.wanted[0].row.role, None, name)


#: The most dimensions of a shape that are shown: a header of a megabyte may give one tensor half a million.
MOST_SHOWN = 32


def times(shape: Iterable[int]) -> str:
    """`4096×32000`."""
    dims = tuple(shape)
    shown = "×".join(map(str, dims[:MOST_SHOWN])) or "scalar"
    return shown if len(dims) <= MOST_SHOWN else f"{shown}×… ({integer(len(dims))} dimensions)"
