"""Which quantization fits: what each of llama.cpp's mixtures, and of the libraries' packings, would take of a model.

Nothing is written, and no tensor is read: names and shapes determine the types (`quantization/mixtures`), and these the
bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

from inspector.architectures import GGUF_ARCHITECTURE
from inspector.errors import UsageError
from inspector.formats.gguf.values import KeyValues
from inspector.model import Header, Prediction
from inspector.quantization import mixtures
from inspector.quantization.declaration import declaration_of
from inspector.quantization.mixtures import BY_NAME, MIXTURES, Facts
from inspector.sizing.converted import converted
from inspector.sizing.converted import number_of as _number
from inspector.sizing.memory import Memory, model_type_of, size
from inspector.sizing.model import Model
from inspector.sizing.weights import Weights, as_declared, forecast, stored
from inspector.tabular import Tabular
from inspector.units import decimal, escape

#: Parts of the names of matrices that the converter writes in 32 bits: `prepare_tensors` in llama.cpp's conversion.
IN_F32 = (
    "_norm.weight", "ffn_gate_inp", "ssm_conv1d", "shortconv.conv", "time_mix_first", "time_mix_w1", "time_mix_w2",
    "time_mix_decay_w1", "time_mix_decay_w2", "time_mix_lerp_fused", "position_embd", "token_types", "altup_",
)  # fmt: skip
#: ggml aligns each tensor's bytes, whatever the file says: GGUF_DEFAULT_ALIGNMENT.
ALIGNMENT = 32
#: Key-values that the quantizer sets, and those of a split, which it removes: name → bytes of the value.
_SET = {"general.quantization_version": 4, "general.file_type": 4}
_REMOVED = {"split.no": 2, "split.count": 2, "split.tensors.count": 4}

#: Packings by other libraries, of all linear layers but the head: name → how. Sources: the docstrings of `schemes`.
PACKINGS: Mapping[str, Mapping[str, Any]] = {
    "gptq-4bit": {"quant_method": "gptq", "bits": 4, "group_size": 128},
    "awq-4bit": {"quant_method": "awq", "bits": 4, "group_size": 128},
    "nf4": {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "nf4"},
    "mxfp4": {"quant_method": "mxfp4"},
    "fp8": {"quant_method": "compressed-tensors", "format": "float-quantized", "ignore": ["lm_head"],
            "config_groups": {"g": {"weights": {"num_bits": 8, "type": "float", "strategy": "channel"}}}},
    "int8": {"quant_method": "bitsandbytes", "load_in_8bit": True},
}  # fmt: skip
#: The names of types in bitsandbytes' description of a weight.
_TORCH = {"F32": "float32", "F16": "float16", "BF16": "bfloat16"}
#: Who writes them.
LIBRARIES = {
    "gptq-4bit": "GPTQModel, groups of 128", "awq-4bit": "AutoAWQ, groups of 128",
    "fp8": "llm-compressor, FP8 by channel", "mxfp4": "the experts in MXFP4, as gpt-oss has them",
    "nf4": "bitsandbytes", "int8": "bitsandbytes",
}  # fmt: skip

Entry = tuple[str, tuple[int, ...], str]  # name, shape, present type


class Kind(NamedTuple):
    """The tensors of one type."""

    dtype: str
    tensors: int
    nbytes: int


@dataclass(frozen=True, slots=True)
class Quant:
    """A model in one quantization."""

    name: str
    nbytes: int  # of the file, or of the tensors alone: `Quants.whole`
    kinds: tuple[Kind, ...]
    elements: int
    by: str  # "llama.cpp", or the library
    weighted: bool  # whether the quantizer refuses to make it without an importance matrix
    memory: Memory | None

    def __repr__(self) -> str:
        return f"<Quant {self.name}: {decimal(self.nbytes)}>"

    @property
    def bits(self) -> float:
        """Bits per weight, without header and padding."""
        return sum(each.nbytes for each in self.kinds) * 8 / self.elements if self.elements else 0.0

    @property
    def fits(self) -> bool | None:
        return self.memory.fits if self.memory else None


@dataclass(frozen=True, slots=True)
class Quants(Tabular):
    """A model in each quantization, the smallest first."""

    target: str
    quants: tuple[Quant, ...]
    whole: bool  # whether the bytes of llama.cpp's are those of the whole file
    notes: tuple[str, ...]
    vocabulary: int  # tokens, of whose names the size is not included
    devices: str | None  # as given

    def __repr__(self) -> str:
        fitting = (
            f", {sum(bool(each.fits) for each in self.quants)} fit {escape(self.devices, 40)}" if self.devices else ""
        )
        return f"<Quants {escape(self.target, 100)}: {len(self.quants)}{fitting}>"

    @property
    def best(self) -> Quant | None:
        """The largest of llama.cpp's that fits, or of all if it has none; None if none does, or no device was named."""
        order = list(MIXTURES)
        own = [each for each in self.quants if each.name in MIXTURES] or self.quants
        fitting = (each for each in own if each.fits)
        return max(
            fitting, key=lambda each: (each.nbytes, order.index(each.name) if each.name in order else 0), default=None
        )


