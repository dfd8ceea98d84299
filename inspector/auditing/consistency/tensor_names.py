"""Do the tensors' names, shapes and dtypes agree with the prediction, and between the files?"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from math import prod

from inspector.auditing.rule import Found, NotJudged, rule
from inspector.auditing.subject import Subject
from inspector.model import Severity
from inspector.quantization.scheme import FLOATS
from inspector.sources.filenames import shard_of
from inspector.units import integer, plural

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
                stored_shape, predicted = _shape_text(tensor.shape), _shape_text(row.shape)
                what = f"{stored_shape} stored, {predicted} = {' × '.join(row.formula)} predicted"
                yield Found(what, path, name)


def _shape_text(shape: Sequence[int]) -> str:
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
        wrapped = list(_with_wrapper(stored, wanted))
        yield from wrapped or list(_other_base(stored, wanted)) or _other_word(stored, wanted)
        return  # the whole file follows another convention
    base = _base_prefix(wanted)
    held = {name: name for name in sorted(stored)}  # the accepted names of each, and its actual one
    if base:
        held = {each.removeprefix(f"{base}."): each for each in held} | {f"{base}.{each}": each for each in held} | held
    lost, extra = wanted - held.keys(), {name: None for name in (*sorted(stored), *held) if name not in wanted}
    for name in sorted(lost):
        other = next((each for each in (*_fused_or_split(name), *_other_prefix(name, extra)) if each in held), None)
        if other is not None:
            yield Found(f"Transformers looks for {name:.100}", None, held[other])
            return
    yield from _other_word(held, wanted)


#: Formats whose names are those of Transformers' tensors.
_NAMED = ("safetensors", "pytorch")
#: Wrappers that training puts around a model, which remain in the names of its tensors.
_WRAPPERS = ("_orig_mod.", "module.", "_forward_module.", "_fsdp_wrapped_module.", "state_dict.")


#: Parts of names that differ between conventions: Transformers' own, and other names for the same module.
_WORDS = (
    *((".layers.", ".h."), (".layers.", ".blocks."), (".layers.", ".layer.")),
    *((".self_attn.", ".attention."), (".weight", ".kernel")),
)


def _other_word(stored: Collection[str], wanted: Collection[str]) -> Iterator[Found]:
    """Names that are correct except for a word from another convention."""
    lost, extra = {*wanted} - {*stored}, {*stored} - {*wanted}
    for own, other in _WORDS:
        moved = [name for name in lost if own in name and name.replace(own, other, 1) in extra]
        if moved:
            name = min(moved)
            yield Found(f"Transformers looks for {name:.100}", None, name.replace(own, other, 1))
            return


def _with_wrapper(stored: Collection[str], wanted: Collection[str]) -> Iterator[Found]:
    """Names that are correct except for a prefix or infix added by a training program."""
    for wrapper in _WRAPPERS:
        inner = {name: name.replace(wrapper, "") for name in stored if wrapper in name}
        if len({*inner.values()} & {*wanted}) * 2 > len(wanted):
            name = min(inner)
            yield Found(f"Transformers looks for {inner[name]:.100}, without {wrapper}", None, name)
            return


def _other_base(stored: Collection[str], wanted: Collection[str]) -> Iterator[Found]:
    """Names that are correct except for another model's name for the body, which Transformers does not remove."""
    base = _base_prefix(wanted)
    inner = {name.removeprefix(f"{base}."): name for name in wanted if name.startswith(f"{base}.")} if base else {}
    for prefix in sorted({name.partition(".")[0] for name in stored} - {base}):
        rests = {name: name.removeprefix(f"{prefix}.") for name in stored if name.startswith(f"{prefix}.")}
        found = {name: inner[rest] for name, rest in rests.items() if rest in inner}
        if len(found) * 2 > len(inner):
            name = min(found)
            yield Found(f"Transformers looks for {found[name]:.100}", None, name)
            return


def _other_prefix(name: str, extra: Collection[str]) -> Iterator[str]:
    """The name with one prefix added or removed, as in the model's other tensors."""
    yield from (each for each in extra if each.endswith("." + name))
    while "." in name:
        name = name.partition(".")[2]
        if name in extra:
            yield name


def _base_prefix(wanted: Collection[str]) -> str:
    """The body's name within a model with a head, a prefix that Transformers adds or removes; else ""."""
    first, number = Counter(name.partition(".")[0] for name in wanted).most_common(1)[0]
    return first if number * 4 > len(wanted) * 3 else ""


def _fused_or_split(name: str) -> Iterator[str]:
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
        listed = ", ".join(f"{dtype} in {path}" for dtype, path in sorted(files.items()))
        yield Found(f"{plural(len(apart), 'kind')} of weights with two dtypes: {listed}", None)


_DIGITS = re.compile(r"\d+")


@rule("tensor-in-two-files", "consistent", "warning")
def tensor_in_two_files(subject: Subject) -> Iterator[Found]:
    """A tensor is stored in two of the checkpoint's files.

    Which copy is loaded depends on the order of the files. Remove one. An error if their shapes differ.
    """
    if len(subject.headers) < 2 or not _one_set(subject):
        return
    names = Counter(tensor.name for header in subject.headers for tensor in header.tensors)
    twice = {name for name, number in names.items() if number > 1}
    if not twice:
        return
    first: dict[str, tuple[str, tuple[int, ...]]] = {}
    shown = 0
    for header in subject.headers:
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
