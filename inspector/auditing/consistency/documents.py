"""Can the JSON documents beside the weights be read, and is the configuration among them?"""

from __future__ import annotations

import json
from collections.abc import Iterator

from inspector.auditing import data
from inspector.auditing.completeness.downloads import stands_in
from inspector.auditing.limits import MAX_DOCUMENT, MAX_DOCUMENTS
from inspector.auditing.rule import Found, rule
from inspector.auditing.subject import Subject
from inspector.opening import configs
from inspector.sources.listing import Entry
from inspector.units import plural

_NAMES = data.names("json")


@rule("document", "consistent", "error")
def document(subject: Subject) -> Iterator[Found]:
    """A JSON document beside the weights cannot be read.

    A tokenizer or a configuration that is empty, truncated or not JSON, or begins with a byte order mark: loading
    fails. Download it again. Of tokenizer.json and the vocabulary, which are large, only the start and the end are
    checked.
    """
    reported = {finding.path for finding in subject.checkpoint.findings} if subject.checkpoint else set()
    left = MAX_DOCUMENTS
    for entry in subject.named(*_DOCUMENTS):
        start = subject.head(entry.path, 64)
        unread = entry.kind != "file" or entry.outside or (entry.size and not start)
        if unread or entry.path in reported or stands_in(start):
            continue
        if not entry.size:
            yield Found("an empty file: download it again", entry.path)
        elif start.startswith(_MARK):
            what = "it begins with a byte order mark, which Python's json refuses: save it without one"
            yield Found(what, entry.path)
        elif entry.name in _LARGE:
            if wrong := _wrong_at_its_ends(start, subject.span(entry.path, max(0, entry.size - 64), 64)):
                yield Found(wrong, entry.path)
            elif start.lstrip()[:1] == b"[" and (entry.name != "vocab.json" or _is_of_tokenizer(subject, entry)):
                yield Found("a JSON list, but the tokenizer needs an object", entry.path)
        elif entry.size <= min(left, MAX_DOCUMENT):
            left -= entry.size
            if wrong := _wrong_with(subject.text(entry.path), entry.name):
                yield Found(wrong, entry.path)
        else:
            what = f"{plural(entry.size, 'byte')}, more than the audit reads of a document: not checked"
            yield Found(what, entry.path)


#: The byte order mark that some editors write at the start of UTF-8.
_MARK = b"\xef\xbb\xbf"
#: Documents that loaders read, and those among them too large to be parsed here.
_LARGE = ("tokenizer.json", "vocab.json", "added_tokens.json")
_DOCUMENTS = tuple(_NAMES["documents"])
#: Documents whose fields a loader accesses immediately.
_OBJECTS = tuple(_NAMES["objects"])


def _wrong_at_its_ends(start: bytes, end: bytes) -> str | None:
    """Why a large text is not JSON, by its first and its last bytes."""
    if not start.lstrip(b" \t\r\n").startswith((b"{", b"[")):
        return "not a JSON document: it does not start like one"
    closed = not end or end.rstrip().endswith((b"}", b"]"))
    return None if closed else "truncated: it does not end like a JSON document"


def _is_of_tokenizer(subject: Subject, entry: Entry) -> bool:
    """Whether a vocab.json is that of a tokenizer of Transformers: others have lists."""
    return bool(subject.names_beside(entry) & {"merges.txt", "tokenizer_config.json"})


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
