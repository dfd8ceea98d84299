"""What a folder's bytes are: the inspected weights, copies of them, other checkpoints, and the rest, to the byte.

Every regular file below the folder counts, hidden ones too, with its apparent size. A link stands for the file that it
leads to, and a file with several names counts once: in the Hub's cache the blobs count, by the snapshots' names for
them. Links to folders are not followed.
"""

from __future__ import annotations

import os
import re
import stat
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing
from math import prod
from pathlib import Path
from typing import NamedTuple

from inspector import formats
from inspector.errors import InspectorError
from inspector.formats import foreign
from inspector.model import Copy, Folder, Share
from inspector.opening.models import Found, local_checkpoints, natural
from inspector.opening.selection import kind_of
from inspector.sources.filenames import format_of
from inspector.sources.local import MAX_FILES, LocalPlace
from inspector.units import plural

#: The first bytes by which an object of git-LFS is compared with a file of its size.
COMPARED = 1 << 16
_LFS = re.compile(r"(?:.*/)?\.git/lfs/objects/\w\w/\w\w/([0-9a-f]{64})")
#: Formats as users call them.
_CALLED = {"pytorch": "PyTorch", "gguf": "GGUF", "numpy": "NumPy", "flax": "Flax", "hdf5": "HDF5"}
#: What an optimizer keeps of each parameter, by PyTorch's and others' names for it.
_MOMENTS = ("exp_avg", "exp_avg_sq", "momentum_buffer", "max_exp_avg_sq", "square_avg", "sum")


class _Name(NamedTuple):
    """One name of a file below the folder."""

    path: str
    size: int
    inode: tuple[int, int]


def folder_of(path: Path, weights: Collection[str], parameters: int = 0) -> Folder | None:
    """The account of a folder; None if it is not one, or has more files than are listed.

    Args:
        weights: the paths within it of the files that are inspected.
        parameters: of the inspected checkpoint, with which an optimizer's state is compared.

    Raises:
        SourceError, TargetError: the folder cannot be listed.
    """
    names = list(_walk(str(path)))
    if len(names) > MAX_FILES:
        return None
    with closing(LocalPlace(path)) as place:
        return _Account(place, names, frozenset(weights), parameters).folder(str(path))


def _walk(root: str) -> Iterator[_Name]:
    """Every regular file below a folder, and every link to one; at most one more than are counted."""
    pending, number = [("", root)], 0
    while pending:
        prefix, folder = pending.pop()
        try:
            with os.scandir(folder) as found:
                entries = sorted(found, key=lambda each: each.name)
        except OSError:  # the audit reports a folder that cannot be listed
            continue
        for entry in entries:
            try:
                if entry.is_dir(follow_symlinks=False):
                    pending.append((f"{prefix}{entry.name}/", entry.path))
                    continue
                status = entry.stat()
            except OSError:  # a dangling link
                continue
            if stat.S_ISREG(status.st_mode):
                yield _Name(prefix + entry.name, status.st_size, (status.st_dev, status.st_ino))
                number += 1
        if number > MAX_FILES:
            return


