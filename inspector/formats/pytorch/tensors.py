"""The tensors in a pickle's value, by path: views of storages that are elsewhere in the file.

Each rank of a distributed run saves a part of a tensor:

DTensor         the local tensor, the placements (`Shard(0)`, `Replicate()`) and this rank's place in the mesh
ShardedTensor   the local shards, each with its offsets in the whole (FSDP before 2.2, torch.distributed._shard)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import prod
from typing import Any, NamedTuple

from inspector.formats.dtypes import DTYPES
from inspector.formats.pytorch.layout import STORAGES, Found, Frame, Storage, View
from inspector.formats.pytorch.values import Dictionary, Global, Made, Persistent, attribute, is_count
from inspector.model import Piece

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

    def found(self, storages: Mapping[str, Storage], frame: Frame, value: Any) -> Found:
        """The contents of the file with these storages, whose pickle left this value."""
        return Found(self.views, storages, frame, value, self.malformed, self.opaque, complete=self.complete)


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
            pending += [(_dotted_name(name, key), part, depth + 1) for key, part in reversed(inner)]
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
        self._without: set[int] = set()  # values that were searched for tensors

    def visited(self, name: str, value: Any) -> Sequence[tuple[str, Any]]:
        """Notes a tensor; of anything else, the parts that are visited next."""
        if isinstance(value, Made) and (inner := _inside_wrapper(value)) is not None:
            flat = value.arguments[1].path.startswith("torchao.")
            return [(_FLAT + key, part) for key, part in _parts_of_value(inner)] if flat else [("", inner)]
        if isinstance(value, (Made, Persistent)) and self._is_noted(name, value):
            return ()
        inner = list(_parts_of_value(value))
        self._times[id(value)] += any(not isinstance(part, _PLAIN) for _, part in inner)
        if self._times[id(value)] > MAX_TIMES:
            self.complete = self.complete and not self._holds_tensors(value)
            return ()
        return inner

    def _holds_tensors(self, value: Any) -> bool:
        """Whether there is a tensor anywhere in a value: a configuration that refers to itself has none."""
        pending = [value]
        while pending:
            each = pending.pop()
            if isinstance(each, _PLAIN) or id(each) in self._without:
                continue
            self._without.add(id(each))
            if isinstance(each, (Made, Persistent)) and _views_of("", each) is not None:
                return True
            pending += [part for _, part in _parts_of_value(each)]
        return False

    def _is_noted(self, name: str, value: Made | Persistent) -> bool:
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
#: What begins the name of a part that torchao and Transformers would write apart: `q_proj.weight` with its `qdata` is
#: `q_proj._weight_qdata` (torchao/prototype/safetensors/safetensors_support.py, `flatten_tensor_state_dict`).
_FLAT = "\0"


def _dotted_name(outer: str, inner: str) -> str:
    if inner in _TRANSPARENT or not inner:
        return outer
    if inner.startswith(_FLAT):
        module, dot, last = outer.rpartition(".")
        return f"{module}{dot}_{last}_{inner[1:]}"
    return f"{outer}.{inner}" if outer else inner


def _parts_of_value(value: Any) -> Iterator[tuple[str, Any]]:
    """Key and value of each part of a container, or of an object's state."""
    if isinstance(value, Dictionary):
        yield from ((_key_text(key), part) for key, part in value.pairs)
    elif isinstance(value, (list, tuple)):
        yield from ((str(number), part) for number, part in enumerate(value))
    elif isinstance(value, Made):
        first = value.arguments[0] if isinstance(value.arguments, tuple) and value.arguments else None
        if isinstance(first, (list, Dictionary)):
            yield from _numbered_pairs(first)
        yield from _numbered_pairs(value.items)
        if value.path != "collections.OrderedDict":  # its state is `_metadata`, which has only versions
            yield from _parts_of_value(value.state)


def _numbered_pairs(items: Any) -> Iterator[tuple[str, Any]]:
    """The items an ordered dictionary was made from: pairs, or lists of two."""
    if isinstance(items, Dictionary):
        yield from _parts_of_value(items)
        return
    for number, each in enumerate(items):
        if isinstance(each, (tuple, list)) and len(each) == 2:
            yield _key_text(each[0]), each[1]
        else:
            yield str(number), each


