"""Models of any class on the meta device, and the tensors that `save_pretrained` would write."""

from __future__ import annotations

import contextlib
import copy
import importlib
import inspect
import os
import pkgutil
import re
import types
from typing import TYPE_CHECKING, Any
from unittest import mock

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import torch
import transformers
from transformers import CONFIG_MAPPING, PreTrainedConfig, PreTrainedModel, initialization
from transformers.core_model_loading import revert_weight_conversion
from transformers.modeling_utils import remove_tied_weights_from_state_dict
from transformers.models.auto import modeling_auto

from zoo.build_uses import Followed, Use, marked, saved_uses, sources_of

if TYPE_CHECKING:
    from collections.abc import Iterator

Tensors = dict[str, list[Any]]

#: Auto mappings whose classes are recorded in every variant, the most specific head first; and those of other heads.
AUTO_MAPPINGS = {
    "CausalLM": "MODEL_FOR_CAUSAL_LM_MAPPING_NAMES",
    "ImageTextToText": "MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES",
    "Seq2SeqLM": "MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES",
    "SpeechSeq2Seq": "MODEL_FOR_SPEECH_SEQ_2_SEQ_MAPPING_NAMES",
    "MaskedLM": "MODEL_FOR_MASKED_LM_MAPPING_NAMES",
    "MultimodalLM": "MODEL_FOR_MULTIMODAL_LM_MAPPING_NAMES",
    "base": "MODEL_MAPPING_NAMES",
}
OTHER_HEADS = [
    "PreTraining", "SequenceClassification", "TokenClassification", "QuestionAnswering", "MultipleChoice",
    "NextSentencePrediction", "TextEncoding", "CTC", "RNNT", "TDT", "TextToWaveform", "TextToSpectrogram",
    "AudioClassification", "ImageClassification", "VideoClassification", "ObjectDetection",
    "ZeroShotObjectDetection", "SemanticSegmentation", "UniversalSegmentation", "DepthEstimation",
    "VisualQuestionAnswering", "MaskGeneration", "Retrieval", "TimeSeriesPrediction",
]  # fmt: skip


class Unbuildable(Exception):  # noqa: N818
    """A configuration or the model built from it was refused."""


def auto_classes(model_type: str) -> dict[str, tuple[str, bool]]:
    """Class name -> (auto mapping it came from, whether p2 and p3 are wanted), best first."""
    found: dict[str, tuple[str, bool]] = {}
    for auto in (*AUTO_MAPPINGS, *OTHER_HEADS):
        head = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", auto.replace("PreT", "Pret")).upper()
        names = getattr(modeling_auto, AUTO_MAPPINGS.get(auto, f"MODEL_FOR_{head}_MAPPING_NAMES"), {}).get(model_type)
        for name in (names,) if isinstance(names, str) else names or ():
            found.setdefault(name, (auto, auto in AUTO_MAPPINGS))
    return found


def exported_classes(model_type: str) -> dict[str, tuple[str, bool]]:
    """The same for a type that no auto mapping has: the classes of its modules for its configuration, exported ones first.

    Of classes that are not exported, one that is a part of another of them is left out.
    """
    config = CONFIG_MAPPING[model_type]
    found: dict[str, tuple[str, bool]] = {}
    inner: dict[str, type[PreTrainedModel]] = {}
    for module in modeling_modules(config):
        exported = getattr(module, "__all__", ())
        for name, cls in vars(module).items():
            model = _as_model(cls, module, config)
            if model is None:
                continue
            _RESOLVED[name] = model
            if name in exported:
                found[name] = (name, True)
            else:
                inner[name] = cls
    return found or {name: (name, True) for name in _outermost(inner)}


def modeling_modules(config: type[PreTrainedConfig]) -> list[types.ModuleType]:
    """The modules of a configuration's package that have models."""
    package = importlib.import_module(config.__module__.rpartition(".")[0])
    names = [each.name for each in pkgutil.iter_modules(package.__path__) if each.name.startswith("modeling_")]
    return [importlib.import_module(f"{package.__name__}.{name}") for name in names]


def _as_model(found: Any, module: types.ModuleType, config: type[PreTrainedConfig]) -> type[PreTrainedModel] | None:
    """A class of this module as a model of the configuration; None if it is none.

    A part that is a plain module is named like its configuration, and gets what a model has.
    """
    if not isinstance(found, type) or not issubclass(found, torch.nn.Module) or found.__module__ != module.__name__:
        return None
    cls: Any = found
    if issubclass(cls, PreTrainedModel):
        return cls if cls.config_class is config and not cls.__name__.endswith("PreTrainedModel") else None
    parameters = inspect.signature(vars(cls).get("__init__", object)).parameters
    needed = [name for name, each in parameters.items() if each.default is each.empty]
    if f"{cls.__name__}Config" != config.__name__ or needed != ["self", "config"]:
        return None
    part: Any = type(cls.__name__, (Part, cls), {"config_class": config, "__module__": cls.__module__})
    return part  # type: ignore[no-any-return]


class Part:
    """What a plain module lacks of a model."""

    base_model_prefix = ""

    @classmethod
    def _from_config(cls, config: PreTrainedConfig) -> Any:
        model: Any = cls(config)  # type: ignore[call-arg]
        model.config = config
        return model

    @property
    def dtype(self) -> torch.dtype:
        """The type of its first parameter."""
        return next(self.parameters()).dtype  # type: ignore[attr-defined, no-any-return]


