"""Are the files there under the names that loaders look for? Weights, configurations, a pipeline's parts.

The names are those of Transformers' modeling_utils, Diffusers' pipeline_utils, and sentence-transformers' modules.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from inspector.auditing.rules.configurations import fields, wrong_kind
from inspector.auditing.rules.rule import Found, rule
from inspector.auditing.rules.subject import Subject
from inspector.auditing.rules.whole import CONTROL, PARTIAL
from inspector.opening import configs
from inspector.sources.filenames import WEIGHTS, shard_of
from inspector.sources.listing import Entry

_rule = partial(rule, group="whole")

#: Stems of the names under which libraries look for weights.
_STEMS = r"(?:model|pytorch_model|diffusion_pytorch_model|adapter_model)"
#: A name that loaders find: the weights, a variant of them, a shard, an index.
_FOUND = re.compile(rf"{_STEMS}(?:\.[\w-]+)?(?:-\d+-of-\d+)?\.(?:safetensors|bin)(?:\.index(?:\.[\w-]+)?\.json)?")
#: Additions to a file's name for copies, backups and unfinished downloads.
_BEFORE = r"(?:(?:tmp|temp|old|new|backup|copy of|copy|~|\._|\.|_)[-_ ]?(?:\w{4,12}_)?)?"
_AFTER = r"(?:[ _.-]*(?:\(\d+\)|copy(?: \d+)?|old|bak|backup|tmp|temp|orig|new|\d{1,2}))?"
_END = r"(?:[.~#-][\w.~#-]*|~)?"
_DECORATED = re.compile(rf"{_BEFORE}{_STEMS}{_AFTER}\.(?:safetensors|bin){_END}", re.IGNORECASE)
#: Any file that some loader treats as weights.
_ANY = (*WEIGHTS, ".bin", ".pt", ".pth", ".ckpt", ".h5", ".msgpack", ".onnx", ".npz", ".ot", ".pdparams", ".index.json")
#: Files that accompany the weights of a Transformers model.
_BESIDE = frozenset(
    {
        *("tokenizer.json", "tokenizer_config.json", "tokenizer.model", "vocab.txt", "special_tokens_map.json"),
        *("generation_config.json", "preprocessor_config.json", "processor_config.json"),
    }
)


@_rule("misnamed", "error")
def misnamed(subject: Subject) -> Iterator[Found]:
    """Weights under a name that no loader looks for: that of a copy, a backup, an unfinished download.

    Transformers, PEFT and Diffusers look for `model.safetensors`, `adapter_model.safetensors` and the like, and find
    nothing in `model (1).safetensors`. Give the file its name, or download it again.
    """
    folders: dict[str, list[Entry]] = {}
    for entry in subject.entries:
        folders.setdefault(entry.folder, []).append(entry)
    for folder, entries in folders.items():
        hidden = folder.startswith(".") or "/." in folder  # kept by tools for their own use
        if subject.alone or hidden or any(_FOUND.fullmatch(entry.name) for entry in entries):
            continue
        for entry in entries:
            if entry.kind == "file" and _DECORATED.fullmatch(entry.name) and not _is_unfinished(entry.name):
                yield Found(_NO_LOADER, entry.path)
        if not folder and subject.checkpoint is None:
            yield from _other_ends(entries)


def _other_ends(entries: list[Entry]) -> Iterator[Found]:
    """In a folder without other models: weights with any name, followed by a suffix."""
    if any(entry.name.lower().endswith(_ANY) for entry in entries):
        return
    for entry in entries:
        whole = entry.kind == "file" and re.fullmatch(r"(?i).+\.(?:safetensors|gguf)[.~-]\w*~?", entry.name)
        if whole and not _DECORATED.fullmatch(entry.name) and not _is_unfinished(entry.name):
            yield Found(_NO_LOADER, entry.path)


_NO_LOADER = "no loader looks for weights under this name: rename it, or download it again"


def _is_unfinished(name: str) -> bool:
    """Whether the rule on unfinished downloads reports it, or it describes the weights."""
    return name.lower().endswith((*PARTIAL, *CONTROL, *_ABOUT))


#: Suffixes of files that accompany weights under their names and describe them.
_ABOUT = (".metadata", ".lock", ".sha256", ".sha512", ".md5", ".sig", ".asc", ".etag", ".torrent", ".json", ".txt")


@_rule("missing-config", "error")
def missing_config(subject: Subject) -> Iterator[Found]:
    """The weights of a Transformers model and its other files, without its config.json.

    It names the class and the sizes: loaders that rely on it cannot open the model. Download it, or restore its name.
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
#: Class of a part → the file from which it is built.
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


