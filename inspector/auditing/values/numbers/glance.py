"""Examines a piece of a tensor: a few passes over its bytes, in the processor's cache.

NaN, infinity and the largest magnitude are read from the bits: for floats of one sign, larger bits mean larger numbers.
Facts about the distribution come from a sample of evenly spaced numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from inspector.auditing.values.numbers.bits import look as look_at_bits
from inspector.auditing.values.numbers.facts import Facts, Run
from inspector.formats import decoding
from inspector.formats.gguf.blocks import IQ1_M_SCALES, SCALES
from inspector.formats.gguf.types import TYPES

Array = NDArray[Any]
#: Numbers of a piece that are sampled.
SAMPLE = 2048
#: The least sample size for facts about a distribution.
ENOUGH = 48
#: Bytes that are checked for repetition together: a sector, the smallest hole of a sparse file.
CELL = 512
#: The shortest runs that are kept: shorter ones mean nothing.
LEAST_RUN = 1024
#: Bytes between the positions where text is searched, and of text that identify it.
STEP, TEXT = 64, 64


class Bits(NamedTuple):
    """A float whose bits NumPy compares as integers."""

    width: int  # bytes
    infinity: int  # the bits of infinity, or the least of NaN


_FLOATS: Mapping[str, Bits] = {
    "BF16": Bits(2, 0x7F80),
    "F16": Bits(2, 0x7C00),
    "F32": Bits(4, 0x7F800000),
    "F64": Bits(8, 0x7FF0000000000000),
    "F8_E4M3": Bits(1, 0x7F),
    "F8_E5M2": Bits(1, 0x7C),
}
_BLOCKS = {kind.name: kind.nbytes for kind in TYPES.values() if kind.block > 1}
#: Dtypes of packed words, plain integers, or unsigned floats.
_BYTES = frozenset({"U8", "I8", "I16", "U16", "I32", "U32", "I64", "U64", "BOOL", "F8_E8M0"})


@np.errstate(all="ignore")  # NaN and infinity are counted
def glance(raw: Array, dtype: str, offset: int, start: int) -> Facts:
    """The facts about a piece.

    Args:
        raw: bytes, whole elements or blocks.
        offset: of the first byte in the file.
        start: number of the first element, or block, in the tensor.
    """
    found = Facts()
    if dtype in _BLOCKS:
        _blocks(found, raw, dtype, start)
    elif dtype in _FLOATS:
        _floats(found, raw, _FLOATS[dtype], dtype, start)
    elif dtype in _BYTES:
        _bytes(found, raw, dtype, start)
    elif decoding.is_known(dtype):
        _numbers(found, decoding.decoded(raw.tobytes(), dtype), start)
    look_at_bits(found, raw, dtype, offset)
    _runs(found, raw, offset)
    _text(found, raw, offset)
    return found


def _floats(found: Facts, raw: Array, kind: Bits, dtype: str, start: int) -> None:
    bits = raw.view(f"<u{kind.width}")
    if not bits.size:
        return
    sign = 1 << (8 * kind.width - 1)
    highest, positive = int(bits.max()), int(bits.view(f"<i{kind.width}").max())
    found.numbers = bits.size
    found.least_bits, found.most_bits = int(bits.min()), highest
    if positive >= kind.infinity or highest >= sign + kind.infinity:
        _odd(found, decoding.decoded(raw.tobytes(), dtype), start)
    else:
        ends = [each for each in (positive, highest & (sign - 1) if highest >= sign else -1) if each >= 0]
        found.largest = float(_one(max(ends), kind, dtype))
    sample = bits[:: max(1, bits.size // SAMPLE)]
    _distribution(found, decoding.decoded(sample.tobytes(), dtype))


def _one(bits: int, kind: Bits, dtype: str) -> Any:
    return decoding.decoded(bits.to_bytes(kind.width, "little"), dtype)[0]


def _odd(found: Facts, values: Array, start: int) -> None:
    """A piece with NaN or infinite numbers."""
    usual = np.isfinite(values)
    if not usual.all():
        found.nan += int(np.isnan(values).sum())
        found.inf += int((values == np.inf).sum())
        found.minus_inf += int((values == -np.inf).sum())
        found.first_odd = start + int(np.argmin(usual))
    found.largest = float(np.abs(values[usual]).max()) if usual.any() else 0.0


def _numbers(found: Facts, values: Array, start: int) -> None:
    """Numbers of any other dtype."""
    if values.size:
        found.numbers = values.size
        found.least_bits, found.most_bits = (0, 0) if not values.any() else (0, int(values.min() != values.max()))
        _odd(found, values, start)
        _distribution(found, values[:: max(1, values.size // SAMPLE)])


def _bytes(found: Facts, raw: Array, dtype: str, start: int) -> None:
    """Words: only their bits."""
    bits = raw.view(f"<u{decoding.width(dtype)}")
    if not bits.size:
        return
    found.numbers = bits.size
    found.least_bits, found.most_bits = int(bits.min()), int(bits.max())
    if dtype == "F8_E8M0" and found.most_bits == 255:
        found.nan = int((bits == 255).sum())
        found.first_odd = start + int(np.argmax(bits == 255))


def _blocks(found: Facts, raw: Array, dtype: str, start: int) -> None:
    """The scales of quantized blocks."""
    blocks = raw.reshape(-1, _BLOCKS[dtype])
    if dtype == "IQ1_M":
        words = np.ascontiguousarray(blocks[:, IQ1_M_SCALES:]).view("<u2") >> 12
        joined = words[:, 0] | words[:, 1] << 4 | words[:, 2] << 8 | words[:, 3] << 12
        _scales(found, joined.astype("<u2").tobytes(), "F16", start)
    elif dtype in SCALES:
        scaled = np.zeros(len(blocks), bool)
        for place in SCALES[dtype].places:
            own = blocks[:, place : place + decoding.width(SCALES[dtype].dtype)]
            _scales(found, own.tobytes(), SCALES[dtype].dtype, start)
            scaled |= own.any(axis=1)
        _lost_scales(found, blocks, ~scaled, start)


#: The most bytes of other values in a block without a scale: writers give all its numbers the same code.
FLAT = 8


def _lost_scales(found: Facts, blocks: Array, zero: Array, start: int) -> None:
    """Blocks whose scales are zero, and whose numbers are not."""
    for place in np.flatnonzero(zero)[:SAMPLE].tolist():
        if len(np.unique(blocks[place])) > FLAT:
            found.lost += 1
            found.first_lost = min(start + place, start + place if found.first_lost is None else found.first_lost)


def _scales(found: Facts, raw: bytes, dtype: str, start: int) -> None:
    own = Facts()
    if dtype in _FLOATS:
        _floats(own, np.frombuffer(raw, np.uint8), _FLOATS[dtype], dtype, start)
    else:
        _bytes(own, np.frombuffer(raw, np.uint8), dtype, start)
    found.join(own)


def _distribution(found: Facts, sample: Array) -> None:
    """Sums, and the quartiles of the magnitudes."""
    values = sample.astype(np.float64)
    values = values[np.isfinite(values)]
    size = np.abs(values)
    present = size[size > 0]
    found.sampled = values.size
    found.zeros = values.size - present.size
    found.total, found.squares = float(values.sum()), float(np.minimum(np.square(size), 1e300).sum())
    if present.size >= ENOUGH:
        low, middle, high = np.percentile(np.log2(present), (25, 50, 75))
        found.spread, found.middle, found.middle_of = float(high - low), float(middle), present.size


# --- bytes ----------------------------------------------------------------------------------------


def _runs(found: Facts, raw: Array, offset: int) -> None:
    """Repeating runs of eight bytes, found by whole cells on the file's grid, then extended to the byte."""
    skip = -offset % CELL
    cells = (raw.size - skip) // CELL
    if cells <= 0:
        return
    words = raw[skip : skip + cells * CELL].view("<u8").reshape(cells, -1)
    flat = words[:, 0] == words[:, -1]
    flat &= words[:, 0] == words[:, 21]  # most cells differ in a few of their words
    places = np.flatnonzero(flat)
    flat[places] = (words[places] == words[places, :1]).all(axis=1)
    places = np.flatnonzero(flat)
    if not places.size:
        return
    value = words[places, 0]
    ends = np.flatnonzero((np.diff(places) > 1) | (value[1:] != value[:-1]))
    for first, last in zip(places[[0, *(ends + 1)]].tolist(), places[[*ends, -1]].tolist(), strict=True):
        low, high = _widened(raw, skip + first * CELL, skip + (last + 1) * CELL)
        if high - low >= LEAST_RUN or low == 0 or high == raw.size:
            found.runs.append(Run(offset + low, offset + high))