def _key_text(key: Any) -> str:
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


def _inside_wrapper(made: Made) -> Any:
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


def _dense_tensor(name: str, arguments: tuple[Any, ...], *, typed: bool = False) -> list[View]:
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


def _sparse_tensor(name: str, arguments: tuple[Any, ...], depth: int) -> list[View]:
    """A sparse tensor: its indices and values are separate tensors."""
    layout, parts = arguments[0], arguments[1] if len(arguments) > 1 else None
    if isinstance(layout, Made) and isinstance(layout.arguments, tuple):  # `_get_layout("torch.sparse_coo")`
        layout = layout.arguments[0] if layout.arguments else None
    elif isinstance(layout, Global):
        layout = layout.path
    words = _SPARSE.get(layout, ()) if isinstance(layout, str) else ()
    return _named_parts(name, words, parts if isinstance(parts, tuple) else (), depth)


def _quantized_tensor(name: str, arguments: tuple[Any, ...], depth: int) -> list[View]:
    """A quantized tensor: per-channel scales are further tensors."""
    found = _dense_tensor(name, arguments)
    quantizer = arguments[4] if len(arguments) > 4 and isinstance(arguments[4], tuple) else ()
    return found + _named_parts(name, ("scales", "zero_points"), quantizer[1:3], depth) if found else []


def _nested_tensor(name: str, arguments: tuple[Any, ...], depth: int) -> list[View]:
    """A nested tensor: one buffer, with tensors of sizes, strides and offsets."""
    return _named_parts(name, ("buffer", "sizes", "strides", "storage_offsets"), arguments, depth)


def _named_parts(name: str, words: Sequence[str], parts: Sequence[Any], depth: int) -> list[View]:
    """The parts of a tensor, each named for its purpose."""
    found: list[View] = []
    for word, each in zip(words, parts):  # noqa: B905  sizes and flags follow the tensors
        if isinstance(each, (Made, Persistent)):
            found += _views_of(_dotted_name(name, word), each, depth + 1) or []
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
    read = local_part if kind.path.endswith(_SHARDED[0]) else own_shards
    return read(lambda name, made: _views_of(name, made, depth + 1), name, shape, state)


def _meta_tensor(name: str, arguments: tuple[Any, ...]) -> list[View]:
    """A tensor on the meta device: dtype and size, and no bytes."""
    if len(arguments) < 3 or not isinstance(arguments[0], Global):
        return []
    kind, shape, stride = DTYPES.get(arguments[0].name), sizes_of(arguments[1]), sizes_of(arguments[2])
    if kind is None or shape is None or stride is None or len(shape) != len(stride):
        return []
    return [View(name, *kind, shape, stride, 0, None, 0)]


def _jagged_tensor(name: str, arguments: tuple[Any, ...], depth: int) -> list[View]:
    """A jagged tensor: the values of all rows, and where each row begins."""
    given = arguments[0] if arguments and isinstance(arguments[0], Dictionary) else Dictionary([])
    words = ("values", "offsets", "lengths")
    return _named_parts(name, words, [given.get(word) for word in words], depth)


#: Function → builds its tensor from a name and the function's arguments.
_MAKERS: Mapping[str, Callable[[str, tuple[Any, ...]], list[View]]] = {
    "torch._utils._rebuild_tensor": _dense_tensor,
    "torch._utils._rebuild_tensor_v2": _dense_tensor,
    "torch._utils._rebuild_tensor_v3": partial(_dense_tensor, typed=True),
    "torch._utils._rebuild_meta_tensor_no_storage": _meta_tensor,
}
#: The same for tensors made of others, with the nesting depth.
_COMPOUND = {
    "torch._utils._rebuild_qtensor": _quantized_tensor,
    "torch._utils._rebuild_sparse_tensor": _sparse_tensor,
    "torch._utils._rebuild_nested_tensor": _nested_tensor,
    "torch.nested._internal.nested_tensor._rebuild_njt": _jagged_tensor,
}


# --- parts of tensors, one from each rank --------------------------------------------------------

ViewsOf = Callable[[str, "Made | Persistent"], "list[View] | None"]


