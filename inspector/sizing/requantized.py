"""The weights as llama.cpp's quantizer would write them.

Nothing is written, and no tensor is read: names and shapes determine the types (`quantization/mixtures`), and these the
bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import NamedTuple

from inspector.architectures import GGUF_ARCHITECTURE, load_gguf
from inspector.formats.gguf.values import KeyValues
from inspector.model import Header, Prediction
from inspector.quantization import mixtures
from inspector.quantization.mixtures import BY_NAME, MIXTURES, Facts
from inspector.sizing.converted import converted, number_of
from inspector.sizing.model import Model
from inspector.sizing.weights import Weights, forecast, stored

#: Parts of the names of matrices that the converter writes in 32 bits, beside those that are no `.weight`:
#: `prepare_tensors` in llama.cpp's conversion.
IN_F32 = (
    "_norm.weight", "ffn_gate_inp", "ssm_conv1d", "shortconv.conv", "time_mix_first", "time_mix_w1", "time_mix_w2",
    "time_mix_decay_w1", "time_mix_decay_w2", "time_mix_lerp_fused", "position_embd", "token_types",
    "altup_correct_coef", "altup_predict_coef", "indexer.proj",
)  # fmt: skip
#: ggml aligns each tensor's bytes, whatever the file says: GGUF_DEFAULT_ALIGNMENT.
ALIGNMENT = 32
#: Key-values that the quantizer sets, and those of a split, which it removes: name → bytes of the value.
_SET = {"general.quantization_version": 4, "general.file_type": 4}
_REMOVED = {"split.no": 2, "split.count": 2, "split.tensors.count": 4}

Entry = tuple[str, tuple[int, ...], str]  # name, shape, present type


class Source(NamedTuple):
    """The tensors that llama.cpp's quantizer would be given."""

    entries: tuple[Entry, ...]
    facts: Facts
    head: int | None  # bytes of the header after quantization; None if the key-values are unknown
    prediction: Prediction | None  # of a GGUF, if there is no file


def source_of(model: Model, notes: list[str]) -> Source | None:
    """The tensors of the model as llama.cpp's quantizer would be given them; None if they are unknown.

    Args:
        notes: remarks about them are appended.
    """
    return _of_file(model) if model.format == "gguf" else _of_configuration(model, notes)


def bytes_of(shape: Sequence[int], kind: str) -> int:
    """Bytes of a tensor in one of ggml's types."""
    width = BY_NAME[kind]
    return prod(shape) // width.block * width.nbytes


def made(name: str, source: Source, imatrix: bool) -> tuple[list[str], bool]:
    """The tensors' types, and whether an importance matrix is required."""
    kinds = mixtures.types(name, source.entries, source.facts, weighted=imatrix)
    if not mixtures.needs_weights(name, source.entries, kinds):
        return kinds, False
    return mixtures.types(name, source.entries, source.facts, weighted=True), True


def weights_of(model: Model, source: Source, sizes: Mapping[str, int], name: str) -> Weights:
    if source.prediction is None and model.result is not None:
        return stored(model.result, sizes)._replace(dtype=name)
    assert source.prediction is not None
    found = forecast(source.prediction, lambda _, tensor: sizes[tensor], name, ())
    return found._replace(nbytes=sum(sizes.values()))


# --- llama.cpp's source -------------------------------------------------------------------------------


def _of_file(model: Model) -> Source | None:
    """The tensors of a GGUF, and the size of its header after quantization."""
    assert model.result is not None
    files = model.result.checkpoint.files
    entries = tuple((each.name, each.shape, each.dtype) for header in files for each in header.tensors)
    pairs = files[0].metadata
    architecture = pairs.get("general.architecture")
    unknown = {kind for _, _, kind in entries} - BY_NAME.keys()
    if not entries or unknown or not isinstance(architecture, str) or not isinstance(pairs, KeyValues):
        return None

    def number(key: str, usual: int = 0) -> int:
        value = pairs.get(f"{architecture}.{key}", usual)
        first = value[0] if isinstance(value, (list, tuple)) and value else value
        return first if isinstance(first, int) else usual

    heads = number("attention.head_count")
    groups = number("attention.head_count_kv", heads)
    shared = heads // groups if groups else 0
    facts = Facts(architecture, number("block_count"), shared, number("expert_count"))
    return Source(entries, facts, _header(files, entries, pairs), None)


