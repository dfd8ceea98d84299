"""Real data of others: `fixtures/real`, and the folder that `CHECKPOINT_SAMPLES` names, in the same layout."""

from __future__ import annotations

import os
from pathlib import Path

import sparse

_OWN = Path(sparse.__file__).parent / "real"
_MORE = os.environ.get("CHECKPOINT_SAMPLES")
ROOTS = (_OWN, Path(_MORE)) if _MORE else (_OWN,)


def files(pattern: str) -> list[Path]:
    """The files of a glob, each once, by name; a test that takes them as parameters must not be left without."""
    found = {path.relative_to(root): path for root in reversed(ROOTS) for path in root.glob(pattern)}
    assert found, f"no real data for {pattern}"
    return [found[name] for name in sorted(found)]


def file(name: str) -> Path:
    """The file of that name. Raises FileNotFoundError."""
    for root in ROOTS:
        if (root / name).exists():
            return root / name
    raise FileNotFoundError(name)


def has(name: str) -> bool:
    """Whether there is such a file."""
    return any((root / name).exists() for root in ROOTS)
