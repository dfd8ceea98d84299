"""`inspect diff --data` of packed weights and their source: rounded, or different if a code was changed.

The quantizers here follow the formats' definitions, written by hand, and use none of the dequantizers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from test_stored import Entry, safetensors

import inspector
from inspector import api
from inspector.bridge.structure import structure_id
from inspector.comparing.diff import Diff

Array = NDArray[Any]
#: Suffixes of a weight's name → its pieces.
Pieces = dict[str, Array]

SIZES = {
    "hidden_size": 128,
    "intermediate_size": 256,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "vocab_size": 64,
}
#: The seven matrices of a layer, [outputs, inputs].
MATRICES = {
    **{f"self_attn.{role}_proj": (128, 128) for role in "qkvo"},
    "mlp.gate_proj": (256, 128), "mlp.up_proj": (256, 128), "mlp.down_proj": (128, 256),
}  # fmt: skip
GROUP = 32
E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
#: Dettmers et al., "QLoRA", appendix E.
NF4 = np.array([
    -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
    -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
    0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0,
])  # fmt: skip
#: bitsandbytes' FP4: a sign, then eight magnitudes in the order of its codes.
FP4 = np.array([0, 0.0052083333, 0.6666667, 1, 0.3333333, 0.5, 0.1666667, 0.25])


#: The numbers of E4M3's codes 0 to 126: four bits of exponent, three of mantissa.
E4M3 = np.array([(8 + code % 8) * 2.0 ** (code // 8 - 10) if code > 7 else code * 2.0**-9 for code in range(127)])


def bits16(values: Array) -> Array:
    """The nearest BF16: the upper half of F32's bits, rounded to even."""
    whole = values.astype(np.float32).view(np.uint32)
    halves: Array = ((whole + 0x7FFF + (whole >> 16 & 1)) >> 16).astype(np.uint16)
    return halves


def floats(halves: Array) -> Array:
    """The numbers that BF16's bits stand for."""
    found: Array = (halves.astype(np.uint32) << 16).view(np.float32)
    return found


def bits8(values: Array) -> Array:
    """The nearest E4M3, as untyped bytes."""
    above = np.searchsorted(E4M3, np.abs(values).clip(0, 448)).clip(1, 126)
    codes = above - (np.abs(values) - E4M3[above - 1] < E4M3[above] - np.abs(values))
    signed: Array = (codes | (values < 0) << 7).astype(np.uint8).view("V1")
    return signed


def nearest(values: Array, grid: Array) -> Array:
    """The index of the nearest among a few values."""
    found: Array = np.abs(values[..., None] - grid).argmin(-1)
    return found


def words(codes: Array, bits: int) -> Array:
    """Codes along the last axis, the first in the lowest bits of a 32-bit word."""
    per = 32 // bits
    split = codes.reshape(*codes.shape[:-1], -1, per).astype(np.uint64)
    shifted: Array = (split << (np.arange(per, dtype=np.uint64) * np.uint64(bits))).sum(-1).astype(np.uint32)
    return shifted.view(np.int32)


def grouped(weight: Array) -> Array:
    return weight.reshape(weight.shape[0], -1, GROUP)


def symmetric(weight: Array, bits: int) -> tuple[Array, Array]:
    """Codes from −2^(bits−1), and a scale for each group: [outputs, groups]."""
    most = 2 ** (bits - 1) - 1
    scale = (np.abs(grouped(weight)).max(-1) / most).astype(np.float16)
    codes = np.rint(grouped(weight) / scale.astype(np.float32)[..., None]).clip(-most - 1, most)
    return codes.reshape(weight.shape).astype(np.int64), scale


def between(weight: Array, bits: int) -> tuple[Array, Array, Array]:
    """Codes from 0, and a scale and zero point for each group, from its minimum to its maximum."""
    low, high = grouped(weight).min(-1), grouped(weight).max(-1)
    scale = ((high - low) / (2**bits - 1)).astype(np.float16)
    zero = np.rint(-low / scale.astype(np.float32)).clip(0, 2**bits - 1)
    codes = (np.rint(grouped(weight) / scale.astype(np.float32)[..., None]) + zero[..., None]).clip(0, 2**bits - 1)
    return codes.reshape(weight.shape).astype(np.int64), scale, zero.astype(np.int64)


