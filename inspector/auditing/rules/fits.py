"""Do the files fit each other: ids and embedding, lists and layers, both halves of an adapter, a GGUF's own lists?"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from math import prod
from typing import Any

from inspector.architectures import predicted_gguf
from inspector.auditing.rules import tokenizer_json
from inspector.auditing.rules.gguf import table as gguf_table
from inspector.auditing.rules.rule import Found, rule
from inspector.auditing.rules.subject import Subject
from inspector.bridge.summary import of_role
from inspector.formats.gguf.types import FILE_TYPES
from inspector.formats.gguf.values import KeyValues
from inspector.model import Header, Labelled, Severity
from inspector.opening.configs import ADAPTER_FILE
from inspector.units import integer, plural

_rule = partial(rule, group="consistent")


def embedding_of(subject: Subject) -> Labelled | None:
    """The text model's token embedding, if whole and two-dimensional; None if packed, or if there are two."""
    result = subject.result
    if result is None:
        return None
    if sum(each.tensors for each in result.roles if each.role == "embed_tokens") != 1:
        return None
    own = next(of_role(result.tensors, "embed_tokens"), None)
    whole = own is not None and own.key.part == "weight" and len(own.tensor.shape) == 2
    whole = whole and own is not None and own.tensor.dtype in _PLAIN  # a packed one has a different number of rows
    return own if own is not None and whole and own.key.tower in ("text", "decoder", "encoder") else None


# --- the configuration ------------------------------------------------------------------------


#: Fields with a token's id, and whether a loader indexes the embedding by it at once.
_IDS: Mapping[str, bool] = {
    "pad_token_id": True,
    "eos_token_id": False,
    "bos_token_id": False,
    "decoder_start_token_id": False,
}


@_rule("token-id", "error")
def token_id(subject: Subject) -> Iterator[Found]:
    """A special token's id is beyond the embedding.

    PyTorch refuses to create an embedding whose padding row is out of range; generation that waits for an end token
    that cannot come never stops. The configuration belongs to another model, or tokens were added without resizing: a
    warning for those that only the tokenizer knows.
    """
    embedding = embedding_of(subject)
    if embedding is None:
        return
    rows = max(embedding.tensor.shape)
    for name in ("config.json", "generation_config.json"):
        path = subject.folder + name
        own = subject.document(path)
        text = own.get("text_config")
        for scope in (own, text if isinstance(text, Mapping) else {}):
            for field in {**_IDS, **dict.fromkeys(_further_ids(scope), False)}:
                for number in _numbers(scope.get(field)):
                    if number >= rows:
                        what = f"{field} is {integer(number)}, and the embedding has {plural(rows, 'row')}"
                        severity: Severity = "error" if _IDS.get(field) and name == "config.json" else "warning"
                        yield Found(what, path, embedding.tensor.name, severity)
    path = subject.folder + "tokenizer_config.json"
    added = subject.document(path).get("added_tokens_decoder")
    ids = (
        [int(number) for number in added if number.isdecimal() and len(number) < 10] if isinstance(added, dict) else []
    )
    if beyond := [number for number in ids if number >= rows]:
        what = f"added tokens up to {integer(max(beyond))}, beyond the embedding's {plural(rows, 'row')}"
        yield Found(what, path, embedding.tensor.name, "warning")


def _further_ids(scope: Mapping[str, Any]) -> list[str]:
    """Fields with the ids of other tokens: of images, of the start of generation."""
    ids = (field for field in scope if field.endswith(("_token_id", "_token_index")) and field not in _IDS)
    return [field for field in ids if not field.startswith("_")]  # reserved by the class


def _numbers(value: Any) -> Iterator[int]:
    for each in value if isinstance(value, list) else [value]:
        if type(each) is int:
            yield each


#: Fields with an item for each layer → the field with the number of layers.
_PER_LAYER: Mapping[str, str] = {"layer_types": "num_hidden_layers", "mlp_layer_types": "num_hidden_layers"}


