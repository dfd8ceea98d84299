"""What a person types → a `Place` to read: a path that exists is local; anything else is recognised by its shape.

model.safetensors  models/llama  ./audit      this machine
file:///path                                  this machine too
org/name[@revision][/file]  hf://…            the Hub
org/name:Q4_K_M  hf.co/org/name:Q4_K_M        the Hub, the GGUF files of one type
ollama:llama3.2[:1b]                          Ollama's store on this machine
https://host/model.gguf                       one file
s3://…  gs://…  az://…                        whatever fsspec opens
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from inspector.errors import TargetError, UsageError
from inspector.model import Origin
from inspector.sources import Place
from inspector.sources.filenames import PICKLED, WEIGHTS, type_of
from inspector.units import escape

#: `org/name@revision/path` or `name@revision`, in the characters that the Hub allows in ids.
_HUB_ID = r"(?a){id}(?:/{id}(?:/[^/@][^/]*)*)?/?|{id}(?:/{id})?@[^/]+(?:/[^/]+)*/?".replace("{id}", r"\w[\w.-]*")
#: The beginning of a Windows path: a single letter is not a repository.
_DRIVE = re.compile(r"[A-Za-z]:(?!//)")
#: The Hub's host without a scheme.
_HUB_HOST = r"(?i)(?:www\.)?(?:hf\.co|huggingface\.co)/"
#: Names with one of these suffixes are file names.
_FILE_NAMES = (*WEIGHTS, *PICKLED, ".json", ".zip", ".h5", ".onnx", ".npz", ".pkl", ".txt")


def place_of(target: str, revision: str | None = None, *, before: Origin | None = None) -> Place:
    """The place that `target` names.

    Args:
        before: where the target was read first; `revision` is the commit that its name stood for then.

    Raises:
        TargetError: nothing was found under that name.
        SourceError: it exists but cannot be read.
        UsageError: the target is empty, or has no revisions and `revision` was given.
    """
    if not target.strip():
        raise UsageError("the target is empty: name a file, a folder or a repository")
    if _exists(target):
        if revision:
            raise UsageError(
                f"{escape(target)} is a local path, which has no revisions: write hf://{escape(target)} for the Hub"
            )
        return _local(target)
    target = _spelt_out(target)
    if target.startswith("file:"):
        return _at_file_url(target, revision)
    if target.startswith("ollama:"):
        return _of_ollama(target, revision)
    if target.lower().startswith(("http://", "https://")):
        return _at_url(target, revision, before)
    if in_filesystem(target):
        return _in_filesystem(target, revision)
    name, tag = _split_tag(target)
    if is_path(name):
        raise TargetError(f"{escape(target)}: no such file or folder{names_near(target) or _hub_hint(target)}")
    if name.startswith("hf://") or looks_like_hub_id(name):
        from inspector.sources.hub import hub_place, parse

        place = hub_place(parse(name), revision, before=before)
        return _of_type(place, name, tag) if tag else place
    raise TargetError(f"{escape(target)}: no such file or folder{names_near(target)}")


def place_again(target: str, origin: Origin) -> Place:
    """The place that a checkpoint was read from; a repository at the same commit, whatever its branch has become."""
    commit = origin.revision if origin.kind == "hub" else None
    return place_of(target, commit, before=origin if commit else None)


def in_filesystem(target: str) -> bool:
    """Whether fsspec opens a target: a URL that is not this machine's, the Hub's or the web's."""
    others = ("file:", "ollama:", "http://", "https://", "hf://")
    return "://" in target and not target.lower().startswith(others) and not _exists(target)


def _local(target: str) -> Place:
    """An existing file or folder; one in Ollama's store gets its name there."""
    from inspector.sources.local import LocalPlace  # one kind of place is loaded

    path = Path(target).expanduser()
    if {"blobs", "manifests"} & set(path.absolute().parts) and path.is_file():
        from inspector.sources.ollama import model_at  # only if the folders are named like Ollama's

        if model := model_at(path.absolute()):
            return model
    return LocalPlace(path)


def _spelt_out(target: str) -> str:
    """Rewrites `hf.co/org/name`, as Ollama and llama.cpp spell it, in the Hub's own form."""
    found = re.match(_HUB_HOST, target) if ".co/" in target.lower() else None
    return f"hf://{target[found.end() :]}" if found else target


def _of_ollama(target: str, revision: str | None) -> Place:
    from inspector.sources.ollama import PREFIX, ollama_place  # one kind of place is loaded

    if revision:
        raise UsageError(f"{escape(target, 200)} has no revisions: the tag follows a colon")
    return ollama_place(target.removeprefix(PREFIX).removeprefix("//"))


