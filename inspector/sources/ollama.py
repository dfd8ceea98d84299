"""Ollama's store on this machine: manifests by model name, and blobs named by their SHA-256.

    manifests/registry.ollama.ai/library/llama3.2/1b      JSON: the layers of `llama3.2:1b`, a digest each
    blobs/sha256-74701a8c…                                a layer: the GGUF, its template, its licence, …

Read only. The store is `$OLLAMA_MODELS`, else `~/.ollama/models`, else the service's own.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

from inspector.errors import FormatError, SourceError, TargetError
from inspector.model import Origin
from inspector.sources.filenames import numbered
from inspector.sources.local import LocalPlace
from inspector.units import escape

PREFIX = "ollama:"
#: Defaults for a name without a host, namespace or tag.
HOST, NAMESPACE, TAG = "registry.ollama.ai", "library", "latest"
#: Where the service keeps its models; it runs as another user.
SERVICE = Path("/usr/share/ollama/.ollama/models")
#: A layer's media type, after `application/vnd.ollama.image.` → its file name here.
LAYERS: Mapping[str, str] = {
    "model": "model.gguf",
    "projector": "mmproj.gguf",
    "adapter": "adapter_model.gguf",
    "template": "template.txt",
    "system": "system.txt",
    "license": "LICENSE",
    "params": "params.ollama.json",
    "messages": "messages.json",
    "embed": "embed.bin",
}
_MEDIA = "application/vnd.ollama.image."
_DIGEST = re.compile(r"sha256[:-]([0-9a-f]{64})")
_WORD = re.compile(r"[\w][\w.-]*", re.ASCII)
#: In bytes. Manifests have a few layers of 200 bytes each.
MAX_MANIFEST = 1 << 20
MAX_MODELS = 10_000


class Layer(NamedTuple):
    """One file of a model."""

    name: str  # its file name here
    digest: str  # SHA-256 of its bytes, as the manifest has it
    size: int  # bytes, as the manifest has it


class OllamaPlace(LocalPlace):
    """One model of the store: its layers as files with descriptive names."""

    def __init__(self, store: Path, manifest: Path) -> None:
        """Raises FormatError if it is not a manifest, SourceError if it cannot be read."""
        self._layers = {layer.name: layer for layer in _layers(manifest)}
        self._blobs = {name: store / "blobs" / f"sha256-{layer.digest}" for name, layer in self._layers.items()}
        super().__init__(store, {name: size for name, path in self._blobs.items() if (size := _size(path)) is not None})
        self.manifest = manifest
        self.name = name_of(store, manifest)

    @property
    def digests(self) -> Mapping[str, str]:
        """Path → the SHA-256 that names its blob."""
        return {name: layer.digest for name, layer in self._layers.items()}

    def weights(self) -> Sequence[Path]:
        """The blobs that are GGUF files."""
        return [path for name, path in self._blobs.items() if name.endswith(".gguf")]

    @property
    def layers(self) -> Sequence[Layer]:
        """The manifest's layers, whether the store has them or not."""
        return list(self._layers.values())

    def full(self, path: str) -> str:
        if path not in self._blobs:
            raise TargetError(f"{escape(path)} is not a layer of {escape(self.name)}")
        return str(self._blobs[path])

    def origin(self) -> Origin:
        return super().origin()._replace(location=str(self.manifest))


def ollama_place(name: str) -> OllamaPlace:
    """The model that `ollama:NAME[:TAG]` names.

    Raises:
        TargetError: there is no store, or no model of that name in it.
    """
    stores = [store for store in candidates() if (store / "manifests").is_dir()]
    if not stores:
        raise TargetError(f"no Ollama store at {escape(str(candidates()[0]))}: set OLLAMA_MODELS to its folder")
    parts = _parts(name)
    for store in stores:
        manifest = store.joinpath("manifests", *parts)
        if manifest.is_file():
            return OllamaPlace(store, manifest)
    known = [each for store in stores for each, _ in models(store)]
    near = get_close_matches(name if ":" in name else f"{name}:{TAG}", known, 3, 0.5) or known[:3]
    there = f"; there is {', '.join(escape(each, 100) for each in near)}" if near else "; the store is empty"
    raise TargetError(f"Ollama's store at {escape(str(stores[0]))} has no {escape(name, 200)}{there}")


def candidates() -> list[Path]:
    """Possible locations of a store, in order of precedence."""
    if named := os.environ.get("OLLAMA_MODELS"):
        return [Path(named).expanduser()]
    return [Path("~/.ollama/models").expanduser(), SERVICE]


