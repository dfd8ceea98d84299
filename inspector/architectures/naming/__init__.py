"""Tensor name → key: (tower, layer, expert, role, part), from any convention.

A name is first looked up in the family's table, read backwards (`by_table`); a name that matches no row is read by its
words (`by_words`), which are GGUF's own or those of some convention. Names that differ only in their numbers share
one `Slot`, so the work is done once per pattern, not per tensor.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, repeat
from operator import is_not
from typing import Any

from inspector.architectures.data.conventions import PART_ALIASES
from inspector.architectures.naming.by_table import Variant, names_of
from inspector.architectures.naming.by_words import (
    LONGEST,
    NAMELESS,
    Names,
    Slot,
    by_pattern,
    by_words,
    numbers_in,
    numbers_in_each,
    own_word,
    pattern_of,
    unwrapped,
)
from inspector.architectures.table import Family
from inspector.model import Key
from inspector.tabular import NamedTuple

__all__ = ["MOST_PATTERNS", "NAMELESS", "Named", "Namer", "Names", "Slot", "by_pattern", "unwrapped"]

#: The most patterns that are read. Pipelines and kohya's adapters, whose numbers are not separate words, have some
#: 3,000.
MOST_PATTERNS = 10_000
#: With at most this many patterns, parts that no convention knows are named by their own word.
MOST_OWN_WORDS = 1000
#: The last words of norms' tensors in TensorFlow's checkpoints.
FROM_TENSORFLOW = (".gamma", ".beta")
#: GGUF's norms: the first precedes the feed-forward if one of the others follows attention.
FFN_NORM = "blk.{}.ffn_norm.weight"
AFTER_ATTENTION = ("blk.{}.post_attention_norm.weight", "blk.{}.attn_output_norm.weight")


class Group(NamedTuple):
    """Tensors of one pattern with the same purpose."""

    pattern: str
    members: Sequence[int]  # positions
    slot: Slot | None = None  # if their numbers determine it; else the pattern does
    piece: tuple[str, str] | None = None  # part and group of side data for the weights of this pattern


class Named(NamedTuple):
    """Tensors with their purpose, in order; keys are made on request."""

    names: Sequence[str]  # of weights; side data has the name of the weight that it serves
    slots: Sequence[Slot]
    groups: Sequence[tuple[Slot, Sequence[int]]]  # tensors of one pattern, by position
    beyond: int = 0  # tensors whose patterns exceed the limit

    def key(self, at: int) -> Key:
        """The key of the tensor at a position."""
        return self.slots[at].key(numbers_in(self.names[at]))

    def keys_of(self, slot: Slot, members: Sequence[int]) -> list[Key]:
        """The keys of the tensors of one group."""
        return slot.keys(numbers_in_each([self.names[at] for at in members]))

    def keys(self) -> list[Key]:
        """All keys, computed pattern by pattern."""
        found: dict[int, Key] = {}
        for slot, members in self.groups:
            found.update(zip(members, self.keys_of(slot, members), strict=True))
        return [found[at] for at in range(len(self.names))]


class Namer:
    """Names → slots, for one checkpoint."""

    def __init__(self, family: Family | None = None, config: Mapping[str, Any] | None = None) -> None:
        self._table = names_of(family, config or {}) if family is not None else None
        self._is_model = bool(config)
        self._slots: dict[str, Slot] = {}

    def name(
        self,
        names: Sequence[str],
        side: Mapping[str, str] | None = None,
        pieces: Mapping[str, tuple[str, str]] | None = None,
    ) -> Named:
        """Determine each tensor's purpose.

        Args:
            side: name of a tensor that serves a weight → the weight's name: side data of packing, tensors of an
            adapter.
            pieces: name of such a tensor → its part and group; by default its last word, and `quantization`.
        """
        patterns = names.patterns if isinstance(names, Names) else by_pattern(names)
        served: Sequence[str] = names
        apart: Mapping[str, Sequence[Sequence[int]]] = {pattern: (members,) for pattern, members in patterns.items()}
        if side:
            served = [*map(side.get, names, names)]
            apart = _by_served(patterns, names, served)
        groups = [
            each
            for pattern, lists in apart.items()
            for group in self._groups(pattern, lists, served)
            for each in (_by_piece(group, served, names, pieces or {}) if side else (group,))
        ]
        beyond = sorted(chain.from_iterable(group.members for group in groups[MOST_PATTERNS:]))
        return _with_slots(served, self._slots_of(groups[:MOST_PATTERNS]), beyond)

    def slot(self, pattern: str) -> Slot:
        """The slot of a pattern: a name with its numbers written `{}`."""
        known = self._slots.get(pattern)
        if known is None:
            known = self._slots[pattern] = self._looked_up(pattern)
        return known

    def _looked_up(self, pattern: str) -> Slot:
        if len(pattern) > LONGEST:
            return NAMELESS
        bare = unwrapped(pattern)
        if self._table and (known := self._in_table(pattern, bare)):
            return known
        found = by_words(pattern, bare)
        if not found.role and self._is_model and len(self._slots) < MOST_OWN_WORDS:
            return found._replace(role="other", branch=own_word(bare))
        return found

    def _in_table(self, pattern: str, bare: str) -> Slot | None:
        """The slot of a row's name, or of one with TensorFlow's `gamma` and `beta` for a norm's weight and bias."""
        assert self._table
        found = self._table.slot(pattern, bare)
        if found is None and pattern.endswith(FROM_TENSORFLOW):
            pattern, bare = (
                f"{each.rpartition('.')[0]}.{PART_ALIASES[each.rpartition('.')[2]]}" for each in (pattern, bare)
            )
            found = self._table.slot(pattern, bare)
        return found

    def _groups(self, pattern: str, lists: Sequence[Sequence[int]], names: Sequence[str]) -> Iterable[Group]:
        """The tensors of a pattern, separated if the table distinguishes them by their numbers."""
        variants = self._table.variants(pattern) if self._table else ()
        if variants:
            return _by_number(Group(pattern, sorted(chain.from_iterable(lists))), names, variants)
        return (Group(pattern, members) for members in lists)

    def _slots_of(self, groups: Sequence[Group]) -> list[tuple[Slot, Sequence[int]]]:
        slots = [self._slot_of(group) for group in groups]
        known = [(group.slot or self.slot(group.pattern)).row is not None for group in groups]
        settled = _settle_norms(groups, _settle_modules(groups, _settle_towers(slots, known)))
        return [(slot, group.members) for slot, group in zip(settled, groups, strict=True)]

    def _slot_of(self, group: Group) -> Slot:
        """The slot of a group; for side data, the served weight's role with its own part."""
        slot = group.slot or self.slot(group.pattern)
        if group.piece is None:
            return slot
        part, kind = group.piece
        return slot._replace(part=part, group=kind, row=None)


