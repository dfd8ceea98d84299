"""Files' claims about themselves, next to the counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from inspector.model import Checkpoint, Claim, Tensor
from inspector.units import integer


def claims(checkpoint: Checkpoint, tensors: Sequence[Tensor], logical: int, scheme: str | None) -> Iterator[Claim]:
    """GGUF's key-values, and the totals in an index."""
    if checkpoint.format == "gguf":
        from inspector.opening import gguf_config  # needed only for GGUF files

        for claim in gguf_config.claims(checkpoint.files, logical, scheme):
            yield with_note(claim, sum(tensor.elements for tensor in tensors), logical)
    stated = checkpoint.index.metadata if checkpoint.index else {}
    counted = {"total_size": sum(tensor.nbytes for tensor in tensors), "total_parameters": logical}
    for name, count in counted.items():
        if stated.get(name) is not None:
            yield Claim(name, str(stated[name])[:40], count)


def with_note(claim: Claim, elements: int, logical: int) -> Claim:
    """Converters count all stored elements, constants included: Llama 3's 32 rope frequencies are not parameters."""
    if claim.name != "general.parameter_count" or claim.claimed != str(elements) or elements == logical:
        return claim
    return claim._replace(note=f"{integer(abs(elements - logical))} stored elements are not parameters")
