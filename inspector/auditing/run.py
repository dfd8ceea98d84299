"""Is this download whole, consistent and safe? Applies every rule to every model at the targets."""

from __future__ import annotations

import os
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from inspector import settings
from inspector.architectures import tables_of_project
from inspector.auditing import limits, readers, rules
from inspector.auditing.rules.rule import Rule
from inspector.auditing.rules.subject import Subject
from inspector.auditing.targets import Failed, subjects
from inspector.errors import InspectorError, NetworkError, UsageError
from inspector.model import Finding, Severity, view
from inspector.opening import configs
from inspector.units import escape, integer

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")
#: Findings of one rule in one model that are listed.
MOST_PER_RULE = 50


@dataclass(frozen=True, slots=True)
class Audited:
    """One model with its findings."""

    target: str  # path or id, as one would type it
    files: int
    size: int  # bytes of its files
    findings: tuple[Finding, ...]  # errors first
    verdicts: tuple[readers.Verdict, ...] = ()
    root: str | None = None  # the folder that findings' paths are relative to; None if it is not on this machine
    is_model: bool = True  # False for the Hub's cache as a whole


@dataclass(frozen=True, slots=True)
class Audit:
    """All audited models."""

    checkpoints: tuple[Audited, ...]
    ignored: Counter[str] = field(default_factory=Counter)  # rule → number of ignored findings
    failed: tuple[Failed, ...] = ()

    @property
    def counts(self) -> dict[Severity, int]:
        found = Counter(finding.severity for each in self.checkpoints for finding in each.findings)
        return {severity: found[severity] for severity in SEVERITIES}

    def fails(self, on: Severity) -> bool:
        """Whether there is a finding at least as severe as `on`."""
        return any(self.counts[severity] for severity in SEVERITIES[: SEVERITIES.index(on) + 1])

    def to_pandas(self) -> pd.DataFrame:
        """One row per finding. Raises UsageError if pandas is not installed."""
        shown: pd.DataFrame = view("to_pandas", self)
        return shown

    def to_arrow(self) -> pa.Table:
        """One row per finding, with exact types. Raises UsageError if pyarrow is not installed."""
        shown: pa.Table = view("to_arrow", self)
        return shown

    def to_polars(self) -> pl.DataFrame:
        """One row per finding. Raises UsageError if polars is not installed."""
        shown: pl.DataFrame = view("to_polars", self)
        return shown


def audit(
    targets: Iterable[str | Path],
    *,
    ignore: Collection[str] = (),
    revision: str | None = None,
    data: bool = False,
    deep: bool = False,
) -> Audit:
    """Check every model at the targets by every rule. Reads headers and small files, and tensors only for `data`.

    A target that cannot be audited is listed in `Audit.failed`; if it is the only one, its error is raised.

    Args:
        ignore: codes of rules whose findings are omitted, but counted.
        data: whether to read the tensors too, and judge them by the rules of the group `data`; needs NumPy.
        deep: whether to render chat templates too, in a sandbox in a separate process; needs Jinja.

    Raises:
        TargetError: there is nothing to audit at any target.
        SourceError: it cannot be read.
        UsageError: `ignore` names an unknown rule, or a package for `data` or `deep` is missing.

    Example:
        >>> found = inspector.audit(["fixtures/real/safetensors/burn/complex_nested.safetensors"])
        >>> [finding.rule for checkpoint in found.checkpoints for finding in checkpoint.findings]
        ['no-prediction']
    """
    check_codes(ignore)
    named = [str(target) for target in targets]
    asked: list[Callable[[Subject], Iterable[Finding]]] = []
    if data:
        from inspector.measuring import needs

        needs.check()
        from inspector.auditing.numbers.reading import read

        asked.append(read)
    if deep:
        from inspector.auditing import rendering  # imports what starts processes

        rendering.check()
        asked.append(rendering.findings)

    def more(subject: Subject) -> Iterator[Finding]:
        for each in asked:
            yield from each(subject)

    with tables_of_project(settings.here(named).tables):
        return collect(each_of(named, revision, more), ignore)


def each_of(
    targets: Iterable[str],
    revision: str | None = None,
    more: Callable[[Subject], Iterable[Finding]] = lambda _: (),
    *,
    alone: bool = False,
    config: Path | None = None,
    own_process: bool = False,
) -> Iterator[Audited | Failed]:
    """The audited models at each target, or what is wrong with the target: one bad target does not affect the others.

    Args:
        more: further findings, e.g. from checksums.
        alone: whether a shard is audited alone, without its set.
        config: a configuration file, or a folder with one, instead of those next to the weights.
        own_process: whether the process may be limited in its memory.

    Raises:
        ConfigError: `config` cannot be read.
    """
    if config is not None:
        configs.load(config)  # one error at the start, instead of a finding in each model
    for target in targets:
        found = _under(config, subjects(target, revision, alone=alone))
        yield from each_subject(target, found, more, own_process=own_process)


