"""Are the files present under the names that loaders look for? Weights, configurations, a pipeline's components.

The names are those of Transformers' modeling_utils and Diffusers' pipeline_utils.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from inspector.auditing.completeness.shards import CONTROL, PARTIAL
from inspector.auditing.loading.config_fields import fields
from inspector.auditing.rule import Found, rule
from inspector.auditing.subject import Subject
from inspector.opening import configs
from inspector.opening.selection import kind_of
from inspector.sources.filenames import WEIGHTS, shard_of
from inspector.sources.listing import Entry

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
    *(".bin", ".pt", ".pth", ".ckpt", ".h5", ".msgpack", ".onnx", ".npz", ".ot", ".pdparams", ".index.json"),
)
#: Files found beside the weights of a Transformers model.
_BESIDE = frozenset(
    {
        *("tokenizer.json", "tokenizer_config.json", "tokenizer.model", "vocab.txt", "special_tokens_map.json"),
        *("generation_config.json", "preprocessor_config.json", "processor_config.json"),
    }
)


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
        if subject.alone or hidden or any(_FOUND.fullmatch(entry.name) for entry in entries):
            continue
        for entry in entries:
            of_macos = entry.name.startswith("._")  # what macOS packs beside a file: no weights
            if (
                entry.kind == "file"
                and _DECORATED.fullmatch(entry.name)
                and not (of_macos or _is_unfinished(entry.name))
            ):
                yield Found(_NO_LOADER, entry.path)
        if not folder and subject.checkpoint is None:
            yield from _other_ends(entries)
        if not folder:
            yield from _free_names(subject, entries)


def _other_ends(entries: list[Entry]) -> Iterator[Found]:
    """If there are no other weights: weights of any name, with something appended to the suffix."""
    if any(entry.name.lower().endswith(ANY_WEIGHTS) for entry in entries):
        return
    for entry in entries:
        whole = entry.kind == "file" and re.fullmatch(r"(?i).+\.(?:safetensors|gguf)[.~-]\w*~?", entry.name)
        if whole and not _DECORATED.fullmatch(entry.name) and not _is_unfinished(entry.name):
            yield Found(_NO_LOADER, entry.path)


def _free_names(subject: Subject, entries: list[Entry]) -> Iterator[Found]:
    """If nothing else is weights: a file of any name, beside a model that Transformers saved.

    Those of MLX, of quantizers and of a model's own code are found by their programs under such names.
    """
    own, names = subject.document("config.json"), {entry.name for entry in entries}
    known = own.get("model_type") in fields()["transformers"]["fields"] and isinstance(own.get("architectures"), list)
    special = own.keys() & {"auto_map", "transformers_weights", "quantization", "quantization_config"}
    if not known or special or names & {"open_clip_config.json", "modules.json", "params.json", configs.ADAPTER_FILE}:
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


@rule("missing-config", "whole", "error")
def missing_config(subject: Subject) -> Iterator[Found]:
    """A Transformers model has its weights and other files, but no config.json.

    config.json names the class and the sizes: loaders cannot open the model without it. Download it, or restore its
    name.
    """
    if subject.alone or subject.members:
        return
    names = {entry.name for entry in subject.entries if not entry.folder}
    if names & {*configs.FILES, "model_index.json", "modules.json", configs.ADAPTER_FILE, "open_clip_config.json"}:
        return
    weights = next((name for name in sorted(names) if _is_transformers(name)), None)
    if weights and (names & _BESIDE or f"{weights}.index.json" in names or "model.safetensors.index.json" in names):
        yield Found("no config.json beside it: download it", weights)


def _is_transformers(name: str) -> bool:
    return bool(re.fullmatch(r"(?:pytorch_)?model(?:-\d+-of-\d+)?\.(?:safetensors|bin)", name))


# --- pipelines --------------------------------------------------------------------------------

#: Folders found only in Diffusers pipelines, with their contents.
_PARTS = ("unet", "transformer", "vae", "text_encoder", "scheduler", "prior", "controlnet", "vqvae", "movq")
#: Class of a component → the file from which it is built.
_MADE_FROM: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = (
    (re.compile(r".*Scheduler"), ("scheduler_config.json",)),
    (
        re.compile(r".*(Tokenizer(Fast)?|TokenizersBackend)"),
        ("tokenizer_config.json", "tokenizer.json", "vocab.json", "spiece.model"),
    ),
    (re.compile(r".*(Extractor|Processor)(Fast|Pil)?"), ("preprocessor_config.json", "processor_config.json")),
    (re.compile(r".*"), ("config.json",)),
)


_LIBRARIES = ("diffusers", "transformers")


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
    folders = {entry.folder.rstrip("/") for entry in subject.entries} | _marked(subject)
    if subject.root is not None and not subject.alone and {"scheduler"} < folders & {*_PARTS}:
        names = {entry.name for entry in subject.entries if not entry.folder}
        if not names & {"model_index.json", "config.json", "modular_model_index.json"}:
            yield Found(f"a pipeline's components {', '.join(sorted(folders & {*_PARTS}))}, but no model_index.json")


def _marked(subject: Subject) -> set[str]:
    """Folders of components that are separate models."""
    return {name for name in _PARTS if subject.names_in(name)}


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


# --- a model without its weights ---------------------------------------------------------------


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
    known = own.get("model_type") in fields()["transformers"]["fields"]
    if not known or subject.alone or subject.members or {"modules.json", "model_index.json"} & subject.by_path.keys():
        return
    names = [entry.name.lower() for entry in subject.entries if not entry.folder]
    weights = [name for name in names if name.endswith(ANY_WEIGHTS) and name != configs.ADAPTER_FILE]
    told = any(_DECORATED.fullmatch(name) or name.endswith((*PARTIAL, *CONTROL)) for name in names)
    state = re.compile(r"(training_args|optimizer|scheduler|rng_state|trainer_state|scaler)")
    if not told and all(state.match(name) for name in weights) and not any(shard_of(name) for name in names):
        yield Found("a configuration without weights beside it: download them", "config.json")