@_rule("pipeline-index", "error")
def pipeline_index(subject: Subject) -> Iterator[Found]:
    """A Diffusers pipeline without its index, or an index with an entry that is not a component.

    model_index.json gives the class of each folder. Diffusers refuses where it is missing, where an entry is not
    `[library, class]`, and where a component lacks the configuration that its class is built from.
    """
    for entry in subject.named("model_index.json"):
        own = subject.document(entry.path) if entry.name == "model_index.json" else {}
        if own and not isinstance(own.get("_class_name"), str):
            yield Found("no _class_name, which says which pipeline it is", entry.path)
        for name, value in own.items():
            if name.startswith("_") or not isinstance(value, list | type(None)):
                continue
            yield from _wrong_part(subject, entry, name, value)
    folders = {entry.folder.rstrip("/") for entry in subject.entries} | _marked(subject)
    if subject.root is not None and not subject.alone and {"scheduler"} < folders & {*_PARTS}:
        names = {entry.name for entry in subject.entries if not entry.folder}
        if not names & {"model_index.json", "config.json", "modular_model_index.json"}:
            yield Found(f"the parts {', '.join(sorted(folders & {*_PARTS}))} of a pipeline, but no model_index.json")


def _marked(subject: Subject) -> set[str]:
    """Folders of parts that are separate models."""
    return {name for name in _PARTS if subject.names_in(name)}


def _wrong_part(subject: Subject, entry: Entry, name: str, value: Any) -> Iterator[Found]:
    match value:
        case [None, None]:
            return
        case [str(library), _] if library.lower() in _LIBRARIES and library not in _LIBRARIES:
            yield Found(f"{name:.60} is of {library!r:.40}, which Diffusers does not know", entry.path)
        case [str(), str(kind)]:
            here = subject.names_in(entry.folder + name)
            needed = next(files for pattern, files in _MADE_FROM if pattern.fullmatch(kind))
            if here and not here & {*needed}:
                yield Found(f"{kind} in {name:.60} has no {needed[0]}: download it", entry.path)
        case _:
            what = "null" if value is None else f"{str(value)[:60]}"
            yield Found(f"{name:.60} is {what}, and should name a library and a class", entry.path)


# --- sentence-transformers --------------------------------------------------------------------

#: Module → required fields of its config.json.
_NEEDED: Mapping[str, tuple[str, ...]] = {
    "Dense": ("in_features", "out_features"),
    "CNN": ("in_word_embedding_dimension",),
    "LSTM": ("word_embedding_dimension", "hidden_dim"),
    "LayerNorm": ("dimension",),
    "WeightedLayerPooling": ("word_embedding_dimension",),
}
#: Module → all fields that it accepts: it rejects any other.
_FIELDS: Mapping[str, frozenset[str]] = {
    "Pooling": frozenset({"word_embedding_dimension", "embedding_dimension", "pooling_mode", "include_prompt"}),
    "Dropout": frozenset({"dropout"}),
}
#: Modules with their own weights.
_WEIGHTED = ("Dense", "CNN", "LSTM", "LayerNorm", "WeightedLayerPooling")
_POOLING = frozenset({"cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken"})


@_rule("sentence-module", "error")
def sentence_module(subject: Subject) -> Iterator[Found]:
    """A sentence-transformers module cannot be built.

    modules.json lists the modules in order, each with its folder and class. One lacks its weights or a required field,
    or its matrix disagrees with its configuration: loading ends with an error.
    """
    yield from _dense(subject)
    for entry in subject.named("modules.json"):
        if entry.name != "modules.json":
            continue
        try:
            listed = configs.loads(subject.text(entry.path, 1 << 20) or "")
        except ValueError:
            continue
        if not isinstance(listed, list) or not listed:
            yield Found("not a list of modules", entry.path)
            continue
        for at, module in enumerate(listed):
            match module:
                case {"name": str(), "path": str(), "type": str(kind)} if "." not in kind:
                    yield Found(f"unknown class {kind:.60}: its module is missing", entry.path)
                case {"name": str(), "path": str(path), "type": str(kind)}:
                    yield from _wrong_module(subject, entry, path.strip("/"), kind.rpartition(".")[2])
                case _:
                    yield Found(f"module {at} lacks a name, path or type, which must be strings", entry.path)


