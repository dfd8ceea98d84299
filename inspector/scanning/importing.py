"""What a scan's processes may import: never from the folder that the user is in, which may be a download.

Python started with `-c` or `-m` imports from the working directory first: a `re.py` there would run in each process.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from pkgutil import iter_modules

from inspector.errors import UsageError
from inspector.units import escape

#: Since Python 3.11, what starts with this leaves the working directory out.
_SAFE = "PYTHONSAFEPATH"


@contextmanager
def not_from_here() -> Iterator[None]:
    """Processes started within this context, by us or by Dask, import nothing from the working directory.

    Raises:
        UsageError: before Python 3.11, if a module there would take another's place.
    """
    if sys.version_info < (3, 11):
        _check(Path.cwd())
    before = os.environ.get(_SAFE)
    os.environ[_SAFE] = "1"
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(_SAFE, None)
        else:
            os.environ[_SAFE] = before


def _check(folder: Path) -> None:
    elsewhere = [place for place in sys.path if place and Path(place).resolve() != folder.resolve()]
    needed = {*sys.stdlib_module_names, *(each.name for each in iter_modules(elsewhere))}
    for name in sorted(needed - _own(folder)):
        for found in (folder / f"{name}.py", folder / name / "__init__.py"):
            if found.is_file():
                raise UsageError(
                    f"{escape(str(found), 200)} would run in the scan's processes in place of the module of that name: "
                    "start the scan from another folder"
                )


def _own(folder: Path) -> set[str]:
    """Modules that this process has from the folder itself, as when it is started from this package's sources."""
    places = ((name, getattr(module, "__file__", None)) for name, module in list(sys.modules.items()))
    return {name.partition(".")[0] for name, file in places if file and Path(file).is_relative_to(folder)}
