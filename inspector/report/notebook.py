"""The nouns' representations in Python: text, HTML for notebooks, and tables for pandas, Arrow and Polars.

Results ask for it through `inspector.tabular`; they contain none of it themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from html import escape as in_html
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeGuard, Union

from inspector.architectures.prediction import by_role
from inspector.bridge.reconciliation import reconcile
from inspector.model import Checkpoint, Prediction, Reconciliation
from inspector.report import forecast, screen, text
from inspector.report.documents import tensor
from inspector.report.tables import PREDICTED, TENSORS, Rows

if TYPE_CHECKING:
    from inspector.auditing.run import Audit
    from inspector.bridge.outline import Outline
    from inspector.comparing.attachment import Attachment
    from inspector.comparing.diff import Diff, Three
    from inspector.measuring.values import Values
    from inspector.model import Folder
    from inspector.opening.named import Models
    from inspector.report.sbom.writing import Writing
    from inspector.sizing.memory import Memory, Sweep
    from inspector.sizing.quants import Quants

Roles = Checkpoint | Reconciliation | Prediction
Noun = Union[
    Roles,
    "Attachment",
    "Audit",
    "Diff",
    "Folder",
    "Memory",
    "Models",
    "Outline",
    "Quants",
    "Sweep",
    "Three",
    "Values",
]
#: Lines of a text that a notebook shows.
_SHOWN = 60


def overview(noun: Noun) -> str:
    """What the command prints for it, in lines as long as they are."""
    if isinstance(noun, Prediction):
        return forecast.prediction(noun)
    if isinstance(noun, (Checkpoint, Reconciliation)):
        return screen.overview(_as_reconciliation(noun))
    if _are_results(noun):
        return "\n\n".join(map(overview, noun))
    return "\n".join(_TEXTS[type(noun).__name__](noun)).strip("\n")


def sbom(path: str | Path) -> Writing:
    """What writes a bill of materials. Raises as `Writing` does."""
    from inspector.report.sbom.writing import Writing  # imports the audit's report, and a package on request

    return Writing(path)


def html(noun: Noun) -> str:
    """For a notebook. Text from files is escaped."""
    if isinstance(noun, (Checkpoint, Reconciliation, Prediction)):
        return _roles(noun)
    if _are_results(noun):
        return "".join(map(html, noun))
    lines = overview(noun).split("\n")
    left = len(lines) - _SHOWN
    more = [f"… {left:,} more lines: print(_.overview())"] if left > 0 else []
    return f"<pre>{in_html(chr(10).join((*lines[:_SHOWN], *more)))}</pre>"


def _roles(noun: Roles) -> str:
    """A title, the verdict, and a table of roles."""
    from tabulate import tabulate  # only for notebooks

    if isinstance(noun, Prediction):
        title, lines = f"{noun.family} ({noun.head or 'no head'})", [f"{noun.parameters:,} parameters predicted"]
        headers: tuple[str, ...] = ("role", "group", "tensors", "parameters", "shape")
        rows: list[tuple[object, ...]] = [
            (each.role, each.group, each.tensors, f"{each.parameters:,}", each.formula) for each in by_role(noun)
        ]
    else:
        result = _as_reconciliation(noun)
        title, lines = result.checkpoint.title, text.first_lines(result)
        headers = ("role", "group", "tensors", "parameters", "bytes", "dtype")
        rows = [
            (each.role, each.group, each.tensors, f"{each.parameters:,}", f"{each.bytes:,}", ", ".join(each.dtypes))
            for each in result.roles
        ]
    divisions = "".join(f"<div>{in_html(line)}</div>" for line in lines)
    table = tabulate(rows, headers, tablefmt="html", disable_numparse=True)
    return f"<div><strong>{in_html(title)}</strong>{divisions}{table}</div>"


def rows(noun: Noun) -> Rows:
    """A noun's items as rows: tensors, pairs of them, their statistics, findings; of several, with their targets."""
    if isinstance(noun, Prediction):
        return Rows(PREDICTED, list(forecast.tensor_documents(noun.expected)))
    if isinstance(noun, (Checkpoint, Reconciliation)):
        return Rows(TENSORS, list(map(tensor, _as_reconciliation(noun).tensors)))
    if _are_results(noun):
        each = [rows(one).of("target", target) for one, target in zip(noun, noun.targets, strict=True)]
        return each[0]._replace(rows=[row for one in each for row in one.rows]) if each else Rows((), [])
    module, function = _ROWS[type(noun).__name__]
    found: Rows = getattr(_report(module), function)(noun)
    return found


def learned_rows(noun: Any) -> Rows:
    """Those of what was learned."""
    return rows(noun.prediction)


class _Several(Protocol):
    targets: tuple[str, ...]

    def __iter__(self) -> Iterator[Any]: ...


def _are_results(noun: Any) -> TypeGuard[_Several]:
    """Whether it has a result for each of several targets: `inspector.Results`, a class above this floor."""
    return type(noun).__name__ == "Results"


def _report(module: str) -> Any:
    """A module of this folder, loaded only for results of its kind."""
    from importlib import import_module

    return import_module(f"inspector.report.{module}")


#: Noun → the module that renders it, and the function that makes its rows.
_ROWS = {
    "Attachment": ("comparisons", "attached_rows"),
    "Audit": ("audit", "rows"),
    "Diff": ("diff", "rows"),
    "Folder": ("folder", "rows"),
    "Learned": ("notebook", "learned_rows"),
    "Memory": ("memory", "row"),
    "Metadata": ("metadata", "entry_rows"),
    "Models": ("models", "rows"),
    "Outline": ("outline", "rows"),
    "Parents": ("parents", "rows"),
    "Quants": ("quants", "rows"),
    "Scan": ("scan", "checkpoint_rows"),
    "Sweep": ("memory", "rows"),
    "Three": ("comparisons", "three_rows"),
    "Values": ("values", "rows"),
    "Variants": ("models", "variant_rows"),
    "Verdict": ("verdict", "rows"),
}
#: Noun → its text, in lines or blocks of them.
_TEXTS: dict[str, Callable[[Any], Iterable[str]]] = {
    "Attachment": lambda noun: _report("comparisons").attachment_lines(noun),
    "Audit": lambda noun: (_report("audit").text(noun),),
    "Diff": lambda noun: _report("diff").lines(noun),
    "Folder": lambda noun: (_report("folder").lines(noun) or repr(noun),),
    "Learned": lambda noun: (overview(noun.prediction),),
    "Metadata": lambda noun: _report("metadata").lines(noun),
    "Memory": lambda noun: _report("memory").lines(noun),
    "Models": lambda noun: (_report("models").lines("models", noun),),
    "Outline": lambda noun: (_report("outline").lines(noun.index.path, noun),),
    "Parents": lambda noun: _report("parents").lines(noun),
    "Quants": lambda noun: _report("quants").lines(noun),
    "Scan": lambda noun: (_report("scan").done(noun, str(noun.folder)),),
    "Sweep": lambda noun: _report("memory").lines(noun[-1], noun) if noun else (),
    "Three": lambda noun: _report("comparisons").three_lines(noun),
    "Values": lambda noun: _report("values").lines(noun, None),
    "Variants": lambda noun: _report("models").variant_lines(noun),
    "Verdict": lambda noun: _report("verdict").lines(noun),
}


def _as_reconciliation(noun: Checkpoint | Reconciliation) -> Reconciliation:
    return noun if isinstance(noun, Reconciliation) else reconcile(noun)
