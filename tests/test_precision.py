"""The rounding errors allowed: steps of dtypes and block types, against real quantizers."""

from __future__ import annotations

from typing import Any

import gguf
import numpy as np
import pytest
from every import every
from numpy.typing import NDArray

from inspector.comparing import differences
from inspector.comparing.differences import agreement as judged
from inspector.quantization.precision import GRIDS, group_of, spacing, step_of

Array = NDArray[Any]
#: The block types that the `gguf` package quantizes.
TYPES = ("Q8_0", "Q5_1", "Q5_0", "Q4_1", "Q4_0", "TQ1_0", "TQ2_0")


def drawn(kind: str, seed: int = 0) -> Array:
    """32 rows of 512 numbers: normal, heavy-tailed, with a few twenty times as large, or very small ones."""
    draw = np.random.default_rng(seed)
    values: Array = (draw.standard_t(4, (32, 512)) if kind == "heavy" else draw.standard_normal((32, 512))) * 0.02
    if kind == "outliers":
        values[:, ::97] *= 20
    return (values / 100 if kind == "small" else values).astype(np.float32)


def agreement(a: Array, b: Array, name: str) -> str:
    step = step_of(name)
    assert step is not None
    return judged(differences.sums(a, b, lambda: [step(b.ravel())]), lossy=True)


@every("kind", ["normal", "heavy", "outliers", "small"])
@every("name", TYPES)
def test_quantized_numbers_are_rounded_and_others_are_not(name: str, kind: str) -> None:
    """Numbers from a quantizer are rounded; other numbers, or none, are different even with two bits."""
    code = gguf.GGMLQuantizationType[name]
    values, others = drawn(kind), drawn(kind, 1)
    made, unrelated = (gguf.quants.dequantize(gguf.quants.quantize(each, code), code) for each in (values, others))
    assert agreement(values, made, name) == "rounded"
    assert agreement(values, unrelated, name) == "different"
    assert agreement(values, np.zeros_like(values), name) == "different"
    assert agreement(values, -made, name) == "different"


def test_steps_worked_out_by_hand() -> None:
    """2⁻⁷ of a BF16, 2⁻¹⁰ of an F16; of Q8_0 1/127 of the largest of each 32; the spacing is a power of two."""
    values = np.array([1.0, -3.0, 0.0], np.float32)
    for dtype, part in (("BF16", 2**-7), ("F16", 2**-10)):
        step = step_of(dtype)
        assert step is not None
        assert step(values) == pytest.approx(np.abs(values) * part, abs=1e-7)
    blocks = np.concatenate([np.full(32, 1.0), np.full(32, 0.5)]).astype(np.float32)
    blocks[3] = -2.54
    step = step_of("Q8_0")
    assert step is not None
    assert step(blocks) == pytest.approx([0.02] * 32 + [0.5 / 127] * 32)
    found = spacing(values[:2], "BF16")
    assert found is not None and found.tolist() == [2**-7, 2**-6]
    assert step_of("I32") is None and spacing(values, "Q8_0") is None


@pytest.mark.parametrize(
    ("name", "largest", "steps"),
    [
        ("Q8_0", 127.0, 1.0),  # a scale of 1
        (
            "Q8_0",
            127 * 2.0**-22,
            2.0**-22 * (1 + 127 / 4),
        ),  # a scale of 4 smallest F16 steps may be off by a quarter
        ("Q8_0", 0.0, 127 * 2.0**-25),  # the scale of nearly half a step that was rounded
        ("Q6_K", 4096 * 2.0**-23, 4096 * 2.0**-23 * (1 / 31 + 1 / 127 + 1 / 2)),
        ("Q4_K", 945 * 2.0**-20, 945 * 2.0**-20 * (2 / 15 + 2 / 63 + 1 / 16)),
        ("NVFP4", 6 * 2.0**-8, 6 * 2.0**-8 * (1 / 3 + 1 / 4 + 1 / 2)),  # an E4M3 of twice its least value
    ],
)
def test_a_scale_too_small_for_its_float_rounds_its_numbers(name: str, largest: float, steps: float) -> None:
    """By hand: F16 has steps of 2⁻²⁴ below 2⁻¹⁴, so that a scale may be off by half of one, and each number with it."""
    step = step_of(name)
    assert step is not None
    found = step(np.full(group_of(name), largest, np.float32))
    assert np.allclose(found, steps, rtol=1e-6, atol=0)


@pytest.mark.parametrize(("name", "furthest"), [("IQ3_S", 0.437), ("IQ1_S", 1.748)])
def test_points_of_a_code_book_that_are_chosen_together(name: str, furthest: float) -> None:
    """The furthest of 14 million values that llama.cpp quantized, without an importance matrix and with one.

    In units of the largest of their block.
    """
    values = np.eye(1, 256, dtype=np.float32)[0]
    step = step_of(name)
    assert step is not None
    assert step(values)[1] > furthest


def test_every_grids_block_is_whole_groups() -> None:
    """Scales are shared within a block; unknown types are taken element by element."""
    sizes = {kind.name: block for kind, (block, _) in gguf.GGML_QUANT_SIZES.items()}
    for name, grid in GRIDS.items():
        assert group_of(name) % grid.group == 0
        assert sizes.get(name, grid.group) % grid.group == 0 or name == "NVFP4"
    assert (group_of("F32"), group_of("gptq", 128)) == (1, 128)
