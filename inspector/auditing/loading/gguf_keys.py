"""Would llama.cpp accept a GGUF's key-values? Checks their types, the names it knows, and values it compares.

`auditing/data/gguf.json` is extracted from its source by tools/llama_cpp/write_loading.py.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import partial
from typing import Any

from inspector.architectures import predicted_gguf
from inspector.architectures.data.gguf_keys import BESIDE, NO_MODELS
from inspector.auditing import data
from inspector.auditing.rule import Found, rule
from inspector.auditing.subject import Subject
from inspector.formats.ggml import FILE_TYPES
from inspector.formats.gguf.values import TYPE_NAMES, KeyValues
from inspector.model import Header, Severity
from inspector.quantization.scheme import FLOATS
from inspector.units import integer, plural

#: What llama.cpp's loader requires of key-values.
table = partial(data.table, "gguf")
#: Those parts of its behaviour that are in no table of its source, written by hand.
by_hand = partial(data.overlay, "gguf")


def kind_of_tokenizer(metadata: Mapping[str, Any]) -> str | None:
    """llama.cpp's name for a tokenizer's algorithm; None if it does not know the tokenizer.

    It is "NONE" without tokens: only then llama.cpp reads the vocabulary's size from `vocab_size`.
    """
    model = metadata.get("tokenizer.ggml.model")
    kind: str | None = table()["tokenizers"].get(model) if isinstance(model, str) else None
    return kind


def models_of(subject: Subject) -> Iterator[tuple[Header, KeyValues]]:
    """GGUF files that contain a model, or a set's first part: not an adapter, a projector or only a vocabulary."""
    for header in subject.all_headers:
        if isinstance(header.metadata, KeyValues) and _is_model(header):
            yield header, header.metadata


def is_foreign(header: Header) -> bool:
    """Whether a GGUF is a model of an architecture that llama.cpp does not have: of another program, or a newer one."""
    architecture = header.metadata.get("general.architecture")
    beside = (*NO_MODELS, *BESIDE)
    return isinstance(architecture, str) and architecture not in {*predicted_gguf(), *beside} and _is_model(header)


def _is_model(header: Header) -> bool:
    if header.format != "gguf" or not header.tensors or not isinstance(header.metadata, KeyValues):
        return False
    number = header.metadata.get("split.no")
    is_further = type(number) is int and number > 0  # a set's further part has no key-values of the model
    return bool(header.metadata.get("general.type", "model") == "model") and not is_further


@rule("gguf-type", "consistent", "error")
def gguf_type(subject: Subject) -> Iterator[Found]:
    """A key-value has a different type than llama.cpp reads.

    It compares types exactly, and refuses a file in which a number is a string or has another numeric type. The
    converter has a bug, or the file was edited: convert the model again.
    """
    for header, metadata in models_of(subject):
        architecture = metadata.get("general.architecture")
        if not isinstance(architecture, str):
            continue
        lists = table()["lists"]  # what is required of a key that may be a list
        for key, kind in _types_by_key(architecture, metadata).items():
            field, own = metadata.fields.get(key), lists.get(key) or lists.get(f"%s.{key.partition('.')[2]}")
            if field is not None and field.item is not None and own:
                alike = by_hand()["alike"]  # whole numbers of 32 bits, of either sign, and flags
                wrong = TYPE_NAMES[field.item] not in (alike if own["item"] in alike else (own["item"],))
                kind = f"array[{own['item']}]"
            else:
                wrong = field is not None and field.type_name != kind
            if field is not None and wrong:
                yield Found(f"{key:.80} is {field.type_name}, but should be {kind}", header.path)


