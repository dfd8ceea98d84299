"""Can the documents beside the weights be read, do they agree with each other, and with how the weights are packed?"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import prod

from inspector.auditing import data
from inspector.auditing.completeness.downloads import stands_in
from inspector.auditing.limits import MAX_DOCUMENT, MAX_DOCUMENTS
from inspector.auditing.loading.loaded_names import loading_of
from inspector.auditing.rule import Found, NotJudged, rule
from inspector.auditing.subject import Subject
from inspector.model import Header, Packing, Prediction, Severity, Tensor
from inspector.opening import configs
from inspector.quantization import piece_of_packed
from inspector.quantization.scheme import FLOATS
from inspector.sources.filenames import shard_of
from inspector.units import integer, plural

_NAMES = data.names("json")


@rule("document", "consistent", "error")
def document(subject: Subject) -> Iterator[Found]:
    """A JSON document beside the weights cannot be read.

    A tokenizer or a configuration that is empty, truncated or not JSON, or begins with a byte order mark: loading
    fails. Download it again. Of tokenizer.json and the vocabulary, which are large, only the start and the end are
    checked.
    """
    reported = {finding.path for finding in subject.checkpoint.findings} if subject.checkpoint else set()
    left = MAX_DOCUMENTS
    index = subject.index.path if subject.index else None  # read whole by then, whatever its size
    for entry in subject.named(*_DOCUMENTS):
        start = subject.head(entry.path, 64)
        unread = entry.kind != "file" or entry.outside or (entry.size and not start)
        if unread or entry.path in reported or stands_in(start):
            continue
        if not entry.size:
            yield Found("an empty file: download it again", entry.path)
        elif start.startswith(_MARK):
            what = "it begins with a byte order mark, which Python's json refuses: save it without one"
            yield Found(what, entry.path)
        elif entry.name in _LARGE or entry.path == index:
            if wrong := _wrong_at_its_ends(start, subject.span(entry.path, max(0, entry.size - 64), 64)):
                yield Found(wrong, entry.path)
            elif start.lstrip()[:1] == b"[" and {entry.name, *subject.names_beside(entry)} & _OF_TOKENIZER:
                yield Found("a JSON list, but the tokenizer needs an object", entry.path)
        elif entry.size <= min(left, MAX_DOCUMENT):
            left -= entry.size
            if wrong := _wrong_with(subject.text(entry.path), entry.name):
                yield Found(wrong, entry.path)
        else:
            what = f"{plural(entry.size, 'byte')}, more than the audit reads of a document: not checked"
            yield Found(what, entry.path)


#: The byte order mark that some editors write at the start of UTF-8.
_MARK = b"\xef\xbb\xbf"
#: Documents that loaders read, and those among them too large to be parsed here.
_LARGE = ("tokenizer.json", "vocab.json", "added_tokens.json")
_DOCUMENTS = tuple(_NAMES["documents"])
#: Documents whose fields a loader accesses immediately.
_OBJECTS = tuple(_NAMES["objects"])
#: Files of a tokenizer of Transformers, whose vocab.json others have as a list.
_OF_TOKENIZER = frozenset({"tokenizer.json", "added_tokens.json", "merges.txt", "tokenizer_config.json"})


def _wrong_at_its_ends(start: bytes, end: bytes) -> str | None:
    """Why a large text is not JSON, by its first and its last bytes."""
    if not start.lstrip(b" \t\r\n").startswith((b"{", b"[")):
        return "not a JSON document: it does not start like one"
    closed = not end or end.rstrip().endswith((b"}", b"]"))
    return None if closed else "truncated: it does not end like a JSON document"


def _wrong_with(text: str | None, name: str) -> str | None:
    """Why a text is not a valid JSON document of its kind."""
    if text is None:
        return "not UTF-8 text"
    try:
        value = configs.loads(text)
    except json.JSONDecodeError as error:
        return f"not a JSON document: {error.msg} at line {error.lineno}"
    except ValueError as error:
        return f"not a readable JSON document: {error}"
    if name in _OBJECTS and not isinstance(value, dict):
        return f"not a JSON object, but {text.strip()!r:.40}"
    return None


@rule("dtype", "consistent", "warning")
def dtype(subject: Subject) -> Iterator[Found]:
    """Most parameters are stored in a dtype other than the one the configuration names.

    `torch_dtype` (or `dtype`) decides in which dtype loaders keep the weights: a model takes twice the memory
    that its file suggests, or loses precision. Correct the configuration, or get the right files.
    """
    result = subject.result
    named = configs.dtype_of(subject.config)
    declared = subject.config is not None and subject.config.declared_packing
    if result is None or result.packing or named not in FLOATS or declared:
        return
    elements = {each.dtype: each.elements for each in result.dtypes}
    if not elements:
        return
    total, most = sum(elements.values()), max(elements, key=lambda each: elements[each])
    # a copy in another precision, whose files are not in the checkpoint, shares its configuration
    others = {tensor.dtype for header in subject.extra for tensor in header.tensors}
    if most in FLOATS and most != named and elements[most] * 2 > total and named not in others:
        yield Found(f"the configuration says {named}; most elements are {most}", subject.config and subject.config.path)


@rule("tied-head-stored", "consistent", "info")
def tied_head_stored(subject: Subject) -> Iterator[Found]:
    """An output head is stored although the configuration ties it to the embedding.

    Harmless if the two are equal, as in many published models: the copy only costs disk space.
    """
    result = subject.result
    if result is None or result.prediction is None:
        return
    for step in result.steps:
        if step.cause == "tied_embeddings" and step.bytes > 0:
            yield Found(f"{plural(step.bytes, 'byte')}: {step.detail}", subject.config and subject.config.path)


@rule("declared-total", "consistent", "info")
def declared_total(subject: Subject) -> Iterator[Found]:
    """The index states a total size that differs from that of the shards.

    `metadata.total_size` is the size of all tensors in bytes. A wrong one comes from a merge, an edit, or a shard of
    another version. Some old writers leave it out or write zero or a fraction. No loader goes by it.
    """
    index = subject.index
    if index is None or not subject.headers or subject.incomplete:
        return
    stated = index.metadata.get("total_size")
    counted = sum(tensor.nbytes for header in subject.headers for tensor in header.tensors)
    if stated is None:
        return
    if isinstance(stated, bool) or not isinstance(stated, int | float):
        yield Found(f"total_size is not a number: {stated!r:.80}", index.path)
        return
    if stated in (counted, sum(header.size for header in subject.headers)):
        return
    number = integer(stated) if isinstance(stated, int) else str(stated)
    what = f"total_size is {number}; the shards' tensors have {plural(counted, 'byte')}"
    yield Found(what, index.path)


@rule("declared-parameters", "consistent", "info")
def declared_parameters(subject: Subject) -> Iterator[Found]:
    """A file states a number of parameters that differs from what was counted.

    Some writers count tied heads twice, or packed weights as stored: the number is not to be trusted, but nothing is
    damaged.
    """
    for claim in subject.result.claims if subject.result else ():
        if "parameter" in claim.name and isinstance(claim.counted, int) and claim.claimed != str(claim.counted):
            yield Found(f"{claim.name} is {claim.claimed}; counted: {integer(claim.counted)}")


@rule("quantization", "consistent", "warning")
def quantization(subject: Subject) -> Iterator[Found]:
    """The configuration declares a packing that the tensors do not have, or none although they are packed.

    Loaders rely on `quantization_config`: with it, they fail on plain tensors or quantize them again; without it, they
    take packed tensors for plain weights. Get the configuration that belongs to the files.
    """
    names = [tensor.name for header in subject.headers if header.format == "safetensors" for tensor in header.tensors]
    if subject.config is None or subject.config.declared_packing or (subject.result and subject.result.packing):
        return
    if (piece := piece_of_packed(names)) is not None:  # plain tensors despite a declaration: the bridge reports them
        yield Found("part of a packed weight, but the configuration declares no packing", None, piece)


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
    parts = ((key + ".", each) for key, each in values.items() if isinstance(each, Mapping))
    for name, scope in (("", values), *parts):
        for field, number in _PER_LAYER.items():
            listed, layers = scope.get(field), scope.get(number)
            if isinstance(listed, list) and type(layers) is int and len(listed) != layers:
                what = f"{name}{field} has {plural(len(listed), 'item')}, but {name}{number} is {integer(layers)}"
                yield Found(what, subject.config.path)


#: The most tensors whose shapes are compared one by one.
_MOST_SHAPES = 20_000
#: Suffixes of a batch norm's statistics, which no parameter count includes.
_STATISTICS = (".running_mean", ".running_var", ".num_batches_tracked")


@rule("transposed", "consistent", "error")
def transposed(subject: Subject) -> Iterator[Found | NotJudged]:
    """A tensor has the number of elements that the configuration implies, but in other dimensions.

    Transformers compares the shapes of tensors with its own names exactly, and refuses any other, even a scalar in
    place of a list of one number. The file was written by a program with another layout, or edited. The statistics of
    batch norms are checked even if their size differs; packed weights against those of the same role in other layers.
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
        for name in row.names():
            tensor, path = stored.get(name, (None, ""))
            alike = tensor and (prod(tensor.shape) == prod(row.shape) or name.endswith(_STATISTICS))
            if tensor and alike and tensor.shape != row.shape:
                stored_shape, predicted = _shape_text(tensor.shape), _shape_text(row.shape)
                what = f"{stored_shape} stored, {predicted} = {' × '.join(row.formula)} predicted"
                yield Found(what, path, name)
    if any(len(tensor.shape) == 3 for tensor, _ in stored.values()):
        yield from _transposed_experts(prediction, stored)
    if result.packing and result.packing.names:
        yield from _transposed_packed(prediction, result.packing, subject.headers)


