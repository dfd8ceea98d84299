"""A project's own settings: `[tool.checkpoint-inspector]` in pyproject.toml, of where the user works.

[tool.checkpoint-inspector]
ignore = ["pickle"]
fail-on = "warning"
tables = "architectures"
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inspector.errors import UsageError
from inspector.model import Severity
from inspector.units import escape

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FILE = "pyproject.toml"
TABLE = "checkpoint-inspector"
FAIL_ON: tuple[Severity, ...] = ("error", "warning")
MAX_SIZE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Settings:
    """What a project asks of every audit, and the tables that it adds."""

    ignore: tuple[str, ...] = ()  # codes of rules
    fail_on: Severity = "error"
    tables: Path | None = None  # a folder of tables, beside the file
    path: str | None = None  # where it was read; None where no file says anything


def here() -> Settings:
    """The settings that hold in the working directory; none where that was deleted. Raises UsageError."""
    try:
        start = Path.cwd()
    except OSError:
        return Settings()
    return load(start)


def load(start: Path) -> Settings:
    """The settings of the nearest pyproject.toml, at `start` or above, that has the table.

    Raises:
        UsageError: the table is not what it should be.
    """
    folder = start.resolve()
    for place in (folder, *folder.parents):
        table = _table(place / FILE)
        if table is not None:
            return _settings(table, str(place / FILE))
    return Settings()


def _table(path: Path) -> Mapping[str, Any] | None:
    try:
        if not path.is_file() or path.stat().st_size > MAX_SIZE:
            return None
        table = tomllib.loads(path.read_text(encoding="utf-8")).get("tool", {}).get(TABLE)
    except (OSError, ValueError, AttributeError, RecursionError):
        return None  # other tools will tell what is wrong with it
    if table is not None and not isinstance(table, dict):
        raise UsageError(f"{escape(str(path))}: tool.{TABLE} is no table")
    return table


def _settings(table: Mapping[str, Any], path: str) -> Settings:
    unknown = sorted(table.keys() - {"ignore", "fail-on", "tables"})
    if unknown:
        raise UsageError(f"{escape(path)}: tool.{TABLE} has no setting {escape(', '.join(unknown), 120)}")
    ignore, fail_on = table.get("ignore", []), table.get("fail-on", "error")
    if not isinstance(ignore, list) or not all(isinstance(code, str) for code in ignore):
        raise UsageError(f"{escape(path)}: `ignore` is a list of rules' codes")
    if fail_on not in FAIL_ON:
        raise UsageError(f"{escape(path)}: `fail-on` is one of {', '.join(FAIL_ON)}")
    tables = table.get("tables")
    if tables is not None and not isinstance(tables, str):
        raise UsageError(f"{escape(path)}: `tables` is the name of a folder")
    return Settings(tuple(ignore), fail_on, Path(path).parent / tables if tables else None, path)
