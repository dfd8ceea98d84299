"""Would llama.cpp accept a GGUF's key-values? Checks their types, the names it knows, and values it compares.

`auditing/data/gguf.json` is extracted from its source by tools/llama_cpp/write_loading.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import partial
from typing import Any

from inspector.architectures import predicted_gguf
from inspector.auditing import data
from inspector.auditing.rules.rule import Found, rule
from inspector.auditing.rules.subject import Subject
from inspector.formats.gguf.values import KeyValues
from inspector.model import Header, Severity
from inspector.units import integer, plural

_rule = partial(rule, group="consistent")


def table() -> dict[str, Any]:
    """What llama.cpp's loader requires of key-values."""
    return data.table("gguf")


def known() -> frozenset[str]:
    """The architectures that llama.cpp loads."""
    return predicted_gguf()


def models_of(subject: Subject) -> Iterator[tuple[Header, KeyValues]]:
    """GGUF files that contain a model, not an adapter, a projector or only a vocabulary."""
    for header in subject.all_headers:
        if header.format != "gguf" or not header.tensors or not isinstance(header.metadata, KeyValues):
            continue
        if header.metadata.get("general.type", "model") == "model":
            yield header, header.metadata


#: Tokenizers without tokens: only for them llama.cpp reads the vocabulary size from `vocab_size`.
_WITHOUT_VOCABULARY = ("no_vocab", "none")
#: Optional keys that are read wherever they are present.
_WHERE_THERE = (
    *("attention.key_length", "attention.value_length"),
    *("attn_logit_softcapping", "router_logit_softcapping"),
)


@_rule("gguf-type", "error")
def gguf_type(subject: Subject) -> Iterator[Found]:
    """A key-value has a different type than llama.cpp reads.

    It compares types exactly, and refuses a file in which a number is a string or has another numeric type. The
    converter has a bug, or the file was edited: convert the model again.
    """
    for header, metadata in models_of(subject):
        architecture = metadata.get("general.architecture")
        if not isinstance(architecture, str):
            continue
        own_keys = table()["architectures"].get(architecture)
        strict = (*(own_keys["typed"] if own_keys else ()), *(table()["typed"] if own_keys else ()), *_WHERE_THERE)
        kinds = table()["kinds"]
        if metadata.get("tokenizer.ggml.model") in _WITHOUT_VOCABULARY:
            strict, kinds = (*strict, "vocab_size"), {**kinds, "%s.vocab_size": "uint32"}
        for key, kind in kinds.items():
            own = key.replace("%s", architecture)
            field = metadata.fields.get(own)
            if field is None or ("%s" in key and key.removeprefix("%s.") not in strict):
                continue
            listed = field.item is not None and key in table()["lists"]
            if field.type_name != kind and not listed:
                yield Found(f"{own} is {field.type_name}, but should be {kind}", header.path)
        for key, field in metadata.fields.items():  # llama_vocab reads all of these alike
            if key.startswith("tokenizer.ggml.") and key.endswith("_token_id") and field.type_name != "uint32":
                yield Found(f"{key:.80} is {field.type_name}, but should be uint32", header.path)


@_rule("gguf-unknown", "error")
def gguf_unknown(subject: Subject) -> Iterator[Found]:
    """An architecture, a tokenizer, a pre-tokenizer or a RoPE scaling that llama.cpp does not know.

    It refuses the file. An unknown architecture is an error if it is an evident misspelling, or if the sizes are stored
    under another architecture's name; with sizes under its own name it may belong to a newer llama.cpp, and is a note.
    A file with a tokenizer that llama.cpp lacks is for another program. An unknown pre-tokenizer is a warning: many new
    models add one.
    """
    for header, metadata in models_of(subject):
        architecture = metadata.get("general.architecture")
        if architecture in known():
            has_text = any(tensor.name == "token_embd.weight" for tensor in header.tensors)
            told = _words(metadata) if has_text else ()
            yield from (Found(what, header.path, severity=severity) for what, severity in told)
        elif isinstance(architecture, str):
            near = get_close_matches(architecture.lower(), known(), 1, 0.8)
            own = any(key.startswith(f"{architecture}.") for key in metadata)
            for_llama = "tokenizer.ggml.model" in metadata  # other programs' architectures lack that key
            if near or not architecture or (for_llama and not own):
                hint = f": did you mean {near[0]!r}?" if near else ""
                yield Found(f"unknown architecture {architecture!r:.40}{hint}", header.path)
            elif for_llama:
                what = f"architecture {architecture!r:.40} is unknown to llama.cpp so far: a newer one may have it"
                yield Found(what, header.path, severity="info")
        elif "general.architecture" in metadata:
            yield Found("general.architecture is not a string", header.path)
        elif any(tensor.name == "token_embd.weight" for tensor in header.tensors):
            yield Found("no general.architecture, which llama.cpp needs", header.path)


