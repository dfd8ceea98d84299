"""Checks files against known checksums; reads tensor data, so only on request.

Known offline: the Hub cache's blob names, what `huggingface_hub` recorded next to a download, and a manifest in the
format of `sha256sum`. From the Hub itself only when the user names the repository.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from inspector.auditing.subject import Subject
from inspector.errors import SourceError, TargetError, UsageError
from inspector.model import Finding
from inspector.sources import workers
from inspector.sources.filenames import WEIGHTS
from inspector.units import escape, plural

#: Manifests that are used from a model's folder if none is named.
MANIFESTS = ("SHA256SUMS", "checkpoint.sha256")
MAX_MANIFEST = 16 * 1024 * 1024
#: Bytes read at a time: enough for hashing to release the interpreter, few enough for the processor's cache.
_BLOCK = 1024 * 1024

_LINE = re.compile(r"([0-9a-fA-F]{64}) [ *](.+)")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_GIT_SHA1 = re.compile(r"[0-9a-f]{40}")
_NOTES = ".cache/huggingface/download/"


@dataclass(frozen=True, slots=True)
class Known:
    """A file's expected checksum."""

    path: str
    digest: str  # 64 hexadecimal digits of SHA-256, or 40 of git's SHA-1 of a blob
    source: str  # its source, as text


class Checksums:
    """Which checksums the user wants compared, and those computed so far, for a manifest."""

    def __init__(
        self,
        manifest: str | Path | None = None,
        write: str | Path | None = None,
        hub: str | None = None,
        revision: str | None = None,
        *,
        everything: bool = False,
    ) -> None:
        """
        Args:
            manifest: a file of checksums to compare with, in the format of `sha256sum`.
            write: where `save` writes such a file.
            hub: a repository whose checksums the Hub is asked for, at a `revision`.
            everything: whether to hash files without a known checksum, too, as for a manifest.
        """
        self._manifest = Path(manifest) if manifest else None
        self._write = Path(write) if write else None
        self._hub, self._revision = hub, revision
        self._everything = everything or write is not None
        self._digests: dict[Path, str] = {}

    def wanted(self, subject: Subject) -> tuple[list[Known], dict[Path, str]]:
        """The known checksums of a model's files, and the files to hash: location → path.

        Raises:
            TargetError: the model is not on this machine.
            UsageError: the manifest cannot be read, or is not one.
            SourceError: the Hub is unreachable, or does not have the repository.
        """
        if not subject.is_local:
            raise TargetError(f"{subject.target} is not on this machine: only local files can be checksummed")
        expected = [*known(subject, self._manifest)]
        if self._hub:
            expected += from_hub(subject, self._hub, self._revision)
        digested = {each.path for each in expected}
        own = self._write.resolve() if self._write else None
        files: dict[Path, str] = {}
        for entry in subject.entries:
            path = entry.path
            wanted = self._everything or path in digested or path.endswith(WEIGHTS)
            hidden = entry.name.startswith(".") and "/." not in f"/{entry.folder}"  # as .gitattributes, but not .git/*
            if not wanted or not (hidden or path in subject.place.files) or subject.refusal(entry):
                continue
            file = subject.on_disk(path)
            if file is not None and file.resolve() != own:
                files[file.resolve()] = path
        return expected, files

    def compared(self, subject: Subject, expected: Sequence[Known], digests: Mapping[str, str]) -> Iterator[Finding]:
        """Compare a model's computed checksums (path → SHA-256) with the known ones; git's SHA-1 is computed here."""
        subject.digests = digests
        places = {path: place for path in digests if (place := subject.on_disk(path))}
        self._digests.update({place.resolve(): digests[path] for path, place in places.items()})
        for each in expected:
            if each.path not in subject.by_path:
                yield Finding("checksum", "error", f"listed by {each.source}, but missing", each.path)
            elif each.path in digests:
                of_git = len(each.digest) == 40
                found = git_sha1(places.get(each.path, Path(each.path))) if of_git else digests[each.path]
                if found != each.digest:
                    what = f"the checksum is {found[:16]}…, by {each.source} {each.digest[:16]}…: download it again"
                    yield Finding("checksum", "error", what, each.path)
        unknown = {path for path in digests if path.endswith(WEIGHTS)} - {each.path for each in expected}
        if unknown:
            what = f"no known checksums to compare {plural(len(unknown), 'weight file')} with"
            largest = min(unknown, key=lambda path: (-subject.by_path[path].size, path))
            yield Finding("unknown-checksum", "info", what, largest)

    def save(self) -> None:
        """Write the manifest of all models' files, if one is wanted. Raises as `write_manifest` does."""
        if self._write is not None:
            write_manifest(self._write, self._digests)