def _types_by_key(architecture: str, metadata: KeyValues) -> dict[str, str]:
    """Key → the type with which llama.cpp reads it from such a file."""
    own_keys, hand = table()["architectures"].get(architecture), by_hand()
    strict = {*(own_keys["typed"] if own_keys else ()), *(table()["typed"] if own_keys else ())}
    strict |= {*hand["read_where_present"]}
    parts = metadata.get("split.count")
    found = hand["everywhere"] | (hand["of_parts"] if type(parts) is int and parts > 1 else {})
    without = kind_of_tokenizer(metadata) == "NONE"
    if without:
        found[f"{architecture}.vocab_size"] = "uint32"
    for key, kind in table()["kinds"].items():
        name = key.removeprefix("%s.")
        unread = without and key.startswith("tokenizer.") and key not in hand["without_tokens"]
        if name in strict if name != key else not unread:
            found[key.replace("%s", architecture)] = kind
    for key, listed in table()["lists"].items():
        if (own := key.replace("%s", architecture)) in metadata and metadata.fields[own].item is not None:
            found.setdefault(own, listed["item"])
    return found if without else {**found, **dict.fromkeys(table()["token_ids"], "uint32")}


@rule("gguf-unknown", "consistent", "error")
def gguf_unknown(subject: Subject) -> Iterator[Found]:
    """An architecture, a tokenizer, a pre-tokenizer or a RoPE scaling that llama.cpp does not know.

    It refuses the file. An unknown architecture is an error if it is an evident misspelling, or if the sizes are stored
    under another architecture's name; with sizes under its own name it may belong to a newer llama.cpp, and is a note.
    A file with a tokenizer that llama.cpp lacks is for another program. An unknown pre-tokenizer is a warning: many new
    models add one.
    """
    for header, metadata in models_of(subject):
        architecture = metadata.get("general.architecture")
        if architecture in predicted_gguf():
            has_text = any(tensor.name == "token_embd.weight" for tensor in header.tensors)
            unknown = _unknown_words(metadata) if has_text else ()
            yield from (Found(what, header.path, severity=severity) for what, severity in unknown)
        elif isinstance(architecture, str):
            near = get_close_matches(architecture.lower(), predicted_gguf(), 1, 0.8)
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


def _unknown_words(metadata: Mapping[str, Any]) -> Iterator[tuple[str, Severity]]:
    scaling = metadata.get(f"{metadata.get('general.architecture')}.rope.scaling.type")
    if isinstance(scaling, str) and scaling not in table()["rope_scalings"]:
        yield f"unknown RoPE scaling {scaling!r:.40}", "error"
    model, split = metadata.get("tokenizer.ggml.model"), metadata.get("tokenizer.ggml.pre")
    if model is None:
        yield "no tokenizer.ggml.model, which llama.cpp needs", "error"
    elif kind_of_tokenizer(metadata) is None:
        yield f"unknown tokenizer {str(model)!r:.40}", "error"
    has_pre = model != "gemma4" and kind_of_tokenizer(metadata) == "BPE"
    if has_pre and isinstance(split, str) and split not in table()["pre"] and split:
        near = get_close_matches(split.lower(), table()["pre"], 1, 0.85)
        yield f"unknown pre-tokenizer {split!r:.40}", "error" if near else "warning"


@rule("gguf-sizes", "consistent", "error")
def gguf_sizes(subject: Subject) -> Iterator[Found]:
    """Sizes among a GGUF's key-values that llama.cpp compares contradict each other.

    Llama rotates whole heads, no more experts can be used than there are, and the hidden size is a multiple of the
    number of heads. llama.cpp refuses the file or crashes. The key-values were edited, or the converter has a bug.
    """
    for header, metadata in models_of(subject):
        architecture = metadata.get("general.architecture")
        if architecture not in predicted_gguf():
            continue

        def number(key: str, own: KeyValues = metadata, of: str = str(architecture)) -> int | None:
            value = own.get(f"{of}.{key}")
            return value if type(value) is int else None

        def present(key: str, own: KeyValues = metadata, of: str = str(architecture)) -> bool:
            return f"{of}.{key}" in own

        if kind_of_tokenizer(metadata) == "NONE" and not present("vocab_size"):
            model = metadata["tokenizer.ggml.model"]
            what = f"a tokenizer of kind {model!r} and no {architecture}.vocab_size: llama.cpp expects no token at all"
            yield Found(what, header.path)
        for what in (
            *_contradictory_sizes(str(architecture), number, present),
            *_wrong_expert_groups(number),
            *_wrong_list_lengths(str(architecture), metadata, number),
        ):
            yield Found(what, header.path)