def store_at(path: Path) -> Path | None:
    """The store, if a folder is one, its `blobs` or `manifests`, or Ollama's own above it; None for any other."""
    for store in (path, path.parent) if path.name in ("blobs", "manifests") else (path, path / "models"):
        if (store / "manifests").is_dir() and (store / "blobs").is_dir():
            return store
    return None


def model_at(path: Path) -> OllamaPlace | None:
    """The model, if a file of a store is its manifest or its weights; None for any other file."""
    if _DIGEST.fullmatch(path.name) and path.parent.name == "blobs" and (store := store_at(path.parent)):
        return next((place for place in _places(store) if path in place.weights()), None)
    above = next((folder for folder in path.parents if folder.name == "manifests"), None)
    if above is None or (store := store_at(above)) is None:
        return None
    return OllamaPlace(store, path)


def models(store: Path) -> Iterator[tuple[str, Path]]:
    """The name and the manifest of each model in a store, by name."""
    root = store / "manifests"
    found = (path for path in sorted(root.glob("*/*/*/*")) if path.is_file() and not path.name.startswith("."))
    for number, path in enumerate(found):
        if number == MAX_MODELS:
            raise TargetError(f"{escape(str(root))} holds more than {MAX_MODELS:,} models")
        yield name_of(store, path), path


def name_of(store: Path, manifest: Path) -> str:
    """`llama3.2:1b`, with the namespace and the host if they are not the defaults."""
    host, namespace, model, tag = ("", "", "", *manifest.relative_to(store / "manifests").parts)[-4:]
    shown = [] if host == HOST else [host]
    shown += [] if not shown and namespace == NAMESPACE else [namespace]
    return "/".join((*filter(None, shown), f"{model}:{tag}"))


def _places(store: Path) -> Iterator[OllamaPlace]:
    for _, manifest in models(store):
        try:
            yield OllamaPlace(store, manifest)
        except (FormatError, SourceError):
            continue


def _parts(name: str) -> tuple[str, str, str, str]:
    """Host, namespace, model and tag. Raises TargetError if it is not a name."""
    path, _, tag = name.rpartition(":") if ":" in name.rsplit("/", 1)[-1] else (name, "", TAG)
    words = path.split("/")
    full = ([HOST, NAMESPACE, *words] if len(words) == 1 else [HOST, *words] if len(words) == 2 else words) + [tag]
    if len(full) != 4 or not all(_WORD.fullmatch(word) for word in full):
        raise TargetError(f"{escape(PREFIX + name, 200)} is not the name of an Ollama model: {PREFIX}NAME[:TAG]")
    return full[0], full[1], full[2], full[3]


def _layers(manifest: Path) -> Iterator[Layer]:
    """A manifest's layers; several of one kind are numbered, as shards are."""
    document = _document(manifest)
    found = [layer for layer in document.get("layers") or () if isinstance(layer, dict)]
    kinds: dict[str, list[tuple[str, int]]] = {}
    for layer in found:
        media, digest, nbytes = layer.get("mediaType"), layer.get("digest"), layer.get("size")
        matched = _DIGEST.fullmatch(digest) if isinstance(digest, str) else None
        if not isinstance(media, str) or matched is None or not isinstance(nbytes, int):
            raise FormatError(f"{escape(str(manifest))}: a layer without a media type, a SHA-256 or a size")
        kinds.setdefault(media.removeprefix(_MEDIA), []).append((matched[1], nbytes))
    for kind, layers in kinds.items():
        name = LAYERS.get(kind) or re.sub(r"[^\w.-]", "_", kind)[:80] or "layer"
        for number, (digest, nbytes) in enumerate(layers, 1):
            yield Layer(numbered(name, number, len(layers)), digest, nbytes)


def _document(manifest: Path) -> Mapping[str, Any]:
    try:
        if manifest.stat().st_size > MAX_MANIFEST:
            raise FormatError(f"{escape(str(manifest))} is too large for a manifest of Ollama")
        document = json.loads(manifest.read_bytes())
    except OSError as error:
        raise SourceError(f"{escape(str(manifest))}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{escape(str(manifest))} is not an Ollama manifest: not JSON") from error
    if not isinstance(document, dict) or not isinstance(document.get("layers"), list):
        raise FormatError(f"{escape(str(manifest))} is not an Ollama manifest: it has no layers")
    return document


def _size(blob: Path) -> int | None:
    try:
        return blob.stat().st_size if blob.is_file() else None
    except OSError:
        return None
