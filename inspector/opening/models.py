"""A folder of unrelated models: a list of them, each with the target that opens it alone.

A folder as LM Studio, Ollama, the Hub's cache or a person keeps it, on a disk or in an object store. Several
precisions or layouts of one model, a pipeline's parts, and accessories of a model (projectors, drafts, adapters next to
weights) are not separate models.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from inspector import formats
from inspector.errors import InspectorError
from inspector.model import Reconciliation, Variant
from inspector.opening.selection import kind_of
from inspector.opening.variants import variants
from inspector.sources import Place
from inspector.sources.filenames import INDEX, PICKLED, PICKLED_INDEX, WEIGHTS, shard_of
from inspector.sources.targets import in_filesystem
from inspector.tabular import Tabular

#: Files that make a folder with subfolders one model.
_WHOLES = ("model_index.json", "modules.json")
#: Names that do not identify the model: its folder's name does.
_USUAL = ("model", "pytorch_model", "diffusion_pytorch_model", "adapter_model", "consolidated")
#: Appended to a single file's name if a folder has the same one.
_LOOSE = ".safetensors"
#: Loose files whose headers are read to decide whether they are pieces of one model.
MOST_LOOSE = 64
_SNAPSHOT = re.compile(r"models--(?P<name>[^/]+)/snapshots/(?P<commit>[0-9a-f]{40})(?P<inner>/.*|$)")
_RUN = re.compile(r"(checkpoint|step|epoch|iter|global_step)[-_]?\d+$", re.IGNORECASE)


class Named(NamedTuple):
    """One model of a folder."""

    name: str  # display name within the folder
    target: str  # the target that opens it alone


class Models(Tabular, tuple[tuple[Named, Reconciliation | InspectorError], ...]):
    """Each model of a folder with its result, or with the error that reading it raised."""

    __slots__ = ()


def models_at(target: str | Path) -> tuple[Named, ...]:
    """The unrelated models in a folder, by name; empty if it holds one, or is not a folder.

    Raises:
        SourceError, TargetError, NetworkError: the folder cannot be listed.
    """
    if isinstance(target, str) and in_filesystem(target):
        from inspector.sources.filesystem import FilesystemPlace  # imports fsspec

        folder = FilesystemPlace(target)
        return unrelated(folder, lambda inner: f"{target.rstrip('/')}/{inner}") if folder.selected is None else ()
    path = Path(target).expanduser()
    if not path.is_dir():
        return ()
    if (path / "manifests").is_dir() or path.name in ("blobs", "manifests"):
        from inspector.sources import ollama  # only for its store

        if store := ollama.store_at(path):
            return tuple(Named(name, str(manifest)) for name, manifest in ollama.models(store))
    from inspector.sources.local import LocalPlace  # only one kind of place is imported

    with closing(LocalPlace(path)) as place:
        return unrelated(place, lambda inner: str(path / inner))


def grouped(place: Place) -> dict[str, list[Variant]]:
    """The variants of each unrelated model in a place, by their common folder or file name."""
    groups: dict[str, list[Variant]] = {}
    for each in variants(place.files, (*WEIGHTS, *PICKLED)):
        if _is_model(each, place.files):
            groups.setdefault(_home(each, place.files), []).append(each)
    return _with_conversions(_without_pieces(place, groups))


def unrelated(place: Place, named: Callable[[str], str]) -> tuple[Named, ...]:
    """The same for a place that is already listed; `named` turns a path in it into a target."""
    groups = grouped(place)
    if len(groups) < 2:
        return ()
    found = (Named(_display_name(home), named(_target(home, group, groups))) for home, group in groups.items())
    return tuple(sorted(found, key=lambda each: each.name.lower()))


def _is_model(variant: Variant, files: Mapping[str, int]) -> bool:
    """Whether its name is that of a model, and it is not a second copy in PyTorch's format."""
    path = variant.paths[0]
    kind = kind_of(path)
    if kind == "pickle":
        folder = path.rpartition("/")[0]
        return not any(each.endswith(WEIGHTS) and each.rpartition("/")[0] == folder for each in files)
    return kind in ("duplicate", "adapter")


