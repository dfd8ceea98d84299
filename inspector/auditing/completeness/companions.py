"""Are all companion files that loaders need present?

The files that Transformers, PEFT and llama.cpp look for, according to their source: tokenization_utils_base and
modeling_utils of Transformers, config of PEFT, and llama-model-loader.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from inspector.auditing.rule import Found, rule
from inspector.auditing.subject import Subject
from inspector.model import Header, Severity
from inspector.opening.configs import ADAPTER_FILE
from inspector.sources.filenames import INDEX, shard_of
from inspector.units import integer, plural

#: Stems of sharded weights → the index by which Transformers, Diffusers and Accelerate find the shards.
_INDEXED = {
    "model": "model.safetensors.index.json",
    "diffusion_pytorch_model": "diffusion_pytorch_model.safetensors.index.json",
    "pytorch_model": "pytorch_model.bin.index.json",
}


@rule("no-index", "whole", "error")
def no_index(subject: Subject) -> Iterator[Found]:
    """Shards without the index that maps each tensor to its shard.

    Transformers and Diffusers find the shards only by the index, and do not load the model without it. Download it.
    llama.cpp and vLLM need none: only a warning if no configuration shows that this is a Transformers or Diffusers
    model.
    """
    shards: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for entry in subject.entries:
        shard = shard_of(entry.path)
        if shard and shard.total > 1 and shard.suffix in (".safetensors", ".bin"):
            shards[shard.stem, shard.suffix].append(entry.path)
    for (stem, suffix), paths in shards.items():
        folder, slash, name = stem.rpartition("/")
        own, _, variant = name.partition(".")
        if own not in _INDEXED or (suffix == ".bin") != (own == "pytorch_model"):
            continue
        # The variant's name precedes or follows the format's: `model.safetensors.index.fp16.json`.
        usual = folder + slash + _INDEXED[own]
        named = {usual, f"{stem}{suffix}.index.json", usual.replace("index.json", f"index.{variant}.json")}
        if named.isdisjoint(subject.by_path) and folder + slash + own + suffix not in subject.by_path:
            loaded = "config.json" in subject.names_in(folder) if folder else "config.json" in subject.by_path
            what = f"{plural(len(paths), 'shard')} but no {_INDEXED[own]}: download it"
            yield Found(what, paths[0], severity="error" if loaded else "warning")


@rule("shadowed-shards", "whole", "warning")
def shadowed_shards(subject: Subject) -> Iterator[Found]:
    """A single file is loaded in place of the shards beside it.

    Transformers loads `model.safetensors` if it exists, and looks for an index and its shards only otherwise. Either
    the file or the shards are left over: delete them.
    """
    for entry in subject.named("model" + INDEX):
        single = entry.folder + "model.safetensors"
        shards = [
            path for path in subject.by_path if path.startswith(entry.folder) and _is_shard_of(path, entry.folder)
        ]
        if entry.name == "model" + INDEX and single in subject.by_path and shards:
            yield Found(f"loaded in place of {plural(len(shards), 'shard')} and their index", single)


def _is_shard_of(path: str, folder: str) -> bool:
    shard = shard_of(path)
    return shard is not None and shard.total > 1 and shard.stem == folder + "model" and shard.suffix == ".safetensors"


#: Names under which loaders open a file.
_FILES = frozenset(
    {
        *("config.json", "tokenizer.json", "tokenizer_config.json", "generation_config.json", "adapter_config.json"),
        *("preprocessor_config.json", "processor_config.json", "model_index.json", "modules.json", "vocab.json"),
        *("model.safetensors", "adapter_model.safetensors", "pytorch_model.bin", "model.safetensors.index.json"),
        *("diffusion_pytorch_model.safetensors", "tokenizer.model", "merges.txt", "vocab.txt", "scheduler_config.json"),
        *("special_tokens_map.json", "chat_template.jinja", "spiece.model"),
    }
)


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
        if (
            entry.kind == "file"
            and entry.name not in _FILES
            and name in _FILES
            and entry.folder + name not in subject.by_path
        ):
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


@rule("lone-part", "whole", "error")
def lone_part(subject: Subject) -> Iterator[Found]:
    """A part of a split GGUF has a name that does not show it.

    llama.cpp finds the other parts by the name of the first, `…-00001-of-00003.gguf`, and refuses any other name.
    Restore the parts' original names, or download them again.
    """
    for header in subject.all_headers:
        count = header.metadata.get("split.count") if header.format == "gguf" else None
        if isinstance(count, int) and count > 1 and shard_of(header.path) is None:
            yield Found(f"one of {integer(count)} parts, but its name does not say which", header.path)


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
        if other not in names and _needs_both(subject, entry.folder) and not names & _OTHER_MERGES:
            yield Found(f"no {other} beside it, which the tokenizer needs: download it", entry.path)


_OTHER_MERGES = frozenset({"bpe.codes", "vocab-src.json", "vocab.bpe"})
#: Prefixes of the names of tokenizers like GPT-2's, and of the models that use them.
_BYTE_PAIRS = re.compile(
    r"(gpt2|gpt_neo(?!x_j)|gptj|roberta|xlm_?roberta_xl|bart|led|longformer|mvp|blenderbot|clip|codegen|ctrl|deberta(?!_?v2)|"
    r"qwen2|qwen3|whisper|openai_?gpt|opt|herbert|layoutlmv3|biogpt|luke|markuplm|olmo|starcoder2|granite|falcon|bloom)"
    r"(_|Tokenizer|TokenizerFast|$|\d)",
    re.IGNORECASE,
)


def _needs_both(subject: Subject, folder: str) -> bool:
    kind = subject.document(folder + "tokenizer_config.json").get("tokenizer_class")
    kind = kind or subject.document(folder + "config.json").get("model_type")
    return isinstance(kind, str) and _BYTE_PAIRS.match(kind) is not None


@rule("no-vocabulary", "whole", "error")
def no_vocabulary(subject: Subject) -> Iterator[Found]:
    """A tokenizer's configuration without its vocabulary.

    Transformers creates a tokenizer with an empty vocabulary, or fails. Download the vocabulary: tokenizer.json,
    tokenizer.model, vocab.json or the file that this model uses.
    """
    for entry in subject.named("tokenizer_config.json"):
        if entry.name != "tokenizer_config.json" or entry.kind != "file":
            continue
        names = subject.names_beside(entry)
        own = subject.document(entry.path)
        kind = own.get("tokenizer_class")
        if own.get("auto_map") or any(VOCABULARY.search(name) for name in names - NO_VOCABULARY):
            continue
        if isinstance(kind, str) and not _OF_BYTES.match(kind):
            yield Found(f"{kind:.60} has no vocabulary beside it: download it", entry.path)


NO_VOCABULARY = frozenset({"tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"})
#: Files in which some tokenizer stores its vocabulary.
VOCABULARY = re.compile(
    r"(?i)(tokenizer|tekken|vocab|merges|spiece|sentencepiece|\.spm$|\.model$|\.tiktoken$|bpe|dict|codes|\.gguf$|emoji|"
    r"spm|tokens|\.vocab$|rwkv|\.py$)"
)
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
            if header is None or not _says_its_own(header):
                yield Found(f"no {ADAPTER_FILE} beside it: download it", entry.path)
    for entry in subject.named("config.json"):
        if entry.name == "config.json":
            own = subject.document(entry.path)
            if isinstance(own.get("peft_type"), str) and "model_type" not in own:
                yield Found(f"an adapter's configuration: rename it to {ADAPTER_FILE}", entry.path)


def _says_its_own(header: Header) -> bool:
    """Whether an adapter contains its configuration, as Diffusers' do."""
    return any("adapter" in key or "lora" in key or key == "format_version" for key in header.metadata)