def _transposed_packed(prediction: Prediction, packing: Packing, headers: Iterable[Header]) -> Iterator[Found]:
    """Packed weights of a role that count right, but whose dimensions are the reverse of most others'."""
    packed = {
        packing.names[tensor.name]: (tensor, header.path)
        for header in headers
        if len(header.tensors) <= _MOST_SHAPES
        for tensor in header.tensors
        if tensor.name in packing.names and len(tensor.shape) == 2
    }
    for row in prediction.expected if packed else ():
        own = [packed[name] for name in row.names() if name in packed]
        counted = Counter(tensor.shape for tensor, _ in own).most_common(2)
        if len(counted) == 2 and counted[1][0] == counted[0][0][::-1]:
            (most, _), (odd, _) = counted
            for tensor, path in own:
                if tensor.shape == odd and prod(packing.shapes.get(tensor.name, ())) == prod(row.shape):
                    yield Found(f"{_shape_text(odd)} here, {_shape_text(most)} in other layers", path, tensor.name)


def _transposed_experts(prediction: Prediction, stored: Mapping[str, tuple[Tensor, str]]) -> Iterator[Found]:
    """Experts in one tensor with the columns before the rows, where the class has rows × columns of each."""
    loading, seen = loading_of(prediction), set[str]()
    for row in prediction.expected:
        if row.experts is None or row.stacked is not None or len(row.shape) != 2:
            continue
        rows, columns = row.shape
        for key in row.keys():
            if key.expert != row.expert_numbers[0] or (name := loading.joined(row.name_of(key))) in seen:
                continue
            tensor, path = stored.get(name or "", (None, ""))
            if tensor is None or len(tensor.shape) != 3 or tensor.shape[:2] != (row.experts, columns):
                continue
            joined = tensor.shape[2]  # rows of all the matrices
            if joined % rows == 0 and (joined != columns or columns % rows):
                seen.add(tensor.name)
                predicted = _shape_text((row.experts, joined, columns))
                yield Found(f"{_shape_text(tensor.shape)} stored, {predicted} predicted", path, tensor.name)