def _home(variant: Variant, files: Mapping[str, int]) -> str:
    """What all variants of one model have in common: its folder; for a single file the name without a type."""
    if variant.format == "gguf":
        return variant.model
    folder, last = variant.name.rpartition("/")[0], variant.model.rpartition("/")[2]
    start = f"{folder}/" if folder else ""
    beside = ("config.json", "params.json", "adapter_config.json", "model" + INDEX, "pytorch_model" + PICKLED_INDEX)
    its_own = last in _USUAL or shard_of(variant.paths[0]) or any(start + name in files for name in beside)
    return _outermost(folder, files) if its_own else variant.model + _LOOSE


def _outermost(folder: str, files: Mapping[str, int]) -> str:
    """The folder of the pipeline, model or training run that a folder belongs to; else the folder itself."""
    above = folder
    while above:
        above, _, last = above.rpartition("/")
        start = f"{above}/" if above else ""
        wholes = (*_WHOLES, *(f"{name}.safetensors" for name in _USUAL), "config.json")
        if any(start + name in files for name in wholes) or _RUN.fullmatch(last):
            return _outermost(above, files)
    return folder


def _without_pieces(place: Place, groups: Mapping[str, list[Variant]]) -> dict[str, list[Variant]]:
    """Loose files of one folder are one model in pieces if no two hold a tensor of the same name."""
    loose: dict[str, list[str]] = {}
    for home, group in groups.items():
        if (
            group[0].format == "safetensors"
            and home == group[0].model + _LOOSE
            and len(group) == len(group[0].paths) == 1
        ):
            loose.setdefault(home.rpartition("/")[0], []).append(home)
    joined = dict(groups)
    for folder, homes in loose.items():
        if len(homes) > 1 and not _overlap(place, [groups[home][0].paths[0] for home in homes]):
            joined[folder] = [each for home in homes for each in joined.pop(home)]
    return joined


def _with_conversions(groups: Mapping[str, list[Variant]]) -> dict[str, list[Variant]]:
    """A GGUF in a model's folder belongs to that model."""
    kept: dict[str, list[Variant]] = {}
    for home, group in groups.items():
        folder = home.rpartition("/")[0]
        kept.setdefault(folder if group[0].format == "gguf" and folder in groups else home, []).extend(group)
    return kept


def _overlap(place: Place, paths: Sequence[str]) -> bool:
    """Whether two of the files hold a tensor of one name. Only headers are read."""
    seen: set[str] = set()
    for path in paths[:MOST_LOOSE]:
        try:
            with closing(place.open(path)) as source:
                names = {tensor.name for tensor in formats.read(source, path).tensors}
        except InspectorError:
            return True  # it is reported separately
        if not seen.isdisjoint(names):
            return True
        seen |= names
    return False


def _target(home: str, group: Sequence[Variant], groups: Mapping[str, Sequence[Variant]]) -> str:
    """The folder, if no other model has a file in it; else the first of the model's files."""
    folder = (
        home if home in {each.paths[0].rpartition("/")[0] for each in group} else group[0].paths[0].rpartition("/")[0]
    )
    start = f"{folder}/" if folder else ""
    others = (each for name, other in groups.items() if name != home for each in other)
    return folder if folder and not any(each.name.startswith(start) for each in others) else group[0].paths[0]


def _display_name(home: str) -> str:
    """A model's name; in the Hub's cache, the repository's."""
    found = _SNAPSHOT.fullmatch(home) or _SNAPSHOT.fullmatch(home.partition("/")[2])
    if found is None:
        parent, _, last = home.rpartition("/")
        repeated = parent and last.startswith(parent.rpartition("/")[2])
        return (f"{parent.rpartition('/')[0]}/{last}".lstrip("/") if repeated else home) or "(this folder)"
    return f"{found['name'].replace('--', '/')}@{found['commit'][:12]}{found['inner']}"
