"""Tensor name → key: (tower, layer, expert, role, part), from any convention.

A name is first looked up in the family's table, read backwards; what no row explains goes by the
words in its path (`conventions`). All names that differ only in their numbers share one `Slot`, so
the work is done once a pattern, not once a tensor.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, islice
from typing import Any, NamedTuple

from inspector.architectures import family_of
from inspector.architectures.data.conventions import (
    BUFFER_ENDS,
    BUFFER_PATHS,
    CROSS,
    EXPERT_WORDS,
    GGUF_WORDS,
    LONGEST_TAIL,
    PART_ALIASES,
    PART_WORDS,
    PARTS,
    PATHS,
    SPLIT_WEIGHTS,
    STACKED_WORDS,
    STATISTICS,
    TAILS,
    TOWERS,
    WORDS,
    WRAPPERS,
)
from inspector.architectures.data.roles import ROLES, group_of
from inspector.architectures.table import (
    NUMBERED,
    Family,
    Include,
    Row,
    inner_branch,
    inner_tower,
    is_left_out,
    nested_values,
    numbers_of,
)
from inspector.model import STACKED, Key

# A number that is a whole word of the path, not the 1 of `conv1d`; nor one too long to be an index.
# Some mixtures write `experts.expert_7`.
_NUMBER = re.compile(rf"\.{NUMBERED}?([0-9]{{1,9}})(?![^.])")
_HERE = re.compile(rf"(\.{NUMBERED}?)[0-9]{{1,9}}(?![^.])")
# In a blurred name, a digit that is not a whole word.
_WORD_WITH_DIGIT = re.compile(r"[^.]0|0[^.]")
_BLUR = str.maketrans("123456789", "000000000")

#: What older releases of Transformers put between a vision tower's name and its parts'.
OLD_TOWER = "vision_model."

#: Between a served weight's pattern and a piece of side data, in the name of a group.
_SIDE = "\0"
#: Between a pattern and the place of what the table says of some of its numbers, in the name of a group.
_FIXED = "\1"
#: Patterns that are looked at. Pipelines and kohya's adapters, whose numbers are no words, have some 3,000.
MOST_PATTERNS = 10_000
#: Patterns of a model among which what no convention knows goes by its own word.
MOST_OWN_WORDS = 1000
LONGEST_WORD = 60


class Names(tuple[str, ...]):
    """Tensors' names, which know their patterns."""

    @cached_property
    def patterns(self) -> dict[str, list[int]]:
        """Positions by pattern, worked out once."""
        return by_pattern(self)


class Slot(NamedTuple):
    """What all tensors of one name pattern are for."""

    tower: str
    role: str  # "" where nothing is known
    part: str
    group: str
    branch: str = ""
    layer_at: int | None = None  # which number of the name counts layers
    expert_at: int | None = None
    indexes_at: tuple[int, ...] = ()  # further numbers
    stacked: bool = False  # all experts of a layer in one tensor
    row: Row | None = None  # the table's row that explains it
    left_out: tuple[int, ...] = ()  # numbers that the table's name has, and this one has not

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


NAMELESS = Slot("text", "", "weight", "other")