def known(subject: Subject, manifest: Path | None = None) -> Iterator[Known]:
    """The checksums known offline for a model's files.

    Raises:
        UsageError: `manifest` cannot be read, or is not a manifest.
    """
    for entry in subject.entries:
        if entry.digest:
            yield Known(entry.path, entry.digest, "the name of its blob")
        elif entry.link and entry.link.replace("\\", "/").split("/")[-2:-1] == ["blobs"]:
            name = entry.link.replace("\\", "/").rsplit("/", 1)[-1]
            if _SHA256.fullmatch(name) or _GIT_SHA1.fullmatch(name):
                yield Known(entry.path, name, "the Hub cache's blob")
        elif entry.path.startswith(_NOTES) and entry.path.endswith(".metadata"):
            lines = (subject.text(entry.path, 4096) or "").split("\n")  # the ETag that `huggingface_hub` recorded
            if len(lines) > 1 and (_SHA256.fullmatch(lines[1]) or _GIT_SHA1.fullmatch(lines[1])):
                yield Known(entry.path[len(_NOTES) :].removesuffix(".metadata"), lines[1], "the download's own record")
    if manifest is not None:
        yield from _from_manifest(subject, manifest)
    elif subject.root is not None:
        beside = next((name for name in MANIFESTS if name in subject.place.files), None)
        if beside:
            yield from _from_manifest(subject, Path(subject.root, beside))


def _from_manifest(subject: Subject, manifest: Path) -> Iterator[Known]:
    """The manifest's lines for this model's folder."""
    folder = manifest.resolve().parent
    base = Path(subject.root or ".").resolve()
    for path, digest in read_manifest(manifest).items():
        full = folder / path
        if full.is_relative_to(base):
            yield Known(full.relative_to(base).as_posix(), digest, manifest.name)


def read_manifest(path: Path) -> dict[str, str]:
    """Path → SHA-256, from a file in the format of `sha256sum`.

    Raises:
        UsageError: it cannot be read, a line is invalid, or a path is outside the manifest's folder.
    """
    try:
        if path.stat().st_size > MAX_MANIFEST:
            raise UsageError(f"{escape(str(path))} is too large to be a manifest")
        lines = path.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError as error:
        raise UsageError(f"{escape(str(path))}: the manifest cannot be read: {error}") from error
    digests = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        parsed = _LINE.fullmatch(line)
        if not parsed:
            raise UsageError(f"{escape(str(path))}: line {number} is not `<sha256> *<path>`")
        name = parsed[2].removeprefix("./")
        if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts or "\\" in name:
            raise UsageError(f"{escape(str(path))}: line {number} leaves the folder: {escape(name, 120)}")
        digests[name] = parsed[1].lower()
    return digests


def write_manifest(path: Path, digests: Mapping[Path, str]) -> None:
    """Write a manifest for files in or below its folder.

    Raises:
        UsageError: a file is elsewhere, or its name contains a line break.
        SourceError: it cannot be written.
    """
    folder = path.resolve().parent
    lines = []
    for file, digest in sorted(digests.items()):
        if not file.is_relative_to(folder) or "\n" in str(file):
            raise UsageError(f"{escape(str(file))} cannot be in {escape(str(path))}: put the manifest above all models")
        lines.append(f"{digest} *{file.relative_to(folder).as_posix()}\n")
    with _errors_of(path):
        path.write_text("".join(lines), encoding="utf-8", errors="surrogateescape")


def sha256_of(paths: Sequence[Path], progress: Callable[[int], object] = lambda _: None) -> dict[Path, str]:
    """SHA-256 of each file, on all processors, the largest file first.

    Args:
        progress: called with the number of bytes done since the previous call, from several threads.

    Raises:
        SourceError: a file cannot be read.
    """
    ordered = sorted(paths, key=lambda path: -_size(path))
    digests = workers.each(lambda path: _sha256(path, progress), ordered, os.cpu_count() or 1)
    return dict(zip(ordered, digests, strict=True))


def _size(path: Path) -> int:
    with _errors_of(path):
        return path.stat().st_size


def _sha256(path: Path, progress: Callable[[int], object]) -> str:
    digest = hashlib.sha256()
    buffer = memoryview(bytearray(_BLOCK))
    with _errors_of(path), path.open("rb", buffering=0) as file:
        while length := file.readinto(buffer):
            digest.update(buffer[:length])
            progress(length)
    return digest.hexdigest()


def git_sha1(path: Path) -> str:
    """The name of a file in git, and on the Hub outside LFS: SHA-1 over a header and its bytes.

    Raises:
        SourceError: it cannot be read.
    """
    with _errors_of(path):
        data = path.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


@contextmanager
def _errors_of(path: Path) -> Iterator[None]:
    """Raises SourceError if a file cannot be read, or written."""
    try:
        yield
    except OSError as error:
        raise SourceError(f"{escape(str(path))}: {error.strerror or error}") from error


def from_hub(subject: Subject, repository: str, revision: str | None) -> list[Known]:
    """The Hub's checksums for a repository's files. Uses the network.

    Raises:
        SourceError: the Hub is unreachable, or does not have the repository.
    """
    from inspector.sources.answers import client_library, unreached
    from inspector.sources.hub import endpoint

    home = endpoint()
    from huggingface_hub import HfApi  # once it is known that its import does not fail
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    failures = (HfHubHTTPError, HFValidationError, client_library().HTTPError, OSError, ValueError)
    try:
        info = HfApi().model_info(repository, revision=revision, files_metadata=True)
    except failures as error:
        if isinstance(error, client_library().ConnectError):
            first = unreached(error, home)
        else:
            first = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise SourceError(f"the Hub has no information on {escape(repository)}: {escape(first, 200)}") from error
    found = []
    for sibling in info.siblings or ():
        digest = sibling.lfs.sha256 if sibling.lfs else sibling.blob_id
        if digest and sibling.rfilename in subject.by_path:
            found.append(Known(sibling.rfilename, digest, f"the Hub's {repository}"))
    return found