def gptq(weight: Array, bits: int, less: int = 1) -> Pieces:
    """AutoGPTQ: words along the inputs, zero points less one along the outputs."""
    codes, scale, zero = between(weight, bits)
    zero = zero.clip(less)  # a zero point below one cannot be stored
    codes = (np.rint(grouped(weight) / scale.astype(np.float32)[..., None]) + zero[..., None]).clip(0, 2**bits - 1)
    flat = codes.reshape(weight.shape).astype(np.int64)
    return {
        ".qweight": words(flat, bits).T,
        ".qzeros": words((zero - less).T, bits),
        ".scales": scale.T,
        ".g_idx": (np.arange(weight.shape[1]) // GROUP).astype(np.int32),
    }


def awq(weight: Array, bits: int) -> Pieces:
    """AutoAWQ's GEMM: words along the outputs, whose eight codes lie as 0, 2, 4, 6, 1, 3, 5, 7."""
    codes, scale, zero = between(weight, bits)
    order = [0, 2, 4, 6, 1, 3, 5, 7]

    def packed(numbers: Array) -> Array:
        return words(numbers.reshape(len(numbers), -1, 8)[..., order].reshape(len(numbers), -1), bits)

    return {".qweight": packed(codes.T), ".qzeros": packed(zero.T), ".scales": scale.T}


def bitsandbytes4(weight: Array, kind: str) -> Pieces:
    """Blocks of 64 in row-major order, divided by their largest magnitude; of two codes, the first in the high bits."""
    blocks = weight.reshape(-1, 64)
    largest = np.abs(blocks).max(-1, keepdims=True)
    grid = NF4 if kind == "nf4" else np.concatenate([FP4, -FP4])
    codes = nearest(blocks / largest, grid).reshape(-1, 2).astype(np.uint8)
    state = json.dumps({"quant_type": kind, "blocksize": 64, "dtype": "bfloat16", "shape": list(weight.shape)})
    return {
        ".weight": (codes[:, :1] << 4 | codes[:, 1:]),
        ".weight.absmax": largest[:, 0].astype(np.float32),
        ".weight.quant_map": grid.astype(np.float32),
        f".weight.quant_state.bitsandbytes__{kind}": np.frombuffer(state.encode(), np.uint8),
    }


def int8(weight: Array) -> Pieces:
    """LLM.int8: each row divided by its largest magnitude."""
    largest = np.abs(weight).max(-1)
    codes = np.rint(weight * 127 / largest[:, None]).astype(np.int8)
    return {".weight": codes, ".SCB": largest.astype(np.float32), ".weight_format": np.array(0, np.uint8)}


def fp8(weight: Array, block: tuple[int, int], name: str) -> Pieces:
    """E4M3, whose largest number is 448; a scale for each block."""
    rows, columns = weight.shape
    tiles = weight.reshape(rows // block[0], block[0], columns // block[1], block[1])
    scale = (np.abs(tiles).max((1, 3)) / 448).astype(np.float32)
    codes = bits8((tiles / scale[:, None, :, None]).reshape(weight.shape))
    whole = scale.reshape(()) if scale.size == 1 else scale
    return {".weight": codes, name: whole}


def e2m1(values: Array) -> Array:
    """Four-bit codes, the first of two in the low bits."""
    codes = (nearest(np.abs(values), E2M1) | (values < 0) << 3).astype(np.uint8)
    pairs: Array = codes[..., 0::2] | codes[..., 1::2] << 4
    return pairs


def powers(weight: Array) -> tuple[Array, Array]:
    """MXFP4 (OCP Microscaling 1.0, 6.3): blocks of 32, whose scale is the largest's power of two, less two."""
    blocks = weight.reshape(*weight.shape[:-1], -1, 32)
    exponent = np.floor(np.log2(np.abs(blocks).max(-1))) - 2
    codes = e2m1(blocks / 2.0 ** exponent[..., None])
    return codes, (exponent + 127).astype(np.uint8)


def nvfp4(weight: Array, packed: str, whole: str, inverse: bool) -> Pieces:
    """Blocks of 16 with a scale in E4M3, and one scale for the tensor."""
    tensor = np.abs(weight).max() / (6 * 448)
    blocks = weight.reshape(weight.shape[0], -1, 16)
    scale = bits8(np.abs(blocks).max(-1) / 6 / tensor)
    codes = e2m1(blocks / (E4M3[scale.view(np.uint8)] * tensor)[..., None])
    one = np.array([1 / tensor] if inverse else tensor, np.float32)
    return {packed: codes.reshape(len(weight), -1), ".weight_scale": scale, whole: one}


def packed_words(weight: Array, bits: int) -> Pieces:
    """compressed-tensors' pack-quantized: words along the inputs, of codes from 0."""
    codes, scale = symmetric(weight, bits)
    shape = np.array(weight.shape, np.int64)
    return {
        ".weight_packed": words(codes + 2 ** (bits - 1), bits),
        ".weight_scale": scale,
        ".weight_shape": shape,
    }


def compressed(kind: str, bits: int, group: int | None, number: str = "int") -> dict[str, Any]:
    weights = {"num_bits": bits, "group_size": group, "type": number, "symmetric": True, "strategy": "group"}
    groups = {"group_0": {"targets": ["Linear"], "weights": weights}}
    return {"quant_method": "compressed-tensors", "format": kind, "config_groups": groups, "ignore": ["lm_head"]}


def mx(weight: Array) -> Pieces:
    codes, scales = powers(weight)
    return {".weight_packed": codes.reshape(len(weight), -1), ".weight_scale": scales}


Quantizer = Callable[[Array], Pieces]
GPTQ = {"quant_method": "gptq", "group_size": GROUP, "desc_act": False}
SCHEMES: Mapping[str, tuple[dict[str, Any], Quantizer]] = {
    "gptq-8": ({**GPTQ, "bits": 8}, lambda w: gptq(w, 8)),
    "gptq-4": ({**GPTQ, "bits": 4}, lambda w: gptq(w, 4)),
    "gptq-2": ({**GPTQ, "bits": 2}, lambda w: gptq(w, 2)),
    "gptq-v2": ({**GPTQ, "bits": 4, "checkpoint_format": "gptq_v2"}, lambda w: gptq(w, 4, less=0)),
    "awq": ({"quant_method": "awq", "bits": 4, "group_size": GROUP, "version": "gemm"}, lambda w: awq(w, 4)),
    "nf4": ({"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "nf4"},
            lambda w: bitsandbytes4(w, "nf4")),
    "fp4": ({"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "fp4"},
            lambda w: bitsandbytes4(w, "fp4")),
    "int8": ({"quant_method": "bitsandbytes", "load_in_8bit": True}, int8),
    "fp8-blocks": ({"quant_method": "fp8", "weight_block_size": [64, 32]}, lambda w: fp8(w, (64, 32), ".weight_scale_inv")),
    "fp8-tensor": ({"quant_method": "fp8"}, lambda w: fp8(w, w.shape, ".weight_scale")),
    "compressed-4": (compressed("pack-quantized", 4, GROUP), lambda w: packed_words(w, 4)),
    "compressed-8": (compressed("pack-quantized", 8, GROUP), lambda w: packed_words(w, 8)),
    "compressed-fp8": (compressed("float-quantized", 8, None, "float"), lambda w: fp8(w, (1, w.shape[1]), ".weight_scale")),
    "compressed-mxfp4": (compressed("mxfp4-pack-quantized", 4, 32, "float"), mx),
    "compressed-nvfp4": (compressed("nvfp4-pack-quantized", 4, 16, "float"),
                         lambda w: nvfp4(w, ".weight_packed", ".weight_global_scale", True)),
    "modelopt-nvfp4": ({"quant_method": "modelopt", "quant_algo": "NVFP4"},
                       lambda w: nvfp4(w, ".weight", ".weight_scale_2", False)),
}  # fmt: skip
CODES = (".qweight", ".weight_packed", ".weight", "_blocks")


def dtype_of(array: Array) -> str:
    names = {"int8": "I8", "uint8": "U8", "int32": "I32", "int64": "I64", "float16": "F16", "float32": "F32"}
    return {**names, "uint16": "BF16", "void8": "F8_E4M3"}[array.dtype.name]


def saved(folder: Path, config: Mapping[str, Any], tensors: Mapping[str, Array]) -> Path:
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config))
    entries: dict[str, Entry] = {
        name: (dtype_of(each), each.shape, np.ascontiguousarray(each).tobytes()) for name, each in tensors.items()
    }
    safetensors(folder / "model.safetensors", entries)
    return folder


def statuses(result: Diff) -> dict[str, str | None]:
    """The status of each tensor of the plain side; `None` for a tensor of one side only."""
    found: dict[str, str | None] = {}
    for pair, data in zip(result.pairs, result.data or (), strict=True):
        side = pair.a or pair.b
        assert side is not None
        found[side.tensors[0].tensor.name] = data.status if data else None
    return found


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Array]]:
    """A small Llama of random numbers in BF16."""
    draw = np.random.default_rng(16)
    tensors = {"model.embed_tokens.weight": (64, 128), "model.norm.weight": (128,), "lm_head.weight": (64, 128)}
    for layer in range(2):
        start = f"model.layers.{layer}."
        tensors |= {f"{start}{name}.weight": shape for name, shape in MATRICES.items()}
        tensors |= {f"{start}{name}_layernorm.weight": (128,) for name in ("input", "post_attention")}
    numbers = {name: bits16(draw.normal(0, 0.02, shape)) for name, shape in tensors.items()}
    faint = numbers["model.layers.0.mlp.up_proj.weight"]
    faint[3] = bits16(floats(faint[3]) * 1e-2)  # a row that a single scale for the tensor rounds to zero
    return saved(tmp_path_factory.mktemp("plain") / "model", {"model_type": "llama", **SIZES}, numbers), numbers


