"""Damage to a file's bytes, as a disk or a network does it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from spoilt.drawn import MATRICES, Drawn

Kind = Callable[[Drawn], None]


def zeros(size: int, align: int) -> Kind:
    def spoil(m: Drawn) -> None:
        data = m.data()
        at = m.spot(size, align)
        data[at : at + size] = bytes(size)
        m.put()

    return spoil


def filled(size: int, byte: int) -> Kind:
    def spoil(m: Drawn) -> None:
        data = m.data()
        at = m.spot(size)
        data[at : at + size] = bytes([byte]) * size
        m.put()

    return spoil


def noise(size: int) -> Kind:
    def spoil(m: Drawn) -> None:
        data = m.data()
        at = m.spot(size)
        data[at : at + size] = m.draw.bytes(size)
        m.put()

    return spoil


def tail(share: float) -> Kind:
    def spoil(m: Drawn) -> None:
        data = m.data()
        begin = min(at for at, _ in m.places.values())
        at = begin + int((len(data) - begin) * share) // 512 * 512
        at = max(at, begin)
        data[at:] = bytes(len(data) - at)
        m.put()

    return spoil


def copied(size: int, step: int) -> Kind:
    def spoil(m: Drawn) -> None:
        data = m.data()
        source = m.spot(size, 8)
        target = source
        while abs(target - source) < size:
            target = source + (m.spot(size, 8) - source) // step * step
        data[target : target + size] = bytes(data[source : source + size])
        m.put()

    return spoil


def stuttered(size: int) -> Kind:
    def spoil(m: Drawn) -> None:
        data = m.data()
        at = m.spot(2 * size, 512)
        data[at + size : at + 2 * size] = bytes(data[at : at + size])
        m.put()

    return spoil


PAGE = b"<!DOCTYPE html>\n<html><head><title>504 Gateway Time-out</title></head>\n<body><center><h1>504</h1></center>"


REFUSAL = b'{"error": "Access to this resource is restricted", "code": "AccessDenied", "requestId": "7f3e"}\n'


LOG = b"2026-03-01 12:00:01 WARN retrying chunk 17 of 204: connection reset by peer\n"


def text(words: bytes, size: int) -> Kind:
    def spoil(m: Drawn) -> None:
        data = m.data()
        at = m.spot(size)
        data[at : at + size] = (words * (size // len(words) + 1))[:size]
        m.put()

    return spoil


def shifted(by: int, whole: bool) -> Kind:
    """Bytes are lost (or inserted) somewhere: what follows is shifted, up to the tensor's end or the file's."""

    def spoil(m: Drawn) -> None:
        data = m.data()
        start, length = m.places[str(m.draw.choice([each for each in m.places if each.endswith(MATRICES)]))]
        at, end = (m.spot(length // 2), len(data)) if whole else (start + length // 4 // 8 * 8, start + length)
        rest = bytes(data[at:end])
        moved = rest[by:] + m.draw.bytes(by) if by > 0 else m.draw.bytes(-by) + rest[:by]
        data[at:end] = moved
        m.put()

    return spoil


def swapped(everything: bool) -> Kind:
    def spoil(m: Drawn) -> None:
        data = m.data()
        width = 4 if m.dtype == "F32" else 2
        for start, length in m.places.values() if everything else [m.places[m.some()]]:
            part = np.frombuffer(bytes(data[start : start + length]), f"<u{width}")
            data[start : start + length] = part.byteswap().tobytes()
        m.put()

    return spoil
