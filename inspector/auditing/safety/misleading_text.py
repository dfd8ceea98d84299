"""Do names and texts mislead those who read them: look-alike letters, codes for the terminal, a tokenizer's words?"""

from __future__ import annotations

import json
import re
import unicodedata
from base64 import b64decode
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import Any

from inspector.auditing import data
from inspector.auditing.completeness.downloads import MOST_PIECES, TOKENIZER_MODELS
from inspector.auditing.limits import MAX_DOCUMENT, MAX_DOCUMENTS, MAX_HEADER
from inspector.auditing.readers.graphs import DamageError, reads, texts
from inspector.auditing.readers.tokenizer_json import slowness
from inspector.auditing.rule import Found, NotJudged, rule
from inspector.auditing.safety.outside_paths import texts_at
from inspector.auditing.subject import Subject
from inspector.formats.gguf.values import KeyValues
from inspector.model import Severity
from inspector.opening import configs
from inspector.units import escape, integer, plural


@rule("file-name", "safe", "error")
def file_name(subject: Subject) -> Iterator[Found]:
    """A misleading file name: control characters, text that runs backwards, look-alike letters.

    The name that a terminal or a file manager shows is not the real one, and a loader that looks for that name does not
    find it. Only a warning in documents and pictures, which no loader looks for. Names that other systems cannot store
    are a warning; two names that a case-insensitive file system treats as one are a note.
    """
    seen: dict[str, str] = {}
    for entry in subject.entries:
        severity: Severity | None = "warning" if entry.path.lower().endswith(_FOR_PEOPLE) else None
        folded = entry.path.lower() if entry.path.isascii() else unicodedata.normalize("NFC", entry.path.casefold())
        if (other := seen.setdefault(folded, entry.path)) != entry.path:
            what = f"on Windows and macOS, the same name as {other!r:.160}"
            yield Found(what, entry.path, severity="info")
        if escape(entry.path) != entry.path:
            yield Found("control or invisible characters in the name", entry.path, severity=severity)
        elif strange := look_alike(entry.path):
            yield Found(f"a look-alike letter: {strange}", entry.path, severity=severity)
        elif odd := odd_space(entry.path):
            yield Found(f"a character that looks like a space: {odd}", entry.path, severity="warning")
        elif not_on_windows(entry.path):
            yield Found("a name that means something else, or nothing, on Windows", entry.path, severity="warning")
        elif entry.name.startswith("-"):
            yield Found("a name that programs mistake for an option", entry.path, severity="warning")
        elif barely_portable(entry.path):
            yield Found("a name that Windows cannot store", entry.path, severity="info")


#: Suffixes of what no loader of weights looks for.
_FOR_PEOPLE = (".md", ".rst", ".pdf", ".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg")
_NAMES = data.names("letters")
#: Prefixes of the Unicode names of letters that look like Latin ones but are not normalized to them.
_LIKE_LATIN = tuple(_NAMES["like_latin"])


def look_alike(text: str) -> str | None:
    """The first letter in a Latin word that only looks Latin, or a non-ASCII digit."""
    if text.isascii():
        return None
    for word in re.findall(r"\w+", text):
        among_latin = any(char.isascii() and char.isalpha() for char in word)
        for char in word:
            name = "" if char.isascii() else unicodedata.name(char, "")
            if (among_latin and (name.startswith(_LIKE_LATIN) or _is_variant(char))) or (name and char.isdecimal()):
                return name.capitalize()
    return None


def _is_variant(char: str) -> bool:
    """Whether Unicode defines a letter as an ASCII one in another style: wide, bold, circled, a Roman numeral."""
    style, _, same = unicodedata.decomposition(char).partition("> ")
    raised = style in ("<super", "<sub", "<fraction")  # a symbol in formulas, and recognizable as such
    return bool(same) and not raised and any(int(code, 16) < 0x80 for code in same.split())


def odd_space(text: str) -> str | None:
    """The first character other than a space that is displayed as one."""
    if text.isascii():
        return None
    odd = next((char for char in text if char == "\u2800" or (char.isspace() and not char.isascii())), None)
    return unicodedata.name(odd, "a space").capitalize() if odd else None


#: Names and characters that Windows reserves.
_RESERVED = re.compile(r"(?i)^(con|prn|aux|nul|com\d|lpt\d)(\.|$)")


def not_on_windows(path: str) -> bool:
    """Whether a path has a component that is special or empty on some system."""
    return "\\" in path or any(_RESERVED.match(part) or part != part.strip() for part in path.split("/"))


