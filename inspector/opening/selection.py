"""Which files of a place are the checkpoint's weights, and what the others are."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from fnmatch import fnmatchcase
from functools import lru_cache

from inspector.errors import InspectorError, TargetError
from inspector.formats.findings import Findings
from inspector.model import Finding, Index, OtherFiles, Variant
from inspector.opening.variants import folders_of_parts, is_of_part, variants
from inspector.sources import Place
from inspector.sources.filenames import (
    COLLECTED,
    COLLECTIVE,
    INDEX,
    OTHERS,
    PICKLE,
    PICKLED,
    PICKLED_INDEX,
    WEIGHTS,
    Shard,
    rank_of,
    shard_of,
)
from inspector.tabular import NamedTuple
from inspector.units import escape, first_few, integer, plural

#: Kind of file and the patterns of its names; the first that matches counts. `*` is any text, all else is literal.
KINDS: tuple[tuple[str, str], ...] = (
    ("index", "*.index.json .metadata"),
    ("code", "*.py"),
    ("tokenizer", "tokenizer* vocab* merges.txt special_tokens_map.json added_tokens.json *.tiktoken *tekken*.json"),
    ("tokenizer", "spiece.model *.spm chat_template*"),
    ("config", "scheduler_config.json model_index.json"),
    ("state", "optimizer* scheduler* rng_state* trainer_state.json training_args.bin *_states.pt *.distcp latest"),
    ("state", "latest_* random_states*.pkl custom_checkpoint_*.pkl sampler*.bin dl_state* scaler.pt"),
    ("log", "events.out.tfevents* *.log"),
    ("draft", "medusa_lm_head*"),
    ("pickle", "*.bin *.pt *.pth *.pth.tar *.pt2 *.ckpt *.pkl"),
    ("other framework", "*.h5 *.hdf5 *.keras *.npz *.msgpack *.ot *.onnx* *.tflite *.mlmodel"),
    ("config", "*config*.json params.json modules.json"),
    ("document", "*.md license* notice* *.txt *.pdf *.png *.jpg"),
)
#: The same for weight files that were not selected.
WEIGHT_KINDS: tuple[tuple[str, str], ...] = (
    ("projector", "*mmproj*"),
    ("importance matrix", "*imatrix*"),
    ("adapter", "adapter_model* *lora*"),
    ("state", "optimizer*"),
    ("draft", "*draft* *eagle* *medusa* *speculator*"),
    ("prediction head", "mtp* " + " ".join(f"*{before}mtp{after}*" for before in "-_." for after in "-_.")),
    ("duplicate", "*"),
)
#: Folder → kind of the weight files in it, whatever their names.
FOLDERS: Mapping[str, str] = {
    **dict.fromkeys(("draft", "eagle", "medusa", "assistant", "speculator"), "draft"),
    "mtp": "prediction head",
}

#: All suffixes of weight files.
_ALL = (*WEIGHTS, *PICKLED, PICKLE, *OTHERS)
#: Folders of a training run's steps.
STEP = r"(?i)(?:checkpoint|step|epoch|iter|global_step)[-_]?(\d{1,12})"
#: The most shards of one set; the largest published sets have some hundreds.
MOST_SHARDS = 10_000


class Selection(NamedTuple):
    """The weight files to read, and how they were found."""

    paths: tuple[str, ...]
    folder: str = ""  # of the weights within the place, "" or ending in "/"
    index: Index | None = None  # type: ignore[assignment]  # shadows `tuple.index`, which nobody calls
    findings: tuple[Finding, ...] = ()
    collected: str | None = None  # the `.metadata` that describes the files' contents


def select(place: Place, include: str | None = None, *, alone: bool = False) -> Selection:
    """The weight files of the checkpoint that the place holds. A shard selects its whole set, unless `alone`.

    Raises:
        TargetError: there are none, or which are meant is ambiguous.
        FormatError: an index file that cannot be read.
    """
    if place.selected is not None:
        if place.selected.endswith(".index.json"):
            return by_index(place, place.selected, required=True)
        shard = shard_of(place.selected)
        if shard and not alone and (whole := _set_of(place, shard)):
            return whole
        if not alone and (together := _of_ranks(place, place.selected)):
            return together
        return Selection((place.selected,), findings=_lone_shard(place.selected, shard))
    weights = sorted(path for path in place.files if path.endswith(WEIGHTS))
    if include is not None:
        weights = [path for path in weights or _pickles(place) if fnmatchcase(path, include)]
        weights = weights or [path for path in _pickles(place) if fnmatchcase(path, include)]
        if not weights:
            raise TargetError(f"no weight file in {escape(place.name)} matches {escape(include)!r}")
    weights = _with_pickled_parts(place, weights) or _pickles(place) or _states_of_ranks(place)
    if include is None:
        weights = _of_parts(place, weights)
    if not weights and (collected := _of_collective(place)):
        return collected
    weights = weights or sorted(path for path in place.files if path.endswith(OTHERS))
    if not weights:
        raise _nothing(place)
    folder, elsewhere, main = _folder_of(place, weights)
    selection = _of_ranks(place, main) if "mp_rank_" in main else None
    selection = selection or _in_folder(place, weights, folder, use_index=include is None)
    return selection._replace(findings=(*selection.findings, *elsewhere))


def _of_parts(place: Place, weights: list[str]) -> list[str]:
    """Those in the folders of a pipeline's parts, if there are any: a single file beside them is another checkpoint."""
    parts = folders_of_parts(place)
    return weights if "" in parts else [path for path in weights if path[: path.rfind("/") + 1] in parts] or weights


