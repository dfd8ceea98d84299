"""Which of PyTorch's formats a file has, and its header: the model's tensors under their own names.

Training frameworks keep the model under a key, next to other things.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

from inspector.formats import zips
from inspector.formats.findings import Findings
from inspector.formats.pytorch import archive, layout, legacy
from inspector.formats.pytorch.layout import Found, View
from inspector.formats.pytorch.tensors import sizes_of
from inspector.formats.pytorch.values import Dictionary, Made, is_count
from inspector.formats.training import WEIGHTS
from inspector.formats.zips import Read
from inspector.model import Header
from inspector.sources import Source
from inspector.units import plural


def is_pytorch(read_at: Read, size: int) -> bool:
    """Whether a file is PyTorch's: an archive with a data.pkl or truncated, or pickles that begin with its magic."""
    start = read_at(0, 32)
    if start[:4] != b"PK\3\4":
        return (start[:1] == b"\x80" and start[2:].startswith(legacy.START)) or legacy.is_tar(read_at)
    try:
        return archive.is_known(zips.members(read_at, size))
    except zips.ZipError:
        return True  # truncated: its reader reports it


def read(source: Source, path: str) -> Header:
    """The tensors of a PyTorch file, by the opcodes of its pickle.

    Raises:
        FormatError: not one of PyTorch's formats, or a pickle that cannot be followed.
        SourceError: the bytes cannot be read.
    """
    findings = Findings(path)
    found = _contents(source, path, findings)
    _report(found, findings)
    header = header_of(named(found), path, source.size, findings, facts(found.value))
    return header._replace(numbers=_numbers(found))


def placed(source: Source, path: str) -> dict[str, tuple[View, int]]:
    """Each tensor's view, with the file offset of its first element: for callers that read data.

    Tensors without bytes in the file, on the meta device or in a compressed storage, are left out.
    """
    whole = _contents(source, path, Findings(path))
    found: dict[str, tuple[View, int]] = {}
    for view in named(whole).views:
        storage = whole.storages.get(view.storage) if view.storage is not None else None
        if storage is not None and storage.readable and (view.offset + view.extent) * view.width <= storage.size:
            found[view.name] = (view, storage.start + view.offset * view.width)
    return found


def _contents(source: Source, path: str, findings: Findings) -> Found:
    read_at = clipped(source)
    if bytes(source.prefix(2)[:2]) == b"PK":
        return archive.read(read_at, source.size, path, findings)
    if legacy.is_tar(read_at):
        return legacy.read_tar(read_at, source.size, path)
    return legacy.read_pickles(read_at, source.size, path)


def header_of(found: Found, path: str, size: int, findings: Findings, facts: dict[str, object]) -> Header:
    """The header of a file with these tensors.

    Args:
        facts: what the file states about itself, for its metadata.
    """
    tensors, kept, shared, claimed = layout.place(found.views, found.storages, findings)
    for other, name in list(shared.items())[:20]:
        findings.add("shared-storage", "info", f"the same bytes as {name:.120}: counted once", other)
    return Header(
        path,
        "pytorch",
        size,
        tensors,
        layout.regions(claimed, found.storages, found.frame, size, findings),
        {**facts, **shared},
        findings.all(),
        {at: view.stride for at, view in enumerate(kept) if not view.contiguous},
        {at: view.piece for at, view in enumerate(kept) if view.piece is not None},
    )


#: Bytes at the end of a file that are fetched once: an archive's list of 1,500 records, and the small ones before it.
TAIL = 128 * 1024


def clipped(source: Source) -> Read:
    """Reads that end with the file. Its last bytes are fetched once: over the network each read is a request."""
    size = source.size
    tail = b""

    def read_at(start: int, length: int) -> bytes:
        nonlocal tail
        length = min(length, size - start)
        if length <= 0 or start < 0:
            return b""
        if start < size - TAIL:
            return source.read(start, length)
        tail = tail or source.read(max(0, size - TAIL), min(size, TAIL))
        at = start - size + len(tail)
        return tail[at : at + length]

    return read_at


def _report(found: Found, findings: Findings) -> None:
    """Findings about the pickle."""
    for name in found.malformed:
        findings.add("tensor-entry", "error", "its description is not one that PyTorch writes", name)
    if not found.complete:
        findings.add("header-size", "warning", "too many values: only the first tensors are listed")
    if found.opaque:
        listed = ", ".join(found.opaque[:4])
        what = f"objects of {plural(len(found.opaque), 'class', 'classes')} inside: {listed:.160}"
        findings.add("pickled-object", "info", what)
    if isinstance(found.value, Made) and not found.value.path.startswith("collections."):
        what = f"a whole object of the class {found.value.path:.120}, not a state dict"
        findings.add("pickled-object", "info", what)


