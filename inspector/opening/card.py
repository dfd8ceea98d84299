"""The licence and the base model, as stated in a model card's front matter or a GGUF's key-values."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import closing

from inspector.errors import InspectorError
from inspector.model import Header
from inspector.sources import Place

#: In bytes; front matter ends well before this.
MAX_CARD = 16_384
_FIELD = r"^(license|license_name|base_model):[ \t]*(.*)$\n?((?:^[ \t]*-[ \t]+.*$\n?)*)"


def card_of(place: Place, headers: Sequence[Header]) -> Mapping[str, str]:
    """`license` and `base_model`, if given; read only from files on this machine."""
    said = _of_key_values(headers[0].metadata) if headers and headers[0].format == "gguf" else {}
    if place.parallel == 1 and "README.md" in place.files:
        said = {**said, **_of_card(place)}
    return said


def _of_card(place: Place) -> dict[str, str]:
    try:
        with closing(place.open("README.md")) as source:
            text = source.read(0, min(source.size, MAX_CARD)).decode("utf-8", "replace")
    except InspectorError:  # gone or unreadable: a card is not part of the weights
        return {}
    matter = re.match(r"---\s*\n(.*?)^---\s*$", text, re.DOTALL | re.MULTILINE)
    if matter is None:
        return {}
    found = {name: _first(value, items) for name, value, items in re.findall(_FIELD, matter[1], re.MULTILINE)}
    named = found.pop("license_name", "")
    if named and found.get("license", "other") == "other":
        found["license"] = named
    return {name: value for name, value in found.items() if value}


def _first(value: str, items: str) -> str:
    """A plain value, or the first of a list."""
    first = value.strip() or items.partition("\n")[0].strip().removeprefix("-").strip()
    return first.strip("\"'[]")[:200]


def _of_key_values(metadata: Mapping[str, object]) -> dict[str, str]:
    names = {"license": "general.license", "base_model": "general.base_model.0.repo_url"}
    values = {name: metadata.get(key) for name, key in names.items()}
    return {
        name: value.removeprefix("https://huggingface.co/")[:200]
        for name, value in values.items()
        if isinstance(value, str)
    }
