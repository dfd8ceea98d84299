"""Numbers for people: the only place where an exact integer becomes an approximate text, and where a text as people
write it (`16k`, `24 GiB`) becomes an integer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

_DECIMAL = ("B", "kB", "MB", "GB", "TB", "PB")
_BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_COUNT = ("", "K", "M", "B", "T")
#: The most dimensions of a shape that are shown: a header of a megabyte may give one tensor half a million.
MOST_DIMENSIONS = 32

# C0, DEL, C1 controls, line separators, the marks that reorder bidirectional text, and invisible characters, including
# variation selectors.
_UNSAFE = (
    "[\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def integer(number: int) -> str:
    """`6738415616` → `6,738,415,616`."""
    return f"{number:,}" if number >= 0 else f"\N{MINUS SIGN}{-number:,}"


def signed(number: int) -> str:
    """`4096` → `+4,096`; `-523168768` → `−523,168,768`."""
    return ("+" if number >= 0 else "") + integer(number)


def _scaled(number: int, step: int, names: tuple[str, ...], digits: int) -> str:
    """`number` in the largest of `names` that keeps it at 1 or more, each `step` times the previous."""
    power, value = 0, float(abs(number))
    while round(value, digits) >= step and power + 1 < len(names):
        value /= step
        power += 1
    sign = "\N{MINUS SIGN}" if number < 0 else ""
    return f"{sign}{value:.{digits if power else 0}f} {names[power]}"


def size(nbytes: int) -> str:
    """Decimal and binary: `13.48 GB, 12.55 GiB`."""
    if abs(nbytes) < 1000:
        return f"{integer(nbytes)} B"
    return f"{decimal(nbytes)}, {_scaled(nbytes, 1024, _BINARY, 2)}"


def decimal(nbytes: int) -> str:
    """`13476872576` → `13.48 GB`."""
    return _scaled(nbytes, 1000, _DECIMAL, 2)


def count(number: int) -> str:
    """`6738415616` → `6.74 B`, as model cards write it: `6.74B`."""
    return _scaled(number, 1000, _COUNT, 2).replace(" ", "")


def bits(nbits: float) -> str:
    """Bits per weight: `4.83`; integers without a decimal point."""
    return f"{nbits:.2f}".rstrip("0").rstrip(".")


def fixed(number: float, digits: int, *, sign: bool = False) -> str:
    """`fixed(0.51, 3, sign=True)` → `+0.510`; `fixed(-2800, 1)` → `−2,800.0`."""
    return f"{number:{'+' if sign else ''},.{digits}f}".replace("-", "\N{MINUS SIGN}")


def percent(part: int, whole: int) -> str:
    """`percent(-859, 1000)` → `−85.9 %`."""
    return f"{fixed(part / whole * 100 if whole else 0.0, 1, sign=True)} %"


def times(shape: Iterable[int]) -> str:
    """`4096×32000`."""
    dims = tuple(shape)
    shown = "×".join(map(str, dims[:MOST_DIMENSIONS])) or "scalar"
    return shown if len(dims) <= MOST_DIMENSIONS else f"{shown}×… ({integer(len(dims))} dimensions)"


def ranges(numbers: Iterable[int]) -> str:
    """`0–2, 5, 7–9`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}–{b}" for a, b in runs)


def first_few(numbers: Sequence[int]) -> str:
    """`1, 2, 3, 4, 5, 6, 7, 8…`: at most eight."""
    return ", ".join(map(integer, numbers[:8])) + ("…" if len(numbers) > 8 else "")


def plural(number: int, noun: str, many: str | None = None) -> str:
    """`plural(2, "shard")` → `2 shards`."""
    return f"{integer(number)} {noun if number == 1 else many or noun + 's'}"


#: The first printable character that is unsafe to print.
HARMLESS = "\u034f"


def escape(text: str, limit: int | None = None) -> str:
    """Text from a file, safe to print: control characters as `\\x1b`, at most `limit` characters."""
    if limit is not None and len(text) > limit:
        text = text[: limit - 1] + "…"
    if text.isprintable() and (text.isascii() or max(text) < HARMLESS):
        return text
    # Compiled on first use: most text does not need it.
    return re.sub(_UNSAFE, lambda m: m[0].encode("unicode_escape").decode(), text)


# --- numbers as people write them -------------------------------------------------------------------

_WRITTEN = r"(\d{1,18}|\d{1,3}(?:[,_ ]\d{3}){1,5})(?:\.(\d{1,9}))?\s*([A-Za-z%]*)"
#: Units of tokens, whose thousands are 1,024: a context of 128k has 131,072.
TOKENS = {"": 1, "k": 2**10, "ki": 2**10, "m": 2**20, "mi": 2**20}
#: Units of bytes. G alone is GiB, as vendors of devices mean it.
BYTES = {
    "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12,
    "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40, "m": 2**20, "g": 2**30, "t": 2**40,
}  # fmt: skip


def written(text: str, units: Mapping[str, int]) -> int | None:
    """`16k` → 16384, `16,384` → 16384, `1.5 GB` → 1500000000, rounded down; None if it is none of these."""
    match = re.fullmatch(_WRITTEN, text.strip())
    if match is None or match[3].lower() not in units:
        return None
    digits = match[2] or ""
    scaled = int(re.sub("[,_ ]", "", match[1]) + digits) * units[match[3].lower()]
    return scaled // int(f"1{'0' * len(digits)}")
