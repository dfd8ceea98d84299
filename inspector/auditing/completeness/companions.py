"""Are the files there that loaders look for, under their names, with their companions, all shards and parts of a set?

The names are those of Transformers, PEFT and llama.cpp, according to their source: tokenization_utils_base and
modeling_utils of Transformers, config of PEFT, and llama-model-loader.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from inspector.auditing import data
from inspector.auditing.completeness.downloads import CONTROL, PARTIAL
from inspector.auditing.loading.accepted_values import documents, is_of_transformers
from inspector.auditing.rule import Found, rule
from inspector.auditing.subject import Subject, is_readable
from inspector.model import Severity
from inspector.opening import configs
from inspector.opening.configs import ADAPTER_FILE
from inspector.opening.selection import kind_of
from inspector.sources.filenames import INDEX, WEIGHTS, shard_of
from inspector.sources.listing import Entry
from inspector.units import integer, plural

_OF_WEIGHTS = data.names("weights")

#: Stems of the file names under which libraries look for weights.
_STEMS = r"(?:model|pytorch_model|diffusion_pytorch_model|adapter_model)"
#: A name that loaders find: the weights, a variant of them, a shard, an index.
_FOUND = re.compile(rf"{_STEMS}(?:\.[\w-]+)?(?:-\d+-of-\d+)?\.(?:safetensors|bin)(?:\.index(?:\.[\w-]+)?\.json)?")
#: Additions to a file's name for copies, backups and unfinished downloads.
_BEFORE = r"(?:(?:tmp|temp|old|new|backup|copy of|copy|~|\.|_)[-_ ]?(?:\w{4,12}_)?)?"
_AFTER = r"(?:[ _.-]*(?:\(\d+\)|copy(?: \d+)?|old|bak|backup|tmp|temp|orig|new|\d{1,2}))?"
_END = r"(?:[.~#-][\w.~#-]*|~)?"
_DECORATED = re.compile(rf"{_BEFORE}{_STEMS}{_AFTER}\.(?:safetensors|bin){_END}", re.IGNORECASE)
#: Any file that some loader accepts as weights.
ANY_WEIGHTS = (
    *WEIGHTS,
    *(".bin", ".pt", ".pth", ".ckpt", ".distcp", ".h5", ".msgpack", ".onnx", ".npz", ".ot", ".pdparams", ".index.json"),
)
#: Files found beside the weights of a Transformers model.
_BESIDE = frozenset(_OF_WEIGHTS["beside"])


@rule("misnamed", "whole", "error")
def misnamed(subject: Subject) -> Iterator[Found]:
    """Weights under a name that no loader looks for, such as that of a copy, a backup or an unfinished download.

    Transformers, PEFT and Diffusers look for `model.safetensors`, `adapter_model.safetensors` and the like, and ignore
    `model (1).safetensors`, or `weights.safetensors` beside what Transformers saved. Restore the file's name, or
    download it again.
    """
    folders: dict[str, list[Entry]] = {}
    for entry in subject.entries:
        folders.setdefault(entry.folder, []).append(entry)
    for folder, entries in folders.items():
        hidden = folder.startswith(".") or "/." in folder  # kept by tools for their own use
        if subject.alone or hidden or any(map(_FOUND.fullmatch, subject.names_in(folder.rstrip("/")))):
            continue
        for entry in entries:
            # macOS packs metadata beside a file, under a name that begins with `._`: that is not a weight file.
            other = entry.kind != "file" or entry.name.startswith("._") or _is_unfinished(entry.name)
            if not other and _DECORATED.fullmatch(entry.name):
                yield Found(_NO_LOADER, entry.path)
        if not folder:
            beside = [each for each in subject.by_path.values() if not each.folder]  # other models' files among them
            if subject.checkpoint is None:
                yield from _other_ends(beside)
            yield from _free_names(subject, beside)


def _other_ends(entries: list[Entry]) -> Iterator[Found]:
    """Weights with something appended to their suffix, whatever their name, if there are no other weights."""
    if any(entry.name.lower().endswith(ANY_WEIGHTS) for entry in entries):
        return
    for entry in entries:
        whole = entry.kind == "file" and re.fullmatch(r"(?i).+\.(?:safetensors|gguf)[.~-]\w*~?", entry.name)
        if whole and not _DECORATED.fullmatch(entry.name) and not _is_unfinished(entry.name):
            yield Found(_NO_LOADER, entry.path)


def _free_names(subject: Subject, entries: list[Entry]) -> Iterator[Found]:
    """The only weight file beside a model that Transformers saved, if its name is not one that Transformers looks for.

    Other names are legitimate for MLX, quantizers and a model's own code: these find their weights under them.
    """
    own, names = subject.document("config.json"), {entry.name for entry in entries}
    known = is_of_transformers(own) and isinstance(own.get("architectures"), list)
    special = own.keys() & {"auto_map", "transformers_weights", "quantization", "quantization_config"}
    if not known or special or names & {"open_clip_config.json", "modules.json", "params.json", ADAPTER_FILE}:
        return
    weights = [entry for entry in entries if entry.name.lower().endswith(ANY_WEIGHTS)]
    (only,) = weights if len(weights) == 1 else (None,)
    header = next((each for each in subject.headers if only and each.path == only.path), None)
    plain = header is not None and header.format == "safetensors" and header.metadata.get("format") in (None, "pt")
    if only and plain and not _DECORATED.fullmatch(only.name) and kind_of(only.path) == "duplicate":
        yield Found("Transformers looks for model.safetensors, and finds no weights: rename it", only.path)


_NO_LOADER = "no loader looks for weights under this name: rename it, or download it again"


def _is_unfinished(name: str) -> bool:
    """Whether the file is reported as an unfinished download, or only describes the weights."""
    return name.lower().endswith((*PARTIAL, *CONTROL, *_ABOUT))


#: Suffixes of files that accompany weights under their names and describe them.
_ABOUT = (".metadata", ".lock", ".sha256", ".sha512", ".md5", ".sig", ".asc", ".etag", ".torrent", ".json", ".txt")

#: Names under which loaders open a file.
_FILES = frozenset(_OF_WEIGHTS["files"])
#: Those among them that are optional.
_OPTIONAL = frozenset({"generation_config.json", "special_tokens_map.json", "chat_template.jinja"})


@rule("file-case", "whole", "error")
def file_case(subject: Subject) -> Iterator[Found]:
    """A file's name differs only in case from one that loaders look for, and that is missing.

    `Config.json` is found on Windows and macOS, but not on Linux, whose file systems distinguish case. Rename the file.
    Only a warning for optional files.
    """
    for entry in subject.entries if not subject.alone else ():
        name = entry.name.lower()
        looked_for = name in _FILES and entry.name not in _FILES and entry.folder + name not in subject.by_path
        if entry.kind == "file" and looked_for:
            severity: Severity = "warning" if name in _OPTIONAL else "error"
            yield Found(f"loaders look for {name}, in lower case: rename it", entry.path, severity=severity)


@rule("folder-for-file", "whole", "error")
def folder_for_file(subject: Subject) -> Iterator[Found]:
    """A folder has the name of a file that loaders open.

    A copy or an archive was unpacked into a folder named like the file. Loading ends with an error, or continues
    without the file. Move the file out of the folder.
    """
    if subject.root is None or subject.alone:
        return
    for folder in sorted({entry.folder for entry in subject.entries} | {""}):
        for name in sorted(_FILES & subject.folders_in(folder)):
            yield Found("a folder, but loaders look for a file of this name", folder + name)


@rule("missing-config", "whole", "error")
def missing_config(subject: Subject) -> Iterator[Found]:
    """A Transformers model has its weights and other files, but no config.json.

    config.json names the class and the sizes: loaders cannot open the model without it. Download it, or restore its
    name.
    """
    if weights := without_config(subject):
        yield Found("no config.json beside it: download it", weights)


def without_config(subject: Subject) -> str | None:
    """The first weights that Transformers saved, if their configuration is missing."""
    names = {entry.name for entry in subject.entries if not entry.folder}
    others = {"model_index.json", "modules.json", ADAPTER_FILE, "open_clip_config.json"}
    if subject.alone or subject.members or names & {*configs.FILES, *others}:
        return None
    weights = sorted(name for name in names if _OF_TRANSFORMERS.fullmatch(name))
    # Accelerate and torch.distributed.checkpoint write only shards and an index
    return weights[0] if weights and names & _BESIDE else None


_OF_TRANSFORMERS = re.compile(r"(?:pytorch_)?model(?:-\d+-of-\d+)?\.(?:safetensors|bin)")


@rule("no-weights", "whole", "error")
def no_weights(subject: Subject) -> Iterator[Found]:
    """A Transformers model without its weights.

    There is a config.json, but no file that a loader would accept as weights. Download them.
    """
    headers = [header for header in subject.headers if header.format == "safetensors"]
    asked = subject.config is not None and subject.config.kind == "config.json" and subject.config.model_type
    if headers and asked and not any(header.tensors for header in headers) and not subject.incomplete:
        yield Found("no tensors in it, although the configuration describes some: download it again", headers[0].path)
    own = subject.document("config.json")
    known = is_of_transformers(own)
    if not known or subject.alone or subject.members or {"modules.json", "model_index.json"} & subject.by_path.keys():
        return
    names = [entry.name.lower() for entry in subject.entries if not entry.folder]
    weights = [name for name in names if name.endswith(ANY_WEIGHTS) and name != ADAPTER_FILE]
    reported = any(_DECORATED.fullmatch(name) or name.endswith((*PARTIAL, *CONTROL)) for name in names)
    state = re.compile(r"(training_args|optimizer|scheduler|rng_state|trainer_state|scaler)")
    if not reported and all(state.match(name) for name in weights) and not any(shard_of(name) for name in names):
        yield Found("a configuration without weights beside it: download them", "config.json")


# --- their default names, and what is expected in the file -------------------------------------------

#: Weights that are loaded by default.
_DEFAULT = re.compile(r"(?:diffusion_)?(?:pytorch_)?model(?:-\d+-of-\d+)?\.(?:safetensors|bin)(?:\.index\.json)?")
#: The same as a variant, `model.fp16.safetensors`, with the variant's name.
_VARIANT = re.compile(_OF_WEIGHTS["variant"])


@rule("default-weights", "whole", "error")
def default_weights(subject: Subject) -> Iterator[Found]:
    """A model has no weights under the names that are loaded by default.

    It has them for TensorFlow or Flax alone, which Transformers 5 does not load: convert them with an older version. Or
    it has only a variant, `model.fp16.safetensors`, which is a warning: it is loaded with `variant="fp16"`, and not
    otherwise.
    """
    table = data.overlay("default_files")
    frameworks, loaded = table["other_frameworks"], tuple(table["loaded_suffixes"])
    for entry, own in documents(subject, "config.json"):
        if subject.alone or subject.members or not _is_model(own):
            continue
        folder = entry.folder
        names = {each.name for each in subject.entries if each.folder == folder and each.path in subject.place.files}
        if any(_DEFAULT.fullmatch(name) for name in names):
            continue
        variants = sorted((name, found[1] or found[2]) for name in names if (found := _VARIANT.fullmatch(name)))
        others = sorted(names & frameworks.keys())
        if variants:
            name, variant = variants[0]
            what = f'weights only as the variant {variant:.40}: loading needs variant="{variant:.40}"'
            yield Found(what, entry.folder + name, severity="warning")
        elif others and "model_type" in own and not any(name.endswith(loaded) for name in names):
            what = f"weights of {frameworks[others[0]]} alone, which Transformers 5 does not load"
            yield Found(what, entry.folder + others[0])


def _is_model(own: Mapping[str, Any]) -> bool:
    made = isinstance(own.get("_class_name"), str)
    return is_of_transformers(own) if isinstance(own.get("model_type"), str) else made


@rule("adapter-beside", "whole", "warning")
def adapter_beside(subject: Subject) -> Iterator[Found]:
    """An adapter lies in the folder of a whole model, so that Transformers loads both.

    `from_pretrained` looks for adapter_config.json first: it loads the base model that the adapter names, or this one,
    and puts the adapter onto it. If the weights are merged already, the adapter is applied twice: move it to a folder
    of its own.
    """
    for entry, _ in documents(subject, ADAPTER_FILE):
        names = subject.names_beside(entry)
        own = subject.document(entry.folder + "config.json") if "config.json" in names else {}
        there = {"adapter_model.safetensors", "adapter_model.bin"} & names
        whole = {"model.safetensors", "model.safetensors.index.json", "pytorch_model.bin"} & names
        if there and whole and isinstance(own.get("model_type"), str):
            what = f"beside {min(whole)}: Transformers puts the adapter onto the model that it loads"
            yield Found(what, entry.path)


@rule("index-metadata", "whole", "error")
def index_metadata(subject: Subject) -> Iterator[Found]:
    """The index of shards has no `metadata`, which Transformers reads.

    It ends with a KeyError. Add `"metadata": {}`, or get the original index.
    """
    for entry in subject.named("model.safetensors.index.json", "pytorch_model.bin.index.json"):
        if not is_of_transformers(subject.document(entry.folder + "config.json")) or entry.size > _MOST_INDEX:
            continue
        own = subject.json(entry.path, _MOST_INDEX)
        if isinstance(own, dict) and isinstance(own.get("weight_map"), dict) and "metadata" not in own:
            yield Found("no metadata beside the weight_map", entry.path)


#: Bytes of an index that is read again.
_MOST_INDEX = 8 << 20


@rule("pickled-weights", "whole", "error")
def pickled_weights(subject: Subject) -> Iterator[Found]:
    """The file pytorch_model.bin does not hold what Transformers expects: tensors by their names.

    It is a pickle that PyTorch did not write, or a list, which is refused. Or the tensors are within another entry,
    such as `state_dict` of a training program: then none is found, and all weights are random. That is a warning.
    """
    training = {*data.overlay("default_files")["training_entries"]}
    for entry in subject.entries:
        if not _is_loaded(subject, entry):
            continue
        header = next((each for each in subject.all_headers if each.path == entry.path), None)
        if header is None:
            start = subject.head(entry.path, 2)
            if start[:1] == b"\x80" and not any(each.path == entry.path for each in subject.findings):
                yield Found("a pickle that PyTorch did not write: torch.load refuses it", entry.path)
        elif header.format == "pytorch" and not header.tensors:
            yield Found("no tensors by name in it", entry.path)
        elif header.format == "pytorch" and (named := sorted({*header.metadata} & training)):
            what = f"a checkpoint of a training program, with {named[0]}: Transformers finds no weights in it"
            yield Found(what, entry.path, severity="warning")


def _is_loaded(subject: Subject, entry: Entry) -> bool:
    """Whether Transformers loads a model from this file of PyTorch."""
    if not re.fullmatch(r"pytorch_model(?:-\d+-of-\d+)?\.bin", entry.name) or not entry.size:
        return False
    names = subject.names_beside(entry)
    known = is_of_transformers(subject.document(entry.folder + "config.json"))
    return known and not {"model.safetensors", "model.safetensors.index.json"} & names


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
    for entry, own in documents(subject, "tokenizer_config.json"):
        names = subject.names_beside(entry)
        kind = own.get("tokenizer_class")
        if (
            entry.kind != "file"
            or own.get("auto_map")
            or any(VOCABULARY.search(name) for name in names - NO_VOCABULARY)
        ):
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
    for entry, own in documents(subject, "config.json"):
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
    for entry, own in documents(subject, "model_index.json"):
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
