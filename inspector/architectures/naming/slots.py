"""Names and their patterns, in which each number is `{}`; and `Slot`, the purpose of the tensors of one pattern."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property

from inspector.architectures.data.conventions import HOLDERS, WRAPPERS
from inspector.architectures.table import NUMBERED, Row
from inspector.model import STACKED, Key
from inspector.tabular import NamedTuple

# A number that is a whole word of the path, not the 1 of `conv1d`, and not too long to be an index.
# Some mixtures write `experts.expert_7`.
_NUMBER = re.compile(rf"\.{NUMBERED}?([0-9]{{1,9}})(?![^.])")
_HERE = re.compile(rf"(\.{NUMBERED}?)[0-9]{{1,9}}(?![^.])")
# In a blurred name, a digit that is not a whole word.
_WORD_WITH_DIGIT = re.compile(r"[^.]0|0[^.]")
#: The longest name, in characters, with a pattern and a slot: real names are shorter, and the audit reports others.
LONGEST = 10_000
_BLUR = str.maketrans("123456789", "000000000")


class Names(tuple[str, ...]):
    """Tensors' names with their patterns."""

    @cached_property
    def patterns(self) -> dict[str, list[int]]:
        """Positions by pattern, computed once."""
        return by_pattern(self)


def numbers_in(name: str) -> list[str]:
    """The numbers of a name, one for each `{}` of its pattern."""
    return _NUMBER.findall("." + name) if len(name) <= LONGEST else []


def numbers_in_each(names: Sequence[str]) -> list[list[str]]:
    """The numbers of several names of one pattern, found in one pass."""
    if any(len(name) > LONGEST for name in names):
        return [numbers_in(name) for name in names]
    found = _NUMBER.findall("." + ".".join(names))
    each = len(found) // len(names) if names else 0
    return [found[at * each : at * each + each] for at in range(len(names))]


def pattern_of(name: str) -> str:
    """`model.layers.7.mlp.w1.weight` → `model.layers.{}.mlp.w1.weight`."""
    return _HERE.sub(r"\1{}", "." + name)[1:] if len(name) <= LONGEST else name


def unwrapped(pattern: str) -> str:
    """The pattern without leading words of wrappers: `model.`, `module.`, `transformer.`."""
    first, dot, rest = pattern.partition(".")
    while dot and first in WRAPPERS and ("." in rest or first in HOLDERS):
        pattern = rest
        first, dot, rest = pattern.partition(".")
    return pattern


def by_pattern(names: Sequence[str]) -> dict[str, list[int]]:
    """Positions by pattern: the name with its numbers as `{}`.

    Running one regular expression over half a million names is slow, so digits are blurred first, in one operation on
    all names: `w1` and `w3` then look alike, and only such names are examined individually.
    """
    text = "\n".join(names).translate(_BLUR)
    if text.count("\n") != len(names) - 1 or "{}" in text or "0" * 10 in text:
        return _grouped(pattern_of(name.replace("{}", "{ }")) for name in names)
    while "00" in text:
        text = text.replace("00", "0")
    groups: dict[str, list[int]] = {}
    for blurred, members in _grouped(text.split("\n")).items():
        if _WORD_WITH_DIGIT.search(blurred):
            for pattern, places in _grouped(pattern_of(names[at]) for at in members).items():
                groups.setdefault(pattern, []).extend(members[place] for place in places)
        else:
            groups[pattern_of(names[members[0]])] = members
    return groups


def _grouped(patterns: Iterable[str]) -> dict[str, list[int]]:
    groups: dict[str, list[int]] = {}
    for at, pattern in enumerate(patterns):
        members = groups.get(pattern)
        if members is None:
            groups[pattern] = members = []
        members.append(at)
    return groups


class Slot(NamedTuple):
    """The purpose of all tensors of one name pattern."""

    tower: str
    role: str  # "" if unknown
    part: str
    group: str
    branch: str = ""
    layer_at: int | None = None  # which number of the name counts layers
    expert_at: int | None = None
    indexes_at: tuple[int, ...] = ()  # further numbers
    stacked: bool = False  # all experts of a layer in one tensor
    row: Row | None = None  # the table's row that explains it
    left_out: tuple[int, ...] = ()  # numbers that the table's name has, but this one does not

    def key(self, numbers: Sequence[str]) -> Key:
        """The key of the tensor with these numbers in its name."""
        return Key(
            self.tower,
            None if self.layer_at is None else int(numbers[self.layer_at]),
            (STACKED if self.stacked else None) if self.expert_at is None else int(numbers[self.expert_at]),
            self.role,
            self.part,
            self.branch,
            tuple(int(numbers[at]) for at in self.indexes_at) if self.indexes_at else self.left_out,
        )

    def keys(self, numbers: Iterable[Sequence[str]]) -> list[Key]:
        """The keys of several tensors, each with its numbers."""
        return [self.key(each) for each in numbers]


NAMELESS = Slot("text", "", "weight", "other")
