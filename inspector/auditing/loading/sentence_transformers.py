"""Could sentence-transformers build its modules? Checks modules.json, each module's configuration, and its weights.

What the modules need is in `auditing/data/overlay.json`, names of classes in `fields.json`; shapes are those
of sentence_transformers' modules, version 6.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from inspector.auditing import data
from inspector.auditing.completeness.file_names import ANY_WEIGHTS
from inspector.auditing.loading.accepted_values import documents, fields, reported, version, wrong_kind
from inspector.auditing.rule import Found, rule
from inspector.auditing.subject import Subject
from inspector.model import Header, Severity
from inspector.sources.listing import Entry
from inspector.units import integer, times

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
_SHAPES = {"Dense": _dense_shapes, "CNN": _convolution_shapes, "LayerNorm": _norm_shapes}
_SHAPES["WeightedLayerPooling"] = _layer_weight_shapes
