"""Which of the files at a target an audit covers: a folder's, one file, or a set of shards."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from inspector.auditing.rules import bounds
from inspector.sources.filenames import INDEX, WEIGHTS
from inspector.sources.listing import Entry


class Extent(NamedTuple):
    """What is examined of a listing, and what may be read of the rest."""

    entries: Sequence[Entry]  # examined by the rules
    alone: str | None  # the one file that the target names; None for a folder, and for a set of shards
    is_set: bool  # whether the target names a shard, which stands for its set
    members: frozenset[str]  # the named file, or the set; empty for a folder, and for an index
    unread: AbstractSet[str]  # files not examined, except siblings of the named weights
    total: int  # files that would be examined if there were no limit

    def may_read(self, path: str) -> bool:
        """Whether a file is part of the model, or a document next to the named weights."""
        beside = bool(self.members) and path not in self.members and path.endswith((*WEIGHTS, ".index.json"))
        return not beside and path not in self.unread


def extent_of(selected: str | None, listed: Sequence[Entry], members: frozenset[str] | None) -> Extent:
    """The extent of a target.

    Args:
        selected: the file that the target names.
        members: the files of its set, if it names a shard.
    """
    names_weights = selected is not None and not selected.endswith(INDEX)
    alone = selected if names_weights and members is None else None
    own = members or (frozenset({alone}) if alone else frozenset[str]())
    covered = [entry for entry in listed if not own or entry.path in own]
    entries = _first(covered)
    examined = {entry.path for entry in entries}
    unread = frozenset[str]() if names_weights else {entry.path for entry in listed} - examined
    return Extent(entries, alone, names_weights and members is not None, own, unread, len(covered))


def _first(entries: list[Entry]) -> list[Entry]:
    """As many files as are examined, weights and documents first."""
    if len(entries) <= bounds.MAX_FILES:
        return entries
    ends = (*WEIGHTS, ".json")
    important = sorted(entries, key=lambda entry: (not entry.path.endswith(ends), entry.path.count("/")))
    return important[: bounds.MAX_FILES]
