"""Size labels, "7B", "8x7B", "1.1B", "135M", read from a name or given."""

from __future__ import annotations

import re
from collections.abc import Iterable

from inspector.errors import UsageError
from inspector.model import Nominal
from inspector.units import escape

_UNITS = {"k": 10**3, "m": 10**6, "b": 10**9, "t": 10**12}

# Not within a word: the 4b of `4bit`, the A3B (active) of `30B-A3B` and the E4B (effective) of `3n-E4B` are not sizes.
# Nor are the 17B of `17B-16E`, which counts active parameters, the 2T of `2T-tokens`, and the bits of `4b-128g`.
# In `bloom-7b1` the unit is the point. An underscore is one in `2-1_6b`, but a separator in `llama_2_7b`.
_IN_NAME = re.compile(
    r"(?<![A-Za-z0-9.])(?:(?P<experts>\d{1,3})x)?(?P<number>\d{1,4}(?:\.\d{1,3}|(?:(?<!_\d)(?<!_\d\d)|(?<=_0))_\d{1,3})?)"
    r"(?P<unit>[bmt])(?P<fraction>\d(?=[-_.]|$))?(?![A-Za-z0-9]|-\d+E\b|[-_]\d+g\b|[-_. ]?tokens\b)",
    re.IGNORECASE,
)
# Active parameters before all of them, as in `OLMoE-1B-7B`.
_ACTIVE = re.compile(
    r"moe.*?(?<![A-Za-z0-9.])\d{1,3}(?:\.\d{1,3})?b-(?=\d{1,3}(?:\.\d{1,3})?b(?![A-Za-z0-9]))", re.IGNORECASE
)
_GIVEN = r"(?:(?P<experts>\d{1,3})[x×])?(?P<number>[\d,_]+(?:\.\d+)?)\s*(?P<unit>[kmbt]?)"


def from_names(names: Iterable[str], bits: int) -> Nominal | None:
    """The first label in the first name that has one."""
    for name in names:
        active = _ACTIVE.search(name)
        match = _IN_NAME.search(name, active.end() if active else 0)
        if match:
            fraction = f".{match['fraction']}" if match["fraction"] else ""
            return _nominal(match, match["number"].replace("_", ".") + fraction, bits)
    return None


def given(text: str, bits: int) -> Nominal:
    """A label that the user typed: `7B`, `8x7B`, or a whole number of parameters.

    Raises:
        UsageError: it is none of these.
    """
    match = re.fullmatch(_GIVEN, text.strip(), re.IGNORECASE)
    if not match or not match["number"].strip(",_"):
        raise UsageError(
            f"--label {escape(text)!r} is not a size: write 7B, 1.1B, 135M, 8x7B or a number of parameters"
        )
    return _nominal(match, match["number"].replace(",", "").replace("_", ""), bits)


def _nominal(match: re.Match[str], number: str, bits: int) -> Nominal:
    experts = int(match["experts"] or 1)
    whole, _, fraction = number.partition(".")
    # In whole numbers: 1.1 has no exact float.
    parameters = int(whole + fraction) * _UNITS.get(match["unit"].lower(), 1) // 10 ** len(fraction) * experts
    return Nominal(
        re.sub(r"\s", "", match[0]).replace("b", "B").replace("m", "M").replace("t", "T").replace("X", "x"),
        parameters,
        bits,
        experts,
    )
