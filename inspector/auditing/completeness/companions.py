"""Are all companion files that loaders need present, and all shards and parts of a set?

The files that Transformers, PEFT and llama.cpp look for, according to their source: tokenization_utils_base and
modeling_utils of Transformers, config of PEFT, and llama-model-loader.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from inspector.auditing import data
from inspector.auditing.rule import Found, rule
from inspector.auditing.subject import Subject, is_readable
from inspector.opening.configs import ADAPTER_FILE
from inspector.sources.filenames import INDEX, WEIGHTS, shard_of
from inspector.sources.listing import Entry
from inspector.units import integer, plural

_NAMES = data.names("companions")


@rule("missing-merges", "whole", "error")
def missing_merges(subject: Subject) -> Iterator[Found]:
    """Half a tokenizer: a vocabulary without merges, or merges without a vocabulary.

    GPT-2's tokenizer and its relatives need both vocab.json and merges.txt, unless there is a tokenizer.json:
    Transformers refuses to load one without the other. Download the missing file.
    """
    for entry in subject.named("vocab.json", "merges.txt"):
        names = subject.names_beside(entry)
        if "tokenizer.json" in names or entry.name not in ("vocab.json", "merges.txt"):
            continue
        other = "merges.txt" if entry.name == "vocab.json" else "vocab.json"
        if other not in names and _needs_both(subject, entry.folder) and not names & _OTHER_MERGES:
            yield Found(f"no {other} beside it, which the tokenizer needs: download it", entry.path)


_OTHER_MERGES = frozenset({"bpe.codes", "vocab-src.json", "vocab.bpe"})
#: Prefixes of the names of tokenizers like GPT-2's, and of the models that use them.
_BYTE_PAIRS = re.compile(_NAMES["byte_pairs"], re.IGNORECASE)


def _needs_both(subject: Subject, folder: str) -> bool:
    kind = subject.document(folder + "tokenizer_config.json").get("tokenizer_class")
    kind = kind or subject.document(folder + "config.json").get("model_type")
    return isinstance(kind, str) and _BYTE_PAIRS.match(kind) is not None


@rule("no-vocabulary", "whole", "error")
def no_vocabulary(subject: Subject) -> Iterator[Found]:
    """A tokenizer's configuration without its vocabulary.

    Transformers creates a tokenizer with an empty vocabulary, or fails. Download the vocabulary: tokenizer.json,
    tokenizer.model, vocab.json or the file that this model uses.
    """
    for entry in subject.named("tokenizer_config.json"):
        if entry.name != "tokenizer_config.json" or entry.kind != "file":
            continue
        names = subject.names_beside(entry)
        own = subject.document(entry.path)
        kind = own.get("tokenizer_class")
        if own.get("auto_map") or any(VOCABULARY.search(name) for name in names - NO_VOCABULARY):
            continue
        if isinstance(kind, str) and not _OF_BYTES.match(kind):
            yield Found(f"{kind:.60} has no vocabulary beside it: download it", entry.path)


NO_VOCABULARY = frozenset({"tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"})
#: Files in which some tokenizer stores its vocabulary.
VOCABULARY = re.compile(_NAMES["vocabulary"])
#: Tokenizers of bytes and characters, which have no vocabulary.
_OF_BYTES = re.compile(r"(ByT5|Canine|Perceiver|Mgpstr|Myt5|Char|Byte|Tapex|Dia|Evo|Hyena|Dna)", re.IGNORECASE)


@rule("no-adapter-config", "whole", "error")
def no_adapter_config(subject: Subject) -> Iterator[Found]:
    """An adapter whose configuration is missing or has another name.

    PEFT builds an adapter from adapter_config.json, and fails without it. If it is named config.json, programs mistake
    it for a model's configuration. Download it, or rename it.
    """
    for entry in subject.named("adapter_model.safetensors", "adapter_model.bin"):
        if entry.folder + ADAPTER_FILE not in subject.by_path and not subject.alone:
            header = next((each for each in subject.all_headers if each.path == entry.path), None)
            own = header.metadata if header else {}  # Diffusers' adapters contain their configuration
            if not any("adapter" in key or "lora" in key or key == "format_version" for key in own):
                yield Found(f"no {ADAPTER_FILE} beside it: download it", entry.path)
    for entry in subject.named("config.json"):
        if entry.name == "config.json":
            own = subject.document(entry.path)
            if isinstance(own.get("peft_type"), str) and "model_type" not in own:
                yield Found(f"an adapter's configuration: rename it to {ADAPTER_FILE}", entry.path)


@rule("missing-component", "whole", "error")
def missing_component(subject: Subject) -> Iterator[Found]:
    """A component that a pipeline's index names is missing.

    model_index.json gives each component a folder; modules.json does so for those with a configuration of their own.
    Loading the pipeline fails: download the component. A component whose class has weights needs those too.
    """
    for entry in subject.named("model_index.json"):
        for name, value in subject.document(entry.path).items():
            match value:
                case [str(), str(kind)]:
                    yield from _absent_component(subject, entry.path, entry.folder + name, kind)
    for entry in subject.named("modules.json"):
        for path, kind in _sentence_modules(subject.json(entry.path, MAX_MODULES)):
            if (
                kind in _CONFIGURED
                and path
                and not any(
                    name.endswith("config.json")  # some classes name it after themselves: `cnn_config.json`
                    for name in subject.names_in(f"{entry.folder}{path}")
                )
            ):
                yield Found(f"{kind} has no {path}/config.json: download it", entry.path)


#: sentence-transformers' modules with a configuration in their folder. Others have none, and no folder on the Hub.
_CONFIGURED = ("Pooling", "Dense", "CNN", "LSTM", "WeightedLayerPooling", "LayerNorm", "WordWeights")
#: Suffixes of the names of classes without weights.
_WEIGHTLESS = re.compile(r"(Tokenizer(Fast)?|TokenizersBackend|(Processor|Extractor)(Fast|Pil)?|Scheduler|Sampler)$")
MAX_MODULES = 1 << 20


def _absent_component(subject: Subject, index: str, folder: str, kind: str) -> Iterator[Found]:
    here = subject.names_in(folder)
    if not here:
        yield Found(f"{kind} has no folder {folder:.80}: download it", index)
    elif "config.json" in here and not _WEIGHTLESS.search(kind) and not any(name.endswith(_ANY_END) for name in here):
        yield Found(f"{kind} has no weights in {folder:.80}: download them", index)


#: Suffixes of weights in any format.
_ANY_END = (*WEIGHTS, ".bin", ".msgpack", ".h5", ".onnx", ".pt", ".pth", ".xml", ".pb", ".incomplete", ".index.json")


def _sentence_modules(found: Any) -> Iterator[tuple[str, str]]:
    """(folder, class) of each sentence-transformers module."""
    for each in found if isinstance(found, list) else ():
        match each:
            case {"path": str(path), "type": str(kind)}:
                yield path.strip("/"), kind.rpartition(".")[2]


@rule("pipeline-index", "whole", "error")
def pipeline_index(subject: Subject) -> Iterator[Found]:
    """A Diffusers pipeline without its index, or an index with an entry that is not a component.

    model_index.json gives the class of each folder. Diffusers fails if the index is missing, if an entry is not
    `[library, class]`, or if a component lacks the configuration from which its class is built.
    """
    for entry in subject.named("model_index.json"):
        own = subject.document(entry.path) if entry.name == "model_index.json" else {}
        if own and not isinstance(own.get("_class_name"), str):
            yield Found("no _class_name, which names the pipeline's class", entry.path)
        for name, value in own.items():
            if name.startswith("_") or not isinstance(value, list | type(None)):
                continue
            yield from _wrong_part(subject, entry, name, value)
    folders = {entry.folder.rstrip("/") for entry in subject.entries}
    folders |= {name for name in _PARTS if subject.names_in(name)}  # those that are separate models
    if subject.root is not None and not subject.alone and {"scheduler"} < folders & {*_PARTS}:
        names = {entry.name for entry in subject.entries if not entry.folder}
        if not names & {"model_index.json", "config.json", "modular_model_index.json"}:
            yield Found(f"a pipeline's components {', '.join(sorted(folders & {*_PARTS}))}, but no model_index.json")


#: Folders found only in Diffusers pipelines, with their contents.
_PARTS = ("unet", "transformer", "vae", "text_encoder", "scheduler", "prior", "controlnet", "vqvae", "movq")
#: Class of a component → the file from which it is built.
_MADE_FROM = [(re.compile(kind), tuple(files)) for kind, files in _NAMES["made_from"]]
#: The libraries that Diffusers takes components from, by their exact names.
_LIBRARIES = ("diffusers", "transformers")


def _wrong_part(subject: Subject, entry: Entry, name: str, value: Any) -> Iterator[Found]:
    match value:
        case [None, _]:  # Diffusers checks only the library
            return
        case [str(library), _] if library.lower() in _LIBRARIES and library not in _LIBRARIES:
            yield Found(f"{name:.60} is from {library!r:.40}, which Diffusers does not know", entry.path)
        case [str(), str(kind)]:
            here = subject.names_in(entry.folder + name)
            needed = next(files for pattern, files in _MADE_FROM if pattern.fullmatch(kind))
            if here and not here & {*needed}:
                yield Found(f"{kind} in {name:.60} has no {needed[0]}: download it", entry.path)
        case _:
            what = "null" if value is None else f"{str(value)[:60]}"
            yield Found(f"{name:.60} is {what}, but should name a library and a class", entry.path)


# --- shards and parts --------------------------------------------------------------------------------

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
