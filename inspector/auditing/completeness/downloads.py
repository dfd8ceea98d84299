"""Downloads that went wrong: other things in place of files, unfinished ones, links to nothing, bytes that are missing.

A failed download leaves zeros or part of the file under the right name. A file's first bytes identify its kind; the
rest is not read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from inspector.auditing import data
from inspector.auditing.readers import graphs
from inspector.auditing.rule import Found, rule
from inspector.auditing.subject import Subject
from inspector.model import Severity
from inspector.opening import configs
from inspector.sources.filenames import ENDS, OTHERS, PICKLED, WEIGHTS
from inspector.sources.listing import Entry
from inspector.units import integer, plural

_NAMES = data.names("downloads")
#: Suffixes of unfinished files: of browsers, download managers, and programs that copy between machines.
PARTIAL = tuple(_NAMES["partial"])
#: Suffixes of the state that a program keeps beside an unfinished file, appended to the file's name.
CONTROL = tuple(_NAMES["control"])
#: Temporary names of downloads: rsync's, those of AWS with eight digits, Ollama's parts.
_TEMPORARY = re.compile(_NAMES["temporary"])
_LFS = b"version https://git-lfs"
#: A pointer has three lines; real ones take about 130 bytes.
_LFS_SIZE = 1024
_HTML = re.compile(rb"(\xef\xbb\xbf)?\s*(<!doctype html|<html|<head|<\?xml)", re.IGNORECASE)
#: Weights of PyTorch, and models of tokenizers, by their suffixes.
TORCH, TOKENIZER_MODELS = (".pt", ".pth", ".ckpt"), (".model", ".spm")
#: Data whose every byte is expected to be present.
DATA = tuple(_NAMES["data"])
#: Companion files that are never legitimately a web page.
_NO_PAGES = tuple(_NAMES["no_pages"])


@rule("lfs-pointer", "whole", "error")
def lfs_pointer(subject: Subject) -> Iterator[Found]:
    """A file is only a git-LFS pointer.

    The repository was cloned without git-LFS, or its files were copied as they are stored in git. Run
    `git lfs pull` in the folder, or download the file itself. Only a note on a file that no loader of models reads: a
    picture of the README, a recording.
    """
    ends = (*DATA, *PICKLED, *OTHERS)
    for entry in subject.entries:
        if 0 < entry.size <= _LFS_SIZE and not entry.path.endswith(WEIGHTS):
            start = subject.head(entry.path, _LFS_SIZE)
            if start.startswith(_LFS):
                size = re.search(rb"^size (\d{1,15})$", start, re.MULTILINE)
                stands_for = f" for a file of {plural(int(size[1]), 'byte')}" if size else ""
                severity: Severity = "error" if entry.path.lower().endswith(ends) else "info"
                what = f"a git-LFS pointer{stands_for}: run `git lfs pull` in its folder"
                yield Found(what, entry.path, severity=severity)


@rule("html-page", "whole", "error")
def html_page(subject: Subject) -> Iterator[Found]:
    """A data file contains a web page.

    The download received a login or error page and saved it. Download the file again; a gated
    repository needs a token.
    """
    for entry in subject.named(*_NO_PAGES):
        if _HTML.match(subject.head(entry.path, 64)):
            yield Found("a web page, not the file: a login or error page was saved; download it again", entry.path)


def stands_in(start: bytes) -> bool:
    """Whether a file's first bytes are a pointer's or a web page's, for which there are separate rules."""
    return start.startswith(_LFS) or _HTML.match(start) is not None


@rule("unfinished-download", "whole", "error")
def unfinished_download(subject: Subject) -> Iterator[Found]:
    """An unfinished download.

    The tool left its temporary file, or its state beside a file that it has not finished. Run the download again. Only
    a warning if the finished file is present too: delete the remains.
    """
    for entry in subject.named(*CONTROL):
        if (name := _without_suffix(entry.path, CONTROL)) in subject.by_path and name.endswith(_ENDS):
            yield Found("left by an unfinished download of this file: run the download again", name)
        elif name.endswith(_ENDS):
            yield Found("left by an unfinished download, whose file is missing: run the download again", entry.path)
    for entry in subject.named(*PARTIAL):
        hub = re.match(r"(?:.*/)?\.cache/huggingface/download/(.+?)(?:\.[^./]+)?\.incomplete$", entry.path)
        yield _remains_of_download(subject, entry, _without_suffix(entry.path, PARTIAL), *([hub[1]] if hub else []))
    for entry in subject.entries:
        if _SCOPE in entry.path and entry.size:  # ModelScope's folder for unfinished downloads
            yield _remains_of_download(subject, entry, entry.path.replace(_SCOPE, ""))
        found = _TEMPORARY.fullmatch(entry.path) if entry.size else None
        if found and not entry.path.lower().endswith(PARTIAL):
            whole = next((name for name in found.groups() if name), "")
            if whole.endswith(_ENDS):
                yield _remains_of_download(subject, entry, entry.folder + whole)


