"""Does each file's content match its name, and are all its bytes present?

A failed download leaves zeros or part of the file under the right name. A file's first bytes
identify its kind; the rest is not read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from inspector.auditing.completeness.downloads import DATA, TOKENIZER_MODELS, TORCH, stands_in
from inspector.auditing.rule import Found, rule
from inspector.auditing.subject import Subject
from inspector.sources.filenames import ENDS, WEIGHTS
from inspector.sources.listing import Entry
from inspector.units import integer, plural

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
        if judged and (wrong := _wrong_content(subject, entry) or _no_text(subject, entry)):
            yield Found(f"{wrong}: download it again", entry.path)


def _wrong_content(subject: Subject, entry: Entry) -> str | None:
    name = entry.name.lower()
    if name.endswith(TOKENIZER_MODELS) and name.startswith(_TOKENIZERS):
        start = subject.head(entry.path, 64)
        if start[:1] != b"\n" and not _TIKTOKEN.match(start) and any(start) and not stands_in(start):
            return "neither a SentencePiece nor a tiktoken model"
        if start[:1] == b"\n" and not _is_whole_message(subject.whole(entry, MOST_PIECES)):
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
    if entry.name != "chat_template.jinja" or entry.size > MOST_TEXT:  # another rule reports one that is too long
        return None
    return "no UTF-8 text" if subject.text(entry.path, MOST_TEXT) is None else None


def _begins_as_torch(subject: Subject, entry: Entry, start: bytes) -> bool:
    """Whether a file is an archive, a pickle or a tar of PyTorch's first releases, or is identified by another rule."""
    known = any(header.path == entry.path for header in subject.all_headers) or stands_in(start)
    return known or start.startswith((b"PK", b"\x80", *_PROTOCOL_0)) or subject.span(entry.path, 257, 5) == b"ustar"


#: The most bytes that are parsed of a SentencePiece model (Gemma's takes 4 MB), and of a list of tokens or a template.
MOST_PIECES, MOST_TEXT = 16 * 1024 * 1024, 16 * 1024 * 1024


def _is_whole_message(raw: bytes) -> bool:
    """Whether a Protocol Buffers message ends exactly at the end of its last field."""
    at, end = 0, len(raw)
    while at < end:
        if raw[at] & 128:
            return True  # an unknown field number belongs to an extension
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
