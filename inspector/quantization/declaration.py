"""What a packed weight consists of, from the declaration of a configuration: types, shapes, and hence bytes.

The layouts are those of `schemes`, which say where each is from. A configuration says by itself which pieces a weight
has (`declaration_of`); an index has no shapes, but lists the pieces by name (`pieces_of`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

from inspector.formats.safetensors.dtypes import DTYPE_BITS
from inspector.model import Config, Expected, Prediction
from inspector.quantization import exclusions
from inspector.quantization.scheme import AUTO_ROUND, inner, number_of

Shape = tuple[int, ...]
#: Ends of names → type and shape; no type is the model's own.
Pieces = Mapping[str, tuple[str | None, Shape]]
#: Groups of tensors that are left plain: usually; where the head is packed; where embeddings are, too; where only
#: modules of the class Linear are, which routers are not (`replace_with_bnb_linear` in Transformers 5.24).
_PLAIN = frozenset({"norm", "buffer", "embedding", "head"})
_HEAD_PACKED = _PLAIN - {"head"}
_NOT_LINEAR = _HEAD_PACKED - {"embedding"}
_LINEAR = _PLAIN | {"router"}
_GPTQ = "I32 G,Ow .qzeros | F16 G,O .scales | I32 I .g_idx"
_NESTED = "F32 n .weight.nested_absmax | F32 256 .weight.nested_quant_map"
_BLOCKS = "U8 e,1 .weight | F32 b .weight.absmax | F32 16 .weight.quant_map | U8 t .weight.quant_state.bitsandbytes__"
#: Layout → all pieces that a weight may have: type (or - for the model's own), shape, end of the name. Of the weight's
#: O outputs and I inputs: w words of 32 bits, h of two to a byte, G groups (g, of outputs), o and i blocks; of all
#: elements: e of two to a byte, b blocks of 64, n blocks of 256 of these; t bytes of a description.
LAYOUTS: Mapping[str, str] = {
    "gptq": f"I32 Iw,O .qweight | {_GPTQ}",
    "awq": f"I32 I,Ow .qweight | {_GPTQ}",
    "mlx": "U32 O,Iw .weight | - O,G .scales | - O,G .biases",
    "mlx-floats": "U32 O,Iw .weight | U8 O,G .scales",
    "mxfp4": "U8 I,g,16 _blocks | U8 I,g _scales",  # of experts, whose rows are inputs
    "fp8": "F8_E4M3 O,I .weight | F32 o,i .weight_scale_inv",
    "int8": "I8 O,I .weight | F32 O .SCB | U8 1 .weight_format",
    "nf4": f"{_BLOCKS}nf4",
    "fp4": f"{_BLOCKS}fp4",
    "nested": f"U8 e,1 .weight | U8 b .weight.absmax | F32 16 .weight.quant_map | {_NESTED}",
    "modelopt-nvfp4": "U8 O,h .weight | F8_E4M3 O,G .weight_scale | F32 1 .weight_scale_2 | F32 1 .input_scale",
    "modelopt-fp8": "F8_E4M3 O,I .weight | F32 1 .weight_scale | F32 1 .input_scale",
    "pack-quantized": "I32 O,Iw .weight_packed | - O,G .weight_scale | I32 Ow,G .weight_zero_point"
    " | I64 2 .weight_shape | I32 I .weight_g_idx",
    "mxfp4-pack-quantized": "U8 O,h .weight_packed | U8 O,G .weight_scale",
    "nvfp4-pack-quantized": "U8 O,h .weight_packed | F8_E4M3 O,G .weight_scale | F32 1 .weight_global_scale"
    " | F32 1 .input_global_scale",
    **{
        f"{strategy}-{kind}": f"{dtype} O,I .weight | - {scales} .weight_scale | - 1 .input_scale"
        for strategy, scales in (("channel", "O,1"), ("tensor", "1"))
        for kind, dtype in (("int", "I8"), ("float", "F8_E4M3"))
    },
}


@dataclass(frozen=True, slots=True)
class Form:
    """How a declaration packs a weight."""

    name: str
    layout: str
    bits: int
    group: int | None = None  # weights of a row that share a scale; None if the whole row does
    without: Collection[str] = ()  # ends of the pieces that the configuration excludes
    plain: frozenset[str] = _PLAIN
    stacked: bool = True  # whether stacked weights are packed, too
    only: str = ""  # a word that names of packed weights contain
    block: tuple[int, ...] = (128, 128)
    dtype: str = "bfloat16"  # the model's, in a description

    def pieces(self, shape: Shape) -> Pieces:
        """All pieces that a weight, or stacked ones, may have."""
        *outer, rows, columns = shape
        elements, group, text = rows * columns, self.group, f'"dtype": "{self.dtype}", "shape": {list(shape)}'
        size = {"O": rows, "I": columns, "Ow": _over(rows * self.bits, 32), "Iw": _over(columns * self.bits, 32),
                "h": _over(columns, 2), "G": _over(columns, group or columns), "g": _over(rows, group or rows),
                "o": _over(rows, self.block[0]), "i": _over(columns, self.block[1]), "e": _over(elements, 2),
                "b": _over(elements, 64), "n": _over(elements, 64 * 256),
                "t": len(f'{{"quant_type": "nf4", "blocksize": 64, {text}}}')}  # fmt: skip
        return {
            end: (None if kind == "-" else kind, (*outer, *(size.get(each) or int(each) for each in of.split(","))))
            for kind, of, end in (piece.split() for piece in LAYOUTS[self.layout].split(" | "))
        }

    def bytes_of(self, shape: Shape) -> int:
        """Bytes of a weight, or of stacked ones, with side data; the model's own type has 16 bits."""
        pieces = [piece for end, piece in self.pieces(shape).items() if end not in self.without]
        return sum(prod(each) * DTYPE_BITS[kind or "BF16"] // 8 for kind, each in pieces)


def _over(number: int, by: int) -> int:
    return -(-number // by) if by else 0


class Declaration:
    """The packing that a configuration declares, and the modules that it leaves plain."""

    def __init__(self, form: Form, values: Mapping[str, Any], *, experts: bool = True) -> None:
        """
        Args:
            experts: whether weights of single experts are packed.
        """
        self.form = form
        self._experts = experts
        self._bytes: dict[Shape, int] = {}  # by shape: most layers have the same
        self._excluded = exclusions.read(values)

    def bytes_of(self, row: Expected, name: str) -> int | None:
        """Bytes of a predicted weight with its side data; None if it is left plain."""
        form = self.form
        linear = row.part == "weight" and len(row.shape) == 2 + bool(row.stacked) and not row.buffer
        if not linear or row.group in form.plain or form.only not in name or (row.stacked and not form.stacked):
            return None
        if row.experts and not self._experts:
            return None
        if self._excluded is not None and self._excluded.entry_for(name.removesuffix(".weight")) is not None:
            return None
        if row.shape not in self._bytes:
            self._bytes[row.shape] = form.bytes_of(row.shape)
        return self._bytes[row.shape]


class Declared(NamedTuple):
    """A whole model, packed as its configuration declares."""

    packing: str
    bytes: int


def declared_bytes(prediction: Prediction) -> Declared | None:
    """The bytes of all predicted tensors, those that are not packed in the type that the configuration states.

    None if the configuration declares no packing, or one that is not understood.
    """
    config = prediction.config
    values, release = config.declared_packing, stated_release(config)
    declared = declaration_of(values, stated_dtype(config), release=release) if values else None
    if declared is None:
        return None
    width, total = 4 if stated_dtype(config) == "float32" else 2, 0
    for row in prediction.expected:
        for layer in row.layers or (None,):
            name = row.name.replace("{layer}", str(layer)).replace("{expert}", str(row.first_expert))
            each = declared.bytes_of(row, name)
            total += (row.elements * width if each is None else each) * (1 if row.experts is None else row.experts)
    return Declared(declared.form.name, total)


def stated_release(config: Config) -> str:
    """The release of Transformers that wrote a configuration; empty if it does not say, or the code is its own."""
    stated = config.values.get("transformers_version")
    return stated if isinstance(stated, str) and "auto_map" not in config.values else ""


def stated_dtype(config: Config) -> str:
    """The type that a configuration states, as PyTorch calls it."""
    stated = config.values.get("dtype", config.values.get("torch_dtype"))
    return stated.removeprefix("torch.") if isinstance(stated, str) else "bfloat16"


def declaration_of(
    values: Mapping[str, Any], dtype: str = "bfloat16", *, exact: bool = True, release: str = ""
) -> Declaration | None:
    """The packing that a quantization object declares for all its weights alike; None if it is not understood.

    Several widths in one model (`config_groups` of two kinds, ModelOpt's `quantized_layers`, a width for single
    modules) are not.

    Args:
        dtype: the model's own, which bitsandbytes describes.
        exact: leave out what a declaration does not determine to the byte: FP8 in blocks, of which libraries leave
            different weights plain (here: routers), and scales that bitsandbytes quantizes, too, whose description in
            the file has any length.
        release: of Transformers, which from 5 on keeps a layer's experts in one tensor. bitsandbytes leaves that plain,
            for it packs modules of the class Linear alone (`replace_with_bnb_linear`).
    """
    excluded = exclusions.read(values)
    if excluded is not None and (not excluded.complete or len(excluded.patterns) > _MOST_PATTERNS):
        return None
    form = None if _has_several_widths(values) else _form(_method(values), values, dtype)
    if form is None or (exact and form.layout in ("fp8", "nested")):
        return None
    major = release.partition(".")[0]
    return Declaration(form, values, experts=form.stacked or not (major.isdecimal() and int(major[:4]) >= 5))


#: The most patterns of excluded modules, each of which is tried on every row and layer.
_MOST_PATTERNS = 50
#: End of a piece's name that shows that a weight is packed → the end of the weight's own name, and the methods.
_SIGNS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    ".weight.absmax": (".weight", ("bitsandbytes",)),
    ".SCB": (".weight", ("bitsandbytes",)),
    ".qweight": (".weight", ("gptq", "awq")),
    ".weight_packed": (".weight", ("compressed-tensors",)),
    ".weight_scale_inv": (".weight", ("fp8",)),
    ".weight_scale": (".weight", ("compressed-tensors", "modelopt")),
    "_blocks": ("", ("mxfp4",)),
    ".scales": (".weight", ("mlx",)),
}


def pieces_of(names: Collection[str], declared: Mapping[str, Any], dtype: str) -> dict[str, Callable[[Shape], Pieces]]:
    """Name of each packed weight → its pieces by name, for its shape: those that an index lists."""
    found: dict[str, Callable[[Shape], Pieces]] = {}
    for name in names if declared else ():
        end = next((sign for sign in _SIGNS if name.endswith(sign)), None)
        if end is None:
            continue
        stem = name.removesuffix(end)
        sign = next(sign for sign in _SIGNS if stem + sign in names)
        weight, methods = _SIGNS[sign]
        own = declared.get(stem)
        nested = {"bnb_4bit_use_double_quant": f"{stem}.weight.nested_absmax" in names}
        values = {"bits": 4, **declared, **(own if isinstance(own, Mapping) else {}), **nested}
        form = _form(next((each for each in methods if each == _method(values)), methods[0]), values, dtype)
        if form is not None:
            found.setdefault(stem + weight, _pieces_among(form, stem, names))
    return found


def _pieces_among(form: Form, stem: str, names: Collection[str]) -> Callable[[Shape], Pieces]:
    return lambda shape: {stem + end: piece for end, piece in form.pieces(shape).items() if stem + end in names}


# --- from a declaration to a form -------------------------------------------------------------


def _method(values: Mapping[str, Any]) -> str:
    """`quant_method` in lower case, or what the fields show instead of it."""
    stated = values.get("quant_method")
    method = stated.lower() if isinstance(stated, str) else ""
    if method == "modelopt_fp4" or ("quant_algo" in values and method not in ("mxfp4", "compressed-tensors")):
        return "modelopt"
    loaded = values.get("load_in_4bit") or values.get("load_in_8bit")
    return method or ("bitsandbytes" if loaded else "mlx" if number_of(values, "group_size") else "")


def _has_several_widths(values: Mapping[str, Any]) -> bool:
    """Whether some modules have another width, or a form is declared for modules of certain names only."""
    method = _method(values)
    if method == "compressed-tensors":
        groups = _groups(values)
        return len(groups) != 1 or groups[0].get("targets") not in (["Linear"], None)
    return method in _OF_BITS and any("bits" in each for each in inner(values) if each is not values)


def _form(method: str, values: Mapping[str, Any], dtype: str) -> Form | None:
    """The form that a method's fields describe; None if they are not understood."""
    if method == "mxfp4":
        return Form("mxfp4", "mxfp4", 4, 32, only="experts")
    if method == "compressed-tensors":
        return _compressed(values)
    group, algorithm = number_of(values, "group_size"), str(values.get("quant_algo")).lower()
    if method == "modelopt":
        name, known = f"modelopt-{algorithm}", algorithm in ("nvfp4", "fp8")
        return Form(name, name, 4, group or 16, plain=_HEAD_PACKED) if known else None
    if method == "fp8":
        block = values.get("weight_block_size") or [128, 128]
        known = isinstance(block, list) and len(block) == 2 and all(type(side) is int and side > 0 for side in block)
        return Form("fp8", "fp8", 8, block=tuple(block), plain=_LINEAR) if known else None
    return _bitsandbytes(values, dtype) if method == "bitsandbytes" else _of_bits(method, values)


def _bitsandbytes(values: Mapping[str, Any], dtype: str) -> Form | None:
    kind = (
        "int8"
        if values.get("load_in_8bit")
        else values.get("load_in_4bit") and values.get("bnb_4bit_quant_type", "fp4")
    )
    if kind not in ("int8", "nf4", "fp4"):
        return None
    layout = "nested" if kind != "int8" and values.get("bnb_4bit_use_double_quant") else kind
    return Form(f"bitsandbytes-{kind}", layout, 8 if kind == "int8" else 4, plain=_LINEAR, stacked=False, dtype=dtype)


def _of_bits(method: str, values: Mapping[str, Any]) -> Form | None:
    bits = number_of(values, "bits") or number_of(values, "w_bit")
    group = number_of(values, "group_size") or number_of(values, "q_group_size")
    if bits is None or _OTHER_LAYOUTS & {str(values.get("version")), str(values.get("checkpoint_format"))}:
        return None
    if method == "gptq" or (method in AUTO_ROUND and values.get("data_type", "int") == "int"):
        plain = _HEAD_PACKED if values.get("lm_head") is True else _PLAIN
        return Form("gptq", "gptq", bits, group, () if method == "gptq" else (".g_idx",), plain)
    if method == "awq":
        return Form("awq", "awq", bits, group, (".g_idx",))
    layout = "mlx" if values.get("mode", "affine") == "affine" else "mlx-floats"
    return Form("mlx", layout, bits, group, plain=_NOT_LINEAR) if method == "mlx" and group else None


#: Methods with one width for all modules, from which single modules may differ: MLX's own keys, AutoRound's and
#: GPTQModel's fields.
_OF_BITS = frozenset({"gptq", "awq", "mlx", *AUTO_ROUND})
#: Layouts of GPTQ in tiles, and of AWQ whose rows are padded.
_OTHER_LAYOUTS = frozenset({"marlin", "gemv", "gemv_fast"})


def _groups(values: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The groups of modules of compressed-tensors."""
    return [each for each in inner(values.get("config_groups")) if isinstance(each.get("weights"), Mapping)]


def _compressed(values: Mapping[str, Any]) -> Form | None:
    """The form of the first group of modules."""
    own = next(iter(_groups(values)), {})
    weights, inputs, layout = own.get("weights", {}), own.get("input_activations"), own.get("format")
    layout = str(layout or values.get("format"))
    bits, group, without = number_of(weights, "num_bits"), number_of(weights, "group_size"), set[str]()
    if layout == "pack-quantized":
        without |= {".weight_zero_point"} if weights.get("symmetric", True) else set()
        without |= {".weight_g_idx"} if weights.get("actorder") not in ("group", "dynamic", True) else set()
    elif layout in ("nvfp4-pack-quantized", "mxfp4-pack-quantized"):
        group, without = group or (16 if layout[0] == "n" else 32), set() if inputs else {".input_global_scale"}
    elif layout in ("int-quantized", "float-quantized", "naive-quantized") and bits == 8:
        layout = f"{weights.get('strategy')}-{weights.get('type', 'int')}"
        fixed = isinstance(inputs, Mapping) and not inputs.get("dynamic")  # the inputs' scale is stored, too
        without = set() if fixed else {".input_scale"}
    else:
        return None
    known = bits is not None and layout in LAYOUTS
    return Form("compressed-tensors", layout, bits or 0, group, without, _HEAD_PACKED) if known else None
