"""The tensors that a pickle's value holds, by the path to each: views of storages that lie elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from inspector.formats.pytorch.values import Dictionary, Global, Made, Persistent

#: Values that are walked in one file, and tensors that are taken of it: a value in several places is walked in each.
MAX_VALUES = 1_000_000
MAX_TENSORS = 500_000
#: Values within each other that are entered.
MAX_DEPTH = 100

#: Class of a storage → dtype in safetensors' words where it has one, and bytes of an element.
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
#: `torch.float8_e4m3fn`, for tensors that name their dtype beside an untyped storage.
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


class View(NamedTuple):
    """One tensor: which elements of which storage."""

    name: str  # the path to it: "layers.0.weight"
    dtype: str
    width: int  # bytes of an element; of `F4` and the like of a byte with several
    shape: tuple[int, ...]
    stride: tuple[int, ...]  # in elements
    offset: int  # of the first element, in elements
    storage: str | None  # its key; None for a tensor without data
    length: int  # elements of the storage, as the pickle says

    @property
    def extent(self) -> int:
        """Elements from the first to the last that it touches, both among them."""
        if 0 in self.shape:
            return 0
        return 1 + sum((dim - 1) * step for dim, step in zip(self.shape, self.stride, strict=True))

    @property
    def contiguous(self) -> bool:
        """Whether its elements lie in order, one after the other."""
        expected = 1
        for dim, step in zip(reversed(self.shape), reversed(self.stride), strict=True):
            if dim != 1 and step != expected and 0 not in self.shape:
                return False
            expected *= dim
        return True


class Walked(NamedTuple):
    """All tensors of a file."""

    views: tuple[View, ...]  # in the order of writing; one that two names lead to is in it twice
    malformed: tuple[str, ...]  # names of tensors whose description is none
    opaque: tuple[str, ...]  # classes of objects that are entered for their tensors, and otherwise not known
    complete: bool


def walk(value: Any, root: str = "") -> Walked:
    """Every tensor in a value. Names are joined by dots; a module's `_parameters` and the like leave no trace."""
    views: list[View] = []
    malformed: list[str] = []
    opaque: dict[str, None] = {}
    pending: list[tuple[str, Any, int]] = [(root, value, 0)]
    left = MAX_VALUES
    while pending:
        name, each, depth = pending.pop()
        left -= 1 + len(name) // 64  # long names are work too
        if left < 0 or len(views) >= MAX_TENSORS:
            return Walked(tuple(views), tuple(malformed), tuple(opaque), complete=False)
        if depth > MAX_DEPTH or isinstance(each, (str, bytes, int, float, type(None))):
            continue
        if isinstance(each, Made):
            found = _views_of(name, each)
            if found is not None:
                views += found
                malformed += [name] if not found else []
                continue
            if not each.path.startswith(("collections.", "builtins.", "torch.Size")) and each.path:
                opaque[each.path] = None
        inner = list(_inside(each))
        pending += [(_joined(name, key), part, depth + 1) for key, part in reversed(inner)]
    return Walked(tuple(views), tuple(malformed), tuple(opaque), complete=True)


#: Where `torch.nn.Module` keeps what it is made of.
_TRANSPARENT = frozenset(("_parameters", "_buffers", "_modules"))


def _joined(outer: str, inner: str) -> str:
    if inner in _TRANSPARENT or not inner:
        return outer
    return f"{outer}.{inner}" if outer else inner


def _inside(value: Any) -> Iterator[tuple[str, Any]]:
    """Key and value of each part of a container, or of an object's state."""
    if isinstance(value, Dictionary):
        yield from ((_key(key), part) for key, part in value.pairs)
    elif isinstance(value, (list, tuple)):
        yield from ((str(number), part) for number, part in enumerate(value))
    elif isinstance(value, Made):
        first = value.arguments[0] if isinstance(value.arguments, tuple) and value.arguments else None
        if isinstance(first, (list, Dictionary)):
            yield from _pairs_of(first)
        yield from _pairs_of(value.items)
        if value.path != "collections.OrderedDict":  # its state is `_metadata`, of versions alone
            yield from _inside(value.state)


def _pairs_of(items: Any) -> Iterator[tuple[str, Any]]:
    """What an ordered dictionary was made with: pairs, or lists of two."""
    if isinstance(items, Dictionary):
        yield from _inside(items)
        return
    for number, each in enumerate(items):
        if isinstance(each, (tuple, list)) and len(each) == 2:
            yield _key(each[0]), each[1]
        else:
            yield str(number), each


def _key(key: Any) -> str:
    return str(key) if isinstance(key, (str, int, float, bool)) else "?"