@_rule("layer-list", "error")
def layer_list(subject: Subject) -> Iterator[Found]:
    """A list with one item per layer has a different number of items than there are layers.

    Transformers refuses such a configuration. It was edited, or layers were taken out of the model.
    """
    if subject.config is None or subject.config.kind != "config.json":
        return
    values = subject.config.values
    for name, scope in (
        ("", values),
        *((key + ".", each) for key, each in values.items() if isinstance(each, Mapping)),
    ):
        for field, number in _PER_LAYER.items():
            listed, layers = scope.get(field), scope.get(number)
            if isinstance(listed, list) and type(layers) is int and len(listed) != layers:
                what = f"{name}{field} has {plural(len(listed), 'item')}, but {name}{number} is {integer(layers)}"
                yield Found(what, subject.config.path)


#: Tensors beyond which shapes are not compared one by one.
_MOST_SHAPES = 20_000


@_rule("transposed", "error")
def transposed(subject: Subject) -> Iterator[Found]:
    """A tensor has as many elements as the configuration gives it, in other dimensions.

    Under the name that Transformers gives it, and not packed: it compares shapes as they are, and refuses, be it one
    number where there should be a list of one. The file was written by a program of another layout, or edited.
    Statistics that batch norms keep are compared whatever their size.
    """
    result = subject.result
    prediction = result.prediction if result else None
    if result is None or prediction is None or prediction.config.kind != "config.json" or result.adapter is not None:
        return
    stored = {
        tensor.name: (tensor, header.path)
        for header in subject.headers
        if header.format == "safetensors" and len(header.tensors) <= _MOST_SHAPES
        for tensor in header.tensors
        if tensor.dtype in _PLAIN or tensor.dtype == "I64"
    }
    for row in (*prediction.expected, *prediction.tied) if stored else ():
        for name in row.names() if row.stacked is None else ():
            tensor, path = stored.get(name, (None, ""))
            if tensor and tensor.shape != row.shape and (prod(tensor.shape) == prod(row.shape) or _is_statistic(name)):
                told = _times(tensor.shape), _times(row.shape)
                yield Found(f"{told[0]} stored, {told[1]} = {' × '.join(row.formula)} predicted", path, name)


def _times(shape: Sequence[int]) -> str:
    return "×".join(map(str, shape)) if shape else "a single number"


def _is_statistic(name: str) -> bool:
    """Whether a tensor is a statistic of a batch norm, which no parameter count includes."""
    return name.endswith((".running_mean", ".running_var", ".num_batches_tracked"))


#: Modules that some models fuse in one matrix and others keep separate.
_FUSED = {
    **dict.fromkeys(("q_proj", "k_proj", "v_proj"), ("qkv_proj",)),
    **dict.fromkeys(("gate_proj", "up_proj"), ("gate_up_proj",)),
    "qkv_proj": ("q_proj",),
    "gate_up_proj": ("gate_proj",),
}


@_rule("tensor-names", "warning")
def tensor_names(subject: Subject) -> Iterator[Found]:
    """Tensors have other names than those that Transformers looks for in this model.

    The same weights, held in one matrix where the model has them apart, or the other way round, or under a prefix that
    the other tensors do not have: Transformers fills what it misses with random numbers, and drops what it finds. The
    file belongs to another program or another model.
    """
    result = subject.result
    prediction = result.prediction if result else None
    if result is None or prediction is None or prediction.config.kind != "config.json" or result.packing:
        return
    if result.adapter is not None or "auto_map" in prediction.config.values or subject.incomplete:
        return
    files = [each for each in subject.headers if each.format == "safetensors" and len(each.tensors) <= _MOST_SHAPES]
    stored = {tensor.name for header in files for tensor in header.tensors}
    rows = [row for row in prediction.expected if row.experts is None and row.stacked is None]
    wanted = {name for row in rows for name in row.names()}
    lost = wanted - stored
    if not stored or len(lost) * 2 > len(wanted):
        yield from list(_wrapped(stored, wanted)) or _renamed(stored, wanted)
        return  # of another convention as a whole
    base = _base(wanted)
    held = {name: name for name in sorted(stored)}  # the names by which each is taken, and the one that it has
    if base:
        held = {each.removeprefix(f"{base}."): each for each in held} | {f"{base}.{each}": each for each in held} | held
    lost, extra = wanted - held.keys(), {name: None for name in (*sorted(stored), *held) if name not in wanted}
    for name in sorted(lost):
        other = next((each for each in (*_elsewhere(name), *_prefixed(name, extra)) if each in held), None)
        if other is not None:
            yield Found(f"Transformers looks for {name:.100}", None, held[other])
            return
    yield from _renamed(held, wanted)


