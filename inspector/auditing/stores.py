"""Where programs keep the models that they downloaded: the Hub's cache, and Ollama's store.

The cache is scanned by `huggingface_hub`: every repository and revision, and what is wrong with the cache itself. In
Ollama's store a model is a manifest, which determines what each blob is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from inspector.auditing.subject import Subject
from inspector.errors import TargetError
from inspector.model import Finding
from inspector.sources import Place
from inspector.sources.listing import entries_of
from inspector.units import integer, plural, size

if TYPE_CHECKING:
    from huggingface_hub import HFCacheInfo

    from inspector.sources.ollama import OllamaPlace


class Snapshot(NamedTuple):
    """One revision of one repository."""

    repository: str  # `org/name`
    revision: str  # commit hash
    path: Path


class Cache(NamedTuple):
    """A cache's snapshots, and findings about the cache itself."""

    path: Path
    snapshots: tuple[Snapshot, ...]
    findings: tuple[Finding, ...]
    size: int  # bytes of all blobs


def hub_cache(path: Path | None = None) -> Cache:
    """The Hub's cache, at its default location or another.

    Raises:
        TargetError: there is no cache.
    """
    from huggingface_hub import CacheNotFound, constants, scan_cache_dir

    where = Path(path or constants.HF_HUB_CACHE)
    try:
        info = scan_cache_dir(where)
    except CacheNotFound as error:
        raise TargetError(f"no Hub cache at {where}: set HF_HUB_CACHE, or name a folder after --cache") from error
    except (ValueError, OSError) as error:
        raise TargetError(f"{where} is not a Hub cache: {error}") from error
    corrupted = (
        Finding("broken-cache", "error", f"{str(each).splitlines()[0]:.300}: delete it and download it again")
        for each in info.warnings
    )
    findings = (*corrupted, *_unfinished(where), *_second_copies(info), *_detached(info))
    return Cache(where, tuple(_snapshots(where)), findings, info.size_on_disk)


def _snapshots(cache: Path) -> Iterator[Snapshot]:
    """Every snapshot that is not empty, including those that the scan skipped."""
    for folder in sorted(cache.glob("models--*/snapshots/*")):
        if folder.is_dir() and next(folder.iterdir(), None) is not None:
            repository = folder.parent.parent.name.removeprefix("models--").replace("--", "/")
            yield Snapshot(repository, folder.name, folder)


def _unfinished(cache: Path) -> Iterator[Finding]:
    for blob in sorted(cache.glob("models--*/blobs/*.incomplete")):
        done = plural(blob.stat().st_size, "byte")
        what = f"a download that stopped after {done}: resume it, or delete it"
        yield Finding("unfinished-download", "warning", what, blob.relative_to(cache).as_posix())


def _second_copies(info: HFCacheInfo) -> Iterator[Finding]:
    """The same blob under several repositories: bytes stored more than once."""
    homes: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for repository in info.repos:
        for revision in repository.revisions:
            for file in revision.files:
                if len(file.blob_path.name) == 64:
                    homes[file.blob_path.name][repository.repo_id] = file.size_on_disk
    cost: defaultdict[tuple[str, ...], int] = defaultdict(int)
    for sizes in homes.values():
        if len(sizes) > 1:
            cost[tuple(sorted(sizes))] += (len(sizes) - 1) * max(sizes.values())
    for repositories, nbytes in sorted(cost.items(), key=lambda item: -item[1]):
        yield Finding("second-copies", "info", f"{size(nbytes)} stored again in {', '.join(repositories):.300}")


def _detached(info: HFCacheInfo) -> Iterator[Finding]:
    """Revisions to which no branch or tag points: blobs that only they use can be deleted."""
    for repository in sorted(info.repos, key=lambda each: each.repo_id):
        live = {file.blob_path for revision in repository.revisions if revision.refs for file in revision.files}
        dead = {
            file.blob_path: file.size_on_disk
            for revision in repository.revisions
            if not revision.refs
            for file in revision.files
        }
        cost = sum(nbytes for blob, nbytes in dead.items() if blob not in live)
        if cost and live:
            what = f"{size(cost)} of {repository.repo_id} belong to revisions to which no branch or tag points"
            yield Finding("second-copies", "info", what)


def ollama_models(store: Path) -> Iterator[Subject]:
    """Every model of a store; each is closed when the next is requested."""
    from inspector.sources import ollama

    for name, manifest in ollama.models(store):
        with closing(ollama.OllamaPlace(store, manifest)) as place:
            yield _subject(place, name)


def ollama_model(place: Place, target: str) -> Subject | None:
    """The model of the store, if a place is one; else None."""
    from inspector.sources.local import LocalPlace

    if not isinstance(place, LocalPlace) or type(place) is LocalPlace:
        return None
    from inspector.sources.ollama import OllamaPlace  # if one of its kinds is present

    return _subject(place, target) if isinstance(place, OllamaPlace) else None


def _subject(place: OllamaPlace, target: str) -> Subject:
    subject = Subject(place, entries_of(place), target)
    for layer in place.layers:
        present = place.files.get(layer.name)
        if present != layer.size:
            what = "the store does not have it" if present is None else f"the store has {integer(present)}"
            message = f"the manifest names a blob of {integer(layer.size)} bytes, and {what}: pull it again"
            subject.findings.append(Finding("missing-blob", "error", message, layer.name))
    return subject
