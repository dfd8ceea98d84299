"""Do a model's files fit each other? Token ids and embedding, lists and layers, names and shapes, the tokenizer."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from math import prod
from typing import Any

from inspector.auditing.readers import tokenizer_json
from inspector.auditing.rule import Found, NotJudged, rule
from inspector.auditing.subject import Subject
from inspector.bridge.summary import of_role
from inspector.model import Labelled, Severity
from inspector.quantization.scheme import FLOATS
from inspector.units import integer, plural


def embedding_of(subject: Subject) -> Labelled | None:
    """The text model's token embedding, if whole and two-dimensional; None if packed, or if there are two."""
    result = subject.result
    if result is None:
        return None
    if sum(each.tensors for each in result.roles if each.role == "embed_tokens") != 1:
        return None
    own = next(of_role(result.tensors, "embed_tokens"), None)
    whole = own is not None and own.key.part == "weight" and len(own.tensor.shape) == 2
    whole = whole and own is not None and own.tensor.dtype in FLOATS  # a packed one has other rows
    return own if own is not None and whole and own.key.tower in ("text", "decoder", "encoder") else None


# --- the configuration ------------------------------------------------------------------------


#: Fields with a token's id, and whether a loader indexes the embedding with it immediately.
_IDS: Mapping[str, bool] = {
    "pad_token_id": True,
    "eos_token_id": False,
    "bos_token_id": False,
    "decoder_start_token_id": False,
}


@rule("token-id", "consistent", "error")
def token_id(subject: Subject) -> Iterator[Found]:
    """A special token's id is beyond the embedding.

    PyTorch refuses to create an embedding whose padding row is out of range; generation does not stop at an end token
    that the model cannot produce. The configuration belongs to another model, or tokens were added without resizing the
    embedding. Only a warning for tokens that just the tokenizer has.
    """
    embedding = embedding_of(subject)
    if embedding is None:
        return
    rows = embedding.tensor.shape[0]
    for name in ("config.json", "generation_config.json"):
        path = subject.folder + name
        own = subject.document(path)
        text = own.get("text_config")
        for scope in (own, text if isinstance(text, Mapping) else {}):
            for field in {**_IDS, **dict.fromkeys(_further_ids(scope), False)}:
                for number in _numbers(scope.get(field)):
                    if number >= rows:
                        what = f"{field} is {integer(number)}, but the embedding has {plural(rows, 'row')}"
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
    """Fields with the ids of other tokens, such as image tokens and the start of generation."""
    ids = (field for field in scope if field.endswith(("_token_id", "_token_index")) and field not in _IDS)
    return [field for field in ids if not field.startswith("_")]  # reserved by the class


def _numbers(value: Any) -> Iterator[int]:
    for each in value if isinstance(value, list) else [value]:
        if type(each) is int:
            yield each


#: Fields with one item per layer → the field with the number of layers.
_PER_LAYER: Mapping[str, str] = {"layer_types": "num_hidden_layers", "mlp_layer_types": "num_hidden_layers"}