def barely_portable(path: str) -> bool:
    """Whether a name contains a character that some systems cannot store, or a suffix that they drop."""
    return re.search(r'[:?*<>|"]|\.(?:/|$)', path) is not None


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


#: Bytes of a tokenizer.json that are searched for its parts; real ones have up to 35 MB, nearly all of it vocabulary.
MAX_TOKENIZER = 64 * 1024 * 1024
#: Characters of one part: the added tokens of real ones take up to 500,000.
MAX_PART = 2_000_000
#: Expressions of one part: real ones have up to 30.
MOST_PATTERNS = 100
_PART = re.compile(
    rb'"(normalizer|pre_tokenizer|decoder|post_processor|added_tokens|truncation|padding)"\s*:\s*(?=[\[{])'
)
#: Tokens to which every text is cut, and padded: real ones have 10 and 8,192, or none of it. Beyond the second, a text
#: takes a gigabyte.
SHORTEST, LONGEST_TEXT = 8, 10_000_000
#: A letter or digit, but those that stand for spaces in tokens of bytes; an address; a token that is nothing but words.
_LETTER, _LINK = re.compile(r"[^\W_ĠĊĉ]"), re.compile(r"https?:|www\.|\w\.(?:com|org|net|io)\b")
_PLAIN = re.compile(r"\s?[^\W\d_](?:['’\s]?[^\W\d_])+\s?")
#: A word that no character stands for: the longest in Unicode's compatibility mappings have five letters.
_LONG_WORD = re.compile(r"[A-Za-z]{7}")
#: What is no letter in an expression: escapes, classes, the kinds of groups, counts.
_SYNTAX = re.compile(r"\\[pP]\{[^}]*\}|\\x\w\w|\\u\w{4}|\\.|\[(?:\\.|[^\]])*\]|\(\?[\w-]*:?|\{\d*,?\d*\}", re.DOTALL)
#: Fields of parts with what they write, take away, or read as a space.
_WRITTEN = ("prepend", "replacement", "prefix", "suffix", "pad_token", "word_delimiter_token", "content", "delimiter")
_MARKS = re.compile(r"[<>\[\]{}|#\\▁]")


#: sentencepiece_model.proto: `normalizer_spec` and `denormalizer_spec`, and their `precompiled_charsmap`.
_SENTENCEPIECE = {"model": {3: "spec", 5: "spec"}, "spec": {2: ".bytes"}}


@rule("tokenizer-wording", "safe", "warning")
def tokenizer_wording(subject: Subject) -> Iterator[Found | NotJudged]:
    """A tokenizer rewrites words or addresses, drops a word, or has an expression that can take exponential time.

    Normalizers and decoders replace spaces and quotes. One that turns one address into another changes what the model
    or its user reads, without a trace in the weights. A word as a special token is left out of every answer. An
    expression such as `(a+)+$` can take years for a short text. Compare tokenizer.json with the base model's.
    """
    for entry in subject.named("tokenizer.json"):
        if entry.name != "tokenizer.json" or entry.kind != "file":
            continue
        if entry.size > MAX_TOKENIZER:
            yield NotJudged(f"a tokenizer of {plural(entry.size, 'byte')}", entry.path)
            continue
        raw = subject.span(entry.path, 0, entry.size)
        for found in _PART.finditer(raw):
            text = raw[found.end() : found.end() + MAX_PART].decode("utf-8", "replace")
            try:
                part = json.JSONDecoder().raw_decode(text)[0]
            except (ValueError, RecursionError):  # `tokenizer` reports what cannot be read
                continue
            worded = dict.fromkeys(_of_part(found[1].decode(), part))
            yield from (Found(what, entry.path) for what in list(worded)[:5])
    yield from _in_sentencepiece(subject)
    for entry in subject.named("tokenizer_config.json"):
        own = subject.document(entry.path)
        for each in texts_at(own, "response_schema.**.x-regex|x-regex-iterator|x-regex-key-value"):
            if slow := slowness(each):
                yield Found(f"the response_schema's expression {each!r:.80} can take {slow}", entry.path)
        tokens = own.get("added_tokens_decoder")
        worded = dict.fromkeys(_of_tokens(list(tokens.values()) if isinstance(tokens, dict) else []))
        yield from (Found(what, entry.path) for what in list(worded)[:5])


