"""The bytes of packed weights and their side data, from the declaration of a configuration alone.

What each library stores beside a weight of O outputs and I inputs is in the docstring of its scheme (`schemes`). The
arithmetic is the same for all: bits for each element; for each group of a row a scale and perhaps a zero point; for
each row, each column and each weight what some libraries add.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

from inspector.model import Expected, Prediction
from inspector.quantization import exclusions
from inspector.quantization.scheme import AUTO_ROUND, inner, number_of


@dataclass(frozen=True, slots=True)
class Form:
    """How a declaration packs a weight. Bytes, except where bits are stated."""

    name: str
    bits: int
    group: int | None = None  # weights of a row that share a scale; None if the whole row does
    scale: int = 2  # of each group
    zero_bits: int = 0  # of each group's zero point
    column: int = 0  # for each input: GPTQ's order of columns
    weight: int = 0  # for each weight: scales of scales, shapes
    heads: bool = False  # whether the head is packed unless it is excluded
    embeddings: bool = False
    only: str = ""  # a word that names of packed weights contain
    described: str = ""  # the type in bitsandbytes' description of a weight, if it has one

    def bytes_of(self, shape: tuple[int, ...]) -> int:
        """Bytes of a weight, or of stacked ones."""
        elements, columns = prod(shape), shape[-1]
        rows = elements // columns if columns else 0
        groups = rows * (-(-columns // self.group) if self.group else 1)
        each = prod(shape[:-2]) * (columns * self.column + self.weight)
        each += len(_DESCRIPTION.format(self.described, list(shape))) if self.described else 0
        return -(-elements * self.bits // 8) + groups * self.scale + -(-groups * self.zero_bits // 8) + each


#: bitsandbytes' description of a weight, as bytes of JSON.
_DESCRIPTION = '{{"quant_type": "nf4", "blocksize": 64, "dtype": "{}", "shape": {}}}'


class Declaration:
    """The packing that a configuration declares, and the modules that it leaves plain."""

    def __init__(self, form: Form, values: Mapping[str, Any]) -> None:
        self.form = form
        self._excluded = exclusions.read(values)

    def bytes_of(self, row: Expected, name: str) -> int | None:
        """Bytes of a predicted weight with its side data; None if it is left plain."""
        form = self.form
        linear = row.part == "weight" and len(row.shape) == 2 + bool(row.stacked) and not row.buffer
        if not linear or row.group in ("norm", "buffer") or form.only not in name:
            return None
        if (row.group == "embedding" and not form.embeddings) or (row.group == "head" and not form.heads):
            return None
        module = name.removesuffix(".weight")
        if self._excluded is not None and self._excluded.entry_for(module) is not None:
            return None
        return form.bytes_of(row.shape)


class Declared(NamedTuple):
    """A whole model, packed as its configuration declares."""

    packing: str
    bytes: int


def declared_bytes(prediction: Prediction) -> Declared | None:
    """The bytes of all predicted tensors, those that are not packed in the type that the configuration states.

    None if the configuration declares no packing, or one that is not understood.
    """
    config = prediction.config
    declared = declaration_of(config.declared_packing) if config.declared_packing else None
    if declared is None:
        return None
    stated = config.values.get("dtype", config.values.get("torch_dtype"))
    width = 4 if isinstance(stated, str) and stated.endswith("float32") else 2
    total = 0
    for row in prediction.expected:
        for layer in row.layers or (None,):
            name = row.name.replace("{layer}", str(layer)).replace("{expert}", str(row.first_expert))
            each = declared.bytes_of(row, name)
            total += (row.elements * width if each is None else each) * (1 if row.experts is None else row.experts)
    return Declared(declared.form.name, total)


def declaration_of(values: Mapping[str, Any]) -> Declaration | None:
    """The packing that a quantization object declares for all its weights alike; None if it is not understood.

    Several widths in one model (`config_groups` of two kinds, ModelOpt's `quantized_layers`, a width for single
    modules) are not.
    """
    excluded = exclusions.read(values)
    if excluded is not None and (not excluded.complete or len(excluded.patterns) > _MOST_PATTERNS):
        return None
    form = _form(values)
    return Declaration(form, values) if form else None


#: The most patterns of excluded modules, each of which is tried on every row and layer.
_MOST_PATTERNS = 50


def _form(values: Mapping[str, Any]) -> Form | None:
    method = values.get("quant_method")
    method = method.lower() if isinstance(method, str) else ""
    bits, group = number_of(values, "bits") or number_of(values, "w_bit"), number_of(values, "group_size")
    group = group or number_of(values, "q_group_size")
    if method == "mxfp4":
        return Form("mxfp4", 4, 32, scale=1, only="experts")
    if method == "compressed-tensors":
        return _compressed(values)
    if method in ("modelopt", "modelopt_fp4") or "quant_algo" in values:
        return _modelopt(str(values.get("quant_algo")), group)
    if bits is None or _has_widths_of_modules(values):
        return None
    if (
        "marlin" in (values.get("version"), values.get("checkpoint_format"))
        or str(values.get("version")) in _OTHER_LAYOUTS
    ):
        return None
    if (method in AUTO_ROUND and values.get("data_type", "int") == "int") or method == "gptq":
        order = 4 if method == "gptq" else 0
        return Form("gptq", bits, group, zero_bits=bits, column=order, heads=values.get("lm_head") is True)
    if method == "awq":
        return Form("awq", bits, group, zero_bits=bits)
    if not method and group:
        plain = values.get("mode", "affine") == "affine"  # or one byte for the exponent of each group
        return Form("mlx", bits, group, scale=4 if plain else 1, heads=True, embeddings=True)
    return None


#: Layouts of AWQ whose rows are padded.
_OTHER_LAYOUTS = frozenset({"gemv", "gemv_fast"})


def _has_widths_of_modules(values: Mapping[str, Any]) -> bool:
    """Whether single modules have another width: MLX's own keys, AutoRound's and GPTQModel's fields."""
    return any("bits" in each for each in inner(values) if each is not values)