def _header(files: Sequence[Header], entries: Sequence[Entry], pairs: KeyValues) -> int:
    """Bytes before the data: counts, key-values, the table of tensors, padding."""
    nbytes = sum(region.size for region in files[0].regions if region.label in ("header", "metadata", "tokenizer"))
    nbytes += sum(8 + len(key) + 4 + value for key, value in _SET.items() if key not in pairs)
    nbytes -= sum(8 + len(key) + 4 + value for key, value in _REMOVED.items() if key in pairs)
    nbytes += table_bytes(entries)
    alignment = pairs.get("general.alignment", ALIGNMENT)
    alignment = alignment if isinstance(alignment, int) and alignment > 0 else ALIGNMENT
    return -(-nbytes // alignment) * alignment


def table_bytes(entries: Sequence[Entry]) -> int:
    """Bytes of the table of tensors: name, number of dimensions, dimensions without trailing ones, type, offset."""
    dims = (max(len(mixtures.dims(shape)), 1) for _, shape, _ in entries)
    return sum(
        8 + len(name.encode()) + 4 + 8 * count + 4 + 8 for (name, _, _), count in zip(entries, dims, strict=True)
    )


def _of_configuration(model: Model, notes: list[str]) -> Source | None:
    """The tensors that the converter would write for a configuration; None if no table knows them."""
    found = converted(model)
    if found is None:
        notes.append("llama.cpp's mixtures are left out: no table knows the model's tensors in a GGUF")
        return None
    wide = model.computes_in.name
    plain = wide if wide in ("F32", "F16", "BF16") else "F16"
    entries = tuple(
        (name, row.shape, plain if len(row.shape) > 1 and name.endswith(".weight") and not _is_in_f32(name) else "F32")
        for row in found.expected
        for name in row.names()
    )
    entries += tuple(_rotary(model, entries))
    layers = max((layer + 1 for row in found.expected for layer in row.layers or ()), default=0)
    experts = max((row.stacked or row.experts or 0 for row in found.expected), default=0)
    architecture = str(found.config.values[GGUF_ARCHITECTURE])
    notes.append("tensors as llama.cpp's converter writes them, predicted from the configuration")
    return Source(
        entries, Facts(architecture, layers, _heads_per_value(model, architecture, entries), experts), None, found
    )


def _is_in_f32(name: str) -> bool:
    return any(part in name for part in IN_F32)


def _heads_per_value(model: Model, architecture: str, entries: Sequence[Entry]) -> int:
    """Query heads for each of keys and values, by the widths of the first layer's tensors; 0 if it has no attention.

    Of some architectures a file says how many heads each layer has; else the first layer with attention counts.
    """
    family = load_gguf(architecture, architecture)
    by_layer = any("num_key_value_heads" in each.when for each in family.rows) if family else False
    layers: dict[str, dict[str, tuple[int, ...]]] = {}
    for name, shape, _ in entries:
        if name.startswith("blk."):
            layers.setdefault(name.split(".")[1], {})[name.split(".", 2)[2]] = shape
    for first in layers.values():
        if "attn_v_b.weight" in first:
            return number_of(model, "num_attention_heads")  # the latent is one head
        inner = first.get("attn_output.weight", (0, 0))[-1]
        fused = (first.get("attn_qkv.weight", (inner,))[0] - inner) // 2
        values = first.get("attn_v.weight", (fused,))[0]
        if values > 0 or by_layer:
            return inner // values if values > 0 else 0
    return 0


def _rotary(model: Model, entries: Sequence[Entry]) -> Iterator[Entry]:
    """Factors on the frequencies of positions, which the converter computes from the configuration."""
    fields = ("rope_scaling", "rope_parameters")
    rules = [model.scope.config.get(field) for field in fields] if model.scope is not None else []
    rules += [each.get("full_attention") for each in rules if isinstance(each, Mapping)]
    rule = next((each for each in rules if isinstance(each, Mapping) and {"rope_type", "type"} & each.keys()), {})
    kind = rule.get("rope_type", rule.get("type"))
    width = number_of(model, "head_dim") or number_of(model, "hidden_size") // (
        number_of(model, "num_attention_heads") or 1
    )
    if kind == "proportional":  # of the layers without a window, whose heads are the widest
        width = max((shape[0] for name, shape, _ in entries if name.endswith("attn_q_norm.weight")), default=width)
    if kind in ("llama3", "proportional"):
        yield "rope_freqs.weight", (width // 2,), "F32"
    for which in ("long", "short"):
        factors = rule.get(f"{which}_factor")
        if kind == "longrope" and isinstance(factors, list):
            yield f"rope_factors_{which}.weight", (len(factors),), "F32"


def in_mixture(model: Model, source: Source, name: str) -> Weights:
    """The weights in one of llama.cpp's mixtures, made without an importance matrix where that is allowed."""
    kinds, _ = made(name, source, imatrix=False)
    sizes = {entry[0]: bytes_of(entry[1], kind) for entry, kind in zip(source.entries, kinds, strict=True)}
    return weights_of(model, source, sizes, name)


def is_mixture(name: str) -> bool:
    """Whether it is a mixture of types, not one plain type."""
    return name.upper() in MIXTURES and name.upper() not in ("F32", "F16", "BF16")
