"""Could sentence-transformers and Diffusers build their modules? Checks modules.json and model_index.json, each
module's configuration, and its weights.

What the modules need is in `auditing/data/overlay.json`, names of classes in `fields.json`, as are the pipelines'
components and their fields, extracted from Diffusers; shapes are those of sentence_transformers' modules, version 6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from functools import partial
from typing import Any

from inspector.auditing import data
from inspector.auditing.completeness.companions import ANY_WEIGHTS
from inspector.auditing.loading import accepted_values as accepted
from inspector.auditing.loading.accepted_values import documents, fields, reported, shown, version, wrong_kind
from inspector.auditing.rule import Found, rule
from inspector.auditing.subject import Subject
from inspector.model import Header, Severity
from inspector.sources.listing import Entry
from inspector.units import integer, plural, times

#: What the modules need, read and write; `modules` has the files and fields from which each class is built.
_table = partial(data.overlay, "sentence_transformers")


def _file_of(kind: str) -> str:
    """The file with a module's configuration."""
    return str(_table()["modules"].get(kind, {}).get("file", "config.json"))


@rule("sentence-module", "whole", "error")
def sentence_module(subject: Subject) -> Iterator[Found]:
    """A sentence-transformers module cannot be built.

    modules.json lists the modules in order, each with its folder and class. A module lacks its weights or a required
    field, or a matrix disagrees with its configuration: loading ends with an error.
    """
    yield from _modules_alone(subject)
    for entry, _ in documents(subject, "modules.json"):
        if (listed := subject.json(entry.path, 1 << 20)) is None:
            continue
        if not isinstance(listed, list) or not listed:
            yield Found("not a list of modules", entry.path)
            continue
        unordered = [*reported(_wrong_order(listed, subject.names_beside(entry)), entry.path)]
        yield from unordered or _wrong_flow(subject, entry, listed)
        for at, module in enumerate(listed):
            match module:
                case {"name": str(), "path": str(), "type": str(kind)} if "." not in kind:
                    yield Found(f"unknown class {kind:.60}: its module is missing", entry.path)
                case {"name": str(), "path": str(), "type": str(kind)} if _is_unknown(subject, entry, kind):
                    yield Found(f"{kind:.60} is not a class of sentence-transformers", entry.path)
                case {"name": str(), "path": str(path), "type": str(kind)} if kind.startswith("sentence_transformers."):
                    yield from _wrong_module(subject, entry, path.strip("/"), kind.rpartition(".")[2])
                case {"name": str(), "path": str(), "type": str()}:
                    pass  # the model's own code
                case _:
                    yield Found(f"module {at} lacks a name, path or type, which must be strings", entry.path)


def _classes() -> set[str]:
    """The classes that the library has, or had."""
    return {*fields()["words"]["sentence_modules"], *_table()["former_classes"]}


def _is_unknown(subject: Subject, entry: Entry, kind: str) -> bool:
    """Whether no version of the library up to the known one has a class."""
    written = subject.document(entry.folder + "config_sentence_transformers.json").get("__version__")
    stated = written.get("sentence_transformers") if isinstance(written, Mapping) else None
    is_own = kind.startswith("sentence_transformers.") and kind.rpartition(".")[2] not in _classes()
    return is_own and version(stated) <= version(fields()["words"]["sentence_transformers"])


def _wrong_order(listed: list[Any], names: frozenset[str]) -> Iterator[str]:
    """Modules in the wrong order: the first takes the input, and tokens are pooled before a text's vector changes."""
    kinds = [module.get("type") if isinstance(module, Mapping) else None for module in listed]
    own = [each.rpartition(".")[2] for each in kinds if isinstance(each, str) and each.startswith("sentence_transf")]
    if len(own) < len(kinds):  # some modules are the model's own
        return
    if own[0] in _classes() - {*_table()["inputs"]} and "config.json" in names:
        yield f"it begins with {own[0]}, which takes no text"
    early = next((kind for kind in own if kind in (*_table()["of_sentences"], "Pooling")), "")
    if early != "Pooling" and "Pooling" in own and "Transformer" in own:
        yield f"{early} comes before Pooling, which makes the vector that it needs"


# --- what each module takes from the one before it ----------------------------------------------