def _of_part(name: str, part: Any) -> Iterator[str]:
    if name == "added_tokens":
        yield from _of_tokens(part if isinstance(part, list) else [])
        return
    pending = [part]
    patterns = 0
    for each in pending:
        if isinstance(each, list):
            pending += each
        elif isinstance(each, Mapping):
            if type(cut := each.get("max_length")) is int and name == "truncation" and cut < SHORTEST:
                yield f"the truncation leaves {plural(cut, 'token')} of each text"
            if type(filled := each.get("Fixed")) is int and name == "padding" and filled > LONGEST_TEXT:
                yield f"the padding makes {plural(filled, 'token')} of each text"
            pending += [value for key, value in each.items() if key != "special_tokens"]
            patterns += "pattern" in each
            if patterns > MOST_PATTERNS:
                yield f"the {name} has more expressions than are judged"
                return
            if isinstance(each.get("pattern"), Mapping):
                removed = each.get("behavior") == "Removed" and each.get("invert") is not True
                yield from _of_pattern(name, each["pattern"], each.get("content"), removed=removed)
            else:
                written = ((field, each.get(field)) for field in _WRITTEN)
                yield from (f"the {name} has the {field} {text!r:.60}" for field, text in written if _is_worded(text))
            yield from _inserted(each.get("special_tokens"))
            yield from _in_charsmap(each.get("precompiled_charsmap"))


def _of_pattern(name: str, pattern: Mapping[str, Any], content: Any, *, removed: bool) -> Iterator[str]:
    """A text or an expression, and what replaces it, in a normalizer or a decoder; or whether it is left out."""
    text, expression = pattern.get("String"), pattern.get("Regex")
    if isinstance(expression, str) and (slow := slowness(expression)):
        yield f"the {name}'s expression {expression!r:.80} can take {slow}"
    literal = re.sub(r"[|^$]", "", _SYNTAX.sub("", expression)) if isinstance(expression, str) else text
    if removed and _is_worded(literal):
        yield f"the {name} leaves out {literal!r:.60}"
    if isinstance(content, str) and (_is_worded(literal) or _is_worded(content)):
        yield f"the {name} replaces {text if isinstance(text, str) else expression!r:.60} by {content!r:.60}"


def _is_worded(text: Any) -> bool:
    """Whether a text has letters or digits and no marks, which tokens of a format have."""
    return isinstance(text, str) and _LETTER.search(text) is not None and _MARKS.search(text) is None


def _in_charsmap(encoded: Any) -> Iterator[str]:
    """Addresses and words that SentencePiece's table of replacements writes: a trie and its size, then the texts."""
    with suppress(ValueError, TypeError):
        raw = b64decode(encoded or "") if isinstance(encoded, str) else encoded or b""
        texts = raw[4 + int.from_bytes(raw[:4], "little") :].decode("utf-8", "replace").split("\0")
        odd = next((each for each in texts if _LINK.search(each) or _LONG_WORD.search(each)), None)
        if odd is not None:
            yield f"the normalizer's table of characters writes {odd!r:.60}"


def _in_sentencepiece(subject: Subject) -> Iterator[Found]:
    """The same of SentencePiece's own models."""
    for entry in subject.named(*TOKENIZER_MODELS):
        raw = subject.whole(entry, MOST_PIECES)
        with suppress(DamageError):  # `wrong-kind` reports it
            for text in texts(reads(raw), len(raw), _SENTENCEPIECE):
                yield from (Found(what, entry.path) for what in _in_charsmap(text.value.encode("latin-1")))


def _inserted(tokens: Any) -> Iterator[str]:
    """Words that a post-processor adds to each text: its tokens are marks."""
    for each in tokens.values() if isinstance(tokens, Mapping) else ():
        pieces = each.get("tokens") if isinstance(each, Mapping) else None
        if isinstance(pieces, list) and sum(isinstance(one, str) and not _MARKS.search(one) for one in pieces) > 2:
            yield f"the post-processor adds {' '.join(map(str, pieces))!r:.80} to each text"


def _of_tokens(tokens: list[Any]) -> Iterator[str]:
    """Added tokens that are words of a language, or addresses."""
    for token in tokens:
        text = token.get("content") if isinstance(token, Mapping) else None
        if isinstance(text, str) and _LINK.search(text) and not _MARKS.search(text):
            yield f"the added token {text!r:.60} is an address"
        elif isinstance(text, str) and token.get("special") is True and _PLAIN.fullmatch(text):
            if text.isupper() or len({*text.strip()}) == 1:
                continue  # no word: a name in capitals, one letter again and again, as Korean has for a smile
            yield f"the word {text!r:.60} is a special token, which is left out of the output"