def _at_file_url(target: str, revision: str | None) -> Place:
    from urllib.parse import unquote, urlsplit
    from urllib.request import url2pathname

    parts = urlsplit(target)
    if parts.netloc not in ("", "localhost"):
        raise UsageError(f"{escape(target, 200)} is on another machine: file:///PATH is on this one")
    path = url2pathname(parts.path) if os.name == "nt" else unquote(parts.path)
    if not _exists(path):
        raise TargetError(f"{escape(path)}: no such file or folder{names_near(path)}")
    return place_of(path, revision)


def _in_filesystem(target: str, revision: str | None) -> Place:
    from inspector.sources.filesystem import FilesystemPlace  # imports fsspec

    if revision:
        raise UsageError(f"{escape(target, 200)} has no revisions")
    return FilesystemPlace(target)


def _split_tag(target: str) -> tuple[str, str | None]:
    """`org/name:Q4_K_M` as name and tag; a tag may also be a file name."""
    name, colon, tag = target.rpartition(":")
    if (
        not colon
        or _DRIVE.match(target)
        or "/" in tag
        or "@" in tag
        or not re.fullmatch(_HUB_ID, name.removeprefix("hf://"))
    ):
        return target, None
    return name, tag


def _of_type(place: Place, name: str, tag: str) -> Place:
    """The place reduced to the GGUF files of the tag's type, or to the file it names.

    Raises:
        TargetError: there is none; the message lists those that exist.
    """
    from inspector.sources.places import Narrowed

    types = {path: type_of(path.removesuffix(".gguf")) or "" for path in place.files if path.endswith(".gguf")}
    if tag == "latest" and types:
        return place
    wanted = {path for path in types if path.rsplit("/", 1)[-1].lower() == tag.lower()}
    wanted = wanted or {
        path for path, each in types.items() if each.removeprefix("UD-") == tag.upper().removeprefix("UD-")
    }
    if exact := {path for path in wanted if types[path] == tag.upper()}:
        wanted = exact
    if not wanted:
        place.close()
        there = ", ".join(escape(each, 40) for each in sorted(set(types.values()) - {""})) or "no GGUF file"
        raise TargetError(f"{escape(name)} has no GGUF file of type {escape(tag, 60)}; there is {there}")
    return Narrowed(place, lambda path: path in wanted or not path.endswith(".gguf"))


def looks_like_hub_id(target: str) -> bool:
    """Whether a target that is not a local path may be a repository on the Hub."""
    single = "/" not in target and target.lower().endswith(_FILE_NAMES)
    return not single and "\\" not in target and ".." not in target and re.fullmatch(_HUB_ID, target) is not None


def shadows_cached(target: str) -> bool:
    """Whether the Hub's cache on this machine has a repository with the same name as a local path."""
    if target.count("/") != 1 or not looks_like_hub_id(target):
        return False
    from inspector.sources.hub_cache import folder  # for names of that shape

    return (folder() / f"models--{target.replace('/', '--')}").is_dir()


def is_path(target: str) -> bool:
    """Whether a target that does not exist can only be a local path: the Hub is not asked about it.

    A file name after at most one folder is a path, and so is anything inside an existing folder. A single word is a
    path if it contains a dot or closely matches a name here: the Hub's few names without an organisation have no dot.
    """
    if target.startswith("hf://"):
        return False
    if target.startswith(("/", "./", "../", "~")) or "\\" in target or target.endswith("/..") or _DRIVE.match(target):
        return True
    name = target.split("@", 1)[0].rstrip("/")
    parent, _, last = name.rpartition("/")
    if last.lower().endswith(_FILE_NAMES) and name.count("/") <= 1:
        return True
    if parent:
        return _exists(name.split("/", 1)[0])
    return "." in last or bool(names_near(target))


def _hub_hint(target: str) -> str:
    return f"; the Hub's would be hf://{escape(target)}" if looks_like_hub_id(target) and "/" in target else ""


def names_near(target: str) -> str:
    """`; near it: llama-7b`: the most similar names in the path's folder, in whatever case."""
    from difflib import get_close_matches

    path = Path(target)
    try:
        listed = zip(range(10_000), path.expanduser().parent.iterdir(), strict=False)
        beside = {each.name.lower(): each.name for _, each in listed}
    except (OSError, RuntimeError, ValueError):
        return ""
    near = get_close_matches(path.name.lower(), sorted(beside), 3, 0.6)
    return f"; near it: {', '.join(escape(beside[name], 100) for name in near)}" if near else ""


def _exists(target: str) -> bool:
    try:
        path = Path(target).expanduser()
        return path.exists() or path.is_symlink()
    except (OSError, ValueError, RuntimeError):
        return False


def _at_url(target: str, revision: str | None, before: Origin | None) -> Place:
    from inspector.sources.hub import hub_place, is_hub_url, parse

    if is_hub_url(target):
        return hub_place(parse(target), revision, before=before)
    if revision:
        raise UsageError(f"{escape(target, 200)} is one file, which has no revisions")
    from inspector.sources.remote import UrlPlace

    return UrlPlace(target)
