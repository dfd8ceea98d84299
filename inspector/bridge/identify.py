"""Step 1: identify what the files contain: an adapter, packed or plain weights; and each tensor as the model has it."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from inspector.adapters import adapter_of
from inspector.architectures.naming import Names
from inspector.model import Adapter, Config, Header, Packing, Tensor
from inspector.quantization import packing_of
from inspector.tabular import NamedTuple


class Stored(NamedTuple):
    """All tensors of a checkpoint, in the files' order."""

    tensors: Sequence[Tensor]
    names: Names  # as the model has them, before packing
    shapes: Sequence[tuple[int, ...]]  # as the model has them
    adapter: Adapter | None = None
    packing: Packing | None = None
    shared: Mapping[str, tuple[str, ...]] = {}  # stored name → the other names of the same tensor
    incomplete: bool = False  # whether files of the checkpoint are known to be missing
    listed: Container[str] | None = None  # modules whose tensors the index lists; None without an index
    numbers: frozenset[str] = frozenset()  # tensors that a training run counted or measured, by where a file has them

    @property
    def side(self) -> Mapping[str, str]:
        """Tensor that serves a weight → the weight's name."""
        return self.packing.side if self.packing else {}

    def is_lost(self, name: str) -> bool:
        """Whether an absent tensor may be in a file that is missing."""
        return self.incomplete and (self.listed is None or name.rpartition(".")[0] in self.listed)

    def packed_bits(self, at: int) -> int | None:
        """Bits of an element of the packed weight at a position; None for a plain tensor."""
        name = self.tensors[at].name
        if self.packing is None or name not in self.packing.shapes:
            return None
        return self.packing.odd_bits.get(name, self.packing.bits)


_NAME_OF, _SHAPE_OF = (itemgetter(Tensor._fields.index(field)) for field in ("name", "shape"))


def identify(files: tuple[Header, ...], config: Config | None, adapter: Mapping[str, Any] | None = None) -> Stored:
    """Identify the contents of the files.

    Args:
        adapter: the fields of an adapter_config.json.
    """
    tensors = [tensor for header in files for tensor in header.tensors]
    stored = Names(map(_NAME_OF, tensors))
    found = adapter_of(tensors, adapter, stored.patterns)
    packing = None if found else packing_of(config, files, stored.patterns)
    shared = _shared_names(files)
    wrapped = {} if found else _under_adapters(stored)
    numbers = frozenset().union(*(header.numbers for header in files))
    if packing is None:
        names = Names(wrapped.get(name, name) for name in stored) if wrapped else stored
        return Stored(tensors, names, [tensor.shape for tensor in tensors], found, None, shared, numbers=numbers)
    weights = packing.names.items()
    renamed = wrapped | {name: weight for name, weight in weights if name != weight or name in wrapped}
    return Stored(
        tensors,
        Names(map(renamed.get, stored, stored)) if renamed else stored,
        [*map(packing.shapes.get, stored, map(_SHAPE_OF, tensors))],
        None,
        packing,
        shared,
        numbers=numbers,
    )


def _under_adapters(stored: Names) -> dict[str, str]:
    """The model's own weights that PEFT's modules wrap → their names without these: all of `PeftModel.state_dict()`."""
    if not any(each.startswith("base_model.") and ".base_layer." in each for each in stored.patterns):
        return {}
    from inspector.adapters.tensors import base_names  # models need no adapter methods

    return base_names(name for name in stored if name.startswith("base_model.") and ".base_layer." in name)


def _shared_names(files: Iterable[Header]) -> Mapping[str, tuple[str, ...]]:
    """Tensors that were stored once for several names.

    `safetensors.torch.save_model` keeps the alphabetically first name, and writes the others into `__metadata__`:
    `{"model.embed_tokens.weight": "lm_head.weight"}`.
    """
    found: dict[str, list[str]] = {}
    for header in files:
        if header.format == "gguf" or header.metadata.keys() <= {"format"}:
            continue
        stored = {tensor.name for tensor in header.tensors}
        for other, kept in header.metadata.items():
            if isinstance(kept, str) and kept in stored and other not in stored:
                found.setdefault(kept, []).append(other)
    return {kept: tuple(others) for kept, others in found.items()}
