"""PyTorch's own files: a pickle that names tensors, and their bytes beside it. Nothing in one is ever run.

    torch >= 1.6    a ZIP archive: NAME/data.pkl, then NAME/data/KEY, the bytes of each storage, aligned to 64
    before          pickles in a row: magic, version, system, the value, the storages' keys; then each storage: its
                    number of elements in 8 bytes, and its bytes

Regions partition the file as for the other formats: what tensors claim of storages, the padding before a storage,
holes that no tensor claims, and everything else under "header". A storage that several names share is stored once:
the names after the first are in `metadata`, under the name that they share it with.
"""

from __future__ import annotations

from inspector.errors import FormatError
from inspector.formats.findings import Findings
from inspector.formats.pytorch import layout, zips
from inspector.formats.pytorch.layout import Storage
from inspector.formats.pytorch.machine import Budget
from inspector.formats.pytorch.program import Program
from inspector.formats.pytorch.sequence import IN_A_ROW, is_legacy, programs
from inspector.formats.pytorch.stream import Stream
from inspector.formats.pytorch.tensors import View, Walked, walk
from inspector.formats.pytorch.values import Dictionary, Made
from inspector.formats.pytorch.zips import Read
from inspector.model import Header
from inspector.sources import Source
from inspector.units import escape, plural

#: Opcodes of one file: a tensor takes some 40, and the largest checkpoints have 50,000 in a shard.
MAX_OPCODES = 10_000_000
#: Bytes of a pickle that are fetched at once: 50,000 tensors take some 6 MB.
MAX_PICKLE = 16 * 1024 * 1024
#: Keys under which training frameworks keep the weights in what they save.
_WEIGHTS = ("state_dict", "model_state_dict", "model", "module", "net", "network", "generator", "params_ema", "params")


#: How MAGIC begins the first format, after its protocol (`pickle.dumps(MAGIC, protocol=2)`).
_MAGIC = b"\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."


def is_pytorch(read_at: Read, size: int) -> bool:
    """Whether a file is PyTorch's: an archive with a data.pkl, or cut off; pickles that begin with its magic number."""
    start = read_at(0, 32)
    if start[:4] != b"PK\3\4":
        return start[:1] == b"\x80" and start[2:].startswith(_MAGIC)
    try:
        return any(each.name.rpartition("/")[2] == "data.pkl" for each in zips.members(read_at, size))
    except zips.ZipError:
        return True  # cut off: its reader says so


def read(source: Source, path: str) -> Header:
    """The tensors of a PyTorch file, by the opcodes of its pickle.

    Raises:
        FormatError: neither of PyTorch's kinds, or a pickle that cannot be followed.
        SourceError: the bytes cannot be had.
    """
    findings = Findings(path)
    program, storages, frame = _parsed(source, path, findings)
    walked = walk(program.value)
    views = _renamed(walked, program)
    tensors, shared, claimed = layout.place(views, storages, findings)
    _tell(walked, program, shared, findings)
    regions = layout.regions(claimed, storages, frame, source.size, findings)
    return Header(path, "pytorch", source.size, tensors, regions, shared, findings.all())


def placed(source: Source, path: str) -> dict[str, tuple[View, int]]:
    """Each tensor's view, with the place of its first element in the file: for those who read data.

    Tensors without bytes in the file, on the meta device or in a compressed storage, are left out.
    """
    program, storages, _ = _parsed(source, path, Findings(path))
    found: dict[str, tuple[View, int]] = {}
    for view in _renamed(walk(program.value), program):
        storage = storages.get(view.storage) if view.storage is not None else None
        if storage is not None and storage.readable and (view.offset + view.extent) * view.width <= storage.size:
            found[view.name] = (view, storage.start + view.offset * view.width)
    return found


def _parsed(source: Source, path: str, findings: Findings) -> tuple[Program, dict[str, Storage], layout.Frame]:
    read_at = _clipped(source)
    if bytes(source.prefix(2)[:2]) == b"PK":
        return _of_zip(read_at, source.size, path, findings)
    return _of_pickles(read_at, source.size, path)


def _clipped(source: Source) -> Read:
    """Reads of a file that end where it does."""

    def read_at(start: int, length: int) -> bytes:
        length = min(length, source.size - start)
        return source.read(start, length) if length > 0 and start >= 0 else b""

    return read_at


