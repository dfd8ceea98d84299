"""Do the tokenizer, the embedding, the special tokens and the chat template agree?"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from inspector.auditing import data
from inspector.auditing.loading.accepted_values import documents
from inspector.auditing.readers.templates import templates
from inspector.auditing.readers.tokenizer_json import assigned, highest_token, refusals
from inspector.auditing.rule import Found, rule
from inspector.auditing.subject import Subject
from inspector.bridge.summary import of_role
from inspector.formats.gguf.values import KeyValues
from inspector.model import Labelled, Severity
from inspector.opening.variants import variants
from inspector.quantization.scheme import FLOATS
from inspector.units import integer, plural

_NAMES = data.names("tokens")


def embedding_of(subject: Subject) -> Labelled | None:
    """The text model's token embedding, if whole and two-dimensional; None if packed, or if there are two."""
    roles = subject.result.roles if subject.result else ()
    only = sum(each.tensors for each in roles if each.role == "embed_tokens") == 1
    return _largest_embedding(subject) if only else None


#: Fields with a token's id, and whether a loader indexes the embedding with it immediately.
_IDS: Mapping[str, bool] = _NAMES["ids"]
#: Types of text models whose class never reads some: SigLIP's has CLIP's by default, beyond its own vocabulary
#: (Transformers 5.24, `modeling_siglip.py` takes the last token's state).
_UNREAD: Mapping[str, list[str]] = _NAMES["unread_ids"]


@rule("token-id", "consistent", "error")
def token_id(subject: Subject) -> Iterator[Found]:
    """A special token's id is beyond the embedding.

    PyTorch refuses to create an embedding whose padding row is out of range; generation does not stop at an end token
    that the model cannot produce. The configuration belongs to another model, or tokens were added without resizing the
    embedding. Only a warning for tokens that just the tokenizer has.
    """
    embedding = embedding_of(subject)
    if embedding is None:
        return
    rows = embedding.tensor.shape[0]
    for name in ("config.json", "generation_config.json"):
        path = subject.folder + name
        own = subject.document(path)
        text = own.get("text_config")
        for scope in (own, text if isinstance(text, Mapping) else {}):
            unread = _UNREAD.get(str(scope.get("model_type")), ())
            for field in {**_IDS, **dict.fromkeys(_further_ids(scope), False)}:
                for number in _whole_numbers(scope.get(field)):
                    if number >= rows and field not in unread:
                        what = f"{field} is {integer(number)}, but the embedding has {plural(rows, 'row')}"
                        severity: Severity = "error" if _IDS.get(field) and name == "config.json" else "warning"
                        yield Found(what, path, embedding.tensor.name, severity)
    path = subject.folder + "tokenizer_config.json"
    added = subject.document(path).get("added_tokens_decoder")
    ids = [number for number in added if number.isdecimal() and len(number) < 10] if isinstance(added, dict) else ()
    if beyond := [number for number in map(int, ids) if number >= rows]:
        what = f"added tokens up to {integer(max(beyond))}, beyond the embedding's {plural(rows, 'row')}"
        yield Found(what, path, embedding.tensor.name, "warning")


def _further_ids(scope: Mapping[str, Any]) -> list[str]:
    """Fields with the ids of other tokens, such as image tokens and the start of generation."""
    ids = (field for field in scope if field.endswith(("_token_id", "_token_index")) and field not in _IDS)
    return [field for field in ids if not field.startswith("_")]  # reserved by the class


def _whole_numbers(value: Any) -> Iterator[int]:
    for each in value if isinstance(value, list) else [value]:
        if type(each) is int:
            yield each


@rule("tokenizer", "consistent", "error")
def tokenizer(subject: Subject) -> Iterator[Found]:
    """A tokenizer.json that the tokenizers library refuses.

    It has no model, its model has no vocabulary or no merges, or it contains zeros where a part was never downloaded.
    Download it again. A file of over 2 MB is searched for zeros, but not parsed.
    """
    for entry in subject.named("tokenizer.json"):
        if entry.name != "tokenizer.json" or entry.size <= 1:
            continue
        raw = subject.whole(entry, LARGEST_TOKENIZER)
        if raw[:64].lstrip(b"\xef\xbb\xbf \t\r\n")[:1] not in (b"{", b"["):
            continue  # identified by its content instead
        if b"\0" in raw:
            yield Found(f"zeros from byte {integer(raw.index(0))} on: a part was never downloaded", entry.path)
        elif len(raw) <= _PARSED:
            if wrong := _refusal(raw):
                yield Found(f"{wrong}: download it again", entry.path)
        elif b'"model"' not in raw or b'"vocab"' not in raw:
            yield Found("it has no model: download it again", entry.path)


#: The most bytes of a tokenizer.json that are searched, and that are parsed: real ones have up to 35 MB.
LARGEST_TOKENIZER = 64 * 1024 * 1024
_PARSED = 2 * 1024 * 1024


def _refusal(raw: bytes) -> str | None:
    """Why the tokenizers library would reject a tokenizer; None if it would accept it, as far as checked."""
    try:
        own = json.loads(raw)
    except (ValueError, RecursionError) as error:
        return f"no JSON document: {str(error)[:80]}"
    model = own.get("model") if isinstance(own, dict) else None
    if isinstance(own, dict) and {"error", "message"} & own.keys() and model is None:
        return None  # a server's message
    if not isinstance(model, dict):
        return "it has no model" if isinstance(own, dict) else "no JSON object"
    vocabulary, kind = model.get("vocab"), model.get("type")
    if not isinstance(vocabulary, dict | list):
        return "its model has no vocabulary"
    if (wrong := next(refusals(own), None)) is not None:
        return f"the library refuses it: {wrong}"
    if kind == "BPE" and isinstance(vocabulary, dict) and (lost := unknown_piece(model["merges"], vocabulary)):
        return f"a merge produces {lost!r:.60}, which the vocabulary does not have"
    return None