#: What training puts around a model, and leaves in the names of its tensors.
_WRAPPERS = ("_orig_mod.", "module.", "_forward_module.", "_fsdp_wrapped_module.", "state_dict.")


#: Parts of names by which conventions differ: Transformers' own, and others' for the same.
_OTHERS = (
    (".layers.", ".h."),
    (".layers.", ".blocks."),
    (".layers.", ".layer."),
    (".self_attn.", ".attention."),
    (".weight", ".kernel"),
)


def _renamed(stored: Collection[str], wanted: Collection[str]) -> Iterator[Found]:
    """Names that are right but for a word that another convention has in its place."""
    lost, extra = {*wanted} - {*stored}, {*stored} - {*wanted}
    for own, other in _OTHERS:
        moved = [name for name in lost if own in name and name.replace(own, other, 1) in extra]
        if moved:
            name = min(moved)
            yield Found(f"Transformers looks for {name:.100}", None, name.replace(own, other, 1))
            return


def _wrapped(stored: Collection[str], wanted: Collection[str]) -> Iterator[Found]:
    """Names that are correct except for a prefix or infix added by a training program."""
    for wrapper in _WRAPPERS:
        inner = {name: name.replace(wrapper, "") for name in stored if wrapper in name}
        if len({*inner.values()} & {*wanted}) * 2 > len(wanted):
            name = min(inner)
            yield Found(f"Transformers looks for {inner[name]:.100}, without {wrapper}", None, name)
            return


def _prefixed(name: str, extra: Collection[str]) -> Iterator[str]:
    """The name with one prefix added or removed, as in the model's other tensors."""
    yield from (each for each in extra if each.endswith("." + name))
    while "." in name:
        name = name.partition(".")[2]
        if name in extra:
            yield name


def _base(wanted: Collection[str]) -> str:
    """The name of the model within a model with a head, which Transformers adds to names or takes off; else ""."""
    first, number = Counter(name.partition(".")[0] for name in wanted).most_common(1)[0]
    return first if number * 4 > len(wanted) * 3 else ""


def _elsewhere(name: str) -> Iterator[str]:
    """Possible names of the same weights: with the module fused, or split."""
    stem, _, tail = name.rpartition(".")
    parent, _, module = stem.rpartition(".")
    yield from (f"{parent}.{other}.{tail}" for other in _FUSED.get(module, ()))


@_rule("dtype-mixture", "warning")
def dtype_mixture(subject: Subject) -> Iterator[Found]:
    """The same kind of weights has another dtype in one shard than in the others.

    Shards of two versions of the model were mixed: each is sound, but together they are a model that nobody
    published. Download the set again.
    """
    if len(subject.headers) < 2:
        return
    kinds: defaultdict[str, dict[str, set[str]]] = defaultdict(dict)  # pattern of names → dtype → files
    for header in subject.headers:
        for tensor in header.tensors if header.format == "safetensors" else ():
            if tensor.dtype in _PLAIN and len(tensor.shape) > 1:
                kinds[_DIGITS.sub("*", tensor.name)].setdefault(tensor.dtype, set()).add(header.path)
    apart = [found for found in kinds.values() if len(found) > 1 and not set.intersection(*found.values())]
    together = [found for found in kinds.values() if len(found) > 1 and set.intersection(*found.values())]
    if apart and len(apart) > 2 * len(together):
        files = {dtype: sorted(paths)[0] for dtype, paths in apart[0].items()}
        told = ", ".join(f"{dtype} in {path}" for dtype, path in sorted(files.items()))
        yield Found(f"{plural(len(apart), 'kind')} of weights with two dtypes: {told}", None)


