"""Published indexes of packed checkpoints, where they are available: names and total sizes are real."""

from __future__ import annotations

import json
from collections.abc import Callable
from math import prod
from pathlib import Path
from typing import Any

import pytest
import real
import sparse

import inspector
from inspector.model import Prediction

Pieces = dict[str, tuple[str, list[int]]]  # last words of a name → dtype and shape


def gptq(outputs: int, inputs: int) -> Pieces:
    return {
        "qweight": ("I32", [inputs // 8, outputs]),
        "qzeros": ("I32", [inputs // 128, outputs // 8]),
        "scales": ("F16", [inputs // 128, outputs]),
        "g_idx": ("I32", [inputs]),
        "bias": ("F16", [outputs]),
    }


def nf4(outputs: int, inputs: int) -> Pieces:
    state = json.dumps({"quant_type": "nf4", "blocksize": 64, "dtype": "float16", "shape": [outputs, inputs]})
    return {
        "weight": ("U8", [outputs * inputs // 2, 1]),
        "weight.absmax": ("F32", [outputs * inputs // 64]),
        "weight.quant_map": ("F32", [16]),
        "weight.quant_state.bitsandbytes__nf4": ("U8", [len(state)]),
    }


def mlx(outputs: int, inputs: int) -> Pieces:
    return {
        "weight": ("U32", [outputs, inputs // 8]),
        "scales": ("BF16", [outputs, inputs // 64]),
        "biases": ("BF16", [outputs, inputs // 64]),
    }


#: Index and configuration → how its weights are packed, the dtype of the others, and the parameters: for Molmo
#: as in its index, for Qwen3-14B as published, for Qwen-VL by its formula.
CHECKPOINTS: dict[str, tuple[str, Callable[[int, int], Pieces], str, int]] = {
    "x1ngzai+Qwen-VL-Chat-Int4__": ("qweight", gptq, "F16", 9_656_935_168),
    "reubzdubz+Molmo7B_D_NF4Quant__": ("weight.absmax", nf4, "F16", 8_021_025_280),
    "root-hypercube+qwen3-mlx__Qwen3-14B-MLX-4bit__": ("scales", mlx, "BF16", 14_768_307_200),
}


def shapes(prediction: Prediction) -> dict[str, tuple[int, ...]]:
    return {row.name_of(key): row.shape for row in prediction.expected for key in row.keys()}


def entries(index: dict[str, Any], predicted: dict[str, tuple[int, ...]], mark: str, rule: Callable[[int, int], Pieces], plain: str) -> list[sparse.Entry]:  # fmt: skip
    """Each name of the index with the tensor that the library stores under it."""
    listed: list[sparse.Entry] = []
    for name in index["weight_map"]:
        module = next(
            (name[: -len(end)] for end in sorted(rule(64, 128), key=len)[::-1] if name.endswith("." + end)), ""
        )
        if module + mark in index["weight_map"]:
            outputs, inputs = predicted[module + "weight"]
            dtype, shape = rule(outputs, inputs).get(name[len(module) :]) or (plain, [outputs])
        else:
            dtype, shape = plain, list(predicted[name])
        listed.append((dtype, shape, name))
    return listed


@pytest.mark.parametrize(
    "stem", [stem for stem in CHECKPOINTS if real.has(f"index/{stem}model.safetensors.index.json")]
)
def test_published_index(stem: str, tmp_path: Path) -> None:
    """The total size of the published index, the parameters of the model, and no byte unexplained."""
    mark, rule, plain, parameters = CHECKPOINTS[stem]
    index = json.loads(real.file(f"index/{stem}model.safetensors.index.json").read_text())
    config = json.loads(real.file(f"config/{stem}config.json").read_text())
    listed = entries(index, shapes(inspector.predict(config)), mark, rule, plain)
    assert sum(prod(shape) * sparse.WIDTHS[dtype] for dtype, shape, _ in listed) == index["metadata"]["total_size"]
    (tmp_path / "config.json").write_text(json.dumps(config))
    sparse.write_safetensors(tmp_path / "model.safetensors", listed, {"format": "pt"})
    result = inspector.reconcile(inspector.open(tmp_path), "8B")
    assert result.packing is not None
    assert result.packing.bits == 4
    assert result.logical == parameters
    assert result.unexplained_bytes == 0
    assert not result.unexplained