def _of_zip(
    read_at: Read, size: int, path: str, findings: Findings
) -> tuple[Program, dict[str, Storage], layout.Frame]:
    try:
        members = zips.members(read_at, size)
    except zips.ZipError as error:
        raise FormatError(
            f"{escape(path)} begins as a ZIP archive, PyTorch's or another, and {error}", "truncated"
        ) from error
    pickled = next((each for each in members if each.name.endswith("/data.pkl") or each.name == "data.pkl"), None)
    if pickled is None:
        raise FormatError(f"{escape(path)} is a ZIP archive, and none of PyTorch's: it has no data.pkl", "not-weights")
    try:
        start = zips.data_start(read_at, pickled)
        if pickled.method != zips.STORED:
            stream = Stream.of(zips.unpacked(read_at, pickled, MAX_PICKLE))
        elif pickled.compressed <= MAX_PICKLE:  # one request, where it is asked for over the network
            stream = Stream.of(read_at(start, pickled.compressed))
        else:
            end = start + pickled.compressed
            stream = Stream(lambda at, length: read_at(start + at, min(length, end - start - at)), end - start)
    except zips.ZipError as error:
        raise FormatError(f"{escape(path)}: its data.pkl cannot be read: {error}", "unreadable-file") from error
    found = programs(stream, Budget(MAX_OPCODES))[0]
    _check(found, path)
    prefix = pickled.name.removesuffix("data.pkl")
    frame = layout.frame_of(read_at, members)
    storages = layout.of_members(members, prefix, frame, size, findings)
    _check_byte_order(read_at, members, prefix, findings)
    return found, storages, frame


def _check_byte_order(read_at: Read, members: list[zips.Member], prefix: str, findings: Findings) -> None:
    order = next((each for each in members if each.name == prefix + "byteorder"), None)
    if order is not None and zips.unpacked(read_at, order, 16).strip() == b"big":
        findings.add("big-endian", "info", "its numbers are big-endian: PyTorch turns them around when it loads them")


def _of_pickles(read_at: Read, size: int, path: str) -> tuple[Program, dict[str, Storage], layout.Frame]:
    stream = Stream(read_at, size)
    budget = Budget(MAX_OPCODES)
    found = programs(stream, budget, most=IN_A_ROW)
    if not is_legacy(found):
        raise FormatError(
            f"{escape(path)} is a pickle, and none that PyTorch wrote: a pickle is never opened here, "
            "for opening one runs its code",
            "not-weights",
        )
    for each in found:
        _check(each, path)
    if len(found) < IN_A_ROW:
        raise FormatError(f"{escape(path)}: its pickles end before the storages: a truncated download", "truncated")
    keys = found[4].value
    if not isinstance(keys, list) or not all(isinstance(key, (str, int)) for key in keys):
        raise FormatError(f"{escape(path)}: its list of storages is none", "unreadable-file")
    views = walk(found[3].value).views
    sizes = {view.storage: view.length * view.width for view in views if view.storage is not None}
    storages = layout.in_a_row(size, [str(key) for key in keys], sizes, found[4].end)
    return found[3], storages, layout.Frame([], found[4].end)


def _check(program: Program, path: str) -> None:
    if program.damage is not None:
        rule = "truncated" if "ends" in program.damage else "unreadable-file"
        raise FormatError(f"{escape(path)}: its pickle cannot be followed: {program.damage}", rule)


def _renamed(walked: Walked, program: Program) -> tuple[View, ...]:
    """The weights under their own names, where a training framework keeps them under a key beside other things."""
    value = program.value
    keys = [key for key, _ in value.pairs] if isinstance(value, Dictionary) else []
    names = {view.name.partition(".")[0] for view in walked.views}
    main = next((key for key in _WEIGHTS if key in keys and key in names), None)
    if main is None or any(view.name == key for view in walked.views for key in (view.name.partition(".")[0],)):
        return walked.views
    start = main + "."
    return tuple(view._replace(name=view.name.removeprefix(start)) for view in walked.views)


def _tell(walked: Walked, program: Program, shared: dict[str, str], findings: Findings) -> None:
    """What is worth telling of the pickle."""
    for name in walked.malformed:
        findings.add("tensor-entry", "error", "its description is none that PyTorch writes", name)
    if not walked.complete:
        findings.add("header-size", "warning", "more values than are read: the tensors told are the first of them")
    if walked.opaque:
        listed = ", ".join(walked.opaque[:4])
        findings.add(
            "pickled-object",
            "info",
            f"objects of {plural(len(walked.opaque), 'class', 'classes')} in it: {listed:.160}",
        )
    for other, kept in list(shared.items())[:20]:
        findings.add("shared-storage", "info", f"the same bytes as {kept:.120}: counted once", other)
    if isinstance(program.value, Made) and not program.value.path.startswith("collections."):
        findings.add(
            "pickled-object", "info", f"a whole object of the class {program.value.path:.120}, not a state dict"
        )