def _wrong_flow(subject: Subject, entry: Entry, listed: list[Any]) -> Iterator[Found]:
    """The first module that reads a feature that no earlier one writes, or that has another width."""
    table = _table()
    made: dict[str, int | None] = {}  # feature → its width, if that is known
    for module in listed:
        kind, path = (module.get(each) if isinstance(module, Mapping) else None for each in ("type", "path"))
        name = kind.rpartition(".")[2] if isinstance(kind, str) and kind.startswith("sentence_transformers.") else ""
        if name not in table["flows"] or not isinstance(path, str):
            return  # what it reads and writes is unknown
        folder = entry.folder + (f"{path.strip('/')}/" if path.strip("/") else "")
        where = folder + (table["transformer_files"][0] if name == "Transformer" else "config.json")
        own = subject.document(where)
        reads, writes = _features_of(own, name)
        if reads and not made:  # another check reports a first module that takes no text
            return
        if reads and reads not in made and name != "Normalize":  # Normalize then does nothing
            yield Found(f"{name} takes {reads!r:.60}, which no module before it makes", where)
            return
        field = next((each for each in table["widths"].get(name, ()) if each in own), "")
        takes, gets = own.get(field), made.get(reads)
        if type(takes) is int and gets is not None and takes != gets:
            severity: Severity = "warning" if name in table["only_stated"] else "error"  # it computes with any width
            what = f"{field} is {integer(takes)}, but the module before makes {integer(gets)}"
            yield Found(what, where, severity=severity)
            return
        if reads in made or not reads:
            made[writes] = _width_after(subject, folder, own, name, gets)


def _features_of(own: Mapping[str, Any], name: str) -> tuple[str, str]:
    """The features that a module reads and writes."""
    table = _table()
    usual, after = table["flows"][name]
    reads = own.get("module_input_name") if name in table["naming_input"] else None
    reads = reads if isinstance(reads, str) and reads else usual
    writes = own.get("module_output_name") if name in table["naming_output"] else None
    if isinstance(writes, str) and writes:
        return reads, writes
    return reads, reads if name in table["naming_input"] else after


def _width_after(subject: Subject, folder: str, own: Mapping[str, Any], name: str, before: int | None) -> int | None:
    """The width of what a module writes; None if it is not known."""
    width: Any = before
    if name == "Dense":
        width = own.get("out_features")
    elif name == "BoW":
        width = len(own["vocab"]) if isinstance(own.get("vocab"), list) else None
    elif name == "Transformer":
        model = subject.document(folder + "config.json")
        width = None if model.keys() & {"auto_map", "word_embed_proj_dim"} else model.get("hidden_size")
    elif name == "Pooling":  # several ways of pooling give as many vectors; the mean is taken unless it is excluded
        modes = [value for field, value in own.items() if field.startswith("pooling_mode_")]
        several = sum(value is True for value in modes) + ("pooling_mode_mean_tokens" not in own)
        width = before and before * several if modes else before if isinstance(own.get("pooling_mode"), str) else None
    return width if type(width) is int else None


def _wrong_module(subject: Subject, entry: Entry, path: str, kind: str) -> Iterator[Found]:
    here = subject.names_in(entry.folder + path) if path else subject.names_beside(entry)
    module, folder = _table()["modules"].get(kind), f"{path}/" if path else ""
    if kind == "Transformer":
        if "config.json" not in here:
            yield Found(f"{kind} has no {folder}config.json: download it", entry.path)
        for name in _table()["transformer_files"]:
            where = f"{entry.folder}{folder}{name}"
            yield from reported(_wrong_transformer(subject.document(where)), where)
        return
    if module is not None and "without_file" not in module and path and _file_of(kind) not in here:
        yield Found(f"{kind} has no {path:.60}/{_file_of(kind)}: download it", entry.path)
    if module is not None and "weighted" in module and here and not any(name.endswith(ANY_WEIGHTS) for name in here):
        yield Found(f"{kind} has no weights in {path:.60}: download them", entry.path)
    where = f"{entry.folder}{path}/{_file_of(kind)}"
    if path and (own := subject.document(where)):
        yield from reported(_wrong_fields(own, kind), where)


