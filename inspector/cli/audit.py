"""`inspect audit`: its options, and which subjects they name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from inspector.cli import console, terminal
from inspector.cli.console import bytes_read, print_json, print_lines
from inspector.cli.options import one_form, wide_option
from inspector.errors import InspectorError, TargetError, UsageError

if TYPE_CHECKING:
    from inspector.auditing.rules.subject import Subject
    from inspector.auditing.run import Audit, Audited, Failed
    from inspector.model import Finding

FINDINGS = 1  # exit code


@click.command()
@click.argument("targets", nargs=-1, metavar="TARGET...")
@click.option("--cache", is_flag=True, help="Every model in the Hub's cache; TARGET may name another cache.")
@click.option("--checksum", is_flag=True, help="Read whole files: SHA-256 against what is known of them.")
@click.option("--manifest", type=click.Path(), metavar="FILE", help="Checksums to compare with, as sha256sum has them.")
@click.option("--write-manifest", type=click.Path(), metavar="FILE", help="Write the checksums of all files there.")
@click.option("--hub", metavar="ORG/NAME", help="Ask the Hub for this repository's checksums.")
@click.option("--deep", is_flag=True, help="Render chat templates too, in a sandbox and a process of their own.")
@click.option("--revision", metavar="R", help="Branch, tag or commit of a Hub repository.")
@click.option("--alone", is_flag=True, help="A shard stands for itself, and not for its set.")
@click.option("--fail-on", type=click.Choice(["error", "warning"]), help="From which severity on to exit with 1.")
@click.option("--ignore", multiple=True, metavar="CODE", help="Leave a rule out; may be given again.")
@click.option("--rules", "list_rules", is_flag=True, help="List the rules.")
@wide_option
@click.option("--json", "forms", flag_value="json", multiple=True, help="One JSON object on stdout.")
@click.option("--sarif", "forms", flag_value="sarif", multiple=True, help="SARIF 2.1.0 on stdout, for code scanning.")
def audit(
    targets: tuple[str, ...],
    cache: bool,
    checksum: bool,
    manifest: str | None,
    write_manifest: str | None,
    hub: str | None,
    deep: bool,
    revision: str | None,
    alone: bool,
    fail_on: str | None,
    ignore: tuple[str, ...],
    list_rules: bool,
    wide: bool,
    forms: tuple[str, ...],
) -> None:
    """Is this download whole, consistent and safe?

    TARGET is a file, a model's folder, or a folder of such folders. Nothing is run, nothing is written, and
    no network is used unless asked. Exits with 1 where something was found, with 2 where a target could not be judged.
    """
    from inspector import settings
    from inspector.architectures import tables_of_project
    from inspector.auditing import run as audits

    if list_rules:
        from inspector.report.audit import rules

        print_lines(rules().split("\n"), wide=wide)
        return
    form = one_form(forms)
    if not targets and not cache:
        raise UsageError("name what to audit: files, folders, or --cache for the Hub's cache")
    project = settings.here(targets)
    codes = {*ignore, *project.ignore}
    audits.check_codes(codes)
    sums = Checksums(manifest, write_manifest, hub, revision) if checksum or manifest or write_manifest or hub else None
    more = _more(sums, deep=deep)
    with tables_of_project(project.tables):
        judged = _cached(targets, more) if cache else _audited(targets, revision, more, alone=alone)
        result = audits.collect(judged, codes)
    if sums is not None:
        sums.save()
    for each in project.passed_over:
        console.tell(f"{each}: not taken for settings, for it belongs to what is audited")
    for failed in result.failed:
        reason = str(failed.reason)
        console.tell(reason if failed.target in reason else f"{failed.target}: {reason}")
    with console.reader_may_leave():
        _show(result, form, wide=wide)
    if code := _exit_code(result, fail_on or project.fail_on):
        raise click.exceptions.Exit(code)


def _exit_code(result: Audit, fail_on: str) -> int:
    """What could not be audited counts for more than what was found."""
    if result.failed:
        return console.UNREADABLE
    return FINDINGS if result.fails("warning" if fail_on == "warning" else "error") else 0


More = Callable[["Subject"], "Iterable[Finding]"]


def _more(sums: Checksums | None, *, deep: bool) -> More:
    """What is found in other ways than by rules."""

    def more(subject: Subject) -> Iterator[Finding]:
        if sums is not None:
            yield from sums.of(subject)
        if deep:
            from inspector.auditing import rendering  # with what starts a process

            yield from rendering.findings(subject)

    return more


def _audited(targets: tuple[str, ...], revision: str | None, more: More, *, alone: bool) -> Iterator[Audited | Failed]:
    from inspector.auditing import run as audits

    return audits.each_of(targets, revision, more, alone=alone, own_process=True)


def _cached(places: tuple[str, ...], more: More) -> Iterator[Audited | Failed]:
    """The Hub's cache, then each snapshot in it."""
    from inspector.auditing import hub_cache as caches
    from inspector.auditing import run as audits

    for place in places or (None,):
        try:
            cache = caches.scan(Path(place) if place else None)
        except InspectorError as error:
            yield audits.Failed(place or "--cache", error)
            continue
        path = str(cache.path)
        yield audits.Audited(path, 0, cache.size, cache.findings, root=path, is_model=False)
        for snapshot in cache.snapshots:
            name = f"{snapshot.repository}@{snapshot.revision[:12]}"
            found = audits.snapshot(snapshot.path, snapshot.repository, name)
            yield from audits.each_subject(name, found, more, own_process=True)


class Checksums:
    """What the user asked for in the way of checksums, and what was computed on the way."""

    def __init__(self, manifest: str | None, write: str | None, hub: str | None, revision: str | None) -> None:
        self._manifest = Path(manifest) if manifest else None
        self._write = Path(write) if write else None
        self._hub, self._revision = hub, revision
        self._digests: dict[Path, str] = {}

    def of(self, subject: Subject) -> list[Finding]:
        """Hash a model's files and compare; the findings."""
        from inspector.auditing import checksums

        if not subject.is_local:
            raise TargetError(f"{subject.target} is not on this machine: checksums are of local files")
        expected = list(checksums.known(subject, self._manifest))
        if self._hub:
            expected += checksums.from_hub(subject, self._hub, self._revision)
        paths = checksums.to_hash(subject, expected, everything=self._write is not None)
        paths = [path for path in paths if not subject.refusal(subject.by_path[path])]
        own = self._write.resolve() if self._write else None
        places = {path: file.resolve() for path in paths if (file := subject.on_disk(path))}
        files = {file: path for path, file in places.items() if file != own}
        total = sum(path.stat().st_size for path in files)
        with bytes_read(total, subject.target) as done:
            digests = checksums.sha256_of(list(files), done)
        self._digests.update(digests)
        return list(checksums.verify(subject, expected, {files[path]: digest for path, digest in digests.items()}))

    def save(self) -> None:
        """Write the manifest, where one was asked for."""
        if self._write is not None:
            from inspector.auditing import checksums

            checksums.write_manifest(self._write, self._digests)


def _show(result: Any, form: str | None, *, wide: bool) -> None:
    if form == "sarif":
        from inspector.report import sarif

        print_json(sarif.document(result))
        return
    from inspector.report import audit as report

    if form == "json":
        print_json(report.document(result))
    else:
        screen = terminal.screen(wide=wide)
        print_lines((report.text(result, screen.width),), colour=screen.colour, wide=wide)