def unknown_piece(merges: Iterable[Any], vocabulary: Mapping[str, Any]) -> str | None:
    """A piece that a merge, as a text or a pair, joins or produces and that is not a token; None if there is none."""
    for merge in merges:
        pieces = merge.split(" ") if isinstance(merge, str) else merge
        if not (isinstance(pieces, list) and len(pieces) == 2 and all(isinstance(each, str) for each in pieces)):
            continue
        for piece in (*pieces, "".join(pieces)):
            if piece not in vocabulary:
                return str(piece)
    return None


#: Fields of tokenizer_config.json with a special token's text.
SPECIAL = tuple(_NAMES["special"])


@rule("special-token", "consistent", "warning")
def special_token(subject: Subject) -> Iterator[Found]:
    """The tokenizer's configuration names a special token that is missing from tokenizer.json.

    Transformers adds it as a new token, with an id that the model was not trained with or has no row for. The two files
    belong to different models.
    """
    for entry, own in documents(subject, "tokenizer_config.json"):
        path = entry.folder + "tokenizer.json"
        size = subject.place.files.get(path, 0)
        if not 16 < size <= LARGEST_TOKENIZER or not own:
            continue
        raw = subject.head(path, size)
        if b'"vocab"' not in raw:
            continue  # no tokenizer, which another rule reports
        absent = []
        for field in SPECIAL:
            token = own.get(field)
            token = token.get("content") if isinstance(token, Mapping) else token
            if isinstance(token, str) and token and not _contains(token, raw):
                absent.append(f"{field} {token!r:.40}")
        if absent:
            yield Found(f"tokenizer.json does not have {', '.join(absent)}", entry.path)


def _contains(token: str, raw: bytes) -> bool:
    """Whether a JSON document contains a text, escaped or not."""
    forms = {json.dumps(token), json.dumps(token, ensure_ascii=False)}
    return any(form.encode("utf-8", "surrogatepass") in raw for form in forms)


@rule("tokenizer-size", "consistent", "error")
def tokenizer_size(subject: Subject) -> Iterator[Found]:
    """The tokenizer has ids for which the embedding has no row.

    Such a token crashes the model, or makes it read out of bounds. The tokenizer belongs to another model, or
    tokens were added without resizing the embedding. More rows than tokens are padding, which is fine. Only a warning
    if just added tokens are out of range: Gemma 3's smallest model has one that no text uses.
    """
    embedding = _largest_embedding(subject)
    if embedding is None:
        return
    rows = embedding.tensor.shape[0]
    highest = highest_token(subject, subject.folder)
    if highest is not None and (most := max(highest.known, highest.added)) >= rows and not _are_mapped(subject, most):
        what = f"token ids go up to {integer(most)}, but the embedding has {plural(rows, 'row')}"
        given = assigned(subject, highest.path) if highest.known < rows else None
        if given is not None and given < rows:
            return
        severity: Severity = "error" if highest.known >= rows else "warning"
        yield Found(what, highest.path, embedding.tensor.name, severity)


def _are_mapped(subject: Subject, highest: int) -> bool:
    """Whether a list beside the embedding gives every token its row, as model2vec 0.10 shares rows among tokens."""
    tensors = (each for header in subject.headers for each in header.tensors if each.name == "mapping")
    return any(len(each.shape) == 1 and each.shape[0] > highest and each.dtype[:1] in "IU" for each in tensors)


def _largest_embedding(subject: Subject) -> Labelled | None:
    """The text model's token embedding, whole and two-dimensional; of several the largest. None if it is packed."""
    found = of_role(subject.result.tensors, "embed_tokens") if subject.result else ()
    whole = [each for each in found if each.key.part == "weight" and len(each.tensor.shape) == 2]
    if not whole or whole[0].key.tower not in ("text", "decoder", "encoder"):
        return None
    largest = max(whole, key=lambda each: each.tensor.shape[0])
    return largest if largest.tensor.dtype in FLOATS else None  # a packed one has other rows


@rule("gguf-vocabulary", "consistent", "error")
def gguf_vocabulary(subject: Subject) -> Iterator[Found]:
    """A GGUF's token list and its embedding differ in length.

    llama.cpp takes the number of rows from the list, and refuses the file.
    """
    for header in subject.all_headers:
        metadata = header.metadata
        listed = metadata.fields.get("tokenizer.ggml.tokens") if isinstance(metadata, KeyValues) else None
        tokens = listed.items if listed else None  # the list is not decoded
        embedding = next((tensor for tensor in header.tensors if tensor.name == "token_embd.weight"), None)
        if tokens is not None and embedding is not None and len(embedding.shape) == 2 and embedding.shape[0] != tokens:
            what = f"{plural(tokens, 'token')} in the list, {plural(embedding.shape[0], 'row')} in the embedding"
            yield Found(what, header.path, embedding.name)


_CHAT_NAME = re.compile(r"(?i)(?<![a-z])(chat|instruct|it)(?![a-z])")


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
