"""What weight files contain: tensors, regions, headers, and what is found about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, Literal

from inspector.tabular import NamedTuple
from inspector.units import decimal, escape, plural

if TYPE_CHECKING:
    from inspector.model.codes import Code, MemoryCode

Severity = Literal["error", "warning", "info"]


class Finding(NamedTuple):
    """Something worth reporting about a file, with its location and numbers."""

    rule: Code | MemoryCode  # "hole", "duplicate-key", …
    severity: Severity
    message: str  # one line, unescaped
    path: str | None = None  # relative to the checkpoint
    tensor: str | None = None


class Tensor(NamedTuple):
    """One tensor as its file's header declares it."""

    name: str
    dtype: str  # the format's own name: "BF16", "Q4_K"
    shape: tuple[int, ...]  # row-major: GGUF's order reversed
    offset: int  # from the file's first byte
    nbytes: int  # according to the header

    @property
    def elements(self) -> int:
        """Stored elements: the product of the shape; 1 for a scalar."""
        return prod(self.shape)


class Piece(NamedTuple):
    """The part of a tensor that a file holds, if the tensor is spread over several files."""

    start: tuple[int, ...]  # position of its first element; one number if the whole was flattened before splitting
    whole: tuple[int, ...]  # the whole tensor's shape


class Region(NamedTuple):
    """A labelled range of a file's bytes. A file's regions partition it."""

    label: str  # one of REGIONS
    start: int
    end: int

    @property
    def size(self) -> int:
        return self.end - self.start


#: Region label → the column of `files[]` that counts it.
REGIONS: Mapping[str, str] = {
    "length": "header",  # safetensors: the 8 bytes with the header's length
    "header": "header",  # safetensors: JSON with its padding; GGUF: magic, version and counts
    "metadata": "header",  # GGUF key-values except the tokenizer's
    "tokenizer": "header",  # GGUF key-values that begin with `tokenizer.`
    "tensor table": "header",  # GGUF tensor infos
    "pickle": "header",  # PyTorch: the program that names the tensors
    "archive": "header",  # PyTorch, NumPy: ZIP's records around the tensors, and the list of its members
    "tensors": "tensors",  # claimed by at least one tensor
    "padding": "padding",  # required by the format's alignment
    "hole": "unused",  # between tensors, claimed by none
    "trailing": "unused",  # after the last tensor
    "unreadable": "unused",  # all of a file without a readable header
}


class Header(NamedTuple):
    """Everything a weight file says before its tensor data."""

    path: str  # relative to the checkpoint, "/"-separated
    format: Literal["safetensors", "gguf", "pytorch", "numpy", "flax", "hdf5"]
    size: int  # bytes of the file
    tensors: Sequence[Tensor]  # in the header's order
    regions: tuple[Region, ...]  # partition of [0, size), in order
    metadata: Mapping[str, Any]  # `__metadata__`, or GGUF's key-values (decoded on request)
    findings: tuple[Finding, ...] = ()
    strides: Mapping[int, tuple[int, ...]] = {}  # position in `tensors` → steps in elements, where unusual
    pieces: Mapping[int, Piece] = {}  # position in `tensors` → which part of a larger tensor it is
    numbers: frozenset[str] = frozenset()  # names of tensors beside the model's that a training run counted or measured

    def __repr__(self) -> str:
        return f"<Header {escape(self.path, 100)}: {plural(len(self.tensors), 'tensor')}, {decimal(self.size)}>"

    def bytes_in(self, column: str) -> int:
        """Bytes of the regions counted in one column of `files[]`."""
        return sum(r.size for r in self.regions if REGIONS[r.label] == column)


class Joined(NamedTuple):
    """Headers in which each tensor appears once and whole, for files that hold parts of tensors."""

    files: tuple[Header, ...]  # a tensor is in the first that has a part, with its whole shape and all its bytes
    copies: Mapping[str, int]  # tensor → bytes of its further copies