def _wrong_fields(own: Mapping[str, Any], kind: str) -> Iterator[str]:
    """Fields of a module's configuration that are missing, wrong or unknown."""
    module = _table()["modules"].get(kind, {})
    for names in module.get("needed", ()):
        if not any(type(own.get(name)) is int for name in names):
            yield f"{kind} needs {names[0]}, a whole number"
    modes = own.get("pooling_mode", ()) if kind == "Pooling" else ()
    for mode in modes if isinstance(modes, list | tuple) else [modes]:
        if mode not in fields()["words"]["pooling_modes"]:
            yield f"unknown pooling_mode {str(mode)[:40]!r}"
    for field, value in own.items():
        if field in ("module_input_name", "module_output_name") and not isinstance(value, str):
            yield f"{field} is {str(value)[:40]}, but should be a string"
        elif should := wrong_kind("modules", kind, field, value):
            yield f"{field} is {str(value)[:40]}, but should be {should}"
        elif field not in module.get("fields", (field,)) and not field.startswith("pooling_mode_"):
            yield f"{kind} has no field {field:.40}"


def _wrong_transformer(own: Mapping[str, Any]) -> Iterator[str]:
    """The Transformer module's description of its model: the task, and the method and output of each modality."""
    task = own.get("transformer_task", "feature-extraction")
    if task not in (*fields()["words"]["transformer_tasks"], *_table()["tasks"]):
        yield f"transformer_task is {str(task)[:40]!r}, which sentence-transformers does not have"
    modalities = own.get("modality_config")
    if modalities is not None and not isinstance(modalities, Mapping):
        yield f"modality_config is {str(modalities)[:40]}, but should be an object"
    elif modalities is not None and not modalities:
        yield "modality_config names no modality"
    for name, how in modalities.items() if isinstance(modalities, Mapping) else ():
        stated = isinstance(how, Mapping) and isinstance(how.get("method"), str) and how.get("method_output_name")
        if not stated:
            yield f"modality_config.{name:.40} needs a method and a method_output_name"
    if modalities and not isinstance(own.get("module_output_name"), str):
        yield "module_output_name is missing, which modality_config needs"


# --- weights --------------------------------------------------------------------------------------


def _modules_alone(subject: Subject) -> Iterator[Found]:
    """Compares the tensors of a module, which in its folder looks like a separate model, with its configuration."""
    for header in subject.all_headers:
        folder = header.path[: header.path.rfind("/") + 1]
        for kind, module in _table()["modules"].items() if header.format == "safetensors" else ():
            own = subject.document(folder + _file_of(kind)) if "known_by" in module else {}
            if "known_by" in module and own.keys() >= {*module["known_by"]}:
                yield from _wrong_shapes(header, kind, own)
                yield from reported(_wrong_function(own), folder + _file_of(kind))
        own = subject.document(folder + "config.json")
        if own.keys() == {"dimension"} and header.format == "safetensors":
            yield from _wrong_shapes(header, "LayerNorm", own)


def _wrong_function(own: Mapping[str, Any]) -> Iterator[str]:
    """An activation function that PyTorch does not have."""
    function = own.get("activation_function")
    module, _, name = function.rpartition(".") if isinstance(function, str) else ("", "", "")
    if module == "torch.nn.modules.activation" and name not in fields()["words"]["activation_classes"]:
        yield f"activation_function is {name!r:.40}, which PyTorch does not have"


def _wrong_shapes(header: Header, kind: str, own: Mapping[str, Any]) -> Iterator[Found]:
    try:
        expected = dict(_SHAPES[kind](own))
    except OverflowError:
        yield Found(f"{kind} has more than {integer(MOST_KERNELS)} kernels: its tensors are not checked", header.path)
        return
    except (KeyError, TypeError):  # reported for the fields
        return
    stored = {tensor.name: tensor.shape for tensor in header.tensors}
    for name in sorted(expected.keys() | stored.keys()):
        if name not in stored:
            yield Found(f"{kind} needs {name}, which is not stored", header.path)
        elif name not in expected:
            yield Found(f"{kind} has no such tensor", header.path, name)
        elif stored[name] != expected[name]:
            yield Found(f"{times(stored[name])} stored, {times(expected[name])} configured", header.path, name)


Shapes = Iterator[tuple[str, tuple[int, ...]]]


def _dense_shapes(own: Mapping[str, Any]) -> Shapes:
    outputs, inputs = own["out_features"], own["in_features"]
    yield "linear.weight", (outputs, inputs)
    if own.get("bias", True):
        yield "linear.bias", (outputs,)
    if own.get("use_residual") and outputs != inputs:
        yield "residual.weight", (outputs, inputs)


