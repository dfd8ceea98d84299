"""Real data from other projects: `fixtures/real`, and the folder in `CHECKPOINT_SAMPLES`, with the same layout."""

from __future__ import annotations

import os
from pathlib import Path

import sparse

_OWN = Path(sparse.__file__).parent / "real"
_MORE = os.environ.get("CHECKPOINT_SAMPLES")
ROOTS = (_OWN, Path(_MORE)) if _MORE else (_OWN,)


def files(pattern: str) -> list[Path]:
    """The files that match a glob, each once, by name; a test parametrized with them must not be left without cases."""
    found = {path.relative_to(root): path for root in reversed(ROOTS) for path in root.glob(pattern)}
    assert found, f"no real data for {pattern}"
    return [found[name] for name in sorted(found)]


def file(name: str) -> Path:
    """The file of this name. Raises FileNotFoundError."""
    for root in ROOTS:
        if (root / name).exists():
            return root / name
    raise FileNotFoundError(name)


def has(name: str) -> bool:
    """Whether there is a file of this name."""
    return any((root / name).exists() for root in ROOTS)
