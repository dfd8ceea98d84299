"""Tensors spread over several files, as the model has them: one each, with all its bytes.

Each file's own header lists what it contains. The joined headers describe the model: a tensor is in the first file that
has a part of it, with its whole shape and the bytes of all parts. Identical parts of several ranks are counted as
`copies`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import NamedTuple

from inspector.formats.findings import Findings
from inspector.model import Finding, Header, Joined, Piece, Tensor
from inspector.units import integer, plural


class _Part(NamedTuple):
    """One file's part of a tensor."""

    file: int
    at: int  # index in the header's tensors
    tensor: Tensor
    piece: Piece


def joined(files: Sequence[Header]) -> tuple[Joined | None, tuple[Finding, ...]]:
    """The headers with whole tensors, and findings about parts that do not fit; None if no tensor is spread."""
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
    headers = tuple(_header(number, header, wholes) for number, header in enumerate(files))
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


def _header(number: int, header: Header, wholes: Mapping[tuple[int, int], Tensor]) -> Header:
    if not header.pieces:
        return header
    return header._replace(tensors=tuple(_tensors(number, header, wholes)), pieces={}, strides={})


def _tensors(number: int, header: Header, wholes: Mapping[tuple[int, int], Tensor]) -> Iterator[Tensor]:
    for at, tensor in enumerate(header.tensors):
        if at not in header.pieces:
            yield tensor
        elif (number, at) in wholes:
            yield wholes[number, at]
