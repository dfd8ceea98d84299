"""`inspect audit`: its options, and which subjects they name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from inspector.cli import console, terminal
from inspector.cli import forms as rows
from inspector.cli.console import bytes_read, print_json, print_lines
from inspector.cli.options import form_options, html_option, wide_option
from inspector.errors import InspectorError, TargetError, UsageError

if TYPE_CHECKING:
    from inspector.auditing.rules.subject import Subject
    from inspector.auditing.run import Audit, Audited
    from inspector.auditing.targets import Failed
    from inspector.model import Finding

FINDINGS = 1  # exit code


@click.command()
@click.argument("targets", nargs=-1, metavar="TARGET...")
@click.option("--cache", is_flag=True, help="Every model in the Hub's cache; TARGET may name another cache.")
@click.option("--data", is_flag=True, help="Read the tensors too: NaN, holes, text, absurdly large numbers, ….")
@click.option("--checksum", is_flag=True, help="Read whole files and compare their SHA-256 with known values.")
@click.option("--manifest", type=click.Path(), metavar="FILE", help="Checksums to compare with, in sha256sum's format.")
@click.option("--write-manifest", type=click.Path(), metavar="FILE", help="Write the checksums of all files to FILE.")
@click.option("--hub", metavar="ORG/NAME", help="Ask the Hub for this repository's checksums.")
@click.option("--deep", is_flag=True, help="Render chat templates too, in a sandbox in a separate process.")
@click.option("--revision", metavar="R", help="Branch, tag or commit of a Hub repository.")
@click.option("--alone", is_flag=True, help="Audit a shard alone, not its whole set.")
@click.option(
    "--config", metavar="FILE", type=click.Path(), help="A config.json to use instead of the one beside the weights."
)
@click.option("--fail-on", type=click.Choice(["error", "warning"]), help="Exit with 1 from this severity on.")
@click.option("--ignore", multiple=True, metavar="CODE", help="Skip a rule; may be repeated.")
@click.option("--rules", "list_rules", is_flag=True, help="List the rules.")
@wide_option
@html_option
@form_options
@click.option("--sarif", "forms", flag_value="sarif", multiple=True, help="SARIF 2.1.0 on stdout, for code scanning.")
def audit(
    targets: tuple[str, ...],
    cache: bool,
    data: bool,
    checksum: bool,
    manifest: str | None,
    write_manifest: str | None,
    hub: str | None,
    deep: bool,
    revision: str | None,
    alone: bool,
    config: str | None,
    fail_on: str | None,
    ignore: tuple[str, ...],
    list_rules: bool,
    wide: bool,
    html: str | None,
    forms: tuple[str, ...],
    parquet: str | None,
) -> None:
    """Is this download whole, consistent and safe?

    TARGET is a file, a model's folder, or a folder of such folders. Nothing is executed, nothing is written, and the
    network is used only on request. Exits with 1 if something was found, with 2 if a target could not be judged.
    """
    from inspector import settings
    from inspector.architectures import tables_of_project
    from inspector.auditing import run as audits

    if list_rules:
        from inspector.report.audit import rules

        print_lines(rules().split("\n"), wide=wide)
        return
    form = rows.asked(forms, parquet)
    from inspector.cli import pages

    pages.check(html, charts=False)
    if not targets and not cache:
        raise UsageError("name what to audit: files, folders, or --cache for the Hub's cache")
    project = settings.here(targets)
    codes = {*ignore, *project.ignore}
    audits.check_codes(codes)
    sums = Checksums(manifest, write_manifest, hub, revision) if checksum or manifest or write_manifest or hub else None
    more = _more(Reading(sums) if data else sums, deep=deep)
    with tables_of_project(project.tables):
        named = Path(config) if config else None
        judged = _cached(targets, more) if cache else _audited(targets, revision, more, alone=alone, config=named)
        result = audits.collect(judged, codes)
    if sums is not None:
        sums.save()
    for each in project.passed_over:
        console.tell(f"{each}: ignored as a settings file, because it is part of the audit target")
    for failed in result.failed:
        reason = str(failed.reason)
        console.tell(reason if failed.target in reason else f"{failed.target}: {reason}")
    with console.reader_may_leave():
        _show(result, form, parquet, wide=wide)
    if html is not None:
        from inspector.report.pages import audit as document

        pages.write(html, document.page(result))
    if code := _exit_code(result, fail_on or project.fail_on):
        raise click.exceptions.Exit(code)


def _exit_code(result: Audit, fail_on: str) -> int:
    """The exit code. A target that could not be audited takes precedence over findings."""
    if result.failed:
        return console.UNREADABLE
    return FINDINGS if result.fails("warning" if fail_on == "warning" else "error") else 0


More = Callable[["Subject"], "Iterable[Finding]"]


def _more(asked: Reading | Checksums | None, *, deep: bool) -> More:
    """Checks other than rules."""

    def more(subject: Subject) -> Iterator[Finding]:
        if asked is not None:
            yield from asked.of(subject)
        if deep:
            from inspector.auditing import rendering  # imported late: it starts a process

            yield from rendering.findings(subject)

    return more


def _audited(
    targets: tuple[str, ...], revision: str | None, more: More, *, alone: bool, config: Path | None
) -> Iterator[Audited | Failed]:
    from inspector.auditing import run as audits

    return audits.each_of(targets, revision, more, alone=alone, config=config, own_process=True)


def _cached(places: tuple[str, ...], more: More) -> Iterator[Audited | Failed]:
    """The Hub's cache, then each of its snapshots."""
    from inspector.auditing import hub_cache as caches
    from inspector.auditing import run as audits
    from inspector.auditing import targets

    for place in places or (None,):
        try:
            cache = caches.scan(Path(place) if place else None)
        except InspectorError as error:
            yield targets.Failed(place or "--cache", error)
            continue
        path = str(cache.path)
        yield audits.Audited(path, 0, cache.size, cache.findings, root=path, is_model=False)
        for snapshot in cache.snapshots:
            name = f"{snapshot.repository}@{snapshot.revision[:12]}"
            found = targets.snapshot(snapshot.path, snapshot.repository, name)
            yield from audits.each_subject(name, found, more, own_process=True)


