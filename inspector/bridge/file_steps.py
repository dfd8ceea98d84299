"""Steps about files: headers, padding, and tensors that extend beyond a file's end or overlap."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from inspector.bridge import causes
from inspector.bridge.ledger import Ledger
from inspector.model import Header
from inspector.units import plural


def book(ledger: Ledger, files: Sequence[Header]) -> None:
    """Book each file's bytes that belong to no tensor, and those that tensors claim beyond its end."""
    for header in files:
        for region in header.regions:
            cause = causes.REGION_CAUSES.get(region.label)
            if cause is not None:
                ledger.tell(cause, region.size, "" if cause == "header" else causes.BY_NAME[cause].meaning)
        _book_claims(ledger, header)
    if "header" in ledger.bytes:
        for name, number in Counter(header.format for header in files).items():
            ledger.tell("header", 0, plural(number, f"{name} header"))


def _book_claims(ledger: Ledger, header: Header) -> None:
    """Book what tensors claim beyond the regions that hold them."""
    held = sum(region.size for region in header.regions if region.label not in causes.REGION_CAUSES)
    claimed = sum(tensor.nbytes for tensor in header.tensors)
    if claimed == held:
        return
    # All bytes of a tensor that begins beyond the end; of others, those after the end.
    beyond = sum(max(0, t.offset + t.nbytes - max(header.size, t.offset)) for t in header.tensors)
    if beyond:
        ledger.tell("truncated", -beyond, f"{plural(beyond, 'byte')} beyond the end of {header.path}")
    if held - claimed + beyond:
        ledger.tell("overlap", held - claimed + beyond, causes.BY_NAME["overlap"].meaning)
