"""Can the tokenizer be built from its files, and do it, the embedding and the special tokens agree?"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import partial
from itertools import islice
from typing import Any

from inspector.auditing import data
from inspector.auditing.completeness.companions import NO_VOCABULARY, VOCABULARY
from inspector.auditing.loading.accepted_values import documents, fields, reported, shown, wrapped, wrong_kind
from inspector.auditing.readers.templates import judge, templates
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
            for field in {**_IDS, **dict.fromkeys(_further_ids(scope), False)}:
                for number in _whole_numbers(scope.get(field)):
                    if number >= rows:
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
    for entry, own in documents(subject, _FILE):
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


_FILE = "tokenizer_config.json"
#: What was written by hand of tokenizers' files and fields.
_table = partial(data.overlay, "tokenizers")


@rule("tokenizer-files", "consistent", "error")
def tokenizer_files(subject: Subject) -> Iterator[Found]:
    """The tokenizer class that tokenizer_config.json names needs files that are missing.

    GPT-2's needs vocab.json and merges.txt, Llama's tokenizer.model; each accepts tokenizer.json instead. Transformers
    fails, or creates a tokenizer with an empty vocabulary. A file was lost or renamed, or the configuration belongs to
    another model.
    """
    classes, table = fields()["tokenizers"]["classes"], _table()
    for entry, own in documents(subject, _FILE):
        kind = own.get("tokenizer_class")
        names = subject.names_beside(entry)
        if not isinstance(kind, str) or own.get("auto_map") or "tokenizer.json" in names:
            continue
        if not kind and _has_vocabulary(names):
            yield Found("tokenizer_class is empty, and there is no tokenizer.json to go by", entry.path)
            continue
        whole = names & {*table["whole_files"]}
        kind = kind if kind in table["any_class"] else kind.removesuffix("Fast")
        if kind in table["any_class"]:
            if (
                not whole
                and not any(name.endswith((".tiktoken", ".model")) for name in names)
                and _has_vocabulary(names)
            ):
                yield Found(f"{kind} needs tokenizer.json, which is missing: download it", entry.path)
            continue
        needed = [name for name in classes.get(kind, ()) if name != "tokenizer.json"]
        missing = [name for name in needed if name not in names]
        unknown = kind not in classes and kind not in fields()["tokenizers"]["others"]
        near = get_close_matches(kind, classes, 1, 0.9) if unknown and not whole else []
        if near:
            yield Found(f"{kind:.60} is unknown to Transformers: did you mean {near[0]}?", entry.path)
        instead = whole and needed != ["vocab.txt"]  # a list of words cannot be made of pieces
        if needed and len(missing) == len(needed) and _has_vocabulary(names) and not instead:
            yield Found(f"{kind} needs {' and '.join(needed)}, or tokenizer.json: download them", entry.path)


def _has_vocabulary(names: frozenset[str]) -> bool:
    """Whether there is anything like a vocabulary: if there is none, another rule reports it."""
    return any(VOCABULARY.search(name) for name in names - NO_VOCABULARY)


@rule("tokenizer-field", "consistent", "error")
def tokenizer_field(subject: Subject) -> Iterator[Found]:
    """A field of tokenizer_config.json has a value of a type that Transformers does not accept.

    A special token is a string, or an object that contains it; the class is a string; texts are padded and truncated on
    the left or the right. Anything else ends with an error.
    """
    for entry, own in documents(subject, _FILE):
        for field in SPECIAL:
            token = own.get(field)
            text = token.get("content") if isinstance(token, Mapping) else token
            if field == "unk_token" and text == "":
                yield Found("unk_token is an empty string: the search for unknown text never ends", entry.path)
            if token is not None and not isinstance(text, str):
                yield Found(f"{field} is {shown(token)}, but should be a string", entry.path)
        kind = own.get("tokenizer_class")
        if kind is not None and not isinstance(kind, str):
            yield Found(f"tokenizer_class is {shown(kind)}, but should be a string", entry.path)
        yield from reported(_wrong_kinds(own), entry.path)


def _wrong_kinds(own: Mapping[str, Any]) -> Iterator[str]:
    """Fields other than the special tokens and the class."""
    if (inner := wrapped(own, "tokenizer_class")) is not None:
        yield f"everything is nested under {inner!r:.40}, where Transformers does not look"
    table = _table()
    flags, sided, sides = table["flags"], table["sided"], table["sides"]
    for field, value in own.items():
        known = field not in (*SPECIAL, *flags, *sided) and value is not None
        if known and (should := wrong_kind("tokenizer", "any", field, value)):
            yield f"{field} is {shown(value)}, but should be {should}"
    for field in sided:
        side = own.get(field, "right")
        if side is not None and side not in sides:
            yield f"{field} is {shown(side)}, but should be one of {', '.join(sides)}"
    for field in flags:
        if own.get(field) is not None and not isinstance(own[field], bool):
            yield f"{field} is {shown(own[field])}, but should be true or false"
    extra = own.get("extra_special_tokens")
    for name, token in extra.items() if isinstance(extra, Mapping) else ():
        if not isinstance(token, str | Mapping):
            yield f"extra_special_tokens.{name:.40} is {shown(token)}, but should be a string"
    yield from _wrong_descriptions(own.get("added_tokens_decoder"))


def _wrong_descriptions(tokens: Any) -> Iterator[str]:
    """Added tokens: an object of objects by id, each with a text and flags that are true or false."""
    if tokens is not None and not isinstance(tokens, Mapping):
        yield "added_tokens_decoder is not an object"
    for number, token in tokens.items() if isinstance(tokens, Mapping) else ():
        if not number.isdecimal():
            yield f"added_tokens_decoder has the key {number!r:.40}, but should have ids"
        elif not isinstance(token, Mapping) or not isinstance(token.get("content"), str):
            yield f"added_tokens_decoder.{number} has no text"
        elif odd := [mark for mark in _table()["token_flags"] if mark in token and not isinstance(token[mark], bool)]:
            yield f"added_tokens_decoder.{number}.{odd[0]} is {shown(token[odd[0]])}, but should be true or false"
        else:
            continue
        return


@rule("template-names", "consistent", "warning")
def template_names(subject: Subject) -> Iterator[Found]:
    """A chat template fails on every conversation, because Jinja lacks a filter, test or function that it uses.

    Transformers adds only `raise_exception` and `strftime_now` to Jinja's own. What a template uses only under a
    condition is not reported. The template was edited, or written for another program: get the model's original.
    """
    of_headers = {header.path for header in subject.all_headers}  # of GGUF, rendered by llama.cpp's own engine
    for template in templates(subject):
        if template.text is not None and template.path not in of_headers and _is_used_by_transformers(template.path):
            for what in judge(template.text).absent[:3]:
                yield Found(
                    f"the template `{template.name[:40]}` uses {what}, which Jinja does not have", template.path
                )


def _is_used_by_transformers(path: str) -> bool:
    """Whether Transformers takes a template from a file: others may be rendered by other programs."""
    folder, _, name = path.rpartition("/")
    return name.endswith(".json") or name == "chat_template.jinja" or folder.endswith("additional_chat_templates")


@rule("added-tokens", "consistent", "warning")
def added_tokens(subject: Subject) -> Iterator[Found]:
    """Added tokens of tokenizer.json do not fit the vocabulary or the model.

    An added token has the id of another token, so that the library gives it a new one; or the post-processor adds ids
    for which the embedding has no row. The file was edited, or belongs to another model. A file of over 2 MB is not
    checked.
    """
    for entry in subject.named("tokenizer.json"):
        if entry.name == "tokenizer.json" and entry.size <= _MOST_JSON:
            own = subject.json(entry.path, _MOST_JSON)
            if isinstance(own, dict):
                yield from reported(
                    (*_ids_of_other_tokens(own), *_ids_beyond_the_embedding(subject, entry.folder, own)), entry.path
                )


_MOST_JSON = 2 * 1024 * 1024


def _ids_of_other_tokens(own: Mapping[str, Any]) -> Iterator[str]:
    model = own.get("model")
    vocabulary = model.get("vocab") if isinstance(model, Mapping) else None
    if not isinstance(vocabulary, Mapping):
        return
    names = {number: token for token, number in vocabulary.items() if type(number) is int}
    for token in own.get("added_tokens") or ():
        text, number = (token.get("content"), token.get("id")) if isinstance(token, Mapping) else (None, None)
        other = names.get(number) if type(number) is int else None
        if isinstance(text, str) and other not in (None, text) and text not in vocabulary:
            yield f"the added token {text!r:.40} has the id {number}, which is that of {other!r:.40}"
            return


def _ids_beyond_the_embedding(subject: Subject, folder: str, own: Mapping[str, Any]) -> Iterator[str]:
    """Ids that the post-processor puts around a text."""
    embedding = embedding_of(subject) if folder == subject.folder else None
    after = own.get("post_processor")
    if embedding is None or not isinstance(after, Mapping):
        return
    rows, tokens = max(embedding.tensor.shape), after.get("special_tokens")
    pieces = tokens.values() if isinstance(tokens, Mapping) else ()
    of_template = (each.get("ids") for each in pieces if isinstance(each, Mapping))
    listed = [*of_template, after.get("sep"), after.get("cls")]  # the last two are a text and its id
    ids = [number for each in listed if isinstance(each, list) for number in each if type(number) is int]
    if ids and max(ids) >= rows:
        yield f"the post-processor adds the id {integer(max(ids))}, but the embedding has {plural(rows, 'row')}"


@rule("vocabulary-lines", "consistent", "error")
def vocabulary_lines(subject: Subject) -> Iterator[Found]:
    """A list of tokens or merges lacks what the tokenizer needs.

    merges.txt joins pieces that vocab.json does not have, or vocab.txt has no token for unknown text: the library
    refuses the file. It was truncated, or belongs to another model. Not checked if there is a tokenizer.json, which is
    read instead.
    """
    for entry, own in documents(subject, _FILE):
        names = subject.names_beside(entry)
        if "tokenizer.json" in names:
            continue
        merges, vocabulary = entry.folder + "merges.txt", entry.folder + "vocab.json"
        text = subject.text(merges, MAX_LIST) if "merges.txt" in names else None
        read = subject.json(vocabulary, MAX_LIST) if "vocab.json" in names else None
        lines, known = (text or "").split("\n"), read if isinstance(read, dict) else None
        rows = (line.rstrip("\r") for line in lines if not line.startswith("#version"))
        broken = next((each for each in lines if each.strip() and each[0] != "#" and len(each.split(" ")) != 2), None)
        if broken is not None:
            yield Found(f"the line {broken!r:.40} is not a pair of pieces", merges)
        elif text and known is not None and (lost := unknown_piece(rows, known)):
            yield Found(f"it joins {lost!r:.60}, which vocab.json does not have", merges)
        elif text is not None and known and _lacks_merges(lines, known):
            yield Found("no merge in it: every word is split into its letters", merges, severity="warning")
        if known and (odd := _token_without_id(known)) is not None:
            yield Found(f"the token {odd!r:.40} has an id that is not a number", vocabulary)
        kind = str(own.get("tokenizer_class")).removesuffix("Fast")
        unknown = own.get("unk_token", "[UNK]")
        unknown = unknown.get("content") if isinstance(unknown, Mapping) else unknown
        words = subject.text(entry.folder + "vocab.txt", MAX_LIST) if kind in _table()["with_unknown_token"] else None
        if words and isinstance(unknown, str) and unknown not in {line.rstrip("\r") for line in words.split("\n")}:
            yield Found(f"no {unknown!r:.40} in it, which {kind} needs", entry.folder + "vocab.txt")


#: The most bytes of a list that is checked: those of 260,000 tokens take 7 MB.
MAX_LIST = 16 * 1024 * 1024


def _token_without_id(known: Mapping[str, Any]) -> str | None:
    """A token whose id is not a number, or negative; None if there is none, or none is a number: no vocabulary."""
    odd = [token for token, number in known.items() if type(number) is not int or number < 0]
    return odd[0] if odd and any(type(number) is int for number in known.values()) else None


#: Tokens of several letters in a vocabulary that only merges can put together.
_MERGED = 20


def _lacks_merges(lines: list[str], known: Mapping[str, Any]) -> bool:
    """Whether a list of merges has none, although the vocabulary has tokens of several letters."""
    longer = (token for token in known if len(token) > 1 and token[0] not in "<[")
    empty = not any(line.strip() and not line.startswith("#version") for line in lines)
    return empty and len(list(islice(longer, _MERGED))) == _MERGED
