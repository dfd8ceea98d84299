"""The number of a tokenizer's tokens, counted without building it.

Without a tokenizer.json, its vocabulary (vocab.json or vocab.txt) and added_tokens.json determine it. tokenizer.json
reaches 34 MB, mostly merges; its vocabulary is counted by a pattern over the bytes, in constant memory, because the
file is untrusted.
"""

from __future__ import annotations

import json
import re
from itertools import islice
from typing import NamedTuple

from inspector.auditing.subject import Subject

#: Larger than any published tokenizer.
MAX_TOKENIZER = 64 * 1024 * 1024
MAX_TOKENS = 1_000_000

# No token is longer; without the bound, an unterminated string would exhaust the pattern's memory.
_STRING = rb'"(?:[^"\\]|\\.){0,4096}"'
_MODEL = re.compile(rb'"model"\s*:\s*\{')
_VOCABULARY = re.compile(rb'"vocab"\s*:\s*([\[{])')
_PAIR = re.compile(rb"\s*" + _STRING + rb"\s*:\s*(\d{1,9})\s*(,|\})")
_PIECE = re.compile(rb"\s*\[\s*" + _STRING + rb"\s*,\s*-?[\d.eE+-]{1,40}\s*\]\s*(,|\])")
_ADDED = re.compile(rb'"id"\s*:\s*(\d{1,9})\b')


class Highest(NamedTuple):
    """The highest token ids of a tokenizer."""

    path: str  # the file that determines it
    known: int  # of the trained vocabulary
    added: int  # of tokens added later; -1 if there are none


def highest_token(subject: Subject, folder: str) -> Highest | None:
    """The highest token ids of the tokenizer in a folder; None if it cannot be read."""
    path = folder + "tokenizer.json"
    if path not in subject.place.files:
        return _of_older_files(subject, folder)
    raw = _bytes_of(subject, path)
    model = _MODEL.search(raw)
    vocabulary = _VOCABULARY.search(raw, model.end()) if model else None
    if model is None or vocabulary is None:
        return None
    ids = islice(_ADDED.finditer(raw, 0, model.start()), MAX_TOKENS)
    added = max((int(found[1]) for found in ids), default=-1)
    highest = _highest_of_pairs if vocabulary[1] == b"{" else _last_of_pieces
    known = highest(raw, vocabulary.end())
    return None if known is None else Highest(path, known, added)


def _bytes_of(subject: Subject, path: str) -> bytes:
    """A file of a tokenizer; empty if it is absent or too large."""
    size = subject.place.files.get(path, 0)
    return subject.head(path, size) if 0 < size <= MAX_TOKENIZER else b""


def _of_older_files(subject: Subject, folder: str) -> Highest | None:
    """The highest ids, from the files of older tokenizers."""
    path, lines = folder + "vocab.json", folder + "vocab.txt"
    added = _highest_in_object(_bytes_of(subject, folder + "added_tokens.json"))
    if (known := _highest_in_object(_bytes_of(subject, path))) is not None:
        return Highest(path, known, -1 if added is None else added)
    for name in _PIECES if path not in subject.place.files else ():
        if raw := _bytes_of(subject, folder + name):
            count = _count_of_pieces(raw)
            return None if count is None else Highest(folder + name, count - 1, -1 if added is None else added)
    if raw := _bytes_of(subject, lines):
        return Highest(lines, raw.rstrip(b"\r\n").count(b"\n"), -1 if added is None else added)
    return None if added is None else Highest(folder + "added_tokens.json", -1, added)


#: Names of a SentencePiece model that is the whole vocabulary.
_PIECES = ("tokenizer.model", "spiece.model")


def _count_of_pieces(raw: bytes) -> int | None:
    """How many pieces a SentencePiece model has, each a field 1 of its message; None for another kind of file."""
    at, count = 0, 0
    while at < len(raw) and count < MAX_TOKENS:
        if raw[at] != 0x0A:  # the trainer's and the normalizer's settings follow the pieces
            return count or None
        length, shift, at = 0, 0, at + 1
        while at < len(raw) and shift < _LONGEST_VARINT:
            byte = raw[at]
            at += 1
            length |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        at += length
        count += 1
    return count if at == len(raw) else None


_LONGEST_VARINT = 35


def assigned(subject: Subject, path: str) -> int | None:
    """The highest id that the tokenizers library assigns to added tokens, regardless of the ids in the file.

    A token in the vocabulary keeps its id there; any other gets the next free one. None if the file is too large to be
    parsed for this, or is invalid.
    """
    raw = _bytes_of(subject, path)
    try:
        own = json.loads(raw) if len(raw) <= _PARSED else None
        vocabulary = own["model"]["vocab"] if own else {}
        known = vocabulary if isinstance(vocabulary, dict) else {each[0]: at for at, each in enumerate(vocabulary)}
        contents = [each["content"] for each in own["added_tokens"]] if own else []
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
        return None
    if own is None:
        return None
    highest = -1
    ids: dict[str, int] = {}
    for content in contents:
        number = known.get(content, ids.get(content))
        if type(number) is not int:
            number = max(highest + 1, len(known))
        ids[content] = number
        highest = max(highest, number)
    return highest


#: The most bytes of a tokenizer.json that is parsed to number its added tokens.
_PARSED = 8 * 1024 * 1024


def _highest_in_object(raw: bytes) -> int | None:
    """The highest number of `{"token": id, …}`."""
    opening = re.match(rb"\s*\{", raw)
    return _highest_of_pairs(raw, opening.end()) if opening else None


def _highest_of_pairs(raw: bytes, at: int) -> int | None:
    """The highest id of `"token": id, …}`; None if the object is invalid."""
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


def _last_of_pieces(raw: bytes, at: int) -> int | None:
    """The last position in `["piece", score], …]`; None if the list is invalid."""
    for number in range(MAX_TOKENS):
        found = _PIECE.match(raw, at)
        if found is None:
            return None
        at = found.end()
        if found[1] == b"]":
            return number
    return None
