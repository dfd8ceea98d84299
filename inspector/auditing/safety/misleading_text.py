"""Does a name or a text mislead those who read it: links outside, look-alike letters, escape codes, doubled keys?"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from inspector.auditing.limits import MAX_DOCUMENT, MAX_DOCUMENTS, MAX_HEADER
from inspector.auditing.readers.misleading_names import barely_portable, look_alike, not_on_windows, odd_space
from inspector.auditing.rule import Found, NotJudged, rule
from inspector.auditing.subject import Subject
from inspector.formats.gguf.values import KeyValues
from inspector.opening import configs
from inspector.units import escape, integer, plural


@rule("link-outside", "safe", "error")
def link_outside(subject: Subject) -> Iterator[Found]:
    """A symbolic link that leads out of the folder.

    It is not followed. With such a link, an untrusted repository can make a program read or overwrite any file that its
    user can. Links from the Hub cache's snapshots to its blobs are not reported. If the link is your own, audit its
    target.
    """
    for entry in subject.entries:
        if entry.outside:
            yield Found(f"a link to {entry.link or ''!r:.160}, outside the folder: not followed", entry.path)


@rule("file-name", "safe", "error")
def file_name(subject: Subject) -> Iterator[Found]:
    """A misleading file name: control characters, text that runs backwards, look-alike letters.

    The name that a terminal or a file manager shows is not the real one. Names that other systems cannot store are a
    warning; two names that a case-insensitive file system treats as one are a note.
    """
    seen: dict[str, str] = {}
    for entry in subject.entries:
        folded = entry.path.lower() if entry.path.isascii() else unicodedata.normalize("NFC", entry.path.casefold())
        if (other := seen.setdefault(folded, entry.path)) != entry.path:
            what = f"on Windows and macOS, the same name as {other!r:.160}"
            yield Found(what, entry.path, severity="info")
        if escape(entry.path) != entry.path:
            yield Found("control or invisible characters in the name", entry.path)
        elif strange := look_alike(entry.path):
            yield Found(f"a look-alike letter: {strange}", entry.path)
        elif odd := odd_space(entry.path):
            yield Found(f"a character that looks like a space: {odd}", entry.path, severity="warning")
        elif not_on_windows(entry.path):
            yield Found("a name that means something else, or nothing, on Windows", entry.path, severity="warning")
        elif entry.name.startswith("-"):
            yield Found("a name that programs mistake for an option", entry.path, severity="warning")
        elif barely_portable(entry.path):
            yield Found("a name that Windows cannot store", entry.path, severity="info")


@rule("look-alike", "safe", "warning")
def look_alike_names(subject: Subject) -> Iterator[Found]:
    """A tensor's name mixes look-alike letters of different scripts.

    `wеight` with a Cyrillic е is a different tensor than `weight`, and a check by name misses it. The same is true of
    two names that differ only in how an accent is encoded.
    """
    for header in subject.all_headers:
        reported = 0
        seen: set[str] = set()
        for name in (tensor.name for tensor in header.tensors if not tensor.name.isascii()):
            same = unicodedata.normalize("NFC", name)
            strange = look_alike(name) or odd_space(name)
            if reported < 10 and (strange or same in seen):
                reported += 1
                what = f"a look-alike character: {strange}" if strange else "looks the same as another name"
                yield Found(what, header.path, name)
            seen.add(same)


@rule("terminal-code", "safe", "warning")
def terminal_code(subject: Subject) -> Iterator[Found | NotJudged]:
    """Text in the metadata rewrites what a terminal shows, or runs backwards.

    Programs print a model's name, licence or author unchanged: escape codes in them erase lines, set titles and create
    links; bidirectional controls make a different text appear. Tokens and chat templates are not examined.
    """
    for header in subject.all_headers:
        if (beyond := len(header.metadata) - MAX_FIELDS) > 0:
            yield NotJudged(f"{plural(beyond, 'field')} after the first {integer(MAX_FIELDS)}", header.path, "warning")
        fields = ((key, _own_text(header.metadata, key)) for key in islice(header.metadata, MAX_FIELDS))
        for key, text in fields:
            if text and not (text.isascii() and text.isprintable()) and _CODES.search(text):
                yield Found(f"control characters in the field {key!r:.80}: {text!r:.100}", header.path)


#: The most fields of one file that are examined, and characters of each: no header that is read has more.
MAX_FIELDS, MAX_FIELD = 2_000, MAX_HEADER
#: Escape sequences (ECMA-48), erasure, C1 controls, and directional overrides (UAX 9).
_CODES = re.compile("\x1b[\x28-\x2f\x37-\x3e\x4d-\x50\x58-\x63]|[\x08\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def _own_text(metadata: Mapping[str, Any], key: str) -> str:
    if key.startswith("tokenizer."):
        return ""
    if isinstance(metadata, KeyValues):
        return metadata.text_of(key, MAX_FIELD)[0] if metadata.fields[key].type_name == "string" else ""
    value = metadata[key]
    return value[:MAX_FIELD] if isinstance(value, str) else ""


@rule("duplicate-field", "safe", "warning")
def duplicate_field(subject: Subject) -> Iterator[Found]:
    """A key appears twice in one object of a JSON document, such as a configuration or an index.

    Python's json takes the last value, other readers the first, so a program may load another value than the one that
    was checked. Only a note if the values are equal. Get the original file, or remove one of the keys.
    """
    left = MAX_DOCUMENTS
    for entry in subject.named(*_FIELDED):
        left -= entry.size
        if entry.size > MAX_DOCUMENT or left < 0:
            continue
        try:
            repeated = list(configs.repeated_keys(subject.text(entry.path) or ""))
        except ValueError:
            continue  # not JSON: another rule reports it
        for name, differ in repeated[:10]:
            what = f"the field {name!r:.120} appears twice" + (", with different values" if differ else "")
            yield Found(what, entry.path, severity="warning" if differ else "info")


#: Suffixes of documents whose fields affect loading.
_FIELDED = ("config.json", "params.json", "modules.json", "model_index.json", "_map.json", "_tokens.json")
