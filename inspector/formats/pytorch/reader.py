"""Which of PyTorch's formats a file has, and its header."""

from __future__ import annotations

from inspector.formats import zips
from inspector.formats.findings import Findings
from inspector.formats.pytorch import archive, contents, layout, legacy, tar
from inspector.formats.pytorch.found import Found
from inspector.formats.pytorch.values import Made
from inspector.formats.pytorch.views import View
from inspector.formats.zips import Read
from inspector.model import Header
from inspector.sources import Source
from inspector.units import plural


def is_pytorch(read_at: Read, size: int) -> bool:
    """Whether a file is PyTorch's: an archive with a data.pkl or truncated, or pickles that begin with its magic."""
    start = read_at(0, 32)
    if start[:4] != b"PK\3\4":
        return (start[:1] == b"\x80" and start[2:].startswith(legacy.START)) or tar.is_tar(read_at)
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
    found = _found(source, path, findings)
    _tell(found, findings)
    return header_of(contents.named(found), path, source.size, findings, contents.facts(found.value))


def placed(source: Source, path: str) -> dict[str, tuple[View, int]]:
    """Each tensor's view, with the file offset of its first element: for callers that read data.

    Tensors without bytes in the file, on the meta device or in a compressed storage, are left out.
    """
    whole = _found(source, path, Findings(path))
    found: dict[str, tuple[View, int]] = {}
    for view in contents.named(whole).views:
        storage = whole.storages.get(view.storage) if view.storage is not None else None
        if storage is not None and storage.readable and (view.offset + view.extent) * view.width <= storage.size:
            found[view.name] = (view, storage.start + view.offset * view.width)
    return found


def _found(source: Source, path: str, findings: Findings) -> Found:
    read_at = clipped(source)
    if bytes(source.prefix(2)[:2]) == b"PK":
        return archive.read(read_at, source.size, path, findings)
    if tar.is_tar(read_at):
        return tar.read(read_at, source.size, path)
    return legacy.read(read_at, source.size, path)


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


def _tell(found: Found, findings: Findings) -> None:
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
