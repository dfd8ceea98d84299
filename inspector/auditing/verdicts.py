"""Would the formats' own readers accept a file? Their verdict is combined with our own reason.

`safetensors` and the `gguf` package are run on every local file: they read its header, but no tensor data. llama.cpp
cannot be called as a library here: its verdict follows the rules of its loader, and tests compare these with the
program.
"""

from __future__ import annotations

import struct
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from inspector.auditing.bounds import MAX_HEADER
from inspector.auditing.catalogue import all_rules
from inspector.auditing.loading.gguf_keys import is_foreign
from inspector.auditing.subject import Subject
from inspector.formats.gguf.values import ARRAY, CODES, STRING, WIDTHS
from inspector.model import Finding, Header, Severity
from inspector.sources.filenames import ENDS, WEIGHTS, shard_of


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a format's reference reader would accept a file."""

    path: str
    reader: str  # "safetensors", "gguf" (the package) or "llama.cpp"
    accepts: bool | None  # None if unknown
    reason: str | None = None  # the rule that rejects it, or the library's message; or why it is unknown
    asked: bool = False  # whether this is the reader's own verdict


#: Bytes of header beyond which the library refuses a file without reading it.
MOST_OF_FORMAT = 100_000_000
#: The reason for an unknown verdict: the library is optional.
NOT_INSTALLED = "not installed"
#: What llama.cpp requires at the start of a file.
MAGIC = b"GGUF"
#: Formats whose reference readers are run.
_WITH_READERS = ("safetensors", "gguf")
#: Rules about what the audit itself did not read.
_NOT_READ = frozenset({"not-judged", "header-size"})
#: Findings for which llama.cpp refuses a file, whatever they mean for the format.
_REFUSED = frozenset({"unknown-type", "nested-array", "old-version", "big-endian", "gguf-unknown"})
#: Errors that no loader notices: it opens the file, and loads wrong bytes.
_UNSEEN = frozenset({"checksum", "sparse-hole", "endless-name"})


def verdicts(subject: Subject, found: list[Finding], *, own_process: bool = False) -> Iterator[Verdict]:
    """The readers' verdicts on each weight file. `found` has all the audit's findings about the model."""
    read = (header for header in subject.all_headers if header.format in _WITH_READERS)  # PyTorch is never asked
    headers = {header.path: header for header in read if header.bytes_in("header")}
    around: dict[str, list[Finding]] = {}
    for each in found:
        if each.path is not None and each.path.endswith(WEIGHTS) and each.path in subject.by_path:
            around.setdefault(each.path, []).append(each)
    with libraries(own_process=own_process) as installed:
        for path in sorted(headers.keys() | around.keys()):
            header, own = headers.get(path), around.get(path, [])
            if header is None and path.endswith(".gguf") and subject.head(path, len(MAGIC)) != MAGIC:
                yield Verdict(path, "llama.cpp", False, own[0].rule if own else "unreadable-file")
            elif header is None and any(each.rule in _NOT_READ for each in own):
                yield Verdict(path, "llama.cpp" if path.endswith(".gguf") else "safetensors", None, own[0].rule)
            elif path.endswith(".gguf"):
                yield _of_llama(subject, path, header, own, found)
                yield _of_package(subject, path, own, installed)
            else:
                yield _of_safetensors(subject, path, header, own, installed)


def refusals(given: list[Verdict], found: list[Finding]) -> Iterator[Finding]:
    """Files that a library refuses although no finding explains why."""
    for verdict in given:
        explained = any(each.path == verdict.path and each.severity != "info" for each in found)
        if verdict.asked and verdict.accepts is False and not explained:
            severity: Severity = "error" if verdict.reader == "safetensors" else "warning"
            yield Finding("refused", severity, f"{verdict.reader} refuses it: {verdict.reason}", verdict.path)


def _of_reader(path: str, header: Header | None, own: list[Finding]) -> str | None:
    """The rule by which our own reader refuses a file; None if it accepts it."""
    if header is None:
        return next((each.rule for each in own if each.severity == "error"), "unreadable-file")
    if not path.endswith(ENDS[header.format]):
        return "wrong-extension"
    return next((each.rule for each in header.findings if each.severity == "error"), None)


def _of_llama(subject: Subject, path: str, header: Header | None, own: list[Finding], found: list[Finding]) -> Verdict:
    """No, if there is any error that it would meet: of the file, of its set, or of its model."""
    reason = _of_reader(path, header, own)
    reason = reason or next((each.rule for each in own if each.rule in _REFUSED or _is_met(each)), None)
    if reason is None and header is not None and is_foreign(header):
        reason = "gguf-unknown"
    if reason is None and (shard := shard_of(path)):
        of_sets = ((each.rule, shard_of(each.path)) for each in found if each.path and _is_met(each))
        reason = next((rule for rule, other in of_sets if other and other.stem == shard.stem), None)
    if reason is None and any(each.path == path for each in subject.headers):
        reason = next((each.rule for each in found if each.path is None and _is_met(each)), None)
    return Verdict(path, "llama.cpp", reason is None, reason)


def _is_met(finding: Finding) -> bool:
    rule = all_rules().get(finding.rule)
    harmful = rule is not None and rule.group == "safe"  # they do not prevent loading
    return finding.severity == "error" and finding.rule not in _UNSEEN and not harmful