class Namer:
    """Names → slots, for one checkpoint."""

    def __init__(self, family: Family | None = None, config: Mapping[str, Any] | None = None) -> None:
        self._table: dict[str, Slot] = {}
        self._bare: dict[str, Slot] = {}
        self._slots: dict[str, Slot] = {}
        self._fixed: dict[str, list[tuple[Mapping[int, int], Slot]]] = {}
        self._is_model = bool(config)
        if family is not None:
            others = sorted({"", *family.prefixes.values()} - {family.prefix}) if family.prefix else []
            prefixes = [(family.prefix, other) for other in others]
            for row, template, tower, branch in _templates(family, config or {}):
                self._learn(row, template, (tower, branch), prefixes)
            self._fixed = {
                name: [each for each in told if each[0]]
                for name, told in self._fixed.items()
                if any(fixed for fixed, _ in told) and len({slot[:5] for _, slot in told}) > 1
            }

    def _learn(self, row: Row, template: str, place: tuple[str, str], prefixes: Sequence[tuple[str, str]]) -> None:
        """Enter a row under the names that the classes of its family give it."""
        names = numbers_of(template)
        slot = Slot(
            place[0],
            row.role,
            row.part,
            "buffer" if row.buffer else group_of(row.role),
            place[1],
            names.index("layer") if "layer" in names else None,
            names.index("expert") if "expert" in names else None,
            tuple(at for at, name in enumerate(names) if name not in ("layer", "expert")),
            stacked=bool(row.stacked),
            row=row,
        )
        self._enter(slot, template)
        if row.older:
            constants = tuple(name for name in names if isinstance(name, int))
            older = slot._replace(indexes_at=(), left_out=constants)
            self._enter(older, f"{row.older}.{row.leaf}")
        for prefix in prefixes:
            if template.startswith(prefix[0]):
                self._enter(slot, prefix[1] + template.removeprefix(prefix[0]))

    def _enter(self, slot: Slot, template: str) -> None:
        """Enter a row's weight and bias, and both without the words that wrap a model."""
        row = slot.row
        assert row is not None
        pattern = _pattern(re.sub(r"\{\w+\}", "0", template))
        entries = [(pattern, slot)]
        if row.leaf == "weight" or (row.bias and pattern.endswith("weight")):  # the latter: `in_proj_weight`
            entries.append((pattern.removesuffix("weight") + "bias", slot._replace(part="bias")))
        entries += [
            (pattern.removesuffix(today) + before, slot)
            for today, before in SPLIT_WEIGHTS.items()
            if pattern.endswith("." + today)
        ]
        fixed = {at: number for at, number in enumerate(numbers_of(template)) if isinstance(number, int)}
        for name, entry in entries:
            self._table.setdefault(name, entry)
            for each in {name, unwrapped(name)}:
                self._fixed.setdefault(each, []).append((fixed, entry))
        for name, entry in entries:
            self._bare.setdefault(unwrapped(name), entry)

    def _in_table(self, pattern: str, bare: str) -> Slot | None:
        """What the table says of a name: as it stands, or without the words that wrap a model."""
        whole = self._table.get(pattern) or self._bare.get(pattern)
        return whole or self._table.get(bare) or self._bare.get(bare)

    def slot(self, pattern: str) -> Slot:
        """The slot of a name whose numbers are written `{}`."""
        known = self._slots.get(pattern)
        if known is None and _FIXED in pattern:
            pattern, _, place = pattern.partition(_FIXED)
            return self._told(pattern)[int(place)][1]
        if known is None:
            bare = unwrapped(pattern)
            known = self._in_table(pattern, bare) or _by_gguf(pattern) or by_convention(pattern, bare)
            if not known.role and self._is_model and len(self._slots) < MOST_OWN_WORDS:
                known = known._replace(role="other", branch=_own_word(bare))
            self._slots[pattern] = known
        return known

    def name(
        self,
        names: Sequence[str],
        side: Mapping[str, str] | None = None,
        pieces: Mapping[str, tuple[str, str]] | None = None,
    ) -> Named:
        """What each tensor is for.

        Args:
            side: name of a tensor that serves a weight → the weight's name: packing's side data, an adapter's pieces.
            pieces: name of such a tensor → its part and group; by default its last word, and `quantization`.
        """
        served = [side.get(name, name) for name in names] if side else names
        patterns = served.patterns if isinstance(served, Names) else by_pattern(served)
        groups = self._by_number(patterns, served)
        if side:
            groups = _apart(groups, served, names, pieces or {})
        groups, beyond = _bounded(groups)
        slots = _settle_norms(_settle_towers({pattern: self._slot(pattern) for pattern in groups}))
        of_each: list[Slot] = [NAMELESS] * len(names)
        for pattern, members in groups.items():
            for at in members:
                of_each[at] = slots[pattern]
        grouped = [(slots[pattern], members) for pattern, members in groups.items()]
        return Named(served, of_each, [*grouped, (NAMELESS, beyond)] if beyond else grouped, len(beyond))

    def _told(self, pattern: str) -> Sequence[tuple[Mapping[int, int], Slot]]:
        """What the table says of a name by some of its numbers: `mlp1.0` is a norm, `mlp1.1` a projection."""
        return self._fixed.get(pattern) or self._fixed.get(unwrapped(pattern)) or () if self._fixed else ()

    def _by_number(self, groups: dict[str, list[int]], names: Sequence[str]) -> dict[str, list[int]]:
        """Groups, apart where the table tells their tensors by their numbers."""
        if not any(map(self._told, groups)):
            return groups
        apart: dict[str, list[int]] = {}
        for pattern, members in groups.items():
            told = self._told(pattern)
            for at in members:
                numbers = list(map(int, _NUMBER.findall("." + names[at]))) if told else []
                fits = (
                    place
                    for place, (fixed, _) in enumerate(told)
                    if all(numbers[where : where + 1] == [number] for where, number in fixed.items())
                )
                place = next(fits, None)
                apart.setdefault(pattern if place is None else f"{pattern}{_FIXED}{place}", []).append(at)
        return apart

    def _slot(self, pattern: str) -> Slot:
        """The slot of a pattern; of side data, the served weight's role with its own last word as part."""
        weight, found, piece = pattern.partition(_SIDE)
        slot = self.slot(weight)
        part, _, group = piece.partition(_SIDE)
        return slot._replace(part=part, group=group, row=None) if found else slot


