"""Archives: what `torch.save` writes since 1.6, TorchScript, and programs that `torch.export` saves (`.pt2`).

NAME/data.pkl, NAME/data/KEY                    a value, and the bytes of its storages
NAME/constants.pkl, NAME/constants/KEY          TorchScript: constants of its code
NAME/data/weights/*_config.json, …/weight_0     .pt2: a tensor a record, described in JSON
serialized_state_dict.pt                        .pt2 before 2.8: an archive within the archive
NAME/FOLDER/FILE, NAME/.data/KEY.storage        torch.package: pickles and sources anywhere, and their storages;
NAME/.data/ts_code/NUMBER/data.pkl              TorchScript in it, with the same storages
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from inspector.errors import FormatError
from inspector.formats import zips
from inspector.formats.findings import Findings
from inspector.formats.pytorch import layout
from inspector.formats.pytorch.layout import SCALAR_TYPES, Found, Storage, View, together, within
from inspector.formats.pytorch.machine import Budget, Stream
from inspector.formats.pytorch.program import Program, programs
from inspector.formats.pytorch.tensors import walk
from inspector.formats.pytorch.values import is_count
from inspector.formats.zips import Member, Read
from inspector.model.codes import Code
from inspector.units import escape

#: Opcodes of one file: a tensor takes some 40, and the largest checkpoints have 50,000 in a shard. A small file may
#: have as many as it has bytes, but at least `FEWEST`: more fit in only if they are compressed, which PyTorch does not
#: do.
MAX_OPCODES, FEWEST = 10_000_000, 1_000_000
#: Bytes of a pickle that are fetched in one request: 50,000 tensors take some 6 MB.
MAX_PICKLE = 16 * 1024 * 1024
#: Bytes of a description in JSON.
MAX_DESCRIPTION = 16 * 1024 * 1024
#: Exported programs: suffixes of the records that describe their tensors, or of the inner archives with them.
_DESCRIBED = ("_weights_config.json", "_constants_config.json")
_NESTED = ("serialized_state_dict.pt", "serialized_constants.pt")
#: What `PackageExporter` always writes (`torch/package/package_exporter.py`, `_finalize_zip`).
_PACKAGE = ".data/extern_modules"


class _Archive(NamedTuple):
    """An open archive, and where its members lie."""

    read_at: Read
    size: int
    path: str
    findings: Findings
    members: Sequence[Member]
    frame: layout.Frame

    def member(self, name: str) -> Member | None:
        return next((each for each in self.members if each.name == name), None)


def is_known(members: Sequence[Member]) -> bool:
    """Whether an archive is of one of PyTorch's kinds."""
    names = {each.name.rpartition("/")[2] for each in members}
    return "data.pkl" in names or _is_program(members) or _package_of(members) is not None


def _package_of(members: Sequence[Member]) -> str | None:
    """The folder of a torch.package, with its slash; None if the archive is not one."""
    found = (each.name.removesuffix(_PACKAGE) for each in members if each.name.endswith(_PACKAGE))
    return next((folder for folder in found if not folder or folder.endswith("/")), None)


def _is_program(members: Sequence[Member]) -> bool:
    return any(each.name.endswith((*_DESCRIBED, *_NESTED)) for each in members)


def read(read_at: Read, size: int, path: str, findings: Findings) -> Found:
    """All tensors of an archive.

    Raises:
        FormatError: the list of members or a pickle cannot be read, or another program wrote the archive.
    """
    try:
        members, end = zips.members(read_at, size), zips.end_of(read_at, size)
    except zips.ZipError as error:
        raise FormatError(
            f"{escape(path)} begins as a ZIP archive, PyTorch's or another, and {error}", "truncated"
        ) from error
    archive = _Archive(read_at, size, path, findings, members, layout.frame_of(read_at, members, end))
    package = _package_of(members)
    if package is not None:
        return together(_tensors_of_package(archive, package), archive.frame)
    pickled = next((each for each in members if each.name.endswith("/data.pkl") or each.name == "data.pkl"), None)
    if pickled is None and _is_program(members):
        return together(_tensors_of_program(archive), archive.frame)
    if pickled is None:
        raise FormatError(f"{escape(path)} is a ZIP archive, but not PyTorch's: it has no data.pkl", "not-weights")
    prefix = pickled.name.removesuffix("data.pkl")
    _check_byte_order(archive, prefix)
    parts = [_tensors_of_pickle(archive, pickled, prefix + "data")]
    constants = archive.member(prefix + "constants.pkl")
    if constants is not None and any(each.name.startswith(prefix + "constants/") for each in members):
        more = _tensors_of_pickle(archive, constants, prefix + "constants")
        parts.append(within(more, "constants/", "constants"))
    return together(parts, archive.frame, parts[0].value)