def _with_slots(names: Sequence[str], groups: list[tuple[Slot, Sequence[int]]], beyond: Sequence[int]) -> Named:
    """The groups with their slots; tensors beyond the limit of patterns have none."""
    of_each: list[Slot] = [NAMELESS] * len(names)
    for slot, members in groups:
        for at in members:
            of_each[at] = slot
    return Named(names, of_each, [*groups, (NAMELESS, beyond)] if beyond else groups, len(beyond))


# --- groups -----------------------------------------------------------------------------------


def _by_number(group: Group, names: Sequence[str], variants: Sequence[Variant]) -> Iterator[Group]:
    """A group's tensors by the first variant that their numbers fit; those that fit none keep their pattern's slot."""
    apart: dict[int | None, list[int]] = {}
    for at in group.members:
        numbers = list(map(int, numbers_in(names[at])))
        place = next((place for place, variant in enumerate(variants) if variant.fits(numbers)), None)
        apart.setdefault(place, []).append(at)
    for place, members in apart.items():
        yield Group(group.pattern, members, None if place is None else variants[place].slot)


def _by_served(
    patterns: Mapping[str, Sequence[int]], names: Sequence[str], served: Sequence[str]
) -> Mapping[str, Sequence[Sequence[int]]]:
    """Pattern of the served weights' names → the tensors that serve them, those of each pattern of their own together.

    Side data of a pattern usually serves the weights of one other pattern, in their order: compared at once.
    """
    found: dict[str, list[Sequence[int]]] = {}
    for pattern, members in patterns.items():
        weights = [*map(served.__getitem__, members)]
        like = pattern if weights[0] is names[members[0]] else pattern_of(weights[0])
        if weights == [*map(names.__getitem__, patterns.get(like, ()))]:
            found.setdefault(like, []).append(members)
        else:
            for other, places in by_pattern(weights).items():
                found.setdefault(other, []).append([members[place] for place in places])
    return found