def _convolution_shapes(own: Mapping[str, Any]) -> Shapes:
    width = own.get("in_embedding_dimension", own.get("in_word_embedding_dimension"))
    channels, kernels = own["out_channels"], own["kernel_sizes"]
    if len(kernels) > MOST_KERNELS:
        raise OverflowError
    if not all(type(each) is int for each in (width, channels, *kernels)):
        raise TypeError(kernels)
    for at, kernel in enumerate(kernels):
        yield f"convs.{at}.weight", (channels, width or 0, kernel)
        yield f"convs.{at}.bias", (channels,)


def _norm_shapes(own: Mapping[str, Any]) -> Shapes:
    yield from (("norm.weight", (own["dimension"],)), ("norm.bias", (own["dimension"],)))


def _layer_weight_shapes(own: Mapping[str, Any]) -> Shapes:
    yield "layer_weights", (own["num_hidden_layers"] + 1 - own["layer_start"],)


#: The most convolutions of one module.
MOST_KERNELS = 1_000
_SHAPES: Mapping[str, Callable[[Mapping[str, Any]], Shapes]] = {
    "Dense": _dense_shapes,
    "CNN": _convolution_shapes,
    "LayerNorm": _norm_shapes,
    "WeightedLayerPooling": _layer_weight_shapes,
}

# --- Diffusers ------------------------------------------------------------------------------------

_OF_COMPONENTS = ("config.json", "scheduler_config.json")


@rule("pipeline-parts", "consistent", "error")
def pipeline_parts(subject: Subject) -> Iterator[Found]:
    """A pipeline's index lacks a component that its class requires, or names a class that does not exist.

    Diffusers builds a pipeline from the components in model_index.json, and fails if one is missing. The index was
    edited, or belongs to another pipeline.
    """
    for entry, own in accepted.documents(subject, "model_index.json"):
        kind = own.get("_class_name")
        for part in _required_parts(own):
            if _is_absent(own.get(part)):
                yield Found(f"no {part}, which {kind} requires", entry.path)
        if isinstance(kind, str) and _is_unknown_class(own, kind):
            yield Found(f"Diffusers has no pipeline {kind:.60}", entry.path)
        for name, value in own.items():
            yield from accepted.reported(_wrong_part(subject, entry, name, value, own), entry.path)


_LIBRARIES = ("diffusers", "transformers")


def _is_unknown_class(own: Mapping[str, Any], name: str) -> bool:
    """Whether Diffusers has no such class; False for a file written by a newer version, which may have it."""
    return name not in data.table("choices")["diffusers_classes"] and _is_old(own)


def _wrong_part(subject: Subject, entry: Entry, name: str, value: Any, own: Mapping[str, Any]) -> Iterator[str]:
    """A component of a class that does not exist, or from a library that Diffusers does not load from."""
    match value:
        case ["diffusers", str(kind)]:
            if _is_unknown_class(own, kind) if kind[:1].isupper() else kind not in fields()["diffusers"]["fields"]:
                yield f"{name:.60} is of class {kind!r:.60}, which Diffusers does not have"
        case [str(library), str(kind)]:
            known = library in data.table("choices")["diffusers_libraries"] or "." in library
            places = {f"{entry.folder}{folder}{library}.py" for folder in ("", f"{name}/")}
            unknown = not known and places.isdisjoint(subject.by_path) and kind[:1].isupper() and _is_old(own)
            if unknown or (library not in _LIBRARIES and get_close_matches(library, _LIBRARIES, 1, 0.9)):
                yield f"{name:.60} is from {library!r:.40}, from which Diffusers does not load"
        case str() if not name.startswith("_") and name in _required_parts(own):
            yield f"{name:.60} is {value!r:.40}, but should name a library and a class"


def _is_old(own: Mapping[str, Any]) -> bool:
    """Whether a file was written by a known version, which has no other libraries."""
    return version(own.get("_diffusers_version")) <= version(data.table("choices")["diffusers_version"][0])


def _required_parts(own: Mapping[str, Any]) -> list[str]:
    """The components that a pipeline's class requires."""
    kind = own.get("_class_name")
    return list(fields()["diffusers"]["pipelines"].get(kind, ())) if isinstance(kind, str) else []


def _is_absent(part: Any) -> bool:
    """Whether an index declares a component absent: Diffusers checks only the library."""
    return part is None or (isinstance(part, list) and part[:1] == [None])