def _set_of(place: Place, shard: Shard) -> Selection | None:
    """The shard's set, by its index or by file names; None if the place has no listing of other files."""
    index = shard.stem + INDEX
    if index in place.files:
        return by_index(place, index, required=True)
    start = shard.start(place.files)
    numbers = range(start, start + min(shard.total, MOST_SHARDS))
    paths = tuple(path for number in numbers if (path := shard.sibling(number)) in place.files)
    if len(place.files) == 1 and len(paths) < shard.total:
        return None  # a URL, or a repository's file: nothing was listed
    return Selection(paths, findings=absent_shards(paths))


def _of_ranks(place: Place, path: str) -> Selection | None:
    """The set of ranks' files that contains the named one; None if it is not part of such a set."""
    folder, _, name = path.rpartition("/")
    if name == COLLECTIVE or path.endswith(COLLECTED):
        return _of_collective(place, folder)
    rank = rank_of(path)
    paths = tuple(sorted(each for each in place.files if rank and (other := rank_of(each)) and other.set == rank.set))
    return Selection(paths, findings=_absent_ranks(paths)) if len(paths) > 1 else None


def _absent_ranks(paths: Sequence[str]) -> tuple[Finding, ...]:
    """Ranks whose absence the rest of the set reveals."""
    numbers = {rank.number for path in paths if (rank := rank_of(path))}
    replicas = {rank.replica for path in paths if (rank := rank_of(path)) and rank.replica is not None}
    found = []
    for there in (numbers, replicas):
        missing = sorted(set(range(max(there, default=0))) - there)
        if missing:
            what = f"{plural(len(missing), 'rank')} before the last one missing: {first_few(missing)}"
            found.append(Finding("missing-shard", "error", what, paths[0]))
    return tuple(found)


def _of_collective(place: Place, folder: str | None = None) -> Selection | None:
    """The files of torch.distributed.checkpoint: in this folder, or in the subfolder that holds the model."""
    found = sorted(path for path in place.files if path.rpartition("/")[2] == COLLECTIVE)
    if folder is not None:
        found = [path for path in found if path.rpartition("/")[0] == folder]
    if not found:
        return None
    main = min(found, key=lambda path: ("optim" in path, "model" not in path, path))
    return _by_collective(place, main, [path for path in found if path != main])


def _by_collective(place: Place, metadata: str, others: list[str]) -> Selection:
    folder = metadata.rpartition("/")[0]
    folder = folder + "/" if folder else ""
    paths = tuple(sorted(path for path in place.files if path.startswith(folder) and path.endswith(COLLECTED)))
    return Selection(paths, folder, None, _not_counted(others, metadata), metadata)


def _states_of_ranks(place: Place) -> list[str]:
    """DeepSpeed's files from the last saved step, whose weights are among a training run's state."""
    paths = [path for path in place.files if path.endswith("_states.pt") and rank_of(path)]
    if not paths:
        return []
    latest = max({path.rpartition("/")[0] for path in paths}, key=_step)
    return sorted(path for path in paths if path.rpartition("/")[0] == latest)


def _step(folder: str) -> tuple[int, str]:
    number = re.search(r"(\d{1,12})\D*$", folder)
    return int(number[1]) if number else -1, folder