class Named(NamedTuple):
    """Tensors with what they are for, in their order; keys are made when asked for."""

    names: Sequence[str]  # of weights; side data goes by the weight that it serves
    slots: Sequence[Slot]
    groups: Sequence[tuple[Slot, Sequence[int]]]  # tensors of one pattern, by position
    beyond: int = 0  # tensors whose patterns are more than are looked at

    def key(self, at: int) -> Key:
        """The key of the tensor at a position."""
        return self.slots[at].key(_NUMBER.findall("." + self.names[at]))

    def keys(self) -> list[Key]:
        """All keys."""
        return [self.key(at) for at in range(len(self.names))]


def by_pattern(names: Sequence[str]) -> dict[str, list[int]]:
    """Positions by pattern: the name with its numbers as `{}`.

    One expression over half a million names takes its time, so digits are blurred first, with what
    works on all names at once: `w1` and `w3` then look alike, and only such names are looked at singly.
    """
    text = "\n".join(names).translate(_BLUR)
    if text.count("\n") != len(names) - 1 or "{}" in text or "0" * 10 in text:
        return _grouped(_pattern(name.replace("{}", "{ }")) for name in names)
    while "00" in text:
        text = text.replace("00", "0")
    groups: dict[str, list[int]] = {}
    for blurred, members in _grouped(text.split("\n")).items():
        if _WORD_WITH_DIGIT.search(blurred):
            for pattern, places in _grouped(_pattern(names[at]) for at in members).items():
                groups.setdefault(pattern, []).extend(members[place] for place in places)
        else:
            groups[_pattern(names[members[0]])] = members
    return groups


def _grouped(patterns: Iterable[str]) -> dict[str, list[int]]:
    groups: dict[str, list[int]] = {}
    for at, pattern in enumerate(patterns):
        members = groups.get(pattern)
        if members is None:
            groups[pattern] = members = []
        members.append(at)
    return groups


def _bounded(groups: dict[str, list[int]]) -> tuple[dict[str, list[int]], list[int]]:
    """The first patterns, as many as are looked at, and the tensors of all others."""
    if len(groups) <= MOST_PATTERNS:
        return groups, []
    rest = islice(groups.values(), MOST_PATTERNS, None)
    return dict(islice(groups.items(), MOST_PATTERNS)), sorted(chain.from_iterable(rest))


def _pattern(name: str) -> str:
    return _HERE.sub(r"\1{}", "." + name)[1:]