def _of_package(subject: Subject, path: str, own: list[Finding], installed: Libraries) -> Verdict:
    """The `gguf` package's own verdict, if it is installed and the file is local."""
    file = subject.on_disk(path)
    if file is None:
        return Verdict(path, "gguf", None, "not on this machine")
    if not few_enough(subject.head(path, FIXED)):
        return Verdict(path, "gguf", None, "too many entries")
    refused = installed.gguf(file)
    if refused is None:
        return Verdict(path, "gguf", None, NOT_INSTALLED)
    reason = (next((each.rule for each in own if each.severity != "info"), None) or refused) if refused else None
    return Verdict(path, "gguf", not refused, reason, asked=True)


def _of_safetensors(
    subject: Subject, path: str, header: Header | None, own: list[Finding], installed: Libraries
) -> Verdict:
    """The library's own verdict; ours if it is not installed, or the file is not local."""
    reason = _of_reader(path, header, own)
    if (file := subject.on_disk(path)) is not None:
        length = int.from_bytes(subject.head(path, 8), "little")
        refused = None if MAX_HEADER < length <= MOST_OF_FORMAT else installed.safetensors(file)
        if refused is not None:
            return Verdict(path, "safetensors", not refused, (reason or refused) if refused else None, asked=True)
    return Verdict(path, "safetensors", reason is None, reason)


# --- the libraries --------------------------------------------------------------------------------

#: The most tensors and key-values of a GGUF for which its package is run; it takes half a millisecond for each.
MOST_ENTRIES = 4_000


class Libraries(NamedTuple):
    """The libraries. Each answer is "" if the file opens, else the library's message; None if it is not installed."""

    safetensors: Callable[[Path], str | None]
    gguf: Callable[[Path], str | None]


@contextmanager
def libraries(*, own_process: bool) -> Iterator[Libraries]:
    """The libraries, imported on first use.

    Args:
        own_process: whether nothing else in this process needs NumPy. `safetensors` imports it to open a file, which
            takes as long as an audit, but uses it only for tensors: an empty module replaces it in the meantime.
    """
    stand_in = own_process and "numpy" not in sys.modules

    def safetensors(path: Path) -> str | None:
        if stand_in:
            sys.modules.setdefault("numpy", ModuleType("numpy"))
        return _safetensors(path)

    def gguf(path: Path) -> str | None:
        if stand_in and not hasattr(sys.modules.get("numpy"), "ndarray"):
            sys.modules.pop("numpy", None)
        return _gguf(path)

    try:
        yield Libraries(safetensors, gguf)
    finally:
        if stand_in and not hasattr(sys.modules.get("numpy"), "ndarray"):
            sys.modules.pop("numpy", None)


def _safetensors(path: Path) -> str | None:
    try:
        from safetensors import SafetensorError, safe_open
    except ImportError:
        return None
    try:
        with safe_open(str(path), "np"):
            return ""
    except (SafetensorError, OSError) as error:
        return str(error)[:200] or type(error).__name__
    except Exception:  # e.g. NumPy is missing
        return None


def _gguf(path: Path) -> str | None:
    reader = _stepping_reader()
    if reader is None:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numbers too large for NumPy's integers
        try:
            reader(path)
        except Exception as error:  # the package checks little itself, and raises anything on a damaged file
            return " ".join(str(error).split())[:200] or type(error).__name__
    return ""


#: Bytes at the start of a GGUF: the magic, the version, and the numbers of tensors and key-values.
FIXED = 24


def few_enough(head: bytes) -> bool:
    """Whether a GGUF has few enough entries, by its first bytes, for its package to read quickly.

    The package itself determines the byte order by the version. It refuses a file that is too short for these numbers.
    """
    if len(head) < FIXED:
        return True
    order = "<" if struct.unpack_from("<I", head, 4)[0] & 0xFFFF else ">"
    return all(count <= MOST_ENTRIES for count in struct.unpack_from(f"{order}QQ", head, 8))


def _stepping_reader() -> Any:
    """The package's reader, but skipping arrays: it makes objects of their items, which takes 17 s for Llama 3's."""
    try:
        import gguf
        import numpy
    except ImportError:
        return None

    class Stepping(gguf.GGUFReader):
        def _get_field_parts(self, orig_offs: int, raw_type: int) -> Any:
            if raw_type != ARRAY:
                return super()._get_field_parts(orig_offs, raw_type)
            item = self._get(orig_offs, numpy.uint32)
            count = self._get(orig_offs + 4, numpy.uint64)
            end = _end_of(self.data, self.endianess.name, int(item[0]), int(count[0]), orig_offs + 12)
            if end is None:
                return super()._get_field_parts(orig_offs, raw_type)
            return end - orig_offs, [item, count], [], [gguf.GGUFValueType.ARRAY]

    return Stepping


def _end_of(data: Any, order: str, item: int, count: int, at: int) -> int | None:
    """The end of an array. None if the library should read it itself: it is damaged, or has nested arrays.

    Raises:
        IndexError: it ends beyond the file.
    """
    if item in CODES:
        end = at + WIDTHS[item] * count
    elif item == STRING:
        length = struct.Struct("<Q" if order == "LITTLE" else ">Q").unpack_from
        end = at
        for _ in range(count):
            if end + 8 > len(data):
                raise IndexError(_BEYOND)
            end += 8 + length(data, end)[0]
    else:
        return None
    if end > len(data):
        raise IndexError(_BEYOND)
    return end


_BEYOND = "an array ends beyond the file"