def _under(config: Path | None, found: Iterable[Subject | Failed]) -> Iterator[Subject | Failed]:
    """The subjects with the configuration that the user named."""
    for each in found:
        if isinstance(each, Subject):
            each.config_named = config
        yield each


def each_subject(
    target: str,
    found: Iterable[Subject | Failed],
    more: Callable[[Subject], Iterable[Finding]] = lambda _: (),
    *,
    own_process: bool = False,
) -> Iterator[Audited | Failed]:
    """The models of one target, audited as by `each_of`."""
    try:
        for subject in found:
            yield subject if isinstance(subject, Failed) else _judgement(subject, more, own_process=own_process)
    except InspectorError as error:
        yield Failed(target, error)


def _judgement(
    subject: Subject, more: Callable[[Subject], Iterable[Finding]], *, own_process: bool
) -> Audited | Failed:
    """One model audited, or what prevents it: the target's other models are still audited."""
    try:
        return examined(subject, more, own_process=own_process)
    except InspectorError as error:
        return Failed(subject.target, error)


def check_codes(codes: Iterable[str]) -> None:
    """Raises UsageError for an unknown code."""
    unknown = sorted(set(codes) - rules.all_rules().keys())
    if unknown:
        raise UsageError(f"unknown rule {escape(', '.join(unknown), 200)}: `inspect audit --rules` lists them")


def collect(judged: Iterable[Audited | Failed], ignore: Collection[str]) -> Audit:
    """The models' combined results, without ignored findings. Raises the first error if there is nothing else."""
    ignored: Counter[str] = Counter()
    kept: list[Audited] = []
    failed: list[Failed] = []
    for each in judged:
        if isinstance(each, Failed):
            failed.append(each)
            continue
        ignored.update(finding.rule for finding in each.findings if finding.rule in ignore)
        kept.append(replace(each, findings=tuple(found for found in each.findings if found.rule not in ignore)))
    if failed and not kept:
        raise failed[0].reason
    return Audit(tuple(kept), ignored, tuple(failed))


def examined(
    subject: Subject, more: Callable[[Subject], Iterable[Finding]] = lambda _: (), *, own_process: bool = False
) -> Audited:
    """One model under every rule, in bounded time; anything not checked is a finding."""
    size = sum(entry.size for entry in subject.entries)
    found: list[Finding] = []
    verdicts: list[readers.Verdict] = []
    looking = rules.that_look()
    left = deque(("reading the files", *(each.code for each in looking), _READERS))

    def refused() -> Iterator[Finding]:
        judged = [_judged(finding, subject) for finding in found if not _excused(finding, subject, found)]
        verdicts.extend(readers.verdicts(subject, judged, own_process=own_process))
        yield from readers.refusals(verdicts, judged)

    seconds, start = limits.seconds_for(size), time.process_time()
    try:
        with _limited(seconds, size, own_process=own_process):
            found += _guarded(left[0], lambda: _read(subject))
        seconds -= time.process_time() - start
        # Checks that the user requested in addition are not limited in time.
        found += _guarded("the additional checks", lambda: more(subject), passed_on=InspectorError)
        with _limited(seconds, size, own_process=own_process):
            for each in looking:
                left.popleft()
                found += _guarded(each.code, partial(_found_by, each, subject))
            left.popleft()
            found += _guarded(_READERS, refused)
    except limits.Exceeded:
        subject.give_up()
        what = f"stopped after {limits.seconds_for(size):.1f} s of work, more than any sound model of its size takes"
        found.append(
            Finding("not-judged", "error", f"{what}: not judged: {', '.join([*left][:4])}" + "…" * (len(left) > 4))
        )
    judged = (_judged(finding, subject) for finding in found if not _excused(finding, subject, found))
    told = dict.fromkeys(_short(finding) for finding in judged)
    return Audited(
        target=subject.target,
        files=len(subject.entries),
        size=size,
        findings=tuple(sorted(told, key=lambda finding: SEVERITIES.index(finding.severity))),
        verdicts=tuple(verdicts),
        root=subject.root,
    )


