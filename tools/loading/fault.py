"""The notation of a fault: a title, a kind of file, and its variants.

    drawn("class: {}", JSON, {"dtype": {"torch_dtype": GONE, "dtype": OneOf("float16", "auto")}})

A variant is a function of the file's content and of the random generator, which returns the new content, or None if it
does not apply; or, for a document, the fields to set.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

#: The class of a fault, and its description.
Done = tuple[str, str]


class Place(NamedTuple):
    """A file of a download."""

    folder: Path  # the download
    path: Path
    others: list[Path]  # sound downloads of the same set

    def elsewhere(self) -> list[Path]:
        """The files of this name in the other downloads."""
        found = [each / self.path.relative_to(self.folder) for each in self.others]
        return [each for each in found if each.is_file()]


Change = Callable[[Place, random.Random], Done | None]
Way = Callable[[Any, random.Random], Any]
#: Rows of (pattern of file names, its weight in the draw, change).
Table = list[tuple[str, int, Change]]


class Codec(NamedTuple):
    """How a kind of file is read and written; unreadable content is None."""

    read: Callable[[Path], Any]
    write: Callable[[Path, Any], object]


def write_json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False))


JSON = Codec(lambda path: json.loads(path.read_text()), write_json)
TEXT = Codec(Path.read_text, Path.write_text)
BYTES = Codec(Path.read_bytes, Path.write_bytes)


class OneOf(list[Any]):
    """Values of which one is drawn."""


#: In place of a field's value: the field is removed.
GONE = object()


def _meant(value: dict[str, Any]) -> Any:
    return OneOf(value["one of"]) if "one of" in value else GONE if "gone" in value else value


#: The data of the faults, such as the fields of documents that they set.
FAULTS: dict[str, Any] = json.loads(Path(__file__).with_name("faults.json").read_text(), object_hook=_meant)


def set_fields(document: dict[str, Any], fields: Mapping[str, Any], draw: random.Random) -> dict[str, Any]:
    for field, value in fields.items():
        new = draw.choice(value) if isinstance(value, OneOf) else value
        if new is GONE:
            document.pop(field, None)
        else:
            document[field] = new
    return document


def drawn(title: str, codec: Codec, ways: Mapping[str, Way | Mapping[str, Any]]) -> Change:
    """A change in one of several ways, each equally likely."""

    def change(place: Place, draw: random.Random) -> Done | None:
        value = codec.read(place.path)
        name = draw.choice(list(ways))
        way = ways[name]
        if value is None:
            return None
        new = way(value, draw) if callable(way) else set_fields(value, way, draw)
        if new is None:
            return None
        codec.write(place.path, new)
        return title.format(name), name

    return change


def places_in(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a document, four levels deep; of long lists the first items."""
    items = value.items() if isinstance(value, dict) else enumerate(value[:3]) if isinstance(value, list) else ()
    for key, inner in list(items)[:200]:
        yield (*at, key)
        if len(at) < 4:
            yield from places_in(inner, (*at, key))


def holder_of(document: Any, place: tuple[Any, ...]) -> Any:
    """The container of the value at a place."""
    for key in place[:-1]:
        document = document[key]
    return document


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
