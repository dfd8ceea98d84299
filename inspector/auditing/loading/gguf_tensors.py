"""Would llama.cpp accept a GGUF's tensors and tokenizer? Checks names, dimensions, types and offsets, lists and ids.

`auditing/data/gguf.json` is extracted from its source by tools/llama_cpp/write_loading.py.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from hashlib import blake2b
from itertools import islice
from typing import Any, NamedTuple

from inspector.architectures import predicted_gguf
from inspector.auditing.loading.gguf_keys import by_hand, kind_of_tokenizer, models_of, table
from inspector.auditing.readers.templates import UNPARSABLE, judge, templates
from inspector.auditing.rule import Found, rule
from inspector.auditing.subject import Subject
from inspector.bridge.book import alike
from inspector.formats.gguf.values import Field, KeyValues
from inspector.model import Header, Prediction, Severity, Tensor
from inspector.units import integer, plural, times


def _prediction_of(subject: Subject) -> Prediction | None:
    """The prediction from the files' own key-values, if all files of a known architecture are there."""
    result = subject.result
    prediction = result.prediction if result else None
    files = [each for each in subject.headers if each.format == "gguf"]
    if prediction is None or not files or len(files) != len(subject.headers):
        return None
    is_known = any(each.metadata.get("general.architecture") in predicted_gguf() for each in files)
    return prediction if prediction.config.kind == "gguf" and is_known and not subject.incomplete else None


_BLOCK = re.compile(r"blk\.(\d+)\.")
_OF_QKV = re.compile(r"attn_[qkv]\.")


def pattern(name: str) -> str:
    """A tensor's name with `%d` for its block, as llama.cpp's tables have it."""
    return _BLOCK.sub("blk.%d.", name, count=1) if name.startswith("blk.") else name


def is_optional(name: str, header: Header) -> bool:
    """Whether llama.cpp loads a tensor if it is there, but can do without it."""
    architecture = header.metadata.get("general.architecture")
    own = table()["architectures"].get(architecture, {}) if isinstance(architecture, str) else {}
    stem, _, part = pattern(name).rpartition(".")
    is_scale = (
        bool(own)
        and part in by_hand()["scales"]
        and stem.replace("blk.%d.", "") in {each.replace("blk.%d.", "") for each in table()["scaled"]}
    )
    return (is_scale or pattern(name) in own.get("optional", ())) and _is_within(name, header, architecture)


def _is_within(name: str, header: Header, architecture: Any) -> bool:
    """Whether a tensor is in a block that the model has, or in none."""
    block, blocks = _BLOCK.match(name), header.metadata.get(f"{architecture}.block_count")
    return block is None or type(blocks) is not int or int(block[1]) < blocks


@rule("gguf-tensors", "consistent", "error")
def gguf_tensors(subject: Subject) -> Iterator[Found]:
    """A GGUF has a tensor that llama.cpp does not load, or has it under another name.

    llama.cpp looks up each tensor by its exact name, and refuses a file with more tensors than it has used. The
    key-values belong to another model, or the converter has a bug.
    """
    prediction = _prediction_of(subject)
    if prediction is None:
        return
    files = subject.headers
    stored = {tensor.name: header.path for header in files for tensor in header.tensors}
    needed = {name for row in prediction.expected for name in row.names()}
    beside = (*prediction.tied, *prediction.buffers, *prediction.optional, *prediction.ahead)
    asked = needed | {name for row in beside for name in row.names()}
    # llama.cpp looks up the fused query, key and value first (`create_tensor_qkv`)
    asked |= {fused for name in needed - stored.keys() if (fused := _OF_QKV.sub("attn_qkv.", name)) != name}
    asked |= {name for header in files for name in (each.name for each in header.tensors) if is_optional(name, header)}
    strange = [name for name in stored if name not in asked]
    lost = sorted(needed - stored.keys())
    for name in strange[:1]:
        hint = f"; it expects {lost[0]}" if lost else ""
        what = f"{plural(len(strange), 'tensor')} that llama.cpp does not load{hint}"
        yield Found(what, stored[name], name)


@rule("gguf-dimensions", "consistent", "error")
def gguf_dimensions(subject: Subject) -> Iterator[Found]:
    """A GGUF's tensor has the right number of elements, but its dimensions in another order or one too many.

    llama.cpp compares each dimension, and refuses a matrix that is transposed or has a last dimension of 1. The
    converter did not permute the tensor, or kept a dimension that it should have dropped: convert the model again.
    """
    prediction = _prediction_of(subject)
    if prediction is None:
        return
    expected = {name: row for row in prediction.expected for name in row.names()}
    constant = {name for row in prediction.buffers for name in row.names()}
    free = {*table()["reshaped"]}
    for header in subject.headers:
        for tensor in header.tensors:
            if tensor.name in by_hand()["rotation_factors"] and tensor.name not in constant:
                yield from _wrong_rotation_factors(tensor, header)
            row = expected.get(tensor.name)
            if row is None or pattern(tensor.name).rpartition(".")[0] in free or not alike(tensor.shape, row.shape):
                continue
            if _without_leading_ones(tensor.shape) != _without_leading_ones(row.shape):
                what = f"its dimensions are {times(tensor.shape)}, but should be {times(row.shape)}"
                yield Found(what, header.path, tensor.name)


