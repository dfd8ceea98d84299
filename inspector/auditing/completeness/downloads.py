"""Downloads that went wrong: pointers, web pages and messages in place of files, unfinished ones, links to nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from inspector.auditing import data
from inspector.auditing.rule import Found, rule
from inspector.auditing.subject import Subject
from inspector.model import Severity
from inspector.opening import configs
from inspector.sources.filenames import OTHERS, PICKLED, WEIGHTS
from inspector.sources.listing import Entry
from inspector.units import plural

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