def _tensors_of_pickle(archive: _Archive, pickled: Member, folder: str) -> Found:
    """The tensors that one pickle names, with their storages in a folder of records."""
    try:
        budget = Budget(min(MAX_OPCODES, max(FEWEST, archive.size)))
        program = programs(_stream_of(archive.read_at, pickled), budget)[0]
    except zips.ZipError as error:
        name = pickled.name.rpartition("/")[2]
        what = f"{escape(archive.path)}: its {escape(name)} cannot be read: {error}"
        raise FormatError(what, "unreadable-file") from error
    check(program, archive.path)
    walked = walk(program.value)
    storages = layout.of_members(archive.members, folder, archive.frame, archive.size, archive.findings)
    places = [(start, end) for header, _, start, end in archive.frame.members if header == pickled.header]
    return walked.found(storages, layout.Frame(pickles=places), program.value)


def _tensors_of_package(archive: _Archive, folder: str) -> Iterator[Found]:
    """The tensors of all pickles in a torch.package. Names begin with the pickle's path if there are several."""
    data = f"{folder}.data"
    pickles = [each for each in archive.members if _is_pickle(archive, each, data)]
    for each in pickles:
        found = _tensors_of_pickle(archive, each, data)
        named = each.name.startswith(f"{data}/ts_code/")  # its keys are the records' names
        views = found.views if named else tuple(_with_suffix(view) for view in found.views)
        name = each.name.removeprefix(folder).removesuffix(".pkl").replace("/", ".") if len(pickles) > 1 else ""
        storages = {key: storage for key, storage in found.storages.items() if key.endswith(".storage")}
        yield within(found._replace(views=views, storages=storages), "", name)


def _is_pickle(archive: _Archive, member: Member, data: str) -> bool:
    if member.name.startswith(f"{data}/"):
        return member.name.startswith(f"{data}/ts_code/") and member.name.endswith("/data.pkl")
    try:
        start = zips.unpacked(archive.read_at, member, 2)
    except zips.ZipError:
        return False
    return start[:1] == b"\x80" and not member.name.endswith(".py")


def _with_suffix(view: View) -> View:
    return view if view.storage is None else view._replace(storage=f"{view.storage}.storage")


def _stream_of(read_at: Read, pickled: Member) -> Stream:
    start = zips.data_start(read_at, pickled)
    if pickled.method != zips.STORED:
        return Stream.of(zips.unpacked(read_at, pickled, MAX_PICKLE))
    if pickled.compressed <= MAX_PICKLE:  # one request, over the network
        return Stream.of(read_at(start, pickled.compressed))
    return Stream.part(read_at, start, start + pickled.compressed)


def check(program: Program, path: str) -> None:
    """Raises FormatError if the pickle could not be followed to its end."""
    if program.damage is not None:
        rule: Code = "truncated" if "ends" in program.damage else "unreadable-file"
        raise FormatError(f"{escape(path)}: its pickle cannot be followed: {program.damage}", rule)


def _check_byte_order(archive: _Archive, prefix: str) -> None:
    record = archive.member(prefix + "byteorder")
    try:
        order = zips.unpacked(archive.read_at, record, 16).strip() if record is not None else b""
    except zips.ZipError as error:
        archive.findings.add("unreadable-file", "error", f"its record of the byte order cannot be read: {error}")
        return
    if order == b"big":
        what = "its numbers are big-endian: PyTorch swaps their bytes when it loads them"
        archive.findings.add("big-endian", "info", what)


