"""Would llama.cpp accept a GGUF's tokenizer? Checks what `llama_vocab::load` requires of its lists and ids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from hashlib import blake2b
from itertools import islice
from typing import NamedTuple

from inspector.auditing.loading.gguf_keys import by_hand, kind_of_tokenizer
from inspector.auditing.readers.templates import UNPARSABLE, judge, templates
from inspector.auditing.rule import Found, rule
from inspector.auditing.subject import Subject
from inspector.formats.gguf.values import Field, KeyValues
from inspector.model import Severity
from inspector.units import integer, plural

_PREFIX = "tokenizer.ggml."
_TOKENS = f"{_PREFIX}tokens"
_TYPES = f"{_PREFIX}token_type"
_MERGES = f"{_PREFIX}merges"
_CHARACTERS = f"{_PREFIX}precompiled_charsmap"
#: The type of a token that stands for one byte (`LLAMA_TOKEN_TYPE_BYTE`).
_BYTE = 6
#: Bytes of `<0x`, which precedes the two digits of a byte: the kinds of tokenizer that read these digits abort at a
#: shorter text.
_DIGITS_AT = 3
#: The id that writers give a missing token: −1 in 32 bits.
_NONE = 2**32 - 1
#: Bytes of a token's text that are kept: a file may have longer ones, of 60 MB together.
_PLAUSIBLE = 1024
#: Bytes at the start of the map of characters: the length of its first part.
_HEAD = 4

Messages = Iterator[tuple[str, Severity]]


class _Vocabulary(NamedTuple):
    """A GGUF's tokenizer."""

    metadata: KeyValues
    model: str
    kind: str  # llama.cpp's name for the algorithm: "SPM", "BPE", …; "" if it is unknown

    def field(self, key: str) -> Field | None:
        return self.metadata.fields.get(key)

    @property
    def tokens(self) -> int:
        field = self.field(_TOKENS)
        return field.items or 0 if field is not None else 0

    def is_readable(self, key: str) -> bool:
        """Whether a list is there, with items of a type that llama.cpp reads."""
        field = self.field(key)
        return field is not None and field.type_name in {
            f"array[{item}]" for item in by_hand()["vocabulary_lists"][key]["items"]
        }


@rule("gguf-tokens", "consistent", "error")
def gguf_tokens(subject: Subject) -> Iterator[Found]:
    """The lists of a GGUF's tokenizer do not match, or are not what llama.cpp reads.

    Each token needs a score and a type, byte-pair tokenizers need merges, no token may occur twice, and no id may
    exceed the list. llama.cpp refuses the file, aborts, or reads beyond the lists.
    """
    for header in subject.all_headers:
        if header.format != "gguf" or not isinstance(header.metadata, KeyValues):
            continue
        if isinstance(model := header.metadata.get(f"{_PREFIX}model"), str):
            own = _Vocabulary(header.metadata, model, kind_of_tokenizer(header.metadata) or "")
            for what, severity in _wrong_lists(own):
                yield Found(what, header.path, severity=severity)


def _wrong_lists(own: _Vocabulary) -> Messages:
    if own.kind == "NONE":
        return
    yield from _unread_types(own)
    if not own.tokens:
        yield f"a tokenizer of kind {own.model!r:.40} without tokens", "error"
        return
    yield from _unequal_lengths(own)
    yield from _missing_merges(own)
    yield from _short_character_map(own)
    yield from _ids_beyond_the_tokens(own)
    if own.is_readable(_TOKENS):
        yield from _wrong_texts(own)


def _unread_types(own: _Vocabulary) -> Messages:
    for key, listed in by_hand()["vocabulary_lists"].items():
        field, kinds = own.field(key), listed["kinds"]
        if field is not None and (own.kind in kinds or not kinds) and not own.is_readable(key):
            yield f"{key} is {field.type_name}, but should be array[{listed['items'][0]}]", "error"


def _unequal_lengths(own: _Vocabulary) -> Messages:
    for key in (f"{_PREFIX}scores", _TYPES):
        field = own.field(key)
        if field is not None and field.items is not None and field.items != own.tokens:
            severity: Severity = "error" if field.items < own.tokens else "info"  # it reads nothing beyond the tokens
            yield f"{integer(field.items)} items in {key}, but {plural(own.tokens, 'token')}", severity


def _missing_merges(own: _Vocabulary) -> Messages:
    excused = own.model != "gemma4" and own.metadata.get(f"{_PREFIX}pre") == by_hand()["without_merges"]
    if own.kind == "BPE" and own.field(_MERGES) is None and not excused:
        yield "a byte-pair tokenizer without tokenizer.ggml.merges", "error"


