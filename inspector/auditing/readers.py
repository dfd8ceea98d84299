"""Would the formats' own readers accept a file? Their verdict is combined with our own reason.

`safetensors` and the `gguf` package are asked about every local file. llama.cpp cannot be called as a library here: its
verdict follows the rules of its loader, and tests compare these with the program.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from inspector.auditing.asking import FIXED, Libraries, asking, few_enough
from inspector.auditing.rules import all_rules
from inspector.auditing.rules.bounds import MAX_HEADER
from inspector.auditing.rules.gguf import is_foreign
from inspector.auditing.rules.subject import Subject
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
    with asking(own_process=own_process) as ask:
        for path in sorted(headers.keys() | around.keys()):
            header, told = headers.get(path), around.get(path, [])
            if header is None and path.endswith(".gguf") and subject.head(path, len(MAGIC)) != MAGIC:
                yield Verdict(path, "llama.cpp", False, told[0].rule if told else "unreadable-file")
            elif header is None and any(each.rule in _NOT_READ for each in told):
                yield Verdict(path, "llama.cpp" if path.endswith(".gguf") else "safetensors", None, told[0].rule)
            elif path.endswith(".gguf"):
                yield _of_llama(subject, path, header, told, found)
                yield _of_package(subject, path, told, ask)
            else:
                yield _of_safetensors(subject, path, header, told, ask)


def refusals(told: list[Verdict], found: list[Finding]) -> Iterator[Finding]:
    """Files that a library refuses although no finding explains why."""
    for verdict in told:
        said = any(each.path == verdict.path and each.severity != "info" for each in found)
        if verdict.asked and verdict.accepts is False and not said:
            severity: Severity = "error" if verdict.reader == "safetensors" else "warning"
            yield Finding("refused", severity, f"{verdict.reader} refuses it: {verdict.reason}", verdict.path)


def _of_reader(path: str, header: Header | None, told: list[Finding]) -> str | None:
    """The rule by which our own reader refuses a file; None if it accepts it."""
    if header is None:
        return next((each.rule for each in told if each.severity == "error"), "unreadable-file")
    if not path.endswith(ENDS[header.format]):
        return "wrong-extension"
    return next((each.rule for each in header.findings if each.severity == "error"), None)


def _of_llama(subject: Subject, path: str, header: Header | None, told: list[Finding], found: list[Finding]) -> Verdict:
    """No, if there is any error that it would meet: of the file, of its set, or of its model."""
    reason = _of_reader(path, header, told)
    reason = reason or next((each.rule for each in told if each.rule in _REFUSED or _is_met(each)), None)
    if reason is None and header is not None and is_foreign(header):
        reason = "gguf-unknown"
    if reason is None and (shard := shard_of(path)):
        of_sets = ((each.rule, shard_of(each.path)) for each in found if each.path and _is_met(each))
        reason = next((rule for rule, other in of_sets if other and other.stem == shard.stem), None)
    if reason is None and any(own.path == path for own in subject.headers):
        reason = next((each.rule for each in found if each.path is None and _is_met(each)), None)
    return Verdict(path, "llama.cpp", reason is None, reason)


def _is_met(finding: Finding) -> bool:
    rule = all_rules().get(finding.rule)
    harmful = rule is not None and rule.group == "safe"  # they do not prevent loading
    return finding.severity == "error" and finding.rule not in _UNSEEN and not harmful


def _of_package(subject: Subject, path: str, told: list[Finding], ask: Libraries) -> Verdict:
    """The `gguf` package's own verdict, if it is installed and the file is local."""
    file = subject.on_disk(path)
    if file is None:
        return Verdict(path, "gguf", None, "not on this machine")
    if not few_enough(subject.head(path, FIXED)):
        return Verdict(path, "gguf", None, "too many entries")
    refused = ask.gguf(file)
    if refused is None:
        return Verdict(path, "gguf", None, NOT_INSTALLED)
    reason = (next((each.rule for each in told if each.severity != "info"), None) or refused) if refused else None
    return Verdict(path, "gguf", not refused, reason, asked=True)


def _of_safetensors(subject: Subject, path: str, header: Header | None, told: list[Finding], ask: Libraries) -> Verdict:
    """The library's own verdict; ours if it is not installed, or the file is not local."""
    reason = _of_reader(path, header, told)
    if (file := subject.on_disk(path)) is not None:
        length = int.from_bytes(subject.head(path, 8), "little")
        refused = None if MAX_HEADER < length <= MOST_OF_FORMAT else ask.safetensors(file)
        if refused is not None:
            return Verdict(path, "safetensors", not refused, (reason or refused) if refused else None, asked=True)
    return Verdict(path, "safetensors", reason is None, reason)