_SCOPE = "._____temp/"
#: Suffixes of files that belong to a model's download.
_ENDS = (*WEIGHTS, ".bin", ".pt", ".pth", ".ckpt", ".json", ".model", ".onnx", ".h5", ".msgpack", "-partial")


def _without_suffix(path: str, ends: tuple[str, ...]) -> str:
    return path[: -max(len(end) for end in ends if path.lower().endswith(end))]


def _remains_of_download(subject: Subject, entry: Entry, *named: str) -> Found:
    if any(name in subject.by_path for name in named):
        return Found("remains of a download beside the finished file: delete them", entry.path, severity="warning")
    return Found(f"a download that stopped after {plural(entry.size, 'byte')}: run the download again", entry.path)


@rule("broken-link", "whole", "error")
def broken_link(subject: Subject) -> Iterator[Found]:
    """A symbolic link to a file that does not exist.

    In the Hub's cache, the blob was deleted and its link remained. Download the repository again.
    """
    for entry in subject.entries:
        if entry.broken:
            yield Found(f"a link to {entry.link or ''!r:.160}, which does not exist: download it again", entry.path)


@rule("special-file", "whole", "warning")
def special_file(subject: Subject) -> Iterator[Found]:
    """A pipe, socket or device, or a link to a folder, among the files.

    No model needs a pipe, a socket or a device, and a reader that opens one may wait forever. A linked
    folder is only a note, and is not followed.
    """
    for entry in subject.entries:
        if entry.kind == "special" and not entry.broken and entry.refused is None:
            if entry.link is None:
                yield Found("not a regular file: a pipe, a socket or a device", entry.path)
            elif not entry.outside:
                yield Found("a link to a folder: not followed", entry.path, severity="info")


@rule("no-access", "whole", "warning")
def no_access(subject: Subject) -> Iterator[Found]:
    """A file or a folder that cannot be read.

    Its permissions forbid it, its path is longer than the system allows, or it was deleted during the audit.
    Its contents were not checked: allow reading, and audit again.
    """
    for entry in subject.entries:
        if entry.refused is not None:
            yield Found(f"cannot be listed: {entry.refused}", entry.path)
        elif reason := subject.refusal(entry):
            yield Found(f"cannot be read: {reason}", entry.path)


@rule("error-message", "whole", "error")
def error_message(subject: Subject) -> Iterator[Found]:
    """A server's error message, saved under a data file's name.

    An API answered "not found" or "not allowed", and the answer was saved. Download the file again; a gated
    repository needs a token.
    """
    for entry in subject.named(*DATA):
        if 0 < entry.size <= _LONGEST_MESSAGE and (message := _server_message(subject, entry)) is not None:
            yield Found(f"a server's message instead of the file: {message!r:.120}; download it again", entry.path)


#: The longest error message, in bytes: a longer document is a tokenizer or a configuration.
_LONGEST_MESSAGE = 16 * 1024
#: Fields of servers' messages that data does not have: an object with nothing else is a message.
_MESSAGES = frozenset({"error", "errors", "message", "detail", "details", "error_description", "msg", "errorMessage"})
#: Fields that may stand beside them.
_CIRCUMSTANCES = frozenset(_NAMES["circumstances"])
#: How plain messages of the Hub, of storage and of proxies begin.
_WORDS = re.compile(_NAMES["words"], re.IGNORECASE)


