"""What both kinds of document are made from: models with their files and findings."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote
from uuid import NAMESPACE_URL, UUID, uuid5

from inspector.auditing.catalogue import all_rules
from inspector.auditing.run import Audit
from inspector.auditing.subject import Subject
from inspector.model import Finding
from inspector.report.words import public
from inspector.scanning.rows import described_by
from inspector.scanning.schema import arrow_schema
from inspector.scanning.unit import storable
from inspector.units import plural
from inspector.version import __version__

TOOL = "checkpoint-inspector"
#: Columns of docs/tables.md that describe a model, in the order in which they are shown.
FACTS = (
    "format", "family", "model_type", "class", "config", "dtype", "scheme", "bits", "group_size", "logical", "active",
    "predicted", "stored_elements", "tensors", "weight_files", "on_disk", "adapter", "structure_id",
)  # fmt: skip
#: A fact's name in the documents, where it is another.
WORDS = {
    "logical": "parameters",
    "active": "active_parameters",
    "predicted": "predicted_parameters",
    "on_disk": "bytes",
}
#: Rules about files that should be there, and about what was not examined.
_GAPS = frozenset({"missing-shard", "missing-part", "many-files", "not-judged"})


class File(NamedTuple):
    """A file of a model."""

    path: str
    size: int
    weights: bool  # whether it was read as weights
    sha256: str | None = None  # computed from its bytes
    stated: str | None = None  # what a store, a cache or a manifest states: `sha256:…`, or `git:…`, SHA-1 of git's blob


class Model(NamedTuple):
    """A checkpoint, or files that belong to none."""

    target: str
    columns: Mapping[str, Any]  # of its row in the table `checkpoints`
    files: tuple[File, ...]
    findings: tuple[Finding, ...]
    unread: tuple[str, ...]  # what was not read, one sentence each

    @property
    def facts(self) -> dict[str, str]:
        """Name → value of everything that is known."""
        known = {name: self.columns.get(name) for name in FACTS}
        return {WORDS.get(name, name): storable(str(each)) for name, each in known.items() if each is not None}

    @property
    def is_whole(self) -> bool:
        """Whether no file is known to be missing or unexamined."""
        return not any(each.rule in _GAPS for each in self.findings)

    @property
    def purl(self) -> str | None:
        """The package URL of a repository on the Hub."""
        repository, revision = self.columns.get("repository"), self.columns.get("revision")
        at = f"@{revision}" if revision else ""
        return f"pkg:huggingface/{quote(repository)}{at}" if repository else None


class Bill(NamedTuple):
    """Everything a document contains."""

    models: tuple[Model, ...]
    failed: tuple[tuple[str, str], ...] = ()  # target that was not judged, why

    @property
    def identity(self) -> UUID:
        """The same for the same contents and the same version of this program."""
        return uuid5(NAMESPACE_URL, json.dumps((TOOL, __version__, *self), sort_keys=True, default=str))


def described(subject: Subject) -> tuple[Mapping[str, Any], tuple[File, ...]]:
    """The columns of an examined model, and its files."""
    columns, files = described_by(subject)
    origin = subject.place.origin()
    repository = subject.cache_name
    if origin.kind == "hub" and not repository:
        repository = "/".join(origin.location.split("://", 1)[-1].split("/")[1:3])
    named = (
        File(each["path"], each["size"], each["weights"], subject.digests.get(each["path"]), each["digest"])
        for each in files
    )
    return {**columns, "repository": repository}, tuple(named)


def of_audit(result: Audit) -> Bill:
    """The bill of an audit that was asked for one."""
    models = []
    for each in result.checkpoints:
        columns, files = each.described or ({}, ())
        models.append(_model(public(each.target), columns, files, each.findings, data=result.data))
    return _sorted(models, [(public(each.target), str(each.reason)) for each in result.failed])


def of_tables(folder: Path) -> Bill:
    """The bill of a scan's tables. All of it is in memory at once: some 5 KB for each checkpoint of ten files."""
    from pyarrow import dataset

    from inspector.scanning import storage

    committed = storage.parts(folder)
    models: list[Model] = []
    failed: list[tuple[str, str]] = []
    for part in committed:
        rows = {
            table: dataset.dataset(str(storage.part_file(folder, table, part)), arrow_schema(table))
            .to_table()
            .to_pylist()
            for table in ("checkpoints", "files", "findings")
        }
        of: dict[str, tuple[list[File], list[Finding]]] = {row["checkpoint"]: ([], []) for row in rows["checkpoints"]}
        for row in rows["files"]:
            of[row["checkpoint"]][0].append(File(row["path"], row["size"], row["weights"], None, row["digest"]))
        for row in rows["findings"]:
            found = Finding(row["rule"], row["severity"], row["message"], row["path"], row["tensor"])
            of[row["checkpoint"]][1].append(found)
        for row in rows["checkpoints"]:
            files, findings = of[row["checkpoint"]]
            target = public(row["target"])
            if row["error"] is not None and not files:
                failed.append((target, row["error"]))
            else:
                name = "/".join(target.removeprefix("hf://").partition("@")[0].split("/")[:2])
                row["repository"] = name if row["kind"] == "hub" else None
                models.append(_model(target, row, files, findings, data=False))
    return _sorted(models, failed)


def _model(
    target: str, columns: Mapping[str, Any], files: Iterable[File], findings: Sequence[Finding], *, data: bool
) -> Model:
    files = tuple(sorted(each._replace(path=storable(each.path)) for each in files))
    return Model(storable(target), columns, files, tuple(findings), tuple(_unread(files, findings, data=data)))


def _unread(files: Sequence[File], findings: Iterable[Finding], *, data: bool) -> Iterator[str]:
    if not data:
        yield "The values of the tensors were not read: --data reads them."
    hashed = sum(each.sha256 is not None for each in files)
    if hashed < len(files):
        number = plural(len(files) - hashed, "file")
        why = "in hidden folders, or unreadable" if hashed else "`inspect audit --checksum` hashes them"
        yield f"{number} of {len(files)} not hashed: {why}."
    for each in findings:
        if each.rule in _GAPS:
            yield storable(f"{each.path}: {each.message}" if each.path else each.message)


def _sorted(models: Iterable[Model], failed: Iterable[tuple[str, str]]) -> Bill:
    """In an order that does not depend on that of the work."""
    named = ((storable(target), storable(why)) for target, why in failed)
    return Bill(tuple(sorted(models, key=lambda each: each.target)), tuple(sorted(named)))


def is_unsafe(finding: Finding) -> bool:
    """Whether a finding is about harm that a model may do, and is more than a note."""
    known = all_rules().get(finding.rule)
    return known is not None and known.group == "safe" and finding.severity != "info"


def text_of(finding: Finding) -> str:
    """One line: severity, rule, tensor and message."""
    place = f"{finding.tensor}: " if finding.tensor else ""
    return storable(f"{finding.severity} {finding.rule}: {place}{finding.message}")


def created() -> datetime | None:
    """The date by SOURCE_DATE_EPOCH, seconds since 1970; None without one, or with one that is not a date."""
    try:
        return datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), timezone.utc)
    except (KeyError, ValueError, OverflowError, OSError):
        return None
