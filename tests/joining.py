"""A few stored tensors and a few predicted rows, taken through the steps of the bridge."""

from __future__ import annotations

from collections.abc import Container, Sequence
from math import prod
from typing import Any

from inspector.architectures.naming import Namer, Names
from inspector.bridge.book import Account, account
from inspector.bridge.identify import Stored
from inspector.bridge.join import Joined, join, kinds_of
from inspector.bridge.ledger import Ledger
from inspector.model import Config, Expected, Packing, Prediction, Tensor

#: Bytes per element, as in the formats.
BYTES = {"F32": 4, "BF16": 2, "F16": 2, "F8_E4M3": 1, "I8": 1, "U8": 1, "I16": 2, "I32": 4, "I64": 8}


def tensors(*lines: str) -> list[Tensor]:
    """Stored tensors from `BF16 4×2 name`, one after the other."""
    made: list[Tensor] = []
    end = 0
    for line in lines:
        dtype, size, name = line.split()
        shape = () if size == "-" else tuple(map(int, size.split("×")))
        made.append(Tensor(name, dtype, shape, end, prod(shape) * BYTES[dtype]))
        end += made[-1].nbytes
    return made


def row(role: str, name: str, *shape: int, **columns: Any) -> Expected:
    """A row of a prediction; its formula is the product of its numbers."""
    numbers = tuple(map(str, shape))
    group = columns.pop("group", "attention")
    return Expected(role, group, "text", columns.pop("part", "weight"), name, shape, numbers, numbers, **columns)


Q = row("q_proj", "model.layers.{layer}.self_attn.q_proj.weight", 4, 4, layers=(0, 1))
K = row("k_proj", "model.layers.{layer}.self_attn.k_proj.weight", 2, 4, layers=(0, 1))
V = row("v_proj", "model.layers.{layer}.self_attn.v_proj.weight", 2, 4, layers=(0, 1))
NORM = row("norm", "model.norm.weight", 4, group="norm")
EMBED = row("embed_tokens", "model.embed_tokens.weight", 10, 4, group="embedding")
HEAD = row("lm_head", "lm_head.weight", 10, 4, group="head")
GATE = row("gate_proj", "model.layers.{layer}.mlp.experts.{expert}.gate_proj.weight", 3, 4, layers=(0,), experts=2)
UP = GATE._replace(role="up_proj", name=GATE.name.replace("gate", "up"))
MASK = row("causal_mask", "model.layers.{layer}.self_attn.mask", 3, layers=(0, 1), group="buffer", buffer=True)


class Book:
    """The steps for these tensors and rows, at 16 bits."""

    def __init__(
        self,
        stored: Sequence[Tensor],
        rows: Sequence[Expected],
        *,
        packing: Packing | None = None,
        tied: Sequence[Expected] = (),
        optional: Sequence[Expected] = (),
        config: dict[str, Any] | None = None,
        kind: Any = "config.json",
        base: Prediction | None = None,
        shared: dict[str, tuple[str, ...]] | None = None,
        incomplete: bool = False,
        listed: Container[str] | None = None,
        predicted: bool = True,
        bits: int = 16,
    ) -> None:
        names = Names((packing.names if packing else {}).get(each.name, each.name) for each in stored)
        sizes = [(packing.shapes if packing else {}).get(each.name, each.shape) for each in stored]
        self.stored = Stored(stored, names, sizes, None, packing, shared or {}, incomplete, listed)
        named = Namer().name(names, self.stored.side)
        kinds = kinds_of(stored, named.groups)
        self.prediction = (
            Prediction(Config(config or {}, kind), "test", "", tuple(rows), tuple(tied), (), tuple(optional), base)
            if predicted
            else None
        )
        packed = bool(packing and packing.shapes)
        self.joined: Joined = join(named, self.stored.shapes, kinds, rows, packed=packed)
        self.ledger = Ledger()
        self.account: Account = account(self.ledger, self.stored, named, kinds, self.joined, self.prediction, bits)

    @property
    def steps(self) -> dict[str, tuple[int, int, str]]:
        return {step.cause: (step.bytes, step.tensors, step.detail) for step in self.ledger.steps()}

    @property
    def findings(self) -> list[tuple[str, str, str | None]]:
        return [(found.rule, found.severity, found.tensor) for found in self.account.findings]


SOUND = tensors(
    "BF16 4×4 model.layers.0.self_attn.q_proj.weight",
    "BF16 4×4 model.layers.1.self_attn.q_proj.weight",
    "BF16 4 model.norm.weight",
)
