"""Would the formats' own readers accept a file? Their verdict is combined with our own reason.

`safetensors` and the `gguf` package are run on every local file: they read its header, but no tensor data. llama.cpp
cannot be called as a library here: its verdict follows the rules of its loader, and tests compare these with the
program.
"""

from __future__ import annotations

import struct
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from inspector.auditing.catalogue import all_rules
from inspector.auditing.limits import MAX_HEADER
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
#: Findings for which every reader refuses a file, whether or not it is installed here to be asked.
_BY_ALL = frozenset({"unknown-type"})
#: Errors that no loader notices: it opens the file, and loads wrong bytes.
_UNSEEN = frozenset({"checksum", "sparse-hole", "endless-name"})


def verdicts(subject: Subject, found: list[Finding], *, own_process: bool = False) -> Iterator[Verdict]:
    """The readers' verdicts on each weight file. `found` has all the audit's findings about the model."""
    read = (header for header in subject.all_headers if header.format in _WITH_READERS)  # PyTorch is never run
    headers = {header.path: header for header in read if header.bytes_in("header")}
    about: dict[str, list[Finding]] = {}
    for each in found:
        if each.path is not None and each.path.endswith(WEIGHTS) and each.path in subject.by_path:
            about.setdefault(each.path, []).append(each)
    with libraries(own_process=own_process) as installed:
        for path in sorted(headers.keys() | about.keys()):
            file, is_gguf = _File(path, headers.get(path), about.get(path, [])), path.endswith(".gguf")
            first = file.findings[0].rule if file.findings else None
            if file.header is None and is_gguf and subject.head(path, len(MAGIC)) != MAGIC:
                yield Verdict(path, "llama.cpp", False, first or "unreadable-file")
            elif file.header is None and any(each.rule in _NOT_READ for each in file.findings):
                yield Verdict(path, "llama.cpp" if is_gguf else "safetensors", None, first)
            elif is_gguf:
                yield _of_llama(subject, file, found)
                yield _of_package(subject, file, installed)
            else:
                yield _of_safetensors(subject, file, installed)


def refusals(given: list[Verdict], found: list[Finding]) -> Iterator[Finding]:
    """Files that a library refuses although no finding explains why, and files that nothing opens without an error."""
    explained = {each.path for each in found if each.severity != "info"}
    failing = {each.path for each in found if _is_error(each)}
    by_all = {each.path for each in given if each.accepts is False and each.reason in _BY_ALL}
    opened = {each.path for each in given if each.accepts is not False} - by_all
    unasked = by_all - {each.path for each in given if each.asked}
    for verdict in given:
        counts = (verdict.asked or verdict.path in unasked) and verdict.path not in failing
        if counts and verdict.accepts is False and (verdict.path not in opened or verdict.path not in explained):
            severity: Severity = "warning" if verdict.path in opened else "error"
            yield Finding("refused", severity, f"{verdict.reader} refuses it: {verdict.reason}", verdict.path)


class _File(NamedTuple):
    """A weight file, its header if that could be read, and the findings about it."""

    path: str
    header: Header | None
    findings: list[Finding]

    def refused_here(self) -> str | None:
        """The rule by which our own reader refuses it; None if it accepts it."""
        if self.header is None:
            return _first(self.findings, _is_error) or "unreadable-file"
        if not self.path.endswith(ENDS[self.header.format]):
            return "wrong-extension"
        return _first(self.header.findings, _is_error)


def _first(findings: Iterable[Finding], applies: Callable[[Finding], bool]) -> str | None:
    """The rule of the first finding to which something applies."""
    return next((each.rule for each in findings if applies(each)), None)


def _is_error(finding: Finding) -> bool:
    return finding.severity == "error"


#: Groups of rules about what does not prevent loading: a loader neither looks at numbers nor cares what is unsafe.
_NOT_MET = frozenset({"safe", "data"})


def _is_met(finding: Finding) -> bool:
    """Whether a loader meets the problem."""
    rule = all_rules().get(finding.rule)
    return _is_error(finding) and finding.rule not in _UNSEEN and (rule is None or rule.group not in _NOT_MET)


def _of_llama(subject: Subject, file: _File, found: list[Finding]) -> Verdict:
    """llama.cpp's verdict: no, if it would meet any error, of the file, of its set, or of its model."""
    reason = file.refused_here() or _first(file.findings, lambda each: each.rule in _REFUSED or _is_met(each))
    if reason is None and file.header is not None and is_foreign(file.header):
        reason = "gguf-unknown"
    if reason is None and (shard := shard_of(file.path)):
        of_files = [(each, shard_of(each.path)) for each in found if each.path]
        reason = _first((each for each, other in of_files if other and other.stem == shard.stem), _is_met)
    if reason is None and any(each.path == file.path for each in subject.headers):
        reason = _first((each for each in found if each.path is None), _is_met)
    return Verdict(file.path, "llama.cpp", reason is None, reason)


def _of_package(subject: Subject, file: _File, installed: Libraries) -> Verdict:
    """The `gguf` package's own verdict, if it is installed and the file is local."""
    place = subject.on_disk(file.path)
    if place is None:
        return Verdict(file.path, "gguf", None, "not on this machine")
    if not few_enough(subject.head(file.path, FIXED)):
        return Verdict(file.path, "gguf", None, "too many entries")
    refusal = installed.gguf(place)
    if refusal is None:
        return Verdict(file.path, "gguf", None, NOT_INSTALLED)
    if not refusal:
        return Verdict(file.path, "gguf", True, asked=True)
    reason = _first(file.findings, lambda each: each.severity != "info")
    return Verdict(file.path, "gguf", False, reason or refusal, asked=True)


def _of_safetensors(subject: Subject, file: _File, installed: Libraries) -> Verdict:
    """The library's own verdict; ours if it is not installed, or the file is not local."""
    reason = file.refused_here()
    if (place := subject.on_disk(file.path)) is not None:
        length = int.from_bytes(subject.head(file.path, 8), "little")
        refusal = None if MAX_HEADER < length <= MOST_OF_FORMAT else installed.safetensors(place)
        if refusal is not None:
            return Verdict(file.path, "safetensors", not refusal, (reason or refusal) if refusal else None, asked=True)
    return Verdict(file.path, "safetensors", reason is None, reason)


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

    def remove_stand_in() -> None:
        if stand_in and not hasattr(sys.modules.get("numpy"), "ndarray"):
            sys.modules.pop("numpy", None)

    def gguf(path: Path) -> str | None:
        remove_stand_in()
        return _gguf(path)

    try:
        yield Libraries(safetensors, gguf)
    finally:
        remove_stand_in()


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
