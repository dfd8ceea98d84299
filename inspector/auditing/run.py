"""Is this download whole, consistent and safe? Every rule on every model at the targets, each in bounded time.

A rule that fails or takes too long does not keep others from running. Findings are then put in order: one that another
explains better is left out, and some become more severe, because these files are a download.
"""

from __future__ import annotations

import os
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inspector import settings
from inspector.architectures import tables_of_project
from inspector.auditing import catalogue, limits
from inspector.auditing import verdicts as readers
from inspector.auditing.rule import Rule
from inspector.auditing.subject import Subject
from inspector.auditing.targets import Failed, hub_cache, in_folder, subjects
from inspector.errors import InspectorError, NetworkError, UsageError, readable
from inspector.model import Finding, Severity
from inspector.opening import configs
from inspector.tabular import Tabular
from inspector.units import escape, integer, plural

if TYPE_CHECKING:
    from inspector.auditing.checksums import Checksums

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


# --- severity, and what another finding explains -------------------------------------------------

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


# --- every model at the targets -------------------------------------------------------------------

#: The bytes that are to be read of a model, and its target → a context whose value is called with the bytes read since
#: the last call, from several threads.
Progress = Callable[[int, str], AbstractContextManager[Callable[[int], object]]]


@dataclass(frozen=True, slots=True)
class Audit(Tabular):
    """All audited models."""

    checkpoints: tuple[Audited, ...]
    ignored: Counter[str] = field(default_factory=Counter)  # rule → number of ignored findings
    failed: tuple[Failed, ...] = ()
    data: bool = True  # whether the tensors' values were read

    def __repr__(self) -> str:
        names = (name if name != "info" else "note" for name in SEVERITIES)
        found = ", ".join(map(plural, self.counts.values(), names))
        failed = f", {len(self.failed)} not judged" if self.failed else ""
        return f"<Audit of {plural(len(self.checkpoints), 'model')}: {found}{failed}>"

    @property
    def counts(self) -> dict[Severity, int]:
        found = Counter(finding.severity for each in self.checkpoints for finding in each.findings)
        return {severity: found[severity] for severity in SEVERITIES}

    def fails(self, on: Severity) -> bool:
        """Whether there is a finding at least as severe as `on`."""
        return any(self.counts[severity] for severity in SEVERITIES[: SEVERITIES.index(on) + 1])


def audit(
    targets: str | Path | Iterable[str | Path] = (),
    *,
    ignore: Collection[str] = (),
    revision: str | None = None,
    alone: bool = False,
    config: str | Path | None = None,
    cache: bool = False,
    data: bool = False,
    deep: bool = False,
    checksum: bool = False,
    manifest: str | Path | None = None,
    write_manifest: str | Path | None = None,
    hub: str | None = None,
    sbom: str | Path | None = None,
    progress: Progress | None = None,
    own_process: bool = False,
) -> Audit:
    """Check every model at the targets by every rule. Reads headers and small files, and whole files only on request.

    A target that cannot be audited is listed in `Audit.failed`; if there is nothing else, the first one's error is
    raised. The network is used for targets on the Hub, and for `hub`.

    Args:
        targets: a file, a model's folder, a folder of such folders, or a repository on the Hub; or several of them.
        ignore: codes of rules whose findings are omitted, but counted.
        revision: a branch, tag or commit of Hub repositories.
        alone: whether a shard is audited by itself, without its set.
        config: a configuration file, or a folder with one, to use instead of those beside the weights.
        cache: whether every model in the Hub's cache is audited, and the cache itself; `targets` may name other caches.
        data: whether to read the tensors too, and judge them by the rules of the group `data`; needs NumPy.
        deep: whether to render chat templates too, in a sandbox in a separate process; needs Jinja.
        checksum: whether to read whole files and compare their SHA-256 with the known ones: those of the Hub's cache,
            of a download's own record, and of a manifest beside the weights. So do the next three.
        manifest: a file in sha256sum's format with the checksums to compare with.
        write_manifest: a file to write all files' checksums to, in the same format; it has to be above all models.
        hub: the repository whose checksums are requested from the Hub.
        sbom: a file to write a bill of materials to: `*.cdx.json` for CycloneDX 1.6, `*.spdx3.json` for SPDX 3.0; with
            `checksum`, it has the SHA-256 of every file. Needs the packages of the extra `sbom`.
        progress: what to call with the number of bytes to be read of a model, and its target. Returns a context whose
            value is called with the number of bytes read since the last call, from several threads.
        own_process: whether nothing else runs in this process, so that its memory may be limited meanwhile.

    Raises:
        TargetError: there is nothing to audit at any target, or its files are not on this machine and were to be
            hashed.
        ConfigError: `config` cannot be read.
        SourceError: a target, or the Hub, cannot be read; or the manifest cannot be written.
        UsageError: `ignore` names an unknown rule, a package for `data`, `deep` or `sbom` is missing, `manifest` is not
            one, `write_manifest` is below a model, or `sbom` may not be written.

    Example:
        >>> found = inspector.audit(["fixtures/real/safetensors/burn/complex_nested.safetensors"])
        >>> [finding.rule for checkpoint in found.checkpoints for finding in checkpoint.findings]
        ['no-prediction']
    """
    check_codes(ignore)
    named = [str(target) for target in ([targets] if isinstance(targets, (str, Path)) else targets)]
    sums: Checksums | None = None
    if checksum or manifest or write_manifest or hub:
        from inspector.auditing.checksums import Checksums

        sums = Checksums(manifest, write_manifest, hub, revision, everything=sbom is not None)
    more = _more(sums, progress, data=data, deep=deep)
    examine = partial(examined, more=more, own_process=own_process)
    bill = None
    if sbom is not None:
        bill = Tabular.renderer().sbom(sbom)
        examine = partial(examine, describe=bill.described)
    with tables_of_project(settings.here(named).tables):
        if cache:
            judged = each_cached(named, examine)
        else:
            path = None if config is None else Path(config)
            judged = each_of(named, revision, examine, alone=alone, config=path)
        result = replace(collect(judged, ignore), data=data)
    if sums is not None:
        sums.save()
    if bill is not None:
        bill.write(result)
    return result