def _contradictory_sizes(architecture: str, number: Any, present: Any) -> Iterator[str]:
    width, heads = number("embedding_length"), number("attention.head_count")
    rotated, head = number("rope.dimension_count"), number("attention.key_length")
    if head is None and width and heads:
        head = width // heads
    own = table()["architectures"].get(architecture, {})
    is_whole = architecture in table()["rotated_whole"] or own.get("rotates") == "whole"
    if is_whole and rotated is not None and head and rotated != head:
        yield f"{architecture}.rope.dimension_count is {integer(rotated)}, but a head has {integer(head)} dimensions"
    elif own.get("rotates") and rotated is not None and head and (rotated % 2 or rotated > head):
        yield f"{architecture}.rope.dimension_count is {integer(rotated)}, but must be even, at most {integer(head)}"
    blocks, ahead = number("block_count"), number("nextn_predict_layers")
    if blocks is not None and ahead is not None and ahead > blocks:
        yield f"{integer(ahead)} layers predict further tokens, of {plural(blocks, 'block')}"
    value = number("attention.value_length")
    if value is None and width and heads:
        value = width // heads
    if own.get("fixed_values") and head is not None and value is not None and value != head:
        what = f"values have {plural(value, 'dimension')} per head, and queries and keys {integer(head)}"
        yield f"{what}: llama.cpp takes them to be equal for {architecture}"
    experts, used = number("expert_count"), number("expert_used_count")
    if used is not None and used > (experts or 0) and (experts is not None or not present("expert_count")):
        yield f"{integer(used)} experts are used, but there are {integer(experts or 0)}"
    if experts and not used and (used == 0 or not present("expert_used_count")):
        yield f"none of the {integer(experts)} experts is used"


def _wrong_expert_groups(number: Any) -> Iterator[str]:
    """Groups of experts whose numbers contradict each other: `llama_model_base::load_hparams` compares them."""
    experts, groups, used = (number(f"expert_{key}") or 0 for key in ("count", "group_count", "group_used_count"))
    if groups and groups >= experts:
        yield f"{plural(groups, 'group')} of experts, but {plural(experts, 'expert')}"
    elif groups > 1 and experts % groups:
        yield f"{integer(experts)} experts are not a multiple of {plural(groups, 'group')}"
    elif groups > 1 and not 0 < used < groups:
        yield f"{integer(used)} groups of experts are used, of {integer(groups)}"


def _wrong_list_lengths(architecture: str, metadata: KeyValues, number: Any) -> Iterator[str]:
    """Lists that llama.cpp reads, but not of the length that it needs."""
    blocks, ahead = number("block_count"), number("nextn_predict_layers") or 0
    needed = {} if blocks is None else {"blocks": blocks, "layers": blocks - ahead}
    read = {*table()["typed"], *table()["architectures"].get(architecture, {}).get("typed", ())}
    for key, listed in table()["lists"].items():
        field = metadata.fields.get(key.replace("%s", architecture))
        length = needed.get(listed["length"]) if listed["length"] in ("", "blocks", "layers") else int(listed["length"])
        if field is None or field.items is None or length is None or field.items == length:
            continue
        if key.removeprefix("%s.") not in read:
            continue
        of = f"of {plural(length, 'block')}" if listed["length"] in needed else f"but should have {length}"
        yield f"{key.replace('%s', architecture)} has {plural(field.items, 'item')}, {of}"


@rule("gguf-keys", "consistent", "error")
def gguf_keys(subject: Subject) -> Iterator[Found]:
    """A GGUF lacks a key-value that llama.cpp needs, or states that its attention has no heads.

    Loading ends with an error or a division by zero. The converter was written for another architecture or version, or
    the key-values were edited: convert the model again.
    """
    files = [each for each in subject.all_headers if each.format == "gguf" and each.tensors]
    known = predicted_gguf() if files else frozenset()
    for header in files:
        metadata = header.metadata
        architecture = metadata.get("general.architecture")
        if architecture not in known or metadata.get("general.type", "model") != "model":
            continue
        assert isinstance(metadata, KeyValues)
        own = table()["architectures"].get(architecture, {}).get("needed", ())
        hand = by_hand()
        whole = tuple(hand["without_architecture"])
        needed = [key if key.startswith(whole) else f"{architecture}.{key}" for key in own or hand["needed"]]
        missing = [key for key in needed if key not in metadata and not _is_exempt(key, metadata)]
        epsilons = [f"{architecture}.{key}" for key in hand["epsilons"]]
        if not own and not any(key in metadata for key in epsilons):
            missing.append(epsilons[0])
        for key in missing:
            yield Found(f"no {key}, which llama.cpp needs", header.path)
        heads = metadata.get(f"{architecture}.attention.head_count")
        if heads == 0 and any(".attn_q." in tensor.name for tensor in header.tensors):
            yield Found(f"{architecture}.attention.head_count is 0, but there are query projections", header.path)


