"""Reads safetensors headers: lazily, strictly, and continuing past damage that leaves the header readable.

    8 bytes    N, little-endian: the header's length
    N bytes    JSON: name → {"dtype", "shape", "data_offsets": [begin, end]}, and "__metadata__"
    the rest   tensor data; `data_offsets` count from its start

What the reference reader (the `safetensors` package) rejects becomes a finding of severity error; what it accepts
against the specification or convention, a warning or info. Only an unreadable header raises.
"""

from __future__ import annotations

from itertools import accumulate
from operator import itemgetter

from inspector.errors import FormatError
from inspector.formats.findings import Findings
from inspector.formats.safetensors import written as safetensors_written
from inspector.formats.safetensors.dtypes import DTYPE_BITS
from inspector.model import Header, Region, Tensor
from inspector.sources import Source
from inspector.units import escape, integer, plural

LENGTH_BYTES = 8
#: The reference reader's limit on N.
MAX_HEADER = 100_000_000

#: The alignment of an element in bytes.
_ALIGNMENT = {dtype: nbits // 8 for dtype, nbits in DTYPE_BITS.items() if nbits >= 8}
_BY_RANGE = itemgetter(Tensor._fields.index("offset"), Tensor._fields.index("nbytes"))


def read(source: Source, path: str) -> Header:
    """The header of a safetensors file.

    Raises:
        FormatError: no header, or one that is not a JSON object.
        SourceError: the bytes cannot be read.
    """
    length = int.from_bytes(source.read(0, LENGTH_BYTES), "little")
    _check_length(length, source.size, path)
    raw = source.read(LENGTH_BYTES, length)
    findings = Findings(path)
    start = LENGTH_BYTES + length
    tensors, metadata = safetensors_written.parse(raw, start) or _any_json(raw, path, start, findings)
    regions = (
        Region("length", 0, LENGTH_BYTES),
        Region("header", LENGTH_BYTES, start),
        *_data_regions(tensors, start, source.size, findings),
    )
    return Header(path, "safetensors", source.size, tensors, regions, metadata, findings.all())


def _check_length(length: int, size: int, path: str) -> None:
    where = f"{escape(path)}: its first 8 bytes give a header of {integer(length)} bytes"
    if length > MAX_HEADER:
        raise FormatError(
            f"{where}, over the format's limit of {integer(MAX_HEADER)}: not a safetensors file, or a damaged one",
            "header-size",
        )
    if length > size - LENGTH_BYTES:
        raise FormatError(
            f"{where}, but the file has only {integer(size)}: a truncated download, or not a safetensors file",
            "truncated",
        )


def _any_json(raw: bytes, path: str, start: int, findings: Findings) -> tuple[list[Tensor], dict[str, str]]:
    from inspector.formats.safetensors import entries as safetensors_entries  # few headers need it

    return safetensors_entries.parse(raw, path, start, findings)


def _data_regions(tensors: list[Tensor], start: int, size: int, findings: Findings) -> list[Region]:
    """The data's bytes in order: claimed by tensors, gaps between them, trailing."""
    regions: list[Region] = []
    position = begin_of_run = start
    sizes = [tensor.nbytes for tensor in tensors]
    ends = list(accumulate(sizes, initial=start))
    gapless = [tensor.offset for tensor in tensors] == ends[:-1]  # the usual case
    if gapless:
        position = ends[-1]
    for tensor in () if gapless else sorted(tensors, key=_BY_RANGE):
        begin = tensor.offset
        if begin != position:
            if begin > position:
                _hole(position, begin, size, tensor, findings)
                _add(regions, "tensors", begin_of_run, position, size)
                _add(regions, "hole", position, begin, size)
                begin_of_run = begin
            else:
                shared = min(position, begin + tensor.nbytes) - begin
                what = f"shares {plural(shared, 'byte')} with the tensor before it"
                findings.add("overlap", "error", what if shared else "is empty, inside another", tensor.name)
        position = max(position, begin + tensor.nbytes)
    _add(regions, "tensors", begin_of_run, position, size)
    misaligned = 0
    if not gapless or start % 8 or any(nbytes % 8 for nbytes in set(sizes)):
        misaligned = sum(t.offset % _ALIGNMENT.get(t.dtype, 1) != 0 for t in tensors if t.nbytes)
    if misaligned:
        findings.add("misaligned", "info", f"{plural(misaligned, 'tensor')} not aligned to the size of an element")
    if position > size:
        lost = [t for t in tensors if t.offset + t.nbytes > size]
        findings.add(
            "truncated",
            "error",
            f"the file ends {plural(position - size, 'byte')} too early: {plural(len(lost), 'tensor')} "
            f"cut or missing, the first {escape(lost[0].name, 80)}; download it again",
        )
    elif size > position:
        findings.add("trailing", "error", f"{plural(size - position, 'byte')} after the last tensor belong to none")
        _add(regions, "trailing", position, size, size)
    return regions


def _hole(position: int, begin: int, size: int, tensor: Tensor, findings: Findings) -> None:
    if position < size:
        findings.add("hole", "error", f"{plural(begin - position, 'byte')} before it belong to no tensor", tensor.name)


def _add(regions: list[Region], label: str, start: int, end: int, size: int) -> None:
    """Add a region clipped to the file, if not empty; adjacent runs are merged."""
    end = min(end, size)
    if end <= start:
        return
    if regions and regions[-1].label == label and regions[-1].end == start:
        start = regions.pop().start
    regions.append(Region(label, start, end))
