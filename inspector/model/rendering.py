"""How a noun gets its text, its page and its rows. They are made floors above, and looked up when asked for."""

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

_Item = TypeVar("_Item")


def view(name: str, noun: object) -> Any:
    """The module that renders a noun for people. It is floors above, and the nouns know only its name."""
    from importlib import import_module

    return getattr(import_module("inspector.report.notebook"), name)(noun)


def as_arrow(noun: object) -> "pa.Table":
    """The rows, with exact types. Raises UsageError if pyarrow is not installed."""
    shown: pa.Table = view("to_arrow", noun)
    return shown


def as_pandas(noun: object) -> "pd.DataFrame":
    """The rows. Raises UsageError if pandas is not installed."""
    shown: pd.DataFrame = view("to_pandas", noun)
    return shown


def as_polars(noun: object) -> "pl.DataFrame":
    """The rows. Raises UsageError if polars or pyarrow is not installed."""
    shown: pl.DataFrame = view("to_polars", noun)
    return shown


class Table(tuple[_Item, ...]):
    """Several results that form a table, one row each."""

    __slots__ = ()

    def to_arrow(self) -> "pa.Table":
        """The rows, with exact types. Raises UsageError if pyarrow is not installed."""
        return as_arrow(self)

    def to_pandas(self) -> "pd.DataFrame":
        """The rows. Raises UsageError if pandas is not installed."""
        return as_pandas(self)

    def to_polars(self) -> "pl.DataFrame":
        """The rows. Raises UsageError if polars or pyarrow is not installed."""
        return as_polars(self)