def _by_piece(
    group: Group, served: Sequence[str], names: Sequence[str], pieces: Mapping[str, tuple[str, str]]
) -> Iterable[Group]:
    """A group's tensors with each kind of piece separated from the weights that it serves."""
    own = [*map(names.__getitem__, group.members)]
    serving = [*map(is_not, own, map(served.__getitem__, group.members))]
    if not any(serving):
        return (group,)
    word = own[0].rpartition(".")[2]
    if not pieces and all(serving) and all(map(str.endswith, own, repeat(f".{word}"))):
        return (group._replace(piece=(word, "quantization")),)
    apart: dict[tuple[str, str] | None, list[int]] = {}
    for at in group.members:
        name, piece = names[at], None
        if served[at] is not name:
            piece = pieces.get(name) or (name.rsplit(".", 1)[-1], "quantization")
        apart.setdefault(piece, []).append(at)
    return (group._replace(members=members, piece=piece) for piece, members in apart.items())


# --- what other tensors reveal about one ------------------------------------------------------------


def _settle_towers(slots: Sequence[Slot], known: Sequence[bool]) -> Sequence[Slot]:
    """A single encoder or decoder is not a tower: BERT's `encoder` is the text model.

    Args:
        known: for each slot, whether a table has it, or the weight that it serves.
    """
    alone = {"encoder", "decoder"} & {slot.tower for slot in slots}
    if len(alone) != 1:
        return slots
    return [
        slot._replace(tower="text") if slot.tower in alone and not has_row else slot
        for slot, has_row in zip(slots, known, strict=True)
    ]


def _settle_modules(groups: Sequence[Group], slots: Sequence[Slot]) -> Sequence[Slot]:
    """What no table knows, such as a fused projection, is in the tower of the known tensors of its module."""
    known = [(group.pattern, slot.tower) for group, slot in zip(groups, slots, strict=True) if slot.row is not None]
    if len(known) == len(slots) or len({tower for _, tower in known}) < 2:
        return slots
    towers: dict[str, set[str]] = {}
    for pattern, tower in known:
        for module in _modules(pattern):
            towers.setdefault(module, set()).add(tower)
    return [
        slot
        if slot.row is not None or group.piece
        else slot._replace(tower=_tower_in(towers, group.pattern) or slot.tower)
        for group, slot in zip(groups, slots, strict=True)
    ]


def _tower_in(towers: Mapping[str, Collection[str]], pattern: str) -> str | None:
    """The tower of the innermost module that a pattern shares with known ones; None if that has several."""
    found = next((towers[module] for module in _modules(pattern) if module in towers), ())
    return next(iter(found)) if len(found) == 1 else None


def _modules(pattern: str) -> Iterator[str]:
    """`a.b.c` → `a.b`, `a`."""
    while "." in pattern:
        pattern = pattern.rpartition(".")[0]
        yield pattern


def _settle_norms(groups: Sequence[Group], slots: Sequence[Slot]) -> Iterable[Slot]:
    """GGUF's `ffn_norm` precedes the feed-forward network if another norm follows attention."""
    patterns = {group.pattern for group in groups if group.piece is None}
    if FFN_NORM not in patterns or patterns.isdisjoint(AFTER_ATTENTION):
        return slots
    return [
        slot._replace(role="pre_feedforward_layernorm") if group.pattern == FFN_NORM and not group.piece else slot
        for group, slot in zip(groups, slots, strict=True)
    ]