_PLAIN = frozenset({"F64", "F32", "F16", "BF16"})
_DIGITS = re.compile(r"\d+")


# --- the tokenizer ----------------------------------------------------------------------------


@_rule("tokenizer", "error")
def tokenizer(subject: Subject) -> Iterator[Found]:
    """A tokenizer.json that the tokenizers library refuses.

    It has no model, its model no vocabulary or no merges, or zeros stand in it where a part was never downloaded.
    Download it again. One of over 2 MB is looked through for zeros, and not parsed.
    """
    for entry in subject.named("tokenizer.json"):
        if entry.name != "tokenizer.json" or not 1 < entry.size <= _LARGEST_TOKENIZER:
            continue
        raw = subject.head(entry.path, entry.size)
        if raw[:64].lstrip(b"\xef\xbb\xbf \t\r\n")[:1] not in (b"{", b"["):
            continue  # identified by its content instead
        if b"\0" in raw:
            yield Found(f"zeros from byte {integer(raw.index(0))} on: a part was never downloaded", entry.path)
        elif len(raw) <= _PARSED:
            if wrong := _refused(raw):
                yield Found(f"{wrong}: download it again", entry.path)
        elif b'"model"' not in raw or b'"vocab"' not in raw:
            yield Found("it has no model: download it again", entry.path)


_LARGEST_TOKENIZER = 64 * 1024 * 1024
_PARSED = 2 * 1024 * 1024


def _refused(raw: bytes) -> str | None:
    """Why the tokenizers library would reject a tokenizer; None if it would accept it, as far as checked."""
    try:
        own = json.loads(raw)
    except (ValueError, RecursionError) as error:
        return f"no JSON document: {str(error)[:80]}"
    model = own.get("model") if isinstance(own, dict) else None
    if isinstance(own, dict) and {"error", "message"} & own.keys() and model is None:
        return None  # a server's message
    if not isinstance(model, dict):
        return "it has no model" if isinstance(own, dict) else "no JSON object"
    vocabulary, kind = model.get("vocab"), model.get("type")
    if not isinstance(vocabulary, dict | list):
        return "its model has no vocabulary"
    if (wrong := next(tokenizer_json.refusals(own), None)) is not None:
        return f"the library refuses it: {wrong}"
    if kind == "BPE" and isinstance(vocabulary, dict) and (lost := _unknown_merge(model["merges"], vocabulary)):
        return f"a merge makes {lost!r:.60}, which the vocabulary does not have"
    return None


def _unknown_merge(merges: list[Any], vocabulary: dict[str, Any]) -> str | None:
    """A piece that a merge joins or produces and that is not a token."""
    for merge in merges:
        pieces = merge.split(" ") if isinstance(merge, str) else merge
        if not (isinstance(pieces, list) and len(pieces) == 2 and all(isinstance(each, str) for each in pieces)):
            continue
        for piece in (*pieces, "".join(pieces)):
            if piece not in vocabulary:
                return str(piece)
    return None


#: Fields of tokenizer_config.json with a special token's text.
SPECIAL = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")


