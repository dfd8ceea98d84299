"""Does what the configuration, the index and the metadata state hold for the tensors?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from inspector.auditing.rule import Found, rule
from inspector.auditing.subject import Subject
from inspector.opening import configs
from inspector.quantization import piece_of_packed
from inspector.quantization.scheme import FLOATS
from inspector.units import integer, plural


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
    if most in FLOATS and most != named and elements[most] * 2 > total and named not in _dtypes_of_other_files(subject):
        yield Found(f"the configuration says {named}; most elements are {most}", _config_path(subject))


def _dtypes_of_other_files(subject: Subject) -> set[str]:
    """Dtypes of the files not in the checkpoint: a copy in another precision shares its configuration."""
    return {tensor.dtype for header in subject.extra for tensor in header.tensors}


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
            yield Found(f"{plural(step.bytes, 'byte')}: {step.detail}", _config_path(subject))


def _config_path(subject: Subject) -> str | None:
    return subject.config.path if subject.config else None


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