_INNER = {
    "torch._utils._rebuild_parameter": 0,
    "torch._utils._rebuild_parameter_with_state": 0,
    "torch._utils._rebuild_device_tensor_from_cpu_tensor": 0,
    "torch.nn.parameter.Parameter": 0,
    "torch.nn.parameter.Buffer": 0,
    "torch.Tensor": 0,
}


def _views_of(name: str, made: Made) -> list[View] | None:
    """The tensors that a call makes: none where it is malformed; None where it makes something else."""
    path, arguments = made.path, made.arguments
    for _ in range(8):  # a parameter of a subclass of a tensor
        if not isinstance(arguments, tuple):
            return [] if path.startswith("torch._utils._rebuild") else None
        if path in _INNER:
            inner = arguments[_INNER[path]] if len(arguments) > _INNER[path] else None
            if not isinstance(inner, Made):
                return None
            path, arguments = inner.path, inner.arguments
        elif path.startswith("torch._tensor._rebuild_from_type") and len(arguments) >= 3:
            path = arguments[0].path if isinstance(arguments[0], Global) else ""
            arguments = arguments[2]
        else:
            break
    maker = _MAKERS.get(path)
    return maker(name, arguments) if maker and isinstance(arguments, tuple) else None


def _dense(name: str, arguments: tuple[Any, ...], *, typed: bool = False) -> list[View]:
    """`_rebuild_tensor` and its successors: storage, offset, size, stride, …"""
    if len(arguments) < 4 or not isinstance(arguments[0], Persistent):
        return []
    stored, offset = _storage(arguments[0].key), arguments[1]
    shape, stride = _sizes(arguments[2]), _sizes(arguments[3])
    if stored is None or shape is None or stride is None or len(shape) != len(stride) or not _is_count(offset):
        return []
    dtype, width, key, length = stored
    if typed:
        own = DTYPES.get(arguments[6].name) if len(arguments) > 6 and isinstance(arguments[6], Global) else None
        if own is None:
            return []
        length = length * width // own[1]
        dtype, width = own
    return [View(name, dtype, width, shape, stride, offset, key, length)]


def _storage(key: Any) -> tuple[str, int, str, int] | None:
    """dtype, width, key and elements of a storage: `("storage", class, key, place, elements)`."""
    if not isinstance(key, tuple) or len(key) < 5 or key[0] != "storage" or not isinstance(key[1], Global):
        return None
    kind = STORAGES.get(key[1].name)
    if kind is None or not isinstance(key[2], (str, int)) or not _is_count(key[4]):
        return None
    return (*kind, str(key[2]), key[4])


def _sizes(value: Any) -> tuple[int, ...] | None:
    if isinstance(value, Made) and value.path == "torch.Size" and isinstance(value.arguments, tuple):
        value = value.arguments[0] if value.arguments else ()
    if not isinstance(value, (tuple, list)) or len(value) > 64 or not all(map(_is_count, value)):
        return None
    return tuple(value)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def _typed(name: str, arguments: tuple[Any, ...]) -> list[View]:
    return _dense(name, arguments, typed=True)


def _sparse(name: str, arguments: tuple[Any, ...]) -> list[View]:
    """A sparse tensor: its indices and values are tensors by themselves."""
    parts = arguments[1] if len(arguments) > 1 and isinstance(arguments[1], tuple) else ()
    found: list[View] = []
    for number, each in enumerate(parts):
        if isinstance(each, Made):
            found += _views_of(f"{name}.{number}", each) or []
    return found


def _nested(name: str, arguments: tuple[Any, ...]) -> list[View]:
    """A nested tensor: one buffer, with tensors of sizes, strides and offsets."""
    return _sparse(name, (None, arguments))


def _without_data(name: str, arguments: tuple[Any, ...]) -> list[View]:
    """A tensor on the meta device: dtype and size, and no bytes."""
    if len(arguments) < 3 or not isinstance(arguments[0], Global):
        return []
    kind, shape, stride = DTYPES.get(arguments[0].name), _sizes(arguments[1]), _sizes(arguments[2])
    if kind is None or shape is None or stride is None or len(shape) != len(stride):
        return []
    return [View(name, *kind, shape, stride, 0, None, 0)]


_MAKERS = {
    "torch._utils._rebuild_tensor": _dense,
    "torch._utils._rebuild_tensor_v2": _dense,
    "torch._utils._rebuild_tensor_v3": _typed,
    "torch._utils._rebuild_qtensor": _dense,
    "torch._utils._rebuild_sparse_tensor": _sparse,
    "torch._utils._rebuild_nested_tensor": _nested,
    "torch._utils._rebuild_meta_tensor_no_storage": _without_data,
}
