"""Build ground truth about checkpoints: the tensors `save_pretrained` writes, per configuration.

For every model type `transformers` defines, the classes of its auto mappings are built on the
meta device from several configurations, and the name, shape, dtype and kind of each tensor that
`save_pretrained` would write is stored next to the config.json it would write. No weight is ever
allocated, so configurations of any size are cheap.

Variants of one model type (see `Perturber` and `single_field_variants`):

  default      the default configuration of the type
  p1, p2, p3   few layers, and a value of its own for each integer field, so that a dimension can
               be traced to an expression in the fields; p2 also flips `tie_word_embeddings` and
               changes layer patterns, p3 flips every boolean that still builds
  b_<field>    p1 with one boolean flipped
  i_<field>    p1 with one integer changed (`.v<value>`, `.none` for further values)
  f_, s_, l_, d_<field>   the same for floats, strings, lists and integers inside plain dicts

The single-field variants are written only when they change a name, a shape or a dtype against p1.

Usage:
  build.py [--out DIR] [--jobs N] [--timeout S] [--types a,b] [--stage causal,i2t,rest]
  build.py --verify N      compare p1 records against a real `save_pretrained` on the CPU
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import dataclasses
import functools
import gzip
import inspect
import json
import logging
import multiprocessing
import os
import re
import resource
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import torch
import transformers
from transformers import PreTrainedConfig, PreTrainedModel, initialization
from transformers.core_model_loading import revert_weight_conversion
from transformers.modeling_utils import remove_tied_weights_from_state_dict
from transformers.models.auto import modeling_auto
from transformers.models.auto.configuration_auto import CONFIG_MAPPING, CONFIG_MAPPING_NAMES

Path_ = tuple[str, ...]
Overrides = dict[Path_, Any]
Tensors = dict[str, list[Any]]

# Auto mappings, the most telling head first; the flag says whether p2, p3 are recorded as well.
AUTO_MAPPINGS: list[tuple[str, str, bool]] = [
    ("CausalLM", "MODEL_FOR_CAUSAL_LM_MAPPING_NAMES", True),
    ("ImageTextToText", "MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES", True),
    ("Seq2SeqLM", "MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES", True),
    ("SpeechSeq2Seq", "MODEL_FOR_SPEECH_SEQ_2_SEQ_MAPPING_NAMES", True),
    ("MaskedLM", "MODEL_FOR_MASKED_LM_MAPPING_NAMES", True),
    ("MultimodalLM", "MODEL_FOR_MULTIMODAL_LM_MAPPING_NAMES", True),
    ("base", "MODEL_MAPPING_NAMES", True),
    ("PreTraining", "MODEL_FOR_PRETRAINING_MAPPING_NAMES", False),
    ("SequenceClassification", "MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES", False),
    ("TokenClassification", "MODEL_FOR_TOKEN_CLASSIFICATION_MAPPING_NAMES", False),
    ("QuestionAnswering", "MODEL_FOR_QUESTION_ANSWERING_MAPPING_NAMES", False),
    ("MultipleChoice", "MODEL_FOR_MULTIPLE_CHOICE_MAPPING_NAMES", False),
    ("NextSentencePrediction", "MODEL_FOR_NEXT_SENTENCE_PREDICTION_MAPPING_NAMES", False),
    ("TextEncoding", "MODEL_FOR_TEXT_ENCODING_MAPPING_NAMES", False),
    ("CTC", "MODEL_FOR_CTC_MAPPING_NAMES", False),
    ("RNNT", "MODEL_FOR_RNNT_MAPPING_NAMES", False),
    ("TDT", "MODEL_FOR_TDT_MAPPING_NAMES", False),
    ("TextToWaveform", "MODEL_FOR_TEXT_TO_WAVEFORM_MAPPING_NAMES", False),
    ("TextToSpectrogram", "MODEL_FOR_TEXT_TO_SPECTROGRAM_MAPPING_NAMES", False),
    ("AudioClassification", "MODEL_FOR_AUDIO_CLASSIFICATION_MAPPING_NAMES", False),
    ("ImageClassification", "MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING_NAMES", False),
    ("VideoClassification", "MODEL_FOR_VIDEO_CLASSIFICATION_MAPPING_NAMES", False),
    ("ObjectDetection", "MODEL_FOR_OBJECT_DETECTION_MAPPING_NAMES", False),
    ("ZeroShotObjectDetection", "MODEL_FOR_ZERO_SHOT_OBJECT_DETECTION_MAPPING_NAMES", False),
    ("SemanticSegmentation", "MODEL_FOR_SEMANTIC_SEGMENTATION_MAPPING_NAMES", False),
    ("UniversalSegmentation", "MODEL_FOR_UNIVERSAL_SEGMENTATION_MAPPING_NAMES", False),
    ("DepthEstimation", "MODEL_FOR_DEPTH_ESTIMATION_MAPPING_NAMES", False),
    ("VisualQuestionAnswering", "MODEL_FOR_VISUAL_QUESTION_ANSWERING_MAPPING_NAMES", False),
    ("MaskGeneration", "MODEL_FOR_MASK_GENERATION_MAPPING_NAMES", False),
    ("Retrieval", "MODEL_FOR_RETRIEVAL_MAPPING_NAMES", False),
    ("TimeSeriesPrediction", "MODEL_FOR_TIME_SERIES_PREDICTION_MAPPING_NAMES", False),
]

GENERIC = set(PreTrainedConfig().to_dict()) | {
    "model_type",
    "transformers_version",
    "dtype",
    "num_labels",
    "architectures",
    "auto_map",
    "id2label",
    "label2id",
    "rope_parameters",
    "rope_scaling",
    "use_cache",
    "initializer_range",
}
KEEP = {"tie_word_embeddings", "is_encoder_decoder", "chunk_size_feed_forward"}
NOT_STRUCTURAL = re.compile(
    r"(_token_id|_token_ids|_token_index|_idx|_eps|_std|dropout|drop_rate|droprate|_prob|_coef|"
    r"layerdrop|_theta|_factor_init|initializer\w*|_loss_weight|_cost|_temperature|_loss)$"
)

LAYERS = re.compile(
    r"^(?!.*(shared|skip|dense|mtp|nextn|predict|first|last|feature))(.*_)?"
    r"(num_hidden_layers|n_layers?|num_layers|layers|depth|num_blocks|n_blocks|"
    r"num_hidden_blocks|num_encoder_blocks|layer_num)$"
)
HEADS = re.compile(
    r"^(num_attention_heads|n_heads?|num_heads|heads|(encoder|decoder)_attention_heads|"
    r"(encoder|decoder)_num_attention_heads|num_(encoder|decoder)_attention_heads|"
    r"num_query_heads)$"
)
KV_HEADS = re.compile(
    r"^((encoder_|decoder_)?(num_(key_value|kv)_heads|n_kv_heads?|multi_query_group_num|"
    r"num_key_value_heads))$"
)
HIDDEN = re.compile(r"^(hidden_size|d_model|n_embd|dim|embed_dim|embedding_dim|model_dim|width)$")
FEW_LAYERS = re.compile(r"(layers|n_dense|dense_replace)$")
KEY_HEADS = re.compile(r"(key|k|qk)_heads$")
VALUE_HEADS = re.compile(r"(value|v)_heads$")
STATE_HEADS = re.compile(r"(^|_)heads?$|num_heads$")
STATE_HEAD_DIM = re.compile(r"(d_head|head_?dim)$")
HEAD_DIM = re.compile(r"(^|_)(head_dim|d_kv|kv_channels|head_size|d_head|qk_head_dim)$")
VOCAB = re.compile(r"(^|_)vocab_size(_|$)")
EXPERTS = re.compile(r"^(num_experts|num_local_experts|n_routed_experts|moe_num_experts)$")

# One row per nested configuration: attention heads, key-value heads, width of a head.
ATTENTION = [
    [(6, 2, 16), (4, 2, 40), (8, 4, 24), (10, 5, 32), (14, 7, 48)],
    [(8, 2, 24), (6, 3, 40), (4, 2, 32), (12, 6, 48), (10, 5, 64)],
    [(12, 4, 24), (10, 5, 16), (6, 2, 40), (8, 4, 56), (4, 2, 72)],
]
LAYER_COUNTS = [[5, 3, 4, 2, 6, 7], [7, 4, 3, 5, 2, 6], [3, 5, 6, 4, 7, 2]]
EXPERT_COUNTS = [[7, 12, 16], [9, 10, 24], [11, 18, 32]]
PRIMES = [11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97]
PRIMES += [101, 103, 107, 109, 113, 127, 131, 137, 139, 149, 151, 157, 163, 167, 173, 179, 181]
VOCABS = [[499, 503, 509, 521, 523], [541, 547, 557, 563, 569], [601, 607, 613, 617, 619]]


MISSING = object()


MEMORY_LIMIT = 10 << 30  # of a worker; a few models make real tensors even on the meta device


class Unbuildable(Exception):  # noqa: N818
    """A configuration or the model built from it was refused."""


# --------------------------------------------------------------------------------------------
# Models


def auto_classes(model_type: str) -> dict[str, tuple[str, bool]]:
    """Class name -> (auto mapping it came from, whether p2 and p3 are wanted), best first."""
    found: dict[str, tuple[str, bool]] = {}
    for auto, attribute, full in AUTO_MAPPINGS:
        names = getattr(modeling_auto, attribute, {}).get(model_type)
        for name in (names,) if isinstance(names, str) else names or ():
            found.setdefault(name, (auto, full))
    return found


def resolve_class(name: str) -> type[PreTrainedModel]:
    cls = getattr(transformers, name)
    if not isinstance(cls, type):
        raise Unbuildable(f"{name} is not a class")
    return cls


@contextlib.contextmanager
def on_meta() -> Iterator[None]:
    """The meta device, where `init_weights` initialises nothing but still ties weights.

    `no_init_weights` must not be used here: it turns the tying off as well.
    """
    with torch.device("meta"), initialization.meta_device_safe_creation_ops():
        yield


def build_model(cls: type[PreTrainedModel], config: PreTrainedConfig) -> PreTrainedModel:
    """Build on the meta device, with the attributes `save_pretrained` gives the config."""
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
    """Names, shapes and dtypes in memory, ties told apart: cheap, to see whether two differ."""
    first: dict[int, str] = {}
    entries = []
    for name, tensor in model.state_dict(keep_vars=True).items():
        if isinstance(tensor, torch.Tensor):
            leader = first.setdefault(id(tensor), name)
            label = name if leader == name else f"{name} = {leader}"
            entries.append((label, tuple(tensor.shape), str(tensor.dtype)))
    return frozenset(entries)


def saved_tensors(model: PreTrainedModel) -> tuple[Tensors, str]:
    """What `save_pretrained` writes: name -> [shape, dtype, "param" | "buffer"], and a note.

    The steps are those of `PreTrainedModel.save_pretrained`: ignored keys are dropped, tied
    weights are dropped, and the loading-time conversions are reverted.
    """
    notes = []
    state = {k: v for k, v in model.state_dict().items() if isinstance(v, torch.Tensor)}
    for ignored in model._keys_to_ignore_on_save or ():
        state.pop(ignored, None)
    before = set(state)
    state = remove_tied_weights_from_state_dict(state, model)
    if dropped := sorted(before - set(state)):
        notes.append("tied, left out: " + ", ".join(dropped[:8]))
    parameters = {name for name, _ in model.named_parameters(remove_duplicate=False)}
    buffers = {name: tensor for name, tensor in state.items() if name not in parameters}
    names_in_memory = set(state)
    saved = revert_weight_conversion(model, dict(state))
    buffer_names = {name for name in buffers if name in saved}
    if missing := {name: tensor for name, tensor in buffers.items() if name not in saved}:
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
    return tensors, "; ".join(notes)


# --------------------------------------------------------------------------------------------
# Configurations


def nested_configs(config: PreTrainedConfig) -> dict[str, PreTrainedConfig]:
    return {k: v for k, v in vars(config).items() if isinstance(v, PreTrainedConfig)}


@functools.cache
def class_defaults(cls: type[PreTrainedConfig]) -> dict[str, Any]:
    try:
        return cls().to_dict()
    except Exception:
        return {}


def own_differences(config: PreTrainedConfig) -> dict[str, Any]:
    """Fields in which a configuration differs from the default one of its class."""
    default = class_defaults(type(config))
    nested = nested_configs(config)
    skip = {"transformers_version", "model_type", *nested}
    return {
        key: value
        for key, value in config.to_dict().items()
        if key not in skip and (key not in default or default[key] != value)
    }


def construct(template: PreTrainedConfig, overrides: Overrides) -> PreTrainedConfig:
    """A new configuration like the template, with other values at some (nested) fields.

    The constructor is run again, so that fields derived from others (layer patterns, say) follow.
    """

    def make(node: PreTrainedConfig, prefix: Path_) -> PreTrainedConfig:
        arguments = own_differences(node)
        for name, child in nested_configs(node).items():
            arguments[name] = make(child, (*prefix, name))
        for path, value in overrides.items():
            if path[:-1] == prefix:
                arguments[path[-1]] = copy.deepcopy(value)
            elif path[:-2] == prefix and isinstance(field_value(node, path[-2]), dict):
                table = arguments.get(path[-2]) or copy.deepcopy(field_value(node, path[-2]))
                arguments[path[-2]] = {**table, path[-1]: copy.deepcopy(value)}
        return type(node)(**arguments)

    try:
        return make(template, ())
    except Exception as error:
        raise Unbuildable(f"{type(error).__name__}: {error}") from error


def field_value(config: PreTrainedConfig, name: str) -> Any:
    """A field, also where its value differs between layers (a plain access then raises)."""
    return config._getattr_without_heterogeneous_validation(name, MISSING)


def walk(config: PreTrainedConfig, prefix: Path_ = ()) -> Iterator[tuple[Path_, Any, str, type]]:
    """Every field of a configuration that may shape a model: path, value, annotation, class."""
    known = dataclasses.fields(config) if dataclasses.is_dataclass(config) else ()
    fields = {field.name: field for field in known}
    nested = nested_configs(config)
    for name in [*fields, *(k for k in vars(config) if k not in fields)]:
        value = field_value(config, name)
        if name in nested or name.startswith("_") or value is MISSING:
            continue
        if (name in GENERIC and name not in KEEP) or (fields and name not in fields):
            continue
        annotation = fields[name].type if name in fields else ""
        text = annotation if isinstance(annotation, str) else str(annotation)
        if isinstance(annotation, type):
            text = annotation.__name__
        yield (*prefix, name), value, text, type(config)
    for name, child in nested.items():
        yield from walk(child, (*prefix, name))


def is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


class Perturber:
    """Finds configurations of a class with small, pairwise different values that still build."""

    def __init__(self, cls: type[PreTrainedModel], template: PreTrainedConfig, deadline: float) -> None:
        self.cls = cls
        self.template = template
        self.deadline = deadline
        self.attempts = 0

    def builds(self, overrides: Overrides) -> PreTrainedModel | None:
        """The model of these overrides, or None when it is refused."""
        if time.monotonic() > self.deadline:
            raise TimeoutError
        self.attempts += 1
        try:
            return build_model(self.cls, construct(self.template, overrides))
        except Unbuildable:
            return None

    def grow(self, base: Overrides, items: list[tuple[Path_, list[Any]]]) -> Overrides:
        """Add as many of the items as still build; each has values by order of preference."""
        if not items:
            return base
        trial = base | {path: values[0] for path, values in items}
        if self.builds(trial) is not None:
            return trial
        if len(items) == 1:
            path, values = items[0]
            for value in values[1:]:
                trial = base | {path: value}
                if self.builds(trial) is not None:
                    return trial
            return base
        middle = len(items) // 2
        return self.grow(self.grow(base, items[:middle]), items[middle:])

    def integers(self, k: int) -> list[list[tuple[Path_, list[Any]]]]:
        """The integer fields by groups, each with the values to try in variant p<k+1>."""
        scopes: dict[Path_, int] = {}
        used: set[int] = set()
        shifted = PRIMES[k * 5 :] + PRIMES[: k * 5]
        pool = iter([f * p for f in (8, 24, 40, 56, 72) for p in shifted])
        counts = iter(LAYER_COUNTS[k] * 20)
        vocabs = iter(VOCABS[k] * 20)
        layers, attention, rest = [], [], []
        fields = list(walk(self.template))
        patches = {path[:-1]: value for path, value, _, _ in fields if path[-1] == "patch_size" and is_int(value)}
        hidden_done: set[Path_] = set()
        head_dim_done: set[Path_] = set()
        for path, value, annotation, owner in fields:
            name, scope = path[-1], path[:-1]
            recurrent = "mamba" in name or "mamba" in owner.__name__.lower()
            unset = value is None and re.search(r"\bint\b", annotation) is not None
            if not (is_int(value) or unset):
                continue
            if NOT_STRUCTURAL.search(name) and not VOCAB.search(name):
                limit = VOCABS[k][0]
                if name == "pad_token_id" and is_int(value) and value >= limit:
                    layers.append((path, [1, 0]))
                continue
            row = ATTENTION[k][scopes.setdefault(scope, len(scopes)) % len(ATTENTION[k])]
            default = value if is_int(value) else 0
            others = [v for v in (3 * default, 2 * default, default // 2) if v > 1]
            if LAYERS.search(name) and default >= 3:
                layers.append((path, [next(counts), 2, 3, 4, 6, 8, 1, 12]))
            elif FEW_LAYERS.search(name) and default >= 2:
                layers.append((path, [2, 1, 0]))
            elif name.endswith("expand"):
                continue
            elif recurrent and STATE_HEAD_DIM.search(name):
                attention.append((path, [4 * row[2], *others]))
            elif recurrent and STATE_HEADS.search(name) and default > 1:
                attention.append((path, [row[0] // 2, *others]))
            elif name == "mamba_d_ssm":
                attention.append((path, [2 * row[0] * row[2], *others]))
            elif HEADS.search(name) and default > 1:
                attention.append((path, [row[0], *others]))
            elif KV_HEADS.search(name) and default != 1:
                attention.append((path, [row[1], row[0], *others]))
            elif HIDDEN.search(name) and scope not in hidden_done and default > 1:
                hidden_done.add(scope)
                attention.append((path, [row[0] * row[2], *others]))
                used.add(row[0] * row[2])
            elif KEY_HEADS.search(name) and default > 1:
                attention.append((path, [(4, 2, 6)[k], *others]))
            elif VALUE_HEADS.search(name) and default > 1:
                attention.append((path, [(12, 10, 18)[k], *others]))
            elif HEAD_DIM.search(name) and scope not in head_dim_done:
                head_dim_done.add(scope)
                attention.append((path, [(56, 88, 72)[k] + 40 * scopes[scope], *others]))
            elif VOCAB.search(name) and default > 1:
                attention.append((path, [next(vocabs), *others]))
            elif EXPERTS.search(name) and default > 1:
                rest.append((path, [*EXPERT_COUNTS[k], *others]))
            elif unset:
                continue
            elif name == "patch_size" and default > 1:
                attention.append((path, [(6, 10, 4)[k], 8, *others]))
            elif name == "image_size" and scope in patches and default > 1:
                side = (5, 3, 7)[k] * (6, 10, 4)[k]
                attention.append((path, [side, 64, *others]))
            elif 2 <= default <= 12:
                near = [default + k + d for d in range(12)] + [max(1, default - 1)]
                choice = [v for v in near if v not in used][:1]
                used.update(choice)
                rest.append((path, [*choice, *others]))
            elif default > 12:
                choice = [next(v for v in pool if v not in used)]
                used.update(choice)
                rest.append((path, [*choice, *others]))
        labels = [(("num_labels",), [(13, 17, 19)[k]])]
        return [layers, attention, rest + labels]

    def numbered(self, k: int, base: Overrides | None = None) -> Overrides:
        """Overrides of p<k+1> before booleans and layer patterns are changed."""
        overrides: Overrides = dict(base or {})
        groups = self.integers(k)
        everything = [item for group in groups for item in group]
        trial = {path: values[0] for path, values in everything}
        if groups[0] and self.builds(trial) is not None:
            return trial
        short = {path: values[0] for path, values in groups[0]}
        if not short or self.builds(short) is None:
            cut = short | self.cut_lists(short, LAYER_COUNTS[k][0])
            if self.builds(cut) is not None:
                overrides = cut
        for group in groups:
            left = [item for item in group if item[0] not in overrides]
            overrides = self.grow(overrides, left)
        return overrides

    def cut_lists(self, counts: Overrides, default_count: int) -> Overrides:
        """Lists with an entry per layer, shortened so that each kind of layer stays."""
        found: Overrides = {}
        for path, value, _, _ in walk(self.template):
            if not isinstance(value, (list, tuple)) or len(value) <= 12:
                continue
            length = next((n for p, n in counts.items() if p[:-1] == path[:-1]), default_count)
            values = list(value)
            kinds = {str(kind): i for i, kind in reversed(list(enumerate(values)))}
            firsts = sorted(kinds.values())[:length]
            others = [i for i in range(len(values)) if i not in firsts]
            indices = sorted((firsts + others)[:length])
            found[path] = [values[i] for i in indices]
        return found

    def patterns(self, overrides: Overrides, k: int) -> list[tuple[Path_, list[Any]]]:
        """Other values for the lists of a configuration (layer patterns and the like)."""
        config = construct(self.template, overrides)
        items: list[tuple[Path_, list[Any]]] = []
        for path, value, _, _ in walk(config):
            if not isinstance(value, (list, tuple)):
                continue
            values = list(value)
            if values and all(isinstance(v, (str, bool)) for v in values):
                shifted = values[k:] + values[:k]
                items.append((path, [shifted if k == 1 else values[::-1], values[::-1]]))
            elif values and all(is_int(v) for v in values):
                counts = re.search(r"depth|layers|blocks", path[-1])
                if len(values) > 1 and max(values) <= 64 and counts:
                    items.append((path, [[2 + (i + k) % 2 for i in range(len(values))]]))
                else:
                    items.append((path, [[(k + 1) * v for v in values]]))
            elif not values and re.search("layer|index", path[-1]):
                items.append((path, [[1] if k == 1 else [0, 2]]))
        return items

    def booleans(self, overrides: Overrides) -> list[tuple[Path_, list[Any]]]:
        config = construct(self.template, overrides)
        return [
            (path, [not value])
            for path, value, _, _ in walk(config)
            if isinstance(value, bool) and path[-1] != "is_encoder_decoder"
        ]

    def variants(self) -> dict[str, Overrides]:
        """The overrides of p1, p2 and p3."""
        found: dict[str, Overrides] = {}
        with contextlib.suppress(TimeoutError):
            for k in range(3):
                overrides = self.numbered(k)
                if k:
                    overrides = self.grow(overrides, self.patterns(overrides, k))
                flips = self.booleans(overrides) if k else []
                if k == 1:
                    flips = [item for item in flips if item[0][-1] == "tie_word_embeddings"]
                overrides = self.grow(overrides, flips)
                if overrides:
                    found[f"p{k + 1}"] = overrides
        return found


def string_values(cls: type[PreTrainedModel], owner: type, field: str, annotation: str) -> list[str]:
    """The strings a field may hold, as its annotation and the modeling code mention them."""
    values = re.findall(r"'([^']*)'", annotation) if "Literal" in annotation else []
    for module in {cls.__module__, owner.__module__}:
        with contextlib.suppress(Exception):
            source = inspect.getsource(sys.modules[module])
            pattern = rf"\b{re.escape(field)}\s*(?:==|!=|in|not in)\s*([\[\(\{{]?[^:\n]*)"
            for tail in re.findall(pattern, source):
                values += re.findall(r"[\"']([\w\-]+)[\"']", tail)
    return list(dict.fromkeys(values))[:12]


def alternatives(
    path: Path_, value: Any, annotation: str, owner: type, cls: type[PreTrainedModel]
) -> Iterator[tuple[str, list[Any], bool]]:
    """Prefix of the variant, values to try, and whether all are wanted or the first that builds."""
    name = path[-1]
    optional = "None" in annotation
    if isinstance(value, bool):
        yield "b", [not value], False
    elif is_int(value):
        if NOT_STRUCTURAL.search(name):
            return
        if value > 12:
            yield "i", [2 * value, 3 * value, value + 8, value + 1, value // 2], False
        else:
            yield "i", [value + 1, 2 * value, value + 2], False
            yield "i", [v for v in (value - 1, 0) if 0 <= v != value], True
        if optional:
            yield "i", [None], True
        if re.search(r"\bbool\b", annotation):
            yield "b", [True, False], True
    elif isinstance(value, float):
        if not NOT_STRUCTURAL.search(name):
            yield "f", [2 * value, value / 2], False
    elif isinstance(value, str):
        yield "s", [v for v in string_values(cls, owner, name, annotation) if v != value], True
    elif isinstance(value, (list, tuple)):
        values = list(value)
        if values and all(isinstance(v, str) for v in values):
            kinds = list(dict.fromkeys([*values, *string_values(cls, owner, name, annotation)]))
            if name == "layer_types":
                kinds += [t for t in LAYER_KINDS if t not in kinds]
            yield "l", [[kind] * len(values) for kind in kinds], True
        elif values and all(is_int(v) for v in values):
            yield "l", [[2 * v for v in values], [v + 1 for v in values]], False
        elif not values:
            yield "l", [[1], [0, 2]], False
        if optional:
            yield "l", [None], True
    elif value is None and not NOT_STRUCTURAL.search(name):
        if re.search(r"\bbool\b", annotation):
            yield "b", [True, False], True
        if re.search(r"\bint\b", annotation) and "list[int]" not in annotation:
            yield "i", [104, 2, 1], False
        if re.search(r"\bfloat\b", annotation):
            yield "f", [0.5, 2.0], False
        if re.search(r"\bstr\b|Literal", annotation):
            yield "s", string_values(cls, owner, name, annotation), True
        if re.search(r"list\[int\]|list\b", annotation):
            yield "l", [[1], [0, 2]], False


LAYER_KINDS: tuple[str, ...] = (
    "full_attention",
    "sliding_attention",
    "chunked_attention",
    "linear_attention",
    "conv",
    "moe",
    "hybrid",
    "sparse",
    "dense",
)


def shown(value: Any) -> str:
    """A value as part of a file name."""
    if isinstance(value, list):
        unique = list(dict.fromkeys(map(str, value)))
        return "-".join(unique[:4])
    return "none" if value is None else f"v{value}" if not isinstance(value, str) else value


def single_field_variants(
    perturber: Perturber, base: Overrides
) -> Iterator[tuple[str, str, PreTrainedModel, Overrides]]:
    """The p1 configuration with one field changed, where that changes the tensors."""
    model = perturber.builds(base)
    if model is None:
        return
    reference = state_signature(model)
    config = construct(perturber.template, base)
    fields = list(walk(config))
    for path, value, annotation, owner in list(fields):  # noqa: B007
        if isinstance(value, dict) and not re.search(r"rope|label|act", path[-1]):
            fields += [((*path, k), v, "", owner) for k, v in value.items() if isinstance(k, str)]
    rank = {bool: 0, int: 1, type(None): 2, list: 2, str: 3, float: 4}
    fields.sort(key=lambda field: rank.get(type(field[1]), 5))
    for path, value, annotation, owner in fields:
        if path[-1] in ("is_encoder_decoder", "use_cache"):
            continue
        first = True
        for prefix, values, every in alternatives(path, value, annotation, owner, perturber.cls):
            for other in values:
                overrides = base | {path: other}
                model = perturber.builds(overrides)
                if model is None:
                    continue
                label = f"{prefix}_{'.'.join(path)}"
                if not first or every:
                    label += f".{shown(other)}"
                first = False
                if state_signature(model) != reference:
                    note = f"{'.'.join(path)}: {shown(value)} -> {shown(other)}"
                    yield label, note, model, overrides
                if not every:
                    break


# --------------------------------------------------------------------------------------------
# Records


def as_json(config: PreTrainedConfig, use_diff: bool) -> dict[str, Any]:
    return json.loads(config.to_json_string(use_diff=use_diff))


def attribute_maps(config: PreTrainedConfig) -> dict[str, dict[str, str]]:
    """Other names of fields, by the dotted path of the (nested) configuration ("" is the top)."""
    maps = {"": dict(config.attribute_map)} if config.attribute_map else {}
    for name, child in nested_configs(config).items():
        for path, aliases in attribute_maps(child).items():
            maps[f"{name}.{path}".rstrip(".")] = aliases
    return maps


def record(
    out: Path,
    model_type: str,
    auto: str,
    variant: str,
    model: PreTrainedModel,
    note: str,
    overrides: Overrides | None = None,
) -> None:
    """Write one truth file."""
    tensors, saving_note = saved_tensors(model)
    content = {
        "model_type": model_type,
        "class": type(model).__name__,
        "auto": auto,
        "variant": variant,
        "base_model_prefix": model.base_model_prefix,
        "config": as_json(model.config, True),
        "config_full": as_json(model.config, False),
        "attribute_map": attribute_maps(model.config),
        "overrides": {".".join(path): value for path, value in (overrides or {}).items()},
        "tensors": tensors,
        "note": "; ".join(part for part in (note, saving_note) if part),
    }
    safe = re.sub(r"[^\w.\-]+", "_", variant)[:120]
    target = out / f"{model_type}__{type(model).__name__}__{safe}.json.gz"
    partial = target.with_suffix(f".{os.getpid()}.tmp")
    with gzip.open(partial, "wt", compresslevel=4) as stream:
        json.dump(content, stream)
    partial.replace(target)


def template_for(model_type: str, cls: type[PreTrainedModel]) -> tuple[PreTrainedConfig, str]:
    """The default configuration a class of this type is built from, and a note."""
    arguments = CONSTRUCTOR_ARGUMENTS.get(model_type, {})
    config = CONFIG_MAPPING[model_type](**copy.deepcopy(arguments))
    notes = [f"default configuration with {arguments}"] if arguments else []
    wanted = cls.config_class
    if wanted is not None and not isinstance(config, wanted):
        inner = [child for child in nested_configs(config).values() if isinstance(child, wanted)]
        if inner:
            config = inner[0]
            notes.append(f"built from a nested configuration of {model_type}")
    if builds_alone(cls, config):
        return config, "; ".join(notes)
    for repair in [REPAIRS[model_type]] if model_type in REPAIRS else GENERIC_REPAIRS:
        with contextlib.suppress(Unbuildable):
            repaired = construct(config, repair)
            build_model(cls, repaired)
            shown_repair = ", ".join(f"{'.'.join(p)}={str(v)[:60]}" for p, v in repair.items())
            notes.append(f"the default configuration does not build; set {shown_repair}")
            return repaired, "; ".join(notes)
    return config, "; ".join(notes)


def builds_alone(cls: type[PreTrainedModel], config: PreTrainedConfig) -> bool:
    try:
        build_model(cls, config)
    except Unbuildable:
        return False
    return True


# Values for fields without which the default configuration of a type builds no model.
ROPE = {"rope_type": "default", "rope_theta": 10000.0}
IMAGE_TOKENS = {"<image>": 10, "<|image token|>": 10, "IMGIMG": 11, "<|visual token 000000|>": 12}
GENERIC_REPAIRS: list[Overrides] = [
    {("head_dim",): 128},
    {("num_key_value_heads",): 8},
    {("num_key_value_heads",): 8, ("head_dim",): 128},
    {("text_config", "head_dim"): 128},
    {("text_config", "num_key_value_heads"): 8},
    {("rope_parameters",): {"full_attention": ROPE, "sliding_attention": ROPE}},
    {("vocabulary_map",): IMAGE_TOKENS},
]
REPAIRS: dict[str, Overrides] = {
    "dots1": {
        ("n_routed_experts",): 128,
        ("n_shared_experts",): 2,
        ("num_experts_per_tok",): 6,
        ("first_k_dense_replace",): 1,
    },
    "lfm2_moe": {("layer_types",): (["conv", "conv", "full_attention", "conv"] * 8)},
    "cohere_compass_text": {("rope_parameters",): {"full_attention": ROPE, "sliding_attention": ROPE}},
    "cohere_compass": {("text_config", "rope_parameters"): {"full_attention": ROPE, "sliding_attention": ROPE}},
    "dbrx": {("attn_config", "rope_theta"): 10000.0},
    "emu3": {("vocabulary_map",): IMAGE_TOKENS},
    "chameleon": {("vocabulary_map",): IMAGE_TOKENS},
    "deepseek_ocr2": {
        ("text_config", "mlp_layer_types"): ["dense"] + ["sparse"] * 31,
    },
    "reformer": {("is_decoder",): True},
    "qwen4_exp_text": {
        ("indexer_n_heads",): 4,
        ("indexer_kv_heads",): 1,
        ("indexer_head_dim",): 256,
        ("indexer_budget",): 2048,
        ("indexer_compress_ratio",): 16,
    },
    "qwen4_exp": {
        (
            "text_config",
            "indexer_n_heads",
        ): 4,
        (
            "text_config",
            "indexer_kv_heads",
        ): 1,
        (
            "text_config",
            "indexer_head_dim",
        ): 256,
        (
            "text_config",
            "indexer_budget",
        ): 2048,
        (
            "text_config",
            "indexer_compress_ratio",
        ): 16,
    },
    "aya_vision": {("vision_config", "num_attention_heads"): 16},
    "autoformer": {("prediction_length",): 24},
    "informer": {("prediction_length",): 24},
    "time_series_transformer": {("prediction_length",): 24},
    "esm": {("vocab_size",): 33, ("pad_token_id",): 1},
    "granite4_vision": {
        ("downsample_rate",): "4/8",
        ("deepstack_layer_map",): [[-1, 0], [-2, 1]],
    },
    "qwen3_omni_moe": {("talker_config", "text_config", "shared_expert_intermediate_size"): 768},
    "perception_lm": {("vision_config", "model_args"): {"embed_dim": 1024, "img_size": [448, 448]}},
    "diffusion_gemma": {
        ("text_config", "num_experts"): 16,
        ("text_config", "top_k_experts"): 2,
        ("text_config", "moe_intermediate_size"): 704,
    },
}
ASSISTANT = {"hidden_size_per_layer_input": 0, "vocab_size_per_layer_input": 0}
CONSTRUCTOR_ARGUMENTS: dict[str, dict[str, Any]] = {
    "gemma4_assistant": {"text_config": {"model_type": "gemma4_text", **ASSISTANT}},
    "gemma4_unified_assistant": {"text_config": {"model_type": "gemma4_unified_text", **ASSISTANT}},
}


def build_type(model_type: str, out: Path, budget: float, fail: Callable[[str, str, str], None]) -> None:
    """All records of one model type."""
    deadline = time.monotonic() + budget
    classes = auto_classes(model_type)
    if not classes:
        fail("-", "-", "no auto mapping has this type (part of another model)")
        return
    ready: list[tuple[str, str, bool, type[PreTrainedModel], PreTrainedConfig, str]] = []
    for name, (auto, full) in classes.items():
        try:
            cls = resolve_class(name)
            template, note = template_for(model_type, cls)
            if template.model_type != model_type and auto_classes(template.model_type):
                continue  # the type of the text configuration has records of its own
            model = build_model(cls, template)
            record(out, model_type, auto, "default", model, note)
            ready.append((name, auto, full, cls, template, note))
        except Exception as error:
            fail(name, "default", f"{type(error).__name__}: {error}")
            with contextlib.suppress(Exception):
                cls = resolve_class(name)
                template, note = template_for(model_type, cls)
                ready.append((name, auto, full, cls, template, note))
    if not ready:
        return

    def recorded(variant: str, entry: Any, overrides: Overrides) -> None:
        name, auto, _, cls, template, note = entry
        try:
            model = build_model(cls, construct(template, overrides))
            record(out, model_type, auto, variant, model, note, overrides)
        except Exception as error:
            fail(name, variant, f"{type(error).__name__}: {error}")

    # One set of values for the classes that share a template; single fields for the first class.
    probes: dict[type, tuple[Perturber, dict[str, Overrides]]] = {}
    for entry in ready:
        name, auto, full, cls, template, note = entry
        kind = type(template)
        if kind not in probes:
            share = time.monotonic() + max(5.0, (deadline - time.monotonic()) * 0.6)
            perturber = Perturber(cls, template, share)
            probes[kind] = (perturber, perturber.variants())
            if not probes[kind][1]:
                fail(name, "p1", "no perturbed configuration builds")
        for variant, overrides in probes[kind][1].items():
            if full or variant == "p1":
                recorded(variant, entry, overrides)
    heads = [entry for entry in ready if entry[1] in ("CausalLM", "ImageTextToText")][:2]
    for entry in heads or ready[:1]:
        name, auto, _, cls, template, note = entry
        base = probes[type(template)][1].get("p1")
        if base is None:
            continue
        perturber = Perturber(cls, template, deadline)
        try:
            for variant, change, model, overrides in single_field_variants(perturber, base):
                try:
                    record(out, model_type, auto, variant, model, change, overrides)
                except Exception as error:
                    fail(name, variant, f"{type(error).__name__}: {error}")
        except TimeoutError:
            fail(name, "single", "time budget used up, single-field variants incomplete")


def worker(model_type: str, out: Path, budget: float, failures: Path) -> None:
    """One type in a process of its own."""
    torch.set_num_threads(1)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, 1)
    os.dup2(devnull, 2)

    def fail(name: str, variant: str, reason: str) -> None:
        reason = " ".join(reason.split())[:300]
        with failures.open("a") as stream:
            stream.write(f"{model_type}\t{name}\t{variant}\t{reason}\n")

    started = time.monotonic()
    try:
        build_type(model_type, out, budget, fail)
    except BaseException as error:
        fail("-", "-", f"{type(error).__name__}: {error} | {traceback.format_exc()[-200:]}")
    with (out.parent / "done.tsv").open("a") as stream:
        stream.write(f"{model_type}\t{time.monotonic() - started:.1f}\n")
    os._exit(0)


def ordered_types(stages: list[str]) -> list[str]:
    causal = list(modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES)
    images = list(modeling_auto.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES)
    images += list(getattr(modeling_auto, "MODEL_FOR_MULTIMODAL_LM_MAPPING_NAMES", {}))
    seen = {*causal, *images}
    rest = [t for t in CONFIG_MAPPING_NAMES if t not in seen]
    rest.sort(key=lambda t: not auto_classes(t))
    stage = {"causal": causal, "i2t": [t for t in images if t not in causal], "rest": rest}
    return list(dict.fromkeys(t for name in stages for t in stage[name]))


def run(types: list[str], out: Path, jobs: int, timeout: float) -> None:
    """Build the types, some at a time, each with a hard time limit."""
    context = multiprocessing.get_context("fork")
    failures = out.parent / "failures.tsv"
    waiting = list(reversed(types))
    active: dict[str, tuple[Any, float]] = {}
    while waiting or active:
        while waiting and len(active) < jobs:
            model_type = waiting.pop()
            process = context.Process(target=worker, args=(model_type, out, timeout * 0.7, failures), daemon=True)
            process.start()
            active[model_type] = (process, time.monotonic())
        for model_type, (process, started) in list(active.items()):
            if process.is_alive() and time.monotonic() - started > timeout:
                process.kill()
                with failures.open("a") as stream:
                    stream.write(f"{model_type}\t-\t-\tkilled after {timeout:.0f} s\n")
            if not process.is_alive():
                process.join()
                del active[model_type]
        time.sleep(0.02)


# --------------------------------------------------------------------------------------------
# Verification


def without_dtype(value: Any) -> Any:
    """A configuration without `dtype`, which a reloaded one also writes into nested ones."""
    if isinstance(value, dict):
        return {k: without_dtype(v) for k, v in value.items() if k != "dtype"}
    return [without_dtype(v) for v in value] if isinstance(value, list) else value


def verify_one(path: Path, limit: int) -> str:
    """Compare one record with the header of a checkpoint that `save_pretrained` really writes."""
    from safetensors import safe_open

    with gzip.open(path, "rt") as stream:
        truth = json.load(stream)
    size = 0
    for shape, _, _ in truth["tensors"].values():
        count = 1
        for length in shape:
            count *= length
        size += count
    if size > limit:
        return f"skipped ({size} elements)"
    cls = resolve_class(truth["class"])
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "config.json").write_text(json.dumps(truth["config_full"]))
        config = cls.config_class.from_json_file(str(Path(folder) / "config.json"))
    model = cls(config)
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        found = {}
        for file in Path(folder).glob("*.safetensors"):
            with safe_open(file, "pt") as reader:
                for name in reader.keys():
                    tensor = reader.get_slice(name)
                    found[name] = [tensor.get_shape(), tensor.get_dtype()]
        written = json.loads((Path(folder) / "config.json").read_text())
    codes = {
        "F32": "float32",
        "BF16": "bfloat16",
        "F16": "float16",
        "I64": "int64",
        "BOOL": "bool",
        "I32": "int32",
        "C64": "complex64",
        "F64": "float64",
        "U8": "uint8",
    }
    actual = {name: (tuple(shape), codes.get(code, code)) for name, (shape, code) in found.items()}
    expected = {name: (tuple(s), d) for name, (s, d, _) in truth["tensors"].items()}
    if actual != expected:
        missing = sorted(set(expected) - set(actual))
        extra = sorted(set(actual) - set(expected))
        other = [n for n in actual if n in expected and actual[n] != expected[n]]
        return f"DIFFERS not written {missing[:3]} not recorded {extra[:3]} other {other[:3]}"
    if without_dtype(written) != without_dtype(truth["config"]):
        keys = [k for k in {*written, *truth["config"]} if written.get(k) != truth["config"].get(k)]
        return f"same {len(actual)} tensors; config.json differs in {sorted(keys)[:5]}"
    return f"same {len(actual)} tensors, same config.json"


def verify(out: Path, types: list[str], variants: list[str], limit: int) -> None:
    """Verify the records of some types; one forked process each, one line of result per record."""
    context = multiprocessing.get_context("fork")
    for model_type in types:
        for variant in variants:
            for path in sorted(out.glob(f"{model_type}__*__{variant}.json.gz")):

                def check(path: Path = path) -> None:
                    warnings.simplefilter("ignore")
                    try:
                        result = verify_one(path, limit)
                    except Exception as error:
                        reason = " ".join(str(error).split())[:200]
                        result = f"FAILED {type(error).__name__}: {reason}"
                    print(f"{path.name.removesuffix('.json.gz')}\t{result}", flush=True)
                    os._exit(0)

                process = context.Process(target=check)
                process.start()
                process.join(60)
                if process.is_alive():
                    process.kill()
                    print(f"{path.name}\tTIMEOUT", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("truth"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds per model type")
    parser.add_argument("--types", default="", help="only these model types, comma separated")
    parser.add_argument("--stage", default="causal,i2t,rest")
    parser.add_argument("--verify", default="", help="verify these variants (p1,p2,...)")
    parser.add_argument("--limit", type=int, default=60_000_000, help="elements, with --verify")
    parser.add_argument("--resume", action="store_true", help="leave out the types already done")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    arguments.out.mkdir(parents=True, exist_ok=True)
    types = [t for t in arguments.types.split(",") if t]
    types = types or ordered_types(arguments.stage.split(","))
    if arguments.verify:
        verify(arguments.out, types, arguments.verify.split(","), arguments.limit)
        return
    if arguments.resume and (arguments.out.parent / "done.tsv").exists():
        lines = (arguments.out.parent / "done.tsv").read_text().splitlines()
        done = {line.split("\t")[0] for line in lines}
        types = [t for t in types if t not in done]
    started = time.monotonic()
    run(types, arguments.out, arguments.jobs, arguments.timeout)
    print(f"{len(types)} types in {time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main()
