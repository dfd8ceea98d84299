"""Do the tensors' names, shapes and dtypes agree with the prediction, and between the files?"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import prod

from inspector.auditing.loading.loaded_names import loading_of
from inspector.auditing.rule import Found, NotJudged, rule
from inspector.auditing.subject import Subject
from inspector.model import Prediction, Severity, Tensor
from inspector.quantization.scheme import FLOATS
from inspector.sources.filenames import shard_of
from inspector.units import integer, plural

#: The most tensors whose shapes are compared one by one.
_MOST_SHAPES = 20_000
#: Suffixes of a batch norm's statistics, which no parameter count includes.
_STATISTICS = (".running_mean", ".running_var", ".num_batches_tracked")


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
        for name in row.names():
            tensor, path = stored.get(name, (None, ""))
            if (
                tensor
                and tensor.shape != row.shape
                and (prod(tensor.shape) == prod(row.shape) or name.endswith(_STATISTICS))
            ):
                stored_shape, predicted = _shape_text(tensor.shape), _shape_text(row.shape)
                what = f"{stored_shape} stored, {predicted} = {' × '.join(row.formula)} predicted"
                yield Found(what, path, name)
    if any(len(tensor.shape) == 3 for tensor, _ in stored.values()):
        yield from _transposed_experts(prediction, stored)


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
    if len(subject.headers) < 2 or not _one_set(subject):
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


def _one_set(subject: Subject) -> bool:
    """Whether the files are one checkpoint's shards, and not several models in one folder."""
    indexed = subject.checkpoint is not None and subject.checkpoint.index is not None
    return indexed or all(shard_of(header.path) for header in subject.headers)
