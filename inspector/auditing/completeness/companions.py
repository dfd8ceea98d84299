"""Are the files there that loaders need beside the weights: vocabularies, configurations, components?

The names are those of Transformers and PEFT, by their source: tokenization_utils_base, and config of PEFT.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from inspector.auditing import data
from inspector.auditing.loading.accepted_values import documents
from inspector.auditing.rule import Found, rule
from inspector.auditing.subject import Subject
from inspector.opening.configs import ADAPTER_FILE
from inspector.sources.filenames import WEIGHTS

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
        kind = subject.document(entry.folder + "tokenizer_config.json").get("tokenizer_class")
        kind = kind or subject.document(entry.folder + "config.json").get("model_type")
        both = isinstance(kind, str) and _BYTE_PAIRS.match(kind) is not None
        if both and other not in names and not names & _OTHER_MERGES:
            yield Found(f"no {other} beside it, which the tokenizer needs: download it", entry.path)


_OTHER_MERGES = frozenset({"bpe.codes", "vocab-src.json", "vocab.bpe"})
#: Prefixes of the names of tokenizers like GPT-2's, and of the models that use them.
_BYTE_PAIRS = re.compile(_NAMES["byte_pairs"], re.IGNORECASE)


@rule("no-vocabulary", "whole", "error")
def no_vocabulary(subject: Subject) -> Iterator[Found]:
    """A tokenizer's configuration without its vocabulary.

    Transformers creates a tokenizer with an empty vocabulary, or fails. Download the vocabulary: tokenizer.json,
    tokenizer.model, vocab.json or the file that this model uses.
    """
    for entry, own in documents(subject, "tokenizer_config.json"):
        names = subject.names_beside(entry)
        kind = own.get("tokenizer_class")
        there = any(map(VOCABULARY.search, names - NO_VOCABULARY))
        if entry.kind != "file" or own.get("auto_map") or there:
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
            here = subject.names_in(f"{entry.folder}{path}")  # some classes name it after themselves: `cnn_config.json`
            if kind in _CONFIGURED and path and not any(name.endswith("config.json") for name in here):
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
