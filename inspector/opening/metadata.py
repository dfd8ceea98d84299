"""Metadata in weight files: GGUF's key-values, and safetensors' `__metadata__`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import islice
from typing import Any

from inspector.errors import FormatError, UsageError
from inspector.model import Checkpoint, Header
from inspector.tabular import Tabular
from inspector.units import escape, integer, plural

#: Items of an array that a preview shows.
FIRST_ITEMS = 8
#: Arrays up to this length are returned whole: ten times the largest vocabulary.
MOST_ITEMS = 2**22
TEXT = "string"


@dataclass(frozen=True, slots=True)
class Entry:
    """One key with its type, and its value on request."""

    files: tuple[str, ...]  # the files that have this entry
    key: str
    type: str  # "uint32", "string", "array[string]", …
    items: int | None  # number of an array's items
    pairs: Mapping[str, Any]

    def __repr__(self) -> str:
        items = "" if self.items is None else f" of {integer(self.items)} items"
        return f"<Entry {escape(self.key, 100)}: {escape(self.type, 40)}{items}>"

    def value(self) -> Any:
        """The whole value. Raises FormatError for an array beyond `MOST_ITEMS`."""
        if self.items is not None and self.items > MOST_ITEMS:
            raise FormatError(f"{escape(self.key, 80)} has {integer(self.items)} items: at most {integer(MOST_ITEMS)}")
        return self.pairs[self.key]

    def preview(self, longest: int) -> tuple[Any, bool]:
        """The start of a value: its first items or bytes of text; and whether that is all of it."""
        if self.items is not None:
            first = [_short(item, longest) for item in islice(_items(self.pairs, self.key), FIRST_ITEMS)]
            return first, self.items <= FIRST_ITEMS
        if self.type != TEXT:
            return self.pairs[self.key], True
        text, length = _text(self.pairs, self.key, longest)
        return text, length <= longest


class Metadata(Tabular, tuple[Entry, ...]):
    """The entries of a checkpoint's files, in their order."""

    __slots__ = ()

    def __repr__(self) -> str:
        return (
            f"<Metadata: {plural(len(self), 'key')} in {plural(len({f for each in self for f in each.files}), 'file')}>"
        )


def _items(pairs: Mapping[str, Any], key: str) -> Iterator[Any]:
    from inspector.formats.gguf.values import KeyValues  # only GGUF has arrays

    assert isinstance(pairs, KeyValues)
    return pairs.items_of(key)


def _text(pairs: Mapping[str, Any], key: str, longest: int) -> tuple[str, int]:
    if isinstance(pairs, dict):
        return pairs[key][:longest], len(pairs[key])
    text, length = pairs.text_of(key, longest)  # type: ignore[attr-defined]  # a GGUF's key-values
    return text, length


def _short(item: Any, longest: int) -> Any:
    return item[:longest] if isinstance(item, (str, list)) else item


def metadata(checkpoint: Checkpoint, key: str | None = None) -> tuple[Entry, ...]:
    """The metadata of the checkpoint's files, or one key from each file that has it: `inspector.metadata`.

    Raises UsageError if no file has the key.
    """
    entries = [entry for header in checkpoint.files for entry in _entries(header)]
    if key is not None:
        entries = [entry for entry in entries if entry.key == key] or [
            entry for entry in entries if is_glob(key) and fnmatchcase(entry.key, key)
        ]
        if not entries:
            raise UsageError(_unknown(checkpoint, key))
    return tuple(_merge(entries))


def is_glob(key: str) -> bool:
    """Whether a key is a pattern for several."""
    return any(sign in key for sign in "*?[")


def _entries(header: Header) -> Iterator[Entry]:
    if isinstance(header.metadata, dict):
        for key in header.metadata:
            yield Entry((header.path,), key, TEXT, None, header.metadata)
        return
    from inspector.formats.gguf.values import KeyValues  # only GGUF files have them

    assert isinstance(header.metadata, KeyValues)
    for key, field in header.metadata.fields.items():
        yield Entry((header.path,), key, field.type_name, field.items, header.metadata)


def _merge(entries: list[Entry]) -> Iterator[Entry]:
    """Equal texts of several files, merged: each safetensors shard says `format: pt`."""
    files: dict[tuple[str, str], list[str]] = {}
    plain = [entry for entry in entries if isinstance(entry.pairs, dict)]
    for entry in plain:
        files.setdefault((entry.key, entry.pairs[entry.key]), []).extend(entry.files)
    for entry in entries:
        if not isinstance(entry.pairs, dict):
            yield entry
        elif found := files.pop((entry.key, entry.pairs[entry.key]), None):
            yield Entry(tuple(found), entry.key, entry.type, None, entry.pairs)


def _unknown(checkpoint: Checkpoint, key: str) -> str:
    from difflib import get_close_matches  # for one hint

    known = {name: None for header in checkpoint.files for name in header.metadata}
    near = get_close_matches(key, known, 3, 0.5)
    near += [name for name in known if name.endswith("." + key) and name not in near]
    hint = f"; near it: {', '.join(escape(name, 60) for name in near[:3])}" if near else ""
    return f"no key {escape(key, 80)!r} among {plural(len(known), 'key')}{hint}"
