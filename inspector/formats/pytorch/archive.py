"""Archives: what `torch.save` writes since 1.6, TorchScript, and programs that `torch.export` saves (`.pt2`).

NAME/data.pkl, NAME/data/KEY                    a value, and the bytes of its storages
NAME/constants.pkl, NAME/constants/KEY          TorchScript: constants of its code
NAME/data/weights/*_config.json, …/weight_0     .pt2: a tensor a record, described in JSON
serialized_state_dict.pt                        .pt2 before 2.8: an archive within the archive
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from inspector.errors import FormatError
from inspector.formats import zips
from inspector.formats.findings import Findings
from inspector.formats.pytorch import layout
from inspector.formats.pytorch.found import Found, together, within
from inspector.formats.pytorch.layout import Storage
from inspector.formats.pytorch.machine import Budget
from inspector.formats.pytorch.program import Program
from inspector.formats.pytorch.sequence import programs
from inspector.formats.pytorch.stream import Stream
from inspector.formats.pytorch.tensors import walk
from inspector.formats.pytorch.values import is_count
from inspector.formats.pytorch.views import SCALAR_TYPES, View
from inspector.formats.zips import Member, Read
from inspector.units import escape

#: Opcodes of one file: a tensor takes some 40, and the largest checkpoints have 50,000 in a shard. A small file has
#: no more than bytes, or than `FEWEST`: others are in it only where they are compressed, which PyTorch does not do.
MAX_OPCODES, FEWEST = 10_000_000, 1_000_000
#: Bytes of a pickle that are fetched in one request: 50,000 tensors take some 6 MB.
MAX_PICKLE = 16 * 1024 * 1024
#: Bytes of a description in JSON.
MAX_DESCRIPTION = 16 * 1024 * 1024
#: Exported programs: suffixes of the records that describe their tensors, or of the inner archives with them.
_DESCRIBED = ("_weights_config.json", "_constants_config.json")
_NESTED = ("serialized_state_dict.pt", "serialized_constants.pt")


def is_known(members: Sequence[Member]) -> bool:
    """Whether an archive is of one of PyTorch's kinds."""
    names = {each.name.rpartition("/")[2] for each in members}
    return "data.pkl" in names or _is_program(members)


def _is_program(members: Sequence[Member]) -> bool:
    return any(each.name.endswith((*_DESCRIBED, *_NESTED)) for each in members)


def read(read_at: Read, size: int, path: str, findings: Findings) -> Found:
    """All tensors of an archive.

    Raises:
        FormatError: the list of members or a pickle cannot be read, or another program wrote the archive.
    """
    try:
        members = zips.members(read_at, size)
    except zips.ZipError as error:
        raise FormatError(
            f"{escape(path)} begins as a ZIP archive, PyTorch's or another, and {error}", "truncated"
        ) from error
    pickled = next((each for each in members if each.name.endswith("/data.pkl") or each.name == "data.pkl"), None)
    frame = layout.frame_of(read_at, members)
    if pickled is None and _is_program(members):
        return together(_of_program(read_at, size, members, frame, path, findings), frame)
    if pickled is None:
        raise FormatError(f"{escape(path)} is a ZIP archive, but not PyTorch's: it has no data.pkl", "not-weights")
    prefix = pickled.name.removesuffix("data.pkl")
    _check_byte_order(read_at, members, prefix, findings)
    parts = [_of_pickle(read_at, size, members, frame, pickled, prefix + "data", path, findings)]
    constants = next((each for each in members if each.name == prefix + "constants.pkl"), None)
    if constants is not None and any(each.name.startswith(prefix + "constants/") for each in members):
        more = _of_pickle(read_at, size, members, frame, constants, prefix + "constants", path, findings)
        parts.append(within(more, "constants/", "constants"))
    return together(parts, frame, parts[0].value)


def _of_pickle(
    read_at: Read,
    size: int,
    members: Sequence[Member],
    frame: layout.Frame,
    pickled: Member,
    folder: str,
    path: str,
    findings: Findings,
) -> Found:
    """The tensors that one pickle names, with their storages in a folder of records."""
    try:
        program = programs(_stream(read_at, pickled), Budget(min(MAX_OPCODES, max(FEWEST, size))))[0]
    except zips.ZipError as error:
        name = pickled.name.rpartition("/")[2]
        raise FormatError(f"{escape(path)}: its {escape(name)} cannot be read: {error}", "unreadable-file") from error
    check(program, path)
    walked = walk(program.value)
    storages = layout.of_members(members, folder, frame, size, findings)
    own = layout.Frame(pickles=[(start, end) for header, _, start, end in frame.members if header == pickled.header])
    return Found(walked.views, storages, own, program.value, walked.malformed, walked.opaque, complete=walked.complete)


