"""Files written by torch, and our reading of them beside torch's (fixtures/makers/torch_files.py).

PYTHONPATH=tests python -m torch_files CASES    the cases of a file that are read differently
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import sys
import tempfile
import zlib
from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import Any

import inspector
from inspector.formats.dtypes import DTYPES
from inspector.formats.pytorch.layout import STORAGES
from inspector.model import Header, Piece

FIXTURES = Path(__file__).parents[1] / "fixtures" / "torch_files.jsonl"
WIDTHS = dict((*DTYPES.values(), *STORAGES.values()))

Row = tuple[str, str, tuple[int, ...], "tuple[int, ...] | None", "str | None"]


def cases(path: Path = FIXTURES) -> Iterator[dict[str, Any]]:
    for line in path.read_text().splitlines():
        yield json.loads(line)


def unpacked(text: str) -> bytes:
    return zlib.decompress(base64.b85decode(text))


def unpack(case: dict[str, Any], folder: Path) -> Path:
    """Write the case's files; the only file, or the folder of several."""
    for name, text in case["files"].items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(unpacked(text))
    return folder / next(iter(case["files"])) if len(case["files"]) == 1 else folder


def stated(case: dict[str, Any]) -> list[Row]:
    """Torch's own description of the file."""
    return sorted(
        (name, dtype, tuple(shape), stride and tuple(stride), sha)
        for name, dtype, shape, stride, sha in case["tensors"]
    )


def read(target: Path) -> list[Row]:
    """The inspector's description, including tensors under their second names."""
    checkpoint = inspector.open(target)
    root = target if target.is_dir() else target.parent
    return sorted(
        itertools.chain.from_iterable(_rows(header, (root / header.path).read_bytes()) for header in checkpoint.files)
    )


def _rows(header: Header, data: bytes) -> Iterator[Row]:
    names: dict[str, list[str]] = {}
    stored = {tensor.name for tensor in header.tensors}
    for other, kept in header.metadata.items():
        if isinstance(kept, str) and kept in stored and other not in stored:
            names.setdefault(kept, []).append(other)
    for at, tensor in enumerate(header.tensors):
        stride = header.strides.get(at)
        sha = _digest(data, tensor.offset, tensor.dtype, tensor.shape, stride) if tensor.offset else None
        for name in (tensor.name, *names.get(tensor.name, ())):
            yield name, tensor.dtype, tensor.shape, stride, sha


def _digest(data: bytes, offset: int, dtype: str, shape: tuple[int, ...], stride: tuple[int, ...] | None) -> str:
    width = WIDTHS[dtype]
    if stride is None:
        found = data[offset : offset + prod(shape) * width]
    else:
        places = (
            offset + width * sum(step * at for step, at in zip(stride, index, strict=True))
            for index in itertools.product(*map(range, shape))
        )
        found = b"".join(data[place : place + width] for place in places)
    return hashlib.sha256(found).hexdigest()[:16]


def wholes(target: Path) -> dict[str, tuple[str, tuple[int, ...], str]]:
    """Dtype, shape and SHA-256 of each tensor that is split between files, assembled from its parts."""
    checkpoint = inspector.open(target)
    found: dict[str, tuple[str, tuple[int, ...], bytearray]] = {}
    for header in checkpoint.files:
        data = (target / header.path).read_bytes()
        for at, piece in header.pieces.items():
            tensor, width = header.tensors[at], WIDTHS[header.tensors[at].dtype]
            assert at not in header.strides
            whole = found.setdefault(tensor.name, (tensor.dtype, piece.whole, bytearray(prod(piece.whole) * width)))[2]
            for number, place in enumerate(_places(tensor.shape, piece)):
                start = tensor.offset + number * width
                whole[place * width : (place + 1) * width] = data[start : start + width]
    return {
        name: (dtype, shape, hashlib.sha256(whole).hexdigest()[:16]) for name, (dtype, shape, whole) in found.items()
    }


def _places(shape: tuple[int, ...], piece: Piece) -> Iterator[int]:
    """The position in the flattened whole of each element of a part."""
    if len(piece.start) == 1:
        yield from range(piece.start[0], piece.start[0] + prod(shape))
        return
    steps = [prod(piece.whole[at + 1 :]) for at in range(len(piece.whole))]
    for index in itertools.product(*map(range, shape)):
        yield sum((start + at) * step for start, at, step in zip(piece.start, index, steps, strict=True))


def main(path: Path) -> int:
    wrong = total = 0
    for case in cases(path):
        total += 1
        with tempfile.TemporaryDirectory() as name:
            target = unpack(case, Path(name))
            try:
                found: object = read(target)
            except Exception as error:
                found = repr(error)
        if found != stated(case):
            wrong += 1
            print(case["case"], *_differences(stated(case), found), sep="\n  ")
    print(f"{total - wrong} of {total} agree")
    return 1 if wrong else 0


def _differences(expected: list[Row], found: object) -> Iterator[object]:
    if not isinstance(found, list):
        yield found
        return
    for label, one, two in (("torch", expected, found), ("inspector", found, expected)):
        yield from itertools.islice(((label, each) for each in one if each not in two), 6)


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
