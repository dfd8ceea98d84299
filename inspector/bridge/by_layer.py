"""The checkpoint layer by layer: bytes and types of each, and where layers differ.

Layers with the same tensors in the same types are of one kind, named by a letter; a row of letters
shows mixed precision, dense first layers and hybrid blocks at a glance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from string import ascii_letters

from inspector.model import Labelled
from inspector.units import bits, integer


@dataclass(frozen=True, slots=True)
class Layer:
    """All tensors of one layer."""

    tower: str
    layer: int
    kind: str  # a letter; equal letters mean the same tensors in the same types
    tensors: int
    parameters: int  # logical
    bytes: int
    dtypes: Mapping[str, int]  # dtype → bytes


@dataclass(frozen=True, slots=True)
class Kind:
    """Identical layers of one tower."""

    letter: str
    layers: tuple[int, ...]
    bytes: int  # of each
    parameters: int
    dtypes: Mapping[str, int]
    differs: tuple[str, ...]  # from the tower's most frequent kind, as text


@dataclass(frozen=True, slots=True)
class Strip:
    """One tower's layers."""

    tower: str
    layers: tuple[Layer, ...]  # in order
    kinds: tuple[Kind, ...]  # in order of appearance

    @property
    def letters(self) -> str:
        """One letter per layer; `·` for a layer without tensors."""
        known = {each.layer: each.kind for each in self.layers}
        return "".join(known.get(number, "·") for number in range(min(known), max(known) + 1))


@dataclass(slots=True)
class _Sum:
    tensors: int = 0
    parameters: int = 0
    dtypes: Counter[str] = field(default_factory=Counter)
    parts: dict[tuple[str, str, str], list[int]] = field(default_factory=dict)  # group, role, dtype → bytes, parameters

    def add(self, each: Labelled) -> None:
        self.tensors += 1
        self.parameters += each.parameters
        self.dtypes[each.tensor.dtype] += each.tensor.nbytes
        part = self.parts.setdefault((each.group, each.key.role or "other", each.tensor.dtype), [0, 0])
        part[0] += each.tensor.nbytes
        part[1] += each.parameters

    @property
    def signature(self) -> tuple[object, ...]:
        return tuple(sorted((key, *sums) for key, sums in self.parts.items()))


#: Further kinds share the last letter.
LETTERS = ascii_letters[26:] + ascii_letters[:26] + "*"


def by_layer(tensors: Iterable[Labelled]) -> tuple[Strip, ...]:
    """Each tower's layers, the towers in order of appearance."""
    towers: dict[str, dict[int, _Sum]] = {}
    for each in tensors:
        if each.key.layer is not None:
            towers.setdefault(each.key.tower, {}).setdefault(each.key.layer, _Sum()).add(each)
    return tuple(_strip(tower, dict(sorted(sums.items()))) for tower, sums in towers.items())


def _strip(tower: str, sums: Mapping[int, _Sum]) -> Strip:
    members: dict[tuple[object, ...], list[int]] = {}
    for number, each in sums.items():
        members.setdefault(each.signature, []).append(number)
    usual = sums[max(members.values(), key=len)[0]]
    kinds = tuple(
        _kind(LETTERS[min(at, len(LETTERS) - 1)], numbers, sums[numbers[0]], usual)
        for at, numbers in enumerate(members.values())
    )
    letter_of = {number: kind.letter for kind in kinds for number in kind.layers}
    layers = tuple(
        Layer(tower, number, letter_of[number], each.tensors, each.parameters, each.dtypes.total(), dict(each.dtypes))
        for number, each in sums.items()
    )
    return Strip(tower, layers, kinds)


def _kind(letter: str, numbers: list[int], each: _Sum, usual: _Sum) -> Kind:
    differs = () if each is usual else tuple(_differences(each, usual))
    return Kind(letter, tuple(numbers), each.dtypes.total(), each.parameters, dict(each.dtypes), differs)


def _differences(each: _Sum, usual: _Sum) -> Iterable[str]:
    """What a kind has, lacks, or stores differently."""
    own, others = _types(each), _types(usual)
    for role in sorted(own.keys() - others.keys()):
        yield f"{role} only here"
    for role in sorted(others.keys() - own.keys()):
        yield f"no {role}"
    for role in sorted(own.keys() & others.keys()):
        if own[role] != others[role]:
            yield f"{role} {own[role]}, elsewhere {others[role]}"


def _types(each: _Sum) -> dict[str, str]:
    """Role → dtype, bits a parameter and parameters, side data left out."""
    told: dict[str, str] = {}
    for (group, role, dtype), (nbytes, parameters) in each.parts.items():
        if group == "quantization":
            continue
        width = f" at {bits(nbytes * 8 / parameters)} bits" if parameters else ""
        told[role] = f"{told[role]} + " if role in told else ""
        told[role] += f"{integer(parameters)} × {dtype}{width}" if parameters else dtype
    return told


def ranges(numbers: Iterable[int]) -> str:
    """`0–2, 5, 7–9`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}–{b}" for a, b in runs)