#: Engine → the quantizations to advise if a model does not fit, from large to small.
ADVISED: Mapping[str, tuple[str, ...]] = {
    "llama.cpp": ("Q8_0", "Q6_K", "Q5_K_M", "Q4_K_M", "Q3_K_M", "Q2_K"),
    "transformers": ("int8", "nf4"),
    "vllm": ("fp8", "awq-4bit"),
}


def smaller(result: Memory, fits: Callable[[Weights], bool]) -> tuple[str, Weights] | None:
    """The largest advised quantization that is smaller than the weights and fits, or the smallest if none does.

    None if none is smaller, or the model's tensors as a quantizer would be given them are unknown.
    """
    found = None
    for found in _advised(result):
        if fits(found[1]):
            break
    return found


def _advised(result: Memory) -> Iterator[tuple[str, Weights]]:
    """The model in the engine's advised quantizations, from large to small, as far as they are smaller than it is."""
    model, names = result.model, ADVISED.get(result.engine.name, ())
    if result.engine.name != "llama.cpp":
        packed = dict(_of_libraries(model))
        found = ((name, packed[name]) for name in names if name in packed)
        yield from ((name, weights) for name, weights in found if weights.nbytes < result.weights.nbytes)
        return
    source = _of_file(model) if model.format == "gguf" else _of_configuration(model, [])
    for name in names if source else ():
        assert source is not None
        kinds, _ = _made(name, source, imatrix=False)
        sizes = {entry[0]: bytes_of(entry[1], kind) for entry, kind in zip(source.entries, kinds, strict=True)}
        if (weights := _weights(model, source, sizes, name)).nbytes < result.weights.nbytes:
            yield name, weights


def _nbytes(each: Quant) -> int:
    return each.nbytes


class _Source(NamedTuple):
    """The tensors that llama.cpp's quantizer would be given."""

    entries: tuple[Entry, ...]
    facts: Facts
    head: int | None  # bytes of the header after quantization; None if the key-values are unknown
    prediction: Prediction | None  # of a GGUF, if there is no file


