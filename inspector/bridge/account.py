"""Step 5: the cost of each difference between stored and predicted tensors, and the findings about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import NamedTuple

from inspector.architectures.naming import Named
from inspector.bridge import missing, shapes, surplus, widths
from inspector.bridge.identify import Stored
from inspector.bridge.join import Joined
from inspector.bridge.ledger import Ledger
from inspector.bridge.tally import Kind
from inspector.bridge.words import short
from inspector.formats import training
from inspector.model import Finding, Prediction
from inspector.units import integer, plural


class Account(NamedTuple):
    """The result of the join, apart from the bytes in the ledger."""

    parameters: Sequence[int]  # logical, one number per tensor; 0 for buffers, side data and second copies
    unexplained: tuple[str, ...]  # names of tensors
    findings: tuple[Finding, ...]
    claimed: Mapping[str, Sequence[int]]  # cause → positions of the tensors beyond the prediction that it explains


def account(
    ledger: Ledger,
    stored: Stored,
    named: Named,
    kinds: Sequence[Counter[Kind]],
    joined: Joined,
    prediction: Prediction | None,
    bits: int,
) -> Account:
    """Book every difference.

    Args:
        bits: bits per element at which the prediction's bytes are counted.
    """
    parameters = list(map(prod, stored.shapes))
    resized = shapes.of_another_size(stored, joined.resized)
    told = [*shapes.book(ledger, stored, named, resized, bits)]
    told += shapes.book_units(ledger, stored, joined.units, bits)
    for role, those in _widths(stored, named, kinds, joined, parameters):
        widths.book(ledger, role, those, bits, stored.packing)
    for at in joined.copies:
        name = stored.tensors[at].name
        cause, word = ("training_state", training.kind_of(name)) if training.is_state(name) else ("duplicate", "")
        ledger.add(cause, stored.tensors[at].nbytes, word or short(name))
    claimed = surplus.book(ledger, stored, named, joined.surplus, prediction)
    for at in (*joined.copies, *claimed.no_parameters):
        parameters[at] = 0
    unexplained = tuple(stored.tensors[at].name for at in claimed.unexplained)
    if unexplained and prediction:
        what = f"{plural(len(unexplained), 'tensor')} that the configuration does not predict"
        told.append(Finding("unexplained", "warning", what, None, unexplained[0]))
    told += missing.book(ledger, joined.missing, _same(stored), bits, stored.is_lost)
    missing.book_ties(ledger, prediction)
    by_cause = {**claimed.by_cause, "duplicate": [*claimed.by_cause.get("duplicate", ()), *joined.copies]}
    matched = sum(len(named.groups[number][1]) for number in joined.whole) + sum(
        len(those) for _, those in joined.matched
    )
    return Account(parameters, unexplained, _findings(stored, len(resized), matched, told), by_cause)


def _widths(
    stored: Stored, named: Named, kinds: Sequence[Counter[Kind]], joined: Joined, parameters: list[int]
) -> Iterator[tuple[str, Mapping[widths.Width, int]]]:
    """Role → how its tensors are stored, for all predicted roles."""
    for number in joined.whole:
        yield named.groups[number][0].role, widths.of_kinds(kinds[number])
    for slot, members in joined.matched:
        yield slot.role, widths.of_tensors(stored, parameters, members)
    for unit in joined.units:
        for at in unit.stored:
            yield named.slots[at].role, widths.of_tensors(stored, parameters, (at,))


def _same(stored: Stored) -> dict[str, str]:
    """Name of a tensor that is stored under another name → that name."""
    return {other: kept for kept, others in stored.shared.items() for other in others}


def _findings(stored: Stored, resized: int, matched: int, told: Sequence[Finding]) -> tuple[Finding, ...]:
    """All findings; a single one if the configuration is another model's.

    Args:
        resized: tensors whose size differs from the prediction, out of those `matched`.
    """
    if not stored.tensors:
        return (Finding("no-tensors", "info", "no tensors: a vocabulary, or an empty file"),)
    first = next((each for each in told if each.rule == "shape"), None)
    if first is None or resized * 2 <= matched:
        return tuple(told)
    what = f"{integer(resized)} of {integer(matched)} tensors differ in size from what the configuration predicts"
    return (first._replace(message=f"{what}, so it is another model's. The first: {first.message}"),)
