"""The Hub's cache on this machine, as `huggingface_hub` lays it out: `models--org--name/{refs,snapshots,blobs}`.

Read only. A snapshot's files are links to blobs, which are named by their content's hash.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from inspector.model import Origin
from inspector.sources.filenames import INDEX, WEIGHTS, shard_of
from inspector.sources.local import LocalPlace

_COMMIT = re.compile(r"[0-9a-f]{40}")
_SHORT = re.compile(r"[0-9a-f]{7,39}")
_REPOSITORY = re.compile(r"[\w-][\w.-]{0,95}/[\w-][\w.-]{0,95}", re.ASCII)
_BLOB = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
#: A larger index, in bytes, is not read to check whether a snapshot is complete.
MAX_INDEX = 100_000_000


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The cached part of one commit of one repository; its folder may be absent."""

    store: Path  # `models--org--name`
    commit: str

    @property
    def folder(self) -> Path:
        return self.store / "snapshots" / self.commit

    def file(self, path: str, size: int, blob: str | None = None) -> Path | None:
        """The file at `path` of the repository, if all its `size` bytes are here, in this snapshot or another."""
        candidates = [self.folder / path]
        if blob and _BLOB.fullmatch(blob):
            candidates.append(self.store / "blobs" / blob)
        for candidate in candidates:
            try:
                if candidate.stat().st_size == size and candidate.is_file():
                    return candidate
            except OSError:
                continue
        return None


def folder() -> Path:
    """The cache's folder, from the environment: asking `huggingface_hub` would take 0.2 s to import it."""
    home = Path(os.environ.get("HF_HOME") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "huggingface")
    return Path(os.environ.get("HF_HUB_CACHE") or home / "hub").expanduser()


def cached_file(repo: str, path: str, limit: int) -> Path | None:
    """A file of `org/name` at its main revision, of at most `limit` bytes; None if the cache has none."""
    if not _REPOSITORY.fullmatch(repo):
        return None
    store = folder() / f"models--{repo.replace('/', '--')}"
    commit = _commit_of(store, "main")
    if commit is None:
        return None
    file = store / "snapshots" / commit / path
    try:
        inside = file.resolve(strict=True).is_relative_to(store.resolve())
        return file if inside and file.stat().st_size <= limit else None
    except (OSError, RuntimeError):
        return None


def snapshot_of(repo: str, kind: str, revision: str | None, commit: str | None = None) -> Snapshot | None:
    """The snapshot of a revision, or of `commit` if that is known; None if none of it is cached."""
    from huggingface_hub import constants  # 0.2 s, and only for Hub targets
    from huggingface_hub.file_download import repo_folder_name

    store = Path(constants.HF_HUB_CACHE) / repo_folder_name(repo_id=repo, repo_type=kind)
    known = _commit_of(store, commit or revision or constants.DEFAULT_REVISION)
    if known is None or not store.is_dir():
        return None
    return Snapshot(store, known)


def _commit_of(store: Path, revision: str) -> str | None:
    """Of a branch, a tag, or a commit, which its first 7 digits name as in git, if one cached commit begins so."""
    if _COMMIT.fullmatch(revision):
        return revision
    if revision.startswith("/") or ".." in revision.split("/") or "\0" in revision:
        return None
    try:
        commit = (store / "refs" / revision).read_text("ascii").strip()
    except (OSError, ValueError):
        begun = list((store / "snapshots").glob(f"{revision}*")) if _SHORT.fullmatch(revision) else []
        commit = begun[0].name if len(begun) == 1 else ""
    return commit if _COMMIT.fullmatch(commit) else None


def is_whole(snapshot: Snapshot, path: str) -> bool:
    """Whether the weights at `path` ("" for all) can be read from the cache alone, judging by the cache.

    The listing that `snapshot_download` keeps decides. Without it, each index and each set of numbered files must be
    complete, and the configuration present; a lone GGUF may have siblings, so it counts as complete only when named.
    """
    target = snapshot.folder / path
    if target.is_file():
        beside = {f.name for f in target.parent.iterdir() if f.is_file()}
        configured = target.suffix == ".gguf" or _has_configuration(snapshot, path.rpartition("/")[0], beside)
        return configured and _set_is_complete(target.name, beside)
    if not target.is_dir():
        return False
    here = {f.relative_to(target).as_posix() for f in target.rglob("*") if f.is_file()}
    listed = _listed_weights(snapshot, path)
    if listed is not None:
        return bool(listed) and listed <= here
    weights = {file for file in here if file.endswith(WEIGHTS)}
    return (
        any(file.endswith(".safetensors") for file in weights)
        and _has_configuration(snapshot, path, here)
        and all(_set_is_complete(file, here) for file in weights)
        and all(_index_is_complete(target, file, here) for file in here if file.endswith(INDEX))
    )


def _has_configuration(snapshot: Snapshot, folder: str, here: set[str]) -> bool:
    """Whether a configuration is there, or is known not to exist: the cache records the Hub's 404."""
    absent = snapshot.store / ".no_exist" / snapshot.commit / folder / "config.json"
    return not here.isdisjoint(("config.json", "params.json")) or absent.exists()


def _listed_weights(snapshot: Snapshot, path: str) -> set[str] | None:
    """Weight files below `path` as listed when the snapshot was taken; None if no listing was kept."""
    try:
        file = snapshot.store / "trees" / f"{snapshot.commit}.json"
        files: Iterable[str] = json.loads(file.read_text("utf-8"))["files"].keys()
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    start = f"{path.strip('/')}/" if path else ""
    return {f.removeprefix(start) for f in files if f.startswith(start) and f.endswith(WEIGHTS)}


def _set_is_complete(file: str, here: set[str]) -> bool:
    shard = shard_of(file)
    return shard is None or shard.is_complete(here)


def _index_is_complete(folder: Path, index: str, here: set[str]) -> bool:
    file = folder / index
    parent = Path(index).parent
    try:
        if file.stat().st_size > MAX_INDEX:
            return False
        named = {found[1].decode() for found in _SHARD_NAMED.finditer(file.read_bytes())}
        return bool(named) and all((parent / name).as_posix() in here for name in named)
    except (OSError, ValueError):
        return False


#: A file in an index's map. The map is not parsed: it may have 60 MB, and only the file names matter.
_SHARD_NAMED = re.compile(rb':\s*"([^"\\]+\.safetensors)"')


class CachedPlace(LocalPlace):
    """A `Place` that is a snapshot, or a part of one. No request is sent."""

    def __init__(self, repo: str, snapshot: Snapshot, path: str) -> None:
        super().__init__(snapshot.folder / path)
        self.name = repo.rpartition("/")[2]
        self._commit = snapshot.commit

    def origin(self) -> Origin:
        local = super().origin()
        return Origin("hub", local.location, self._commit, 0, local.bytes_read)
