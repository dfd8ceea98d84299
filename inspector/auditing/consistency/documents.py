"""Do the files agree: configuration, tensors, index, tokenizer?"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from inspector.auditing.bounds import MAX_DOCUMENT, MAX_DOCUMENTS
from inspector.auditing.completeness.downloads import stands_in
from inspector.auditing.readers.templates import templates
from inspector.auditing.readers.token_counts import assigned, highest_token
from inspector.auditing.rule import Found, rule
from inspector.auditing.subject import Subject
from inspector.bridge.summary import of_role
from inspector.formats.gguf.values import KeyValues
from inspector.model import Labelled, Severity
from inspector.opening import configs
from inspector.opening.variants import variants
from inspector.quantization import piece_of_packed
from inspector.quantization.scheme import FLOATS
from inspector.sources.filenames import shard_of
from inspector.units import integer, plural

_CHAT_NAME = re.compile(r"(?i)(?<![a-z])(chat|instruct|it)(?![a-z])")


@rule("dtype", "consistent", "warning")
def dtype(subject: Subject) -> Iterator[Found]:
    """Most parameters are stored in a dtype other than the one the configuration names.

    `torch_dtype` (or `dtype`) decides in which dtype loaders keep the weights: a model takes twice the memory
    that its file suggests, or loses precision. Correct the configuration, or get the right files.
    """
    result = subject.result
    named = configs.dtype_of(subject.config)
    declared = subject.config is not None and subject.config.declared_packing
    if result is None or result.packing or named not in FLOATS or declared:
        return
    elements = {each.dtype: each.elements for each in result.dtypes}
    if not elements:
        return
    total, most = sum(elements.values()), max(elements, key=lambda each: elements[each])
    if most in FLOATS and most != named and elements[most] * 2 > total and named not in _beside(subject):
        yield Found(f"the configuration says {named}; most elements are {most}", _config_path(subject))


def _beside(subject: Subject) -> set[str]:
    """Dtypes of the files not in the checkpoint: a copy in another precision shares its configuration."""
    return {tensor.dtype for header in subject.extra for tensor in header.tensors}


@rule("tied-head-stored", "consistent", "info")
def tied_head_stored(subject: Subject) -> Iterator[Found]:
    """An output head is stored although the configuration ties it to the embedding.

    Harmless if the two are equal, as in many published models: the copy only costs disk space.
    """
    result = subject.result
    if result is None or result.prediction is None:
        return
    for step in result.steps:
        if step.cause == "tied_embeddings" and step.bytes > 0:
            yield Found(f"{plural(step.bytes, 'byte')}: {step.detail}", _config_path(subject))


@rule("tokenizer-size", "consistent", "error")
def tokenizer_size(subject: Subject) -> Iterator[Found]:
    """The tokenizer has ids for which the embedding has no row.

    Such a token crashes the model, or makes it read out of bounds. The tokenizer belongs to another model, or
    tokens were added without resizing the embedding. More rows than tokens are padding, which is fine. Only a warning
    if just added tokens are out of range: Gemma 3's smallest model has one that no text uses.
    """
    embedding = _embedding(subject)
    if embedding is None or embedding.tensor.dtype not in FLOATS:  # a packed embedding has a different number of rows
        return
    rows = embedding.tensor.shape[0]
    highest = highest_token(subject, subject.folder)
    if highest is not None and (most := max(highest.known, highest.added)) >= rows:
        what = f"token ids go up to {integer(most)}, but the embedding has {plural(rows, 'row')}"
        given = assigned(subject, highest.path) if highest.known < rows else None
        if given is not None and given < rows:
            return
        severity: Severity = "error" if highest.known >= rows else "warning"
        yield Found(what, highest.path, embedding.tensor.name, severity)


def _embedding(subject: Subject) -> Labelled | None:
    """The text model's token embedding, whole and two-dimensional; of several the largest."""
    found = of_role(subject.result.tensors, "embed_tokens") if subject.result else ()
    whole = [each for each in found if each.key.part == "weight" and len(each.tensor.shape) == 2]
    if not whole or whole[0].key.tower not in ("text", "decoder", "encoder"):
        return None
    return max(whole, key=lambda each: each.tensor.shape[0])


@rule("declared-total", "consistent", "warning")
def declared_total(subject: Subject) -> Iterator[Found]:
    """The index states a total size that differs from that of the shards.

    `metadata.total_size` is the size of all tensors in bytes. A wrong one comes from a merge, an edit, or a shard of
    another version. Some old writers leave it out or write zero or a fraction, which is only a note.
    """
    index = subject.checkpoint.index if subject.checkpoint else None
    if index is None or not subject.headers or subject.incomplete:
        return
    stated = index.metadata.get("total_size")
    counted = sum(tensor.nbytes for header in subject.headers for tensor in header.tensors)
    if stated is None:
        return
    if isinstance(stated, bool) or not isinstance(stated, int | float):
        yield Found(f"total_size is not a number: {stated!r:.80}", index.path, severity="info")
        return
    if stated in (counted, sum(header.size for header in subject.headers)):
        return
    odd = stated <= 0 or isinstance(stated, float)
    told = integer(stated) if isinstance(stated, int) else str(stated)
    what = f"total_size is {told}; the shards' tensors have {plural(counted, 'byte')}"
    yield Found(what, index.path, severity="info" if odd else "warning")


