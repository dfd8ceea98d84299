"""Everything in a folder, for the audit: also hidden files, links and unfinished downloads."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from inspector.errors import SourceError, TargetError
from inspector.sources import Place
from inspector.units import escape, integer

#: The most entries of a listing, in case the target is a home directory.
MAX_ENTRIES = 200_000
#: Folders of version control: large, and not part of a model.
SKIPPED = frozenset({".git", ".hg", ".svn"})
#: The folder of a Hub repository's cached files, and the one with links to them.
_BLOBS, _SNAPSHOTS = "blobs", "snapshots"


@dataclass(frozen=True, slots=True)
class Entry:
    """One name in a folder."""

    path: str  # relative to the listed folder, "/"-separated
    kind: Literal["file", "special", "folder"]  # of a link's target, if there is one
    size: int  # bytes
    executable: bool = False
    link: str | None = None  # a link's text; None for other entries
    broken: bool = False  # a dangling link
    outside: bool = False  # a link out of the listed folder, other than the Hub cache's own
    digest: str | None = None  # SHA-256 that names it in its store
    refused: str | None = None  # why it could not be read; the only folders that are entries
    folder: str = field(init=False, repr=False, compare=False)  # within the listing: "" or ending in "/"
    name: str = field(init=False, repr=False, compare=False)  # within its folder

    def __post_init__(self) -> None:
        at = self.path.rfind("/") + 1  # once: rules ask for both again and again
        object.__setattr__(self, "folder", self.path[:at])
        object.__setattr__(self, "name", self.path[at:])


def entries_of(place: Place) -> list[Entry]:
    """The files of any other place, with the digests that its store or listing has."""
    known = getattr(place, "digests", {})
    return [Entry(path, "file", size, digest=known.get(path)) for path, size in place.files.items()]


def entries(root: Path, *, recursive: bool = True) -> Iterator[Entry]:
    """Everything below `root` except folders, ordered by path. Linked folders are listed, not entered.

    Raises:
        SourceError: `root` cannot be listed.
        TargetError: there are more files than any model's folder has.
    """
    try:
        real = os.path.realpath(root)
        here = _scan(str(root))
    except OSError as error:
        raise SourceError(f"{escape(str(root))}: {error.strerror or error}") from error
    for number, entry in enumerate(_walk(here, real, recursive=recursive)):
        if number == MAX_ENTRIES:
            raise TargetError(
                f"{escape(str(root))} holds more than {integer(MAX_ENTRIES)} files: name the models' own folder"
            )
        yield entry


def _walk(here: Iterator[os.DirEntry[str]], root: str, *, recursive: bool) -> Iterator[Entry]:
    pending = [here]
    prefixes = [""]
    while pending:
        each = next(pending[-1], None)
        if each is None:
            pending.pop()
            prefixes.pop()
            continue
        path = prefixes[-1] + each.name
        if each.is_symlink():
            yield _link(each.path, path, root)
        elif not each.is_dir(follow_symlinks=False):
            yield _entry(path, each)
        elif recursive and each.name not in SKIPPED:
            try:
                pending.append(_scan(each.path))
                prefixes.append(path + "/")
            except OSError as error:
                yield Entry(path, "folder", 0, refused=error.strerror or str(error))


def entries_named(root: Path, names: Iterable[str]) -> Iterator[Entry]:
    """Given files of a folder as `entries` returns them, whatever else is there."""
    real = os.path.realpath(root)
    for name in names:
        full = f"{root}{os.sep}{name}"
        try:
            status = os.lstat(full)
        except (OSError, ValueError) as error:
            yield Entry(name, "special", 0, refused=getattr(error, "strerror", None) or str(error))
            continue
        yield _link(full, name, real) if stat.S_ISLNK(status.st_mode) else _of_status(name, status)


def _scan(folder: str) -> Iterator[os.DirEntry[str]]:
    with os.scandir(folder) as scan:
        return iter(sorted(scan, key=lambda each: each.name))


def _entry(path: str, found: os.DirEntry[str]) -> Entry:
    try:
        status = found.stat(follow_symlinks=False)
    except OSError as error:  # e.g. deleted since the folder was read
        return Entry(path, "special", 0, refused=error.strerror or str(error))
    return _of_status(path, status)


def _of_status(path: str, status: os.stat_result) -> Entry:
    regular = stat.S_ISREG(status.st_mode)
    return Entry(path, "file" if regular else "special", status.st_size, bool(status.st_mode & 0o111))


def _link(full: str, path: str, root: str) -> Entry:
    link = ""
    try:
        link = os.readlink(full)  # noqa: PTH115  a string is what scandir gives
        real = os.path.realpath(full, strict=True)
        status = os.stat(real)  # noqa: PTH116  a string is what realpath gives
    except OSError:  # nothing there, or a cycle of links
        return Entry(path, "special", 0, link=link, broken=True, outside=_leaves(os.path.realpath(full), full, root))
    except ValueError:  # a name that the system's encoding cannot express
        return Entry(path, "special", 0, link=link, broken=True)
    kind: Literal["file", "special"] = "file" if stat.S_ISREG(status.st_mode) else "special"
    return Entry(path, kind, status.st_size, link=link, outside=_leaves(real, full, root))


def _leaves(real: str, full: str, root: str) -> bool:
    """Whether a link ends outside the folder. The Hub cache's links from snapshots to blobs do not count."""
    if real == root or real.startswith(root.rstrip(os.sep) + os.sep):
        return False
    folder = os.path.realpath(os.path.dirname(full))  # noqa: PTH120  two joins a file add up over thousands
    repository, found, _ = folder.rpartition(os.sep + _SNAPSHOTS + os.sep)
    return not (found and real.startswith(os.path.join(repository, _BLOBS) + os.sep))  # noqa: PTH118