class _Account:
    """Files are taken in turn, by what is known of them; each inode once."""

    def __init__(self, place: LocalPlace, names: Sequence[_Name], weights: frozenset[str], parameters: int) -> None:
        self._place, self._names, self._weights, self._parameters = place, names, weights, parameters
        self._by_path = {each.path: each for each in names}
        self._taken: set[tuple[int, int]] = set()

    def folder(self, path: str) -> Folder:
        inodes = {each.inode: each.size for each in self._names}
        found = sorted(local_checkpoints(self._place), key=lambda each: natural(each.name))
        mine = [each for each in found if not self._weights.isdisjoint(each.paths)]
        own = self._take(self._weights if len(mine) < 2 else mine[0].paths)  # loose models, opened as one
        mine = mine[:1]
        copies = [*self._copies(mine), *self._of_lfs(found)]
        others = [each for each in found if each not in mine]
        checkpoints = [self._share(each) for each in others]
        copies += self._copies(others)
        return Folder(
            path=path,
            size=sum(inodes.values()),
            files=len(inodes),
            weights=sum(own),
            copies=tuple(copies),
            checkpoints=tuple(checkpoints),
            rest=self._rest(),
        )

    def _take(self, paths: Collection[str]) -> list[int]:
        """The sizes of those of the files that were not taken before."""
        sizes = []
        for path in sorted(paths):
            name = self._by_path.get(path)
            if name is not None and name.inode not in self._taken:
                self._taken.add(name.inode)
                sizes.append(name.size)
        return sizes

    def _copies(self, found: Sequence[Found]) -> Iterator[Copy]:
        for each in found:
            for copy in each.copies:
                what = format_of(copy.files[0])
                size = sum(self._take(copy.files))
                yield copy._replace(size=size, what=_CALLED.get(what, what))

    def _share(self, each: Found) -> Share:
        sizes = self._take(each.paths)
        step = "" if each.step is None else f"step {each.step}"
        step = step if sizes or not each.paths else "counted under another name of the same files"
        return Share(each.name or ".", len(sizes), sum(sizes), each.foreign or step)

    def _of_lfs(self, found: Sequence[Found]) -> Iterator[Copy]:
        """Objects of git-LFS that are a file of the folder once more: of its size, with its first bytes."""
        homes = {path: each.name or "." for each in found for path in each.paths}
        homes |= dict.fromkeys(self._weights, ".")
        by_size: defaultdict[int, list[str]] = defaultdict(list)
        for path in homes:
            if path in self._by_path:
                by_size[self._by_path[path].size].append(path)
        same: defaultdict[str, list[str]] = defaultdict(list)
        for name in self._names:
            if name.inode in self._taken or not by_size.get(name.size) or not _LFS.fullmatch(name.path):
                continue
            start = self._start(name.path)
            for path in by_size[name.size]:
                if start and self._start(path) == start:
                    same[homes[path]].append(name.path)
                    break
        for home, paths in same.items():
            size = sum(self._take(paths))
            what = f"{plural(len(paths), 'object')} of git-LFS, of the sizes of the files and with their first bytes"
            yield Copy(tuple(paths), size, home, what, ".git/lfs")

    def _start(self, path: str) -> bytes:
        try:
            with closing(self._place.open(path)) as source:
                return source.read(0, min(source.size, COMPARED))
        except InspectorError:
            return b""

    def _rest(self) -> tuple[Share, ...]:
        """What is left, by kind, the largest first."""
        kinds: defaultdict[str, list[_Name]] = defaultdict(list)
        for name in self._names:
            if name.inode not in self._taken:
                self._taken.add(name.inode)
                kinds[self._kind(name.path)].append(name)
        shares = [
            Share(kind, len(own), sum(each.size for each in own), self._detail(kind, own))
            for kind, own in kinds.items()
        ]
        return tuple(sorted(shares, key=lambda each: (-each.size, each.name)))

    def _kind(self, path: str) -> str:
        *folders, name = path.split("/")
        if name.endswith(".incomplete"):
            return "unfinished download"
        if ".git" in folders:
            return ".git/lfs, of other files" if "lfs" in folders else ".git"
        hidden = next((each for each in folders if each.startswith(".")), None)
        if hidden is not None:
            return hidden
        kind = kind_of(path)
        if kind == "state":
            return "optimizer state" if name.lower().startswith("optim") or "_optim_" in name else "training state"
        if kind in ("other framework", "other", "pickle"):
            known = foreign.foreign_of(path, self._start(path)[: foreign.HEAD], self._by_path)
            return known.name if known else "other weights" if kind == "pickle" else kind
        return "other weights" if kind == "duplicate" else kind

    def _detail(self, kind: str, names: Sequence[_Name]) -> str:
        """What an optimizer's state is, by its header: `twice the model: exp_avg and exp_avg_sq in F32`."""
        if kind != "optimizer state":
            return ""
        elements: Counter[str] = Counter()
        dtypes: dict[str, str] = {}
        for name in names:
            for word, dtype, number in self._moments(name.path):
                elements[word] += number
                dtypes[word] = dtype
        if not elements:
            return ""
        each = " and ".join(f"{word} in {dtypes[word]}" for word in elements)
        if len(set(dtypes.values())) == 1:
            each = f"{' and '.join(elements)} in {next(iter(dtypes.values()))}"
        times = {1: "as many numbers as the model", 2: "twice the model", 3: "three times the model"}
        share = len(names) * self._parameters
        number, left = divmod(elements.total(), share) if share else (0, 0)
        if number in times and left * 100 < share:
            states = "" if len(names) == 1 else ", each"
            return f"{times[number]}{states}: {each}"
        return each

    def _moments(self, path: str) -> Iterator[tuple[str, str, int]]:
        try:
            with closing(self._place.open(path)) as source:
                tensors = formats.read(source, path).tensors
        except InspectorError:
            return
        for tensor in tensors:
            word = tensor.name.rpartition(".")[2]
            if word in _MOMENTS:
                yield word, tensor.dtype, prod(tensor.shape)
