"""Names as patterns, in which each number is `{}`; `Slot`, the purpose of the tensors of one pattern; and the slots of
names that no table knows: GGUF's own naming, or else the words of a path by convention.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise

from inspector.architectures.data.conventions import (
    BUFFER_ENDS,
    BUFFER_PATHS,
    CROSS,
    EXPERT_WORDS,
    GGUF_WORDS,
    HOLDERS,
    LONGEST_TAIL,
    PART_ALIASES,
    PART_WORDS,
    PARTS,
    PATHS,
    STACKED_WORDS,
    STATISTICS,
    TAILS,
    TOWERS,
    WORDS,
    WRAPPERS,
)
from inspector.architectures.data.roles import ROLES, group_of
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
            alike = _last_words if not _WORD_WITH_DIGIT.search(blurred.rpartition(".")[0]) else _patterns
            for places in _grouped(alike([names[at] for at in members])).values():
                pattern = pattern_of(names[members[places[0]]])
                groups.setdefault(pattern, []).extend(members[place] for place in places)
        else:
            groups[pattern_of(names[members[0]])] = members
    return groups


def _patterns(names: Iterable[str]) -> Iterator[str]:
    return map(pattern_of, names)


def _last_words(names: Iterable[str]) -> Iterator[str]:
    """`weight_scale_2`: names that are alike but for the digits of this word have one pattern if it is the same."""
    return (name.rpartition(".")[2] for name in names)


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


# --- by words -------------------------------------------------------------------------------------

#: Longer words are not used as the name of a branch.
LONGEST_WORD = 60


def by_words(pattern: str, bare: str) -> Slot:
    """The slot of a name by its words: `bare` is the pattern without the prefixes of wrappers."""
    found = by_gguf(pattern) if pattern.partition(".")[0] in GGUF_WORDS else None
    return found or by_convention(pattern, bare)


def by_gguf(pattern: str) -> Slot | None:
    """The slot of one of GGUF's own names, `blk.3.attn_q.weight`; None for any other."""
    from inspector.architectures.data import gguf_names as gguf  # only this format needs it

    module, _, part = pattern.rpartition(".")
    if part not in gguf.PARTS:
        module, part = pattern, "weight"
    if part in gguf.STATISTICS:
        module = module.removesuffix(".weight")
    start = next((start for start in gguf.BLOCKS if module.startswith(start)), "")
    words = module[len(start) :]
    apart = start != "" and words.endswith(gguf.APART)
    found = gguf.ROLES.get(module) or gguf.BLOCK_ROLES.get(words.removesuffix(".{}") if apart else words)
    if found is None:
        return None
    role, branch = found
    layered = start != "" or module.startswith(gguf.LAYERED)
    numbers = module.count("{}")
    return Slot(
        tower=next((tower for word, tower in gguf.TOWERS.items() if module.startswith(word)), "text"),
        role=role,
        part="weight" if words in gguf.PARTLESS else part,
        group=gguf.PART_GROUPS.get(part) or group_of(role),
        branch=branch,
        layer_at=0 if layered else None,
        expert_at=1 if apart else None,
        indexes_at=() if apart else tuple(range(int(layered), numbers)),
        stacked=start != "" and words.endswith(gguf.STACKED),
    )


def by_convention(pattern: str, bare: str) -> Slot:
    """A slot from the words of the path alone."""
    words = bare.replace(".expert_{}", ".{}").replace("_l{}", "_l.{}").split(".")
    if bare in BUFFER_PATHS:
        part, module = "weight", words
    else:
        part, module = _part(words)
    layer_at, expert_at, indexes_at = _numbers(module)
    path = [word for word in module if word != "{}"]
    role, branch = PATHS.get(".".join(path)) or _role(path)
    if not branch and any(text in bare for text in CROSS):
        branch = "cross"
    constant = words[-1] in STATISTICS or f".{bare}".endswith(BUFFER_ENDS)
    stacked = expert_at is None and bool(STACKED_WORDS & set(path)) and "shared_experts" not in path
    return Slot(
        tower=_tower(pattern.split(".")),
        role=role,
        part=part,
        group="buffer" if constant else group_of(role),
        branch=branch,
        layer_at=layer_at,
        expert_at=expert_at,
        indexes_at=indexes_at,
        stacked=stacked,
    )


def _part(words: list[str]) -> tuple[str, list[str]]:
    last = PART_ALIASES.get(words[-1], words[-1])
    if last.endswith("_proj_bias") and "experts" in words:  # stacked experts: `experts.down_proj_bias`
        return "bias", [*words[:-1], last.removesuffix("_bias")]
    if last in PART_WORDS:
        return PART_WORDS[last], words
    return (last, words[:-1]) if last in PARTS and len(words) > 1 else ("weight", words)


def _numbers(words: list[str]) -> tuple[int | None, int | None, tuple[int, ...]]:
    """Which of the name's numbers counts layers (the first that is not an expert's), which experts, which others."""
    layer_at = expert_at = None
    rest: list[int] = []
    at = 0
    for before, word in pairwise(["", *words]):
        if word != "{}":
            continue
        if before in EXPERT_WORDS:
            expert_at = at
        elif layer_at is None:
            layer_at = at
        else:
            rest.append(at)
        at += 1
    return layer_at, expert_at, tuple(rest)


def own_word(bare: str) -> str:
    """The model's own word for its part, if no convention has one: `stem1`, `spatial_linear`."""
    path = _part(bare.replace("_l{}", "_l").split("."))[1]
    words = [word for word in path if word.isidentifier() and len(word) <= LONGEST_WORD]
    return words[-1] if words else ""


def _role(path: list[str]) -> tuple[str, str]:
    """Role and branch by the last words of a path, or else by any word in it that suggests a role."""
    for length in range(min(LONGEST_TAIL, len(path)), 0, -1):
        found = TAILS.get(".".join(path[-length:]))
        if found:
            return found
    own = path[-1] if path else ""
    if own in ROLES:
        return own, ""
    end = ".".join(path[-2:])
    role = next((role for role, words in WORDS if any(word in end for word in words)), "")
    return role, own if role and own.isidentifier() and len(own) <= LONGEST_WORD else ""


def _tower(words: list[str]) -> str:
    for word in words:
        if word in TOWERS:
            return TOWERS[word]
    return "text"
