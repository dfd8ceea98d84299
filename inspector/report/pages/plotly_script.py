"""plotly's script, from its wheel."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from inspector.errors import UsageError
from inspector.plots.figure import MISSING

#: Where the script adds a style sheet unless an element of that name exists: one for maps, which no page has.
_STYLES = re.compile(r'getElementById\("([0-9a-f]{40,64})"\)')
_VERSION = re.compile(r"plotly\.js v([\w.+-]{1,40})")


class PlotlyScript(NamedTuple):
    """The script for a page."""

    text: str
    version: str
    styles: tuple[str, ...]  # names of style sheets that it would add but a page's policy refuses


def load() -> PlotlyScript:
    """Raises UsageError if plotly is not installed."""
    text = _path().read_text("utf-8")
    version = _VERSION.search(text[:1000])
    return PlotlyScript(text, version[1] if version else "of unknown version", tuple(set(_STYLES.findall(text))))


def check() -> None:
    """Raises UsageError if plotly is not installed; reads nothing."""
    _path()


def _path() -> Path:
    """plotly itself is not imported, because that takes a tenth of a second."""
    found = find_spec("plotly")
    path = Path(found.origin).parent / "package_data/plotly.min.js" if found and found.origin else None
    if path is None or not path.is_file():
        raise UsageError(MISSING)
    return path
