"""How many tokens a tokenizer knows, without building it.

tokenizer.json reaches 34 MB, most of it merges; its vocabulary is counted by a pattern over the
bytes, in constant memory, for the file comes from a stranger.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import NamedTuple

from inspector.rules.subject import Subject

#: Larger than any published tokenizer.
MAX_TOKENIZER = 64 * 1024 * 1024
MAX_TOKENS = 1_000_000

# No token is longer; without the bound a string that never ends costs the pattern its memory.
_STRING = rb'"(?:[^"\\]|\\.){0,4096}"'
_MODEL = re.compile(rb'"model"\s*:\s*\{')
_VOCABULARY = re.compile(rb'"vocab"\s*:\s*([\[{])')
_PAIR = re.compile(rb"\s*" + _STRING + rb"\s*:\s*(\d{1,9})\s*(,|\})")
_PIECE = re.compile(rb"\s*\[\s*" + _STRING + rb"\s*,\s*-?[\d.eE+-]{1,40}\s*\]\s*(,|\])")
_ADDED = re.compile(rb'"id"\s*:\s*(\d{1,9})\b')


class Highest(NamedTuple):
    """The highest token ids of a tokenizer."""

    known: int  # of the vocabulary that it was trained with
    added: int  # of the tokens added later; -1 where there are none


def highest_token(subject: Subject, folder: str) -> Highest | None:
    """The highest token ids of the tokenizer.json in a folder; None where there is none to be read."""
    path = folder + "tokenizer.json"
    size = subject.place.files.get(path, 0)
    if not 0 < size <= MAX_TOKENIZER:
        return None
    raw = subject.head(path, size)
    model = _MODEL.search(raw)
    vocabulary = _VOCABULARY.search(raw, model.end()) if model else None
    if model is None or vocabulary is None:
        return None
    ids = islice(_ADDED.finditer(raw, 0, model.start()), MAX_TOKENS)
    added = max((int(found[1]) for found in ids), default=-1)
    known = _pairs(raw, vocabulary.end()) if vocabulary[1] == b"{" else _pieces(raw, vocabulary.end())
    return None if known is None else Highest(known, added)


def _pairs(raw: bytes, at: int) -> int | None:
    """The highest id of `"token": id, …}`; None where the object is not what it should be."""
    highest = -1
    for _ in range(MAX_TOKENS):
        found = _PAIR.match(raw, at)
        if found is None:
            return None
        highest = max(highest, int(found[1]))
        at = found.end()
        if found[2] == b"}":
            return highest
    return None


def _pieces(raw: bytes, at: int) -> int | None:
    """The last place in `["piece", score], …]`; None where the list is not what it should be."""
    for number in range(MAX_TOKENS):
        found = _PIECE.match(raw, at)
        if found is None:
            return None
        at = found.end()
        if found[1] == b"]":
            return number
    return None