@pytest.mark.parametrize("scheme", SCHEMES)
def test_packed_weights_are_their_source_but_for_rounding(
    scheme: str, source: tuple[Path, dict[str, Array]], tmp_path: Path
) -> None:
    """Every matrix is rounded and everything else equal, in either order; a changed code makes its weight different."""
    plain, numbers = source
    declared, quantize = SCHEMES[scheme]
    tensors: dict[str, Array] = {}
    for name, values in numbers.items():
        stem = name.removesuffix(".weight")
        if stem.partition("layers.")[2][2:] in MATRICES:
            tensors |= {stem + end: piece for end, piece in quantize(floats(values)).items()}
        else:
            tensors[name] = values
    config = {"model_type": "llama", **SIZES, "quantization_config": declared}
    packed = saved(tmp_path / "packed", config, tensors)
    expected: dict[str, str | None] = {name: "rounded" if name[15:-7] in MATRICES else "equal" for name in numbers}
    assert statuses(inspector.diff(plain, packed, data=True)) == expected
    turned = inspector.diff(packed, plain, data=True)
    assert turned.agreements == {"equal": 7, "rounded": 14, "different": 0, "incomparable": 0}
    assert structure_id(turned.a) == structure_id(turned.b)

    target = "model.layers.1.mlp.up_proj"
    codes = next(target + end for end in CODES if target + end in tensors)
    changed = np.ascontiguousarray(tensors[codes]).copy()
    flat = changed.view(np.uint8).reshape(-1)
    flat[5000] ^= 0x88 if "8" not in scheme else 0xC0  # codes half a range away, of the opposite sign
    other = saved(tmp_path / "changed", config, {**tensors, codes: changed})
    assert statuses(inspector.diff(plain, other, data=True)) == {**expected, f"{target}.weight": "different"}
    assert [
        name for name, status in statuses(inspector.diff(packed, other, data=True)).items() if status != "equal"
    ] == [codes]


