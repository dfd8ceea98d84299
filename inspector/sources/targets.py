"""What a person types → a `Place` to read: a path that exists is local; the rest is told by its shape."""

from __future__ import annotations

import os
import re
from pathlib import Path

from inspector.errors import TargetError, UsageError
from inspector.sources import Place
from inspector.units import escape

#: `org/name@revision/path` or `name@revision`, in the letters that the Hub allows for ids.
_HUB_ID = re.compile(
    r"{id}(?:/{id}(?:/[^/@][^/]*)*)?/?|{id}(?:/{id})?@[^/]+(?:/[^/]+)*/?".replace("{id}", r"\w[\w.-]*"),
    re.ASCII,
)
#: A single word with one of these ends is a file that is not there, not a repository without a namespace.
_FILE_NAMES = (".safetensors", ".gguf", ".json", ".bin", ".pt", ".pth", ".zip", ".h5", ".onnx", ".ckpt")


def place_of(target: str, revision: str | None = None) -> Place:
    """The place that `target` names.

    Raises:
        TargetError: it names nothing that can be found.
        SourceError: it is there, and cannot be read.
        UsageError: nothing was typed, or `revision` for something that has none.
    """
    if not target:
        raise UsageError("the target is empty: name a file, a folder or a repository")
    if _exists(target):
        from inspector.sources.local import LocalPlace  # one kind of place is loaded

        if revision:
            raise UsageError(
                f"{escape(target)} is a local path, which has no revisions: write hf://{escape(target)} for the Hub"
            )
        return LocalPlace(Path(target).expanduser())
    if target.lower().startswith(("http://", "https://")):
        return _at_url(target, revision)
    if _is_mistyped(target):
        raise TargetError(
            f"{escape(target)}: no such file{_near(Path(target))}; the Hub's would be hf://{escape(target)}"
        )
    if target.startswith("hf://") or looks_like_hub_id(target):
        from inspector.sources.hub import hub_place, parse

        return hub_place(parse(target), revision)
    raise TargetError(f"{escape(target)}: no such file or folder")


def looks_like_hub_id(target: str) -> bool:
    """Whether a target that is no local path can be meant as a repository on the Hub."""
    single = "/" not in target and target.lower().endswith(_FILE_NAMES)
    return not single and "\\" not in target and ".." not in target and _HUB_ID.fullmatch(target) is not None


def shadows_cached(target: str) -> bool:
    """Whether the Hub's cache on this machine has a repository under the name that was read as a local path."""
    if target.count("/") != 1 or not looks_like_hub_id(target):
        return False
    home = Path(os.environ.get("HF_HOME") or "~/.cache/huggingface")
    cache = Path(os.environ.get("HF_HUB_CACHE") or home / "hub").expanduser()
    return (cache / f"models--{target.replace('/', '--')}").is_dir()


def _is_mistyped(target: str) -> bool:
    """Whether a file of that kind would lie in a folder that there is: a slip, and nothing to ask the Hub for."""
    parent, slash, name = target.rpartition("/")
    return bool(slash) and name.lower().endswith(_FILE_NAMES) and _exists(parent or "/")


def _near(path: Path) -> str:
    """The names in the path's folder that are most like its own."""
    from difflib import get_close_matches

    try:
        beside = sorted(each.name for each in path.expanduser().parent.iterdir())[:10_000]
    except OSError:
        return ""
    near = get_close_matches(path.name, beside, 3, 0.6)
    return f"; near it: {', '.join(escape(name, 100) for name in near)}" if near else ""


def _exists(target: str) -> bool:
    try:
        path = Path(target).expanduser()
        return path.exists() or path.is_symlink()
    except (OSError, ValueError, RuntimeError):
        return False


def _at_url(target: str, revision: str | None) -> Place:
    from inspector.sources.hub import hub_place, is_hub_url, parse

    if is_hub_url(target):
        return hub_place(parse(target), revision)
    if revision:
        raise UsageError(f"{escape(target, 200)} is one file, which has no revisions")
    from inspector.sources.url import UrlPlace

    return UrlPlace(target)