@_rule("special-token", "warning")
def special_token(subject: Subject) -> Iterator[Found]:
    """The tokenizer's configuration names a special token that is missing from tokenizer.json.

    Transformers adds it as a new token, with an id that the model was not trained with or has no row for. The two files
    belong to different models.
    """
    for entry in subject.named("tokenizer_config.json"):
        path = entry.folder + "tokenizer.json"
        size = subject.place.files.get(path, 0)
        own = subject.document(entry.path)
        if entry.name != "tokenizer_config.json" or not 16 < size <= _LARGEST_TOKENIZER or not own:
            continue
        raw = subject.head(path, size)
        if b'"vocab"' not in raw:
            continue  # no tokenizer, which another rule reports
        absent = []
        for field in SPECIAL:
            token = own.get(field)
            token = token.get("content") if isinstance(token, Mapping) else token
            if isinstance(token, str) and token and not _stands_in(token, raw):
                absent.append(f"{field} {token!r:.40}")
        if absent:
            yield Found(f"tokenizer.json does not have {', '.join(absent)}", entry.path)


def _stands_in(token: str, raw: bytes) -> bool:
    """Whether a JSON document contains a text, escaped or not."""
    forms = {json.dumps(token), json.dumps(token, ensure_ascii=False)}
    return any(form.encode("utf-8", "surrogatepass") in raw for form in forms)


# --- adapters ---------------------------------------------------------------------------------

#: Pieces of LoRA that only work together.
_HALF = re.compile(r"^(.*?)[._](lora_(?:embedding_)?[AB]|lora_down|lora_up)(?=[._]|$)(.*)$")


@_rule("half-adapter", "error")
def half_adapter(subject: Subject) -> Iterator[Found]:
    """One of LoRA's two matrices without the other.

    The adapter is their product. PEFT fills the missing one with zeros or random numbers, and at most logs a warning.
    The file was truncated or edited: get it again.
    """
    for header in subject.all_headers:
        names = {tensor.name for tensor in header.tensors}
        halves: dict[tuple[str, str], str] = {}
        found: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        for name in names:
            if "lora_" in name and len(name) < _LONGEST and (part := _HALF.match(name)):
                found[part[1], part[3]].add(part[2])
                halves[part[1], part[3]] = name
        lone = sorted(halves[key] for key, parts in found.items() if len(parts) == 1)
        if lone and len(lone) < len(subject.headers) * 10_000 and len(subject.headers) == 1:
            yield Found(
                f"{plural(len(lone), 'matrix', 'matrices')} of LoRA without the other half", header.path, lone[0]
            )


_LONGEST = 1_000


@_rule("adapter-targets", "error")
def adapter_targets(subject: Subject) -> Iterator[Found]:
    """The modules that an adapter's configuration names are not those for which it has tensors.

    PEFT makes matrices for every module of `target_modules`: those without tensors stay as they are, and tensors of
    other modules are dropped. Configuration and weights belong to different adapters. An error where they have no
    module in common: PEFT finds nothing to adapt, or leaves the model as it was.
    """
    for entry in subject.named(ADAPTER_FILE):
        own = subject.document(entry.path)
        targets = own.get("target_modules")
        header = next(
            (each for each in subject.all_headers if each.path.startswith(entry.folder + "adapter_model")), None
        )
        lora = own.get("peft_type") == "LORA"
        if not isinstance(targets, list) or header is None or not header.tensors:
            continue
        named = {each for each in targets if isinstance(each, str)}
        modules = {found[1] for tensor in header.tensors if (found := _HALF.match(tensor.name[:_LONGEST]))}
        if not lora and own.get("peft_type") != "LN_TUNING":  # whose tensors are named like the base's weights
            modules = _adapted(subject, header)
        if not modules or not named:
            continue
        beside = own.get("modules_to_save")
        kept = {each for each in beside if isinstance(each, str)} if isinstance(beside, list) else set[str]()
        without = sorted(name for name in named if not any(_within(name, module) for module in modules))
        if without:
            what = f"{plural(len(without), 'target module')} without tensors: {', '.join(without[:4])}"
            yield Found(what, entry.path, severity="warning")
        other = [module for module in sorted(modules) if not any(_within(name, module) for name in named | kept)]
        if other:
            what = f"{plural(len(other), 'module')} with tensors that no target names: {other[0]:.120}"
            none_fits = len(other) == len(modules) and len(without) == len(named)
            yield Found(what, header.path, severity="error" if none_fits else "warning")
        chosen = own.get("layers_to_transform")
        layers = {*(chosen if isinstance(chosen, list) else [chosen])} if chosen not in (None, []) else None
        unasked = [module for module in sorted(modules) if layers is not None and _layer(module) not in layers]
        if unasked:
            what = f"{plural(len(unasked), 'module')} in none of the layers of layers_to_transform: {unasked[0]:.120}"
            yield Found(what, header.path, severity="warning")