def _in_folder(place: Place, weights: list[str], folder: str, *, use_index: bool) -> Selection:
    here = [path for path in weights if path.startswith(folder) and "/" not in path[len(folder) :]]
    pickled = bool(here) and here[0].endswith(PICKLED)
    index = _index_path(place, folder, PICKLED_INDEX if pickled else INDEX) if use_index else None
    if index is not None:
        selection = by_index(place, index, required=False)
        single = folder + "model.safetensors"
        if single in here and index == folder + "model" + INDEX and selection.paths and single not in selection.paths:
            # Transformers uses it, and ignores any index: modeling_utils, `_get_resolved_checkpoint_files`.
            others = [path for path in here if path != single]
            return Selection((single,), folder, None, _not_counted(others, single))
        if selection.paths:
            return _with_strangers(selection, here)
        findings = [finding for finding in selection.findings if finding.rule != "missing-shard"]
        return _despite_index(index, _without_index(place, here, folder), findings)
    return _without_index(place, here, folder)


def _pickles(place: Place) -> list[str]:
    """PyTorch's own files, without a training run's state; those named as any pickle if there are no others."""
    own = sorted(path for path in place.files if path.endswith(PICKLED) and kind_of(path) == "pickle")
    if own:
        from inspector.formats import foreign  # safetensors and GGUF need it not

        own = [path for path in own if foreign.foreign_of(path, b"", place.files) is None]
    return own or [path for path in sorted(place.files) if path.endswith(PICKLE) and _is_torch(place, path)]


def _is_torch(place: Place, path: str) -> bool:
    from inspector.formats.pytorch import legacy  # only for files whose name does not say

    try:
        with closing(place.open(path)) as source:
            return kind_of(path) != "state" and legacy.begins(source.read(0, min(source.size, 64)))
    except InspectorError:
        return False


def _with_pickled_parts(place: Place, weights: list[str]) -> list[str]:
    """Weight files, and of parts that have none PyTorch's own: diffusers may write the two formats in one pipeline."""
    pickled = [path for path in place.files if is_of_part(path)] if weights else []
    if not pickled:
        return weights
    without = folders_of_parts(place) - {path[: path.rfind("/") + 1] for path in weights}
    return sorted((*weights, *(path for path in pickled if path[: path.rfind("/") + 1] in without)))


def _lone_shard(path: str, shard: Shard | None) -> tuple[Finding, ...]:
    if not shard or shard.total <= 1:
        return ()
    message = f"one shard of {integer(shard.total)}: give its folder for the whole checkpoint"
    return (Finding("lone-shard", "info", message, path),)


def _nothing(place: Place) -> TargetError:
    where = escape(place.name)
    kinds = {other.kind: other for other in classify(place.files, ())}
    if state := kinds.get("state"):
        return TargetError(f"{where} has no weights, only {plural(state.files, 'file')} of a training run's state")
    from inspector.formats import foreign  # only where there is nothing to read

    for path in sorted(place.files):
        if known := foreign.foreign_of(path, b"", place.files):
            what = f"in the format {known.name} alone, which is not read: {escape(path, 200)}"
            return TargetError(f"{where} has weights {what}")
    if config := next((name for name in ("config.json", "params.json") if name in place.files), None):
        origin = place.origin()
        typed = escape(origin.location) if origin.kind == "local" else "CONFIG"
        what = f"what that says should be there: `inspect predict {typed}`"
        return TargetError(f"{where} has no weights beside its {config}; {what}", config)
    read = ", ".join((*WEIGHTS, *PICKLED, *OTHERS))
    here = models_here() if place.origin().kind == "local" else ""
    return TargetError(f"{where} has no weights among its {plural(len(place.files), 'file')}; read are {read}{here}")


def models_here() -> str:
    """Where programs keep models on this machine, with the command, for messages."""
    from shlex import quote  # these only where there is nothing to read

    from inspector.sources import hub_cache, ollama

    try:
        homes = {
            "the Hub's cache": [str(hub_cache.folder())],
            "Ollama": list(map(str, ollama.candidates())),
            "LM Studio": list(map(os.path.expanduser, ("~/.lmstudio/models", "~/.cache/lm-studio/models"))),
        }
    except RuntimeError:  # a user without a home
        return ""
    found = ((owner, each) for owner, paths in homes.items() for each in paths if os.path.isdir(each))  # noqa: PTH112  no error where the folder above is not readable
    here = [f"`inspect {quote(escape(each))}` ({owner})" for owner, each in found]
    if here:
        return f". Models on this machine: {', '.join(here)}"
    usual = ", ".join(f"{escape(paths[0])} ({owner})" for owner, paths in homes.items())
    return f". Models usually lie in {usual}; `inspect FOLDER` lists them"