def _apart(
    groups: dict[str, list[int]], served: Sequence[str], names: Sequence[str], pieces: Mapping[str, tuple[str, str]]
) -> dict[str, list[int]]:
    """Groups with each kind of piece apart from the weights that it serves."""
    apart: dict[str, list[int]] = {}
    for pattern, members in groups.items():
        for at in members:
            name, piece = names[at], ""
            if served[at] is not name:
                part, group = pieces.get(name) or (name.rsplit(".", 1)[-1], "quantization")
                piece = f"{_SIDE}{part}{_SIDE}{group}"
            apart.setdefault(pattern + piece, []).append(at)
    return apart


def _templates(family: Family, config: Mapping[str, Any]) -> Iterator[tuple[Row, str, str, str]]:
    """Each row with its whole name, tower and branch, nested families' included."""
    for entry in family.rows:
        if isinstance(entry, Row):
            yield entry, entry.template, entry.tower, entry.branch
            continue
        nested = nested_values(entry, config)
        inner = family_of(nested)
        if inner is not None:
            for row, template, tower, branch in _included(inner, nested, entry):
                yield row if row.heads == entry.heads else row._replace(heads=entry.heads), template, tower, branch


def _included(inner: Family, nested: Mapping[str, Any], include: Include) -> Iterator[tuple[Row, str, str, str]]:
    without = include.without.split()
    own = inner.prefix_under(include.head)
    for row, template, tower, branch in _templates(inner, nested):
        if template.startswith(inner.prefix):
            template = own + template[len(inner.prefix) :]
        if not is_left_out(row, without) and (not row.heads or (include.head or "body") in row.heads.split()):
            name = template.removeprefix(include.strip)
            place = inner_tower(include, tower), inner_branch(include, branch)
            yield row, include.template + name, *place
            if include.tower == "vision" and not include.prefix.endswith("." + OLD_TOWER):
                yield row, include.template + OLD_TOWER + name, *place


def unwrapped(pattern: str) -> str:
    """The pattern without leading words that say nothing about the tensor."""
    first, dot, rest = pattern.partition(".")
    while dot and first in WRAPPERS and "." in rest:
        pattern = rest
        first, dot, rest = pattern.partition(".")
    return pattern


# --- GGUF -------------------------------------------------------------------------------------

AFTER_ATTENTION = ("blk.{}.post_attention_norm.weight", "blk.{}.attn_output_norm.weight")


def _by_gguf(pattern: str) -> Slot | None:
    """A slot for one of GGUF's own names; None for any other."""
    if pattern.partition(".")[0] not in GGUF_WORDS:
        return None
    from inspector.architectures.data import gguf_names as gguf  # a table that only GGUF needs

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


def _settle_norms(slots: dict[str, Slot]) -> dict[str, Slot]:
    """GGUF's `ffn_norm` is before the feed-forward where another norm stands after attention."""
    norm = "blk.{}.ffn_norm.weight"
    if norm in slots and not slots.keys().isdisjoint(AFTER_ATTENTION):
        slots[norm] = slots[norm]._replace(role="pre_feedforward_layernorm")
    return slots


# --- conventions ------------------------------------------------------------------------------


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
    constant = words[-1] in STATISTICS or bare.endswith(BUFFER_ENDS)
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
    """Which of the name's numbers counts layers, the first but for an expert's; which experts; which something else."""
    layer_at = expert_at = None
    rest: list[int] = []
    at = 0
    for before, word in zip(["", *words], words, strict=False):
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


def _own_word(bare: str) -> str:
    """The word by which a model calls its part, where no convention has one: `stem1`, `spatial_linear`."""
    path = _part(bare.replace("_l{}", "_l").split("."))[1]
    words = [word for word in path if word.isidentifier() and len(word) <= LONGEST_WORD]
    return words[-1] if words else ""


def _role(path: list[str]) -> tuple[str, str]:
    """Role and branch by the last words of a path; what no convention knows goes by any word that tells something."""
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


def _settle_towers(slots: dict[str, Slot]) -> dict[str, Slot]:
    """One encoder or one decoder alone is no tower: BERT's `encoder` is the text model."""
    alone = {"encoder", "decoder"} & {slot.tower for slot in slots.values()}
    if len(alone) != 1:
        return slots
    return {
        pattern: slot._replace(tower="text") if slot.tower in alone and slot.row is None else slot
        for pattern, slot in slots.items()
    }
