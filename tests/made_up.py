"""Tensors with invented statistics, as the rules of the data receive them.

Magnitudes are powers of two; 64 × 64 numbers of BF16 have rows of 128 bytes, and take 8,192.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from types import SimpleNamespace
from typing import Any, cast

from inspector.auditing.catalogue import all_rules
from inspector.auditing.subject import Subject
from inspector.auditing.values.numbers.facts import Copy, Facts, Measured
from inspector.auditing.values.numbers.peers import Peers, TensorData
from inspector.model import Header, Key, Labelled, Tensor

#: Statistics of trained weights: of size 0.1, with quartiles two powers of two apart.
USUAL = Facts(
    numbers=4096, largest=0.5, least_bits=1, most_bits=0xBF80, sampled=4096, squares=40.96, spread=1.9,
    middle=-4.0, middle_of=4096, ever=0xFFFF, always=0,
)  # fmt: skip
ZERO = Facts(numbers=4096, least_bits=0, most_bits=0, sampled=4096, zeros=4096, ever=0, always=0)
WIDTHS = {"BF16": 2, "F16": 2, "F32": 4, "U8": 1, "I32": 4, "I64": 8, "Q8_0": 1}
FILE = "m.safetensors"


def seen(
    role: str = "q_proj",
    layer: int | None = 0,
    *,
    group: str = "attention",
    shape: tuple[int, ...] = (64, 64),
    dtype: str = "BF16",
    offset: int = 0,
    part: str = "weight",
    name: str | None = None,
    tower: str = "text",
    expert: int | None = None,
    file: str = FILE,
    side: str | None = None,
    is_packed: bool = False,
    facts: Facts = USUAL,
    **changed: Any,
) -> TensorData:
    """A tensor with ordinary statistics but for these changes."""
    named = name or f"{tower}.{layer}.{role}.{part}" + (f".{expert}" if expert is not None else "")
    tensor = Tensor(named, dtype, shape, offset, prod(shape) * WIDTHS[dtype])
    key = Key(tower, layer, expert, role, part)
    return TensorData(Labelled(tensor, file, key, group, tensor.elements), replace(facts, **changed), is_packed, side)


class Model:
    """Tensors as a rule receives them, and the bytes of their file."""

    def __init__(
        self, *tensors: TensorData, copies: Sequence[Copy] = (), raw: bytes = b"", scheme: str = "", size: int = 1 << 20
    ) -> None:
        files = list(dict.fromkeys(each.path for each in tensors))
        headers = tuple(
            Header(
                file, "safetensors", size, [each.labelled.tensor for each in tensors if each.path == file], (), {}, ()
            )
            for file in files
        )
        facts = {(each.path, each.name): each.facts for each in tensors}
        labels = SimpleNamespace(
            tensors=[each.labelled for each in tensors], checkpoint=SimpleNamespace(files=headers), packing=None
        )
        if scheme:
            labels.packing = SimpleNamespace(
                scheme=scheme,
                names={each.name for each in tensors if each.is_packed},
                side={each.name for each in tensors if each.side},
                kinds={each.name: each.side for each in tensors if each.side},
            )
        self.measured = Measured(facts, tuple(files), tuple(copies), {}, 0)
        self.memo = {"peers": Peers(self.measured, cast("Any", [labels]), headers)}
        self.raw = raw

    def span(self, path: str, start: int, length: int) -> bytes:
        return self.raw[start : start + length]

    def reading(self, path: str) -> Any:
        return _Reading(self.raw)


class _Reading:
    def __init__(self, raw: bytes) -> None:
        self.raw = raw

    def __enter__(self) -> Any:
        return lambda start, length: self.raw[start : start + length]

    def __exit__(self, *_: object) -> None:
        """Do nothing: no file is open."""


def reported(code: str, *tensors: TensorData, **more: Any) -> list[str]:
    """The findings of a rule, after the name of the tensor and, with two files, that of the file."""
    model = cast("Subject", Model(*tensors, **more))
    found = list(all_rules()[code].findings(model))
    assert {each.path for each in found} <= {each.path for each in tensors}
    return [f"{each.tensor}: {each.severity}: {each.message}" for each in found]


def layers(number: int, role: str = "q_proj", **own: Any) -> list[TensorData]:
    """The same role in layers from 1 on, stored one after the other."""
    return [seen(role, layer, offset=(layer + 8) << 14, **own) for layer in range(1, number + 1)]
