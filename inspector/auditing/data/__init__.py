"""What the libraries accept, as data extracted from them by tools (tools/loading, tools/llama_cpp).

What no tool extracts is in `overlay.json`, written by hand. Each table states the releases that it was made from, or
compared with.

A source tree has each table as readable, diffable `name.json`; a wheel has it as `name.json.z`, compressed by
hatch_build.py to a sixth of the size, since only audits read it.
"""

from __future__ import annotations

import json
import zlib
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


@cache
def table(name: str) -> dict[str, Any]:
    """A table of this folder."""
    try:
        text = (FOLDER / f"{name}.json").read_bytes()
    except FileNotFoundError:
        text = zlib.decompress((FOLDER / f"{name}.json.z").read_bytes())
    found: dict[str, Any] = json.loads(text)
    return found


def overlay(section: str) -> dict[str, Any]:
    """A section of the overlay, which is written by hand."""
    found: dict[str, Any] = table("overlay")[section]
    return found


def names(module: str) -> dict[str, Any]:
    """The names, suffixes and first bytes that one module looks for, written by hand."""
    found: dict[str, Any] = table("names")[module]
    return found
