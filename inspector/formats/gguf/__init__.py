"""GGUF: llama.cpp's format. One file holds the configuration, the tokenizer and the tensors.

    "GGUF" · version · number of tensors · number of key-values
    key-values                  each: key, type, value
    tensor table                each: name, n_dims, dims (fastest first), type, offset into the data
    padding to general.alignment
    data                        each tensor begins at a multiple of the alignment

Read: versions 1 (32-bit counts), 2 and 3, little- and big-endian. Checked as llama.cpp's `gguf.cpp` does: what it
rejects while the header is still readable is a finding of severity "error".
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from math import prod
from typing import NamedTuple

from inspector.formats.findings import Findings
from inspector.formats.ggml import TYPES
from inspector.formats.gguf.values import ARRAY, MAX_NAMES, TYPE_NAMES, Cursor, Field, Layout, decode
from inspector.formats.regions import unions
from inspector.model import Header, Region, Tensor
from inspector.sources import Source
from inspector.units import escape, integer, plural

MAGICS = (b"GGUF", b"FUGG")
VERSIONS = (1, 2, 3)
DEFAULT_ALIGNMENT = 32
MAX_NAME = 63  # ggml keeps names in 64 bytes
MAX_DIMS = 4  # ggml's
#: Limits of what is read: a count or length beyond them is damage, not data.
LONGEST_KEY = 2**16 - 1  # the specification's bound, which llama.cpp does not know
LONGEST_READ = MAX_NAMES
LONGEST_NAME = 4096
MOST_DIMS = 15  # their product is still a number that can be printed
MOST_KEYS = 30_000  # real files have some 50
MOST_TENSORS = 60_000  # DeepSeek-V3 with separate experts has 45,000


def read(source: Source, path: str) -> Header:
    """The header of one GGUF file.

    Raises:
        FormatError: not a GGUF, an unknown version, or a header that ends early or contradicts itself before the tensor
            table is read.
        SourceError: the bytes cannot be read.
    """
    cursor = Cursor(source, path)
    findings = Findings(path)
    tensor_count, key_count = _read_counts(cursor, findings)
    regions = [Region("header", 0, cursor.at)]
    fields, key_regions = _read_key_values(cursor, key_count, findings)
    regions += key_regions
    metadata = cursor.key_values(fields)
    alignment = _alignment(fields, metadata, findings)
    table_start = cursor.at
    infos = _read_tensor_infos(cursor, tensor_count, findings)
    if infos:
        regions.append(Region("tensor table", table_start, cursor.at))
    data_start = _aligned(cursor.at, alignment)
    tensors = _tensors_with_bytes(infos, data_start, source.size, findings)
    _check_offsets(infos, tensors, alignment, findings)
    regions += _partition(tensors, cursor.at, alignment, source.size)
    _check_partition(tensors, regions, source.size, findings)
    metadata = cursor.key_values(fields)  # a view of the whole header; for a local file it also counts the bytes
    return Header(path, "gguf", source.size, tensors, tuple(regions), metadata, findings.all())


class TensorInfo(NamedTuple):
    """One line of the tensor table, as written."""

    name: str
    dims: tuple[int, ...]  # fastest first
    type: int
    offset: int  # from the start of the data


def _read_counts(cursor: Cursor, findings: Findings) -> tuple[int, int]:
    """Magic, version and the numbers of tensors and key-values; sets the cursor's byte order."""
    magic = bytes(cursor.need(8, "the magic and version")[:4])
    if magic not in MAGICS:
        raise cursor.error(f"begins with {escape(repr(magic))}, not with GGUF: not a GGUF file")
    if magic != MAGICS[0]:
        findings.add(
            "big-endian",
            "info",
            "the magic is byte-reversed, as a big-endian machine would write it: llama.cpp refuses it",
        )
    cursor.at = 4
    version = cursor.uint32("the version")
    if version and version & 0xFFFF == 0:  # no version needs more than 16 bits: it is in the other byte order
        version = int.from_bytes(version.to_bytes(4, "little"), "big")
        cursor.layout = Layout.of(version, ">")
        findings.add("big-endian", "info", "the file is big-endian: llama.cpp reads it only on big-endian machines")
    if version not in VERSIONS:
        raise cursor.error(f"is GGUF version {integer(version)}: versions 1, 2 and 3 are supported")
    cursor.layout = Layout.of(version, cursor.layout.order)
    if version == 1:
        findings.add("old-version", "error", "GGUF version 1, with 32-bit counts: llama.cpp no longer reads it")
    tensor_count, key_count = cursor.length("the tensor count"), cursor.length("the key-value count")
    _check_count(cursor, "tensors", tensor_count, MOST_TENSORS, 4 + 4 + 8)  # n_dims, type and offset
    _check_count(cursor, "key-values", key_count, MOST_KEYS, 4 + 1)  # a type and the smallest value
    return tensor_count, key_count


def _check_count(cursor: Cursor, what: str, count: int, most: int, least: int) -> None:
    """Refuse a count that the file cannot hold: each item has a name's length and at least `least` further bytes."""
    if count > most or count * (cursor.layout.length.size + least) > cursor.left:
        raise cursor.error(
            f"claims {integer(count)} {what} and has {plural(cursor.left, 'byte')} after its counts: "
            "the header is damaged, or of a different version than it says",
            "unreadable-file" if count > most else "truncated",
        )