def _server_message(subject: Subject, entry: Entry) -> str | None:
    start = subject.head(entry.path, 64).lstrip(b"\xef\xbb\xbf \t\r\n")
    if start[:1] == b"{":
        return _message_of_object(subject.text(entry.path, _LONGEST_MESSAGE))
    if start[:1] == b'"' or start[:1].isalnum():
        try:
            text = start.decode().strip('"')
        except UnicodeDecodeError:
            return None
        prose = entry.name.lower().endswith((".txt", ".jinja"))
        return text if _WORDS.match(text) and not (prose and entry.size > 256) else None
    return None


def _message_of_object(text: str | None) -> str | None:
    """The text of a message; None if a JSON document is not a message."""
    try:
        value = configs.loads(text or "null")
    except ValueError:
        return None
    if not isinstance(value, Mapping) or not _MESSAGES & value.keys() or value.keys() - _MESSAGES - _CIRCUMSTANCES:
        return None
    message = next(value[key] for key in value if key in _MESSAGES)
    return str(message.get("message", message) if isinstance(message, Mapping) else message)


#: Weights of PyTorch whose suffix other programs use, too.
_TORCH_BIN = re.compile(r"(pytorch_model|diffusion_pytorch_model|adapter_model|open_clip_pytorch_model)[^/]*\.bin")
#: Llama 3's tokenizer.model is tiktoken's list of tokens in base 64. Others are SentencePiece's: a Protocol Buffers
#: message whose first field has a length.
_TIKTOKEN = re.compile(rb"[A-Za-z0-9+/]+=* \d+\r?\n")
#: Files that may legitimately begin with zeros.
_UNMARKED = (".bin", ".msgpack", ".tflite")
#: The bytes examined if a file begins with zeros.
_BLANK = 4096


@rule("empty-file", "whole", "error")
def empty_file(subject: Subject) -> Iterator[Found]:
    """A data file of zero bytes.

    The download never began, or the disk was full. Download the file again. An empty list of added tokens or merges is
    not reported.
    """
    for entry in subject.named(*DATA):
        reported = entry.path.endswith(WEIGHTS)  # its reader reports it
        if not entry.size and entry.kind == "file" and not reported and _is_weights(entry.name.lower()):
            yield Found("a file of zero bytes: download it again", entry.path)


def _is_weights(name: str) -> bool:
    weights = (*TORCH, *TOKENIZER_MODELS, ".onnx", ".h5", ".msgpack", ".tiktoken")
    return name.endswith(weights) or bool(_TORCH_BIN.fullmatch(name))


@rule("blank-file", "whole", "error")
def blank_file(subject: Subject) -> Iterator[Found]:
    """A file that begins with nothing but zeros.

    Its space was reserved, and the download never filled it. Download the file again.
    """
    for entry in subject.named(*DATA):
        name = entry.name.lower()
        marked = not name.endswith(_UNMARKED) or _TORCH_BIN.fullmatch(name)
        if marked and entry.size >= 8 and not any(subject.head(entry.path, 8) or b"x"):
            start = subject.head(entry.path, _BLANK)
            if not any(start):
                yield Found(f"the first {plural(len(start), 'byte')} are zero: download it again", entry.path)


@rule("sparse-hole", "whole", "error")
def sparse_hole(subject: Subject) -> Iterator[Found]:
    """A large part of the file was never written.

    The file has its full size, but its end, or much of it, takes up no space on the disk: a download reserved the space
    and stopped. Checked if the file system reports holes. A file of which only the header was written is no download:
    tests and tools create such files.
    """
    ahead = {header.path: header.bytes_in("header") + header.bytes_in("padding") for header in subject.all_headers}
    for entry in subject.named(*WEIGHTS, *TORCH, ".bin", ".onnx"):
        file = subject.on_disk(entry.path) if entry.size >= _LEAST_HOLE else None
        if file is None:
            continue
        written, beyond = _bytes_on_disk(file, entry.size)
        if beyond > ahead.get(entry.path, 0) + _BLOCK and entry.size - written >= entry.size // 4:
            what = f"{plural(entry.size - written, 'byte')} of {plural(entry.size, 'byte')} were never written"
            yield Found(f"{what}: download it again", entry.path)


#: Smaller files may fit in one block of the disk.
_LEAST_HOLE = 32 * 1024
#: Bytes of a disk's block: the last block of a header reaches into the data.
_BLOCK = 8 * 1024
_MOST_EXTENTS = 1_000


def _bytes_on_disk(path: Path, size: int) -> tuple[int, int]:
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