def quants(
    model: Model,
    *,
    gpu: str | None = None,
    context: int | str | None = None,
    sequences: int | str = 1,
    cache_dtype: str | None = None,
    imatrix: bool = False,
) -> Quants:
    """What a model takes in each quantization, and which of them fit.

    Args:
        gpu, context, sequences, cache_dtype: as for `size`.
        imatrix: whether there is an importance matrix for the mixtures that do not require one.

    Raises:
        UsageError: an option makes no sense, or nothing is known of the tensors.
    """
    notes: list[str] = []
    found: list[Quant] = []
    source = _of_file(model) if model.format == "gguf" else _of_configuration(model, notes)
    if source is not None:
        if already := sorted({kind for _, _, kind in source.entries if BY_NAME[kind].block > 1}):
            notes.append(f"it is packed already ({', '.join(already)}): the sizes are those made from its original")
        for name in MIXTURES:
            kinds, weighted = _made(name, source, imatrix)
            sizes = {entry[0]: bytes_of(entry[1], kind) for entry, kind in zip(source.entries, kinds, strict=True)}
            total = sum(-(-each // ALIGNMENT) * ALIGNMENT for each in sizes.values()) + (source.head or 0)
            weights = _weights(model, source, sizes, name)
            memory = (
                size(
                    model,
                    engine="llama.cpp",
                    weights=weights,
                    gpu=gpu,
                    context=context,
                    sequences=sequences,
                    cache_dtype=cache_dtype,
                )
                if gpu
                else None
            )
            elements = sum(prod(shape) for _, shape, _ in source.entries)
            found.append(Quant(name, total, _summed(kinds, sizes, source), elements, "llama.cpp", weighted, memory))
    for name, weights in _of_libraries(model):
        memory = size(model, weights=weights, gpu=gpu, context=context, sequences=sequences) if gpu else None
        elements = model.prediction.parameters if model.prediction else 0
        packed = Kind(name, model.prediction.tensors if model.prediction else 0, weights.nbytes)
        found.append(Quant(name, weights.nbytes, (packed,), elements, LIBRARIES[name], False, memory))
    if not found:
        raise UsageError(f"{model.target}: nothing is known of its tensors as a quantizer would be given them")
    found.sort(key=_nbytes)
    tokens = next((s[0] for n, s, _ in source.entries if n == "token_embd.weight"), 0) if source else 0
    whole = source is not None and source.head is not None
    return Quants(model.target, tuple(found), whole, tuple(notes), tokens, gpu)


def bytes_of(shape: Sequence[int], kind: str) -> int:
    """Bytes of a tensor in one of ggml's types."""
    width = BY_NAME[kind]
    return prod(shape) // width.block * width.nbytes


def _made(name: str, source: _Source, imatrix: bool) -> tuple[list[str], bool]:
    """The tensors' types, and whether an importance matrix is required."""
    kinds = mixtures.types(name, source.entries, source.facts, weighted=imatrix)
    if not mixtures.needs_weights(name, source.entries, kinds):
        return kinds, False
    return mixtures.types(name, source.entries, source.facts, weighted=True), True


def _summed(kinds: Sequence[str], sizes: Mapping[str, int], source: _Source) -> tuple[Kind, ...]:
    numbers, nbytes = Counter[str](), Counter[str]()
    for (name, _, _), kind in zip(source.entries, kinds, strict=True):
        numbers[kind] += 1
        nbytes[kind] += sizes[name]
    return tuple(Kind(kind, numbers[kind], amount) for kind, amount in nbytes.most_common())


def _weights(model: Model, source: _Source, sizes: Mapping[str, int], name: str) -> Weights:
    if source.prediction is None and model.result is not None:
        return stored(model.result, sizes)._replace(dtype=name)
    assert source.prediction is not None
    found = forecast(source.prediction, lambda _, tensor: sizes[tensor], name, ())
    return found._replace(nbytes=sum(sizes.values()))


# --- llama.cpp's source -------------------------------------------------------------------------------


def _of_file(model: Model) -> _Source | None:
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
    return _Source(entries, facts, _header(files, entries, pairs), None)


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


def _of_configuration(model: Model, notes: list[str]) -> _Source | None:
    """The tensors that the converter would write for a configuration; None if no table knows them."""
    found = converted(model)
    if found is None:
        notes.append("llama.cpp's mixtures are left out: no table knows the model's tensors in a GGUF")
        return None
    wide = model_type_of(model).name
    plain = wide if wide in ("F32", "F16", "BF16") else "F16"
    entries = tuple(
        (name, row.shape, "F32" if len(row.shape) < 2 or any(part in name for part in IN_F32) else plain)
        for row in found.expected
        for name in row.names()
    )
    entries += tuple(_rotary(model))
    layers = max((layer + 1 for row in found.expected for layer in row.layers or ()), default=0)
    experts = max((row.stacked or row.experts or 0 for row in found.expected), default=0)
    heads = _number(model, "num_attention_heads", "n_head")
    shared = heads // (_number(model, "num_key_value_heads", "num_kv_heads") or heads or 1)
    architecture = str(found.config.values[GGUF_ARCHITECTURE])
    notes.append("tensors as llama.cpp's converter writes them, predicted from the configuration")
    return _Source(entries, Facts(architecture, layers, shared, experts), None, found)


def _rotary(model: Model) -> Iterator[Entry]:
    """Factors on the frequencies of positions, which the converter computes from the configuration."""
    fields = ("rope_scaling", "rope_parameters")
    rules = (model.scope.values.get(field) for field in fields) if model.scope else ()
    rule = next((each for each in rules if isinstance(each, Mapping)), {})
    kind = rule.get("rope_type", rule.get("type"))
    width = _number(model, "head_dim") or _number(model, "hidden_size") // (_number(model, "num_attention_heads") or 1)
    if kind == "llama3":
        yield "rope_freqs.weight", (width // 2,), "F32"
    for which in ("long", "short"):
        factors = rule.get(f"{which}_factor")
        if kind == "longrope" and isinstance(factors, list):
            yield f"rope_factors_{which}.weight", (len(factors),), "F32"


# --- other libraries ----------------------------------------------------------------------------------


def _of_libraries(model: Model) -> Iterator[tuple[str, Weights]]:
    if model.prediction is None or model.format == "gguf":
        return
    own = model_type_of(model)
    for name, values in PACKINGS.items():
        declared = declaration_of(values, _TORCH.get(own.name, "bfloat16"))
        if declared and any(declared.form.only in row.name for row in model.prediction.expected):
            yield name, as_declared(model.prediction, declared, own)