def _read_key_values(cursor: Cursor, count: int, findings: Findings) -> tuple[dict[str, Field], list[Region]]:
    """Each key with the position of its value, and the regions that they fill."""
    fields: dict[str, Field] = {}
    spans: list[Region] = []
    for number in range(count):
        start = cursor.at
        key = _read_name(cursor, f"key {integer(number + 1)} of {integer(count)}", LONGEST_READ, findings)
        if len(key) > LONGEST_KEY:
            what = f"a key of {integer(len(key))} characters; the specification allows {integer(LONGEST_KEY)} bytes"
            findings.add("long-key", "info", what)
        field = cursor.field(f"the value of `{escape(key, 60)}`")
        if not key:
            findings.add("empty-key", "error", f"key-value {integer(number + 1)} has an empty key")
        if field.item == ARRAY:
            findings.add("nested-array", "error", f"`{key[:80]}` is an array of arrays, which llama.cpp does not read")
        if key in fields:
            findings.add("duplicate-key", "error", f"the key `{key[:80]}` appears twice: the first is used")
        fields.setdefault(key, field)
        spans.append(Region("tokenizer" if key.startswith("tokenizer.") else "metadata", start, cursor.at))
    return fields, _neighbours_merged(spans)


def _neighbours_merged(regions: Sequence[Region]) -> list[Region]:
    """Merges neighbouring regions with the same label."""
    runs = (list(run) for _, run in groupby(regions, key=lambda region: region.label))
    return [Region(run[0].label, run[0].start, run[-1].end) for run in runs]


def _read_name(cursor: Cursor, what: str, longest: int, findings: Findings) -> str:
    data = cursor.text(what, longest)
    try:
        text = data.decode()
        if not (text.isascii() and text.isprintable()) and escape(text) != text:
            findings.add("control-character", "warning", f"{what} has control or invisible characters: {text:.60}")
        return text
    except UnicodeDecodeError:
        findings.add("not-utf-8", "warning", f"{what} is not UTF-8: {data[:40]!r}")
        return decode(data)


def _alignment(fields: Mapping[str, Field], metadata: Mapping[str, object], findings: Findings) -> int:
    """`general.alignment`, or the default if it is absent or implausible."""
    field = fields.get("general.alignment")
    if field is None:
        return DEFAULT_ALIGNMENT
    if TYPE_NAMES[field.kind] != "uint32":
        findings.add("alignment", "error", f"general.alignment has type {field.type_name}, but must be uint32")
    value = None if field.item is not None else metadata["general.alignment"]
    if isinstance(value, int) and not isinstance(value, bool) and value > 0 and value & (value - 1) == 0:
        return value
    if TYPE_NAMES[field.kind] == "uint32":
        findings.add(
            "alignment", "error", f"general.alignment is {value}: not a power of two; {DEFAULT_ALIGNMENT} is assumed"
        )
    return DEFAULT_ALIGNMENT


def _read_tensor_infos(cursor: Cursor, count: int, findings: Findings) -> list[TensorInfo]:
    infos: list[TensorInfo] = []
    names: set[str] = set()
    size_code = "I" if cursor.layout.length.size == 4 else "Q"
    for number in range(count):
        what = f"tensor {integer(number + 1)} of {integer(count)}"
        name = _read_name(cursor, f"the name of {what}", LONGEST_NAME, findings)
        n_dims = cursor.uint32(f"n_dims of {what}")
        if n_dims > MOST_DIMS:
            raise cursor.error(
                f"says that {what}, `{escape(name, 60)}`, has {integer(n_dims)} dimensions: at most 4 are possible"
            )
        *dims, kind, offset = cursor.numbers(f"{n_dims}{size_code}IQ", what)
        infos.append(TensorInfo(name, tuple(dims), kind, offset))
        known_as = name.partition("\0")[0]  # ggml's names end at a zero
        if known_as in names:
            findings.add("duplicate-tensor", "error", "an earlier tensor has the same name", name)
        names.add(known_as)
        _check_info(infos[-1], findings)
    return infos


def _check_info(info: TensorInfo, findings: Findings) -> None:
    """llama.cpp's checks of a single tensor."""
    name, dims, kind, _ = info
    if len(name) * 4 > MAX_NAME and len(name.encode()) > MAX_NAME:
        findings.add(
            "long-name", "error", f"the name has {len(name.encode())} bytes; at most {MAX_NAME} are allowed", name
        )
    if len(dims) > MAX_DIMS:
        findings.add("n-dims", "error", f"it has {len(dims)} dimensions; at most {MAX_DIMS} are allowed", name)
    if any(dim >= 2**63 for dim in dims):
        findings.add("dimension", "error", "a dimension is negative when read as a signed 64-bit number", name)
    elif prod(dims) >= 2**63:
        findings.add("elements", "error", f"it has {integer(prod(dims))} elements, beyond 64 bits", name)
    row, block = dims[0] if dims else 1, TYPES[kind].block if kind in TYPES else 1
    if row % block:
        message = f"it has rows of {integer(row)} in {TYPES[kind].name}, whose blocks are of {block}"
        findings.add("partial-block", "error", message, name)


