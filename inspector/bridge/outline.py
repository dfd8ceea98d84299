"""An index without its files: which tensors it names, and whether a configuration predicts the same.

    outline(index, config)  →  484 tensors in 9 files, 83,671,515,136 bytes claimed; all predicted, none absent

An index has names and files, but no shapes: the tensors' sizes come from the prediction, and are marked so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from inspector.architectures.naming import Namer, Names
from inspector.architectures.prediction import bytes_at
from inspector.bridge.forecast import forecast
from inspector.formats.safetensors.dtypes import DTYPE_BITS
from inspector.model import Config, Index, Key, Prediction
from inspector.opening.configs import dtype_of
from inspector.tabular import Tabular


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
    claimed = index.metadata.get("total_size")
    return Outline(
        index=index,
        files=len(set(index.weight_map.values())),
        config=config,
        prediction=prediction,
        dtype=dtype,
        predicted=bytes_at(prediction, DTYPE_BITS[dtype]) if prediction and dtype else None,
        claimed=claimed if isinstance(claimed, int) else None,
        roles=tuple(OutlinedRole(*place, tensors) for place, tensors in counted.items()),
        absent=tuple(row.name_of(key) for row in prediction.expected for key in row.keys() if key not in keys)
        if prediction
        else (),
        surplus=_surplus(prediction, weights) if prediction else (),
        tensors=tuple(
            (name, file, key, slot.group)
            for (name, file), key, slot in zip(index.weight_map.items(), named.keys(), named.slots, strict=True)
        ),
    )


def _surplus(prediction: Prediction, keys: Mapping[Key, str]) -> tuple[str, ...]:
    """Unpredicted names: neither stored tensors nor what files may hold besides."""
    rows = (*prediction.expected, *prediction.tied, *prediction.buffers, *prediction.optional, *prediction.ahead)
    known = {key for row in rows for key in row.keys()}
    return tuple(name for key, name in keys.items() if key not in known)