@pytest.mark.parametrize("scheme", ["gptq-4", "awq"])
@pytest.mark.parametrize("deviation", [1e-6, 1e-5])
def test_scales_below_the_normal_numbers_of_f16_are_not_a_difference(
    scheme: str, deviation: float, tmp_path: Path
) -> None:
    """Scales of some 3e-7 have steps of 2⁻²⁴: the weights are rounded, and a changed code is different."""
    declared, quantize = SCHEMES[scheme]
    numbers = bits16(np.random.default_rng(7).normal(0, deviation, (128, 128)))
    name = "model.layers.0.self_attn.q_proj"
    plain = {"model_type": "llama", **SIZES}
    a = saved(tmp_path / "a", plain, {f"{name}.weight": numbers})
    pieces = {name + end: np.ascontiguousarray(piece) for end, piece in quantize(floats(numbers)).items()}
    config = {**plain, "quantization_config": declared}
    assert statuses(inspector.diff(a, saved(tmp_path / "b", config, pieces), data=True)) == {
        f"{name}.weight": "rounded"
    }
    flat = pieces[f"{name}.qweight"].reshape(-1)
    flat[:200] ^= 0x08888888
    found = inspector.diff(a, saved(tmp_path / "c", config, pieces), data=True)
    assert statuses(found) == {f"{name}.weight": "different"}


