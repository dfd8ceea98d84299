"""The contents of a file in terms common to all of PyTorch's formats."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from inspector.formats.pytorch.layout import Frame, Storage
from inspector.formats.pytorch.views import View


class Found(NamedTuple):
    """The tensors of a file, the positions of their storages, and what else the pickle holds."""

    views: tuple[View, ...]
    storages: Mapping[str, Storage]
    frame: Frame
    value: Any = None  # what the pickle leaves
    malformed: tuple[str, ...] = ()  # names of tensors whose description is invalid
    opaque: tuple[str, ...] = ()  # classes of objects that are searched for tensors
    complete: bool = True  # whether all values were visited


def within(found: Found, prefix: str, name: str) -> Found:
    """The same for a part of a file: keys of storages and names of tensors get a prefix."""
    return found._replace(
        views=tuple(
            each._replace(
                name=".".join(filter(None, (name, each.name))),
                storage=None if each.storage is None else prefix + each.storage,
            )
            for each in found.views
        ),
        storages={prefix + key: each for key, each in found.storages.items()},
    )


def together(parts: Iterable[Found], frame: Frame, value: Any = None) -> Found:
    """The contents of all parts of one file, in the frame that encloses them."""
    parts = tuple(parts)
    frame = Frame(
        [*frame.members, *(member for each in parts for member in each.frame.members)],
        [*frame.pickles, *(pickle for each in parts for pickle in each.frame.pickles)],
    )
    return Found(
        tuple(view for each in parts for view in each.views),
        {key: storage for each in parts for key, storage in each.storages.items()},
        frame,
        value,
        tuple(name for each in parts for name in each.malformed),
        tuple(dict.fromkeys(path for each in parts for path in each.opaque)),
        all(each.complete for each in parts),
    )
