"""Would the formats' own readers take a file? They are asked, with the reason that this program has beside it.

`safetensors` is asked of every file about which there is anything to tell, by opening it: that reads the header, and no
tensor data. It brings NumPy, whose import takes as long as a usual audit; a file without any finding has a header of
the form that the library itself writes, and tests hold that it takes those. llama.cpp is no library that could be
asked here: its verdict is by the rules of its own loader, and tests hold these to the program.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from inspector.auditing.rules.subject import MAX_HEADER, Subject
from inspector.model import Finding, Header
from inspector.sources.filenames import ENDS, WEIGHTS, shard_of


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a format's reference reader would take a file."""

    path: str
    reader: str  # "safetensors" or "llama.cpp"
    accepts: bool | None  # None where nobody can tell
    reason: str | None = None  # the rule that says no, or the library's words
    asked: bool = False  # whether the reader said so itself


#: What the audit did not look at itself.
_NOT_READ = frozenset({"not-judged", "header-size"})
#: Errors of a set that llama.cpp meets when it opens the first file of it.
_OF_THE_SET = frozenset(
    {"missing-shard", "missing-part", "split-count", "split-number", "split-tensors", "split-duplicate", "split-name"}
)
#: Findings that are reasons to refuse for llama.cpp, whatever they are for the format.
_REFUSED = frozenset({"unknown-type", "nested-array", "old-version", "big-endian"})


def _is_misfit(finding: Finding) -> bool:
    return finding.severity == "error" and finding.rule in ("lone-part", "gguf-vocabulary", "gguf-tokens")


def verdicts(subject: Subject, found: list[Finding]) -> Iterator[Verdict]:
    """What the readers say of each weight file. `found` is all that the audit has to tell of the model."""
    read = (header for header in subject.all_headers if header.format != "pytorch")  # PyTorch is never asked
    headers = {header.path: header for header in read if header.bytes_in("header")}
    around: dict[str, list[Finding]] = {}
    for each in found:
        if each.path is not None and each.path.endswith(WEIGHTS) and each.path in subject.by_path:
            around.setdefault(each.path, []).append(each)
    for path in sorted(headers.keys() | around.keys()):
        header, told = headers.get(path), around.get(path, [])
        if path.endswith(".gguf"):
            yield _of_llama(path, header, told, found)
        else:
            yield _of_safetensors(subject, path, header, told)


def _of_reader(path: str, header: Header | None, told: list[Finding]) -> str | None:
    """The rule by which our own reader refuses a file; None where it takes it."""
    if header is None:
        return next((each.rule for each in told if each.severity == "error"), "unreadable-file")
    if not path.endswith(ENDS[header.format]):
        return "wrong-extension"
    return next((each.rule for each in header.findings if each.severity == "error"), None)


def _of_llama(path: str, header: Header | None, told: list[Finding], found: list[Finding]) -> Verdict:
    if header is None and any(each.rule in _NOT_READ for each in told):
        return Verdict(path, "llama.cpp", None, told[0].rule)
    reason = _of_reader(path, header, told)
    reason = reason or next((each.rule for each in told if each.rule in _REFUSED or _is_misfit(each)), None)
    if reason is None and (shard := shard_of(path)):
        of_sets = ((each.rule, shard_of(each.path)) for each in found if each.rule in _OF_THE_SET and each.path)
        reason = next((rule for rule, other in of_sets if other and other.stem == shard.stem), None)
    return Verdict(path, "llama.cpp", reason is None, reason)


def _of_safetensors(subject: Subject, path: str, header: Header | None, told: list[Finding]) -> Verdict:
    """The library's own word where there is anything to ask; ours where it is not there, or the file is not here."""
    if header is None and any(each.rule in _NOT_READ for each in told):
        return Verdict(path, "safetensors", None, told[0].rule)
    reason = _of_reader(path, header, told)
    doubt = reason is not None or bool(header and header.findings)
    if doubt and (file := subject.on_disk(path)) is not None:
        length = int.from_bytes(subject.head(path, 8), "little")
        refused = _asked(file) if length <= MAX_HEADER else None
        if refused is not None:
            return Verdict(path, "safetensors", not refused, (reason or refused) if refused else None, asked=True)
    return Verdict(path, "safetensors", reason is None, reason)


def _asked(path: Path) -> str | None:
    """What `safetensors` has against a file, "" for nothing; None where it cannot be asked."""
    try:
        from safetensors import SafetensorError, safe_open  # with NumPy, which takes as long as a usual audit
    except ImportError:
        return None
    try:
        with safe_open(str(path), "np"):
            return ""
    except (SafetensorError, OSError) as error:
        return str(error)[:200] or type(error).__name__
    except Exception:  # NumPy is not there, say
        return None
