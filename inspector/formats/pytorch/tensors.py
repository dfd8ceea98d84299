"""The tensors in a pickle's value, by path: views of storages that are elsewhere in the file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from inspector.formats.pytorch import sharded
from inspector.formats.pytorch.values import Dictionary, Global, Made, Persistent, is_count
from inspector.formats.pytorch.views import DTYPES, STORAGES, View

#: Values visited in one file, and tensors taken from it: a value in several places is visited in each.
MAX_VALUES = 1_000_000
MAX_TENSORS = 500_000
#: The deepest nesting of values that is visited.
MAX_DEPTH = 100
#: Times that one container is visited, each under another name: allows a module that is used twice, but not a bomb of
#: references.
MAX_TIMES = 8


class Walked(NamedTuple):
    """All tensors of a file."""

    views: tuple[View, ...]  # in the order of writing; a tensor with two names is in it twice
    malformed: tuple[str, ...]  # names of tensors whose description is invalid
    opaque: tuple[str, ...]  # unknown classes of objects that are searched for tensors
    complete: bool


def walk(value: Any, root: str = "", kept: Mapping[str, View] | None = None) -> Walked:
    """Every tensor in a value. Names are joined by dots; a module's `_parameters` and the like leave no trace.

    Args:
        kept: tensors that are described elsewhere, and appear in the value only as their keys.
    """
    search = _Search(kept or {})
    pending: list[tuple[str, Any, int]] = [(root, value, 0)]
    left = MAX_VALUES
    while pending:
        name, each, depth = pending.pop()
        left -= 1 + len(name) // 64  # long names take work too
        if left < 0 or len(search.views) >= MAX_TENSORS:
            search.complete = False
            break
        if depth <= MAX_DEPTH and not isinstance(each, _PLAIN):
            inner = search.visited(name, each)
            pending += [(_joined(name, key), part, depth + 1) for key, part in reversed(inner)]
    return Walked(tuple(search.views), tuple(search.malformed), tuple(search.opaque), complete=search.complete)


class _Search:
    """What was found so far."""

    def __init__(self, kept: Mapping[str, View]) -> None:
        self.kept = kept
        self.views: list[View] = []
        self.malformed: list[str] = []
        self.opaque: dict[str, None] = {}
        self.complete = True
        self._times: Counter[int] = Counter()  # container → how often it was visited

    def visited(self, name: str, value: Any) -> Sequence[tuple[str, Any]]:
        """Notes a tensor; of anything else, the parts that are visited next."""
        if isinstance(value, Made) and (held := _held(value)) is not None:
            return [("", held)]
        if isinstance(value, (Made, Persistent)) and self._noted(name, value):
            return ()
        inner = list(_inside(value))
        self._times[id(value)] += any(not isinstance(part, _PLAIN) for _, part in inner)
        if self._times[id(value)] > MAX_TIMES:
            self.complete = False
            return ()
        return inner

    def _noted(self, name: str, value: Made | Persistent) -> bool:
        """Whether a value is a tensor, sound or malformed."""
        key = value.key if self.kept and isinstance(value, Persistent) else None
        if isinstance(key, (str, int)) and (known := self.kept.get(str(key))):
            self.views.append(known._replace(name=name))
            return True
        found = _views_of(name, value)
        if found is None:
            path = value.path if isinstance(value, Made) else ""
            if path and not path.startswith(_CONTAINERS):
                self.opaque[path] = None
            return False
        self.views += found
        if not found:
            self.malformed.append(name)
        return True


#: Types without contents.
_PLAIN = (str, bytes, int, float, type(None))
#: Prefixes of classes that are searched without a finding.
_CONTAINERS = ("collections.", "builtins.", "torch.Size")
#: Where `torch.nn.Module` keeps its parts.
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
        if value.path != "collections.OrderedDict":  # its state is `_metadata`, which has only versions
            yield from _inside(value.state)


def _pairs_of(items: Any) -> Iterator[tuple[str, Any]]:
    """The items an ordered dictionary was made from: pairs, or lists of two."""
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


#: Nesting of tensors that hold tensors: a parameter of a sparse tensor of quantized values. Deeper ones are malformed.
_MOST_WITHIN = 4
_WRAPPED = "torch._utils._rebuild_wrapper_subclass"


def _held(made: Made) -> Any:
    """The tensors inside a tensor of a wrapper class that is unknown here; None for anything else."""
    arguments = made.arguments
    if not made.path.startswith("torch._tensor._rebuild_from_type") or not isinstance(arguments, tuple):
        return None
    path = arguments[0].path if arguments and isinstance(arguments[0], Global) else ""
    if path != _WRAPPED or not isinstance(arguments[1], Global) or arguments[1].path.endswith(_SHARDED):
        return None
    return arguments[3] if len(arguments) > 3 else None


def _views_of(name: str, made: Made | Persistent, depth: int = 0) -> list[View] | None:
    """The tensors that a call makes: empty if it is malformed; None if it makes something else."""
    if isinstance(made, Persistent):
        return _bare_storage(name, made)
    if depth > _MOST_WITHIN:
        return []
    path, arguments = _innermost(made)
    if not isinstance(arguments, tuple):
        return [] if path.startswith("torch._utils._rebuild") else None
    if path == _WRAPPED:
        return _part_of_whole(name, arguments, depth)
    if compound := _COMPOUND.get(path):
        return compound(name, arguments, depth)
    maker = _MAKERS.get(path)
    return maker(name, arguments) if maker else None


def _innermost(made: Made) -> tuple[str, Any]:
    """The function that makes the tensor, and its arguments, within calls that make a parameter or subclass of it."""
    path, arguments = made.path, made.arguments
    for _ in range(8):
        if not isinstance(arguments, tuple):
            break
        if path in _INNER:
            inner = arguments[_INNER[path]] if len(arguments) > _INNER[path] else None
            if not isinstance(inner, Made):
                return "", None
            path, arguments = inner.path, inner.arguments
        elif path.startswith("torch._tensor._rebuild_from_type") and len(arguments) >= 3:
            path = arguments[0].path if isinstance(arguments[0], Global) else ""
            arguments = arguments[1:] if path == _WRAPPED else arguments[2]
        else:
            break
    return path, arguments


def _dense(name: str, arguments: tuple[Any, ...], *, typed: bool = False) -> list[View]:
    """`_rebuild_tensor` and its successors: storage, offset, size, stride, …"""
    if len(arguments) < 4 or not isinstance(arguments[0], Persistent):
        return []
    stored, offset = _storage(arguments[0].key), arguments[1]
    shape, stride = sizes_of(arguments[2]), sizes_of(arguments[3])
    if stored is None or shape is None or stride is None or len(shape) != len(stride) or not is_count(offset):
        return []
    dtype, width, key, length = stored
    offset += _place_of_view(arguments[0].key)
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
    if kind is None or not isinstance(key[2], (str, int)) or not is_count(key[4]):
        return None
    return (*kind, str(key[2]), key[4])


def _place_of_view(key: tuple[Any, ...]) -> int:
    """The start of a storage that is itself a view of another, as PyTorch wrote them before 0.4."""
    view = key[5] if len(key) > 5 else None
    return view[1] if isinstance(view, tuple) and len(view) == 3 and is_count(view[1]) else 0


def sizes_of(value: Any) -> tuple[int, ...] | None:
    """A `torch.Size`, or a tuple or list of sizes; None for anything else."""
    if isinstance(value, Made) and value.path == "torch.Size" and isinstance(value.arguments, tuple):
        value = value.arguments[0] if value.arguments else ()
    if not isinstance(value, (tuple, list)) or len(value) > 64 or not all(map(is_count, value)):
        return None
    return tuple(value)


def _typed(name: str, arguments: tuple[Any, ...]) -> list[View]:
    return _dense(name, arguments, typed=True)


def _bare_storage(name: str, stored: Persistent) -> list[View] | None:
    """A storage that was saved by itself."""
    found = _storage(stored.key)
    if found is None:
        return None
    dtype, width, key, length = found
    return [View(name, dtype, width, (length,), (1,), 0, key, length)]


#: Layout → names of the tensors that represent a sparse one (`torch/_utils.py`, `_rebuild_sparse_tensor`).
_SPARSE = {
    "torch.sparse_coo": ("indices", "values"),
    "torch.sparse_csr": ("crow_indices", "col_indices", "values"),
    "torch.sparse_csc": ("ccol_indices", "row_indices", "values"),
    "torch.sparse_bsr": ("crow_indices", "col_indices", "values"),
    "torch.sparse_bsc": ("ccol_indices", "row_indices", "values"),
}


def _sparse(name: str, arguments: tuple[Any, ...], depth: int) -> list[View]:
    """A sparse tensor: its indices and values are separate tensors."""
    layout, parts = arguments[0], arguments[1] if len(arguments) > 1 else None
    if isinstance(layout, Made) and isinstance(layout.arguments, tuple):  # `_get_layout("torch.sparse_coo")`
        layout = layout.arguments[0] if layout.arguments else None
    elif isinstance(layout, Global):
        layout = layout.path
    words = _SPARSE.get(layout, ()) if isinstance(layout, str) else ()
    return _parts(name, words, parts if isinstance(parts, tuple) else (), depth)


def _quantized(name: str, arguments: tuple[Any, ...], depth: int) -> list[View]:
    """A quantized tensor: per-channel scales are further tensors."""
    found = _dense(name, arguments)
    quantizer = arguments[4] if len(arguments) > 4 and isinstance(arguments[4], tuple) else ()
    return found + _parts(name, ("scales", "zero_points"), quantizer[1:3], depth) if found else []


def _nested(name: str, arguments: tuple[Any, ...], depth: int) -> list[View]:
    """A nested tensor: one buffer, with tensors of sizes, strides and offsets."""
    return _parts(name, ("buffer", "sizes", "strides", "storage_offsets"), arguments, depth)


def _parts(name: str, words: Sequence[str], parts: Sequence[Any], depth: int) -> list[View]:
    """The parts of a tensor, each named for its purpose."""
    found: list[View] = []
    for word, each in zip(words, parts):  # noqa: B905  sizes and flags follow the tensors
        if isinstance(each, (Made, Persistent)):
            found += _views_of(_joined(name, word), each, depth + 1) or []
    return found


_SHARDED = (".DTensor", ".ShardedTensor")


def _part_of_whole(name: str, arguments: tuple[Any, ...], depth: int) -> list[View]:
    """One rank's part of a tensor.

    Args:
        arguments: a class, the arguments of `_rebuild_wrapper_subclass` (class, dtype, size, stride, …), and the state.
    """
    kind, whole, state = arguments if len(arguments) == 3 else (None, None, None)
    shape = sizes_of(whole[2]) if isinstance(whole, tuple) and len(whole) > 2 else None
    if not isinstance(kind, Global) or shape is None:
        return []
    read = sharded.local_part if kind.path.endswith(_SHARDED[0]) else sharded.own_shards
    return read(lambda name, made: _views_of(name, made, depth + 1), name, shape, state)


def _without_data(name: str, arguments: tuple[Any, ...]) -> list[View]:
    """A tensor on the meta device: dtype and size, and no bytes."""
    if len(arguments) < 3 or not isinstance(arguments[0], Global):
        return []
    kind, shape, stride = DTYPES.get(arguments[0].name), sizes_of(arguments[1]), sizes_of(arguments[2])
    if kind is None or shape is None or stride is None or len(shape) != len(stride):
        return []
    return [View(name, *kind, shape, stride, 0, None, 0)]


def _jagged(name: str, arguments: tuple[Any, ...], depth: int) -> list[View]:
    """A jagged tensor: the values of all rows, and where each row begins."""
    given = arguments[0] if arguments and isinstance(arguments[0], Dictionary) else Dictionary([])
    words = ("values", "offsets", "lengths")
    return _parts(name, words, [given.get(word) for word in words], depth)


#: Function → builds its tensor from a name and the function's arguments.
_MAKERS = {
    "torch._utils._rebuild_tensor": _dense,
    "torch._utils._rebuild_tensor_v2": _dense,
    "torch._utils._rebuild_tensor_v3": _typed,
    "torch._utils._rebuild_meta_tensor_no_storage": _without_data,
}
#: The same for tensors made of others, with the nesting depth.
_COMPOUND = {
    "torch._utils._rebuild_qtensor": _quantized,
    "torch._utils._rebuild_sparse_tensor": _sparse,
    "torch._utils._rebuild_nested_tensor": _nested,
    "torch.nested._internal.nested_tensor._rebuild_njt": _jagged,
}
