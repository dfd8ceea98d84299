"""`inspect audit`: whether downloads are whole, consistent and safe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from inspector.cli import console
from inspector.cli.options import FORMS, HTML, WIDE, output_options
from inspector.cli.output import Output
from inspector.errors import UsageError

if TYPE_CHECKING:
    from inspector.auditing.run import Audit
    from inspector.model import Severity

FINDINGS = 1  # exit code
SARIF = click.option(
    "--sarif", "forms", flag_value="sarif", multiple=True, help="SARIF 2.1.0 on stdout, for code scanning."
)


@click.command()
@click.argument("targets", nargs=-1, metavar="TARGET...")
@click.option("--cache", is_flag=True, help="Every model in the Hub's cache; TARGET may name another cache.")
@click.option("--data", is_flag=True, help="Read the tensors too: NaN, holes, text, absurdly large numbers, ….")
@click.option("--checksum", is_flag=True, help="Read whole files and compare their SHA-256 with known values.")
@click.option("--manifest", type=click.Path(), metavar="FILE", help="Checksums to compare with, in sha256sum's format.")
@click.option("--write-manifest", type=click.Path(), metavar="FILE", help="Write the checksums of all files to FILE.")
@click.option("--hub", metavar="ORG/NAME", help="Ask the Hub for this repository's checksums.")
@click.option("--sbom", type=click.Path(), metavar="FILE", help="Write a bill of materials: *.cdx.json, *.spdx3.json.")
@click.option("--deep", is_flag=True, help="Render chat templates too, in a sandbox in a separate process.")
@click.option("--revision", metavar="R", help="Branch, tag or commit of a Hub repository.")
@click.option("--alone", is_flag=True, help="Audit a shard alone, not its whole set.")
@click.option(
    "--config", metavar="FILE", type=click.Path(), help="A config.json to use instead of the one beside the weights."
)
@click.option("--fail-on", type=click.Choice(["error", "warning"]), help="Exit with 1 from this severity on.")
@click.option("--ignore", multiple=True, metavar="CODE", help="Skip a rule; may be repeated.")
@click.option("--full", is_flag=True, help="Every finding by itself, not by cause; nothing is left out.")
@click.option("--rules", "list_rules", is_flag=True, help="List the rules.")
@output_options(WIDE, HTML, *FORMS, SARIF)
def audit(
    targets: tuple[str, ...],
    cache: bool,
    fail_on: str | None,
    ignore: tuple[str, ...],
    full: bool,
    list_rules: bool,
    output: Output,
    **options: Any,
) -> None:
    """Is this download whole, consistent and safe?

    TARGET is a file, a model's folder, or a folder of such folders. Nothing is executed, nothing is written, and the
    network is used only on request. Exits with 1 if something was found, with 2 if a target could not be judged.
    """
    from inspector import settings
    from inspector.auditing import run
    from inspector.report import audit as report

    if list_rules:
        console.print_lines(report.rules().split("\n"), wide=output.wide)
        return
    output.check()
    if not targets and not cache:
        raise UsageError("name what to audit: files, folders, or --cache for the Hub's cache")
    project = settings.here(targets)
    result = run.audit(
        targets,
        cache=cache,
        ignore={*ignore, *project.ignore},
        progress=console.bytes_read,
        own_process=True,
        **options,
    )
    for each in project.passed_over:
        console.tell(f"{each}: ignored as a settings file, because it is part of the audit target")
    for failed in result.failed:
        reason = str(failed.reason)
        console.tell(reason if failed.target in reason else f"{failed.target}: {reason}")
    code, why = _exit(result, "warning" if (fail_on or project.fail_on) == "warning" else "error")
    with console.reader_may_leave():
        if output.form == "sarif":
            from inspector.report import sarif

            console.print_json(sarif.document(result))
        else:
            output.show(
                lambda: (report.text(result, output.width, full=full, exits=why),),
                lambda: report.document(result),
                lambda: report.rows(result),
                titled=True,
            )
    output.write_page(lambda: report.page(result))
    if code:
        raise click.exceptions.Exit(code)


def _exit(result: Audit, on: Severity) -> tuple[int, str]:
    """The exit code, and what it means if it is not 0."""
    if not all(each.examined for each in result.failed):  # takes precedence over findings
        return console.UNREADABLE, f"exit code {console.UNREADABLE}: a target could not be audited"
    if result.fails(on):
        what = "errors" if result.counts["error"] else "warnings, which fail as --fail-on says"
        return FINDINGS, f"exit code {FINDINGS}: there are {what}"
    if result.failed:
        return console.UNREADABLE, f"exit code {console.UNREADABLE}: a target has no weights to audit"
    return 0, ""