def _stream(read_at: Read, pickled: Member) -> Stream:
    start = zips.data_start(read_at, pickled)
    if pickled.method != zips.STORED:
        return Stream.of(zips.unpacked(read_at, pickled, MAX_PICKLE))
    if pickled.compressed <= MAX_PICKLE:  # one request, over the network
        return Stream.of(read_at(start, pickled.compressed))
    end = start + pickled.compressed
    return Stream(lambda at, length: read_at(start + at, min(length, end - start - at)), end - start)


def check(program: Program, path: str) -> None:
    """Raises FormatError if the pickle could not be followed to its end."""
    if program.damage is not None:
        rule = "truncated" if "ends" in program.damage else "unreadable-file"
        raise FormatError(f"{escape(path)}: its pickle cannot be followed: {program.damage}", rule)


def _check_byte_order(read_at: Read, members: Sequence[Member], prefix: str, findings: Findings) -> None:
    order = next((each for each in members if each.name == prefix + "byteorder"), None)
    try:
        told = zips.unpacked(read_at, order, 16).strip() if order is not None else b""
    except zips.ZipError as error:
        findings.add("unreadable-file", "error", f"its record of the byte order cannot be read: {error}")
        return
    if told == b"big":
        findings.add("big-endian", "info", "its numbers are big-endian: PyTorch swaps their bytes when it loads them")


# --- programs ---------------------------------------------------------------------------------------


def _of_program(
    read_at: Read, size: int, members: Sequence[Member], frame: layout.Frame, path: str, findings: Findings
) -> Iterator[Found]:
    """The weights and the constants of a program."""
    for member in members:
        name = "constants" if "constants" in member.name.rpartition("/")[2] else ""
        if member.name.endswith(_DESCRIBED):
            yield within(_described(read_at, size, members, frame, member, path, findings), member.name, name)
        elif member.name.endswith(_NESTED) and member.size:
            yield within(_nested(read_at, member, path, findings), member.name, name)


def _described(
    read_at: Read,
    size: int,
    members: Sequence[Member],
    frame: layout.Frame,
    described: Member,
    path: str,
    findings: Findings,
) -> Found:
    """Tensors described by a JSON document, each in its own record."""
    folder = described.name.rpartition("/")[0]
    try:
        document = json.loads(zips.unpacked(read_at, described, MAX_DESCRIPTION))
    except (zips.ZipError, ValueError, RecursionError) as error:
        raise FormatError(
            f"{escape(path)}: {escape(described.name)} is not a JSON document", "unreadable-file"
        ) from error
    config = document.get("config") if isinstance(document, dict) else None
    storages = layout.of_members(members, folder, frame, size, findings)
    views, malformed = [], []
    for name, payload in config.items() if isinstance(config, dict) else ():
        view = _view(name, payload, storages) if isinstance(payload, dict) else None
        if view is not None:
            views.append(view)
        elif not (
            isinstance(payload, dict) and payload.get("use_pickle")
        ):  # which holds an object that is not a tensor
            malformed.append(name)
    used = {view.storage for view in views}
    storages = {key: each for key, each in storages.items() if key in used}
    return Found(tuple(views), storages, layout.Frame(), malformed=tuple(malformed))


def _view(name: str, payload: Mapping[str, Any], storages: Mapping[str, Storage]) -> View | None:
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


def _nested(read_at: Read, member: Member, path: str, findings: Findings) -> Found:
    """An archive inside another. Offsets count from the start of the outer file."""
    try:
        start = zips.data_start(read_at, member)
    except zips.ZipError as error:
        told = f"{escape(path)}: {escape(member.name)} cannot be read: {error}"
        raise FormatError(told, "unreadable-file") from error
    return part(read_at, start, member.compressed, path, findings)


def part(read_at: Read, start: int, size: int, path: str, findings: Findings) -> Found:
    """An archive that begins anywhere in a file. Offsets count from the start of the file.

    Raises:
        FormatError: as `read`.
    """

    def inside(at: int, length: int) -> bytes:
        return read_at(start + at, min(length, size - at)) if 0 <= at < size else b""

    found = read(inside, size, path, findings)
    storages = {key: each._replace(start=each.start + start) for key, each in found.storages.items()}
    return found._replace(storages=storages, frame=found.frame.moved(start))
