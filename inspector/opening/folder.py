"""What a folder's bytes are: the inspected weights, copies of them, other checkpoints, and the rest, to the byte.

Every regular file below the folder counts, hidden ones too, with its apparent size. A link stands for the file that it
leads to, and a file with several names counts once: in the Hub's cache the blobs count, by the snapshots' names for
them. Links to folders are not followed.
"""

from __future__ import annotations

import os
import re
import stat
import struct
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from math import prod
from pathlib import Path

from inspector import formats
from inspector.errors import InspectorError
from inspector.formats import foreign
from inspector.model import Copy, Folder, Share
from inspector.opening.models import Found
from inspector.opening.named import local_checkpoints, natural
from inspector.opening.selection import kind_of
from inspector.sources.filenames import format_of
from inspector.sources.local import MAX_FILES, LocalPlace
from inspector.tabular import NamedTuple
from inspector.units import integer, plural

#: The first and the last bytes by which an object of git-LFS is compared with a file of its size, without git's index.
COMPARED = 1 << 16
#: The largest index of git that is read: some 500,000 files.
MAX_GIT_INDEX = 64 << 20
_LFS = re.compile(r"(?P<root>(?:.*/)?)\.git/lfs/objects/\w\w/\w\w/(?P<oid>[0-9a-f]{64})")
#: Formats as users call them.
_CALLED = {"pytorch": "PyTorch", "gguf": "GGUF", "numpy": "NumPy", "flax": "Flax", "hdf5": "HDF5"}
#: What an optimizer keeps of each parameter, by PyTorch's and others' names for it.
_MOMENTS = ("exp_avg", "exp_avg_sq", "momentum_buffer", "max_exp_avg_sq", "square_avg", "sum")


#: Formats to which the weights of a model are converted, so that a file of its size is the model once more.
_CONVERTED = frozenset(
    ("ONNX", "OpenVINO", "CoreML", "TensorFlow", "TensorFlow.js", "TFLite", "Paddle", "CTranslate2", "other framework")
)


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
    """Files are taken in turn, by what is known about them; each inode once."""

    def __init__(self, place: LocalPlace, names: Sequence[_Name], weights: frozenset[str], parameters: int) -> None:
        self._place, self._names, self._weights, self._parameters = place, names, weights, parameters
        self._by_path = {each.path: each for each in names}
        self._taken: set[tuple[int, int]] = set()
        self._indexes: dict[str, Mapping[bytes, Collection[str]] | None] = {}  # root of a repository → its index
        self._kinds: dict[str, str] = {}  # path → its kind, for which the file's start was read

    def folder(self, path: str) -> Folder:
        inodes = {each.inode: each.size for each in self._names}
        found = sorted(local_checkpoints(self._place), key=lambda each: natural(each.name))
        mine = [each for each in found if not self._weights.isdisjoint(each.paths)]
        own = self._take(self._weights if len(mine) < 2 else mine[0].paths)  # loose models, opened as one
        mine = mine[:1]
        copies = [*self._copies(mine), *self._of_lfs(found)]
        others = [each for each in found if each not in mine]
        owners: dict[tuple[int, int], str] = {}
        for each in (*mine, *others):
            for file in filter(self._by_path.__contains__, each.paths):
                owners.setdefault(self._by_path[file].inode, each.name or ".")
        checkpoints = [self._share(each, owners) for each in others]
        copies += self._copies(others)
        copies += self._conversions(mine)
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

    def _share(self, each: Found, owners: Mapping[tuple[int, int], str]) -> Share:
        """A checkpoint of its own. Files that count under another's name are links, and none of its bytes.

        Args:
            owners: inode → the name of the first checkpoint that has it.
        """
        sizes = self._take(each.paths)
        step = "" if each.step is None else f"step {each.step}"
        known = [self._by_path[path] for path in each.paths if path in self._by_path]
        others = dict.fromkeys(owners[one.inode] for one in known if owners[one.inode] != (each.name or "."))
        if others:
            number = plural(len(known) - len(sizes), "file")
            step = f"{number} linked with those of {', '.join(others)}: counted there"
        return Share(each.name or ".", len(sizes), sum(sizes), each.foreign or step)

    def _of_lfs(self, found: Sequence[Found]) -> Iterator[Copy]:
        """Objects of git-LFS that are copies of the folder's files, by the names in git's index."""
        homes = {path: each.name or "." for each in found for path in each.paths}
        homes |= dict.fromkeys(self._weights, ".")
        by_size: defaultdict[int, list[str]] = defaultdict(list)
        for path in homes:
            if path in self._by_path:
                by_size[self._by_path[path].size].append(path)
        same: defaultdict[tuple[str, bool], list[str]] = defaultdict(list)
        like: set[str] = set()  # files that an object is like: a second one is another version
        for name in self._names:
            there = _LFS.fullmatch(name.path) if by_size.get(name.size) and name.inode not in self._taken else None
            if there is None:
                continue
            names = self._git_index(there["root"])
            if names is not None:
                committed = names.get(_pointer(there["oid"], name.size), ())
                own = next((path for path in by_size[name.size] if path in committed), None)
            else:
                ends = self._ends(name)
                alike = (path for path in by_size[name.size] if path not in like)
                own = next((path for path in alike if ends and self._ends(self._by_path[path]) == ends), None)
                like.update([own] if own else ())
            if own is not None:
                same[homes[own], names is not None].append(name.path)
        for (home, indexed), paths in same.items():
            size = sum(self._take(paths))
            how = "whose SHA-256 git's index has for the files" if indexed else "with their first and last bytes"
            what = f"{plural(len(paths), 'object')} of git-LFS of the files' sizes, {how}; not hashed"
            yield Copy(tuple(paths), size, home, what, ".git/lfs")

    def _conversions(self, mine: Sequence[Found]) -> Iterator[Copy]:
        """The model once more in formats that are not read: by the size of its parameters at some width."""
        if not mine or not self._parameters:
            return
        home = f"{mine[0].home}/" if mine[0].home else ""
        sets: defaultdict[tuple[str, str], list[_Name]] = defaultdict(list)
        for name in self._names:
            if name.inode not in self._taken and name.path.startswith(home):
                what = self._kind(name.path)
                if what in _CONVERTED:
                    format_ = format_of(name.path) if what == "other framework" else ""
                    sets[_CALLED.get(format_, what), foreign.set_of(what, name.path)].append(name)
        for (what, _), own in sets.items():
            size = sum(each.size for each in own)
            width = next((width for width in (4, 2, 1) if _is_about(size, width * self._parameters)), None)
            if width is not None:
                paths = tuple(sorted(each.path for each in own))
                at = f"{integer(self._parameters)} parameters at {plural(width, 'byte')}"
                evidence = f"{_share(size, width * self._parameters)} of {at}; tensors not read"
                yield Copy(paths, sum(self._take(paths)), mine[0].home or ".", evidence, what)

    def _git_index(self, root: str) -> Mapping[bytes, Collection[str]] | None:
        """The paths that a repository's index has for each blob; None without an index that can be read."""
        if root not in self._indexes:
            try:
                self._indexes[root] = _git_entries(self._place.read_bytes(f"{root}.git/index", MAX_GIT_INDEX), root)
            except (InspectorError, ValueError, IndexError, struct.error):
                self._indexes[root] = None
        return self._indexes[root]

    def _start(self, path: str) -> bytes:
        try:
            with closing(self._place.open(path)) as source:
                return source.read(0, min(source.size, COMPARED))
        except InspectorError:
            return b""

    def _ends(self, name: _Name) -> bytes:
        try:
            with closing(self._place.open(name.path)) as source:
                most = min(name.size, COMPARED)
                return source.read(0, most) + source.read(name.size - most, most)
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
        if path not in self._kinds:
            self._kinds[path] = self._kind_of(path)
        return self._kinds[path]

    def _kind_of(self, path: str) -> str:
        *folders, name = path.split("/")
        if name.endswith(".incomplete"):
            return "unfinished download"
        if ".git" in folders:
            return ".git/lfs (other files)" if "lfs" in folders else ".git"
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


