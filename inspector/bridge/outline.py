"""An index without its files: which tensors it names, and whether a configuration predicts the same.

    outline(index, config)  →  484 tensors in 9 files, 83,671,515,136 bytes claimed; all predicted, none absent

An index has names and files, but no shapes: the tensors' sizes come from the prediction, and are marked so. With them
the tensors go over the bridge like stored ones, up to the total that the index claims (`assumed`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any, NamedTuple

from inspector.architectures.naming import Namer, Names
from inspector.architectures.prediction import bytes_at
from inspector.bridge.classes import others_of
from inspector.bridge.forecast import forecast
from inspector.bridge.reconciliation import reconcile
from inspector.formats.safetensors.dtypes import DTYPE_BITS
from inspector.model import Checkpoint, Config, Header, Index, Key, Origin, Prediction, Reconciliation, Region, Tensor
from inspector.opening.configs import dtype_of
from inspector.quantization.declaration import pieces_of, stated_dtype
from inspector.tabular import Tabular
from inspector.units import escape, plural

#: Of a tensor: name, type if packing decides it, and shape.
Piece = tuple[str, str | None, tuple[int, ...]]


class OutlinedRole(NamedTuple):
    """The tensors of one role in one branch of one tower that an index names."""

    role: str
    group: str
    tower: str
    branch: str
    tensors: int


@dataclass(frozen=True, slots=True)
class Outline(Tabular):
    """What an index alone shows."""

    index: Index
    files: int
    config: Config | None
    prediction: Prediction | None
    dtype: str | None  # the configuration's
    predicted: int | None  # bytes, at that dtype; None without a prediction or dtype
    claimed: int | None  # bytes, from `total_size`
    roles: tuple[OutlinedRole, ...]
    absent: tuple[str, ...]  # predicted names that are not in the index
    surplus: tuple[str, ...]  # names in the index that are not predicted
    tensors: tuple[tuple[str, str, Key, str], ...] = ()  # name, file, key and group of each
    bridge: Reconciliation | None = None  # to the claimed total; None without one, or without a prediction

    def __repr__(self) -> str:
        listed = f"{plural(len(self.index.weight_map), 'tensor')} in {plural(self.files, 'file')}"
        return f"<Outline {escape(self.index.path, 100)}: {listed}>"


def outline(index: Index, config: Config | None) -> Outline:
    """Compare an index with what its configuration predicts."""
    names = Names(index.weight_map)
    namer = Namer(config.family, config.values) if config else Namer()
    named = namer.name(names)
    prediction, _ = forecast(config, None)
    keys = dict(zip(named.keys(), names, strict=True))
    weights = {
        key: name
        for name, key, slot in zip(names, named.keys(), named.slots, strict=True)
        if slot.group not in ("buffer", "quantization")
    }
    counted = Counter(
        (slot.role, slot.group, key.tower, key.branch) for key, slot in zip(named.keys(), named.slots, strict=True)
    )
    dtype = dtype_of(config)
    claimed = _total(index.metadata.get("total_size"))
    return Outline(
        index=index,
        files=len(set(index.weight_map.values())),
        config=config,
        prediction=prediction,
        dtype=dtype,
        predicted=bytes_at(prediction, DTYPE_BITS[dtype]) if prediction and dtype else None,
        claimed=claimed,
        roles=tuple(OutlinedRole(*place, tensors) for place, tensors in counted.items()),
        absent=tuple(row.name_of(key) for row in prediction.expected for key in row.keys() if key not in keys)
        if prediction
        else (),
        surplus=_surplus(prediction, weights) if prediction else (),
        tensors=tuple(
            (name, file, key, slot.group)
            for (name, file), key, slot in zip(index.weight_map.items(), named.keys(), named.slots, strict=True)
        ),
        bridge=reconcile(assumed(index, config, prediction, claimed)) if config and prediction and claimed else None,
    )


def _total(value: Any) -> int | None:
    """A claimed size; some programs write it as a float."""
    return int(value) if type(value) in (int, float) and 0 < value < 2**63 and value == int(value) else None


def _surplus(prediction: Prediction, keys: Mapping[Key, str]) -> tuple[str, ...]:
    """Unpredicted names: neither stored tensors nor what files may hold besides."""
    rows = (*prediction.expected, *prediction.tied, *prediction.buffers, *prediction.optional, *prediction.ahead)
    known = {key for row in rows for key in row.keys()}
    return tuple(name for key, name in keys.items() if key not in known)


# --- the bridge to the claimed total ----------------------------------------------------------

#: Types that all weights may have instead of the configuration's, and those of buffers instead of the weights'.
OTHER_TYPES, BUFFER_TYPES = ("F32", "BF16", "F16"), ("F32", "BF16")


def assumed(index: Index, config: Config, prediction: Prediction, claimed: int) -> Checkpoint:
    """The index's tensors in the sizes that the prediction gives them, in a file of the claimed total.

    The types are the configuration's, or those with which the sizes add up to the claimed total: all in F32, buffers in
    F32. What no row of the prediction has the name of is left out: it remains unexplained.
    """
    own = dtype_of(config) or "BF16"
    weights, buffers = _sized(index, config, prediction)
    chosen: list[Tensor] = []
    for dtype, of_buffers in product((own, *OTHER_TYPES), (None, *BUFFER_TYPES)):
        tensors = [*_tensors(weights, dtype), *_tensors(buffers, of_buffers or dtype)]
        if not chosen or sum(tensor.nbytes for tensor in tensors) == claimed:
            chosen = tensors
            if sum(tensor.nbytes for tensor in tensors) == claimed:
                break
    regions = (Region("tensors", 0, sum(tensor.nbytes for tensor in chosen)),)
    header = Header(index.path, "safetensors", claimed, chosen, regions, {})
    return Checkpoint(index.path, "", Origin("local", index.path), (header,), config)


def _sized(index: Index, config: Config, prediction: Prediction) -> tuple[Sequence[Piece], Sequence[Piece]]:
    """The weights and buffers that have a size: name, shape, and type if packing decides it."""
    rows = (*prediction.expected, *prediction.tied, *prediction.ahead, *prediction.optional)
    shapes: dict[Key, tuple[int, ...]] = {}
    for row in (*(row for other in others_of(prediction) for row in other.expected), *reversed(rows)):
        shapes.update(dict.fromkeys(row.keys(), row.shape))
    constants = {key: row.shape for row in prediction.buffers for key in row.keys()}
    table = next(
        (row.shape for row in prediction.expected if row.role == "embed_tokens" and row.part == "weight"), None
    )
    positions = {  # of a module: beside them was a list of their numbers until Transformers 4.31
        row.name.rpartition(".position_embedding")[0]: row.shape[0]
        for row in prediction.expected
        if ".position_embedding" in row.name
    }
    namer = Namer(config.family, config.values)
    names = Names(index.weight_map)
    weights: list[Piece] = []
    buffers: list[Piece] = []
    keys = dict(zip(names, namer.name(names).keys(), strict=True))
    packed = pieces_of(keys, config.declared_packing, stated_dtype(config))
    for packed_name, key in zip(packed, namer.name(Names(packed)).keys(), strict=True):
        shape = shapes.get(key)
        for name, piece in packed[packed_name](shape).items() if shape else ():
            weights.append((name, *piece))
            keys.pop(name, None)
    for name, key in keys.items():
        if key in shapes:
            weights.append((name, None, shapes[key]))
        elif name.endswith(".position_ids") and (number := positions.get(name.rpartition(".")[0])):
            buffers.append((name, "I64", (1, number)))
        elif key in constants:
            buffers.append((name, None, constants[key]))
        elif table and (key.role, key.part) == ("embed_tokens", "weight"):  # a copy, as T5's encoder and decoder had
            weights.append((name, None, table))
    return weights, buffers


def _tensors(pieces: Sequence[Piece], dtype: str) -> Iterator[Tensor]:
    for name, own, shape in pieces:
        kind = own or dtype
        yield Tensor(name, kind, shape, 0, prod(shape) * DTYPE_BITS[kind] // 8)
