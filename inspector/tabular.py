"""The base classes of nouns and results on every floor: named tuples, and results as tables, text and HTML.

A result does not know what renders it. `inspector/__init__.py`, which is above all floors, sets `Tabular.renderer`.
"""

from __future__ import annotations

TYPE_CHECKING = False  # `typing` would make the start slower; type checkers know this name
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ClassVar, Protocol
    from typing import NamedTuple as NamedTuple  # noqa: PLC0414  for every noun

    import pandas as pd
    import polars as pl
    import pyarrow as pa

    class Renderer(Protocol):
        """Turns results into rows, text and HTML."""

        def rows(self, noun: Any, /) -> Any: ...
        def overview(self, noun: Any, /) -> str: ...
        def html(self, noun: Any, /) -> str: ...
        def sbom(self, path: Any, /) -> Any: ...

else:

    class _Fields(type):
        """Makes a class with annotations a named tuple, whose fields they name."""

        def __new__(cls, name, bases, body):
            if not bases:
                return super().__new__(cls, name, bases, body)
            from collections import namedtuple  # `--version` needs none

            fields = body.get("__annotations__", {})
            defaults = [body[field] for field in fields if field in body]
            made = namedtuple(name, fields, defaults=defaults, module=body["__module__"])  # noqa: PYI024
            for attribute, value in body.items():
                if attribute not in fields:
                    setattr(made, attribute, value)
            return made

    class NamedTuple(metaclass=_Fields):
        """`typing.NamedTuple` without its checks: it compiles each annotation, which takes longer than the class."""


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
