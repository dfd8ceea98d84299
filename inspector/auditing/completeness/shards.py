"""Are a set's shards and parts all there, under the right numbers, with the index that loaders find them by?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from inspector.auditing import data
from inspector.auditing.rule import Found, rule
from inspector.auditing.subject import Subject, is_readable
from inspector.sources.filenames import INDEX, WEIGHTS, shard_of
from inspector.units import integer, plural

_OF_SHARDS = data.names("shards")


@rule("extra-shard", "whole", "warning")
def extra_shard(subject: Subject) -> Iterator[Found]:
    """A shard whose number exceeds its set's total.

    Files of two sets were mixed, or one was renamed: `model-00003-of-00002.safetensors`. Transformers goes by the index
    and ignores it.
    """
    for stem, total, numbers in _sets_of_shards(subject):
        start = 0 if 0 in numbers else 1
        for number, path in numbers.items():
            if number >= total + start:
                yield Found(f"shard {integer(number)} of a set of {integer(total)}, {stem or 'unnamed'}", path)


@rule("stale-shards", "whole", "warning")
def stale_shards(subject: Subject) -> Iterator[Found]:
    """A second set of shards beside the one in use.

    A model was saved again, with other shards, into the same folder. The old set is not loaded, doubles the disk
    space, and a loader that goes by file names instead of the index loads a mixture. Delete the stale set.
    """
    live = {header.path for header in subject.headers}
    sets = list(_sets_of_shards(subject))
    for stem, total, numbers in sets:
        paths = list(numbers.values())
        rivals = [other for other in sets if other[0] == stem and other[1] != total]
        rivalled = any(live & set(other[2].values()) for other in rivals)
        single = stem + paths[0][paths[0].rfind(".") :] in live
        if not live & set(paths) and (rivalled or single):
            what = f"{plural(len(paths), 'shard')} of a set of {integer(total)} beside the set in use: delete them"
            yield Found(what, paths[0])


def _sets_of_shards(subject: Subject) -> Iterator[tuple[str, int, dict[int, str]]]:
    """Shards grouped by the common part of their names: path before the number, total, number → path."""
    sets: defaultdict[tuple[str, int, str], dict[int, str]] = defaultdict(dict)
    for path in sorted(entry.path for entry in subject.entries if entry.path.endswith(WEIGHTS)):
        if shard := shard_of(path):
            sets[shard.stem, shard.total, shard.suffix][shard.number] = path
    for (stem, total, _), numbers in sets.items():
        yield stem, total, numbers


@rule("index-mismatch", "whole", "error")
def index_mismatch(subject: Subject) -> Iterator[Found]:
    """The index assigns a tensor to a file that does not have it.

    The index belongs to another version of the shards, or a shard to another model: loading fails, or leaves the tensor
    random. Only a warning if another shard of the set has it: loaders that read whole shards find it.
    """
    index = subject.index
    if index is None:
        return
    stored = {
        header.path.rsplit("/", 1)[-1]: {tensor.name for tensor in header.tensors}
        for header in subject.headers
        if is_readable(header)
    }
    wrong = [(name, file) for name, file in index.weight_map.items() if file in stored and name not in stored[file]]
    if wrong:
        name, file = wrong[0]
        what = f"{plural(len(wrong), 'tensor')} missing from the file that the index names, first from {file}"
        everywhere = set[str]().union(*stored.values())
        elsewhere = all(name in everywhere for name, _ in wrong)
        yield Found(what, index.path, name, "warning" if elsewhere else None)


@rule("unindexed-tensors", "whole", "warning")
def unindexed_tensors(subject: Subject) -> Iterator[Found]:
    """Tensors that are in a shard but not in the index.

    Some loaders use them, others do not, so the model differs between programs. Write the index again.
    """
    index = subject.index
    for header in subject.headers if index else ():
        assert index is not None
        extra = [tensor.name for tensor in header.tensors if tensor.name not in index.weight_map]
        if extra:
            yield Found(f"{plural(len(extra), 'tensor')} not listed in the index", header.path, extra[0])


@rule("second-index", "whole", "info")
def second_index(subject: Subject) -> Iterator[Found]:
    """More than one safetensors index in a folder.

    Only one is used. Delete a leftover; a variant (`model.fp16`) may be intended.
    """
    index = subject.index
    if index is None:
        return
    here = index.path.rpartition("/")[0]
    for entry in subject.named(".safetensors.index.json"):
        if entry.path != index.path and entry.path.rpartition("/")[0] == here:
            yield Found(f"a second index beside {index.path}", entry.path)


@rule("split-name", "whole", "error")
def split_name(subject: Subject) -> Iterator[Found]:
    """A part of a split GGUF has a different number in its name than in its header.

    `split.no` counts from 0, names from 1. llama.cpp finds the parts by their names and then refuses the
    set. A file was renamed, or replaced by another: download the parts again.
    """
    for header in subject.all_headers:
        number = header.metadata.get("split.no") if header.format == "gguf" else None
        shard = shard_of(header.path)
        if shard and number is None and "split.count" in header.metadata:
            yield Found("no split.no, which llama.cpp needs in each part", header.path)
        if shard and isinstance(number, int) and shard.number != number + 1:
            yield Found(f"split.no is {number}, counted from 0, but the name says {shard.number}", header.path)


#: Stems of sharded weights → the index by which Transformers, Diffusers and Accelerate find the shards.
_INDEXED = _OF_SHARDS["indexed"]


@rule("no-index", "whole", "error")
def no_index(subject: Subject) -> Iterator[Found]:
    """Shards without the index that maps each tensor to its shard.

    Transformers and Diffusers find the shards only by the index, and do not load the model without it. Download it.
    llama.cpp and vLLM need none: only a warning if no configuration shows that this is a Transformers or Diffusers
    model.
    """
    shards: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for entry in subject.entries:
        shard = shard_of(entry.path)
        if shard and shard.total > 1 and shard.suffix in (".safetensors", ".bin"):
            shards[shard.stem, shard.suffix].append(entry.path)
    for (stem, suffix), paths in shards.items():
        folder, slash, name = stem.rpartition("/")
        own, _, variant = name.partition(".")
        if own not in _INDEXED or (suffix == ".bin") != (own == "pytorch_model"):
            continue
        # The variant's name precedes or follows the format's: `model.safetensors.index.fp16.json`.
        usual = folder + slash + _INDEXED[own]
        named = {usual, f"{stem}{suffix}.index.json", usual.replace("index.json", f"index.{variant}.json")}
        if named.isdisjoint(subject.by_path) and folder + slash + own + suffix not in subject.by_path:
            loaded = "config.json" in subject.names_in(folder) if folder else "config.json" in subject.by_path
            what = f"{plural(len(paths), 'shard')} but no {_INDEXED[own]}: download it"
            yield Found(what, paths[0], severity="error" if loaded else "warning")


@rule("shadowed-shards", "whole", "warning")
def shadowed_shards(subject: Subject) -> Iterator[Found]:
    """A single file is loaded in place of the shards beside it.

    Transformers loads `model.safetensors` if it exists, and looks for an index and its shards only otherwise. Either
    the file or the shards are left over: delete them.
    """
    for entry in subject.named("model" + INDEX):
        single = entry.folder + "model.safetensors"
        shards = [
            path for path in subject.by_path if path.startswith(entry.folder) and _is_shard_of(path, entry.folder)
        ]
        if entry.name == "model" + INDEX and single in subject.by_path and shards:
            yield Found(f"loaded in place of {plural(len(shards), 'shard')} and their index", single)


def _is_shard_of(path: str, folder: str) -> bool:
    shard = shard_of(path)
    return shard is not None and shard.total > 1 and shard.stem == folder + "model" and shard.suffix == ".safetensors"


@rule("lone-part", "whole", "error")
def lone_part(subject: Subject) -> Iterator[Found]:
    """A part of a split GGUF has a name that does not show it.

    llama.cpp finds the other parts by the name of the first, `…-00001-of-00003.gguf`, and refuses any other name.
    Restore the parts' original names, or download them again.
    """
    for header in subject.all_headers:
        count = header.metadata.get("split.count") if header.format == "gguf" else None
        if isinstance(count, int) and count > 1 and shard_of(header.path) is None:
            yield Found(f"one of {integer(count)} parts, but its name does not say which", header.path)
