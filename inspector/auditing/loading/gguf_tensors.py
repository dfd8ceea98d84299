"""Would llama.cpp accept a GGUF's tensors? Checks their names, dimensions and types, and where their data begins.

`auditing/data/gguf.json` is extracted from its source by tools/llama_cpp/write_loading.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from inspector.architectures import predicted_gguf
from inspector.auditing.loading.gguf_keys import by_hand, models_of, table
from inspector.auditing.rule import Found, rule
from inspector.auditing.subject import Subject
from inspector.bridge.book import alike
from inspector.model import Expected, Header, Prediction, Tensor
from inspector.units import integer, plural, times


def _prediction_of(subject: Subject) -> Prediction | None:
    """The prediction from the files' own key-values, if all files of a known architecture are there."""
    result = subject.result
    prediction = result.prediction if result else None
    files = [each for each in subject.headers if each.format == "gguf"]
    if prediction is None or not files or len(files) != len(subject.headers):
        return None
    is_known = any(each.metadata.get("general.architecture") in predicted_gguf() for each in files)
    return prediction if prediction.config.kind == "gguf" and is_known and not subject.incomplete else None


_BLOCK = re.compile(r"blk\.(\d+)\.")
_OF_QKV = re.compile(r"attn_[qkv]\.")


def pattern(name: str) -> str:
    """A tensor's name with `%d` for its block, as llama.cpp's tables have it."""
    return _BLOCK.sub("blk.%d.", name, count=1) if name.startswith("blk.") else name


def is_optional(name: str, header: Header) -> bool:
    """Whether llama.cpp loads a tensor if it is there, but can do without it."""
    architecture = header.metadata.get("general.architecture")
    own = table()["architectures"].get(architecture, {}) if isinstance(architecture, str) else {}
    stem, _, part = pattern(name).rpartition(".")
    is_scale = (
        bool(own)
        and part in by_hand()["scales"]
        and stem.replace("blk.%d.", "") in {each.replace("blk.%d.", "") for each in table()["scaled"]}
    )
    return (is_scale or pattern(name) in own.get("optional", ())) and _is_within(name, header, architecture)


def _is_within(name: str, header: Header, architecture: Any) -> bool:
    """Whether a tensor is in a block that the model has, or in none."""
    block, blocks = _BLOCK.match(name), header.metadata.get(f"{architecture}.block_count")
    return block is None or type(blocks) is not int or int(block[1]) < blocks


@rule("gguf-tensors", "consistent", "error")
def gguf_tensors(subject: Subject) -> Iterator[Found]:
    """A GGUF has a tensor that llama.cpp does not load, or has it under another name.

    llama.cpp looks up each tensor by its exact name, and refuses a file with more tensors than it has used. The
    key-values belong to another model, or the converter has a bug.
    """
    prediction = _prediction_of(subject)
    if prediction is None:
        return
    files = subject.headers
    stored = {tensor.name: header.path for header in files for tensor in header.tensors}
    needed = {name for row in prediction.expected for name in row.names()}
    beside = (*prediction.tied, *prediction.buffers, *prediction.optional, *prediction.ahead)
    asked = needed | {name for row in beside for name in row.names()}
    # llama.cpp looks up the fused query, key and value first (`create_tensor_qkv`)
    asked |= {fused for name in needed - stored.keys() if (fused := _OF_QKV.sub("attn_qkv.", name)) != name}
    asked |= {name for header in files for name in (each.name for each in header.tensors) if is_optional(name, header)}
    strange = [name for name in stored if name not in asked]
    lost = sorted(needed - stored.keys())
    for name in strange[:1]:
        hint = f"; it expects {lost[0]}" if lost else ""
        what = f"{plural(len(strange), 'tensor')} that llama.cpp does not load{hint}"
        yield Found(what, stored[name], name)


@rule("gguf-dimensions", "consistent", "error")
def gguf_dimensions(subject: Subject) -> Iterator[Found]:
    """A GGUF's tensor has the right number of elements, but its dimensions in another order or one too many.

    llama.cpp compares each dimension, and refuses a matrix that is transposed or has a last dimension of 1. The
    converter did not permute the tensor, or kept a dimension that it should have dropped: convert the model again.
    """
    prediction = _prediction_of(subject)
    if prediction is None:
        return
    expected = {name: row for row in prediction.expected for name in row.names()}
    constant = {name for row in prediction.buffers for name in row.names()}
    free = {*table()["reshaped"]}
    for header in subject.headers:
        for tensor in header.tensors:
            if tensor.name in by_hand()["rotation_factors"] and tensor.name not in constant:
                yield from _wrong_rotation_factors(tensor, header)
            row = expected.get(tensor.name)
            if row and pattern(tensor.name).rpartition(".")[0] not in free and _is_transposed(tensor, row):
                what = f"its dimensions are {times(tensor.shape)}, but should be {times(row.shape)}"
                yield Found(what, header.path, tensor.name)


