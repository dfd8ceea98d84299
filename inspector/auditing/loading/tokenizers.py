"""Can the tokenizer be built from its files, with the fields of its configuration?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import partial
from itertools import islice
from typing import Any

from inspector.auditing import data
from inspector.auditing.completeness.companions import NO_VOCABULARY, VOCABULARY
from inspector.auditing.consistency.tokens import SPECIAL, embedding_of, unknown_piece
from inspector.auditing.loading.accepted_values import documents, fields, reported, shown, wrapped, wrong_kind
from inspector.auditing.readers.templates import judge, templates
from inspector.auditing.rule import Found, rule
from inspector.auditing.subject import Subject
from inspector.units import integer, plural

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
            piece = any(name.endswith((".tiktoken", ".model")) for name in names)
            if not whole and not piece and _has_vocabulary(names):
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
                what = f"the template `{template.name[:40]}` uses {what}, which Jinja does not have"
                yield Found(what, template.path)


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
                beyond = _ids_beyond_the_embedding(subject, entry.folder, own)
                yield from reported((*_ids_of_other_tokens(own), *beyond), entry.path)


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
        elif known == {}:
            yield Found("no token in it: every text is unknown to the model", vocabulary, severity="warning")
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
    enough = _MERGED if any(lines) else 2  # an empty file: the libraries write at least a line
    return empty and len(list(islice(longer, enough))) == enough