def _tensors_with_bytes(infos: Sequence[TensorInfo], data_start: int, size: int, findings: Findings) -> list[Tensor]:
    """Tensors with their bytes. One of an unknown type extends to the next tensor or the end of the file."""
    unknown = [info for info in infos if info.type not in TYPES]
    offsets = sorted({info.offset for info in infos}) if unknown else []
    tensors = []
    for name, dims, kind, offset in infos:
        start = data_start + offset
        if kind in TYPES:
            dtype, block, block_bytes, _ = TYPES[kind]
            nbytes = prod(dims) * block_bytes // block
        else:
            following = bisect_right(offsets, offset)
            end = data_start + offsets[following] if following < len(offsets) else size
            dtype, nbytes = str(kind), max(0, end - start)
        tensors.append(Tensor(name, dtype, dims[::-1], start, nbytes))
    _report_unknown(unknown, findings)
    return tensors


def _report_unknown(infos: Sequence[TensorInfo], findings: Findings) -> None:
    """One finding for each unknown type, at its first tensor."""
    for kind, count in Counter(info.type for info in infos).items():
        origin = "newer than this version, or from a fork" if kind > max(TYPES) else "removed from ggml, or from a fork"
        first = next(info.name for info in infos if info.type == kind)
        message = (
            f"{plural(count, 'tensor')} of type {integer(kind)}, which is {origin}: "
            "it is assumed to extend to the next tensor"
        )
        findings.add("unknown-type", "warning", message, first)


def _check_offsets(infos: Sequence[TensorInfo], tensors: Sequence[Tensor], alignment: int, findings: Findings) -> None:
    """Offsets in the data must be aligned and ascending; an empty tensor's is where the next one begins."""
    last, end = -1, 0
    for info, tensor in zip(infos, tensors, strict=True):
        if not tensor.nbytes and info.offset != end and info.offset >= last:
            message = (
                f"it is empty and begins at byte {integer(info.offset)} of the data; llama.cpp requires {integer(end)}"
            )
            findings.add("out-of-order", "error", message, info.name)
        end = info.offset + _aligned(tensor.nbytes, alignment)
        if info.offset % alignment:
            message = (
                f"it begins at byte {integer(info.offset)} of the data, which is not a multiple of {integer(alignment)}"
            )
            findings.add("misaligned", "error", message, info.name)
        if info.offset < last:
            message = "an earlier tensor's data comes after it: llama.cpp requires them in order"
            findings.add("out-of-order", "error", message, info.name)
        last = info.offset


def _partition(tensors: Sequence[Tensor], table_end: int, alignment: int, size: int) -> Iterator[Region]:
    """The purpose of each byte after the tensor table. Sums to the file's size whatever the offsets say."""
    at = table_end
    claimed = ((each.offset, min(each.offset + each.nbytes, size)) for each in tensors if each.nbytes)
    for start, end in unions((start, end) for start, end in claimed if start < end):
        yield from _unclaimed(at, start, alignment, "hole")
        yield Region("tensors", start, end)
        at = end
    yield from _unclaimed(at, size, alignment, "trailing")  # without tensors only gguf-py writes padding here


def _unclaimed(start: int, end: int, alignment: int, label: str) -> Iterator[Region]:
    """Unclaimed bytes: the padding that the alignment requires, then a gap, or trailing bytes."""
    padded = min(_aligned(start, alignment), end)
    if padded > start:
        yield Region("padding", start, padded)
    if end > padded:
        yield Region(label, padded, end)


def _check_partition(tensors: Sequence[Tensor], regions: Sequence[Region], size: int, findings: Findings) -> None:
    """Reports data that is missing, claimed twice or unclaimed."""
    end = max((t.offset + t.nbytes for t in tensors), default=0)
    if end > size:
        last = max(tensors, key=lambda t: t.offset + t.nbytes)
        message = (
            f"the tensors' data ends at byte {integer(end)}, the file at {integer(size)}: "
            f"{plural(end - size, 'byte')} missing; download it again"
        )
        findings.add("truncated", "error", message, last.name)
    previous = None
    for tensor in sorted((t for t in tensors if t.nbytes), key=lambda t: t.offset):
        if previous and tensor.offset < previous.offset + previous.nbytes:
            message = f"it overlaps {previous.name[:80]} from byte {integer(tensor.offset)}"
            findings.add("overlap", "error", message, tensor.name)
        if not previous or tensor.offset + tensor.nbytes > previous.offset + previous.nbytes:
            previous = tensor
    for region in regions:
        if region.label == "hole":
            message = f"{plural(region.size, 'byte')} from byte {integer(region.start)} belong to no tensor"
            findings.add("hole", "error", message)
        if region.label == "trailing":
            message = f"{plural(region.size, 'byte')} after the last tensor, from byte {integer(region.start)}"
            findings.add("trailing", "warning", message)


def _aligned(offset: int, alignment: int) -> int:
    return -(-offset // alignment) * alignment
