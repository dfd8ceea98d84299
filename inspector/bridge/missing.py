"""Predicted tensors that are not stored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from inspector.architectures.data.roles import group_of
from inspector.architectures.prediction import size_of
from inspector.bridge.join import Wanted
from inspector.bridge.ledger import Ledger
from inspector.bridge.words import short
from inspector.model import Finding, Prediction, Severity
from inspector.units import plural

#: The roles of the output head, and of the token embedding that may replace it.
HEAD, EMBEDDING = "lm_head", "embed_tokens"
#: Statistics of training: without them a batch norm starts with zeros and ones, after a one-line warning.
MEASURED = ("running_mean", "running_var")


def book(
    ledger: Ledger,
    missing: Sequence[Wanted],
    shared: Mapping[str, str],
    bits: int,
    is_lost: Callable[[str], bool],
) -> Iterator[Finding]:
    """A step for their bytes, and a finding for each row of the prediction.

    Args:
        shared: name → the stored tensor that is the same according to the file.
        is_lost: whether a tensor of this name is in a file that is missing: such a head is not tied.
    """
    rows: dict[str, list[Wanted]] = {}
    may_be_tied = _may_be_tied(missing, is_lost)
    for each in missing:
        same = shared.get(each.name) if shared else None
        if not each.row.buffer:
            head = each.row.role == HEAD and may_be_tied
            why = f" again: it is {short(same)}" if same else ", which nothing uses" if each.row.spare else ""
            what = f"{short(each.row.name)} not stored{why}"
            ledger.add("tied_embeddings" if head or same else "missing", -size_of(each.row.elements, bits), what)
        if not same:
            rows.setdefault(each.row.name, []).append(each)
    for those in rows.values():
        yield _finding(those, may_be_tied=may_be_tied)


def _may_be_tied(missing: Iterable[Wanted], is_lost: Callable[[str], bool]) -> bool:
    """Whether an absent head may be the embedding: that is there, or in a missing file, and the head is not in one."""
    embeddings = (each.name for each in missing if each.row.role == EMBEDDING)
    heads = (each.name for each in missing if each.row.role == HEAD)
    return all(map(is_lost, embeddings)) and not any(map(is_lost, heads))


def _finding(those: Sequence[Wanted], *, may_be_tied: bool) -> Finding:
    """The finding for the tensors of one row."""
    first = those[0]
    if first.row.role == HEAD and may_be_tied:
        what = "the configuration has a separate head, but none is stored: it is tied after all, or left out"
        return Finding("head-not-stored", "warning", what, None, first.name)
    # Loaders create buffers, and what nothing uses, themselves, and newer writers omit some; but they cannot recreate
    # measurements, or the weights of a frozen norm.
    made = first.row.spare or (first.row.buffer and group_of(first.row.role) != "norm")
    severity: Severity = "warning" if first.row.role in MEASURED else "info" if made else "error"
    what = f"{plural(len(those), 'tensor')} of {first.row.role} predicted and not stored"
    return Finding("missing", severity, what, None, first.name)


def book_ties(ledger: Ledger, prediction: Prediction | None) -> None:
    """Report a tied head even when it costs no bytes."""
    for expected in prediction.tied if prediction else ():
        if expected.part == "weight" and "tied_embeddings" not in ledger.bytes:
            ledger.tell("tied_embeddings", 0, f"{expected.role} is the token embedding: not stored twice")
