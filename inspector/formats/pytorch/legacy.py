"""What `torch.save` wrote before 1.6: pickles in a row, followed by the storages as raw bytes.

Before 0.1.10 a tar archive of four files:

    sys_info   a pickle
    storages   a pickle of their number; for each a pickle of key, place and class, its elements in 8 bytes, its bytes;
               a pickle of storages that are parts of others: key, root, offset, elements
    tensors    a pickle of their number; for each a pickle of key, storage and class, then in 8 bytes each number: of
               dimensions (4 bytes, and 4 unused), sizes, strides, offset
    pickle     the value, whose persistent ids are keys of tensors and storages

As `torch/serialization.py` reads them (`_legacy_load`).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

from inspector.errors import FormatError
from inspector.formats.pytorch import layout
from inspector.formats.pytorch.archive import MAX_OPCODES, check
from inspector.formats.pytorch.layout import STORAGES, Found, Storage, View
from inspector.formats.pytorch.machine import Budget, PickleError, Stream
from inspector.formats.pytorch.program import IN_A_ROW, is_legacy, programs, run
from inspector.formats.pytorch.tensors import walk
from inspector.formats.pytorch.values import Global, is_count
from inspector.formats.zips import Read
from inspector.units import escape

#: The first pickle's bytes after its protocol (`pickle.dumps(MAGIC, protocol=2)`).
START = b"\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."


def begins(head: bytes) -> bool:
    """Whether a file begins as PyTorch's: a ZIP archive, or a pickle of its magic number; any other pickle does not."""
    return head[:4] == b"PK\3\4" or (head[:1] == b"\x80" and head[2:].startswith(START))


def read_pickles(read_at: Read, size: int, path: str) -> Found:
    """All tensors of a file of pickles.

    Raises:
        FormatError: another program wrote the pickle, it is truncated, or it cannot be followed.
    """
    stream = Stream(read_at, size)
    found = programs(stream, Budget(MAX_OPCODES), most=IN_A_ROW)
    if not is_legacy(found):
        raise FormatError(
            f"{escape(path)} is a pickle that PyTorch did not write: a pickle is never opened here, "
            "because opening one runs its code",
            "not-weights",
        )
    for each in found:
        check(each, path)
    if len(found) < IN_A_ROW:
        raise FormatError(f"{escape(path)}: its pickles end before the storages: a truncated download", "truncated")
    value, keys, end = found[3].value, found[4].value, found[4].end
    if not isinstance(keys, list) or not all(isinstance(key, (str, int)) for key in keys):
        raise FormatError(f"{escape(path)}: its list of storages is invalid", "unreadable-file")
    walked = walk(value)
    sizes = {view.storage: view.length * view.width for view in walked.views if view.storage is not None}
    storages = layout.in_a_row([str(key) for key in keys], sizes, end)
    after = max((each.start + each.size for each in storages.values()), default=end)
    known = all(str(key) in sizes for key in keys)  # a storage that no tensor uses has an unknown size
    return walked.found(storages, layout.Frame(pickles=[(0, end)], end=after if known else None), value)


# --- tar ----------------------------------------------------------------------------------------

_BLOCK, _RECORD = 512, 10_240
#: Files of an archive that are read: PyTorch wrote four.
MAX_MEMBERS = 16
_NEEDED = ("storages", "tensors", "pickle")

#: Key → its storage, its class's dtype and width, and its elements.
_Stored = dict[str, tuple[Storage, tuple[str, int], int]]


def is_tar(read_at: Read) -> bool:
    """Whether a file begins like PyTorch's tar archives: with the header block of one of their files."""
    block = read_at(0, _BLOCK)
    return len(block) == _BLOCK and block[257:262] == b"ustar" and _member_name(block) in (*_NEEDED, "sys_info")


def read_tar(read_at: Read, size: int, path: str) -> Found:
    """All tensors of a tar archive. Raises FormatError if a part is missing, truncated or cannot be followed."""
    members = dict(_read_members(read_at, size))
    if absent := [name for name in _NEEDED if name not in members]:
        raise FormatError(f"{escape(path)} is a tar archive without {absent[0]}: not PyTorch's", "not-weights")
    budget = Budget(MAX_OPCODES)
    try:
        stored = _read_storages(Stream.part(read_at, *members["storages"]), budget, path, members["storages"][0])
        tensors = dict(_read_tensors(Stream.part(read_at, *members["tensors"]), budget, path, stored))
    except (PickleError, struct.error) as error:
        raise FormatError(f"{escape(path)}: its tensors cannot be read: {error}", "truncated") from error
    program = run(Stream.part(read_at, *members["pickle"]), budget)
    check(program, path)
    walked = walk(program.value, kept=tensors)
    pickles = [members[name] for name in ("pickle", "tensors", "sys_info") if name in members]
    storages = {key: storage for key, (storage, _, _) in stored.items()}
    end = _end_of_tar(max(end for _, end in members.values()))
    return walked.found(storages, layout.Frame(pickles=pickles, end=end), program.value)