def _wrong_rotation_factors(tensor: Tensor, header: Header) -> Iterator[Found]:
    """Factors on the frequencies of rotations: one for each pair of dimensions that are rotated."""
    own = header.metadata
    architecture = own.get("general.architecture")
    width, heads = (own.get(f"{architecture}.{key}") for key in ("embedding_length", "attention.head_count"))
    head = own.get(f"{architecture}.attention.key_length")
    if head is None and type(width) is int and type(heads) is int and heads:
        head = width // heads
    rotated = own.get(f"{architecture}.rope.dimension_count", head)
    lengths = [size // 2 for size in (rotated, head) if type(size) is int]
    if lengths and tensor.shape not in [(length,) for length in lengths]:
        what = f"{times(tensor.shape)} factors on the frequencies of rotations, but {integer(lengths[0])} are used"
        yield Found(what, header.path, tensor.name)


def _is_transposed(tensor: Tensor, row: Expected) -> bool:
    return alike(tensor.shape, row.shape) and _without_leading_ones(tensor.shape) != _without_leading_ones(row.shape)


def _without_leading_ones(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Dimensions without leading 1s: in a file these come last, and llama.cpp adds them."""
    first = next((at for at, size in enumerate(shape) if size != 1), len(shape))
    return shape[first:]


@rule("gguf-weight-type", "consistent", "error")
def gguf_weight_type(subject: Subject) -> Iterator[Found]:
    """A GGUF's weight has a type with which ggml cannot compute.

    On a processor norms and biases must be F32, and matrices floating-point numbers of at most 32 bits or packed.
    llama.cpp loads the file, and aborts when it prepares the first computation. The converter did not cast the tensor:
    convert the model again.
    """
    for header, metadata in models_of(subject):
        if metadata.get("general.architecture") not in predicted_gguf():
            continue
        wrong: dict[str, list[str]] = {}
        for tensor in header.tensors:
            if (what := _not_computable(tensor)) is not None:
                wrong.setdefault(what, []).append(tensor.name)
        for what, names in wrong.items():
            more = f", and {plural(len(names) - 1, 'tensor')} like it" if len(names) > 1 else ""
            yield Found(what + more, header.path, names[0])


def _not_computable(tensor: Tensor) -> str | None:
    """Why ggml cannot compute with a tensor's type; None if it can, or if nothing is known of the tensor."""
    stem, _, part = pattern(tensor.name).rpartition(".")
    if part not in ("weight", "bias"):
        stem, part = pattern(tensor.name), "weight"  # a few have no further word: blk.0.ssm_d
    operation = table()["operations"].get(stem)
    if operation is None:
        return None
    hand = by_hand()
    is_vector = sum(size > 1 for size in tensor.shape) <= 1
    if part == "bias" or (operation in hand["on_vectors"] and (is_vector or stem.endswith("norm"))):
        what = "bias" if part == "bias" else "norm or another vector"
        return None if tensor.dtype == "F32" else f"a {what} in {tensor.dtype}: llama.cpp computes with it only in F32"
    if operation in hand["only_f32"] and tensor.dtype != "F32":
        return f"weights in {tensor.dtype}, with which llama.cpp computes only in F32"
    # Tables of ids are I32; tables of numbers to compute with are not.
    lacked = tensor.dtype in hand["lacked"].get(operation, ()) or (stem in hand["embeddings"] and tensor.dtype == "I32")
    return f"weights in {tensor.dtype}, with which llama.cpp does not compute" if lacked else None


#: Bytes: the multiple at which ggml's processor backend needs a buffer to begin.
_BUFFER = 32


@rule("gguf-alignment", "consistent", "error")
def gguf_alignment(subject: Subject) -> Iterator[Found]:
    """A GGUF's tensors begin at an address that llama.cpp cannot map.

    It maps the file into memory, and aborts unless the first tensor begins at a multiple of 32 bytes. The file has a
    smaller `general.alignment`: convert the model again with the default, 32. With `--no-mmap` the file can be loaded.
    """
    for header, metadata in models_of(subject):
        first = min((tensor for tensor in header.tensors if tensor.nbytes), key=lambda each: each.offset, default=None)
        if metadata.get("general.architecture") in predicted_gguf() and first is not None and first.offset % _BUFFER:
            what = f"the tensors begin at byte {integer(first.offset)}, which is not a multiple of {_BUFFER}"
            yield Found(what, header.path, first.name)