def _widened(raw: Array, low: int, high: int) -> tuple[int, int]:
    """A run of repeated bytes, extended into the adjacent cells."""
    pattern = raw[low : low + 8]
    first, last = max(0, low - CELL), min(raw.size, high + CELL)
    before = np.flatnonzero(raw[first:low][::-1] != np.resize(pattern[::-1], low - first))
    after = np.flatnonzero(raw[high:last] != np.resize(pattern, last - high))
    return low - int(before[0]) if before.size else first, high + int(after[0]) if after.size else last


_HIGH, _PRINTABLE = np.uint64(0x8080808080808080), np.uint64(0x4040404040404040)
_TEXT = np.zeros(256, bool)
_TEXT[[9, 10, 13, *range(32, 127)]] = True
_LETTERS = np.zeros(256, bool)
_LETTERS[[*range(65, 91), *range(97, 123), 32]] = True


def _text(found: Facts, raw: Array, offset: int) -> None:
    """The start of text: eight printable bytes, with many more around them."""
    skip = -offset % 8
    words = raw[skip : skip + (raw.size - skip) // 8 * 8].view("<u8")[:: STEP // 8]
    likely = (words & _HIGH) == 0
    likely &= ((words | words << np.uint64(1)) & _PRINTABLE) == _PRINTABLE
    for place in np.flatnonzero(likely)[:4096].tolist():
        at = skip + place * STEP
        piece = raw[at : at + TEXT]
        if piece.size == TEXT and _TEXT[piece].all() and _is_worded(piece):
            begin = at
            while begin > 0 and at - begin < 1 << 16 and _TEXT[raw[begin - 1]]:
                begin -= 1
            found.text = (offset + begin, raw[begin : begin + 60].tobytes())
            return


def _is_worded(piece: Array) -> bool:
    """Whether printable bytes are words: mostly letters, of many kinds, none of them every second one as in a table."""
    counts = np.bincount(piece)
    return bool(_LETTERS[piece].sum() > TEXT // 2 and np.count_nonzero(counts) > 11 and counts.max() * 3 <= TEXT)


# --- possible copies ------------------------------------------------------------------------------

#: Bits that are random in every kind of weight: the lower bits of a mantissa, even of BF16 converted to F32.
_ANCHOR = 0x003F0000003F0000
_WANTED = np.uint64(0x0015_0000_002A_0000)
_MIX = np.uint64(0x9E3779B97F4A7C15)


def anchors(raw: Array, offset: int, bits: int, step: int) -> tuple[Array, Array]:
    """Content-defined positions, one in 2**bits words, and a number for the sixteen bytes there.

    The same bytes yield the same positions wherever they are, if a multiple of `step` bytes apart; `step` divides 8.
    """
    mask = np.uint64(_mask(bits))
    found = []
    for turn in range(0, 8, step):
        skip = (turn - offset) % 8
        words = raw[skip : skip + max(0, raw.size - skip) // 8 * 8].view("<u8")
        places = np.flatnonzero((words[:-1] & mask) == (_WANTED & mask))
        found.append((places * 8 + (offset + skip), words[places] * _MIX ^ words[places + 1]))
    return np.concatenate([places for places, _ in found]), np.concatenate([marks for _, marks in found])


def _mask(bits: int) -> int:
    """The lowest of the examined bits, half of them from each half of a word."""
    half = (1 << (bits + 1) // 2) - 1
    other = (1 << bits // 2) - 1
    return (half << 16 | other << 48) & _ANCHOR