@rule("declared-parameters", "consistent", "info")
def declared_parameters(subject: Subject) -> Iterator[Found]:
    """A file states a number of parameters that differs from what was counted.

    Some writers count tied heads twice, or packed weights as stored: the number is not to be trusted, but nothing is
    damaged.
    """
    for claim in subject.result.claims if subject.result else ():
        if "parameter" in claim.name and isinstance(claim.counted, int) and claim.claimed != str(claim.counted):
            yield Found(f"{claim.name} is {claim.claimed}; counted: {integer(claim.counted)}")


@rule("quantization", "consistent", "warning")
def quantization(subject: Subject) -> Iterator[Found]:
    """The configuration declares a packing that the tensors do not have, or none although they are packed.

    Loaders rely on `quantization_config`: with it, they fail on plain tensors or quantize them again; without it, they
    take packed tensors for plain weights. Get the configuration that belongs to the files.
    """
    names = [tensor.name for header in subject.headers if header.format == "safetensors" for tensor in header.tensors]
    if subject.config is None or subject.config.declared_packing or (subject.result and subject.result.packing):
        return
    if (piece := piece_of_packed(names)) is not None:  # plain tensors despite a declaration: the bridge reports them
        yield Found("part of a packed weight, but the configuration declares no packing", None, piece)


@rule("adapter-rank", "consistent", "error")
def adapter_rank(subject: Subject) -> Iterator[Found]:
    """An adapter's tensors have a different rank than its configuration states.

    PEFT creates the matrices from `r` and `rank_pattern`, and refuses others. The configuration belongs to another
    adapter.
    """
    adapter = subject.result.adapter if subject.result else None
    config = adapter.config if adapter else {}
    rank, pattern = config.get("r"), config.get("rank_pattern")
    if adapter is None or config.get("peft_type") != "LORA" or isinstance(rank, bool) or not isinstance(rank, int):
        return
    stated = {rank, *(own for own in (pattern.values() if isinstance(pattern, dict) else ()) if type(own) is int)}
    stacked = bool(config.get("target_parameters"))  # one matrix has the ranks of all experts
    odd = [own for own in adapter.ranks if own not in stated and not (stacked and rank > 0 and own % rank == 0)]
    if odd:
        what = f"tensors of rank {', '.join(map(integer, odd[:4]))}; the configuration says {integer(rank)}"
        yield Found(what, subject.folder + configs.ADAPTER_FILE)


@rule("document", "consistent", "error")
def document(subject: Subject) -> Iterator[Found]:
    """A JSON document beside the weights cannot be read.

    A tokenizer or a configuration that is empty, truncated or not JSON, or begins with a byte order mark: loading
    fails. Download it again. Of tokenizer.json and the vocabulary, which are large, only the start and the end are
    checked.
    """
    told = {finding.path for finding in subject.checkpoint.findings} if subject.checkpoint else set()
    left = MAX_DOCUMENTS
    for entry in subject.named(*_DOCUMENTS):
        start = subject.head(entry.path, 64)
        unread = entry.kind != "file" or entry.outside or (entry.size and not start)
        if unread or entry.path in told or stands_in(start):
            continue
        if not entry.size:
            yield Found("an empty file: download it again", entry.path)
        elif start.startswith(_MARK):
            yield Found(
                "it begins with a byte order mark, which Python's json refuses: save it without one", entry.path
            )
        elif entry.name in _LARGE:
            if not start.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"{", b"[")):
                yield Found("not a JSON document: it does not start like one", entry.path)
            elif (end := subject.span(entry.path, max(0, entry.size - 64), 64)) and not _closed(end):
                yield Found("truncated: it does not end like a JSON document", entry.path)
        elif entry.size <= min(left, MAX_DOCUMENT):
            left -= entry.size
            if wrong := _wrong_with(subject.text(entry.path), entry.name):
                yield Found(wrong, entry.path)
        else:
            yield Found(
                f"{plural(entry.size, 'byte')}, more than the audit reads of a document: not checked", entry.path
            )


#: The byte order mark that some editors write at the start of UTF-8.
_MARK = b"\xef\xbb\xbf"
#: Documents that loaders read, and those among them too large to be parsed here.
_LARGE = ("tokenizer.json", "vocab.json", "added_tokens.json")
_DOCUMENTS = (
    *("config.json", "_map.json", "modules.json", "model_index.json", "chat_template.json", ".index.json"),
    *("config_sentence_transformers.json", *_LARGE),
)
#: Documents whose fields a loader accesses immediately.
_OBJECTS = (
    *("config.json", "generation_config.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"),
    *("preprocessor_config.json", "processor_config.json", "adapter_config.json", "model_index.json", "vocab.json"),
    "config_sentence_transformers.json",
)


def _closed(end: bytes) -> bool:
    return end.rstrip().endswith((b"}", b"]"))


