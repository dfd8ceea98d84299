"""A project's own settings: `[tool.checkpoint-inspector]` in the pyproject.toml of the working directory.

[tool.checkpoint-inspector]
ignore = ["pickle"]
fail-on = "warning"
tables = "architectures"

They apply where the user works. A pyproject.toml in a download does not affect the download's audit.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from inspector.errors import UsageError
from inspector.model import Severity
from inspector.sources.filenames import WEIGHTS
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
    """A project's settings for every audit, and the tables that it adds."""

    ignore: tuple[str, ...] = ()  # codes of rules
    fail_on: Severity = "error"
    tables: Path | None = None  # a folder of tables, next to the file
    path: str | None = None  # where it was read; None if no file has settings
    passed_over: tuple[str, ...] = ()  # files with settings that belong to the audited models


def here(targets: Iterable[str | Path] = ()) -> Settings:
    """The settings for the working directory; defaults if it was deleted. Raises UsageError."""
    try:
        start = Path.cwd()
    except OSError:
        return Settings()
    return load(start, targets)


def load(start: Path, targets: Iterable[str | Path] = ()) -> Settings:
    """The settings of the nearest pyproject.toml, in `start` or above, that has the table.

    An audited model must not configure its own audit: a file inside a target, next to a target file, or in a model's
    folder is ignored.

    Raises:
        UsageError: the table is invalid.
    """
    folder = start.resolve()
    audited = [root for target in targets if (root := _root_of(target)) is not None]
    passed_over = []
    for place in (folder, *folder.parents):
        file = place / FILE
        if any(place.is_relative_to(root) or file.resolve().is_relative_to(root) for root in audited) or _is_model(
            place
        ):
            passed_over += [str(file)] if declares(file) else []
            continue
        table = _table(file)
        if table is not None:
            return _settings(table, str(file), tuple(passed_over))
    return Settings(passed_over=tuple(passed_over))


def declares(path: Path) -> bool:
    """Whether a file has settings for the audit, valid or not."""
    try:
        return _table(path) is not None
    except UsageError:
        return True


def _root_of(target: str | Path) -> Path | None:
    """The folder of a target; None if it is not on this machine."""
    try:
        path = Path(target).expanduser().resolve()
        return path if path.is_dir() else path.parent if path.exists() else None
    except (OSError, ValueError, RuntimeError):
        return None


def _is_model(folder: Path) -> bool:
    """Whether a folder was downloaded as a model: weights, or files that accompany them, are directly in it."""
    try:
        names = [name.lower() for name in os.listdir(folder)]  # noqa: PTH208  names are all that is asked
    except OSError:
        return False
    return any(name.endswith(_MODEL) for name in names)


#: Suffixes that only occur in models' folders.
_MODEL = (*WEIGHTS, ".index.json", "model_index.json", "tokenizer_config.json", "generation_config.json")


def _table(path: Path) -> Mapping[str, Any] | None:
    try:
        if not path.is_file() or path.stat().st_size > MAX_SIZE:
            return None
        table = _parsed(path.read_text(encoding="utf-8")).get("tool", {}).get(TABLE)
    except (OSError, ValueError, AttributeError, RecursionError):
        return None  # other tools will report what is wrong with it
    if table is not None and not isinstance(table, dict):
        raise UsageError(f"{escape(str(path))}: tool.{TABLE} is not a table")
    return table


@lru_cache(maxsize=8)
def _parsed(text: str) -> Any:
    """TOML, parsed once if it is read for several targets, or several times for one."""
    return tomllib.loads(text)


def _settings(table: Mapping[str, Any], path: str, passed_over: tuple[str, ...]) -> Settings:
    unknown = sorted(table.keys() - {"ignore", "fail-on", "tables"})
    if unknown:
        raise UsageError(f"{escape(path)}: tool.{TABLE} has no setting {escape(', '.join(unknown), 120)}")
    ignore, fail_on = table.get("ignore", []), table.get("fail-on", "error")
    if not isinstance(ignore, list) or not all(isinstance(code, str) for code in ignore):
        raise UsageError(f"{escape(path)}: `ignore` must be a list of rule codes")
    if fail_on not in FAIL_ON:
        raise UsageError(f"{escape(path)}: `fail-on` must be one of {', '.join(FAIL_ON)}")
    tables = table.get("tables")
    if tables is not None and not isinstance(tables, str):
        raise UsageError(f"{escape(path)}: `tables` must be the name of a folder")
    folder = Path(path).parent / tables if tables else None
    return Settings(tuple(ignore), fail_on, folder, path, passed_over)
