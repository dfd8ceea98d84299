"""The entries of a safetensors header, from any JSON: strictly, and continuing past faults of single entries."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from math import isinf, prod
from typing import Any

from inspector.errors import FormatError
from inspector.formats.findings import Findings
from inspector.formats.safetensors.dtypes import DTYPE_BITS, MAX_OFFSET, expected_bytes, overflows
from inspector.model import Tensor
from inspector.units import escape, integer, plural

#: Limits on a header's contents: each item costs Python 60 to 200 bytes. Allows 200,000 tensors in one file, a model
#: of 671 billion parameters in NVFP4 (183,607) among them; text in `__metadata__` may contain some of these bytes.
MOST: tuple[tuple[bytes, int, str], ...] = (
    (b":", 800_000, "fields"),
    (b'"', 2_000_000, "quotes"),
    (b",", 2_500_000, "values"),
    (b"{", 300_000, "objects"),
    (b"[", 600_000, "lists"),
)
#: Bytes of header beyond which long strings are shortened: `__metadata__` may fill the format's limit.
LONG_HEADER = 16 * 1024 * 1024
LONG_TEXT = 64 * 1024
#: Bytes of memory for a header: the bytes read, their text, and the parsed result.
MAX_MEMORY = 150 * 1000 * 1000

_tuple = tuple.__new__  # builds a named tuple without its Python-level constructor
_FIELDS = ("dtype", "shape", "data_offsets")


def parse(raw: bytes, path: str, start: int, findings: Findings) -> tuple[list[Tensor], dict[str, str]]:
    """The tensors, offsets counted from the file's first byte, and `__metadata__`.

    Args:
        raw: the header's JSON.
        start: where in the file the data begins.

    Raises:
        FormatError: not JSON, or not an object.
    """
    return _tensors_in(_parse(raw, path, findings), raw, start, findings)


class _Object(list[tuple[str, Any]]):
    """A JSON object as its pairs, so that duplicate keys are seen."""


class _NotInteger(str):
    """A number with a decimal point, an exponent or a negative zero: not a size, whatever its value."""

    __slots__ = ()


def _triple_or_pairs(pairs: list[tuple[str, Any]]) -> Any:
    """A tensor's entry in the usual order becomes a bare triple, any other object its pairs."""
    if len(pairs) == 3:
        (first, dtype), (second, shape), (third, offsets) = pairs
        if first == "dtype" and second == "shape" and third == "data_offsets":
            return dtype, shape, offsets
    return _Object(pairs)


def _reject_constant(text: str) -> None:
    raise ValueError(f"{text} is not JSON")


class _FewKept:
    """Makes numbers that are not sizes; beyond the first thousand all are one object, since each costs 100 bytes."""

    def __init__(self) -> None:
        self.kept: dict[str, _NotInteger] = {}
        self.last = _NotInteger("a fraction")
        self.infinite = False  # whether one exceeded a float's range

    def __call__(self, text: str) -> _NotInteger:
        self.infinite = self.infinite or isinf(float(text))
        if len(self.kept) < 1000:
            return self.kept.setdefault(text, _NotInteger(text))
        return self.kept.get(text, self.last)


def _parsed_integer(text: str) -> Any:
    return _NotInteger(text) if text == "-0" else int(text)


def _checked_text(raw: bytes, path: str) -> str:
    """The header as text, if it can be parsed in bounded time and memory.

    Raises:
        FormatError: it is not UTF-8, or would exhaust memory.
    """
    for mark, most, what in MOST:
        if raw.count(mark) > most:
            raise FormatError(
                f"{escape(path)}: the header has more than {integer(most)} {what}: made to exhaust memory, or more "
                "tensors than are read from one file",
                "header-size",
            )
    if len(raw) > LONG_HEADER:
        raw = _without_long_strings(raw)
    width = 1 if raw.isascii() else 4 if _WIDE.search(raw) else 2  # bytes per character in memory
    if len(raw) * (1 + 2 * width) > MAX_MEMORY:
        what = f"the header has {integer(len(raw))} bytes of text, which take too much memory: not read"
        raise FormatError(f"{escape(path)}: {what}", "header-size")
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise FormatError(f"{escape(path)}: the header is not UTF-8 at its byte {integer(error.start)}") from error


_WIDE = re.compile(rb"[\xf0-\xff]")
_RUN = re.compile(rb"[ !#-\[\]-~]*")
_QUOTE = re.compile(rb'\\.|"', re.DOTALL)