# --- names and facts --------------------------------------------------------------------------

#: Nested dictionaries that may lead to the weights: {"checkpoint": {"model": …}} is two.
_DEEPEST = 4
#: The most facts that a file states about itself, and the most characters of one.
MAX_FACTS, MAX_FACT = 100, 500


def named(found: Found) -> Found:
    """The weights under their own names; everything else keeps its key as a prefix."""
    names = {view.name for view in found.views}
    start = "".join(f"{key}." for key, _ in _way_to_weights(found.value, names))
    shorter = [name.removeprefix(start) for name in names]
    if not start or len(set(shorter)) < len(shorter):
        return found
    return found._replace(views=tuple(view._replace(name=view.name.removeprefix(start)) for view in found.views))


def _way_to_weights(value: Any, names: set[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The keys that lead to the weights, each with the entries of the dictionary that it is in."""
    start = ""
    for _ in range(_DEEPEST):
        key = _key_of_weights(value, start, names)
        if key is None:
            return
        entries = _entries(value)
        yield key, entries
        start, value = f"{start}{key}.", entries[key]


def _numbers(found: Found) -> frozenset[str]:
    """Tensors of one number beside the weights' dictionary, or beside the dictionaries of a model's parts.

    `{"state_dict": {…}, "best_acc1": …}`: what a training script counted or measured, whatever its name. A dictionary
    with larger tensors of its own may be a model's, so there only names decide (`training.is_data`).
    """
    sizes = {view.name: prod(view.shape) for view in found.views}
    numbers: set[str] = set()
    start = ""
    for key, entries in _way_to_weights(found.value, set(sizes)):
        numbers.update(f"{start}{each}" for each in entries if sizes.get(f"{start}{each}") == 1)
        start += f"{key}."
    entries = {} if start else _entries(found.value)
    if any(map(_is_container, entries.values())) and all(sizes.get(each, 1) == 1 for each in entries):
        numbers.update(each for each in entries if each in sizes)
    return frozenset(numbers)


def _key_of_weights(value: Any, start: str, names: set[str]) -> str | None:
    """The key of the weights in a dictionary, which may hold other things as well."""
    items = _entries(value)
    for key in WEIGHTS:
        if key in items and _is_container(items[key]) and any(name.startswith(f"{start}{key}.") for name in names):
            return key
    return None


def _is_container(value: Any) -> bool:
    return isinstance(value, Dictionary) or (isinstance(value, Made) and bool(value.items or value.state))


def _entries(value: Any) -> dict[str, Any]:
    """A dictionary's values by their string keys; empty for anything else."""
    if isinstance(value, Made) and value.path == "collections.OrderedDict":
        pairs = [each for each in value.items if isinstance(each, tuple) and len(each) == 2]
    else:
        pairs = value.pairs if isinstance(value, Dictionary) else []
    return {key: each for key, each in pairs if isinstance(key, str)}


def facts(value: Any) -> dict[str, object]:
    """Numbers and short strings next to the tensors: the step, the epoch, the version that wrote the file."""
    found = {
        key: each
        for key, each in _entries(value).items()
        if isinstance(each, (int, float)) or (isinstance(each, str) and len(each) <= MAX_FACT)
    }
    return {**dict(list(found.items())[:MAX_FACTS]), **_deepspeed_partitions(value)}


def _deepspeed_partitions(value: Any) -> dict[str, object]:
    """How DeepSpeed partitioned the weights, in its own record: their shapes, and the number of ranks."""
    found: dict[str, object] = {}
    items = _entries(value)
    for key in ("param_shapes", "frozen_param_shapes"):
        groups = items.get(key)
        listed = groups if isinstance(groups, list) else [groups]
        shapes = {name: sizes_of(each) for group in listed for name, each in _entries(group).items()}
        if shapes:
            found[key] = {name: shape for name, shape in shapes.items() if shape is not None}
    counts = _entries(items.get("optimizer_state_dict")).get("partition_count")
    count = max((each for each in counts if is_count(each)), default=0) if isinstance(counts, list) else counts
    return {**found, "partition_count": count} if is_count(count) and count else found
