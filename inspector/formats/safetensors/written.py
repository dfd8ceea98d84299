"""A safetensors header as the format's own writer lays it out, read with one regular expression.

    {"__metadata__":{…},"name":{"dtype":"BF16","shape":[4096],"data_offsets":[0,8192]},…}  and spaces

That is half the work of reading it as JSON. Only sound headers are read this way: any with white space, escapes,
another order of fields, a repeated name or a wrong size is left to `safetensors_entries`, which can explain it.
"""

from __future__ import annotations

import json
import re
from operator import itemgetter

from inspector.formats.safetensors.dtypes import expected_bytes
from inspector.model import Tensor

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
#: Tensors to look for: each takes Python some 500 bytes of memory while it is read.
_MOST = 160_000


def parse(raw: bytes, start: int) -> tuple[list[Tensor], dict[str, str]] | None:
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
        text, first, metadata = _metadata(raw.decode("ascii"))
        last = text.rindex("}", first)
        rows = _ENTRY.findall(text, first, last)
        names = set(map(itemgetter(0), rows))
        if (rows and rows[-1] == _NO_ENTRY) or len(names) != len(rows) or "__metadata__" in names:
            return None
        return _tensors(rows, start), metadata
    except (ValueError, RecursionError):
        return None


def _metadata(text: str) -> tuple[str, int, dict[str, str]]:
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


def _tensors(rows: list[tuple[str, str, str, str]], start: int) -> list[Tensor]:
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
