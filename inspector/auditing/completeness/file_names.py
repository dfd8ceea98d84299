"""Are the weights present under the names that loaders look for, those of Transformers' modeling_utils and the like?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from inspector.auditing import data
from inspector.auditing.completeness.downloads import CONTROL, PARTIAL
from inspector.auditing.loading.accepted_values import documents, is_of_transformers
from inspector.auditing.rule import Found, rule
from inspector.auditing.subject import Subject
from inspector.model import Severity
from inspector.opening import configs
from inspector.opening.configs import ADAPTER_FILE
from inspector.opening.selection import kind_of
from inspector.sources.filenames import WEIGHTS, shard_of
from inspector.sources.listing import Entry

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

    config.json names the class and the sizes: loaders cannot open the model without it, and the audit has nothing to
    compare the tensors with. Download it, or restore its name. Only a note if the weights have a name of their own, or
    nothing but an index beside them, as Accelerate and torch.distributed.checkpoint write them.
    """
    names = {entry.name for entry in subject.entries if entry.folder == subject.folder}
    others = {*configs.FILES, "model_index.json", "modules.json", ADAPTER_FILE, "open_clip_config.json"}
    adapter = subject.result is not None and subject.result.adapter is not None
    if subject.alone or subject.config is not None or adapter or names & others:
        return
    weights = sorted(name for name in names if _OF_TRANSFORMERS.fullmatch(name))
    stored = [header.path for header in subject.headers if header.format == "safetensors"]
    if weights and names & _BESIDE and not subject.members:
        yield Found("no config.json beside it: download it", subject.folder + weights[0])
    elif stored and names & {*_BESIDE, "model.safetensors.index.json"}:
        yield Found("no config.json beside the weights", stored[0], severity="info")


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