@contextmanager
def _limited(seconds: float, size: int, *, own_process: bool) -> Iterator[None]:
    """The processor time that is left, and the memory that a target of this many bytes may take."""
    with ExitStack() as limited:
        limited.enter_context(limits.processor_time(seconds))
        if own_process:
            limited.enter_context(limits.memory(limits.memory_for(size)))
        yield


#: What follows the rules.
_READERS = "the readers' verdicts"


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


def _read(subject: Subject) -> Iterator[Finding]:
    """The findings of the readers, the selection of files and the bridge."""
    checkpoint = subject.checkpoint
    yield from (finding for header in subject.extra for finding in header.findings)
    yield from subject.of_other_sets
    yield from subject.findings
    try:
        joined = subject.result.findings if subject.result else ()
    finally:  # if the bridge fails, the readers' findings are still reported
        if "result" not in vars(subject):
            yield from checkpoint.all_findings if checkpoint else ()
    for finding in joined or (checkpoint.all_findings if checkpoint else ()):
        judged = _without_need(finding, subject)
        yield judged if judged.path or not judged.tensor else judged._replace(path=subject.apart)


def _without_need(finding: Finding, subject: Subject) -> Finding:
    """A warning for a missing bias that llama.cpp does without."""
    if finding.rule != "missing" or finding.tensor is None or finding.severity != "error":
        return finding
    from inspector.auditing.rules.gguf_tensors import is_optional  # only where something is missing

    files = [header for header in subject.headers if header.format == "gguf"]
    needless = bool(files) and is_optional(finding.tensor, files[0])
    return finding._replace(severity="warning") if needless else finding


def _found_by(rule: Rule, subject: Subject) -> Iterator[Finding]:
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


def _short(finding: Finding) -> Finding:
    path, tensor = (name and _cut(name, LONGEST_NAME) for name in (finding.path, finding.tensor))
    return finding._replace(message=_cut(finding.message, LONGEST_MESSAGE), path=path, tensor=tensor)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest]}… ({integer(len(text))} letters)"


#: Rules that are more severe for an untrusted download than for one's own file.
_GRAVER = frozenset({"conflicting-key", "config"})


#: Sizes that llama.cpp and Transformers compare, where other loaders pad or resize.
_GRAVER_WHERE_COMPARED = frozenset({"vocab-padding"})


def _judged(finding: Finding, subject: Subject) -> Finding:
    graver = finding.rule in _GRAVER or (finding.rule in _GRAVER_WHERE_COMPARED and _is_compared(subject))
    return finding._replace(severity="error") if graver else finding


def _is_compared(subject: Subject) -> bool:
    """Whether the loader refuses a tensor of another size: llama.cpp, and Transformers for a class of its own."""
    if models := [header.metadata for header in subject.headers if header.format == "gguf"]:
        from inspector.auditing.rules.gguf import kind_of_tokenizer  # only where an embedding has another size

        # llama.cpp ignores a stated size where there are tokens, with which `gguf-vocabulary` compares the rows
        stated = any(f"{each.get('general.architecture')}.vocab_size" in each for each in models)
        return not stated or any(kind_of_tokenizer(each) == "NONE" for each in models)
    config = subject.config
    if config is None or config.kind != "config.json" or "auto_map" in config.values:
        return False
    from inspector.auditing.rules.configurations import fields  # with Transformers' types

    safe = any(header.format == "safetensors" for header in subject.headers)
    return safe and config.values.get("model_type") in fields()["transformers"]["fields"]


#: Consequences of unreadable tensors, which the rule about the cause reports.
_CONSEQUENCES = frozenset({"missing", "head-not-stored"})


#: Rules that identify a file's true kind, and consequences of its not being of the expected kind.
_TELLING = frozenset({"error-message", "blank-file", "html-page", "lfs-pointer"})
_OF_KIND = frozenset({"document", "tokenizer", "wrong-kind", "config", "pickle", "unreadable-file", "not-weights"})


def _excused(finding: Finding, subject: Subject, found: Sequence[Finding]) -> bool:
    """Whether another finding explains the same better."""
    if finding.rule == "missing-shard":
        gone = (entry.name for entry in subject.entries if entry.outside or entry.broken)
        return any(name in finding.message for name in gone)
    if finding.rule in _OF_KIND:
        return any(other.rule in _TELLING and other.path == finding.path for other in found)
    if finding.rule == "missing-part":  # from the file's key-values, if file names already show it
        return any(other.rule == "missing-shard" and other.path == finding.path for other in found)
    return finding.rule in _CONSEQUENCES and subject.incomplete
