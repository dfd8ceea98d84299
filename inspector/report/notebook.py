"""The nouns' representations in Python: text, HTML for notebooks, and tables for pandas, Arrow and Polars.

Results ask for it through `inspector.tabular`; they contain none of it themselves.
"""

from __future__ import annotations

from html import escape as in_html
from typing import TYPE_CHECKING, Union

from inspector.architectures.prediction import by_role
from inspector.bridge.reconciliation import reconcile
from inspector.model import Checkpoint, Prediction, Reconciliation
from inspector.report import forecast, text
from inspector.report.documents import tensor
from inspector.report.tables import PREDICTED, TENSORS, Rows

if TYPE_CHECKING:
    from inspector.auditing.run import Audit
    from inspector.bridge.outline import Outline
    from inspector.comparing.attachment import Attachment
    from inspector.comparing.diff import Diff, Three
    from inspector.measuring.values import Values
    from inspector.opening.models import Models
    from inspector.sizing.memory import Memory, Sweep
    from inspector.sizing.quants import Quants

Overviewed = Checkpoint | Reconciliation | Prediction
Noun = Union[
    Checkpoint,
    Reconciliation,
    Prediction,
    "Attachment",
    "Audit",
    "Diff",
    "Memory",
    "Models",
    "Outline",
    "Quants",
    "Sweep",
    "Three",
    "Values",
]


def overview(noun: Overviewed) -> str:
    """What `inspect` prints for it."""
    if isinstance(noun, Prediction):
        return forecast.prediction(noun, training=False, stated=None)
    return text.overview(_joined(noun))


def html(noun: Overviewed) -> str:
    """A title, the verdict, and a table of roles. Text from files is escaped."""
    from tabulate import tabulate  # only for notebooks

    if isinstance(noun, Prediction):
        title, lines = f"{noun.family} ({noun.head or 'no head'})", [f"{noun.parameters:,} parameters predicted"]
        headers: tuple[str, ...] = ("role", "group", "tensors", "parameters", "shape")
        rows: list[tuple[object, ...]] = [
            (each.role, each.group, each.tensors, f"{each.parameters:,}", each.formula) for each in by_role(noun)
        ]
    else:
        result = _joined(noun)
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
    """A noun's items as rows: tensors, pairs of them, their statistics, findings."""
    if isinstance(noun, Prediction):
        return Rows(PREDICTED, list(forecast.tensor_documents(noun.expected)))
    if isinstance(noun, (Checkpoint, Reconciliation)):
        return Rows(TENSORS, list(map(tensor, _joined(noun).tensors)))
    from importlib import import_module

    # Loaded only for a result of this kind.
    module, function = _ROWS[type(noun).__name__]
    found: Rows = getattr(import_module(f"inspector.report.{module}"), function)(noun)
    return found


#: Noun → the module that renders it, and the function that makes its rows.
_ROWS = {
    "Attachment": ("comparisons", "attached_rows"),
    "Audit": ("audit", "rows"),
    "Diff": ("diff", "rows"),
    "Memory": ("memory", "row"),
    "Models": ("models", "rows"),
    "Outline": ("outline", "rows"),
    "Quants": ("quants", "rows"),
    "Sweep": ("memory", "rows"),
    "Three": ("comparisons", "three_rows"),
    "Values": ("values", "rows"),
}


def _joined(noun: Checkpoint | Reconciliation) -> Reconciliation:
    return noun if isinstance(noun, Reconciliation) else reconcile(noun)
