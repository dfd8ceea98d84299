"""Packed weights with the numbers that their libraries make of them → fixtures/dequantized.jsonl.

    python tools/make_dequantized_fixtures.py        needs torch, transformers, bitsandbytes, compressed-tensors

A line a case: the configuration, the tensors, and the weight as float32, bytes in base64. Where no library runs without
a GPU (GPTQ, AWQ), the packing is written out as in its own `pack`, from numbers that are drawn.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

OUT = Path(__file__).parents[1] / "fixtures" / "dequantized.jsonl"
STEM = "model.layers.0.mlp.down_proj."
OUTPUTS, INPUTS, GROUP = 8, 64, 32
DRAW = torch.Generator().manual_seed(3)
NAMES = {
    torch.uint8: "U8",
    torch.int8: "I8",
    torch.int32: "I32",
    torch.int64: "I64",
    torch.float16: "F16",
    torch.bfloat16: "BF16",
    torch.float32: "F32",
    torch.float8_e4m3fn: "F8_E4M3",
}
Case = tuple[str, dict[str, Any], dict[str, Any], Any]


def integers(low: int, high: int, *shape: int) -> Any:
    return torch.randint(low, high, shape, generator=DRAW)


def floats(*shape: int) -> Any:
    return torch.rand(*shape, generator=DRAW) + 0.1


def wide(scales: Any, columns: int) -> Any:
    return scales.float().repeat_interleave(columns // scales.shape[1], 1)


def bitsandbytes() -> Iterator[Case]:
    from bitsandbytes import functional

    weight = torch.randn(OUTPUTS, INPUTS, generator=DRAW) * 0.02
    for kind in ("nf4", "fp4"):
        for double in (False, True):
            packed, state = functional.quantize_4bit(weight, quant_type=kind, compress_statistics=double, blocksize=64)
            side = {f"weight.{name}": value for name, value in state.as_dict(packed=True).items()}
            config = {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": kind}
            name = f"bitsandbytes-{kind}{'-double' if double else ''}"
            yield name, config, {"weight": packed, **side}, functional.dequantize_4bit(packed, state)
    scale = weight.abs().amax(1)
    rounded = (weight / scale[:, None] * 127).round().to(torch.int8)
    pieces = {"weight": rounded, "SCB": scale, "weight_format": torch.tensor(0, dtype=torch.uint8)}
    config = {"quant_method": "bitsandbytes", "load_in_8bit": True}
    yield "bitsandbytes-int8", config, pieces, functional.int8_vectorwise_dequant(rounded, scale)


def compressed_tensors() -> Iterator[Case]:
    from compressed_tensors.compressors.nvfp4.helpers import pack_fp4_to_uint8
    from compressed_tensors.compressors.pack_quantized.helpers import pack_to_int32

    for bits, group, asymmetric, columns in (
        *((bits, GROUP, False, INPUTS) for bits in (2, 3, 4, 5, 8)),
        (4, GROUP, True, INPUTS),
        (8, 0, False, INPUTS),
        (4, 16, False, 80),
    ):
        half = 1 << (bits - 1)
        numbers = integers(-half, half, OUTPUTS, columns).to(torch.int8)
        scales = floats(OUTPUTS, columns // group if group else 1).to(torch.bfloat16)
        pieces = {
            "weight_packed": pack_to_int32(numbers, bits),
            "weight_scale": scales,
            "weight_shape": torch.tensor([OUTPUTS, columns]),
        }
        value = numbers.float()
        if asymmetric:
            zeros = integers(-half, half, *scales.shape).to(torch.int8)
            pieces["weight_zero_point"] = pack_to_int32(zeros, bits, packed_dim=0)
            value -= wide(zeros, columns)
        kind = {"num_bits": bits, "group_size": group or None, "type": "int"}
        config = {
            "quant_method": "compressed-tensors",
            "format": "pack-quantized",
            "config_groups": {"group_0": {"weights": kind}},
        }
        name = f"compressed-tensors-w{bits}-{group}-{columns}{'-asymmetric' if asymmetric else ''}"
        yield name, config, pieces, value * wide(scales, columns)
    codes = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6])
    values = torch.cat([codes, -codes])[integers(0, 16, OUTPUTS, INPUTS)]
    packed = pack_fp4_to_uint8(values.to(torch.bfloat16))
    scales, outer = (floats(OUTPUTS, INPUTS // 16) * 100).to(torch.float8_e4m3fn), torch.tensor([37.5])
    pieces = {"weight_packed": packed, "weight_scale": scales, "weight_global_scale": outer}
    config = {"quant_method": "compressed-tensors", "format": "nvfp4-pack-quantized", "config_groups": {}}
    yield "compressed-tensors-nvfp4", config, pieces, values * wide(scales.float() / outer, INPUTS)
    pieces = {"weight": packed, "weight_scale": scales, "weight_scale_2": outer[0]}
    yield (
        "modelopt-nvfp4",
        {"quant_method": "modelopt", "quant_algo": "NVFP4"},
        pieces,
        values * wide(scales.float() * outer, INPUTS),
    )
    powers = integers(110, 135, OUTPUTS, INPUTS // 32).to(torch.uint8)
    config = {"quant_method": "compressed-tensors", "format": "mxfp4-pack-quantized", "config_groups": {}}
    pieces = {"weight_packed": packed, "weight_scale": powers}
    yield "compressed-tensors-mxfp4", config, pieces, values * torch.exp2(wide(powers, INPUTS) - 127)


def fp8() -> Iterator[Case]:
    weight = torch.randn(OUTPUTS, INPUTS, generator=DRAW).to(torch.float8_e4m3fn)
    for name, scale in (("tensor", floats(1)[0]), ("rows", floats(OUTPUTS, 1)), ("row", floats(OUTPUTS))):
        each = scale[:, None] if scale.dim() == 1 else scale
        yield (
            f"fp8-{name}",
            {"quant_method": "fp8"},
            {"weight": weight, "weight_scale": scale},
            weight.float() * each,
        )
    for sides in ([8, 32], [6, 24]):  # of the second the last blocks are cut
        blocks = floats(-(-OUTPUTS // sides[0]), -(-INPUTS // sides[1]))
        grid = blocks.repeat_interleave(sides[0], 0)[:OUTPUTS].repeat_interleave(sides[1], 1)[:, :INPUTS]
        config = {"quant_method": "fp8", "weight_block_size": sides}
        yield f"fp8-blocks-{sides[0]}", config, {"weight": weight, "weight_scale_inv": blocks}, weight.float() * grid
    larger = torch.randn(18, 40, generator=DRAW).to(torch.float8_e4m3fn)
    blocks = floats(3, 2)  # of 8 rows and 32 columns: nothing declares them
    grid = blocks.repeat_interleave(8, 0)[:18].repeat_interleave(32, 1)[:, :40]
    pieces = {"weight": larger, "weight_scale_inv": blocks}
    yield "fp8-blocks-undeclared", {"quant_method": "fp8"}, pieces, larger.float() * grid


def mxfp4() -> Iterator[Case]:
    from transformers.integrations.mxfp4 import convert_moe_packed_tensors

    blocks, scales = integers(0, 256, 2, 4, 2, 16).to(torch.uint8), integers(110, 130, 2, 4, 2).to(torch.uint8)
    value = convert_moe_packed_tensors(blocks, scales, dtype=torch.float32).transpose(1, 2)
    yield "mxfp4", {"quant_method": "mxfp4"}, {"gate_up_proj_blocks": blocks, "gate_up_proj_scales": scales}, value


def gptq() -> Iterator[Case]:
    for bits in (2, 3, 4, 8):
        for less, form in ((1, "gptq"), (0, "gptq_v2")):
            numbers, zeros = integers(0, 1 << bits, INPUTS, 32), integers(1, 1 << bits, INPUTS // GROUP, 32)
            scales, order = floats(INPUTS // GROUP, 32).half(), torch.randperm(INPUTS, generator=DRAW) // GROUP
            pieces = {
                "qweight": in_words(numbers, bits),
                "qzeros": in_words((zeros - less).T, bits).T,
                "scales": scales,
                "g_idx": order.int(),
            }
            config = {"quant_method": "gptq", "bits": bits, "group_size": GROUP, "checkpoint_format": form}
            yield f"{form}-{bits}", config, pieces, ((numbers - zeros[order]) * scales.float()[order]).T


def in_words(numbers: Any, bits: int) -> Any:
    """As AutoGPTQ's `QuantLinear.pack` has it: number after number, from the lowest bit on, down each column."""
    words = np.zeros((numbers.shape[0] * bits // 32, numbers.shape[1]), np.uint32)
    for row, values in enumerate(numbers.numpy().astype(np.uint64)):
        word, shift = divmod(row * bits, 32)
        words[word] |= (values << np.uint64(shift) & np.uint64(0xFFFFFFFF)).astype(np.uint32)
        if shift + bits > 32:
            words[word + 1] |= (values >> np.uint64(32 - shift)).astype(np.uint32)
    return torch.from_numpy(words.view(np.int32).copy())


def awq() -> Iterator[Case]:
    numbers, zeros = integers(0, 16, INPUTS, 32), integers(0, 16, INPUTS // GROUP, 32)
    scales = floats(INPUTS // GROUP, 32).half()
    pieces = {"qweight": interleaved(numbers), "qzeros": interleaved(zeros), "scales": scales}
    value = (numbers - zeros.repeat_interleave(GROUP, 0)) * scales.float().repeat_interleave(GROUP, 0)
    config = {"quant_method": "awq", "bits": 4, "group_size": GROUP, "version": "gemm"}
    yield "awq-gemm", config, pieces, value.T


def interleaved(numbers: Any) -> Any:
    """As AutoAWQ's `WQLinear_GEMM.from_linear` has it."""
    words = np.zeros((numbers.shape[0], numbers.shape[1] // 8), np.uint32)
    for column in range(words.shape[1]):
        for place, output in enumerate((0, 2, 4, 6, 1, 3, 5, 7)):
            words[:, column] |= numbers[:, column * 8 + output].numpy().astype(np.uint32) << (place * 4)
    return torch.from_numpy(words.view(np.int32).copy())


def mlx() -> Iterator[Case]:
    for bits in (3, 4, 8):
        numbers, scales, biases = (
            integers(0, 1 << bits, OUTPUTS, INPUTS),
            floats(OUTPUTS, INPUTS // GROUP).half(),
            -floats(OUTPUTS, INPUTS // GROUP).half(),
        )
        pieces = {"weight": in_words(numbers.T, bits).T.contiguous(), "scales": scales, "biases": biases}
        yield (
            f"mlx-{bits}",
            {"MLX": True, "bits": bits, "group_size": GROUP},
            pieces,
            numbers * wide(scales, INPUTS) + wide(biases, INPUTS),
        )


def line(name: str, config: dict[str, Any], pieces: dict[str, Any], value: Any) -> str:
    experts = any("experts" in end or "gate_up" in end for end in pieces)
    stem = "model.layers.0.mlp.experts." if experts else STEM
    tensors = {}
    for end, tensor in pieces.items():
        dtype = "U32" if end == "weight" and name.startswith("mlx") else NAMES[tensor.dtype]
        raw = tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
        tensors[stem + end] = [dtype, list(tensor.shape), base64.b64encode(raw).decode()]
    wanted = value.contiguous().float().numpy()
    case = {
        "name": name,
        "config": {"quantization": config} if config.pop("MLX", None) else {"quantization_config": config},
        "tensors": tensors,
        "shape": list(wanted.shape),
        "values": base64.b64encode(wanted.tobytes()).decode(),
    }
    return json.dumps(case)


def main() -> None:
    cases = [*bitsandbytes(), *compressed_tensors(), *fp8(), *mxfp4(), *gptq(), *awq(), *mlx()]
    OUT.write_text("\n".join(line(*case) for case in cases) + "\n")
    print(f"{OUT}: {len(cases)} cases")


if __name__ == "__main__":
    main()