def _is_about(size: int, weights: int) -> bool:
    """Whether a file has the size of this many bytes of weights and a graph: within 5 %, and 256 KiB more."""
    return 95 * weights <= 100 * size <= 105 * weights + (100 << 18)


def _share(size: int, weights: int) -> str:
    """A ratio as people read it: "100.4 %"."""
    return f"{100 * size / weights:.1f} %"


def _pointer(oid: str, size: int) -> bytes:
    """The name of the blob that git has in place of a large file: the SHA-1 of git-LFS's pointer (its docs/spec.md)."""
    import hashlib  # it loads OpenSSL; few folders have a `.git`

    text = f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {size}\n".encode()
    return hashlib.sha1(b"blob %d\0" % len(text) + text, usedforsecurity=False).digest()


def _git_entries(data: bytes, root: str) -> Mapping[bytes, Collection[str]]:
    """Blob → paths, in git's index of version 2 to 4 (gitformat-index).

    Raises:
        ValueError, IndexError, struct.error: it is not one.
    """
    magic, version, number = struct.unpack_from(">4sII", data)
    if magic != b"DIRC" or version not in (2, 3, 4):
        raise ValueError(version)
    found: defaultdict[bytes, list[str]] = defaultdict(list)
    at, name = 12, b""
    for _ in range(number):
        (flags,) = struct.unpack_from(">H", data, at + 60)
        start = at + (64 if flags & 0x4000 else 62)
        kept = b""
        if version == 4:  # the name begins like the previous one, without this many bytes of its end
            dropped, start = _offset(data, start)
            kept = name[: len(name) - dropped]
        end = data.index(b"\0", start)
        name = kept + data[start:end]
        found[data[at + 40 : at + 60]].append(root + name.decode("utf-8", "surrogateescape"))
        at = end + 1 if version == 4 else at + ((end - at + 8) & ~7)
    return found


def _offset(data: bytes, at: int) -> tuple[int, int]:
    """A number in git's encoding of offsets (gitformat-pack), and where it ends."""
    number = data[at] & 0x7F
    while data[at] & 0x80:
        at += 1
        number = ((number + 1) << 7) | (data[at] & 0x7F)
    return number, at + 1