@rule("endless-name", "whole", "warning")
def endless_name(subject: Subject) -> Iterator[Found]:
    """A tensor's name is implausibly long.

    Programs scan names repeatedly: a name of a megabyte is meant to cost them time and memory. Reported above 1,000
    characters; safetensors reads any length, and Transformers ignores what its class does not have.
    """
    for header in subject.all_headers:
        longest = max((tensor.name for tensor in header.tensors), key=len, default="")
        if len(longest) > _LONG_NAME:
            yield Found(f"a name of {integer(len(longest))} characters", header.path, longest)


_LONG_NAME = 1_000


@rule("wrong-kind", "whole", "error")
def wrong_kind(subject: Subject) -> Iterator[Found]:
    """A file is not what its name says.

    A tokenizer model that is text, a JSON document of a single value, PyTorch weights that start like none of its
    formats, a vocabulary with zero bytes in it: loaders refuse such a file. Download it again.
    """
    for entry in subject.entries:
        judged = entry.kind == "file" and entry.size and not entry.outside
        if judged and (wrong := _wrong_content(subject, entry)):
            yield Found(f"{wrong}: download it again", entry.path)
        template = judged and entry.name == "chat_template.jinja" and entry.size <= MOST_TEXT  # or a rule reports it
        if template and subject.text(entry.path, MOST_TEXT) is None:
            yield Found("no UTF-8 text: download it again", entry.path)


def _wrong_content(subject: Subject, entry: Entry) -> str | None:
    name = entry.name.lower()
    if name.endswith(TOKENIZER_MODELS) and name.startswith(_TOKENIZERS):
        start = subject.head(entry.path, 64)
        if start[:1] != b"\n" and not _TIKTOKEN.match(start) and any(start) and not stands_in(start):
            return "neither a SentencePiece nor a tiktoken model"
        if start[:1] == b"\n" and not graphs.is_message(subject.whole(entry, MOST_PIECES)):
            return "a truncated or overwritten SentencePiece model"
    elif _TORCH_BIN.fullmatch(name) or name.endswith((".pt", ".pth")):
        start = subject.head(entry.path, 64)
        known = start.startswith((*_PROTOCOL_0, b"import ")) if name.endswith(".pth") else start.startswith(_PROTOCOL_0)
        if start and any(start) and _is_text(start) and not known and not stands_in(start):
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


def _begins_as_torch(subject: Subject, entry: Entry, start: bytes) -> bool:
    """Whether a file is an archive, a pickle or a tar of PyTorch's first releases, or is identified by another rule."""
    known = any(header.path == entry.path for header in subject.all_headers) or stands_in(start)
    return known or start.startswith((b"PK", b"\x80", *_PROTOCOL_0)) or subject.span(entry.path, 257, 5) == b"ustar"


#: The most bytes that are parsed of a SentencePiece model (Gemma's takes 4 MB), and of a list of tokens or a template.
MOST_PIECES, MOST_TEXT = 16 * 1024 * 1024, 16 * 1024 * 1024


#: How pickles of protocol 0 start: `(dp0`, `cmodule`, `}`, `]`; and how a TorchScript archive of Python code does.
_PROTOCOL_0 = (b"(", b"c", b"}", b"]", b"PK")
_TOKENIZERS = ("tokenizer", "spiece", "sentencepiece", "source", "target", "vocab")


def _is_text(start: bytes) -> bool:
    return all(byte in b"\t\r\n" or 32 <= byte < 127 for byte in start)


@rule("wrong-extension", "whole", "warning")
def wrong_extension(subject: Subject) -> Iterator[Found]:
    """A weight file's name implies a different format than its bytes.

    Loaders choose the format by the name: they refuse the file, or read it as a pickle. Rename it.
    """
    for header in subject.all_headers:
        if header.tensors and not header.path.endswith(ENDS[header.format]):
            yield Found(f"the file is {header.format}, but its name says otherwise: rename it", header.path)
    for entry in subject.named(".bin", ".pt", ".pth", ".ckpt", ".model"):
        start = subject.head(entry.path, 16)
        if start[:4] == b"GGUF":
            yield Found("the file is GGUF, but its name says otherwise: rename it", entry.path)
        elif start[8:10] == b'{"' and int.from_bytes(start[:8], "little") < entry.size:
            yield Found("the file is safetensors, but its name says otherwise: rename it", entry.path)
