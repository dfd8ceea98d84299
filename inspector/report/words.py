"""Names used in comparisons."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from inspector.model import Key
from inspector.units import ranges, times


def place_of(key: Key) -> str:
    """Role, with tower, branch and part unless they are the defaults: `vision q_proj bias`."""
    place = [key.tower if key.tower != "text" else "", key.branch, key.role, key.part if key.part != "weight" else ""]
    return " ".join(filter(None, place))


def shape_text(shapes: Sequence[tuple[int, ...]]) -> str:
    """`4096×4096 + 1024×4096`, each shape once."""
    return " + ".join(map(times, dict.fromkeys(shapes)))


def layers_text(numbers: Iterable[int | None]) -> str:
    """`, layer 3` or `, layers 0–31`, to follow what is in them; "" outside the layers."""
    layers = tuple(sorted({number for number in numbers if number is not None}))
    return f", layer{'' if len(layers) == 1 else 's'} {ranges(layers)}" if layers else ""


def public(target: str) -> str:
    """A target that is safe to publish: a URL without user, password and query, which may contain secrets."""
    _, scheme, rest = target.partition("://")
    if not scheme or not ("@" in rest.partition("/")[0] or "?" in rest or "#" in rest):
        return target
    from inspector.sources.answers import shown_url  # imports the HTTP library

    return shown_url(target)
