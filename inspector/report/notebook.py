"""What the nouns look like in Python: text, HTML for notebooks, and tables for pandas, Arrow and Polars.

The methods of `Checkpoint`, `Reconciliation` and `Prediction` come here; the nouns themselves know nothing of it.
"""

from __future__ import annotations

from html import escape as in_html
from typing import TYPE_CHECKING

from inspector.architectures.prediction import by_role
from inspector.bridge.reconciliation import reconcile
from inspector.errors import UsageError
from inspector.model import Checkpoint, Prediction, Reconciliation
from inspector.report import forecast, text
from inspector.report.documents import predicted_tensors, tensor
from inspector.report.tables import PREDICTED, TENSORS, arrow_table

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

Noun = Checkpoint | Reconciliation | Prediction


def overview(noun: Noun) -> str:
    """What `inspect` prints of it."""
    if isinstance(noun, Prediction):
        return forecast.prediction(noun, training=False, stated=None)
    return text.overview(_joined(noun))


def html(noun: Noun) -> str:
    """A title, the verdict, and a table of roles. Text from files is escaped."""
    from tabulate import tabulate  # for notebooks alone

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
    told = "".join(f"<div>{in_html(line)}</div>" for line in lines)
    table = tabulate(rows, headers, tablefmt="html", disable_numparse=True)
    return f"<div><strong>{in_html(title)}</strong>{told}{table}</div>"


def to_arrow(noun: Noun) -> pa.Table:
    """A row a tensor, with exact types. Raises UsageError where pyarrow is not installed."""
    if isinstance(noun, Prediction):
        return arrow_table(PREDICTED, predicted_tensors(noun.expected))
    return arrow_table(TENSORS, map(tensor, _joined(noun).tensors))


def to_pandas(noun: Noun) -> pd.DataFrame:
    """A row a tensor. Raises UsageError where pandas is not installed."""
    try:
        import pandas as pd  # the caller's own
    except ImportError as error:
        raise UsageError("pandas is not installed: pip install pandas") from error
    columns = PREDICTED if isinstance(noun, Prediction) else TENSORS
    rows = predicted_tensors(noun.expected) if isinstance(noun, Prediction) else map(tensor, _joined(noun).tensors)
    frame = pd.DataFrame(list(rows), columns=[each.name for each in columns])
    return frame.astype({each.name: _PANDAS[each.type] for each in columns if each.type in _PANDAS})


def to_polars(noun: Noun) -> pl.DataFrame:
    """A row a tensor. Raises UsageError where polars is not installed."""
    try:
        import polars as pl  # the caller's own
    except ImportError as error:
        raise UsageError("polars is not installed: pip install polars") from error
    frame = pl.from_arrow(to_arrow(noun))
    assert isinstance(frame, pl.DataFrame)
    return frame


#: Types of Arrow → pandas' own, which hold what is absent.
_PANDAS = {"uint64": "UInt64", "int64": "Int64"}


def _joined(noun: Checkpoint | Reconciliation) -> Reconciliation:
    return noun if isinstance(noun, Reconciliation) else reconcile(noun)