@pytest.mark.parametrize("width", [96, 64])  # as gpt-oss-20b's: as wide as the hidden state
def test_mxfp4_experts_are_those_of_the_plain_model(width: int, tmp_path: Path) -> None:
    """GPT-OSS packs [experts, outputs, inputs]; the plain model has [experts, inputs, outputs]."""
    sizes = {**SIZES, "hidden_size": 64, "intermediate_size": width, "head_dim": 16, "num_local_experts": 4}
    config = {"model_type": "gpt_oss", **sizes, "num_hidden_layers": 1, "num_key_value_heads": 2}
    draw, start = np.random.default_rng(4), "model.layers.0.mlp.experts."
    shapes = {"gate_up_proj": (4, 2 * width, 64), "down_proj": (4, 64, width)}
    numbers = {name: bits16(draw.normal(0, 0.02, shape)) for name, shape in shapes.items()}
    plain = {f"{start}{name}": each.swapaxes(1, 2) for name, each in numbers.items()}
    packed: dict[str, Array] = {}
    for name, each in numbers.items():
        codes, scales = powers(floats(each))
        packed |= {f"{start}{name}_blocks": codes, f"{start}{name}_scales": scales}
    a = saved(tmp_path / "a", config, plain)
    b = saved(tmp_path / "b", {**config, "quantization_config": {"quant_method": "mxfp4"}}, packed)
    assert set(statuses(inspector.diff(a, b, data=True)).values()) == {"rounded"}
    codes = packed[f"{start}down_proj_blocks"].copy()
    codes[1, 2, 1, 3] ^= 0x77
    c = saved(
        tmp_path / "c",
        {**config, "quantization_config": {"quant_method": "mxfp4"}},
        {**packed, f"{start}down_proj_blocks": codes},
    )
    found = statuses(inspector.diff(a, c, data=True))
    assert found == {f"{start}gate_up_proj": "rounded", f"{start}down_proj": "different"}


@pytest.mark.parametrize(
    "scheme",
    ["gptq-4", *(pytest.param(name, marks=pytest.mark.gate) for name in ("gptq-8", "nf4", "int8", "fp8-blocks"))],
)
def test_ranks_and_merges_are_seen_beneath_packing(scheme: str, tmp_path: Path) -> None:
    """A change of rank 3 and a packed sum of two parents are found; a sum with a third model is none of these two."""
    declared, quantize = SCHEMES[scheme]
    draw, plain = np.random.default_rng(5), {"model_type": "llama", **SIZES}
    names = {f"model.layers.{layer}.{name}": shape for layer in range(2) for name, shape in MATRICES.items()}

    def some() -> dict[str, Array]:
        return {name: draw.normal(0, 0.02, shape) for name, shape in names.items()}

    def kept(folder: str, weights: Mapping[str, Array]) -> Path:
        return saved(tmp_path / folder, plain, {f"{name}.weight": bits16(each) for name, each in weights.items()})

    def packed(folder: str, weights: Mapping[str, Array]) -> Path:
        pieces = {name: quantize(floats(bits16(each))) for name, each in weights.items()}
        tensors = {name + end: piece for name, found in pieces.items() for end, piece in found.items()}
        return saved(tmp_path / folder, {**plain, "quantization_config": declared}, tensors)

    base, other = some(), some()
    change = draw.normal(0, 0.3, (128, 3)) @ draw.normal(0, 0.3, (3, 128))
    tuned = {name: each + change if "q_proj" in name else each for name, each in base.items()}
    for a, b in ((kept("a", base), packed("b", tuned)), (packed("pa", base), packed("pb", tuned))):
        assert [rank.rank for _, rank in api.ranks(inspector.diff(a, b, data=True))] == [3, 3]
    parents = tmp_path / "a", kept("other", other)
    found = api.merge(packed("sum", {name: 0.3 * base[name] + 0.7 * other[name] for name in names}), *parents)
    assert found is not None
    assert (found.first, found.second) == pytest.approx((0.3, 0.7), abs=0.005)
    assert found.is_merge
    third = {name: 0.3 * base[name] + 0.6 * other[name] + 0.3 * each for name, each in some().items()}
    stranger = api.merge(packed("third", third), *parents)
    assert stranger is not None
    assert not stranger.is_merge


