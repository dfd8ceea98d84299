"""A tensor as its pickle describes it: which elements of which storage, of which type."""

from __future__ import annotations

from typing import NamedTuple

from inspector.model import Piece

#: Class of a storage → dtype, by safetensors' name if it has one, and bytes of an element.
STORAGES: dict[str, tuple[str, int]] = {
    "DoubleStorage": ("F64", 8),
    "FloatStorage": ("F32", 4),
    "HalfStorage": ("F16", 2),
    "BFloat16Storage": ("BF16", 2),
    "LongStorage": ("I64", 8),
    "IntStorage": ("I32", 4),
    "ShortStorage": ("I16", 2),
    "CharStorage": ("I8", 1),
    "ByteStorage": ("U8", 1),
    "BoolStorage": ("BOOL", 1),
    "ComplexFloatStorage": ("C64", 8),
    "ComplexDoubleStorage": ("C128", 16),
    "QInt8Storage": ("QI8", 1),
    "QUInt8Storage": ("QU8", 1),
    "QInt32Storage": ("QI32", 4),
    "QUInt4x2Storage": ("QU4", 1),
    "QUInt2x4Storage": ("QU2", 1),
    "UntypedStorage": ("U8", 1),
    "_UntypedStorage": ("U8", 1),
}
#: `torch.float8_e4m3fn`, for tensors that name their dtype next to an untyped storage.
DTYPES: dict[str, tuple[str, int]] = {
    "float64": ("F64", 8),
    "float32": ("F32", 4),
    "float16": ("F16", 2),
    "bfloat16": ("BF16", 2),
    "complex32": ("C32", 4),
    "complex64": ("C64", 8),
    "complex128": ("C128", 16),
    "int64": ("I64", 8),
    "int32": ("I32", 4),
    "int16": ("I16", 2),
    "int8": ("I8", 1),
    "uint8": ("U8", 1),
    "uint16": ("U16", 2),
    "uint32": ("U32", 4),
    "uint64": ("U64", 8),
    "bool": ("BOOL", 1),
    "float8_e4m3fn": ("F8_E4M3", 1),
    "float8_e5m2": ("F8_E5M2", 1),
    "float8_e4m3fnuz": ("F8_E4M3FNUZ", 1),
    "float8_e5m2fnuz": ("F8_E5M2FNUZ", 1),
    "float8_e8m0fnu": ("F8_E8M0", 1),
    "float4_e2m1fn_x2": ("F4", 1),
}
#: `ScalarType` in the JSON of an exported program (`torch/_export/serde/schema.py`).
SCALAR_TYPES: dict[int, tuple[str, int]] = {
    number: DTYPES[name]
    for number, name in {
        1: "uint8",
        2: "int8",
        3: "int16",
        4: "int32",
        5: "int64",
        6: "float16",
        7: "float32",
        8: "float64",
        9: "complex32",
        10: "complex64",
        11: "complex128",
        12: "bool",
        13: "bfloat16",
        28: "uint16",
        29: "float8_e4m3fn",
        30: "float8_e5m2",
        31: "float8_e4m3fnuz",
        32: "float8_e5m2fnuz",
        33: "float8_e8m0fnu",
        34: "uint32",
        35: "uint64",
    }.items()
}


class View(NamedTuple):
    """One tensor: which elements of which storage."""

    name: str  # the path to it: "layers.0.weight"
    dtype: str
    width: int  # bytes of an element; for `F4` and the like, of a byte with several
    shape: tuple[int, ...]
    stride: tuple[int, ...]  # in elements
    offset: int  # of the first element, in elements
    storage: str | None  # its key; None for a tensor without data
    length: int  # elements of the storage, as the pickle says
    piece: Piece | None = None  # of a tensor that is spread over several files

    @property
    def extent(self) -> int:
        """Elements from the first to the last that it touches, inclusive."""
        if 0 in self.shape:
            return 0
        return 1 + sum((dim - 1) * step for dim, step in zip(self.shape, self.stride, strict=True))

    @property
    def contiguous(self) -> bool:
        """Whether its elements are contiguous and in order."""
        expected = 1
        for dim, step in zip(reversed(self.shape), reversed(self.stride), strict=True):
            if dim != 1 and step != expected and 0 not in self.shape:
                return False
            expected *= dim
        return True