def _is_exempt(key: str, metadata: KeyValues) -> bool:
    """Whether llama.cpp does without a key in a model of this depth and vocabulary.

    It tells DeepSeek-V2-Lite, whose queries have no latent, from its larger relatives by them
    (`llama_model_deepseek2::load_arch_hparams`), as models of every depth from 1 to 99 without the key showed.
    """
    architecture, _, field = key.partition(".")
    depth, tokens = metadata.get(f"{architecture}.block_count"), metadata.fields.get("tokenizer.ggml.tokens")
    return any(
        architecture in each["architectures"]
        and depth in each["block_count"]
        and ("tokens" not in each or (tokens is not None and tokens.items in each["tokens"]))
        for each in by_hand()["not_needed"].get(field, ())
    )


@rule("gguf-name", "consistent", "info")
def gguf_name(subject: Subject) -> Iterator[Found]:
    """A GGUF's name or its general.file_type states a different quantization than its tensors have.

    The file was renamed, or is another one: its quality and size are not what the name promises; llama.cpp goes by the
    tensors. In mixtures the type of most weights counts. Unpacked weights in a file with few tensors are not reported:
    such files are made for tests.
    """
    for header in subject.all_headers:
        if header.format != "gguf":
            continue
        names = _QUANTIZED.findall(header.path.rpartition("/")[2].upper())
        file_type = FILE_TYPES.get(header.metadata.get("general.file_type", -1))
        stated = (("the name", names[0] if len({*names}) == 1 else None), ("general.file_type", file_type))
        for where, named in stated:
            if named and (most := _other_type(named, header)):
                yield Found(f"{where} says {named}, but most weights are {most}", header.path)
                break


#: Types in which models are trained: writers leave such experts unchanged, whatever the file's name.
_AS_TRAINED = frozenset({"MXFP4", "NVFP4"})
#: An unpacked file with fewer elements of weights may be anything.
_FEW = 1_000_000


def _other_type(named: str, header: Header) -> str | None:
    """The type of most weights, if its width differs from the named one; None if it matches, or may match."""
    counts, all_of_it = Counter[str](), 0
    block = 256 if "_K" in named or (named.startswith("IQ") and named != "IQ4_NL") else 32
    for tensor in header.tensors:
        if len(tensor.shape) > 1:
            all_of_it += tensor.elements
            if tensor.shape[-1] % block == 0:  # other rows use another type, whatever was requested
                counts[tensor.dtype] += tensor.elements
    most = counts.most_common(1)[0][0] if counts.total() * 2 > all_of_it else None
    if most is None or most in _AS_TRAINED:
        return None
    stated, has = _bits_in_name(named), _bits_in_name(most)
    plain = most in FLOATS and counts.total() < _FEW
    return most if stated and has and stated != has and not plain and not _is_mixture(named, counts) else None


_QUANTIZED = re.compile(r"(?<![A-Z0-9])(I?Q\d_[A-Z0-9]+(?:_[A-Z]+)?|BF16|F16|F32)(?![A-Z0-9])")


def _bits_in_name(name: str) -> int | None:
    """Bits of a weight by a type's name: `Q4_K_M` 4, `F16` and `BF16` 16."""
    found = re.search(r"\d+", name)
    return int(found[0]) if found else None


def _is_mixture(named: str, counts: Counter[str]) -> bool:
    """Whether a fair share of the weights has the named width: mixtures use a bit or two more for some."""
    of_it = sum(number for dtype, number in counts.items() if _bits_in_name(dtype) == _bits_in_name(named))
    return of_it * 5 >= counts.total()