def local_part(views_of: ViewsOf, name: str, whole: tuple[int, ...], state: Any) -> list[View]:
    """A DTensor's local part of the whole."""
    local, spec = attribute(state, "_local_tensor"), attribute(state, "_spec")
    found = views_of(name, local) if isinstance(local, Made) else None
    if not found:
        return []
    start = _start_of_part(whole, spec)
    fits = start is not None and len(found) == 1 and _lies_within(start, found[0].shape, whole)
    return [found[0]._replace(piece=Piece(start or (), whole))] if fits else found


def own_shards(views_of: ViewsOf, name: str, whole: tuple[int, ...], state: Any) -> list[View]:
    """This rank's shards of a ShardedTensor."""
    shards = state[0] if isinstance(state, tuple) and state else None
    found: list[View] = []
    for shard in shards if isinstance(shards, list) else ():
        local, start = attribute(shard, "tensor"), attribute(attribute(shard, "metadata"), "shard_offsets")
        views = views_of(name, local) if isinstance(local, Made) else None
        if not views or not isinstance(start, (list, tuple)) or not all(map(is_count, start)):
            continue
        fits = _lies_within(start, views[0].shape, whole)
        found += [views[0]._replace(piece=Piece(tuple(start), whole))] if fits else views
    return found


def _lies_within(start: Sequence[int], shape: Sequence[int], whole: Sequence[int]) -> bool:
    return len(start) == len(shape) == len(whole) and all(
        at + size <= total for at, size, total in zip(start, shape, whole, strict=True)
    )


def _start_of_part(whole: tuple[int, ...], spec: Any) -> tuple[int, ...] | None:
    """Where a rank's part begins; None if the file does not say.

    As `torch.chunk` does (`torch/distributed/tensor/_utils.py`, `compute_local_shape_and_global_offset`). FSDP
    over tensor parallelism writes `_StridedShard` for the last split, although its mesh dimension is first.
    """
    mesh, placements = attribute(spec, "mesh"), attribute(spec, "placements")
    sizes, place = _mesh_sizes(mesh), attribute(mesh, "_coordinate_on_dim")
    if not isinstance(placements, (tuple, list)) or sizes is None or not isinstance(place, (tuple, list)):
        return None
    if not len(placements) == len(sizes) == len(place) or not all(map(is_count, place)):
        return None
    start, left = [0] * len(whole), list(whole)
    cuts = sorted(zip(placements, sizes, place, strict=True), key=lambda cut: _class_name(cut[0]) == "_StridedShard")
    for placement, ranks, rank in cuts:
        if _class_name(placement) == "_NormPartial" or _class_name(placement) == "Partial":
            return None
        if _class_name(placement) not in ("Shard", "_StridedShard"):
            continue
        dim = attribute(placement, "dim")
        if not is_count(dim) or dim >= len(whole) or not ranks:
            return None
        chunk = -(-left[dim] // ranks)
        skipped = min(chunk * rank, left[dim])
        start[dim] += skipped
        left[dim] = min(chunk, left[dim] - skipped)
    return tuple(start)


def _class_name(value: Any) -> str:
    return value.path.rpartition(".")[2] if isinstance(value, Made) else ""


def _mesh_sizes(mesh: Any) -> list[int] | None:
    """Ranks along each dimension of a mesh: from its layout, or before 2.9 from its tensor of ranks."""
    layout, ranks = attribute(mesh, "_layout"), attribute(mesh, "mesh")
    if isinstance(ranks, Made) and isinstance(ranks.arguments, tuple) and len(ranks.arguments) > 2:
        return _sizes_or_ranks(ranks.arguments[2])
    axes = attribute(layout, "axes")
    shapes = [attribute(axis, "shape") for axis in axes] if isinstance(axes, (tuple, list)) else None
    if shapes is None:
        return _sizes_or_ranks(attribute(layout, "shape"))
    counts = [_sizes_or_ranks(shape) for shape in shapes]
    return [prod(each) for each in counts if each is not None] if None not in counts else None


def _sizes_or_ranks(value: Any) -> list[int] | None:
    if isinstance(value, Made) and isinstance(value.arguments, tuple) and value.arguments:
        value = value.arguments[0]
    if is_count(value):
        return [value]
    return list(value) if isinstance(value, (tuple, list)) and all(map(is_count, value)) else None