def _wrong_with(text: str | None, name: str) -> str | None:
    """Why a text is not a valid JSON document of its kind."""
    if text is None:
        return "not UTF-8 text"
    try:
        value = configs.loads(text)
    except json.JSONDecodeError as error:
        return f"not a JSON document: {error.msg} at line {error.lineno}"
    except ValueError as error:
        return f"not a readable JSON document: {error}"
    if name in _OBJECTS and not isinstance(value, dict):
        return f"not a JSON object, but {text.strip()!r:.40}"
    return None


@rule("no-config", "consistent", "info")
def no_config(subject: Subject) -> Iterator[Found]:
    """A Transformers model without its configuration.

    There is an index or a tokenizer beside the weights, but no config.json: loaders that rely on it cannot open the
    model. Download it; without it the audit has nothing to compare the tensors with.
    """
    headers = [header for header in subject.headers if header.format == "safetensors"]
    adapter = subject.result is not None and subject.result.adapter is not None
    if not headers or adapter or subject.config is not None or subject.alone or not subject.checkpoint:
        return
    beside = {"tokenizer.json", "tokenizer_config.json", "generation_config.json", "model.safetensors.index.json"}
    names = {entry.name for entry in subject.entries if entry.folder == subject.folder}
    others = {"model_index.json", "modules.json", configs.ADAPTER_FILE, "open_clip_config.json"}
    if names & beside and not names & {*configs.FILES, *others}:
        yield Found("no config.json beside the weights", headers[0].path)


@rule("tensor-in-two-files", "consistent", "warning")
def tensor_in_two_files(subject: Subject) -> Iterator[Found]:
    """A tensor is stored in two of the checkpoint's files.

    Which copy is loaded depends on the order of the files. Remove one. An error if their shapes differ.
    """
    if len(subject.headers) < 2 or not _one_set(subject):
        return
    names = Counter(tensor.name for header in subject.headers for tensor in header.tensors)
    twice = {name for name, number in names.items() if number > 1}
    if not twice:
        return
    first: dict[str, tuple[str, tuple[int, ...]]] = {}
    told = 0
    for header in subject.headers:
        for tensor in header.tensors:
            if tensor.name in twice:
                path, shape = first.setdefault(tensor.name, (header.path, tensor.shape))
                if path != header.path and told < 10:
                    told += 1
                    severity: Severity = "warning" if shape == tensor.shape else "error"
                    yield Found(f"also stored in {path}", header.path, tensor.name, severity)
    if len(twice) > told:
        yield Found(f"{plural(len(twice), 'tensor')} stored twice in all", None)


def _one_set(subject: Subject) -> bool:
    """Whether the files are one checkpoint's shards, and not several models in one folder."""
    indexed = subject.checkpoint is not None and subject.checkpoint.index is not None
    return indexed or all(shard_of(header.path) for header in subject.headers)


@rule("gguf-vocabulary", "consistent", "error")
def gguf_vocabulary(subject: Subject) -> Iterator[Found]:
    """A GGUF's token list and its embedding differ in length.

    llama.cpp takes the number of rows from the list, and refuses the file.
    """
    for header in subject.all_headers:
        tokens = _items(header.metadata, "tokenizer.ggml.tokens") if header.format == "gguf" else None
        embedding = next((tensor for tensor in header.tensors if tensor.name == "token_embd.weight"), None)
        if tokens is not None and embedding is not None and len(embedding.shape) == 2 and embedding.shape[0] != tokens:
            what = f"{plural(tokens, 'token')} in the list, {plural(embedding.shape[0], 'row')} in the embedding"
            yield Found(what, header.path, embedding.name)


def _items(metadata: Mapping[str, Any], key: str) -> int | None:
    """The length of a list among a GGUF's key-values, without decoding the list."""
    return metadata.fields[key].items if isinstance(metadata, KeyValues) and key in metadata else None


@rule("chat-template", "consistent", "warning")
def chat_template(subject: Subject) -> Iterator[Found]:
    """The chat template differs between files, or a chat model has no template.

    Programs disagree about which file takes precedence, so each sends the model different prompts. Only a note for a
    model named as a chat model that has no template.
    """
    found: dict[tuple[str, str], tuple[str, str]] = {}
    models = {path: each.model for each in variants(subject.place.files) for path in each.paths}
    any_template = False
    for template in templates(subject):
        any_template = True
        own = (template.text or "").strip()
        # Two GGUF files in one folder may belong to unrelated models.
        model = models.get(template.path, "") if template.path.endswith(".gguf") else ""
        path, text = found.setdefault((model, template.name), (template.path, own))
        beside = template.path != path and template.path.rpartition("/")[0] == path.rpartition("/")[0]
        if beside and template.text is not None and own != text:
            yield Found(f"the template `{template.name[:40]}` differs from that in {path}", template.path)
    names = f"{subject.target} {subject.cache_name or ''}".replace("_", "-")
    tokenizer = f"{subject.folder}tokenizer_config.json"
    if not any_template and tokenizer in subject.by_path and _CHAT_NAME.search(names):
        yield Found("named as a chat model, but has no chat template", tokenizer, severity="info")


def _config_path(subject: Subject) -> str | None:
    return subject.config.path if subject.config else None
