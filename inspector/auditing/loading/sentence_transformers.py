"""Could sentence-transformers build its modules? Checks modules.json, each module's configuration, and its weights.

Fields, files and shapes are those of sentence_transformers' modules (Dense, CNN, LSTM, …), version 6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from inspector.auditing.completeness.file_names import ANY_WEIGHTS
from inspector.auditing.loading.config_fields import version, wrong_kind
from inspector.auditing.rule import Found, rule
from inspector.auditing.subject import Subject
from inspector.model import Header
from inspector.opening import configs
from inspector.sources.listing import Entry
from inspector.units import integer, times


class _Module(NamedTuple):
    """The files and fields from which a class of module is built."""

    needed: tuple[tuple[str, ...], ...] = ()  # required fields, each with its older names
    file: str = "config.json"
    weighted: bool = False


_WIDTH = ("embedding_dimension", "word_embedding_dimension")
_MODULES: Mapping[str, _Module] = {
    "Dense": _Module((("in_features",), ("out_features",)), weighted=True),
    "CNN": _Module((("in_embedding_dimension", "in_word_embedding_dimension"),), "cnn_config.json", weighted=True),
    "LSTM": _Module((_WIDTH, ("hidden_dim",)), "lstm_config.json", weighted=True),
    "LayerNorm": _Module((("dimension",),), weighted=True),
    "WeightedLayerPooling": _Module((_WIDTH,), weighted=True),
    "Pooling": _Module((_WIDTH,)),
    "BoW": _Module(),
    "WordWeights": _Module(),
}
#: Module → all fields that it accepts: they are its constructor's arguments, so any other fails.
_FIELDS: Mapping[str, frozenset[str]] = {
    "Pooling": frozenset({*_WIDTH, "pooling_mode", "include_prompt"}),
    "Dropout": frozenset({"dropout"}),
}
#: The classes of torch.nn.modules.activation.
_ACTIVATIONS = frozenset(
    {
        *(
            *("CELU", "ELU", "GELU", "GLU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "LeakyReLU"),
            "LogSigmoid",
        ),
        *("LogSoftmax", "Mish", "PReLU", "RReLU", "ReLU", "ReLU6", "SELU", "SiLU", "Sigmoid", "Softmax", "Softmax2d"),
        *("Softmin", "Softplus", "Softshrink", "Softsign", "Tanh", "Tanhshrink", "Threshold"),
    }
)
_POOLING = frozenset({"cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken"})
#: The Transformer module's configuration, and the names it had for other kinds of encoder.
_TRANSFORMER = (
    *("sentence_bert_config.json", "sentence_roberta_config.json", "sentence_distilbert_config.json"),
    *("sentence_camembert_config.json", "sentence_albert_config.json", "sentence_xlm-roberta_config.json"),
    "sentence_xlnet_config.json",
)
#: Values of its field `transformer_task` (TRANSFORMER_TASK_TO_AUTO_MODEL).
_TASKS = frozenset(
    {
        *("feature-extraction", "sequence-classification", "text-generation", "fill-mask", "any-to-any"),
        *("image-text-to-text", "retrieval"),
    }
)


@rule("sentence-module", "whole", "error")
def sentence_module(subject: Subject) -> Iterator[Found]:
    """A sentence-transformers module cannot be built.

    modules.json lists the modules in order, each with its folder and class. A module lacks its weights or a required
    field, or a matrix disagrees with its configuration: loading ends with an error.
    """
    yield from _alone(subject)
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
        unordered = [Found(what, entry.path) for what in _wrong_order(listed, subject.names_beside(entry))]
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


#: The version whose classes are known, and these.
_VERSION = (6, 2)
_CLASSES = frozenset(
    {
        *(
            *("Asym", "BoW", "CLIPModel", "CNN", "Dense", "Dropout", "HierarchicalTokenPooling", "LSTM"),
            "LambdaTokenPooling",
        ),
        *("LayerNorm", "LogitScore", "MLMTransformer", "MultiVectorMask", "Normalize", "Pooling", "Router"),
        *("SparseAutoEncoder", "SparseStaticEmbedding", "SpladePooling", "StaticEmbedding", "Transformer"),
        *("WeightedLayerPooling", "WordEmbeddings", "WordWeights", "CSRSparsity", "IDF"),
    }
)
#: Classes that take text or images; a model begins with one of them.
_INPUTS = frozenset(
    {
        *("Transformer", "MLMTransformer", "CLIPModel", "BoW", "WordEmbeddings", "StaticEmbedding", "Asym", "Router"),
        *("SparseStaticEmbedding", "IDF"),
    }
)
#: Classes that need one vector for a text, which a pooling makes of its tokens'.
_OF_SENTENCES = frozenset({"Dense", "Normalize", "LayerNorm"})


def _is_unknown(subject: Subject, entry: Entry, kind: str) -> bool:
    """Whether no version of the library up to the known one has a class."""
    written = subject.document(entry.folder + "config_sentence_transformers.json").get("__version__")
    stated = written.get("sentence_transformers") if isinstance(written, Mapping) else None
    own = kind.startswith("sentence_transformers.")
    return own and kind.rpartition(".")[2] not in _CLASSES and version(stated) <= _VERSION


def _wrong_order(listed: list[Any], names: frozenset[str]) -> Iterator[str]:
    """A model begins with what takes its input, and pools tokens before it changes the text's vector."""
    kinds = [module.get("type") if isinstance(module, Mapping) else None for module in listed]
    own = [each.rpartition(".")[2] for each in kinds if isinstance(each, str) and each.startswith("sentence_transf")]
    if len(own) < len(kinds):  # some are the model's own
        return
    if own[0] in _CLASSES - _INPUTS and "config.json" in names:
        yield f"it begins with {own[0]}, which takes no text"
    early = next((kind for kind in own if kind in _OF_SENTENCES | {"Pooling"}), "")
    if early != "Pooling" and "Pooling" in own and "Transformer" in own:
        yield f"{early} comes before Pooling, which makes the vector that it needs"


