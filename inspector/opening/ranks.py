"""Files saved separately by the ranks of a distributed run: which part of which tensor each has, and the whole ones.

    Meta, Megatron, DeepSpeed    `consolidated.00.pth`, `mp_rank_00…`: the same names in each file, of split matrices
    DeepSpeed ZeRO stage 3       `zero_pp_rank_0_mp_rank_00_optim_states.pt`: a rank's share of all weights, flattened

Tensors whose file itself states the part (DTensor, ShardedTensor, `.metadata`) keep it. Each file's own header lists
what it contains; the assembled headers describe the model.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import prod
from typing import NamedTuple

from inspector.architectures.data.projections import WEIGHT_AXES, WHOLE_GROUPS
from inspector.architectures.naming import Namer
from inspector.formats import training
from inspector.formats.findings import Findings
from inspector.formats.pytorch import distributed
from inspector.model import Finding, Header, Joined, Piece, Region, Tensor
from inspector.opening.selection import Selection
from inspector.sources import Place, Source
from inspector.sources.filenames import Rank, rank_of
from inspector.units import integer, plural


def in_parts(files: tuple[Header, ...]) -> tuple[Header, ...]:
    """The same headers, with the parts that the files' names and contents imply."""
    ranks = [rank_of(header.path) for header in files]
    if len(files) < 2 or None in ranks:
        return files
    known = [(header, rank) for header, rank in zip(files, ranks, strict=True) if rank is not None]
    if any(header.pieces for header in files):
        return _with_copies(files)
    if shared_out := _shared_out(files):
        return _with_copies(tuple(_zero(header, rank, shared_out) for header, rank in known))
    return _parallel(files, known)


def _with_copies(files: tuple[Header, ...]) -> tuple[Header, ...]:
    """Tensors that several ranks have whole, marked as the same tensor: buffers, and whatever was not split."""
    seen: Counter[tuple[str, str, tuple[int, ...]]] = Counter()
    for header in files:
        seen.update(each[:3] for at, each in enumerate(header.tensors) if at not in header.pieces)
    return tuple(
        header._replace(
            pieces={
                **header.pieces,
                **{
                    at: Piece((0,) * len(each.shape), each.shape)
                    for at, each in enumerate(header.tensors)
                    if at not in header.pieces and seen[each[:3]] > 1 and not training.is_state(each.name)
                },
            }
        )
        for header in files
    )


# --- tensor parallelism -----------------------------------------------------------------------------


def _parallel(files: tuple[Header, ...], known: Sequence[tuple[Header, Rank]]) -> tuple[Header, ...]:
    """Matrices that are split among the files, along the axis given by their role."""
    ranks = sorted({rank.number for _, rank in known})
    first = {tensor.name: tensor for header, rank in known for tensor in header.tensors if rank.number == ranks[0]}
    others: Counter[str] = Counter()
    for header, rank in known:
        if rank.number != ranks[0]:
            others.update({tensor.name: 1 for tensor in header.tensors})
    shapes: defaultdict[str, dict[int, tuple[int, ...]]] = defaultdict(dict)
    for header, rank in known:
        for tensor in header.tensors:
            shapes[tensor.name][rank.number] = tensor.shape
    names = [
        name
        for name, tensor in first.items()
        if others[name] == len(ranks) - 1
        and not training.is_state(name)
        and all(len(shape) == len(tensor.shape) for shape in shapes[name].values())
    ]
    if len(ranks) < 2 or not names:
        return files
    axes = _axes(names, first, len(ranks))
    pieces = {name: dict(_cut(shapes[name], axes[name])) for name in names if name in axes}
    return tuple(_with_pieces(header, rank.number, pieces) for header, rank in known)