def _shape_text(shape: Sequence[int]) -> str:
    return "×".join(map(str, shape)) if shape else "a single number"


@rule("dtype-mixture", "consistent", "warning")
def dtype_mixture(subject: Subject) -> Iterator[Found]:
    """The same kind of weights has a different dtype in one shard than in the others.

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
        listed = ", ".join(f"{dtype} in {path}" for dtype, path in sorted(files.items()))
        yield Found(f"{plural(len(apart), 'kind')} of weights with two dtypes: {listed}", None)


_DIGITS = re.compile(r"\d+")


@rule("tensor-in-two-files", "consistent", "warning")
def tensor_in_two_files(subject: Subject) -> Iterator[Found]:
    """A tensor is stored in two of the checkpoint's files.

    Which copy is loaded depends on the order of the files. Remove one. An error if their shapes differ. A file that has
    the same tensors as another is one finding: a copy, which may stand in the place of another shard.
    """
    one_set = subject.index or all(shard_of(header.path) for header in subject.headers)  # not several models beside
    if len(subject.headers) < 2 or not one_set:
        return
    names = Counter(tensor.name for header in subject.headers for tensor in header.tensors)
    twice = {name for name, number in names.items() if number > 1}
    if not twice:
        return
    first: dict[str, tuple[str, tuple[int, ...]]] = {}
    whole: dict[frozenset[tuple[str, str, tuple[int, ...]]], str] = {}
    shown = 0
    for header in subject.headers:
        tensors = frozenset((each.name, each.dtype, each.shape) for each in header.tensors)
        if tensors and whole.setdefault(tensors, header.path) != header.path:
            number = plural(len(tensors), "tensor")
            yield Found(f"the same {number} as {whole[tensors]}, a copy of it in place of another file?", header.path)
            twice -= {name for name, _, _ in tensors}
            continue
        for tensor in header.tensors:
            if tensor.name in twice:
                path, shape = first.setdefault(tensor.name, (header.path, tensor.shape))
                if path != header.path and shown < 10:
                    shown += 1
                    severity: Severity = "warning" if shape == tensor.shape else "error"
                    yield Found(f"also stored in {path}", header.path, tensor.name, severity)
    if len(twice) > shown:
        yield Found(f"{plural(len(twice), 'tensor')} stored twice in all", None)