@rule("layer-list", "consistent", "error")
def layer_list(subject: Subject) -> Iterator[Found]:
    """A list with one item per layer has a different number of items than there are layers.

    Transformers refuses such a configuration. It was edited, or layers were removed from the model.
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


#: The most tensors whose shapes are compared one by one.
_MOST_SHAPES = 20_000


@rule("transposed", "consistent", "error")
def transposed(subject: Subject) -> Iterator[Found | NotJudged]:
    """A tensor has the number of elements that the configuration implies, but in other dimensions.

    Transformers compares the shapes of tensors with its own names exactly, and refuses any other, even a scalar in
    place of a list of one number. The file was written by a program with another layout, or edited. Packed tensors are
    not checked; the statistics of batch norms are, even if their size differs.
    """
    result = subject.result
    prediction = result.prediction if result else None
    if result is None or prediction is None or prediction.config.kind != "config.json" or result.adapter is not None:
        return
    for header in subject.headers:
        if len(header.tensors) > _MOST_SHAPES:
            what = f"{integer(len(header.tensors))} tensors, more than {integer(_MOST_SHAPES)}"
            yield NotJudged(what, header.path, "info")
    stored = {
        tensor.name: (tensor, header.path)
        for header in subject.headers
        if header.format == "safetensors" and len(header.tensors) <= _MOST_SHAPES
        for tensor in header.tensors
        if tensor.dtype in FLOATS or tensor.dtype == "I64"
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


#: Modules that some models fuse into one matrix and others keep separate.
_FUSED = {
    **dict.fromkeys(("q_proj", "k_proj", "v_proj"), ("qkv_proj",)),
    **dict.fromkeys(("gate_proj", "up_proj"), ("gate_up_proj",)),
    "qkv_proj": ("q_proj",),
    "gate_up_proj": ("gate_proj",),
}


@rule("tensor-names", "consistent", "warning")
def tensor_names(subject: Subject) -> Iterator[Found]:
    """Tensors have different names than Transformers looks for in this model.

    The weights are fused into one matrix although the model has several, or split although it has one, or have a prefix
    that the other tensors lack: Transformers fills the tensors it misses with random numbers, and drops those it does
    not know. The file belongs to another program or another model.
    """
    result = subject.result
    prediction = result.prediction if result else None
    if result is None or prediction is None or prediction.config.kind != "config.json" or result.packing:
        return
    if result.adapter is not None or "auto_map" in prediction.config.values or subject.incomplete:
        return
    files = [each for each in subject.headers if each.format in _NAMED and len(each.tensors) <= _MOST_SHAPES]
    stored = {tensor.name for header in files for tensor in header.tensors}
    rows = [row for row in prediction.expected if row.experts is None and row.stacked is None]
    wanted = {name for row in rows for name in row.names()}
    lost = wanted - stored
    if not lost:
        return
    if not stored or len(lost) * 2 > len(wanted):
        yield from list(_wrapped(stored, wanted)) or list(_rebased(stored, wanted)) or _renamed(stored, wanted)
        return  # the whole file follows another convention
    base = _base(wanted)
    held = {name: name for name in sorted(stored)}  # the accepted names of each, and its actual one
    if base:
        held = {each.removeprefix(f"{base}."): each for each in held} | {f"{base}.{each}": each for each in held} | held
    lost, extra = wanted - held.keys(), {name: None for name in (*sorted(stored), *held) if name not in wanted}
    for name in sorted(lost):
        other = next((each for each in (*_elsewhere(name), *_prefixed(name, extra)) if each in held), None)
        if other is not None:
            yield Found(f"Transformers looks for {name:.100}", None, held[other])
            return
    yield from _renamed(held, wanted)


#: Formats whose names are those of Transformers' tensors.
_NAMED = ("safetensors", "pytorch")
#: Wrappers that training puts around a model, which remain in the names of its tensors.
_WRAPPERS = ("_orig_mod.", "module.", "_forward_module.", "_fsdp_wrapped_module.", "state_dict.")


#: Parts of names that differ between conventions: Transformers' own, and other names for the same module.
_OTHERS = (
    (".layers.", ".h."),
    (".layers.", ".blocks."),
    (".layers.", ".layer."),
    (".self_attn.", ".attention."),
    (".weight", ".kernel"),
)


def _renamed(stored: Collection[str], wanted: Collection[str]) -> Iterator[Found]:
    """Names that are correct except for a word from another convention."""
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


def _rebased(stored: Collection[str], wanted: Collection[str]) -> Iterator[Found]:
    """Names that are correct except for that of the body: another model's, which Transformers does not remove."""
    base = _base(wanted)
    inner = {name.removeprefix(f"{base}."): name for name in wanted if name.startswith(f"{base}.")} if base else {}
    for prefix in sorted({name.partition(".")[0] for name in stored} - {base}):
        rests = {name: name.removeprefix(f"{prefix}.") for name in stored if name.startswith(f"{prefix}.")}
        found = {name: inner[rest] for name, rest in rests.items() if rest in inner}
        if len(found) * 2 > len(inner):
            name = min(found)
            yield Found(f"Transformers looks for {found[name]:.100}", None, name)
            return


