"""`inspect diff`: compare two targets by role, or a base with two models derived from it; `inspect parents`: which of
some models a model was made from.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from inspector.cli import console
from inspector.cli.options import FORMS, HTML, WIDE, output_options
from inspector.cli.output import Output

if TYPE_CHECKING:
    from inspector.comparing.diff import Diff
    from inspector.model import Reconciliation
    from inspector.report.tables import Rows

DIFFERS = 1  # exit code
#: Threads for NumPy's linear algebra: parallelism is across tensors instead.
ALONE = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


@click.command()
@click.argument("targets", nargs=-1, required=True, metavar="A B | BASE A B")
@click.option("--stat", is_flag=True, help="Only totals by role.")
@click.option("--all", "everything", is_flag=True, help="List equal tensors, too.")
@click.option("--full", is_flag=True, help="Each role by itself, every field, bytes to the unit.")
@click.option("--data", is_flag=True, help="Compare the tensors' values, too: reads all of both targets.")
@click.option("--by", type=click.Choice(("role", "layer", "tensor")), default="role", help="What each line summarizes.")
@click.option("--rank", is_flag=True, help="With --data: the rank of each difference.")
@click.option("--parents", nargs=2, metavar="P Q", help="Whether B is a weighted sum of two parents.")
@click.option(
    "--workers",
    type=click.IntRange(1, 256),
    help="Tensors to read concurrently: more than 1 pays off if many differ.",
)
@output_options(WIDE, HTML, *FORMS)
def diff(
    targets: tuple[str, ...],
    stat: bool,
    everything: bool,
    full: bool,
    data: bool,
    by: str,
    rank: bool,
    parents: tuple[str, str] | None,
    workers: int | None,
    output: Output,
) -> None:
    """What changed between two checkpoints, whatever their formats.

    A and B are any two targets: a GGUF and safetensors, packed and plain weights, two revisions of a repository
    (org/name@revision), an adapter and its base. Tensors are paired by role, regardless of names, order and files. With
    three targets, shows what A and B changed in BASE; or, if one is an adapter and --data is given, whether the other
    is BASE with the adapter merged into it. Only headers are read, except with --data, --rank and --parents. Exits with
    1 if something differs.
    """
    os.environ.update({name: value for name, value in ALONE.items() if name not in os.environ})
    from inspector import api

    if len(targets) not in (2, 3):
        raise click.UsageError("name two targets to compare, or a base and two models made from it")
    output.check()
    console.refuse_several(*targets)
    first, second, *third = [console.reconciled(target) for target in targets]
    pairwise = not third and (first.adapter is None) == (second.adapter is None)
    workers = workers or 1
    if third and any(each.adapter for each in (first, second, *third)):
        differs = _show_merged_adapter((first, second, third[0]), output, data=data, full=full)
    elif third:
        wanted = {"everything": everything, "full": full}
        differs = _three((first, second, third[0]), workers if data else 0, output, wanted)
    elif not pairwise:
        differs = _attachment(first, second, output, data=data, full=full)
    else:
        result = api.diff(first, second)
        result = _with_values(result, workers) if data or rank else result
        differs = _two(
            result, {"stat": stat, "everything": everything, "full": full, "by": by}, rank, parents or (), output
        )
    if differs:
        raise click.exceptions.Exit(DIFFERS)


def _two(result: Diff, shown: dict[str, Any], rank: bool, parents: tuple[str, ...], output: Output) -> bool:
    from inspector import api
    from inspector.report import comparisons
    from inspector.report import diff as report

    ranks = api.ranks(result) if rank else []
    merge = api.merge(result.b, *parents) if parents else None
    more = [*comparisons.merge_lines(parents, merge)] if parents else []
    more += [*comparisons.rank_lines(ranks, output.width, full=shown["full"])] if rank else []

    def document() -> dict[str, Any]:
        ranked = {"ranks": comparisons.rank_documents(ranks)} if rank else {}
        merged = {"merge": comparisons.merge_document(parents, merge)} if parents else {}
        return report.document(result) | ranked | merged

    output.show(
        lambda: report.lines(result, width=output.width, more=more, **shown), document, lambda: report.rows(result)
    )
    output.write_page(lambda: report.page(result, more))
    return result.differs


def _attachment(a: Reconciliation, b: Reconciliation, output: Output, *, data: bool, full: bool) -> bool:
    from inspector import api
    from inspector.report import comparisons

    base, adapter = (a, b) if a.adapter is None else (b, a)
    result = api.attachment(base, adapter)
    found = api.effects(base, adapter) if data else ()
    output.show(
        lambda: comparisons.attachment_lines(result, found, output.width, full=full),
        lambda: comparisons.attachment_document(result, found),
        lambda: comparisons.attached_rows(result, found),
    )
    page = comparisons.attachment_lines(result, found, full=True)
    _text_page(output, [base, adapter], page, comparisons.attached_rows(result, found), differs=bool(result.tensors))
    return bool(result.tensors)


def _show_merged_adapter(
    targets: tuple[Reconciliation, Reconciliation, Reconciliation], output: Output, *, data: bool, full: bool
) -> bool:
    """Whether a model is its base with an adapter merged into it, judged by the values alone."""
    from inspector import api
    from inspector.report import comparisons

    base, a, b = targets
    adapter, model = (a, b) if a.adapter is not None else (b, a)
    if base.adapter is not None or model.adapter is not None:
        raise click.UsageError("with three targets, give BASE A B, or BASE MODEL ADAPTER with one adapter")
    if not data:
        raise click.UsageError("only values show whether an adapter was merged: add --data")
    found, changes = api.effects(base, adapter, model), api.diff(base, model, data=True)
    merged = comparisons.is_merged(changes, found)
    output.show(
        lambda: comparisons.merged_lines(adapter, changes, found, full=full),
        lambda: comparisons.merged_document(adapter, changes, found),
        lambda: comparisons.merged_rows(found),
    )
    page = comparisons.merged_lines(adapter, changes, found, full=True)
    _text_page(output, targets, page, comparisons.merged_rows(found), differs=not merged)
    return not merged


def _three(
    targets: tuple[Reconciliation, Reconciliation, Reconciliation],
    workers: int,
    output: Output,
    wanted: dict[str, bool],
) -> bool:
    """Compare three targets; with `workers`, their values too."""
    from inspector import api
    from inspector.report import comparisons

    base, *others = targets
    sides = [api.diff(base, each) for each in others]
    own, other = (_with_values(each, workers) if workers else each for each in sides)
    result = api.three(own, other, data=bool(workers), workers=workers)
    output.show(
        lambda: comparisons.three_lines(result, output.width, **wanted),
        lambda: comparisons.three_document(result),
        lambda: comparisons.three_rows(result),
    )
    output.write_page(lambda: comparisons.three_page(result))
    return result.differs


def _text_page(
    output: Output, targets: Sequence[Reconciliation], lines: Iterable[str], rows: Rows, *, differs: bool
) -> None:
    """Write the page of a result without pairs, if requested."""
    from inspector.report.diff import text_page

    title = " → ".join(each.checkpoint.title for each in targets)
    output.write_page(lambda: text_page(title, list(lines), rows, differs=differs))


def _with_values(result: Diff, workers: int) -> Diff:
    """The comparison with values, with a progress bar."""
    from inspector import api

    total = sum(side.nbytes for pair in result.pairs if pair.a and pair.b for side in (pair.a, pair.b))
    with console.bytes_read(total, "values") as done:
        return api.with_values(result, workers, done)


@click.command(short_help="Which of these a model was made from, and how.")
@click.argument("target")
@click.argument("candidates", nargs=-1, required=True, metavar="CANDIDATE… | FOLDER")
@output_options(WIDE, *FORMS)
def parents(target: str, candidates: tuple[str, ...], output: Output) -> None:
    """Which of some models a model was made from, and how: rounded, fine-tuned, merged, cut, ….

    Candidates are any targets; a folder stands for all models in it. Headers are compared first, then samples of
    values, and the best candidate whole, as `inspect diff --data` does. Two parents are found together. Exits with 0 if
    one of them is related, with 1 if none is.
    """
    os.environ.update({name: value for name, value in ALONE.items() if name not in os.environ})
    from inspector import api
    from inspector.report import parents as report

    output.check()
    names = list(dict.fromkeys(each for word in candidates for each in _expanded(word)))
    with console.progress("models") as update:
        result = api.parents(target, names, done=update)
    output.show(
        lambda: report.lines(result, output.width), lambda: report.document(result), lambda: report.rows(result)
    )
    if not result.candidates or not result.candidates[0].score:
        raise click.exceptions.Exit(1)


def _expanded(word: str) -> Iterator[str]:
    """A candidate, or those in a folder of several, also where each is in a folder of its own."""
    from inspector.opening.named import models_at

    found = models_at(word) if Path(word).expanduser().is_dir() else ()
    yield from (each.target for each in found if not each.foreign)
    if not found:
        yield word