def _more(sums: Checksums | None, progress: Progress | None, *, data: bool, deep: bool) -> More:
    """What is checked on request. Raises UsageError if a package for it is missing."""
    if data:
        from inspector.measuring import needs

        needs.check()
    if deep:
        from inspector.auditing.readers import templates  # with Jinja, on request

        templates.check_rendering()

    def more(subject: Subject) -> Iterator[Finding]:
        if data or sums:
            yield from _whole_files(subject, sums, progress, data=data)
        if deep:
            yield from templates.rendered(subject)

    return more


def _whole_files(
    subject: Subject, sums: Checksums | None, progress: Progress | None, *, data: bool
) -> Iterator[Finding]:
    """Read the tensors for the rules about data, if requested, and hash files: weights from the same bytes."""
    expected, files = sums.wanted(subject) if sums else ([], {})
    weights = {header.path: header.size for header in subject.all_headers} if data else {}
    beside = {place: path for place, path in files.items() if path not in weights}
    digests: dict[str, str] = {}
    total = sum((*weights.values(), *(place.stat().st_size for place in beside)))
    with progress(total, subject.target) if progress else nullcontext(lambda _: None) as done:
        if data:
            from inspector.auditing.values.numbers.reading import read

            yield from read(subject, [path for path in files.values() if path in weights], done)
            digests |= subject.measured.digests if subject.measured else {}
        if sums:
            from inspector.auditing.checksums import sha256_of

            digests |= {beside[place]: digest for place, digest in sha256_of([*beside], done).items()}
    if sums:
        yield from sums.compared(subject, expected, digests)


def each_of(
    targets: Iterable[str],
    revision: str | None = None,
    examine: Callable[..., Audited] = examined,
    *,
    alone: bool = False,
    config: Path | None = None,
) -> Iterator[Audited | Failed]:
    """The audited models at each target, or what is wrong with the target: one bad target does not affect the others.

    Args:
        examine: `examined`, with options.

    Raises:
        ConfigError: `config` cannot be read.
    """
    if config is not None:
        configs.load(config)  # one error at the start, instead of a finding in each model
    for target in targets:
        found = subjects(target, revision, alone=alone)
        yield from _each_subject(target, found, partial(examine, config=config))


def each_cached(
    places: Collection[str], examine: Callable[[Subject], Audited] = examined
) -> Iterator[Audited | Failed]:
    """The Hub's cache, or other such caches: each itself, then each of its snapshots."""
    for place in places or ("",):
        try:
            cache = hub_cache(Path(place) if place else None)
        except InspectorError as error:
            yield Failed(place, error)
            continue
        path = str(cache.path)
        yield Audited(path, 0, cache.size, cache.findings, root=path, is_model=False)
        for each in cache.snapshots:
            name = f"{each.repository}@{each.revision[:12]}"
            found = in_folder(each.path, name, each.repository, required=False)
            yield from _each_subject(name, found, examine)


def _each_subject(
    target: str, found: Iterable[Subject | Failed], examine: Callable[[Subject], Audited]
) -> Iterator[Audited | Failed]:
    """The models of one target, or what it has instead; one that cannot be audited does not affect the others."""
    try:
        with readable(target):
            for number, subject in enumerate(found):
                try:
                    with readable(subject.target):
                        judged = subject if isinstance(subject, Failed) else examine(subject)
                    if isinstance(judged, Failed) or judged.is_model or judged.findings or not number:
                        yield judged
                except InspectorError as error:
                    yield Failed(subject.target, error)
    except InspectorError as error:
        yield Failed(target, error)


def check_codes(codes: Iterable[str]) -> None:
    """Raises UsageError for an unknown code."""
    unknown = sorted(set(codes) - catalogue.all_rules().keys())
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