def _folder_of(place: Place, weights: list[str]) -> tuple[str, tuple[Finding, ...], str]:
    """The folder to read, the place itself or the main one of its subfolders with weights, and a file of the latter.

    Megatron's ranks have a folder each, side by side.
    """
    if any("/" not in path for path in weights):
        return "", (), ""
    main = variants({path: place.files[path] for path in _of_last_step(weights)}, _ALL)[0]
    folder = main.paths[0].rpartition("/")[0] + "/"
    others = [path for path in weights if not path.startswith(folder) and path not in main.paths]
    return folder, _not_counted(others, main.paths[0]), main.paths[0]


def _of_last_step(weights: list[str]) -> list[str]:
    """The weights of a training run's last step, if all are of steps; else all."""
    steps = {path: re.fullmatch(STEP, path.rpartition("/")[0].rpartition("/")[2]) for path in weights}
    last = max((int(found[1]) for found in steps.values() if found), default=0)
    return (
        [path for path, found in steps.items() if found and int(found[1]) == last] if all(steps.values()) else weights
    )


# --- index ------------------------------------------------------------------------------------


def _index_path(place: Place, folder: str, end: str) -> str | None:
    found = sorted(p for p in place.files if p.startswith(folder) and "/" not in p[len(folder) :] and p.endswith(end))
    usual = folder + ("model" if end == INDEX else "pytorch_model") + end
    return usual if usual in found else found[0] if found else None


def by_index(place: Place, path: str, *, required: bool) -> Selection:
    """The existing files that an index names.

    Raises:
        FormatError: it is not an index.
        SourceError: it cannot be read.
        TargetError: `required`, and none of the files exists.
    """
    from inspector.opening.index import read_index  # only where there is an index

    findings = Findings(path)
    index = read_index(place, path, findings)
    folder = path.rpartition("/")[0]
    folder = folder + "/" if folder else ""
    paths: list[str] = []
    for name, tensors in sorted(Counter(index.weight_map.values()).items()):
        full = folder + name
        if _leaves(name):
            findings.add("index-path", "error", f"the index names {name!r:.120}, outside the folder: not read")
        elif full in place.files:
            paths.append(full)
        else:
            what = f"the index puts {plural(tensors, 'tensor')} in {name!r:.120}, which does not exist"
            findings.add("missing-shard", "error", what)
    if required and not paths:
        raise TargetError(
            f"{escape(path)}: none of the {len(set(index.weight_map.values()))} files that it names can be read here"
        )
    return Selection(tuple(paths), folder, index, findings.all())


def _leaves(name: str) -> bool:
    parts = name.replace("\\", "/").split("/")
    return name.startswith(("/", "\\", "~")) or ".." in parts or ":" in name or "\0" in name


def _despite_index(index: str, selection: Selection, others: list[Finding]) -> Selection:
    """The files by their names, and a finding about an index that names none of them.

    Loaders that find `model.safetensors` ignore the index; the others use it, and fail.
    """
    single = any(path.rsplit("/", 1)[-1] == "model.safetensors" for path in selection.paths)
    finding = Finding(
        "stale-index", "warning" if single else "error", "none of the files that it names exists here", index
    )
    return selection._replace(findings=(finding, *others, *selection.findings))


def _with_strangers(selection: Selection, here: list[str]) -> Selection:
    """The index's files, and a finding about weight files that it does not name."""
    indexed = frozenset(selection.paths)
    strangers = [path for path in here if path not in indexed]
    if not strangers:
        return selection
    assert selection.index is not None
    what = f"{plural(len(strangers), 'weight file')} not in the index, not counted: {', '.join(strangers[:4]):.200}"
    finding = Finding("unindexed-file", "info", what, selection.index.path)
    return Selection(selection.paths, selection.folder, selection.index, (*selection.findings, finding))


# --- no index ---------------------------------------------------------------------------------