def _wrong_module(subject: Subject, entry: Entry, path: str, kind: str) -> Iterator[Found]:
    here = subject.names_in(entry.folder + path) if path else frozenset[str]()
    if kind == "Transformer" and "config.json" not in (here if path else subject.names_beside(entry)):
        yield Found(f"{kind} has no {path + '/' if path else ''}config.json: download it", entry.path)
    if kind in _WEIGHTED and here and not any(name.endswith(_ANY) for name in here):
        yield Found(f"{kind} has no weights in {path:.60}: download them", entry.path)
    where = f"{entry.folder}{path}/config.json"
    own = subject.document(where) if path else {}
    if own:
        yield from (Found(what, where) for what in _wrong_fields(own, kind))


def _wrong_fields(own: Mapping[str, Any], kind: str) -> Iterator[str]:
    """Fields of a module's configuration that it does not accept."""
    for field in _NEEDED.get(kind, ()):
        if type(own.get(field)) is not int:
            yield f"{kind} needs {field}, a whole number"
    modes = own.get("pooling_mode", ()) if kind == "Pooling" else ()
    for mode in modes if isinstance(modes, list | tuple) else [modes]:
        if mode not in _POOLING:
            yield f"unknown pooling_mode {str(mode)[:40]!r}"
    for field, value in own.items():
        if field in ("module_input_name", "module_output_name") and not isinstance(value, str):
            yield f"{field} is {str(value)[:40]}, and should be a string"
        elif should := wrong_kind("modules", kind, field, value):
            yield f"{field} is {str(value)[:40]}, and should be {should}"
        elif kind in _FIELDS and field not in _FIELDS[kind] and not field.startswith("pooling_mode_"):
            yield f"{kind} takes no field {field:.40}"


def _dense(subject: Subject) -> Iterator[Found]:
    """A dense layer, stored as a separate model: its matrix is outputs × inputs."""
    for header in subject.all_headers:
        where = header.path.rpartition("/")[0]
        own = subject.document(f"{where}/config.json" if where else "config.json")
        matrix = next((tensor for tensor in header.tensors if tensor.name == "linear.weight"), None)
        if matrix is None or "activation_function" not in own or len(header.tensors) > 2:
            continue
        stated = tuple(own.get(field) for field in ("out_features", "in_features"))
        if matrix.shape != stated:
            what = f"{'×'.join(map(str, matrix.shape))} stored, {stated[0]}×{stated[1]} configured"
            yield Found(what, header.path, matrix.name)


# --- a model without its weights ---------------------------------------------------------------


@_rule("no-weights", "error")
def no_weights(subject: Subject) -> Iterator[Found]:
    """A Transformers model without its weights.

    There is a config.json, but no file that a loader would take for the weights. Download them.
    """
    headers = [header for header in subject.headers if header.format == "safetensors"]
    asked = subject.config is not None and subject.config.kind == "config.json" and subject.config.model_type
    if headers and asked and not any(header.tensors for header in headers) and not subject.incomplete:
        yield Found("no tensors in it, though the configuration asks for some: download it again", headers[0].path)
    own = subject.document("config.json")
    known = own.get("model_type") in fields()["transformers"]["fields"]
    if not known or subject.alone or subject.members or {"modules.json", "model_index.json"} & subject.by_path.keys():
        return
    names = [entry.name.lower() for entry in subject.entries if not entry.folder]
    weights = [name for name in names if name.endswith(_ANY) and name != configs.ADAPTER_FILE]
    told = any(_DECORATED.fullmatch(name) or name.endswith((*PARTIAL, *CONTROL)) for name in names)
    state = re.compile(r"(training_args|optimizer|scheduler|rng_state|trainer_state|scaler)")
    if not told and all(state.match(name) for name in weights) and not any(shard_of(name) for name in names):
        yield Found("a configuration without weights beside it: download them", "config.json")