class Reading:
    """What the user asked to read: the tensors, and checksums from the same bytes."""

    def __init__(self, sums: Checksums | None) -> None:
        from inspector.measuring import needs

        needs.check()
        self._sums = sums

    def of(self, subject: Subject) -> list[Any]:
        """Read a model's files and return the findings."""
        from inspector.auditing.numbers.reading import read

        sums = self._sums
        expected, files = sums.wanted(subject) if sums else ([], {})
        weights = {header.path for header in subject.all_headers}
        others = {place: path for place, path in files.items() if path not in weights}
        total = sum(header.size for header in subject.all_headers) + sum(place.stat().st_size for place in others)
        with bytes_read(total, subject.target) as done:
            found = read(subject, [path for path in files.values() if path in weights], done)
            digests = sums.hashed(others, done) if sums else {}
        if sums is None:
            return found
        if subject.measured is not None:
            digests |= subject.measured.digests
        return [*found, *sums.compared(subject, expected, digests)]


class Checksums:
    """The checksums that the user asked for, and those computed so far."""

    def __init__(self, manifest: str | None, write: str | None, hub: str | None, revision: str | None) -> None:
        self._manifest = Path(manifest) if manifest else None
        self._write = Path(write) if write else None
        self._hub, self._revision = hub, revision
        self._digests: dict[Path, str] = {}

    def of(self, subject: Subject) -> list[Finding]:
        """Hash a model's files, compare, and return the findings."""
        expected, files = self.wanted(subject)
        with bytes_read(sum(path.stat().st_size for path in files), subject.target) as done:
            digests = self.hashed(files, done)
        return self.compared(subject, expected, digests)

    def wanted(self, subject: Subject) -> tuple[list[Any], dict[Path, str]]:
        """The known checksums of the model's files, and the files to hash: location → path."""
        from inspector.auditing import checksums

        if not subject.is_local:
            raise TargetError(f"{subject.target} is not on this machine: only local files can be checksummed")
        expected = list(checksums.known(subject, self._manifest))
        if self._hub:
            expected += checksums.from_hub(subject, self._hub, self._revision)
        paths = checksums.to_hash(subject, expected, everything=self._write is not None)
        paths = [path for path in paths if not subject.refusal(subject.by_path[path])]
        own = self._write.resolve() if self._write else None
        places = {path: file.resolve() for path in paths if (file := subject.on_disk(path))}
        return expected, {file: path for path, file in places.items() if file != own}

    def hashed(self, files: Mapping[Path, str], done: Callable[[int], object]) -> dict[str, str]:
        """Path → SHA-256."""
        from inspector.auditing import checksums

        return {files[path]: digest for path, digest in checksums.sha256_of(list(files), done).items()}

    def compared(self, subject: Subject, expected: Sequence[Any], digests: Mapping[str, str]) -> list[Any]:
        """The findings from comparing computed checksums with the expected ones."""
        from inspector.auditing import checksums

        places = {path: subject.on_disk(path) for path in digests}
        self._digests.update({place.resolve(): digests[path] for path, place in places.items() if place})
        return list(checksums.verify(subject, expected, digests))

    def save(self) -> None:
        """Write the manifest, if requested."""
        if self._write is not None:
            from inspector.auditing import checksums

            checksums.write_manifest(self._write, self._digests)


def _show(result: Audit, form: str | None, parquet: str | None, *, wide: bool) -> None:
    if form == "sarif":
        from inspector.report import sarif

        print_json(sarif.document(result))
        return
    from inspector.report import audit as report

    if form == "json":
        print_json(report.document(result))
    elif form:
        rows.show(report.rows(result), form, parquet)
    else:
        screen = terminal.screen(wide=wide)
        print_lines((report.text(result, screen.width),), colour=screen.colour, wide=wide)