def _axes(names: Sequence[str], tensors: Mapping[str, Tensor], ranks: int) -> dict[str, int | None]:
    """Name → the axis along which it is split, None if every rank has it whole; unknown roles are absent."""
    named = Namer().name(names)
    slots = dict(zip(names, named.slots, strict=True))
    width = _width(tensors[name].shape for name in names if slots[name].group == "norm")
    found: dict[str, int | None] = {}
    for name, slot in slots.items():
        shape, axes = tensors[name].shape, WEIGHT_AXES.get(slot.role)
        if slot.group in WHOLE_GROUPS or not shape:
            found[name] = None
        elif axes is not None and len(shape) == 1:  # a bias is split like the outputs, and whole if these are
            found[name] = 0 if axes[0] == 0 else None
        elif axes is not None and len(shape) >= 2:
            fitting = [axis for axis in axes if width in (*shape[:axis], shape[axis] * ranks, *shape[axis + 1 :])]
            found[name] = fitting[0] if fitting else axes[0]
    return found


def _width(norms: Iterable[tuple[int, ...]]) -> int | None:
    """The model's width: the length of most norms, which are never split."""
    usual = Counter(shape[0] for shape in norms if len(shape) == 1).most_common(1)
    return usual[0][0] if usual else None


def _cut(shapes: Mapping[int, tuple[int, ...]], axis: int | None) -> Iterator[tuple[int, Piece]]:
    """Rank → its part, where the ranks' parts are consecutive."""
    own = shapes[min(shapes)]
    if axis is None:
        for rank in shapes:
            yield rank, Piece((0,) * len(own), own)
        return
    total = sum(shape[axis] for shape in shapes.values())
    whole = (*own[:axis], total, *own[axis + 1 :])
    at = 0
    for rank in sorted(shapes):
        yield rank, Piece((*(0,) * axis, at, *(0,) * (len(own) - axis - 1)), whole)
        at += shapes[rank][axis]


def _with_pieces(header: Header, rank: int, pieces: Mapping[str, Mapping[int, Piece]]) -> Header:
    own = {at: pieces[tensor.name][rank] for at, tensor in enumerate(header.tensors) if tensor.name in pieces}
    return header._replace(pieces=own)


# --- DeepSpeed ZeRO, stage 3 ------------------------------------------------------------------------


class _Share(NamedTuple):
    """A rank's part of one weight."""

    name: str
    whole: tuple[int, ...]
    start: int  # in the flattened weight
    elements: int
    padding: int  # elements after it, so that all ranks have equally many


