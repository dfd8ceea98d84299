"""Packed weights: do they match the configuration's declaration, and does their side data fit?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from inspector.auditing import data
from inspector.auditing.rule import Found, NotJudged, rule
from inspector.auditing.subject import Subject
from inspector.model import Labelled
from inspector.units import integer, plural

#: Schemes whose bit width and group size follow from the stored shapes.
_SHOWN_BY_SHAPES = ("gptq", "awq-gemm", "mlx", "qqq", "compressed-tensors-pack-quantized")
#: Fields that give individual modules a different bit width.
_OVERRIDES = ("dynamic", "extra_config", "layer_config", "modules_config", "mixed_precision")
#: Files in which quantizers declare the packing, in place of config.json or beside it.
_OF_QUANTIZERS = ("quantize_config.json", "quant_config.json")
#: The same, and files whose own loader unpacks what they hold (`AutoHQQHFModel.from_quantized` of hqq 0.2.8).
_DECLARING = ("hf_quant_config.json", "quanto_qmap.json", "qmodel.pt", *_OF_QUANTIZERS)


@rule("packing-declared", "consistent", "error")
def packing_declared(subject: Subject) -> Iterator[Found]:
    """The configuration declares no packing, or a different bit width or group size than the stored shapes imply.

    Loaders unpack by the configuration alone: with a wrong one they read the same bytes as other numbers, or fail. Get
    the configuration that belongs to the files. A warning if the quantizer's own file, which its own loader reads
    instead, states a different bit width or group size.
    """
    packing, config = subject.result and subject.result.packing, subject.config
    if not packing or config is None or config.kind != "config.json" or not config.model_type:
        return
    declared = config.declared_packing
    if not declared:
        if not any(subject.folder + name in subject.by_path for name in _DECLARING):
            yield Found(f"weights packed as {packing.scheme}, but the configuration declares no packing", config.path)
        return
    yield from _differs_from_quantizer(subject, declared)
    if not packing.scheme.startswith(_SHOWN_BY_SHAPES) or any(declared.get(field) for field in _OVERRIDES):
        return
    if any(isinstance(each, Mapping) and "bits" in each for each in declared.values()):  # MLX: one entry per module
        return
    bits, group = _declared_width(declared)
    if bits is not None and bits != packing.bits:
        yield Found(f"{bits} bits declared, but the shapes imply {packing.bits}", config.path)
    stored = _groups_of_awq(subject) if packing.scheme == "awq-gemm" else packing.group_size
    if group is not None and stored is not None and group > 0 and group != stored:
        yield Found(f"groups of {integer(group)} declared, but the shapes imply {integer(stored)}", config.path)


def _differs_from_quantizer(subject: Subject, declared: Mapping[str, Any]) -> Iterator[Found]:
    """Widths that differ between config.json and the file of the program that packed the weights."""
    widths = _declared_width(declared)
    for path in (subject.folder + name for name in _OF_QUANTIZERS):
        others = _declared_width(subject.document(path))
        for word, own, other in zip(("bits", "group size"), widths, others, strict=True):
            if own is not None and other is not None and own != other:
                yield Found(f"{word} {integer(other)} here, {integer(own)} in config.json", path, severity="warning")


def _declared_width(declared: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """Bit width and group size, if the declaration has one of each for all weights."""
    groups = declared.get("config_groups")
    if isinstance(groups, Mapping):
        weights = [each.get("weights") for each in groups.values() if isinstance(each, Mapping)]
        declared = weights[0] if len(weights) == 1 and isinstance(weights[0], Mapping) else {}
    bits = declared.get("bits", declared.get("w_bit", declared.get("num_bits")))
    group = declared.get("group_size", declared.get("q_group_size"))
    return bits if type(bits) is int else None, group if type(group) is int else None


def _groups_of_awq(subject: Subject) -> int | None:
    """The group size according to the first AWQ weight: its rows per row of scales."""
    shapes = {tensor.name: tensor.shape for header in subject.headers for tensor in header.tensors}
    for name, shape in shapes.items():
        scales = shapes.get(name.removesuffix("qweight") + "scales") if name.endswith(".qweight") else None
        if scales and len(scales) == len(shape) == 2 and scales[0] and shape[0] % scales[0] == 0:
            return shape[0] // scales[0]
    return None


@rule("undeclared-float8", "consistent", "warning")
def undeclared_float8(subject: Subject) -> Iterator[Found]:
    """A Transformers model has weights in eight-bit floats that its configuration does not declare.

    Without `quantization_config` a loader takes the codes for the weights themselves and ignores their scales, or
    cannot compute with them. Get the configuration that belongs to the files.
    """
    if subject.config is None or subject.config.kind != "config.json" or not subject.config.model_type:
        return
    values = subject.config.values
    declared = [key for key in values if "quant" in key or key == "compression_config"]
    dtypes = {str(values.get(field)) for field in ("dtype", "torch_dtype")}
    if declared or any("float8" in each for each in dtypes) or (subject.result and subject.result.packing):
        return
    for header in subject.headers:
        eight = [each for each in header.tensors if each.dtype.startswith("F8_E") and len(each.shape) > 1]
        if eight:
            what = f"{plural(len(eight), 'weight')} of {eight[0].dtype}, but the configuration declares no packing"
            yield Found(what, header.path, eight[0].name)
            return


@rule("packing-both", "consistent", "error")
def packing_both(subject: Subject) -> Iterator[Found]:
    """The configuration asks bitsandbytes for both 4 bits and 8 bits.

    Transformers refuses to choose. One of the two flags is wrong: get the configuration that belongs to the files.
    """
    declared = subject.config.declared_packing if subject.config else {}
    if declared and declared.get("load_in_4bit") is True and declared.get("load_in_8bit") is True:
        yield Found("load_in_4bit and load_in_8bit are both true", subject.config and subject.config.path)


_OF_PACKING = data.names("packing")
#: Field of a declaration → the words that its library takes.
_WORDS: Mapping[str, tuple[str, ...]] = _OF_PACKING["words"]
#: The methods of Transformers (QuantizationMethod), and of programs whose files it is made for.
_METHODS = frozenset(_OF_PACKING["methods"])


@rule("packing-words", "consistent", "error")
def packing_words(subject: Subject) -> Iterator[Found]:
    """The declaration of the packing has a word that the library does not take, or asks for another packing.

    `bnb_4bit_quant_type: "nf5"`, an `activation_scheme` that does not exist, 8 bits for weights that bitsandbytes
    packed in 4: loading or the first use fails. An unknown method is a warning: Transformers ignores it, and takes the
    packed weights for plain ones.
    """
    config = subject.config
    declared = config.declared_packing if config and config.kind == "config.json" else {}
    if not declared or config is None:
        return
    for field, words in _WORDS.items():
        value = declared.get(field)
        if isinstance(value, str) and value not in words and declared.get("quant_method") in ("bitsandbytes", "fp8"):
            yield Found(f"{field} is {value!r:.40}, but should be one of {', '.join(words)}", config.path)
    method = declared.get("quant_method")
    if isinstance(method, str) and method.lower() not in _METHODS and get_close_matches(method, _METHODS, 1, 0.7):
        yield Found(f"{method!r:.40} is not a method of quantization", config.path, severity="warning")
    if method == "bitsandbytes" and (other := _other_bits(subject, declared)):
        yield Found(other, config.path)
    if method == "fp8" and (what := _other_blocks(subject, declared.get("weight_block_size"))):
        yield Found(what, config.path)


def _other_bits(subject: Subject, declared: Mapping[str, Any]) -> str:
    """Whether the flags ask bitsandbytes for the other of its two packings, or for none."""
    ends = {tensor.name.rpartition(".")[2] for header in subject.headers for tensor in header.tensors}
    four, eight = (declared.get(f"load_in_{bits}bit") is True for bits in (4, 8))
    if eight and not four and "absmax" in ends and "SCB" not in ends:
        return "load_in_8bit, but the weights are packed in 4 bits"
    if four == eight is False and (packed := 4 if "absmax" in ends else 8 if "SCB" in ends else 0):
        return f"neither load_in_4bit nor load_in_8bit is true, but the weights are packed in {packed} bits"
    return "load_in_4bit, but the weights are packed in 8 bits" if four and not eight and "SCB" in ends else ""


def _other_blocks(subject: Subject, block: Any) -> str:
    """Whether the scales of float8 weights belong to blocks of a size other than the declared one."""
    if not (isinstance(block, list) and len(block) == 2 and all(type(each) is int and each > 0 for each in block)):
        return ""
    shapes = {tensor.name: tensor.shape for header in subject.headers for tensor in header.tensors}
    for name, shape in shapes.items():
        scales = shapes.get(f"{name}_scale_inv", ())
        if len(shape) != 2 or len(scales) != 2:
            continue
        made = (-(-shape[0] // block[0]), -(-shape[1] // block[1]))
        if made != scales:
            sizes = (f"{rows}×{columns}" for rows, columns in (block, made, scales))
            return "blocks of {} declared, which make {} scales; {} are stored for ".format(*sizes) + f"{name:.80}"
    return ""


@rule("side-data-missing", "consistent", "error")
def side_data_missing(subject: Subject) -> Iterator[Found]:
    """A packed weight lacks its scales, zero points or state, without which its scheme cannot unpack it.

    Loading ends with an error, or the library computes with whatever its memory held, or takes codes for numbers. The
    file was edited, or a part was lost: download it again.
    """
    without: defaultdict[str, list[str]] = defaultdict(list)
    packing = subject.result.packing if subject.result else None
    for name, ends in (packing.lacking if packing else {}).items():
        for end in ends:
            without[end].append(name)
    for end, names in without.items():
        what = f"{plural(len(names), 'packed weight')} without {end.lstrip('._').removeprefix('weight.')}"
        yield Found(f"{what}: {min(names):.100}", None, min(names))


@rule("side-data", "consistent", "error")
def side_data(subject: Subject) -> Iterator[Found | NotJudged]:
    """A weight's scales, zero points or other side data have a different shape than in other layers.

    The weights have the same shape and packing in all layers, but the side data of one has another size: loading ends
    with an error. The file was edited, or contains a tensor of another model. Not checked if the configuration gives
    individual modules their own bit width or group size.
    """
    result = subject.result
    if result is None or result.packing is None:
        return
    if len(result.tensors) > _MOST_TENSORS:
        yield NotJudged(f"{integer(len(result.tensors))} tensors, more than {integer(_MOST_TENSORS)}", severity="info")
        return
    declared = subject.config.declared_packing if subject.config else {}
    if any(declared.get(field) for field in _OVERRIDES):
        return
    weights: dict[tuple[Any, ...], tuple[int, ...]] = {}
    pieces: list[Labelled] = []
    for each in result.tensors:
        if each.key.part == "weight":
            weights[_module_of(each)] = each.tensor.shape
        # bitsandbytes' state is a JSON document, whose length varies
        if each.group == "quantization" and (each.tensor.dtype != "U8" or len(each.tensor.shape) != 1):
            pieces.append(each)
    alike: defaultdict[tuple[Any, ...], dict[tuple[int, ...], list[Labelled]]] = defaultdict(dict)
    for each in pieces:  # comparable: of the same role, part and dtype, and of weights of the same stored shape
        key = each.key
        kind = key.tower, key.role, key.branch, key.part, each.tensor.dtype, weights.get(_module_of(each))
        alike[kind].setdefault(each.tensor.shape, []).append(each)
    for by_shape in alike.values():
        *odd, usual = sorted(by_shape, key=lambda shape: (len(by_shape[shape]), shape))
        if len(odd) == 1 and len(by_shape[odd[0]]) == 1:
            own = by_shape[odd[0]][0]
            shapes = (" × ".join(map(str, shape)) or "a scalar" for shape in (own.tensor.shape, usual))
            yield Found("{} here, {} in other layers".format(*shapes), own.file, own.tensor.name)


#: The most tensors of a packed model for which the shapes of side data are compared.
_MOST_TENSORS = 200_000


def _module_of(each: Labelled) -> tuple[Any, ...]:
    key = each.key
    return key.tower, key.layer, key.expert, key.role, key.branch, key.indexes