def _short_character_map(own: _Vocabulary) -> Messages:
    """The map of characters begins with the length of its first part, 32 bits; something must follow that part."""
    field = own.field(_CHARACTERS)
    if own.kind != "UGM" or field is None or not own.is_readable(_CHARACTERS):
        return
    length = field.items or 0
    first = bytes(item % 256 for item in islice(own.metadata.items_of(_CHARACTERS), _HEAD))
    if int.from_bytes(first, "little") + _HEAD >= length:
        yield f"{_CHARACTERS} has {plural(length, 'byte')}, fewer than it says", "error"


def _ids_beyond_the_tokens(own: _Vocabulary) -> Messages:
    for key in sorted(own.metadata.fields):
        if key.startswith(_PREFIX) and key.endswith("_token_id"):
            number = own.metadata[key]
            if type(number) is int and own.tokens <= number < _NONE:
                yield f"{key} is {integer(number)}, of {plural(own.tokens, 'token')}", "warning"


def _wrong_texts(own: _Vocabulary) -> Messages:
    """Texts of tokens that it does not accept. A text ends at a NUL, and an empty one is given a name of its own."""
    texts = [_text_as_read(bytes(each)) for each in own.metadata.views_of(_TOKENS)]
    filled = [text for text in texts if text]
    if len(there := set(filled)) < len(filled):
        twice = Counter(filled).most_common(1)[0][0].decode(errors="backslashreplace")
        yield f"the token {twice!r:.40} occurs more than once: llama.cpp aborts", "error"
    typed = own.metadata.items_of(_TYPES) if own.is_readable(_TYPES) else iter(())
    yield from _wrong_byte_tokens(
        own, texts, [at for at, kind in enumerate(islice(typed, own.tokens)) if kind == _BYTE]
    )
    yield from _missing_named_tokens(own, there)


def _text_as_read(text: bytes) -> bytes:
    """A token's text as far as llama.cpp reads it; of an implausibly long one its start and a hash."""
    if b"\0" in text:
        text = text.partition(b"\0")[0]
    return text if len(text) <= _PLAUSIBLE else text[:_PLAUSIBLE] + blake2b(text, digest_size=16).digest()


def _wrong_byte_tokens(own: _Vocabulary, texts: list[bytes], of_bytes: list[int]) -> Messages:
    if own.kind == "WPM" and of_bytes:
        yield f"tokens of bytes in a tokenizer of kind {own.model!r}, which has none: llama.cpp aborts", "error"
    short = [at for at in of_bytes if 0 < len(texts[at]) < _DIGITS_AT]
    if own.kind in by_hand()["with_digits"] and short:
        yield f"token {integer(short[0])} stands for a byte, but its text is not like <0x00>: llama.cpp aborts", "error"
    if own.kind == "PLAMO2":
        there = {texts[at] for at in of_bytes if at}
        lacked = [byte for byte in range(256) if not {b"<0x%02X>" % byte, b"<0x%02x>" % byte} & there]
        if lacked:
            yield f"no token for {plural(len(lacked), 'byte')}, which a tokenizer of kind {own.model!r} needs", "error"


def _missing_named_tokens(own: _Vocabulary, texts: set[bytes]) -> Messages:
    name, split = own.metadata.get("general.name"), own.metadata.get(f"{_PREFIX}pre")
    architecture = own.metadata.get("general.architecture")
    table = by_hand()["with_attributes"]  # of tokens, by the model's name; they must then exist
    excused = any(each in str(split) for each in table["not_pre"])
    excused = excused or any(each in str(architecture) for each in table["not_architectures"])
    if not isinstance(name, str) or excused or not any(each in name.lower() for each in table["names"]):
        return
    if lacked := [text for text in table["tokens"] if text.encode() not in texts]:
        yield f"general.name is {name!r:.40}, but there is no token {lacked[0]!r}: llama.cpp aborts", "error"


@rule("gguf-template", "consistent", "error")
def gguf_template(subject: Subject) -> Iterator[Found]:
    """A GGUF's chat template cannot be parsed.

    llama.cpp's server parses templates when it starts, and ends with an error; other programs load the file, and fail
    when they use the template. Repair it, or replace it with `--chat-template-file`.
    """
    for template in templates(subject):
        if template.path.endswith(".gguf") and template.text is not None:
            unread = judge(template.text).unread
            if unread and unread.startswith(UNPARSABLE):
                yield Found(f"the template `{template.name[:40]}`: {unread:.160}", template.path)