def _end_of_tar(last: int) -> int:
    """Where an archive ends: two blocks of zeros, filled to a record of 20 by Python's `tarfile`, which wrote it."""
    least = -(-last // _BLOCK) * _BLOCK + 2 * _BLOCK
    return -(-least // _RECORD) * _RECORD


def _member_name(block: bytes) -> str:
    return block[:100].rstrip(b"\0").decode("ascii", "replace").removeprefix("./")


def _read_members(read_at: Read, size: int) -> Iterator[tuple[str, tuple[int, int]]]:
    """Name, start and end of each file."""
    at = 0
    for _ in range(MAX_MEMBERS):
        block = read_at(at, _BLOCK)
        if len(block) < _BLOCK or not block.strip(b"\0"):
            return
        digits = block[124:136].strip(b"\0 ")
        if block[124] & 0x80:  # GNU's encoding of numbers too large for octal digits: 11 bytes
            length = int.from_bytes(block[125:136], "big")
        else:
            length = int(digits, 8) if digits and all(48 <= digit < 56 for digit in digits) else 0
        start = at + _BLOCK
        yield _member_name(block), (start, min(start + length, size))
        at = start + -(-length // _BLOCK) * _BLOCK
        if at >= size:
            return


def _next_value(stream: Stream, budget: Budget, path: str) -> Any:
    program = run(stream, budget)
    check(program, path)
    return program.value


def _read_storages(stream: Stream, budget: Budget, path: str, start: int) -> _Stored:
    """The storages, and those that are parts of others."""
    found: _Stored = {}
    for _ in range(_checked_count(_next_value(stream, budget, path))):
        key, _, kind = _checked_triple(_next_value(stream, budget, path))
        known = STORAGES.get(kind.name) if isinstance(kind, Global) else None
        if known is None:
            raise PickleError("a storage of an unknown class")
        (elements,) = struct.unpack("<q", stream.take(8))
        length = _checked_count(elements) * known[1]
        at = stream.position
        if length > stream.size - at:
            raise PickleError("it ends in the middle of a storage")
        found[str(key)] = Storage(start + at, length), known, elements
        stream.seek(at + length)
    parts = _next_value(stream, budget, path)
    for part in parts if isinstance(parts, list) else ():
        if not isinstance(part, tuple) or len(part) != 4 or str(part[1]) not in found:
            raise PickleError("an invalid part of a storage")
        target, root, offset, elements = part
        whole, known, _ = found[str(root)]
        begin = whole.start + _checked_count(offset) * known[1]
        found[str(target)] = Storage(begin, _checked_count(elements) * known[1]), known, elements
    return found


def _read_tensors(stream: Stream, budget: Budget, path: str, stored: _Stored) -> Iterator[tuple[str, View]]:
    for _ in range(_checked_count(_next_value(stream, budget, path))):
        key, storage, _ = _checked_triple(_next_value(stream, budget, path))
        (dims,) = struct.unpack("<i4x", stream.take(8))
        if not 0 <= dims <= 64 or str(storage) not in stored:
            raise PickleError("a tensor without a storage or with an invalid shape")
        shape = struct.unpack(f"<{dims}q", stream.take(8 * dims)) if dims else ()
        stride = struct.unpack(f"<{dims}q", stream.take(8 * dims)) if dims else ()
        (offset,) = struct.unpack("<q", stream.take(8))
        if not all(map(is_count, (*shape, *stride, offset))):
            raise PickleError("a tensor with negative sizes")
        _, (dtype, width), elements = stored[str(storage)]
        yield str(key), View("", dtype, width, shape, stride, offset, str(storage), elements)


def _checked_count(value: Any) -> int:
    if not is_count(value) or value > 2**48:
        raise PickleError("an invalid number")
    return int(value)


def _checked_triple(value: Any) -> tuple[Any, Any, Any]:
    if not isinstance(value, tuple) or len(value) != 3:
        raise PickleError("an invalid description")
    return value
