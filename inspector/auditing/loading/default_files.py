"""What would Transformers or Diffusers take from this folder? Their default names, and what they expect in the file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from inspector.auditing import data
from inspector.auditing.loading.accepted_values import documents, is_of_transformers
from inspector.auditing.rule import Found, rule
from inspector.auditing.subject import Subject
from inspector.opening.configs import ADAPTER_FILE
from inspector.sources.listing import Entry

_NAMES = data.names("weights")

#: Weights that are loaded by default.
_DEFAULT = re.compile(r"(?:diffusion_)?(?:pytorch_)?model(?:-\d+-of-\d+)?\.(?:safetensors|bin)(?:\.index\.json)?")
#: The same as a variant, `model.fp16.safetensors`, with the variant's name.
_VARIANT = re.compile(_NAMES["variant"])


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
