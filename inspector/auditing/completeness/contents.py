"""Does each file's content match its name, and are all its bytes present?

A failed download leaves a server's message, zeros or part of the file under the right name. A file's first bytes
identify its kind; the rest is not read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from inspector.auditing.completeness.shards import stands_in
from inspector.auditing.rule import Found, rule
from inspector.auditing.subject import Subject
from inspector.model import Severity
from inspector.opening import configs
from inspector.sources.filenames import WEIGHTS
from inspector.sources.listing import Entry
from inspector.units import integer, plural

#: Weights of other programs, identified by their first bytes alone.
_TORCH = (".pt", ".pth", ".ckpt")
_TORCH_BIN = re.compile(r"(pytorch_model|diffusion_pytorch_model|adapter_model|open_clip_pytorch_model)[^/]*\.bin")
#: SentencePiece's model: a message of Protocol Buffers, its first field with a length. Llama 3's tokenizer.model is
#: tiktoken's list of tokens in base 64.
_SPM = (".model", ".spm")
_TIKTOKEN = re.compile(rb"[A-Za-z0-9+/]+=* \d+\r?\n")
#: Data whose every byte is expected to be present.
_DATA = (
    *WEIGHTS,
    *_TORCH,
    *_SPM,
    *(".bin", ".json", ".jinja", ".txt", ".tiktoken", ".onnx", ".msgpack", ".h5", ".npz", ".npy", ".pb", ".tflite"),
)
#: Files that never legitimately begin with zeros.
_MARKED = (*WEIGHTS, *_TORCH, *_SPM, ".json", ".jinja", ".txt", ".tiktoken", ".onnx", ".h5", ".npz", ".npy", ".pb")
#: The bytes examined if a file begins with zeros.
_BLANK = 4096


@rule("empty-file", "whole", "error")
def empty_file(subject: Subject) -> Iterator[Found]:
    """A data file of zero bytes.

    The download never began, or the disk was full. Download the file again. An empty list of added tokens or merges is
    not reported.
    """
    for entry in subject.named(*_DATA):
        told = entry.path.endswith(WEIGHTS) or entry.name.endswith(".json")  # by their readers
        if not entry.size and entry.kind == "file" and not told and _is_weights(entry):
            yield Found("a file of zero bytes: download it again", entry.path)


def _is_weights(entry: Entry) -> bool:
    name = entry.name.lower()
    return name.endswith((*_TORCH, *_SPM, ".onnx", ".h5", ".msgpack", ".tiktoken")) or bool(_TORCH_BIN.fullmatch(name))


@rule("blank-file", "whole", "error")
def blank_file(subject: Subject) -> Iterator[Found]:
    """A file that begins with nothing but zeros.

    Its space was reserved, and the download never filled it. Download the file again.
    """
    for entry in subject.named(*_MARKED, ".bin"):
        name = entry.name.lower()
        marked = name.endswith(_MARKED) or _TORCH_BIN.fullmatch(name)
        if marked and entry.size >= 8 and not any(subject.head(entry.path, 8) or b"x"):
            start = subject.head(entry.path, _BLANK)
            if not any(start):
                yield Found(f"the first {plural(len(start), 'byte')} are zero: download it again", entry.path)


@rule("sparse-hole", "whole", "error")
def sparse_hole(subject: Subject) -> Iterator[Found]:
    """A large part of the file was never written.

    The file has its full size, but its end, or much of it, takes up no space on the disk: a download reserved the space
    and stopped. Checked where the file system can tell. A file of which only the header was written is not a download:
    tests and tools create such files.
    """
    ahead = {header.path: header.bytes_in("header") + header.bytes_in("padding") for header in subject.all_headers}
    for entry in subject.named(*WEIGHTS, *_TORCH, ".bin", ".onnx"):
        file = subject.on_disk(entry.path) if entry.size >= _LEAST_HOLE else None
        if file is None:
            continue
        written, beyond = _extents(file, entry.size)
        if beyond > ahead.get(entry.path, 0) + _BLOCK and entry.size - written >= entry.size // 4:
            what = f"{plural(entry.size - written, 'byte')} of {plural(entry.size, 'byte')} were never written"
            yield Found(f"{what}: download it again", entry.path)


#: Smaller files may fit in one block of the disk.
_LEAST_HOLE = 32 * 1024
#: The disk's blocks: the last of a header reaches into the data.
_BLOCK = 8 * 1024
_MOST_EXTENTS = 1_000


def _extents(path: Path, size: int) -> tuple[int, int]:
    """(bytes allocated on the disk, end of the last allocated range); all bytes if the system does not say."""
    if not hasattr(os, "SEEK_HOLE"):
        return size, 0
    try:
        with path.open("rb", buffering=0) as file:
            written = end = 0
            for _ in range(_MOST_EXTENTS):
                start = file.seek(end, os.SEEK_DATA)
                end = file.seek(start, os.SEEK_HOLE)
                written += end - start
                if end >= size:
                    break
            return written, end
    except OSError as error:
        return (written, end) if error.errno == 6 and end else (size, 0)  # ENXIO: only a hole from there on


@rule("error-message", "whole", "error")
def error_message(subject: Subject) -> Iterator[Found]:
    """A server's error message, saved under a data file's name.

    An API answered "not found" or "not allowed", and the answer was saved. Download the file again; a gated
    repository needs a token.
    """
    for entry in subject.named(*_DATA):
        if 0 < entry.size <= _LONGEST_MESSAGE and (told := _message(subject, entry)) is not None:
            yield Found(f"a server's message instead of the file: {told!r:.120}; download it again", entry.path)


#: The longest error message, in bytes: a longer document is a tokenizer or a configuration.
_LONGEST_MESSAGE = 16 * 1024
#: Fields of servers' messages that data does not have: an object with nothing else is a message.
_SAID = frozenset({"error", "errors", "message", "detail", "details", "error_description", "msg", "errorMessage"})
_BESIDE = frozenset(
    {
        *(
            *("status", "statusCode", "status_code", "code", "type", "title", "timestamp", "path", "request_id"),
            "requestId",
        ),
        *("instance", "traceId", "error_code", "errorCode", "success", "url", "documentation_url", "reason", "data"),
        *("error_type", "warnings", "url", "method", "ok"),
    }
)
#: How plain messages of the Hub, of storage and of proxies begin.
_WORDS = re.compile(
    r"(entry not found|repository not found|revision not found|not found|40[134][ :]|"
    r"invalid (username|credentials)|"
    r"access (to model|denied)|unauthorized|forbidden|bad gateway|service unavailable|internal server error|"
    r"gateway time-?out|too many requests|request (timed out|timeout)|rate limit|you need to|error code:|error:)",
    re.IGNORECASE,
)


def _message(subject: Subject, entry: Entry) -> str | None:
    start = subject.head(entry.path, 64).lstrip(b"\xef\xbb\xbf \t\r\n")
    if start[:1] == b"{":
        return _of_object(_loaded(subject, entry.path))
    if start[:1] == b'"' or start[:1].isalnum():
        try:
            text = start.decode().strip('"')
        except UnicodeDecodeError:
            return None
        prose = entry.name.lower().endswith((".txt", ".jinja"))
        return text if _WORDS.match(text) and not (prose and entry.size > 256) else None
    return None


def _loaded(subject: Subject, path: str) -> Any:
    try:
        return configs.loads(subject.text(path, _LONGEST_MESSAGE) or "null")
    except ValueError:
        return None


def _of_object(value: Any) -> str | None:
    """The text of a message; None if an object is not a message."""
    if not isinstance(value, Mapping) or not _SAID & value.keys() or value.keys() - _SAID - _BESIDE:
        return None
    said = next(value[key] for key in value if key in _SAID)
    return str(said.get("message", said) if isinstance(said, Mapping) else said)


@rule("endless-name", "whole", "error")
def endless_name(subject: Subject) -> Iterator[Found]:
    """A tensor's name is implausibly long.

    Programs scan names repeatedly: a name of a megabyte is meant to cost them time and memory. A warning above 1,000
    characters, an error above 10,000.
    """
    for header in subject.all_headers:
        longest = max((tensor.name for tensor in header.tensors), key=len, default="")
        if len(longest) > _LONG_NAME:
            severity: Severity = "error" if len(longest) > 10 * _LONG_NAME else "warning"
            yield Found(f"a name of {integer(len(longest))} characters", header.path, longest, severity)


_LONG_NAME = 1_000


@rule("wrong-kind", "whole", "error")
def wrong_kind(subject: Subject) -> Iterator[Found]:
    """A file is not what its name says.

    A tokenizer model that is text, a JSON document of a single value, PyTorch weights that start like none of its
    formats, a vocabulary with zero bytes in it: loaders refuse such a file. Download it again.
    """
    for entry in subject.entries:
        judged = entry.kind == "file" and entry.size and not entry.outside
        if judged and (wrong := _wrong(subject, entry) or _no_text(subject, entry)):
            yield Found(f"{wrong}: download it again", entry.path)


def _wrong(subject: Subject, entry: Entry) -> str | None:
    name = entry.name.lower()
    if name.endswith(_SPM) and _is_tokenizer(name):
        start = subject.head(entry.path, 64)
        if start[:1] != b"\n" and not _TIKTOKEN.match(start) and any(start) and not stands_in(start):
            return "neither a SentencePiece nor a tiktoken model"
        if start[:1] == b"\n" and not _whole(subject.whole(entry, MOST_PIECES)):
            return "a truncated or overwritten SentencePiece model"
    elif _TORCH_BIN.fullmatch(name) or name.endswith((".pt", ".pth")):
        start = subject.head(entry.path, 64)
        if start and any(start) and _is_text(start) and not start.startswith(_PROTOCOL_0) and not stands_in(start):
            return "text, not a PyTorch file"
        if start.startswith(b"PK\x05\x06"):
            return "an empty archive"
        if _TORCH_BIN.fullmatch(name) and any(start) and not _begins_as_torch(subject, entry, start):
            return "not a PyTorch file"
    elif name in ("merges.txt", "vocab.txt") or name.endswith(".tiktoken"):
        raw = subject.whole(entry, MOST_TEXT)
        if any(raw[:8]) and b"\0" in raw:
            return f"zero bytes at byte {raw.index(0)} of a text file"
    return None


def _no_text(subject: Subject, entry: Entry) -> str | None:
    """Why a chat template is not text; None for other files."""
    if entry.name != "chat_template.jinja" or entry.size > MOST_TEXT:  # which is implausibly long, as another rule says
        return None
    return "no UTF-8 text" if subject.text(entry.path, MOST_TEXT) is None else None


def _begins_as_torch(subject: Subject, entry: Entry, start: bytes) -> bool:
    """Whether a file is an archive, a pickle, or the tar of PyTorch's first releases; or another rule identifies it."""
    told = any(header.path == entry.path for header in subject.all_headers) or stands_in(start)
    return told or start.startswith((b"PK", b"\x80", *_PROTOCOL_0)) or subject.span(entry.path, 257, 5) == b"ustar"