# --- what each module takes from the one before it ----------------------------------------------

_TOKENS, _TEXT = "token_embeddings", "sentence_embedding"
#: Class of module → the features that its `forward` reads and writes, unless its configuration names others.
_FLOWS: Mapping[str, tuple[str, str]] = {
    "Transformer": ("", _TOKENS),
    "BoW": ("", _TEXT),
    "Pooling": (_TOKENS, _TEXT),
    "Dense": (_TEXT, _TEXT),
    "Normalize": (_TEXT, _TEXT),
    "LayerNorm": (_TEXT, _TEXT),
    "Dropout": (_TEXT, _TEXT),
}
#: Classes whose configuration may name the feature that they read, and the one that they write.
_NAMING_INPUT, _NAMING_OUTPUT = ("Dense", "Normalize"), ("Dense", "Normalize", "Transformer")


def _wrong_flow(subject: Subject, entry: Entry, listed: list[Any]) -> Iterator[Found]:
    """The first module that reads a feature that no earlier one writes, or that has another width."""
    made: dict[str, int | None] = {}  # feature → its width, if that is known
    for module in listed:
        kind, path = (module.get(each) if isinstance(module, Mapping) else None for each in ("type", "path"))
        name = kind.rpartition(".")[2] if isinstance(kind, str) and kind.startswith("sentence_transformers.") else ""
        if name not in _FLOWS or not isinstance(path, str):
            return  # nobody knows what it reads and writes
        folder = entry.folder + (f"{path.strip('/')}/" if path.strip("/") else "")
        where = folder + (_TRANSFORMER[0] if name == "Transformer" else "config.json")
        own = subject.document(where)
        reads, writes = _flow(own, name)
        if reads and not made:  # a first module that takes no text: another check
            return
        if reads and reads not in made and name != "Normalize":  # which then does nothing
            yield Found(f"{name} takes {reads!r:.60}, which no module before it makes", where)
            return
        field = {"Dense": "in_features", "LayerNorm": "dimension"}.get(name, "")
        takes, gets = own.get(field), made.get(reads)
        if type(takes) is int and gets is not None and takes != gets:
            yield Found(f"{field} is {integer(takes)}, but the module before makes {integer(gets)}", where)
            return
        if reads in made or not reads:
            made[writes] = _width(subject, folder, own, name, gets)


def _flow(own: Mapping[str, Any], name: str) -> tuple[str, str]:
    """The features that a module reads and writes."""
    usual, after = _FLOWS[name]
    reads = own.get("module_input_name") if name in _NAMING_INPUT else None
    reads = reads if isinstance(reads, str) and reads else usual
    writes = own.get("module_output_name") if name in _NAMING_OUTPUT else None
    if isinstance(writes, str) and writes:
        return reads, writes
    return reads, reads if name in _NAMING_INPUT else after


def _width(subject: Subject, folder: str, own: Mapping[str, Any], name: str, before: int | None) -> int | None:
    """The width of what a module writes; None if it is not known."""
    width: Any = before
    if name == "Dense":
        width = own.get("out_features")
    elif name == "BoW":
        width = len(own["vocab"]) if isinstance(own.get("vocab"), list) else None
    elif name == "Transformer":
        model = subject.document(folder + "config.json")
        width = None if model.keys() & {"auto_map", "word_embed_proj_dim"} else model.get("hidden_size")
    elif name == "Pooling":  # several ways of pooling give as many vectors
        several = any(field.startswith("pooling_mode_") for field in own)
        width = before if isinstance(own.get("pooling_mode"), str) and not several else None
    return width if type(width) is int else None


