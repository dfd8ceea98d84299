"""Is this download whole, consistent and safe? Every rule on every model at the targets.

A target is a file, a folder with a model, a folder of such folders, or anything else that `targets`
finds: what is no path of this machine and has the shape of a Hub id is asked of the Hub. A folder with
weight files directly in it is a model; files below it that belong to no other model are looked at with it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from inspector.auditing import rules
from inspector.auditing.rules.subject import Subject
from inspector.errors import TargetError, UsageError
from inspector.model import Finding, Severity
from inspector.opening.weight_index import MAX_INDEX
from inspector.sources.filenames import INDEX, WEIGHTS
from inspector.sources.listing import Entry, entries
from inspector.sources.local import LocalPlace
from inspector.sources.targets import place_of
from inspector.units import escape

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")
#: Ends of files that make a folder a model's, whole or not.
_MARKS = (*WEIGHTS, ".index.json", ".bin", ".pt", ".pth", ".ckpt", ".pkl", *(end + ".incomplete" for end in WEIGHTS))
#: Findings of one rule in one model that are told one by one.
MOST_PER_RULE = 50


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the format's reference reader would take a file."""

    path: str
    reader: str  # "safetensors" or "llama.cpp"
    accepts: bool | None  # None where the header was not read
    reason: str | None = None  # the rule that says no


@dataclass(frozen=True, slots=True)
class Audited:
    """One model with what was found."""

    target: str  # path or id, as people would type it
    files: int
    size: int  # bytes of its files
    findings: tuple[Finding, ...]  # errors first
    verdicts: tuple[Verdict, ...] = ()
    root: str | None = None  # the folder that findings' paths are relative to; None where it is not on this machine


@dataclass(frozen=True, slots=True)
class Audit:
    """All models that were looked at."""

    checkpoints: tuple[Audited, ...]
    ignored: Counter[str] = field(default_factory=Counter)  # rule → findings that were asked to be left out

    @property
    def counts(self) -> dict[Severity, int]:
        found = Counter(finding.severity for each in self.checkpoints for finding in each.findings)
        return {severity: found[severity] for severity in SEVERITIES}

    def fails(self, on: Severity) -> bool:
        """Whether there is a finding as grave as `on`."""
        return any(self.counts[severity] for severity in SEVERITIES[: SEVERITIES.index(on) + 1])


def audit(targets: Iterable[str | Path], *, ignore: Collection[str] = (), revision: str | None = None) -> Audit:
    """Every rule on every model at the targets. Headers and small files are read, never tensor data.

    Args:
        ignore: codes of rules whose findings are left out, and counted.

    Raises:
        TargetError: nothing that can be audited stands at a target.
        SourceError: it cannot be read.
        UsageError: `ignore` names a rule that there is not.
    """
    check_codes(ignore)
    return collect((examined(subject) for target in targets for subject in subjects(str(target), revision)), ignore)


def check_codes(codes: Iterable[str]) -> None:
    """Raises UsageError for a code that no rule has."""
    unknown = sorted(set(codes) - rules.all_rules().keys())
    if unknown:
        raise UsageError(f"there is no rule {escape(', '.join(unknown), 200)}: `inspect audit --rules` lists them")


def collect(audited: Iterable[Audited], ignore: Collection[str]) -> Audit:
    """The models' results together, without the findings to be ignored."""
    ignored: Counter[str] = Counter()
    kept = []
    for each in audited:
        ignored.update(finding.rule for finding in each.findings if finding.rule in ignore)
        findings = tuple(finding for finding in each.findings if finding.rule not in ignore)
        kept.append(Audited(each.target, each.files, each.size, findings, each.verdicts, each.root))
    return Audit(tuple(kept), ignored)


def examined(subject: Subject, more: Iterable[Finding] = ()) -> Audited:
    """One model under every rule. `more` are findings made elsewhere, by checksums say."""
    read = [*subject.findings, *(finding for header in subject.extra for finding in header.findings)]
    joined = subject.result.findings if subject.result else ()
    read += joined or (subject.checkpoint.all_findings if subject.checkpoint else ())
    own = [finding for rule in rules.all_rules().values() for finding in _at_most(rule.findings(subject))]
    found = dict.fromkeys(_judged(finding) for finding in (*read, *own, *more) if not _excused(finding, subject))
    return Audited(
        target=subject.target,
        files=len(subject.entries),
        size=sum(entry.size for entry in subject.entries),
        findings=tuple(sorted(found, key=lambda finding: SEVERITIES.index(finding.severity))),
        verdicts=tuple(_verdicts(subject)),
        root=subject.root,
    )


def _at_most(findings: Iterator[Finding]) -> Iterator[Finding]:
    """A rule's first findings, and how many there are besides."""
    rest = 0
    last: Finding | None = None
    for number, finding in enumerate(findings):
        if number < MOST_PER_RULE:
            yield finding
        else:
            rest, last = rest + 1, finding
    if last:
        yield Finding(last.rule, last.severity, f"{rest} more of this kind", None)


#: Rules that are graver for a download from a stranger than for whoever reads their own file.
_GRAVER = frozenset({"conflicting-key"})


def _judged(finding: Finding) -> Finding:
    return finding._replace(severity="error") if finding.rule in _GRAVER else finding