def _outermost(classes: dict[str, type[PreTrainedModel]]) -> list[str]:
    """The classes that no other builds."""
    sources = {name: inspect.getsource(cls) for name, cls in classes.items()}
    return [
        name
        for name in classes
        if not any(re.search(rf"\b{name}\b", text) for other, text in sources.items() if other != name)
    ]


#: Classes that Transformers does not export, by name.
_RESOLVED: dict[str, type[PreTrainedModel]] = {}


def resolve_class(name: str, model_type: str = "") -> type[PreTrainedModel]:
    """The class of this name, also one of a type's modules that is not exported."""
    if not hasattr(transformers, name) and name not in _RESOLVED and model_type:
        exported_classes(model_type)
    cls = _RESOLVED.get(name) or getattr(transformers, name)
    if not isinstance(cls, type):
        raise Unbuildable(f"{name} is not a class")
    return cls


@contextlib.contextmanager
def on_meta() -> Iterator[None]:
    """The meta device, where `init_weights` initialises nothing but still ties weights.

    `no_init_weights` must not be used here: it turns the tying off as well. What fills tensors of no values took a half
    of the time that a model takes.
    """
    unfilled: Any = {
        name: lambda tensor, *_, **__: tensor
        for name in vars(torch.nn.init)
        if name.endswith("_") and not name.startswith("_")
    }
    with (
        torch.device("meta"),
        initialization.meta_device_safe_creation_ops(),
        mock.patch.multiple(torch.nn.init, **unfilled),
    ):
        yield


#: The model that showed last that its class builds with a configuration, with both.
_LAST: list[tuple[type[PreTrainedModel], PreTrainedConfig, PreTrainedModel]] = []


def builds(cls: type[PreTrainedModel], config: PreTrainedConfig) -> bool:
    """Whether a class builds with a configuration; the model is what `build_model` gives next for the two."""
    try:
        _LAST[:] = [(cls, config, build_model(cls, config))]
    except Unbuildable:
        return False
    return True


def build_model(cls: type[PreTrainedModel], config: PreTrainedConfig) -> PreTrainedModel:
    """Build on the meta device, with the attributes `save_pretrained` gives the config."""
    for last, of, model in _LAST:
        _LAST.clear()
        if last is cls and of is config:
            return model
    config = copy.deepcopy(config)
    try:
        with on_meta():
            model = cls._from_config(config)
        model.config.dtype = str(model.dtype).split(".")[1]  # raises for a model of no tensors
    except Exception as error:
        raise Unbuildable(f"{type(error).__name__}: {error}") from error
    model.config.architectures = [type(model).__name__]
    return model


def state_signature(model: PreTrainedModel) -> frozenset[tuple[str, tuple[int, ...], str]]:
    """Names, shapes and dtypes in memory, with ties: a cheap way to compare two models."""
    first: dict[int, str] = {}
    entries = []
    for name, tensor in model.state_dict(keep_vars=True).items():
        if isinstance(tensor, torch.Tensor):
            leader = first.setdefault(id(tensor), name)
            label = name if leader == name else f"{name} = {leader}"
            entries.append((label, tuple(tensor.shape), str(tensor.dtype)))
    return frozenset(entries)


def saved_tensors(model: PreTrainedModel) -> tuple[Tensors, dict[str, Use], str]:
    """What `save_pretrained` writes: name -> [shape, dtype, "param" | "buffer"], the tensors' uses, and a note.

    The steps are those of `PreTrainedModel.save_pretrained`: ignored keys are dropped, tied
    weights are dropped, and the loading-time conversions are reverted.
    """
    notes = []
    state = {k: v for k, v in model.state_dict().items() if isinstance(v, torch.Tensor)}
    part = isinstance(model, Part)
    for ignored in () if part else model._keys_to_ignore_on_save or ():
        state.pop(ignored, None)
    before = set(state)
    state = state if part else remove_tied_weights_from_state_dict(state, model)
    if dropped := sorted(before - set(state)):
        notes.append("tied, left out: " + ", ".join(dropped[:8]))
    parameters = {name for name, _ in model.named_parameters(remove_duplicate=False)}
    buffers = {name: tensor for name, tensor in state.items() if name not in parameters}
    names_in_memory = set(state)
    with Followed():
        saved = marked(dict(state)) if part else revert_weight_conversion(model, marked(dict(state)))
    buffer_names = {name for name in buffers if name in saved}
    if not part and (missing := {name: tensor for name, tensor in buffers.items() if name not in saved}):
        try:
            buffer_names |= set(revert_weight_conversion(model, missing))
        except Exception:
            notes.append("kind of converted buffers not known")
    if renamed := len(set(saved) - names_in_memory):
        notes.append(f"{renamed} names differ from the ones in memory (conversion)")
    tensors = {
        name: [
            list(tensor.shape),
            str(tensor.dtype).removeprefix("torch."),
            "buffer" if name in buffer_names else "param",
        ]
        for name, tensor in saved.items()
    }
    return tensors, saved_uses(model, sources_of(saved)), "; ".join(notes)
