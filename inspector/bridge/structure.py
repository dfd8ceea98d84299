"""What a model's weights are, whatever they are called and however they are stored.

    structure_id(result) → "5b0e…", the same for any names, files, order, dtypes and formats

A digest of keys and logical shapes. Projections that a layout fuses, and experts that it stacks, are taken together: of
these only the number of elements is the same in every layout. Of other weights the dimensions are, but for their order
and those of 1, which converters drop.
"""

from __future__ import annotations

from collections import defaultdict
from hashlib import blake2b
from math import prod

from inspector.architectures.data.projections import BRANCHED, COARSE, FUSED
from inspector.model import STACKED, Key, Labelled, Reconciliation

#: Bytes of the digest.
_LENGTH = 8


def structure_id(result: Reconciliation) -> str | None:
    """16 hexadecimal digits; None if a weight has no key, or if there is none.

    Buffers, side data, and second copies of tied weights do not count, since some formats leave them out.
    """
    found: dict[Key, list[tuple[int, ...]]] = defaultdict(list)
    for each in result.tensors:
        if each.parameters:
            if not each.key.role:
                return None
            found[fused(stacked(each.key))].append(_logical_shape(each, result))
    lines = sorted(f"{tuple(key)}\0{_invariant(key, shapes)}" for key, shapes in found.items())
    joined = "\n".join(lines).encode("utf-8", "surrogatepass")
    return blake2b(joined, digest_size=_LENGTH).hexdigest() if lines else None


def _invariant(key: Key, shapes: list[tuple[int, ...]]) -> tuple[int, ...]:
    if key.expert == STACKED or key.role in FUSED or key.role in BRANCHED.values() or len(shapes) > 1:
        return (sum(map(prod, shapes)),)
    return tuple(sorted(size for size in shapes[0] if size != 1))


def _logical_shape(each: Labelled, result: Reconciliation) -> tuple[int, ...]:
    return result.packing.shapes.get(each.tensor.name, each.tensor.shape) if result.packing else each.tensor.shape


def stacked(key: Key) -> Key:
    """The key of all experts together."""
    return key if key.expert is None else key._replace(expert=STACKED)


def fused(key: Key) -> Key:
    """The key under which all layouts of a projection can be compared."""
    if not key.role:
        return key
    whole = BRANCHED.get(f"{key.branch} {key.role}")
    return key._replace(branch="", role=whole) if whole else key._replace(role=COARSE.get(key.role, key.role))