def _without_long_strings(raw: bytes) -> bytes:
    """A header without the middle of its longest strings, of which only the beginning is ever shown."""
    parts, at, quotes = [], 0, 0
    end = len(raw)
    while raw[end - LONG_TEXT : end].isspace():  # a block at a time: a full copy would double the memory
        end -= LONG_TEXT
    for start, stop in _long_runs(raw, end):
        quotes += sum(len(found[0]) == 1 for found in _QUOTE.finditer(raw, at, start))
        inside = quotes % 2
        parts += [raw[at : start + LONG_TEXT // 2] if inside else raw[at:stop]]
        at = stop
    return b"".join((*parts, raw[at:end]))


def _long_runs(raw: bytes, end: int) -> Iterator[tuple[int, int]]:
    """Runs of at least `LONG_TEXT` plain letters: each fills a block of half that length; most blocks fail early."""
    step, at = LONG_TEXT // 2, 0
    for block in range(0, end - step + 1, step):
        if block < at or _end_of_run(raw, block, block + step) < block + step:
            continue
        before = raw[max(at, block - step) : block][::-1]
        start, at = block - _end_of_run(before, 0, len(before)), _end_of_run(raw, block, end)
        if at - start >= LONG_TEXT:
            yield start, at


def _end_of_run(raw: bytes, start: int, end: int) -> int:
    found = _RUN.match(raw, start, end)
    return found.end() if found else start


def _parse(raw: bytes, path: str, findings: Findings) -> _Object:
    if raw.endswith(b"\0"):
        raw = raw.rstrip(b"\0")
        findings.add("header-padding", "error", "the header is padded with NUL bytes, not spaces")
    text = _checked_text(raw, path)
    floats = _FewKept()
    try:
        parsed = json.loads(
            text,
            object_pairs_hook=_triple_or_pairs,
            parse_float=floats,
            parse_int=_parsed_integer if b"-0" in raw else None,
            parse_constant=_reject_constant,
        )
    except json.JSONDecodeError as error:
        raise FormatError(f"{escape(path)}: the header is not JSON: {error.msg} at its byte {error.pos}") from error
    except RecursionError as error:
        raise FormatError(f"{escape(path)}: the header's JSON is nested too deep") from error
    except ValueError as error:
        raise FormatError(f"{escape(path)}: the header is not JSON: {escape(str(error), 120)}") from error
    if isinstance(parsed, tuple):
        parsed = _Object(zip(_FIELDS, parsed, strict=True))
    if not isinstance(parsed, _Object):
        raise FormatError(f"{escape(path)}: the header is JSON, but not an object of tensors")
    _check_limits(text, parsed, findings)
    if floats.infinite:
        findings.add("extra-field", "error", _INFINITE)
    if not raw.startswith(b"{"):
        findings.add("header-start", "info", "the header begins with white space; the format requires `{` first")
    return parsed


#: Levels of nesting at which the reference reader gives up, even in fields it does not know.
DEEPEST = 128
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|.)", re.DOTALL)
#: Integers beyond a float's range; fractions are checked as they are read.
_LONG_NUMBER = re.compile(r"[0-9]{309}")


def _check_limits(text: str, parsed: _Object, findings: Findings) -> None:
    """Reports what Python's JSON accepts and the reference reader's does not, also in fields that it ignores."""
    if "\\u" in text and _has_half_pair(text):
        findings.add("tensor-name", "error", "a string has an unpaired surrogate: not valid Unicode")
    usual = sum(type(entry) is tuple for _, entry in parsed)  # each has three brackets
    if text.count("[") + text.count("{") - 3 * usual >= DEEPEST and _too_deep(parsed):
        findings.add("extra-field", "error", f"something is nested {DEEPEST} levels deep or more")
    if _LONG_NUMBER.search(text) and _LONG_NUMBER.search(_STRING.sub("", text)):
        findings.add("extra-field", "error", _INFINITE)


_INFINITE = "a number is beyond the range of a 64-bit float"


def _too_deep(parsed: _Object) -> bool:
    """Whether lists and objects are nested too deep, counting the outermost as the first level."""
    left: list[tuple[Any, int]] = [(parsed, 1)]
    while left:
        value, level = left.pop()
        if level >= DEEPEST:
            return True
        inner = (each for _, each in value) if isinstance(value, _Object) else value
        left += [(each, level + 1) for each in inner if isinstance(each, list | tuple)]
    return False


def _has_half_pair(text: str) -> bool:
    high_ended = -1  # where the last high surrogate ended
    for found in _ESCAPE.finditer(text):
        code = int(found[1], 16) if found[1] else 0
        if high_ended >= 0 and (found.start() != high_ended or not 0xDC00 <= code < 0xE000):
            return True
        if high_ended < 0 and 0xDC00 <= code < 0xE000:
            return True
        high_ended = found.end() if 0xD800 <= code < 0xDC00 else -1
    return high_ended >= 0


# --- entries ----------------------------------------------------------------------------------


def _tensors_in(header: _Object, raw: bytes, start: int, findings: Findings) -> tuple[list[Tensor], dict[str, str]]:
    """The tensors, offsets counted from the file's first byte, and `__metadata__`."""
    tensors: list[Tensor] = []
    metadata: dict[str, str] | None = None
    sizes: dict[tuple[str, tuple[Any, ...]], int | None] = {}
    # `True == 1`, so a boolean would pass for a size: if there may be any, each entry is checked.
    usual = b"true" not in raw and b"false" not in raw
    for name, entry in _last_of_each(header, findings):
        if usual and type(entry) is tuple and type(entry[1]) is list:
            dtype, shape, offsets = entry
            try:
                begin, end = offsets
                nbytes = sizes[dtype, tuple(shape)]
                if end - begin == nbytes and 0 <= begin < MAX_OFFSET:
                    tensors.append(_tuple(Tensor, (name, dtype, tuple(shape), start + begin, nbytes)))
                    continue
            except (KeyError, TypeError, ValueError):
                pass  # the first one, or damaged
        if name == "__metadata__":
            if metadata is not None:
                findings.add("duplicate-key", "error", "a second `__metadata__`")
            metadata = {**(metadata or {}), **_checked_metadata(entry, findings)}
            continue
        triple = entry if type(entry) is tuple else _unusual_entry(name, entry, findings)
        if triple is not None and (tensor := _checked_tensor(name, triple, start, sizes, findings)):
            tensors.append(tensor)
    if not _has_plain_names(raw):
        _check_names(tensors, findings)
    return tensors, metadata or {}


def _checked_tensor(
    name: str,
    triple: tuple[Any, Any, Any],
    start: int,
    sizes: dict[tuple[str, tuple[Any, ...]], int | None],
    findings: Findings,
) -> Tensor | None:
    """One entry, checked; None if it cannot describe a tensor. `sizes` caches computed sizes."""
    dtype, shape, offsets = triple
    if type(shape) is not list or type(offsets) is not list or len(offsets) != 2 or type(dtype) is not str:
        findings.add("tensor-entry", "error", "the dtype, shape or data_offsets is of the wrong type", name)
        return None
    if any(type(value) is bool for value in (*shape, *offsets)):
        findings.add("tensor-entry", "error", "a boolean where a number should be", name)
        return None
    begin, end = offsets
    key = dtype, tuple(shape)
    try:
        nbytes = sizes[key]
    except KeyError:
        nbytes = sizes[key] = expected_bytes(*key)
    except TypeError:
        findings.add(
            "tensor-shape", "error", f"the shape {_shape_text(shape)} has a dimension that is not a size", name
        )
        return None
    if type(begin) is int and type(end) is int and 0 <= begin < MAX_OFFSET and end - begin == nbytes:
        return Tensor(name, dtype, key[1], start + begin, nbytes)
    if not _report_fault(name, dtype, shape, begin, end, findings):
        return None
    return Tensor(name, dtype, key[1], start + begin, end - begin)


def _report_fault(name: str, dtype: str, shape: list[Any], begin: Any, end: Any, findings: Findings) -> bool:
    """Report what is wrong with an entry; return whether it can still be kept as a tensor."""
    if not (type(begin) is int and type(end) is int and 0 <= begin <= end < MAX_OFFSET):
        findings.add(
            "data-offsets", "error", f"data_offsets [{begin!s:.30}, {end!s:.30}] are not a range of bytes", name
        )
        return False
    if not all(type(dim) is int and dim >= 0 for dim in shape):
        findings.add(
            "tensor-shape", "error", f"the shape {_shape_text(shape)} has a dimension that is not a size", name
        )
        return False
    if overflows(tuple(shape)) or prod(shape) >= 2**63:
        findings.add("tensor-shape", "error", f"the shape {_shape_text(shape)} overflows 64 bits", name)
        return False
    span = end - begin
    if dtype not in DTYPE_BITS:
        findings.add("unknown-dtype", "error", f"dtype {dtype!r:.40} is not one of the format's", name)
    elif (nbits := prod(shape) * DTYPE_BITS[dtype]) % 8:
        findings.add("tensor-size", "error", f"{plural(nbits, 'bit')} of {dtype} are not whole bytes", name)
    else:
        findings.add(
            "tensor-size",
            "error",
            f"{_shape_text(shape)} of {dtype} takes {plural(nbits // 8, 'byte')}; data_offsets span {integer(span)}",
            name,
        )
    return True


def _shape_text(shape: Iterable[Any]) -> str:
    text = "[" + ", ".join(str(dim)[:24] for dim in shape) + "]"
    return text if len(text) <= 120 else text[:119] + "…"


def _unusual_entry(name: str, entry: Any, findings: Findings) -> tuple[Any, Any, Any] | None:
    """An entry with its fields in another order, extra or missing, as the usual triple."""
    if type(entry) is list and len(entry) == len(_FIELDS):  # the reference reader accepts them in this order
        findings.add("extra-field", "warning", "the entry is a list, not an object", name)
        return entry[0], entry[1], entry[2]
    if not isinstance(entry, _Object):
        findings.add("tensor-entry", "error", "the entry is not an object", name)
        return None
    fields = dict(entry)
    if len(fields) != len(entry):
        twice = {field for field, number in Counter(field for field, _ in entry).items() if number > 1}
        refused = not twice.isdisjoint(_FIELDS)
        findings.add("duplicate-key", "error" if refused else "warning", "a field is given twice", name)
    missing = [field for field in _FIELDS if field not in fields]
    if missing:
        findings.add("tensor-entry", "error", f"the entry has no {' and no '.join(missing)}", name)
        return None
    extra = [field for field in fields if field not in _FIELDS]
    if extra:
        findings.add("extra-field", "warning", f"unknown field {', '.join(extra):.80}", name)
    return fields["dtype"], fields["shape"], fields["data_offsets"]


def _checked_metadata(entry: Any, findings: Findings) -> dict[str, str]:
    if entry is None:
        return {}
    if isinstance(entry, tuple):
        entry = _Object(zip(_FIELDS, entry, strict=True))
    if not isinstance(entry, _Object):
        findings.add("metadata", "error", "`__metadata__` is not an object")
        return {}
    kept = {key: value for key, value in entry if type(value) is str}
    if not all(type(value) is str for _, value in entry):
        findings.add("metadata", "error", "`__metadata__` has values that are not text")
    elif len(kept) != len(entry):
        findings.add("duplicate-key", "warning", "`__metadata__` has a key twice")
    return kept


def _has_plain_names(raw: bytes) -> bool:
    """Whether no name in the header can need a finding: printable ASCII, no escapes, none empty."""
    return raw.isascii() and b"\\" not in raw and b"\x7f" not in raw and b'"":' not in raw


def _check_names(tensors: list[Tensor], findings: Findings) -> None:
    for tensor in tensors:
        name = tensor.name
        if name.isascii() and name.isprintable() and name:
            continue
        if not name:
            findings.add("tensor-name", "warning", "a tensor has an empty name", name)
        elif any("\ud800" <= char <= "\udfff" for char in name):
            findings.add("tensor-name", "error", "the name has an unpaired surrogate: not valid Unicode", name)
        elif escape(name) != name:
            findings.add("control-character", "warning", "the name has control or invisible characters", name)


def _last_of_each(header: _Object, findings: Findings) -> Iterable[tuple[str, Any]]:
    """The entries that readers use: the last of a duplicated name, as in a hash map."""
    last = dict(header)
    if len(last) == len(header):
        return header
    first: dict[str, Any] = {}
    for name, entry in header:
        if name not in first:
            first[name] = entry
        elif name != "__metadata__":
            if first[name] == entry == last[name]:
                findings.add(
                    "duplicate-key", "warning", "the name appears twice in the header, with the same entry", name
                )
            else:
                what = "the name appears twice in the header, with different entries: readers may take either"
                findings.add("conflicting-key", "warning", what, name)
    for name, entry in header:
        if name != "__metadata__" and entry is not last[name] and not _has_right_types(entry):
            findings.add("tensor-entry", "error", "an entry that a later one of the same name hides is malformed", name)
    hidden = [(name, entry) for name, entry in header if name == "__metadata__"]
    return [*hidden, *((name, entry) for name, entry in last.items() if name != "__metadata__")]


def _has_right_types(entry: Any) -> bool:
    """Whether an entry's fields have the right types, whatever their values."""
    if isinstance(entry, _Object):
        pairs = [pair for pair in entry if pair[0] in _FIELDS]
        fields = dict(pairs)
        if len(fields) != len(pairs) or not fields.keys() >= set(_FIELDS):
            return False
        entry = tuple(fields[field] for field in _FIELDS)
    if type(entry) is list and len(entry) == len(_FIELDS):
        entry = tuple(entry)
    if type(entry) is not tuple or type(entry[1]) is not list or type(entry[2]) is not list or len(entry[2]) != 2:
        return False
    sizes = (*entry[1], *entry[2])
    known = type(entry[0]) is str and entry[0] in DTYPE_BITS
    return known and all(type(size) is int and 0 <= size < 2**64 for size in sizes)
