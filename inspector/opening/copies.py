"""Does a file hold a checkpoint's tensors once more? Only headers are read, and the evidence is stated.

Two checkpoints are the same if each tensor of one is in the other with the same shape: by name, or by key where names
are of different conventions (Meta's `consolidated.00.pth`, a GGUF). A tied head and buffers may be in one of them only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import cache

from inspector import formats
from inspector.architectures.naming import Namer
from inspector.errors import InspectorError
from inspector.model import Config, Header
from inspector.opening import configs
from inspector.sources import Place
from inspector.sources.filenames import HDF5
from inspector.tabular import NamedTuple
from inspector.units import plural

#: Groups and roles of tensors that one of two equal checkpoints may lack: computed ones, and what a tied head repeats.
_OPTIONAL = frozenset({"buffer", "head"})
#: The most tensors of two checkpoints that are compared.
MOST_COMPARED = 500_000


class _Stored(NamedTuple):
    """A tensor's shape, type and bytes."""

    shape: tuple[int, ...]
    dtype: str


class Contents(NamedTuple):
    """A checkpoint's tensors by name and by key."""

    names: Mapping[object, _Stored]
    keys: Mapping[object, _Stored]
    optional: frozenset[object]  # names and keys of tensors that one of two equal checkpoints may lack

    @property
    def types(self) -> str:
        """The types of its tensors, the most frequent first: "Q8_0 and F32"."""
        return " and ".join(dtype for dtype, _ in Counter(each.dtype for each in self.names.values()).most_common(3))


class Headers:
    """The contents of a place's weight files, each read once."""

    def __init__(self, place: Place, may_read: Callable[[str], bool] = lambda _: True) -> None:
        self._place, self._may_read = place, may_read
        self.contents = cache(self._contents)

    def _contents(self, paths: tuple[str, ...]) -> Contents | None:
        """The tensors of a checkpoint's files; None if one cannot be read, or if there are too many."""
        headers = []
        if not all(map(self._may_read, paths)) or any(path.endswith(HDF5) for path in paths):
            return None  # HDF5's library is written in C, and slow to import
        for path in paths:
            try:
                with closing(self._place.open(path)) as source:
                    headers.append(formats.read(source, path))
            except InspectorError:
                return None
        return _of(_whole(headers), _config(self._place, headers))


def _whole(headers: Sequence[Header]) -> tuple[Header, ...]:
    """The headers with each tensor once; tensors that ranks of a run share are joined."""
    from inspector.opening.checkpoint import whole_tensors  # imports this module's floor mates

    return whole_tensors(tuple(headers))


def _config(place: Place, headers: Sequence[Header]) -> Config | None:
    """The configuration in a GGUF, or beside the weights: names are read by the family's table."""
    try:
        if any(header.format == "gguf" for header in headers):
            from inspector.opening import gguf  # only for GGUF files

            return gguf.config_of(headers)
        folder = headers[0].path.rpartition("/")[0] if headers else ""
        return configs.find(place, f"{folder}/" if folder else "") or configs.find(place)
    except InspectorError:
        return None


def _of(headers: Sequence[Header], config: Config | None) -> Contents | None:
    tensors = [each for header in headers for each in header.tensors]
    if not tensors or len(tensors) > MOST_COMPARED:
        return None
    namer = Namer(config.family, config.values) if config else Namer()
    named = namer.name([each.name for each in tensors])
    stored = [_Stored(each.shape, each.dtype) for each in tensors]
    keys = named.keys()
    optional: set[object] = set()
    for slot, members in named.groups:
        if slot.group in _OPTIONAL or slot.role == "lm_head":
            optional.update(tensors[at].name for at in members)
            optional.update(keys[at] for at in members)
    return Contents(
        {each.name: one for each, one in zip(tensors, stored, strict=True)},
        {key: one for key, one in zip(keys, stored, strict=True) if key.role},
        frozenset(optional),
    )


def evidence(one: Contents | None, other: Contents | None) -> str | None:
    """What shows that `other` holds the tensors of `one` once more; None if nothing does."""
    if one is None or other is None:
        return None
    same = _same(one.names, other.names, one.optional | other.optional)
    by = "name"
    if same is None and len(one.keys) > 1:
        same = _same(one.keys, other.keys, one.optional | other.optional)
        by = "key"
    if same is None:
        return None
    number = plural(same.tensors, "tensor")
    if same.bits:
        return f"the same {number} by {by}, shape and bits; values were not compared"
    return f"the same {number} by {by} and shape, in {other.types}; values were not compared"


class _Same(NamedTuple):
    tensors: int  # that both have
    bits: bool  # whether all are of the same types


def _same(left: Mapping[object, _Stored], right: Mapping[object, _Stored], optional: frozenset[object]) -> _Same | None:
    """How many tensors are the same; None if another one than an optional one is in one of them only."""
    common = left.keys() & right.keys()
    if not common or any(key not in optional for key in left.keys() ^ right.keys()):
        return None
    if any(left[key].shape != right[key].shape for key in common):
        return None
    return _Same(len(common), all(left[key].dtype == right[key].dtype for key in common))