def _without_index(place: Place, here: list[str], folder: str) -> Selection:
    found = variants({path: place.files[path] for path in here}, _ALL)
    if _are_parts(found, folder):
        return Selection(tuple(here), folder)
    main = found[0]
    own = frozenset(main.paths)
    others = [path for path in here if path not in own]
    missing = (*absent_shards(main.paths), *_absent_ranks(main.paths))
    return Selection(main.paths, folder, None, (*missing, *_not_counted(others, main.paths[0])))


def _are_parts(found: tuple[Variant, ...], folder: str) -> bool:
    """Whether unnumbered files form one checkpoint: not if one has a standard name, or is a second copy of another."""
    return (
        all(v.format == "safetensors" and v.paths == (f"{v.name}.safetensors",) for v in found)
        and all(v.name != folder + "model" for v in found)
        and len({v.model for v in found}) == len(found)
        and not any(shard_of(v.paths[0]) for v in found)
    )


def absent_shards(paths: tuple[str, ...]) -> tuple[Finding, ...]:
    shards = [shard for path in paths if (shard := shard_of(path))]
    if not shards:
        return ()
    numbers, total = {shard.number for shard in shards}, shards[0].total
    start = 0 if 0 in numbers else 1
    absent = sorted(set(range(start, min(total, 100_000) + start)) - numbers)
    if not absent:
        return ()
    what = f"{plural(len(absent), 'shard')} of {total} missing: {first_few(absent)}"
    return (Finding("missing-shard", "error", what, paths[0]),)


def _not_counted(others: list[str], main: str) -> tuple[Finding, ...]:
    if not others:
        return ()
    what = f"{plural(len(others), 'further weight file')} next to it, not counted: {', '.join(others[:4]):.200}"
    return (Finding("several-checkpoints", "info", what + "; name one to inspect it", main),)


# --- other files ------------------------------------------------------------------------------


def classify(
    files: Mapping[str, int], weights: Iterable[str], known: Mapping[str, str] | None = None
) -> tuple[OtherFiles, ...]:
    """The other files by kind, the largest first; `known` gives the kind of some paths."""
    selected, known = set(weights), known or {}
    totals: dict[str, list[int]] = {}
    for path, size in files.items():
        if path not in selected:
            totals.setdefault(known.get(path) or kind_of(path), []).append(size)
    kinds = [OtherFiles(kind, len(sizes), sum(sizes)) for kind, sizes in totals.items()]
    return tuple(sorted(kinds, key=lambda other: (-other.size, other.kind)))


@lru_cache(maxsize=1 << 16)
def kind_of(path: str) -> str:
    """What a file is by its name: "config", "tokenizer", "duplicate" for weights beside those that are read, …"""
    *folders, name = path.lower().split("/")
    if name.endswith(WEIGHTS):
        inside = next((FOLDERS[folder] for folder in folders if folder in FOLDERS), None)
        if inside is not None:
            return inside
    for first, last, between, kind in _fitting(name[:1], name.rpartition(".")[2], name.endswith(WEIGHTS)):
        if name.endswith(last) and name.startswith(first) and _follow(name, first, last, between):
            return kind
    return "other"


@lru_cache(maxsize=1 << 10)
def _fitting(letter: str, ending: str, weights: bool) -> Sequence[_Pattern]:
    """The patterns in order that a name with this first letter and ending may fit: a folder may have many files."""
    return [
        each
        for each in (_WEIGHT_KINDS if weights else _KINDS)
        if each[0][:1] in ("", letter) and ("." not in each[1] or each[1].rpartition(".")[2] == ending)
    ]


def _follow(name: str, first: str, last: str, between: Sequence[str] | None) -> bool:
    """Whether the pieces occur in order in a name that begins with the first and ends with the last."""
    if between is None:
        return name == first
    at, end = len(first), len(name) - len(last)
    for piece in between:
        found = name.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return at <= end


def _cut(pattern: str, kind: str) -> _Pattern:
    """A pattern in pieces. Compiling regular expressions for all of them would take longer than listing a folder."""
    first, *between = pattern.split("*")
    last = between.pop() if between else None
    return (first, "", None, kind) if last is None else (first, last, between, kind)


#: A name's prefix, its suffix, the pieces between, or None for a whole name; the kind of such a file.
_Pattern = tuple[str, str, Sequence[str] | None, str]
_KINDS, _WEIGHT_KINDS = (
    [_cut(pattern, kind) for kind, patterns in table for pattern in patterns.split()] for table in (KINDS, WEIGHT_KINDS)
)
