"""Does our reader accept what the `safetensors` library accepts, and refuse what it refuses? On mutated headers.

The tests try a few thousand headers; `python fuzz/agreement.py` tries as many as requested.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

import safetensors

from inspector.errors import FormatError
from inspector.formats import safetensors as ours
from inspector.model import Header

#: Fragments that mutations insert into a header.
ATOMS: tuple[Any, ...] = (
    *(0, 1, 2, 4, 8, -1, -0.0, 0.5, 1e3, 2**31, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 10**20, True, False, None, "", "x"),
    *(
        [],
        {},
        [1],
        [0, 4],
        [4, 0],
        "F32",
        "BF16",
        "F4",
        "BOOL",
        "U8",
        "f32",
        "pt",
        "\x1b",
        "é",
        "\U0001f600",
        "__metadata__",
    ),
)
#: JSON texts that Python and the library may read differently.
RAW = (
    *(b"1e400", b"-1e999", b"1" * 320, b"1E5", b"-0", b"00", b"1.", b".5", b"+1", b"NaN", b"Infinity", b'"\\ud800"'),
    *(b'"\\udc00\\ud800"', b'"\\ud83d\\ude00"', b'"\\u0000"', b'"\\x"', b'"\t"', b"[" * 127 + b"]" * 127, b"nul"),
    *(b"[" * 126 + b"]" * 126, b"[" * 128 + b"]" * 128, b'{"a":' * 126 + b"1" + b"}" * 126, b"\xff", b"\xc3\xa9"),
    *(b'["F32",[1],[0,4]]', b'{"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]}', b"/**/1", b'"a" "b"'),
    *(b'{"a":1,"a":"b"}', b'{"a":"b","a":"c"}', b'{"dtype":"F32","shape":[1],"data_offsets":[0,4],"x":1,"x":1}'),
)


def headers(number: int, seed: int) -> Iterator[tuple[bytes, int]]:
    """Draw (header, bytes of data after it), each a few mutations away from a sound one."""
    draw = random.Random(seed)
    for _ in range(number):
        own, size = _sound(draw)
        for _ in range(draw.randint(0, 2)):
            _mutate(own, draw)
        raw = _written(own, draw)
        for _ in range(draw.choice((0, 0, 1, 1, 2))):
            raw = _spoilt(raw, draw)
        yield raw + b" " * draw.choice((0, 0, -len(raw) % 8, 3)), max(0, size + draw.choice((0, 0, 0, 0, 1, -1, 8)))


def _sound(draw: random.Random) -> tuple[dict[str, Any], int]:
    own: dict[str, Any] = {"__metadata__": {"format": "pt"}} if draw.random() < 0.5 else {}
    at = 0
    for name in range(draw.randint(0, 4)):
        dtype, width = draw.choice((("F32", 32), ("BF16", 16), ("U8", 8), ("F4", 4), ("I64", 64), ("F6_E2M3", 6)))
        shape = [draw.choice((0, 1, 2, 3, 8)) for _ in range(draw.randint(0, 3))]
        elements = 1
        for dim in shape:
            elements *= dim
        end = at + elements * width // 8
        own[f"t{name}"] = {"dtype": dtype, "shape": shape, "data_offsets": [at, end]}
        at = end
    return own, at


def _mutate(own: Any, draw: random.Random) -> None:
    """Replace, remove or double one value somewhere in a document."""
    here = own
    while isinstance(here, dict | list) and here and draw.random() < 0.7:
        keys = list(here) if isinstance(here, dict) else list(range(len(here)))
        key = draw.choice(keys)
        if not isinstance(here[key], dict | list) or draw.random() < 0.4:
            if draw.random() < 0.2:
                del here[key]
            else:
                here[key] = copy.deepcopy(draw.choice(ATOMS))
            return
        here = here[key]
    if isinstance(here, dict):
        here[draw.choice(("dtype", "shape", "x", "", "__metadata__", "t0"))] = copy.deepcopy(draw.choice(ATOMS))


def _written(own: Any, draw: random.Random) -> bytes:
    if draw.random() < 0.5:
        return json.dumps(own, separators=(",", ":")).encode()
    return json.dumps(own, ensure_ascii=draw.random() < 0.5, indent=draw.choice((None, 1))).encode(
        "utf-8", "surrogatepass"
    )


def _spoilt(raw: bytes, draw: random.Random) -> bytes:
    """Replace, remove or double bytes, or replace a value by other JSON."""
    at = draw.randrange(len(raw) + 1)
    kind = draw.randrange(5)
    if kind == 0:
        return raw[:at] + bytes([draw.randrange(256)]) + raw[at + 1 :]
    if kind == 1:
        return raw[:at] + raw[at + draw.randint(1, 3) :]
    if kind == 2:
        end = draw.randrange(at, len(raw) + 1)
        return raw[:end] + raw[at:end] + raw[end:]
    if kind == 3:
        return raw[:at] + draw.choice((b'"', b",", b"{", b"}", b":", b" ", b"\0", b"\\", b"]")) + raw[at:]
    values = [found for found in range(len(raw)) if raw[found : found + 1] == b":"]
    if not values:
        return raw
    start = draw.choice(values) + 1
    end = min((raw.find(mark, start) for mark in (b",", b"}") if raw.find(mark, start) > 0), default=len(raw))
    return raw[:start] + draw.choice(RAW) + raw[end:]


class Bytes:
    """A source over bytes in memory."""

    def __init__(self, data: bytes) -> None:
        self.data, self.size = data, len(data)

    def read(self, offset: int, length: int) -> bytes:
        return self.data[offset : offset + length]

    def prefix(self, length: int) -> memoryview:
        return memoryview(self.data)

    def close(self) -> None:
        """Do nothing: no file is open."""


def read(data: bytes) -> Header | None:
    """What our reader makes of the file; None where it refuses the file or reports an error."""
    try:
        header = ours.read(Bytes(data), "x.safetensors")
    except FormatError:
        return None
    return None if any(finding.severity == "error" for finding in header.findings) else header


def theirs(data: bytes) -> list[str] | None:
    """The names of the library's tensors; None where it refuses the file."""
    try:
        return sorted(name for name, _ in safetensors.deserialize(data))  # type: ignore[no-untyped-call]
    except safetensors.SafetensorError:
        return None


def disagreement(header: bytes, data: int) -> str | None:
    """How the two readers differ on a file; None where they agree."""
    file = len(header).to_bytes(8, "little") + header + bytes(data)
    own, other = read(file), theirs(file)
    names = None if own is None else sorted(tensor.name for tensor in own.tensors)
    return None if names == other else f"ours {names}, theirs {other}: {header[:300]!r} and {data} bytes"


def compare(number: int, seed: int) -> Iterator[str]:
    """The disagreements of the two readers on `count` headers."""
    for header, data in headers(number, seed):
        if reported := disagreement(header, data):
            yield reported