def _wrong_module(subject: Subject, entry: Entry, path: str, kind: str) -> Iterator[Found]:
    here = subject.names_in(entry.folder + path) if path else subject.names_beside(entry)
    module = _MODULES.get(kind, _Module())
    if kind == "Transformer":
        if "config.json" not in here:
            yield Found(f"{kind} has no {path + '/' if path else ''}config.json: download it", entry.path)
        for name in _TRANSFORMER:
            where = f"{entry.folder}{path}/{name}" if path else entry.folder + name
            yield from (Found(what, where) for what in _wrong_transformer(subject.document(where)))
        return
    if kind in _MODULES and path and module.file not in here:
        yield Found(f"{kind} has no {path:.60}/{module.file}: download it", entry.path)
    if module.weighted and here and not any(name.endswith(ANY_WEIGHTS) for name in here):
        yield Found(f"{kind} has no weights in {path:.60}: download them", entry.path)
    where = f"{entry.folder}{path}/{module.file}"
    own = subject.document(where) if path else {}
    if own:
        yield from (Found(what, where) for what in _wrong_fields(own, kind))


def _wrong_fields(own: Mapping[str, Any], kind: str) -> Iterator[str]:
    """Fields of a module's configuration that are missing, wrong or unknown."""
    for names in _MODULES[kind].needed if kind in _MODULES else ():
        if not any(type(own.get(name)) is int for name in names):
            yield f"{kind} needs {names[0]}, a whole number"
    modes = own.get("pooling_mode", ()) if kind == "Pooling" else ()
    for mode in modes if isinstance(modes, list | tuple) else [modes]:
        if mode not in _POOLING:
            yield f"unknown pooling_mode {str(mode)[:40]!r}"
    for field, value in own.items():
        if field in ("module_input_name", "module_output_name") and not isinstance(value, str):
            yield f"{field} is {str(value)[:40]}, but should be a string"
        elif should := wrong_kind("modules", kind, field, value):
            yield f"{field} is {str(value)[:40]}, but should be {should}"
        elif kind in _FIELDS and field not in _FIELDS[kind] and not field.startswith("pooling_mode_"):
            yield f"{kind} has no field {field:.40}"


def _wrong_transformer(own: Mapping[str, Any]) -> Iterator[str]:
    """The Transformer module's description of its model: the task, and the method and output of each modality."""
    task = own.get("transformer_task", "feature-extraction")
    if task not in _TASKS:
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


#: Module → fields that identify its configuration if its folder is audited as a separate model.
_KNOWN_BY: Mapping[str, frozenset[str]] = {
    "Dense": frozenset({"in_features", "out_features", "activation_function"}),
    "CNN": frozenset({"out_channels", "kernel_sizes"}),
    "WeightedLayerPooling": frozenset({"layer_start", "num_hidden_layers"}),
}


def _alone(subject: Subject) -> Iterator[Found]:
    """Compares the tensors of a module, which in its folder looks like a separate model, with its configuration."""
    for header in subject.all_headers:
        folder = header.path[: header.path.rfind("/") + 1]
        for kind in _KNOWN_BY if header.format == "safetensors" else ():
            own = subject.document(folder + _MODULES[kind].file)
            if own.keys() >= _KNOWN_BY[kind]:
                yield from _wrong_shapes(header, kind, own)
                yield from (Found(what, folder + _MODULES[kind].file) for what in _wrong_function(own))
        own = subject.document(folder + "config.json")
        if own.keys() == {"dimension"} and header.format == "safetensors":
            yield from _wrong_shapes(header, "LayerNorm", own)


def _wrong_function(own: Mapping[str, Any]) -> Iterator[str]:
    """An activation function that PyTorch does not have."""
    function = own.get("activation_function")
    module, _, name = function.rpartition(".") if isinstance(function, str) else ("", "", "")
    if module == "torch.nn.modules.activation" and name not in _ACTIVATIONS:
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


def _dense(own: Mapping[str, Any]) -> Shapes:
    outputs, inputs = own["out_features"], own["in_features"]
    yield "linear.weight", (outputs, inputs)
    if own.get("bias", True):
        yield "linear.bias", (outputs,)
    if own.get("use_residual") and outputs != inputs:
        yield "residual.weight", (outputs, inputs)


def _convolutions(own: Mapping[str, Any]) -> Shapes:
    width = own.get("in_embedding_dimension", own.get("in_word_embedding_dimension"))
    channels, kernels = own["out_channels"], own["kernel_sizes"]
    if len(kernels) > MOST_KERNELS:
        raise OverflowError
    if not all(type(each) is int for each in (width, channels, *kernels)):
        raise TypeError(kernels)
    for at, kernel in enumerate(kernels):
        yield f"convs.{at}.weight", (channels, width or 0, kernel)
        yield f"convs.{at}.bias", (channels,)


def _norm(own: Mapping[str, Any]) -> Shapes:
    yield from (("norm.weight", (own["dimension"],)), ("norm.bias", (own["dimension"],)))


def _weights_of_layers(own: Mapping[str, Any]) -> Shapes:
    yield "layer_weights", (own["num_hidden_layers"] + 1 - own["layer_start"],)


#: The most convolutions of one module.
MOST_KERNELS = 1_000
_SHAPES: Mapping[str, Callable[[Mapping[str, Any]], Shapes]] = {
    "Dense": _dense,
    "CNN": _convolutions,
    "LayerNorm": _norm,
    "WeightedLayerPooling": _weights_of_layers,
}