# --- programs ---------------------------------------------------------------------------------------


def _tensors_of_program(archive: _Archive) -> Iterator[Found]:
    """The weights and the constants of a program."""
    for member in archive.members:
        name = "constants" if "constants" in member.name.rpartition("/")[2] else ""
        if member.name.endswith(_DESCRIBED):
            yield within(_tensors_of_description(archive, member), member.name, name)
        elif member.name.endswith(_NESTED) and member.size:
            yield within(_tensors_of_inner_archive(archive, member), member.name, name)


def _tensors_of_description(archive: _Archive, member: Member) -> Found:
    """Tensors described by a JSON document, each in its own record."""
    try:
        document = json.loads(zips.unpacked(archive.read_at, member, MAX_DESCRIPTION))
    except (zips.ZipError, ValueError, RecursionError) as error:
        what = f"{escape(archive.path)}: {escape(member.name)} is not a JSON document"
        raise FormatError(what, "unreadable-file") from error
    config = document.get("config") if isinstance(document, dict) else None
    folder = member.name.rpartition("/")[0]
    storages = layout.of_members(archive.members, folder, archive.frame, archive.size, archive.findings)
    views, malformed = [], []
    for name, payload in config.items() if isinstance(config, dict) else ():
        view = _described_view(name, payload, storages) if isinstance(payload, dict) else None
        if view is not None:
            views.append(view)
        elif not (isinstance(payload, dict) and payload.get("use_pickle")):  # an object that is not a tensor
            malformed.append(name)
    used = {view.storage for view in views}
    storages = {key: each for key, each in storages.items() if key in used}
    return Found(tuple(views), storages, layout.Frame(), malformed=tuple(malformed))


def _described_view(name: str, payload: Mapping[str, Any], storages: Mapping[str, Storage]) -> View | None:
    """A tensor from its `tensor_meta` (`torch/_export/serde/schema.py`); None if it is not one."""
    meta, key = payload.get("tensor_meta"), payload.get("path_name")
    if not isinstance(meta, dict) or not isinstance(key, str):
        return None
    kind = SCALAR_TYPES.get(meta.get("dtype", 0)) if is_count(meta.get("dtype")) else None
    shape, stride = _whole_numbers(meta.get("sizes")), _whole_numbers(meta.get("strides"))
    offset = _whole_numbers([meta.get("storage_offset")])
    if kind is None or shape is None or stride is None or offset is None or len(shape) != len(stride):
        return None
    length = storages[key].size // kind[1] if key in storages else 0
    return View(name, *kind, shape, stride, offset[0], key, length)


def _whole_numbers(values: Any) -> tuple[int, ...] | None:
    """`[{"as_int": 3}, …]`; None if a size is only known when the program runs."""
    if not isinstance(values, list):
        return None
    found = [each.get("as_int") if isinstance(each, dict) else each for each in values]
    return tuple(each for each in found if each is not None) if all(map(is_count, found)) else None


def _tensors_of_inner_archive(archive: _Archive, member: Member) -> Found:
    """An archive inside another. Offsets count from the start of the outer file."""
    try:
        start = zips.data_start(archive.read_at, member)
    except zips.ZipError as error:
        what = f"{escape(archive.path)}: {escape(member.name)} cannot be read: {error}"
        raise FormatError(what, "unreadable-file") from error
    return part(archive.read_at, start, member.compressed, archive.path, archive.findings)


def part(read_at: Read, start: int, size: int, path: str, findings: Findings) -> Found:
    """An archive that begins anywhere in a file. Offsets count from the start of the file.

    Raises:
        FormatError: as `read`.
    """

    def read_inside(at: int, length: int) -> bytes:
        return read_at(start + at, min(length, size - at)) if 0 <= at < size else b""

    found = read(read_inside, size, path, findings)
    storages = {key: each._replace(start=each.start + start) for key, each in found.storages.items()}
    return found._replace(storages=storages, frame=found.frame.moved(start))