def _modelopt(algorithm: str, group: int | None) -> Form | None:
    if algorithm.upper() == "NVFP4":
        return Form("modelopt-nvfp4", 4, group or 16, scale=1, weight=8, heads=True)
    return Form("modelopt-fp8", 8, None, scale=0, weight=8, heads=True) if algorithm.upper() == "FP8" else None


def _compressed(values: Mapping[str, Any]) -> Form | None:
    groups = [each for each in inner(values.get("config_groups")) if isinstance(each.get("weights"), Mapping)]
    if len(groups) != 1 or groups[0].get("targets") not in (["Linear"], None):
        return None
    weights, kind = groups[0]["weights"], groups[0].get("format") or values.get("format")
    bits, group, strategy = number_of(weights, "num_bits"), number_of(weights, "group_size"), weights.get("strategy")
    if bits is None:
        return None
    if kind == "pack-quantized":
        zero = 0 if weights.get("symmetric", True) else bits
        return Form("compressed-tensors", bits, group, zero_bits=zero, weight=16, heads=True)
    inputs = groups[0].get("input_activations")
    if kind in ("nvfp4-pack-quantized", "mxfp4-pack-quantized"):
        scales = 0 if kind.startswith("mx") else 8 if inputs else 4
        usual = 32 if kind.startswith("mx") else 16
        return Form("compressed-tensors", 4, group or usual, scale=1, weight=scales, heads=True)
    if kind in ("int-quantized", "float-quantized", "naive-quantized") and bits == 8:
        fixed = isinstance(inputs, Mapping) and not inputs.get("dynamic")  # the inputs' scale is stored, too
        if strategy == "channel":
            return Form("compressed-tensors", 8, scale=2, weight=2 * fixed, heads=True)
        if strategy == "tensor":
            return Form("compressed-tensors", 8, scale=0, weight=2 + 2 * fixed, heads=True)
    return None
