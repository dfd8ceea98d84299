"""A safetensors header as the format's own writer lays it out, read with one expression.

    {"__metadata__":{…},"name":{"dtype":"BF16","shape":[4096],"data_offsets":[0,8192]},…}  and spaces

That is half the work of reading it as JSON. Only what is known to be sound is read so: whatever has white space,
escapes, another order of fields, a name twice or a wrong size is left to `safetensors_entries`, which can tell why.
"""

from __future__ import annotations

import json
import re
from itertools import chain

from inspector.formats.safetensors_dtypes import expected_bytes
from inspector.model import Tensor

_METADATA = '{"__metadata__":{'
#: Names of printable ASCII without escapes; numbers as JSON has them, below 2⁶³.
_ENTRY = re.compile(
    r',"([ !#-\[\]-~]+)":\{("dtype":"[A-Z0-9_]+","shape":\[[0-9,]*\]),'
    r'"data_offsets":\[(0|[1-9][0-9]{0,17}),(0|[1-9][0-9]{0,17})\]\}'
)
#: Characters of an entry outside the groups.
_AROUND = len(',"":{,"data_offsets":[,]}')
_tuple = tuple.__new__  # builds a named tuple without its Python-level constructor


def parse(raw: bytes, start: int) -> tuple[list[Tensor], dict[str, str]] | None:
    """The tensors, offsets counted from the file's first byte, and `__metadata__`; None for any other layout.

    Args:
        raw: the header's JSON.
        start: where in the file the data begins.
    """
    if not raw.isascii():
        return None
    text = raw.decode("ascii").rstrip(" ")
    try:
        entries, metadata = _metadata(text)
        rows = _ENTRY.findall(entries)
        length = sum(map(len, chain.from_iterable(rows))) + len(rows) * _AROUND
        names = {row[0] for row in rows}
        if entries[length:] != "}" or len(names) != len(rows) or "__metadata__" in names:
            return None
        return _tensors(rows, start), metadata
    except (ValueError, RecursionError):
        return None


def _metadata(text: str) -> tuple[str, dict[str, str]]:
    """The entries, a comma before each, and `__metadata__`, which comes first where there is any."""
    if not text.startswith(_METADATA):
        return text.replace("{", ",", 1) if text.startswith("{") else "", {}
    pairs, end = json.JSONDecoder(object_pairs_hook=list).raw_decode(text, len(_METADATA) - 1)
    metadata = dict(pairs)
    if len(metadata) != len(pairs) or not all(type(value) is str for value in metadata.values()):
        raise ValueError("not text, or a key twice")
    return text[end:], metadata


def _tensors(rows: list[tuple[str, str, str, str]], start: int) -> list[Tensor]:
    """A tensor a row. Raises ValueError where dtype and shape do not make the size."""
    kinds: dict[str, tuple[str, tuple[int, ...], int]] = {}
    tensors = []
    for name, kind, begin, end in rows:
        known = kinds.get(kind)
        if known is None:
            known = kinds[kind] = _kind(kind)
        dtype, shape, nbytes = known
        first = int(begin)
        if int(end) - first != nbytes:
            raise ValueError("another size")
        tensors.append(_tuple(Tensor, (name, dtype, shape, start + first, nbytes)))
    return tensors


def _kind(text: str) -> tuple[str, tuple[int, ...], int]:
    """Dtype, shape and bytes of `"dtype":"F16","shape":[2]`."""
    fields = json.loads("{" + text + "}")
    dtype, shape = fields["dtype"], tuple(fields["shape"])
    nbytes = expected_bytes(dtype, shape)
    if nbytes is None:
        raise ValueError("no size")
    return dtype, shape, nbytes