def _words(metadata: Mapping[str, Any]) -> Iterator[tuple[str, Severity]]:
    scaling = metadata.get(f"{metadata.get('general.architecture')}.rope.scaling.type")
    if isinstance(scaling, str) and scaling not in table()["rope_scalings"]:
        yield f"unknown RoPE scaling {scaling!r:.40}", "error"
    model, split = metadata.get("tokenizer.ggml.model"), metadata.get("tokenizer.ggml.pre")
    if model is None:
        yield "no tokenizer.ggml.model, which llama.cpp needs", "error"
    elif model not in table()["tokenizers"]:
        yield f"unknown tokenizer {str(model)!r:.40}", "error"
    if model == "gpt2" and isinstance(split, str) and split not in table()["pre"] and split:
        near = get_close_matches(split.lower(), table()["pre"], 1, 0.85)
        yield f"unknown pre-tokenizer {split!r:.40}", "error" if near else "warning"


@_rule("gguf-sizes", "error")
def gguf_sizes(subject: Subject) -> Iterator[Found]:
    """Sizes among a GGUF's key-values that llama.cpp compares contradict each other.

    Llama rotates whole heads, no more experts can be used than there are, and the hidden size is a multiple of the
    number of heads. llama.cpp refuses the file or crashes. The key-values were edited, or the converter has a bug.
    """
    for header, metadata in models_of(subject):
        architecture = metadata.get("general.architecture")
        if architecture not in known():
            continue

        def number(key: str, own: KeyValues = metadata, of: str = str(architecture)) -> int | None:
            value = own.get(f"{of}.{key}")
            return value if type(value) is int else None

        def present(key: str, own: KeyValues = metadata, of: str = str(architecture)) -> bool:
            return f"{of}.{key}" in own

        if metadata.get("tokenizer.ggml.model") in _WITHOUT_VOCABULARY and not present("vocab_size"):
            model = metadata["tokenizer.ggml.model"]
            what = f"a tokenizer of kind {model!r} and no {architecture}.vocab_size: llama.cpp expects no token at all"
            yield Found(what, header.path)
        for what in (*_unequal(str(architecture), number, present), *_lengths(str(architecture), metadata, number)):
            yield Found(what, header.path)


def _unequal(architecture: str, number: Any, present: Any) -> Iterator[str]:
    width, heads = number("embedding_length"), number("attention.head_count")
    rotated, head = number("rope.dimension_count"), number("attention.key_length")
    if head is None and width and heads:
        head = width // heads
    if architecture in table()["rotated_whole"] and rotated is not None and head and rotated != head:
        yield f"{architecture}.rope.dimension_count is {integer(rotated)}, but a head has {integer(head)} dimensions"
    experts, used = number("expert_count"), number("expert_used_count")
    if experts is not None and used is not None and used > experts:
        yield f"{integer(used)} experts are used, but there are {integer(experts)}"
    if experts and not used and (used == 0 or not present("expert_used_count")):
        yield f"none of the {integer(experts)} experts is used"


#: Keys that may be lists with one item per block.
_OF_BLOCKS = ("attention.head_count", "attention.head_count_kv", "feed_forward_length")
#: Keys that are lists of a fixed length.
_OF_LENGTH = {"rope.dimension_sections": 4}


def _lengths(architecture: str, metadata: KeyValues, number: Any) -> Iterator[str]:
    blocks = number("block_count")
    for key in _OF_BLOCKS:
        field = metadata.fields.get(f"{architecture}.{key}")
        if field is not None and field.items is not None and blocks is not None and field.items != blocks:
            yield f"{architecture}.{key} has {plural(field.items, 'item')}, of {plural(blocks, 'block')}"
    for key, length in _OF_LENGTH.items():
        field = metadata.fields.get(f"{architecture}.{key}")
        read = key in table()["architectures"].get(architecture, {}).get("typed", ())
        if read and field is not None and field.items is not None and field.items != length:
            yield f"{architecture}.{key} has {plural(field.items, 'item')}, but should have {length}"