@rule("diffusers-field", "consistent", "error")
def diffusers_field(subject: Subject) -> Iterator[Found]:
    """A field of a Diffusers scheduler or model has a value that its class does not accept.

    Null in place of a number, an unknown word, a list of something other than block names: creating it ends with an
    error. A misspelt field name is a warning: Diffusers ignores the field and uses the default.
    """
    table = fields()["diffusers"]
    for entry, own in accepted.documents(subject, *_OF_COMPONENTS):
        kind = own.get("_class_name")
        if entry.name == "scheduler_config.json" and (inner := accepted.wrapped(own, "_class_name")):
            yield Found(f"everything is nested under {inner!r:.40}, where Diffusers does not look", entry.path)
        if "_class_name" in own and not isinstance(kind, str | list):
            yield Found(f"_class_name is {shown(kind)}, but should be a string", entry.path)
        if isinstance(kind, str) and kind in table["fields"]:
            wrong = list(_wrong_fields_of(own, kind, table))[: accepted.MOST]
            yield from (Found(what, entry.path, severity=severity) for what, severity in wrong)


def _wrong_fields_of(own: Mapping[str, Any], kind: str, table: Mapping[str, Any]) -> Iterator[tuple[str, Severity]]:
    names = table["names"].get(kind, ())
    words = table["checked"].get(kind, ())
    stepped = data.table("choices")["diffusers"].get(kind, {})
    is_known = version(own.get("_diffusers_version")) <= version(table["version"])
    yield from ((what, "error") for what in _wrong_blocks(own, kind))
    for field, value in own.items():
        if isinstance(value, list) and None in value and any(type(each) is int for each in value):
            yield f"{field} is {shown(value)}, which has null among numbers", "error"
        elif should := accepted.wrong_kind("diffusers", kind, field, value):
            yield f"{field} is {shown(value)}, but should be {should}", "error"
        elif (wrong_one := accepted.wrong_size(field, value)) is not None:
            yield f"{field} is {wrong_one}", "error"
        elif field in stepped and isinstance(value, str) and is_known and value not in stepped[field]:
            yield f"{field} is {shown(value)}, but should be one of {', '.join(stepped[field])}", "error"
        elif field in words and (wrong := _unknown_word(value, table["words"], is_known=is_known)) is not None:
            yield f"{field} has {shown(wrong)}, which {kind} does not know", "error"
        elif field not in names and names and not field.startswith("_"):
            near = get_close_matches(field.strip("_").lower().replace("-", "_"), names, 1, 0.9)
            if near and near[0] not in own:
                yield f"{field:.60} is not a field of {kind}: did you mean {near[0]}?", "warning"
            elif (
                field not in table["usual"]
                and field not in data.overlay("diffusers")["averaging"]
                and _is_of_version(own, table["version"])
            ):
                yield f"{field:.60} is not a field of any Diffusers class, and is ignored", "warning"


def _wrong_blocks(own: Mapping[str, Any], kind: str) -> Iterator[str]:
    """Groups that do not divide a block's channels, and lists of blocks of other lengths (`UNet2DConditionModel`)."""
    groups, widths = own.get("norm_num_groups"), own.get("block_out_channels")
    if not isinstance(widths, list) or not widths or not all(type(each) is int for each in widths):
        return
    odd = [each for each in widths if type(groups) is int and groups > 0 and each % groups]
    if odd:
        what = f"norm_num_groups ({integer(groups or 0)})"
        yield f"block_out_channels has {integer(odd[0])}, which is not a multiple of {what}"
    for field in ("down_block_types", "up_block_types"):
        blocks = own.get(field)
        if kind in data.overlay("diffusers")["with_blocks"] and isinstance(blocks, list) and len(blocks) != len(widths):
            yield f"{field} has {plural(len(blocks), 'block')}, but block_out_channels {integer(len(widths))}"


def _is_of_version(own: Mapping[str, Any], version: str) -> bool:
    """Whether a configuration was written by the version whose fields are known: others have different fields."""
    stated = own.get("_diffusers_version")
    return isinstance(stated, str) and stated.split(".")[:2] == version.split(".")[:2]


def _unknown_word(value: Any, words: list[str], *, is_known: bool = False) -> Any:
    """An invalid word in a field with a fixed vocabulary; None if all may be valid.

    A word unlike any known one may come from a newer version, unless the file was written by a known one.
    """
    for each in value if isinstance(value, list) else [value]:
        if isinstance(value, list) and not isinstance(each, str):
            return each if each is not None else "null"
        if isinstance(each, str) and each not in words and (is_known or get_close_matches(each, words, 1, 0.7)):
            return each
        if isinstance(each, str) and each.lower() in words and each not in words:
            return each
    return None
