"""Is this download whole, consistent and safe? Every rule on every model at the targets, each in bounded time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from inspector import settings
from inspector.architectures import tables_of_project
from inspector.auditing import catalogue
from inspector.auditing.examination import SEVERITIES, Audited, More, examined
from inspector.auditing.stores import hub_cache
from inspector.auditing.subject import Subject
from inspector.auditing.targets import Failed, in_folder, subjects
from inspector.errors import InspectorError, UsageError, readable
from inspector.model import Finding, Severity
from inspector.opening import configs
from inspector.tabular import Tabular
from inspector.units import escape, plural

if TYPE_CHECKING:
    from inspector.auditing.checksums import Checksums


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
    def findings(self) -> tuple[Finding, ...]:
        """Those of all models, in their order."""
        return tuple(finding for each in self.checkpoints for finding in each.findings)

    @property
    def counts(self) -> dict[Severity, int]:
        found = Counter(finding.severity for finding in self.findings)
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
