"""One model under every rule, in bounded time: a rule that fails or takes too long does not keep others from running.

Findings are then put in order: one that another explains better is left out, and some become more severe, because these
files are a download.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from inspector.auditing import catalogue, limits
from inspector.auditing import verdicts as readers
from inspector.auditing.rule import Rule
from inspector.auditing.subject import Subject
from inspector.errors import InspectorError, NetworkError
from inspector.model import Finding, Severity
from inspector.units import integer

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")
#: Findings of one rule in one model that are listed.
MOST_PER_RULE = 50
#: The step after the rules, as it is called in the finding if it fails.
_READERS = "the readers' verdicts"
#: Further findings about a model, e.g. from checksums.
More = Callable[[Subject], Iterable[Finding]]


@dataclass(frozen=True, slots=True)
class Audited:
    """One model with its findings."""

    target: str  # path or id, as one would type it
    files: int
    size: int  # bytes of its files
    findings: tuple[Finding, ...]  # errors first
    verdicts: tuple[readers.Verdict, ...] = ()
    root: str | None = None  # the folder that findings' paths are relative to; None if it is not on this machine
    described: Any = None  # for a bill of materials, if one is to be written
    is_model: bool = True  # False for the Hub's cache as a whole, and for files that belong to no checkpoint


def examined(
    subject: Subject,
    more: More = lambda _: (),
    *,
    config: Path | None = None,
    own_process: bool = False,
    describe: Callable[[Subject], Any] = lambda _: None,
) -> Audited:
    """One model under every rule, in bounded time; anything not checked is a finding.

    Args:
        more: further findings, whose work is not limited in time.
        config: a configuration file, or a folder with one, instead of the one beside the weights.
        own_process: whether the process may be limited in its memory.
        describe: what is kept as `Audited.described`.
    """
    subject.config_named = config
    size = sum(entry.size for entry in subject.entries)
    found: list[Finding] = []
    verdicts: list[readers.Verdict] = []
    checks = catalogue.with_checks()
    left = deque(("reading the files", *(each.code for each in checks), _READERS))

    def ask_readers() -> Iterator[Finding]:
        known = _final_findings(found, subject)
        verdicts.extend(readers.verdicts(subject, known, own_process=own_process))
        yield from readers.refusals(verdicts, known)

    seconds, start = limits.seconds_for(size), time.process_time()
    try:
        with limits.work(seconds, size, own_process=own_process):
            found += _guarded(left[0], lambda: _findings_of_readers(subject))
        seconds -= time.process_time() - start
        # Checks that the user requested in addition are not limited in time.
        found += _guarded("the additional checks", lambda: more(subject), passed_on=InspectorError)
        with limits.work(seconds, size, own_process=own_process):
            for each in checks:
                left.popleft()
                found += _guarded(each.code, partial(_findings_of_rule, each, subject))
            left.popleft()
            found += _guarded(_READERS, ask_readers)
    except limits.Exceeded:
        subject.give_up()
        what = f"stopped after {limits.seconds_for(size):.1f} s of work, more than any sound model of its size takes"
        rest = ", ".join([*left][:4]) + "…" * (len(left) > 4)
        found.append(Finding("not-judged", "error", f"{what}: not judged: {rest}"))
    kept = dict.fromkeys(map(_shortened, _final_findings(found, subject)))
    return Audited(
        target=subject.target,
        files=len(subject.entries),
        size=size,
        findings=tuple(sorted(kept, key=lambda finding: SEVERITIES.index(finding.severity))),
        verdicts=tuple(verdicts),
        root=subject.root,
        described=describe(subject),
        is_model=subject.is_model,
    )


def _guarded(
    what: str, work: Callable[[], Iterable[Finding]], passed_on: type[InspectorError] = NetworkError
) -> list[Finding]:
    """A rule's findings; if it fails, those before the failure, and the failure. The other rules must still run.

    Errors of the type `passed_on` are raised. INSPECT_DEBUG raises internal errors, too.
    """
    found: list[Finding] = []
    try:
        found.extend(work())  # one by one, so that those before a failure are kept
    except MemoryError:
        found.append(Finding("not-judged", "error", f"{what}: takes more memory than any sound model: not judged"))
    except passed_on:
        raise
    except Exception as error:
        if os.environ.get("INSPECT_DEBUG"):
            raise
        reason = f"{type(error).__name__}: {str(error)[:200]}"
        found.append(Finding("not-judged", "error", f"{what}: internal error, {reason}: not judged"))
    return found


def _findings_of_readers(subject: Subject) -> Iterator[Finding]:
    """The findings of the readers, the selection of files and the bridge."""
    checkpoint = subject.checkpoint
    yield from (finding for header in subject.extra for finding in header.findings)
    yield from subject.of_other_sets
    yield from subject.misfits
    yield from subject.findings
    try:
        joined = subject.result.findings if subject.result else ()
    finally:  # if the bridge fails, the readers' findings are still reported
        if "result" not in vars(subject):
            yield from checkpoint.all_findings if checkpoint else ()
    for finding in joined or (checkpoint.all_findings if checkpoint else ()):
        milder = _with_optional_bias(finding, subject)
        yield milder if milder.path or not milder.tensor else milder._replace(path=subject.main_file)


def _with_optional_bias(finding: Finding, subject: Subject) -> Finding:
    """A finding, made a warning if it is about a missing bias that llama.cpp does not need."""
    if finding.rule != "missing" or finding.tensor is None or finding.severity != "error":
        return finding
    from inspector.auditing.loading.gguf_tensors import is_optional  # only where something is missing

    file = next((header for header in subject.headers if header.format == "gguf"), None)
    return finding._replace(severity="warning") if file and is_optional(finding.tensor, file) else finding


def _findings_of_rule(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """A rule's findings, and the files that it did not read because they exceed its limits."""
    known, named = set(subject.unread), set()
    for finding in _at_most(rule.findings(subject)):
        named.add(finding.path)
        yield finding
    for path, limit in subject.unread.items():
        if path not in known and path not in named:
            what = f"{integer(subject.by_path[path].size)} bytes, more than the {integer(limit)} that are read"
            yield Finding("not-judged", "error", f"{rule.code}: {what}: not judged", path)