def nested(pieces: Pieces) -> Pieces:
    """Scales less their mean, by a code book of 256 steps, times the largest of each 256."""
    scales = pieces[".weight.absmax"]
    mean, book = scales.mean(), np.linspace(-1, 1, 256, dtype=np.float32)
    blocks = (scales - mean).reshape(-1, min(256, scales.size))
    outer = np.abs(blocks).max(-1).astype(np.float32)
    state = json.loads(pieces[".weight.quant_state.bitsandbytes__nf4"].tobytes())
    state |= {"nested_blocksize": 256, "nested_dtype": "float32", "nested_offset": float(mean)}
    return {
        **pieces,
        ".weight.absmax": nearest(blocks / outer[:, None], book).reshape(-1).astype(np.uint8),
        ".weight.nested_absmax": outer,
        ".weight.nested_quant_map": book,
        ".weight.quant_state.bitsandbytes__nf4": np.frombuffer(json.dumps(state).encode(), np.uint8),
    }


@pytest.mark.parametrize(("scheme", "flipped"), [("fp4", 0x10), ("int8", 0x02), ("nested", 0x40), ("gptq-4", 0x01)])
def test_one_bit_of_a_packed_file(
    scheme: str, flipped: int, source: tuple[Path, dict[str, Array]], tmp_path: Path
) -> None:
    """Every value is at the level nearest to its original; the one whose code has another bit is not, and is located."""
    plain, numbers = source
    declared, quantize = SCHEMES["nf4" if scheme == "nested" else scheme]
    made = (lambda values: nested(quantize(values))) if scheme == "nested" else quantize
    tensors: dict[str, Array] = {}
    for name, values in numbers.items():
        stem = name.removesuffix(".weight")
        own = made(floats(values)) if stem.partition("layers.")[2][2:] in MATRICES else {".weight": values}
        tensors |= {stem + end: piece for end, piece in own.items()}
    config = {"model_type": "llama", **SIZES, "quantization_config": declared}
    sound = inspector.diff(plain, saved(tmp_path / "sound", config, tensors), data=True)
    assert sound.relation is not None
    assert sound.relation.kind == "rounded"
    assert sum(each.sums.strays for each in sound.data or () if each) == 0
    name = next(each for each in tensors if "layers.1.mlp.down_proj" in each and each.endswith(("weight", "qweight")))
    codes = tensors[name].copy()
    codes.reshape(-1).view(np.uint8)[77] ^= flipped
    found = inspector.diff(plain, saved(tmp_path / "hit", config, {**tensors, name: codes}), data=True).relation
    assert found is not None
    assert found.kind == "damaged"
    assert f"1 value of {name}: element " in found.sentence


@pytest.mark.parametrize(("away", "kind"), [(0.2, "rounded"), (3.0, "finetuned")])
def test_gptq_moves_values_from_their_nearest_levels(
    away: float, kind: str, source: tuple[Path, dict[str, Array]], tmp_path: Path
) -> None:
    """Errors that are passed on to other columns are some of a step; if all else is equal, that is not training."""
    plain, numbers = source
    declared, quantize = SCHEMES["gptq-4"]
    draw, tensors = np.random.default_rng(0), dict[str, Array]()
    for name, values in numbers.items():
        stem = name.removesuffix(".weight")
        own = floats(values)
        if stem.partition("layers.")[2][2:] in MATRICES:
            passed_on = draw.standard_normal(own.shape) * away * np.ptp(own) / 15
            tensors |= {stem + end: piece for end, piece in quantize(own + passed_on).items()}
        else:
            tensors[name] = values
    packed = saved(tmp_path / "b", {"model_type": "llama", **SIZES, "quantization_config": declared}, tensors)
    found = inspector.diff(plain, packed, data=True).relation
    assert found is not None
    assert found.kind == kind
    assert ("only the packed weights" in found.undecided) == (kind == "rounded")
