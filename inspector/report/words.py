"""Names used in comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from inspector.model import Key, Reconciliation
from inspector.units import times


def place_of(key: Key) -> str:
    """Role, with tower, branch and part unless they are the defaults: `vision q_proj bias`."""
    place = [key.tower if key.tower != "text" else "", key.branch, key.role, key.part if key.part != "weight" else ""]
    return " ".join(filter(None, place))


def shape_text(shapes: Sequence[tuple[int, ...]]) -> str:
    """`4096×4096 + 1024×4096`, each shape once."""
    return " + ".join(map(times, dict.fromkeys(shapes)))


def about(result: Reconciliation) -> dict[str, Any]:
    """One side of a comparison, as JSON."""
    checkpoint = result.checkpoint
    return {
        "target": checkpoint.target,
        "format": checkpoint.format,
        "family": result.prediction.family if result.prediction else None,
        "dtype": result.dtype,
        "parameters": result.logical,
        "bytes": result.on_disk,
        "revision": checkpoint.origin.revision,
    }


def public(target: str) -> str:
    """A target that is safe to publish: a URL without user, password and query, which may contain secrets."""
    _, scheme, rest = target.partition("://")
    if not scheme or not ("@" in rest.partition("/")[0] or "?" in rest or "#" in rest):
        return target
    from inspector.sources.answers import shown_url  # imports the HTTP library

    return shown_url(target)
