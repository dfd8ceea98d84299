"""Reads safetensors headers: lazily, strictly, and continuing past damage that leaves the header readable.

    8 bytes    N, little-endian: the header's length
    N bytes    JSON: name → {"dtype", "shape", "data_offsets": [begin, end]}, and "__metadata__"
    the rest   tensor data; `data_offsets` count from its start

What the reference reader (the `safetensors` package) rejects becomes a finding of severity error; what it accepts
against the specification or convention, a warning or info. Only an unreadable header raises.

A header as the format's own writer lays it out is read with one regular expression:

    {"__metadata__":{…},"name":{"dtype":"BF16","shape":[4096],"data_offsets":[0,8192]},…}  and spaces

That is half the work of reading it as JSON. Only sound headers are read this way: any with white space, escapes,
another order of fields, a repeated name or a wrong size is left to `entries`, which can explain it.
"""

from __future__ import annotations

import json
import re
from itertools import accumulate
from operator import itemgetter

from inspector.errors import FormatError
from inspector.formats.findings import Findings
from inspector.formats.safetensors.dtypes import DTYPE_BITS, expected_bytes
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
    tensors, metadata = parse_usual(raw, start) or _parse_any(raw, path, start, findings)
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


def _parse_any(raw: bytes, path: str, start: int, findings: Findings) -> tuple[list[Tensor], dict[str, str]]:
    from inspector.formats.safetensors import entries  # few headers need it

    return entries.parse(raw, path, start, findings)


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
                _report_hole(position, begin, size, tensor, findings)
                _add_region(regions, "tensors", begin_of_run, position, size)
                _add_region(regions, "hole", position, begin, size)
                begin_of_run = begin
            else:
                shared = min(position, begin + tensor.nbytes) - begin
                what = f"shares {plural(shared, 'byte')} with the tensor before it"
                findings.add("overlap", "error", what if shared else "is empty, inside another", tensor.name)
        position = max(position, begin + tensor.nbytes)
    _add_region(regions, "tensors", begin_of_run, position, size)
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
        _add_region(regions, "trailing", position, size, size)
    return regions


def _report_hole(position: int, begin: int, size: int, tensor: Tensor, findings: Findings) -> None:
    if position < size:
        findings.add("hole", "error", f"{plural(begin - position, 'byte')} before it belong to no tensor", tensor.name)


def _add_region(regions: list[Region], label: str, start: int, end: int, size: int) -> None:
    """Add a region clipped to the file, if not empty; adjacent runs are merged."""
    end = min(end, size)
    if end <= start:
        return
    if regions and regions[-1].label == label and regions[-1].end == start:
        start = regions.pop().start
    regions.append(Region(label, start, end))


# --- the usual layout ----------------------------------------------------------------------------

_METADATA = '{"__metadata__":{'
#: Names of printable ASCII without escapes; numbers as in JSON, below 2⁶³. Anything else consumes the rest.
_ENTRY = re.compile(
    r',"([ !#-\[\]-~]+)":\{("dtype":"[A-Z0-9_]+","shape":\[[0-9,]*\]),'
    r'"data_offsets":\[(0|[1-9][0-9]{0,17}),(0|[1-9][0-9]{0,17})\]\}|.+',
    re.DOTALL,
)
_NO_ENTRY = ("", "", "", "")
#: Trailing spaces to look for: writers pad to 8 bytes.
_FILLED = 16
#: Bytes of a header that are decoded as text; a longer one has long strings in `__metadata__`.
_LONGEST = 32 * 1024 * 1024
#: Characters of entries that are taken apart at once: they take Python some 20 times their memory.
_PIECE = 2 * 1024 * 1024
#: Tensors to look for, as many as are read from any header.
_MOST = 200_000


def parse_usual(raw: bytes, start: int) -> tuple[list[Tensor], dict[str, str]] | None:
    """The tensors, offsets counted from the file's first byte, and `__metadata__`; None for any other layout.

    Args:
        raw: the header's JSON.
        start: where in the file the data begins.
    """
    if not raw.isascii() or not raw.startswith(b"{") or not raw[-_FILLED:].rstrip(b" ").endswith(b"}"):
        return None
    if len(raw) > _LONGEST or raw.count(b"{") > _MOST:
        return None
    try:
        text, first, metadata = _split_metadata(raw.decode("ascii"))
        last = text.rindex("}", first)
        tensors: list[Tensor] = []
        while first < last:
            end = text.find('},"', first + _PIECE, last) + 1 or last
            rows = _ENTRY.findall(text, first, end)
            if rows[-1] == _NO_ENTRY:
                return None
            tensors += _tensors_of(rows, start)
            first = end
        names = set(map(itemgetter(0), tensors))
        return None if len(names) != len(tensors) or "__metadata__" in names else (tensors, metadata)
    except (ValueError, RecursionError):
        return None


def _split_metadata(text: str) -> tuple[str, int, dict[str, str]]:
    """The text, where its entries begin, each after a comma, and `__metadata__`, which can only come first."""
    if not text.startswith(_METADATA):
        return text.replace("{", ",", 1), 0, {}
    if "\\u" in text:
        raise ValueError("possibly an unpaired surrogate")
    pairs, end = json.JSONDecoder(object_pairs_hook=list).raw_decode(text, len(_METADATA) - 1)
    metadata = dict(pairs)
    if len(metadata) != len(pairs) or not all(type(value) is str for value in metadata.values()):
        raise ValueError("not text, or a key twice")
    return text, end, metadata


class _Kinds(dict[str, tuple[str, tuple[int, ...], int]]):
    """`"dtype":"F16","shape":[2]` → dtype, shape and bytes, computed once. Raises ValueError if there are none."""

    def __missing__(self, text: str) -> tuple[str, tuple[int, ...], int]:
        fields = json.loads("{" + text + "}")
        dtype, shape = fields["dtype"], tuple(fields["shape"])
        nbytes = expected_bytes(dtype, shape)
        if nbytes is None:
            raise ValueError("not a size")
        self[text] = dtype, shape, nbytes
        return self[text]


def _tensors_of(rows: list[tuple[str, str, str, str]], start: int) -> list[Tensor]:
    """The tensors. Raises ValueError if dtype and shape do not match the size."""
    kinds = _Kinds()
    new = tuple.__new__  # builds a named tuple without its Python-level constructor
    tensors = []
    for name, kind, begin, end in rows:
        dtype, shape, nbytes = kinds[kind]
        first = int(begin)
        if int(end) - first != nbytes:
            raise ValueError("another size")
        tensors.append(new(Tensor, (name, dtype, shape, start + first, nbytes)))
    return tensors