def _prefixed(name: str, extra: Collection[str]) -> Iterator[str]:
    """The name with one prefix added or removed, as in the model's other tensors."""
    yield from (each for each in extra if each.endswith("." + name))
    while "." in name:
        name = name.partition(".")[2]
        if name in extra:
            yield name


def _base(wanted: Collection[str]) -> str:
    """The body's name within a model with a head, a prefix that Transformers adds or removes; else ""."""
    first, number = Counter(name.partition(".")[0] for name in wanted).most_common(1)[0]
    return first if number * 4 > len(wanted) * 3 else ""


def _elsewhere(name: str) -> Iterator[str]:
    """Possible names of the same weights: with the module fused, or split."""
    stem, _, tail = name.rpartition(".")
    parent, _, module = stem.rpartition(".")
    yield from (f"{parent}.{other}.{tail}" for other in _FUSED.get(module, ()))


@rule("dtype-mixture", "consistent", "warning")
def dtype_mixture(subject: Subject) -> Iterator[Found]:
    """The same kind of weights has another dtype in one shard than in the others.

    Shards of two versions of the model were mixed: each is sound by itself, but together they are a model that nobody
    published. Download the set again.
    """
    if len(subject.headers) < 2:
        return
    kinds: defaultdict[str, dict[str, set[str]]] = defaultdict(dict)  # pattern of names → dtype → files
    for header in subject.headers:
        for tensor in header.tensors if header.format == "safetensors" else ():
            if tensor.dtype in FLOATS and len(tensor.shape) > 1:
                kinds[_DIGITS.sub("*", tensor.name)].setdefault(tensor.dtype, set()).add(header.path)
    apart = [found for found in kinds.values() if len(found) > 1 and not set.intersection(*found.values())]
    together = [found for found in kinds.values() if len(found) > 1 and set.intersection(*found.values())]
    if apart and len(apart) > 2 * len(together):
        files = {dtype: sorted(paths)[0] for dtype, paths in apart[0].items()}
        told = ", ".join(f"{dtype} in {path}" for dtype, path in sorted(files.items()))
        yield Found(f"{plural(len(apart), 'kind')} of weights with two dtypes: {told}", None)


_DIGITS = re.compile(r"\d+")


# --- the tokenizer ----------------------------------------------------------------------------


@rule("tokenizer", "consistent", "error")
def tokenizer(subject: Subject) -> Iterator[Found]:
    """A tokenizer.json that the tokenizers library refuses.

    It has no model, its model has no vocabulary or no merges, or it contains zeros where a part was never downloaded.
    Download it again. A file of over 2 MB is searched for zeros, but not parsed.
    """
    for entry in subject.named("tokenizer.json"):
        if entry.name != "tokenizer.json" or entry.size <= 1:
            continue
        raw = subject.whole(entry, LARGEST_TOKENIZER)
        if raw[:64].lstrip(b"\xef\xbb\xbf \t\r\n")[:1] not in (b"{", b"["):
            continue  # identified by its content instead
        if b"\0" in raw:
            yield Found(f"zeros from byte {integer(raw.index(0))} on: a part was never downloaded", entry.path)
        elif len(raw) <= _PARSED:
            if wrong := _refused(raw):
                yield Found(f"{wrong}: download it again", entry.path)
        elif b'"model"' not in raw or b'"vocab"' not in raw:
            yield Found("it has no model: download it again", entry.path)


#: The most bytes of a tokenizer.json that are searched, and that are parsed: real ones have up to 35 MB.
LARGEST_TOKENIZER = 64 * 1024 * 1024
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
        return f"a merge produces {lost!r:.60}, which the vocabulary does not have"
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


@rule("special-token", "consistent", "warning")
def special_token(subject: Subject) -> Iterator[Found]:
    """The tokenizer's configuration names a special token that is missing from tokenizer.json.

    Transformers adds it as a new token, with an id that the model was not trained with or has no row for. The two files
    belong to different models.
    """
    for entry in subject.named("tokenizer_config.json"):
        path = entry.folder + "tokenizer.json"
        size = subject.place.files.get(path, 0)
        own = subject.document(entry.path)
        if entry.name != "tokenizer_config.json" or not 16 < size <= LARGEST_TOKENIZER or not own:
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