#: The most bytes of a SentencePiece model that are parsed; Gemma's takes 4 MB. And of a list of tokens, or a template.
MOST_PIECES, MOST_TEXT = 16 * 1024 * 1024, 16 * 1024 * 1024


def _whole(raw: bytes) -> bool:
    """Whether a Protocol Buffers message ends exactly at the end of its last field."""
    at, end = 0, len(raw)
    while at < end:
        if raw[at] & 128:
            return True  # an unknown field number: an extension's
        kind, number, at = raw[at] & 7, raw[at] >> 3, at + 1
        if not number:
            return False
        length = shift = 0
        while kind in (0, 2) and at < end:
            byte, at = raw[at], at + 1
            length |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        else:
            if kind not in (1, 5):
                return False
            length = 8 if kind == 1 else 4
        at += length if kind != 0 else 0
    return at == end


#: How pickles of protocol 0 start: `(dp0`, `cmodule`, `}`, `]`; and how a TorchScript archive of Python code does.
_PROTOCOL_0 = (b"(", b"c", b"}", b"]", b"PK")
_TOKENIZER_MODELS = ("tokenizer", "spiece", "sentencepiece", "source", "target", "vocab")


def _is_tokenizer(name: str) -> bool:
    return name.startswith(_TOKENIZER_MODELS)


def _is_text(start: bytes) -> bool:
    return all(byte in b"\t\r\n" or 32 <= byte < 127 for byte in start)
