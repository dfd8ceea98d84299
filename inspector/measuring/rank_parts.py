"""Bytes of tensors that are spread over several files: assembles the parts that ranks of a run wrote."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from inspector.model import Checkpoint, Piece, Tensor


class Part(NamedTuple):
    """One file's part of a tensor."""

    path: str
    tensor: Tensor
    piece: Piece


#: Reads a part's elements from one index to another, as bytes in the order of its shape.
Read = Callable[[Part, int, int], bytes]


def parts_of(checkpoint: Checkpoint) -> dict[str, list[Part]]:
    """Name → parts of each tensor that is in several files; only one of several copies."""
    found: dict[str, dict[tuple[int, ...], Part]] = {}
    for header in checkpoint.files:
        for at, piece in header.pieces.items():
            tensor = header.tensors[at]
            if tensor.elements:
                found.setdefault(tensor.name, {}).setdefault(piece.start, Part(header.path, tensor, piece))
    return {name: [*parts.values()] for name, parts in found.items()}


def assembled(parts: Sequence[Part], width: int, start: int, stop: int, read: Read) -> bytes:
    """Elements `start` to `stop` of the whole, row-major; zeros where no file has a part.

    Args:
        width: bytes of an element.
    """
    whole = parts[0].piece.whole or (1,)
    row = max(1, prod(whole[1:]))
    first, last = start // row, -(-stop // row)
    rows = np.zeros((last - first, *whole[1:], width), np.uint8)
    for part in parts:
        if len(part.piece.start) == 1:
            _copy_flat_part(rows.reshape(-1, width), first * row, part, read)
        else:
            _copy_block(rows, first, part, read)
    return rows.reshape(-1, width)[start - first * row : stop - first * row].tobytes()


def _copy_flat_part(elements: np.ndarray[Any, Any], first: int, part: Part, read: Read) -> None:
    """Copy in a part of a tensor that was split after flattening."""
    begin = part.piece.start[0]
    low, high = max(first, begin), min(first + len(elements), begin + part.tensor.elements)
    if low < high:
        data = np.frombuffer(read(part, low - begin, high - begin), np.uint8)
        elements[low - first : high - first] = data.reshape(high - low, -1)


def _copy_block(rows: np.ndarray[Any, Any], first: int, part: Part, read: Read) -> None:
    """Copy in a part's share of some rows."""
    (begin, *others), shape = part.piece.start or (0,), part.tensor.shape or (1,)
    low, high = max(first, begin), min(first + len(rows), begin + shape[0])
    if low >= high:
        return
    row = prod(shape[1:])
    data = np.frombuffer(read(part, (low - begin) * row, (high - begin) * row), np.uint8)
    where = [slice(low - first, high - first)]
    where += [slice(at, at + size) for at, size in zip(others, shape[1:], strict=True)]
    rows[tuple(where)] = data.reshape(high - low, *shape[1:], -1)