def _wrong_rotation_factors(tensor: Tensor, header: Header) -> Iterator[Found]:
    """Factors on the frequencies of rotations: one for each pair of dimensions that are rotated."""
    own = header.metadata
    architecture = own.get("general.architecture")
    width, heads = (own.get(f"{architecture}.{key}") for key in ("embedding_length", "attention.head_count"))
    head = own.get(f"{architecture}.attention.key_length")
    if head is None and type(width) is int and type(heads) is int and heads:
        head = width // heads
    rotated = own.get(f"{architecture}.rope.dimension_count", head)
    lengths = [size // 2 for size in (rotated, head) if type(size) is int]
    if lengths and tensor.shape not in [(length,) for length in lengths]:
        what = f"{times(tensor.shape)} factors on the frequencies of rotations, but {integer(lengths[0])} are used"
        yield Found(what, header.path, tensor.name)


def _without_leading_ones(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Dimensions without leading 1s: in a file these come last, and llama.cpp adds them."""
    first = next((at for at, size in enumerate(shape) if size != 1), len(shape))
    return shape[first:]


@rule("gguf-weight-type", "consistent", "error")
def gguf_weight_type(subject: Subject) -> Iterator[Found]:
    """A GGUF's weight has a type with which ggml cannot compute.

    On a processor norms and biases must be F32, and matrices floating-point numbers of at most 32 bits or packed.
    llama.cpp loads the file, and aborts when it prepares the first computation. The converter did not cast the tensor:
    convert the model again.
    """
    for header, metadata in models_of(subject):
        if metadata.get("general.architecture") not in predicted_gguf():
            continue
        wrong: dict[str, list[str]] = {}
        for tensor in header.tensors:
            if (what := _not_computable(tensor)) is not None:
                wrong.setdefault(what, []).append(tensor.name)
        for what, names in wrong.items():
            more = f", and {plural(len(names) - 1, 'tensor')} like it" if len(names) > 1 else ""
            yield Found(what + more, header.path, names[0])


def _not_computable(tensor: Tensor) -> str | None:
    """Why ggml cannot compute with a tensor's type; None if it can, or if nothing is known of the tensor."""
    stem, _, part = pattern(tensor.name).rpartition(".")
    if part not in ("weight", "bias"):
        stem, part = pattern(tensor.name), "weight"  # a few have no further word: blk.0.ssm_d
    operation = table()["operations"].get(stem)
    if operation is None:
        return None
    hand = by_hand()
    is_vector = sum(size > 1 for size in tensor.shape) <= 1
    if part == "bias" or (operation in hand["on_vectors"] and (is_vector or stem.endswith("norm"))):
        what = "bias" if part == "bias" else "norm or another vector"
        return None if tensor.dtype == "F32" else f"a {what} in {tensor.dtype}: llama.cpp computes with it only in F32"
    if operation in hand["only_f32"] and tensor.dtype != "F32":
        return f"weights in {tensor.dtype}, with which llama.cpp computes only in F32"
    # Tables of ids are I32; tables of numbers to compute with are not.
    lacked = tensor.dtype in hand["lacked"].get(operation, ()) or (stem in hand["embeddings"] and tensor.dtype == "I32")
    return f"weights in {tensor.dtype}, with which llama.cpp does not compute" if lacked else None


#: Bytes: the multiple at which ggml's processor backend needs a buffer to begin.
_BUFFER = 32


@rule("gguf-alignment", "consistent", "error")
def gguf_alignment(subject: Subject) -> Iterator[Found]:
    """A GGUF's tensors begin at an address that llama.cpp cannot map.

    It maps the file into memory, and aborts unless the first tensor begins at a multiple of 32 bytes. The file has a
    smaller `general.alignment`: convert the model again with the default, 32. With `--no-mmap` the file can be loaded.
    """
    for header, metadata in models_of(subject):
        first = min((tensor for tensor in header.tensors if tensor.nbytes), key=lambda each: each.offset, default=None)
        if metadata.get("general.architecture") in predicted_gguf() and first is not None and first.offset % _BUFFER:
            what = f"the tensors begin at byte {integer(first.offset)}, which is not a multiple of {_BUFFER}"
            yield Found(what, header.path, first.name)


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
    excused = own.model != "gemma4" and own.metadata.get(f"{_PREFIX}pre") == by_hand()["without_merges"]
    if own.kind == "BPE" and own.field(_MERGES) is None and not excused:
        yield "a byte-pair tokenizer without tokenizer.ggml.merges", "error"
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