def _at_most(findings: Iterator[Finding]) -> Iterator[Finding]:
    """A rule's first findings, and the number of further ones."""
    rest = 0
    last: Finding | None = None
    for number, finding in enumerate(findings):
        if number < MOST_PER_RULE:
            yield finding
        else:
            rest, last = rest + 1, finding
    if last:
        yield Finding(last.rule, last.severity, f"{rest} more of this kind", None)


#: Characters of a file's or tensor's name, and of a message, that a finding keeps: a header may have one of 100 MB.
LONGEST_NAME, LONGEST_MESSAGE = 1_000, 2_000


def _shortened(finding: Finding) -> Finding:
    path, tensor = (name and _cut(name, LONGEST_NAME) for name in (finding.path, finding.tensor))
    return finding._replace(message=_cut(finding.message, LONGEST_MESSAGE), path=path, tensor=tensor)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest]}… ({integer(len(text))} letters)"


#: Rules that are more severe for an untrusted download than for one's own file.
_GRAVER = frozenset({"config"})
#: Sizes that llama.cpp and Transformers compare, where other loaders pad or resize.
_GRAVER_WHERE_COMPARED = frozenset({"vocab-padding"})
#: Consequences of unreadable tensors, which the rule about the cause reports.
_CONSEQUENCES = frozenset({"missing", "head-not-stored", "side-data-missing"})
#: Rules that identify a file's true kind, and consequences of its not being of the expected kind.
_IDENTIFYING = frozenset({"error-message", "blank-file", "html-page", "lfs-pointer"})
_OF_KIND = frozenset({"document", "tokenizer", "wrong-kind", "config", "pickle", "unreadable-file", "not-weights"})


def _final_findings(found: Sequence[Finding], subject: Subject) -> list[Finding]:
    """The findings that no other explains better, with the severity that they have for a download."""
    kept = []
    for each in found:
        if not _is_explained(each, subject, found):
            graver = each.rule in _GRAVER or (each.rule in _GRAVER_WHERE_COMPARED and _is_compared(subject))
            kept.append(each._replace(severity="error") if graver else each)
    return kept


def _is_compared(subject: Subject) -> bool:
    """Whether the loader refuses a tensor of another size, as llama.cpp does, and Transformers for its own classes."""
    if models := [header.metadata for header in subject.headers if header.format == "gguf"]:
        from inspector.auditing.loading import gguf_keys  # late: needed only for an embedding of another size

        # llama.cpp ignores a stated size where there are tokens, with which `gguf-vocabulary` compares the rows
        stated = any(f"{each.get('general.architecture')}.vocab_size" in each for each in models)
        return not stated or any(gguf_keys.kind_of_tokenizer(each) == "NONE" for each in models)
    config = subject.config
    if config is None or config.kind != "config.json" or "auto_map" in config.values:
        return False
    from inspector.auditing.loading.accepted_values import is_of_transformers  # late: reads the table of its types

    safe = any(header.format == "safetensors" for header in subject.headers)
    return safe and is_of_transformers(config.values)


def _is_explained(finding: Finding, subject: Subject, found: Sequence[Finding]) -> bool:
    """Whether another finding explains the same better."""
    if finding.rule == "missing-shard":
        gone = (entry.name for entry in subject.entries if entry.outside or entry.broken)
        return any(name in finding.message for name in gone)
    if finding.rule in _OF_KIND:
        return any(other.rule in _IDENTIFYING and other.path == finding.path for other in found)
    if finding.rule == "missing-part":  # from the file's key-values, if file names already show it
        return any(other.rule == "missing-shard" and other.path == finding.path for other in found)
    return finding.rule in _CONSEQUENCES and subject.incomplete