def _adapted(subject: Subject, header: Header) -> set[str]:
    """The modules for which an adapter has tensors, named as by its method."""
    adapter = subject.result.adapter if subject.result else None
    if adapter is None or header not in subject.headers:
        return set()
    served = (adapter.served[each.name] for each in header.tensors if each.name in adapter.parts)
    return {module for weight in served if "." in (module := weight.removesuffix(".weight"))}


def _layer(module: str) -> int | None:
    """The number of the layer that a module is in; None of one in no layer."""
    found = re.search(r"\.(\d+)\.", module)
    return int(found[1]) if found and len(found[1]) < 9 else None


def _within(name: str, module: str) -> bool:
    """PEFT's own test: the module's name, or its end after a point."""
    return module == name or module.endswith("." + name)


# --- GGUF -------------------------------------------------------------------------------------

_TOKENS = "tokenizer.ggml.tokens"


@_rule("gguf-tokens", "error")
def gguf_tokens(subject: Subject) -> Iterator[Found]:
    """A GGUF's tokenizer lists do not fit each other.

    There is a score and a type for each token, byte-pair tokenizers need merges, and no id may exceed the list.
    llama.cpp refuses the file, or reads beyond the lists.
    """
    for header in subject.all_headers:
        fields = header.metadata.fields if isinstance(header.metadata, KeyValues) else {}
        if header.format == "gguf" and "tokenizer.ggml.model" in fields:
            for what, severity in _of_tokens(header, {key: each.items for key, each in fields.items()}):
                yield Found(what, header.path, severity=severity)


def _of_tokens(header: Header, items: Mapping[str, int | None]) -> Iterator[tuple[str, Severity]]:
    model = header.metadata["tokenizer.ggml.model"]
    tokens = items.get(_TOKENS)
    if not tokens:
        if model not in ("no_vocab", "none", "rwkv"):
            yield f"a tokenizer of kind {model!r:.40} without tokens", "error"
        return
    for key in ("tokenizer.ggml.scores", "tokenizer.ggml.token_type"):
        if items.get(key) is not None and items[key] != tokens:
            fewer = (items[key] or 0) < tokens  # llama.cpp does not read anything beyond the tokens
            held = integer(items[key] or 0)
            yield f"{held} items in {key}, but {plural(tokens, 'token')}", "error" if fewer else "info"
    if model == "gpt2" and "tokenizer.ggml.merges" not in items:
        yield "a byte-pair tokenizer without tokenizer.ggml.merges", "error"
    for key in sorted(items):
        if key.startswith("tokenizer.ggml.") and key.endswith("_token_id"):
            number = header.metadata[key]
            if type(number) is int and tokens <= number < _NONE:
                yield f"{key} is {integer(number)}, of {plural(tokens, 'token')}", "warning"


#: What writers put for a token that there is not: −1 in 32 bits.
_NONE = 2**32 - 1


#: Keys, after the architecture, without which llama.cpp loads no model (`llama_model_base::load_hparams`).
_NEEDED = ("context_length", "embedding_length", "block_count")
#: One of these gives the norms' epsilon, which every architecture with blocks requires.
_EPSILONS = tuple(f"attention.{kind}_epsilon" for kind in ("layer_norm_rms", "layer_norm", "group_norm"))


