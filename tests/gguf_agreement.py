"""Does our GGUF reader agree with the `gguf` package? On headers with a fault or two.

Whatever the package refuses must have a finding of ours. What ours calls an error and the package does not check is
listed in `UNLOOKED`, each a check of llama.cpp's own reader (ggml/src/gguf.cpp); anything else is a disagreement.
"""

from __future__ import annotations

import random
import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agreement import Bytes
from gguf_bytes import ARRAY, FLOAT32, STRING, UINT32, UINT64, Array, Info, Recipe

from inspector.auditing.verdicts import libraries
from inspector.errors import FormatError
from inspector.formats import gguf as ours

#: Rule → why the package accepts a file with this error.
UNLOOKED = {
    "hole": "it does not compare a tensor's end with the next one's beginning",
    "overlap": "the same",
    "out-of-order": "the same",
    "misaligned": "it asks for no alignment",
    "long-name": "names may be of any length",
    "n-dims": "tensors may have any number of dimensions",
    "empty-key": "a key may be empty",
    "dimension": "NumPy's integers wrap around",
    "elements": "the same",
    "duplicate-tensor": "two names that are one up to a zero are two",
    "partial-block": "an empty tensor has no rows to be divided",
}
#: The package's message → why it refuses what llama.cpp accepts.
ALONE = {"tuple index out of range": "a number by itself (no dimensions) in BF16, for which it looks for a row"}
#: Words of our refusals → why the package reads on.
READ_ON = {
    "dimensions: at most": "tensors may have any number of dimensions",
    "not GGUF's": "an array without items may be of any type",
    "inside the value of": "a text that ends beyond the file is cut off without a word",
    "inside the name of": "the same",
    "inside key": "the same",
}


def sound(draw: random.Random) -> Recipe:
    """A small file that both readers accept."""
    kinds = {0: (1, 4), 1: (1, 2), 2: (32, 18), 8: (32, 34), 12: (256, 144)}
    infos, at = [], 0
    for number in range(draw.randint(0, 3)):
        kind = draw.choice(list(kinds))
        block, width = kinds[kind]
        dims = [block * draw.randint(1, 2), *(draw.randint(1, 3) for _ in range(draw.randint(0, 2)))]
        elements = 1
        for dim in dims:
            elements *= dim
        infos.append(Info(f"blk.{number}.t", dims, kind, at))
        at += -(-elements * width // block // 32) * 32
    pairs: list[Any] = [
        ("general.architecture", STRING, "llama"),
        ("general.alignment", UINT32, 32),
        ("a.list", ARRAY, Array(STRING, ["x", "yy", ""])),
        ("a.numbers", ARRAY, Array(FLOAT32, [1.0, 2.0])),
        ("a.number", UINT64, 7),
    ]
    version = draw.choice((2, 3, 3))
    return Recipe(
        version, draw.choice("<<<>"), pairs=draw.sample(pairs, draw.randint(0, 5)), infos=infos, data=bytes(at)
    )


def _spoil(recipe: Recipe, draw: random.Random) -> None:
    """Change one field of the recipe."""
    numbers = (0, 1, 2, 31, 33, 64, 255, 2**31, 2**32 - 1, 2**63, 2**64 - 1)
    how = draw.randrange(9)
    if how < 5 and recipe.infos:
        info = draw.choice(recipe.infos)
        if how == 0:
            info.offset = draw.choice((info.offset + 32, info.offset + 1, *numbers))
        elif how == 1:
            info.type = draw.choice((0, 1, 3, 4, 5, 30, 39, 200))
        elif how == 2:
            info.dims = draw.choice((info.dims[:-1], [*info.dims, 2], [draw.choice(numbers), *info.dims[1:]], [1] * 5))
        elif how == 3:
            info.name = draw.choice((recipe.infos[0].name, b"\xff", "", "x" * 80, b"blk.0.t\0"))
        else:
            info.n_dims = draw.choice((0, 1, 5, 2**32 - 1))
    elif how == 5 and recipe.pairs:
        key, kind, value = draw.choice(recipe.pairs)
        extra = draw.choice(
            ((key, kind, value), ("", UINT32, 1), (b"\xfe", UINT32, 1), ("general.alignment", UINT64, 32))
        )
        recipe.pairs = [*recipe.pairs, extra]
    elif how == 6:
        array = draw.choice((Array(77, []), Array(STRING, [], 2**62), Array(FLOAT32, [], 2**40), Array(UINT32, [1], 2)))
        recipe.pairs = [*recipe.pairs, ("b", ARRAY, array)]
    elif how == 7:
        recipe.pairs = [("general.alignment", UINT32, draw.choice(numbers[:9])), *recipe.pairs]
    else:
        recipe.version = draw.choice((0, 1, 4, 2))


def files(number: int, seed: int) -> Iterator[bytes]:
    """Draw files, each at most a few faults away from a sound one."""
    draw = random.Random(seed)
    for _ in range(number):
        recipe = sound(draw)
        for _ in range(draw.choice((0, 1, 1, 2))):
            _spoil(recipe, draw)
        try:
            raw = recipe.file()
        except struct.error:  # a number that this version has no room for
            continue
        for _ in range(draw.choice((0, 0, 0, 1))):
            at = draw.randrange(len(raw) or 1)
            raw = draw.choice((raw[:at], raw[:at] + bytes([draw.randrange(256)]) + raw[at + 1 :], raw + bytes(64)))
        yield raw


def disagreement(path: Path, raw: bytes, refused: str) -> str | None:
    """An unexpected disagreement about a file; None where the two readers agree."""
    try:
        header = ours.read(Bytes(raw), path.name)
    except FormatError as error:
        if refused or any(word in str(error) for word in READ_ON):
            return None
        return f"ours alone refuses: {error}"
    errors = {each.rule for each in header.findings if each.severity == "error"}
    if any(not tensor.nbytes or tensor.offset >= 2**62 for tensor in header.tensors):
        errors.discard("truncated")  # an empty tensor may lie anywhere, and an offset beyond 63 bits wraps around
    if refused and not header.findings and refused not in ALONE:
        return f"gguf alone refuses: {refused}"
    if not refused and (unlisted := errors - UNLOOKED.keys()):
        return f"ours alone has {sorted(unlisted)}: {[each for each in header.findings if each.rule in unlisted][:2]}"
    return None


def compare(number: int, seed: int) -> Iterator[str]:
    """The disagreements of the two readers on `count` files."""
    with tempfile.TemporaryDirectory() as folder, libraries(own_process=False) as ask:
        path = Path(folder, "x.gguf")
        for raw in files(number, seed):
            path.write_bytes(raw)
            refused = ask.gguf(path)
            assert refused is not None, "the gguf package is not installed"
            if reported := disagreement(path, raw, refused):
                yield f"{reported}\n    {raw[:200]!r}"
