"""What a model's weights are, whatever they are called and however they are stored.

    structure_id(result) → "5b0e…", the same for any names, files, order, dtypes and formats

A digest of keys and logical shapes. Projections that a layout fuses, and experts that it stacks, are taken together: of
these only the number of elements is the same in every layout. Of other weights the dimensions are, but for their order
and those of 1, which converters drop.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b
from math import prod

from inspector.architectures.data.projections import BRANCHED, COARSE, FUSED
from inspector.model import STACKED, Key, Labelled, Reconciliation

#: Roles of which only the number of elements is the same in every layout.
_SUMMED = FUSED | {*BRANCHED.values()}
#: Bytes of the digest.
_LENGTH = 8


def structure_id(result: Reconciliation, tensors: Iterable[Labelled] | None = None) -> str | None:
    """16 hexadecimal digits; None if a weight has no key, or if there is none.

    Buffers, side data, and second copies of tied weights do not count, since some formats leave them out.

    Args:
        tensors: the result's, where its keys have been made already.
    """
    packed = result.packing.shapes if result.packing else {}
    wholes: dict[tuple[str, str], tuple[str, str]] = {}  # role and branch → the same of `fused`
    found: dict[tuple[object, ...], list[tuple[int, ...]]] = defaultdict(list)
    predicted: dict[Key, tuple[int, ...]] | None = None
    for tensor, _, key, _, parameters in result.tensors if tensors is None else tensors:
        if not parameters:
            continue
        tower, layer, expert, role, part, branch, indexes = key
        if not role:
            return None
        whole = wholes.get((role, branch))
        if whole is None:
            joined = fused(key)
            whole = wholes[role, branch] = joined.role, joined.branch
        place = (tower, layer, None if expert is None else STACKED, whole[0], part, whole[1], indexes)
        shape = packed.get(tensor.name, tensor.shape)
        if len(shape) < 2 and tensor.name in packed:  # 4 bits of bitsandbytes: the shape is among the values
            predicted = _predicted_shapes(result) if predicted is None else predicted
            known = predicted.get(key, shape)
            shape = known if prod(known) == prod(shape) else shape
        found[place].append(shape)
    lines = sorted(f"{place}\0{_invariant(place, shapes)}" for place, shapes in found.items())
    text = "\n".join(lines).encode("utf-8", "surrogatepass")
    return blake2b(text, digest_size=_LENGTH).hexdigest() if lines else None


def _predicted_shapes(result: Reconciliation) -> dict[Key, tuple[int, ...]]:
    rows = result.prediction.expected if result.prediction else ()
    return {key: row.shape for row in rows for key in row.keys()}


def _invariant(place: tuple[object, ...], shapes: list[tuple[int, ...]]) -> tuple[int, ...]:
    if len(shapes) > 1 or place[2] == STACKED or place[3] in _SUMMED:
        return (sum(map(prod, shapes)),)
    return _dimensions(shapes[0])


@lru_cache(4096)  # few shapes, many tensors
def _dimensions(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sorted(size for size in shape if size != 1))


def stacked(key: Key) -> Key:
    """The key of all experts together."""
    return key if key.expert is None else key._replace(expert=STACKED)


def fused(key: Key) -> Key:
    """The key under which all layouts of a projection can be compared."""
    if not key.role:
        return key
    whole = BRANCHED.get(f"{key.branch} {key.role}")
    return key._replace(branch="", role=whole) if whole else key._replace(role=COARSE.get(key.role, key.role))