#: What follows from tensors that could not be read: told by the rule that says why.
_CONSEQUENCES = frozenset({"missing", "head-not-stored"})


def _excused(finding: Finding, subject: Subject) -> bool:
    """Whether another finding tells the same better."""
    if finding.rule == "missing-shard":
        gone = (entry.name for entry in subject.entries if entry.outside or entry.broken)
        return any(name in finding.message for name in gone)
    return finding.rule in _CONSEQUENCES and subject.incomplete


def _verdicts(subject: Subject) -> Iterator[Verdict]:
    """What the readers themselves reject is an error of theirs; see `formats.safetensors` and `formats.gguf`."""
    told: dict[str, str] = {}
    headers = {header.path: header for header in subject.all_headers}
    for header in headers.values():
        for finding in header.findings:
            if finding.severity == "error":
                told.setdefault(header.path, finding.rule)
    unread = {finding.path: finding for finding in subject.findings if finding.path}
    stand_ins = {header.path for header in subject.headers if not header.bytes_in("header")}
    for finding in subject.checkpoint.findings if subject.checkpoint else ():
        if finding.path in stand_ins:
            unread.setdefault(finding.path, finding)
    for path in sorted(headers.keys() | {path for path in unread if path.endswith(WEIGHTS)}):
        reader = "llama.cpp" if path.endswith(".gguf") else "safetensors"
        if path in unread:
            refused = unread[path].severity == "error"
            yield Verdict(path, reader, False if refused else None, unread[path].rule)
        elif not path.endswith("." + headers[path].format):
            yield Verdict(path, reader, False, "wrong-extension")
        else:
            yield Verdict(path, reader, path not in told, told.get(path))


# --- targets ----------------------------------------------------------------------------------


def snapshot(folder: Path, repository: str, target: str) -> Iterator[Subject]:
    """The models in a snapshot of the Hub's cache; one without weights is looked at all the same."""
    yield from _in_folder(folder, target, repository, required=False)


def subjects(target: str, revision: str | None = None) -> Iterator[Subject]:
    """Every model at a target; each is closed when the next is asked for.

    Raises:
        TargetError: there is none.
    """
    path = Path(target).expanduser()
    if path.is_dir():
        yield from _in_folder(path, target)
        return
    place = place_of(target, revision)
    try:
        if isinstance(place, LocalPlace):
            listed = list(entries(path.parent, recursive=False))
            yield Subject(place, listed, target, str(path.parent))
        else:
            yield Subject(place, [Entry(name, "file", size) for name, size in place.files.items()], target)
    finally:
        place.close()


def _in_folder(root: Path, target: str, cache_name: str | None = None, *, required: bool = True) -> Iterator[Subject]:
    listed = list(entries(root))
    models = _models(root, listed, {""} if not required else set())
    if not models:
        raise TargetError(f"{escape(target)} has no weight files, whole or broken, in any folder")
    for folder, own in sorted(models.items()):
        inner = [replace(entry, path=entry.path[len(folder) :]) for entry in own] if folder else own
        place = LocalPlace(root / folder, _listed(inner))
        try:
            yield Subject(place, inner, str(Path(target, folder)), str(root / folder), cache_name)
        finally:
            place.close()


def _models(root: Path, listed: Sequence[Entry], marked: set[str]) -> dict[str, list[Entry]]:
    """Folder → its files and those below it that belong to no model of their own.

    Files above all models, or in folders without any, go to the root.
    """
    marked |= {entry.folder for entry in listed if entry.name.lower().endswith(_MARKS) and not _hidden(entry.folder)}
    marked -= _indexed(root, listed, marked)
    if not marked:
        return {}
    models: defaultdict[str, list[Entry]] = defaultdict(list)
    for entry in listed:
        models[_home(entry.folder, marked)].append(entry)
    return models


#: A file in a folder, in an index's map. The map is not parsed: seldom does it name any.
_IN_FOLDER = re.compile(rb':\s*"([^"\\/.][^"\\]*/)[^"\\/]+\.safetensors"')


def _indexed(root: Path, listed: Sequence[Entry], marked: set[str]) -> frozenset[str]:
    """Folders whose weights are the shards of an index above them, and no model of their own."""
    folders: set[str] = set()
    for entry in listed:
        readable = entry.name.endswith(INDEX) and entry.kind == "file" and not entry.outside
        below = readable and any(folder != entry.folder and folder.startswith(entry.folder) for folder in marked)
        if below and entry.size <= MAX_INDEX:
            try:
                raw = (root / entry.path).read_bytes()
            except OSError:
                continue
            folders |= {entry.folder + found[1].decode("utf-8", "replace") for found in _IN_FOLDER.finditer(raw)}
    return frozenset(folders)


def _listed(entries: Sequence[Entry]) -> dict[str, int]:
    """Files by path as a place lists them: without hidden ones, and links to folders or to nothing."""
    return {
        entry.path: entry.size
        for entry in entries
        if not entry.broken and entry.refused is None and not entry.path.startswith(".") and "/." not in entry.path
    }


def _hidden(folder: str) -> bool:
    return folder.startswith(".") or "/." in folder


def _home(folder: str, marked: set[str]) -> str:
    """The nearest marked folder at or above one; the root where there is none."""
    while folder and folder not in marked:
        folder = folder[: folder.rstrip("/").rfind("/") + 1]
    return folder
