"""Results as tables, text and HTML: the base classes of results on every floor.

A result does not know what renders it. `inspector/__init__.py`, which is above all floors, sets `Tabular.renderer`.
"""

from __future__ import annotations

TYPE_CHECKING = False  # `typing` would make the start slower; type checkers know this name
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ClassVar, Protocol

    import pandas as pd
    import polars as pl
    import pyarrow as pa

    class Renderer(Protocol):
        """Turns results into rows, text and HTML."""

        def rows(self, noun: Any, /) -> Any: ...
        def overview(self, noun: Any, /) -> str: ...
        def html(self, noun: Any, /) -> str: ...
        def sbom(self, path: Any, /) -> Any: ...


class Tabular:
    """A result: items that are rows (tensors, pairs of them, their statistics, findings), and what a command prints."""

    __slots__ = ()
    renderer: ClassVar[Callable[[], Renderer]]  # imports the renderer when a result is first rendered

    def overview(self) -> str:
        """The text that the command prints for it."""
        return Tabular.renderer().overview(self)

    def _repr_html_(self) -> str:
        return Tabular.renderer().html(self)

    def to_pandas(self) -> pd.DataFrame:
        """The rows, with exact integers even next to missing values. Raises UsageError if pandas is not installed."""
        frame: pd.DataFrame = Tabular.renderer().rows(self).to_pandas()
        return frame

    def to_arrow(self) -> pa.Table:
        """The rows, with exact types. Raises UsageError if pyarrow is not installed."""
        table: pa.Table = Tabular.renderer().rows(self).to_arrow()
        return table

    def to_polars(self) -> pl.DataFrame:
        """The rows, with exact types. Raises UsageError if polars or pyarrow is not installed."""
        frame: pl.DataFrame = Tabular.renderer().rows(self).to_polars()
        return frame