class _SharedOut(NamedTuple):
    """The weights that are shared out among all ranks."""

    shapes: Mapping[str, tuple[int, ...]]  # of the trained weights, in the order of the flat groups
    frozen: Mapping[str, tuple[int, ...]]  # of the frozen weights, whose shares have names
    replicas: int  # ranks

    def share(self, name: str, rank: int) -> _Share:
        """A rank's share of a weight (`deepspeed/utils/zero_to_fp32.py`, `zero3_partitioned_param_info`)."""
        whole = self.shapes[name] if name in self.shapes else self.frozen[name]
        each = -(-prod(whole) // self.replicas)
        start = min(each * rank, prod(whole))
        elements = min(each, prod(whole) - start)
        return _Share(name, whole, start, elements, each - elements)


#: DeepSpeed's prefix for names of frozen weights.
_FROZEN = "frozen_param_fragments."


def _shared_out(files: Sequence[Header]) -> _SharedOut | None:
    """The weights that exist only in shares; None if the files have whole weights, as in stages 1 and 2."""
    if not any(_group(tensor.name) is not None for header in files for tensor in header.tensors):
        return None
    metadata = [header.metadata for header in files]
    shapes = next((each["param_shapes"] for each in metadata if each.get("param_shapes")), None)
    frozen: Mapping[str, tuple[int, ...]] = next(
        (each["frozen_param_shapes"] for each in metadata if each.get("frozen_param_shapes")), {}
    )
    replicas = next((each["partition_count"] for each in metadata if each.get("partition_count")), 0)
    return _SharedOut(shapes, frozen, replicas) if shapes and replicas else None


def _group(name: str) -> int | None:
    """The number of a flat group of full-precision weights; None for other tensors."""
    head, _, number = name.rpartition(".")
    return int(number) if head.endswith("fp32_flat_groups") and number.isdecimal() else None


def _zero(header: Header, rank: Rank, shared: _SharedOut) -> Header:
    """A rank's file, with its shares as parts of weights."""
    if rank.replica is None:
        return header
    cut = _Cut([], {}, [])
    flat: list[tuple[int, Tensor]] = []
    for tensor in header.tensors:
        number, name = _group(tensor.name), tensor.name.removeprefix(_FROZEN)
        if number is not None:
            flat.append((number, tensor))
        elif tensor.name.startswith(_FROZEN) and name in shared.frozen:
            cut.up([tensor], [shared.share(name, rank.replica)])
        elif tensor.elements or name not in (shared.frozen.keys() | shared.shapes.keys()):  # not an empty placeholder
            cut.tensors.append(tensor)
    cut.up([tensor for _, tensor in sorted(flat)], [shared.share(name, rank.replica) for name in shared.shapes])
    regions = _as_padding(header.regions, cut.padding)
    return header._replace(tensors=tuple(cut.tensors), pieces=cut.pieces, regions=regions, strides={})


class _Cut(NamedTuple):
    """Flat tensors, split into parts of weights."""

    tensors: list[Tensor]
    pieces: dict[int, Piece]
    padding: list[tuple[int, int]]  # ranges of the file

    def up(self, flat: Iterable[Tensor], shares: Sequence[_Share]) -> None:
        """Split flat tensors into their consecutive shares, padding included."""
        waiting = [*reversed(shares)]
        for tensor in flat:
            width = tensor.nbytes // max(1, tensor.elements)
            at, left = tensor.offset, tensor.elements
            while waiting and left:
                share = waiting.pop()
                taken = min(share.elements, left)
                filled = min(share.padding, left - taken)
                if taken:
                    self.pieces[len(self.tensors)] = Piece((share.start,), share.whole)
                    self.tensors.append(Tensor(share.name, tensor.dtype, (taken,), at, taken * width))
                self.padding.append((at + taken * width, at + (taken + filled) * width))
                at, left = at + (taken + filled) * width, left - taken - filled
                if (taken, filled) != (share.elements, share.padding):  # it continues in the next tensor
                    rest = share._replace(start=share.start + taken, elements=share.elements - taken)
                    waiting.append(rest._replace(padding=share.padding - filled))
            self.padding.append((at, at + left * width))


def _as_padding(regions: Iterable[Region], ranges: Iterable[tuple[int, int]]) -> tuple[Region, ...]:
    """The regions, with these ranges of tensors' bytes as padding."""
    cuts = sorted((start, end) for start, end in ranges if start < end)
    found: list[Region] = []
    for region in regions:
        at = region.start
        for start, end in cuts if region.label == "tensors" else ():
            start, end = max(start, at), min(end, region.end)
            if start >= end:
                continue
            if at < start:
                found.append(Region(region.label, at, start))
            found.append(Region("padding", start, end))
            at = end
        if at < region.end:
            found.append(Region(region.label, at, region.end))
    return tuple(found)


# --- torch.distributed.checkpoint, whose `.metadata` describes what the ranks' files contain ----------


class Collective(NamedTuple):
    """The contents of a folder's `.metadata`."""

    path: str
    folder: str  # "" or ending in "/"
    contents: distributed.Described

    def read(self, source: Source, path: str) -> Header:
        """The header of one rank's file. Raises SourceError."""
        items = self.contents.items.get(path.removeprefix(self.folder), ())
        return distributed.read(source, path, items, self.contents.facts)

    def findings(self, selected: Selection) -> tuple[Finding, ...]:
        """About itself, and files that it names but that do not exist."""
        there = {path.removeprefix(self.folder) for path in selected.paths}
        absent = (
            Finding(
                "missing-shard",
                "error",
                f"it puts {plural(len(items), 'tensor or object', 'tensors and objects')} in {file!r:.120}, "
                "which does not exist",
                self.path,
            )
            for file, items in sorted(self.contents.items.items())
            if file not in there
        )
        return (*self.contents.findings, *absent)


def describe(place: Place, path: str) -> Collective:
    """Read a `.metadata` file.

    Raises:
        FormatError: it is not such a file, or damaged.
        SourceError: it cannot be read.
    """
    folder = path.rpartition("/")[0]
    raw = place.read_bytes(path, distributed.MAX_METADATA)
    return Collective(path, folder + "/" if folder else "", distributed.described(raw, path))


# --- whole tensors ------------------------------------------------------------------------------


class _Part(NamedTuple):
    """One file's part of a tensor."""

    file: int
    at: int  # index in the header's tensors
    tensor: Tensor
    piece: Piece


def assemble(files: Sequence[Header]) -> tuple[Joined | None, tuple[Finding, ...]]:
    """The headers with each tensor once and whole, and findings about parts that do not fit; None if none is spread.

    A tensor is in the first file that has a part of it, with its whole shape and the bytes of all parts. Identical
    parts of several ranks are counted as `copies`.
    """
    if not any(header.pieces for header in files):
        return None, ()
    groups: defaultdict[str, list[_Part]] = defaultdict(list)
    for number, header in enumerate(files):
        for at, piece in header.pieces.items():
            groups[header.tensors[at].name].append(_Part(number, at, header.tensors[at], piece))
    findings = Findings(files[0].path)
    wholes: dict[tuple[int, int], Tensor] = {}
    copies: dict[str, int] = {}
    for name, parts in groups.items():
        own, doubled = _distinct(parts)
        _check(name, own, findings)
        first = own[0]
        nbytes = sum(part.tensor.nbytes for part in own)
        wholes[first.file, first.at] = first.tensor._replace(shape=first.piece.whole, nbytes=nbytes)
        if doubled:
            copies[name] = sum(part.tensor.nbytes for part in doubled)
    headers = tuple(_whole_header(number, header, wholes) for number, header in enumerate(files))
    return Joined(headers, copies), findings.all()


def _distinct(parts: Sequence[_Part]) -> tuple[list[_Part], list[_Part]]:
    """The parts, one for each position in the whole, and the repeated ones."""
    places: dict[tuple[int, ...], _Part] = {}
    doubled = []
    for part in parts:
        if not part.tensor.elements:  # a rank that got no elements
            continue
        if part.piece.start in places:
            doubled.append(part)
        else:
            places[part.piece.start] = part
    return list(places.values()) or [parts[0]], doubled


def _check(name: str, parts: Sequence[_Part], findings: Findings) -> None:
    """Checks that the parts belong to one tensor and cover it."""
    whole = parts[0].piece.whole
    if any(part.piece.whole != whole or part.tensor.dtype != parts[0].tensor.dtype for part in parts):
        findings.add("missing-shard", "error", "its parts in several files are of different tensors", name)
        return
    there = sum(part.tensor.elements for part in parts)
    if there != prod(whole):
        what = f"its parts have {integer(there)} of {plural(prod(whole), 'element')}: a rank's file is missing"
        findings.add("missing-shard", "error", what, name)


def _whole_header(number: int, header: Header, wholes: Mapping[tuple[int, int], Tensor]) -> Header:
    if not header.pieces:
        return header
    return header._replace(tensors=tuple(_whole_tensors(number, header, wholes)), pieces={}, strides={})


def _whole_tensors(number: int, header: Header, wholes: Mapping[tuple[int, int], Tensor]) -> Iterator[Tensor]:
    for at, tensor in enumerate(header.tensors):
        if at not in header.pieces:
            yield tensor
        elif (number, at) in wholes:
            yield wholes[number, at]
