"""What faults are made of: values within a document that are another, and what a fault reports."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

#: The class of a fault, and what was done.
Done = tuple[str, str]
Change = Callable[[Path, Path, list[Path], random.Random], Done | None]


def places_in(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a document, four deep; of long lists the first items."""
    items = value.items() if isinstance(value, dict) else enumerate(value[:3]) if isinstance(value, list) else ()
    for key, inner in list(items)[:200]:
        yield (*at, key)
        if len(at) < 4:
            yield from places_in(inner, (*at, key))


def written(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False))


def of_another_type(value: Any, draw: random.Random) -> Any:
    forms: list[Any] = ["x", 3, 0.5, True, [], {}, [1], {"a": 1}, str(value)[:40]]
    return draw.choice([each for each in forms if type(each) is not type(value)])


def other_value(value: Any, draw: random.Random) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return draw.choice((value + 1, value - 1, value * 2, value // 2, 0, -1, 10**6))
    if isinstance(value, str):
        return draw.choice((value + "x", value[:-1], "", value.upper(), "unknown"))
    if isinstance(value, list):
        return draw.choice((value[:-1], value + value[-1:], [], value * 2))
    if isinstance(value, dict):
        return dict(list(value.items())[:-1])
    return draw.choice((0, 1, "x", True))
