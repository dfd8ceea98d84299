"""The models in Ollama's store, each as a subject of the audit: the manifest determines what a blob is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from inspector.auditing.rules.subject import Subject
from inspector.model import Finding
from inspector.sources import Place
from inspector.sources.listing import Entry
from inspector.units import integer

if TYPE_CHECKING:
    from inspector.sources.ollama import OllamaPlace


def store_of(folder: Path) -> Path | None:
    """The store, if a folder is one; else None."""
    if not (folder / "manifests").is_dir() and folder.name not in ("blobs", "manifests"):
        return None
    from inspector.sources.ollama import store_at  # only for its store

    return store_at(folder)


def subjects(store: Path) -> Iterator[Subject]:
    """Every model of a store; each is closed when the next is requested."""
    from inspector.sources import ollama

    for name, manifest in ollama.models(store):
        with closing(ollama.OllamaPlace(store, manifest)) as place:
            yield _subject(place, name)


def subject_at(place: Place, target: str) -> Subject | None:
    """The model of the store, if a place is one; else None."""
    from inspector.sources.local import LocalPlace

    if not isinstance(place, LocalPlace) or type(place) is LocalPlace:
        return None
    from inspector.sources.ollama import OllamaPlace  # if one of its kinds is present

    return _subject(place, target) if isinstance(place, OllamaPlace) else None


def _subject(place: OllamaPlace, target: str) -> Subject:
    entries = [Entry(name, "file", size, digest=place.digests[name]) for name, size in place.files.items()]
    subject = Subject(place, entries, target)
    for layer in place.layers:
        there = place.files.get(layer.name)
        if there != layer.size:
            what = "the store does not have it" if there is None else f"the store has {integer(there)}"
            told = f"the manifest names a blob of {integer(layer.size)} bytes, and {what}: pull it again"
            subject.findings.append(Finding("missing-blob", "error", told, layer.name))
    return subject