@_rule("gguf-keys", "error")
def gguf_keys(subject: Subject) -> Iterator[Found]:
    """A GGUF lacks a key-value that llama.cpp needs, or says that its attention has no heads.

    Loading ends with an error or a division by zero. The converter was made for another architecture or version, or the
    key-values were edited: convert the model again.
    """
    files = [each for each in subject.all_headers if each.format == "gguf" and each.tensors]
    known = predicted_gguf() if files else frozenset()
    for header in files:
        architecture = header.metadata.get("general.architecture")
        if architecture not in known or header.metadata.get("general.type", "model") != "model":
            continue
        own = gguf_table()["architectures"].get(architecture, {}).get("needed", ())
        needed = own or _NEEDED
        there = header.metadata.keys()
        missing = [key for key in needed if f"{architecture}.{key}" not in there and key not in there]
        if not own and not any(f"{architecture}.{key}" in header.metadata for key in _EPSILONS):
            missing.append(_EPSILONS[0])
        for key in missing:
            yield Found(f"no {architecture}.{key}, which llama.cpp needs", header.path)
        heads = header.metadata.get(f"{architecture}.attention.head_count")
        if heads == 0 and any(".attn_q." in tensor.name for tensor in header.tensors):
            yield Found(f"{architecture}.attention.head_count is 0, but there are query projections", header.path)


@_rule("gguf-name", "warning")
def gguf_name(subject: Subject) -> Iterator[Found]:
    """A GGUF's name or its general.file_type states another quantization than its tensors have.

    It was renamed, or is another file: quality and size are not what the name promises. In mixtures the width of most
    weights counts. Unpacked weights in a file of a few tensors are not reported: such files are made for tests.
    """
    for header in subject.all_headers:
        if header.format != "gguf":
            continue
        names = _QUANTIZED.findall(header.path.rpartition("/")[2].upper())
        file_type = FILE_TYPES.get(header.metadata.get("general.file_type", -1))
        for where, named in (
            ("the name", names[:1] if len(set(names)) == 1 else []),
            ("general.file_type", [file_type]),
        ):
            if named and named[0] and (most := _another(named[0], header)):
                yield Found(f"{where} says {named[0]}, but most weights are {most}", header.path)
                break


#: Types in which models are trained: writers leave such experts unchanged, whatever the file's name.
_AS_TRAINED = frozenset({"MXFP4", "NVFP4"})
#: An unpacked file with fewer elements of weights may be anything.
_FEW = 1_000_000


def _another(named: str, header: Header) -> str | None:
    """The type of most weights, if its width differs from the named one; None if it matches, or may match."""
    counts, all_of_it = Counter[str](), 0
    block = 256 if "_K" in named or (named.startswith("IQ") and named != "IQ4_NL") else 32
    for tensor in header.tensors:
        if len(tensor.shape) > 1:
            all_of_it += tensor.elements
            if tensor.shape[-1] % block == 0:  # other rows use another type, whatever was requested
                counts[tensor.dtype] += tensor.elements
    most = counts.most_common(1)[0][0] if counts.total() * 2 > all_of_it else None
    if most is None or most in _AS_TRAINED:
        return None
    told, has = _width(named), _width(most)
    plain = most in _PLAIN and counts.total() < _FEW
    return most if told and has and told != has and not plain and not _mixed(named, counts) else None


_QUANTIZED = re.compile(r"(?<![A-Z0-9])(I?Q\d_[A-Z0-9]+(?:_[A-Z]+)?|BF16|F16|F32)(?![A-Z0-9])")


def _width(name: str) -> int | None:
    """Bits of a weight by a type's name: `Q4_K_M` 4, `F16` and `BF16` 16."""
    found = re.search(r"\d+", name)
    return int(found[0]) if found else None


def _mixed(named: str, counts: Counter[str]) -> bool:
    """Whether a fair share of the weights has the named width: mixtures use a bit or two more for some."""
    of_it = sum(number for dtype, number in counts.items() if _width(dtype) == _width(named))
    return of_it * 5 >= counts.total()
