"""An adapter's effect on its base's numbers, and whether a model is the base with it merged, by NumPy and by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Ran
from test_diff_packed import SIZES, Array, bits16, floats, saved

import inspector
from inspector.api import effects

STEM = "model.layers.{}.self_attn.{}_proj"
ADAPTED = [STEM.format(layer, role) for layer in range(2) for role in "qv"]
RANK = 4


@pytest.fixture
def base(tmp_path: Path) -> tuple[Path, dict[str, Array]]:
    draw = np.random.default_rng(1)
    numbers = {
        f"{STEM.format(layer, role)}.weight": bits16(draw.normal(0, 0.02, (128, 128)))
        for layer in range(2)
        for role in "qkvo"
    }
    return saved(tmp_path / "base", {"model_type": "llama", **SIZES}, numbers), numbers


def adapter(
    folder: Path, config: dict[str, Any], magnitude: bool = False
) -> tuple[Path, dict[str, tuple[Array, Array]]]:
    """A LoRA in F32 of queries and values; that of the last values was not trained: B is zero."""
    draw, factors, tensors = np.random.default_rng(2), {}, {}
    for name in ADAPTED:
        down, up = draw.normal(0, 0.1, (RANK, 128)), draw.normal(0, 0.1, (128, RANK))
        up *= name != ADAPTED[-1]
        factors[name] = down.astype(np.float32), up.astype(np.float32)
        tensors[f"base_model.model.{name}.lora_A.weight"], tensors[f"base_model.model.{name}.lora_B.weight"] = factors[
            name
        ]
        if magnitude:
            tensors[f"base_model.model.{name}.lora_magnitude_vector"] = np.full(128, 0.5, np.float32)
    folder.mkdir()
    made = saved(folder / "made", {}, tensors)
    (made / "model.safetensors").rename(folder / "adapter_model.safetensors")
    common = {"peft_type": "LORA", "r": RANK, "target_modules": ["q_proj", "v_proj"], "use_dora": magnitude}
    (folder / "adapter_config.json").write_text(json.dumps({**common, **config}))
    return folder, factors


SCALES: dict[str, tuple[dict[str, Any], Callable[[str], float]]] = {
    "lora_alpha / r": ({"lora_alpha": 8}, lambda _: 2.0),
    "lora_alpha / sqrt(r)": ({"lora_alpha": 8, "use_rslora": True}, lambda _: 4.0),
    "a module's own": (
        {"lora_alpha": 8, "alpha_pattern": {"v_proj": 2}},
        lambda name: 0.5 if name.endswith("v_proj") else 2.0,
    ),
}


@pytest.mark.parametrize("how", SCALES)
def test_the_change_is_as_large_as_the_product(how: str, base: tuple[Path, dict[str, Array]], tmp_path: Path) -> None:
    """‖s·B·A‖ / ‖W‖ of each weight, and zero where B is zero."""
    folder, numbers = base
    config, scale = SCALES[how]
    lora, factors = adapter(tmp_path / "lora", config)
    found = {each.base.tensor.name.removesuffix(".weight"): each.relative for each in effects(folder, lora)}
    expected = {
        name: scale(name) * np.linalg.norm(up @ down) / np.linalg.norm(floats(numbers[f"{name}.weight"]))
        for name, (down, up) in factors.items()
    }
    assert found == pytest.approx(expected, rel=1e-5)
    assert found[ADAPTED[-1]] == 0


def test_magnitudes_give_each_output_its_length(base: tuple[Path, dict[str, Array]], tmp_path: Path) -> None:
    """DoRA: every row of W′ has length 1/2."""
    folder, numbers = base
    dora, factors = adapter(tmp_path / "dora", {"lora_alpha": 4}, magnitude=True)
    weight = floats(numbers[f"{ADAPTED[0]}.weight"])
    down, up = factors[ADAPTED[0]]
    new = weight + up @ down
    new *= 0.5 / np.linalg.norm(new, axis=1, keepdims=True)
    found = {each.base.tensor.name: each.relative for each in effects(folder, dora)}
    assert found[f"{ADAPTED[0]}.weight"] == pytest.approx(
        np.linalg.norm(new - weight) / np.linalg.norm(weight), rel=1e-5
    )


def merged(
    folder: Path, numbers: dict[str, Array], factors: dict[str, tuple[Array, Array]], scale: float
) -> dict[str, Array]:
    """Merge as PEFT's merge_and_unload: add in F32 and store as BF16."""
    tensors = dict(numbers)
    for name, (down, up) in factors.items():
        tensors[f"{name}.weight"] = bits16(floats(numbers[f"{name}.weight"]) + scale * (up @ down))
    saved(folder, {"model_type": "llama", **SIZES}, tensors)
    return tensors


Run = Callable[..., Ran]


def test_a_merged_model_is_its_base_with_the_adapter(
    inspect: Run, base: tuple[Path, dict[str, Array]], tmp_path: Path
) -> None:
    """It is found in either order; not with half the adapter, nor if another weight was changed."""
    folder, numbers = base
    lora, factors = adapter(tmp_path / "lora", {"lora_alpha": 8})
    tensors = merged(tmp_path / "merged", numbers, factors, 2.0)
    for order in ((tmp_path / "merged", lora), (lora, tmp_path / "merged")):
        ran = inspect("diff", folder, *order, "--data")
        assert ran.code == 0, ran
        assert "merged into it" in ran.out
        assert "is not" not in ran.out
    merged(tmp_path / "half", numbers, factors, 1.0)
    ran = inspect("diff", folder, tmp_path / "half", lora, "--data", "--json")
    assert (ran.code, ran.json["merged"]) == (1, False)
    assert [each["data"] for each in ran.json["tensors"]] == ["different", "different", "different", "equal"]
    rows = inspect("diff", folder, tmp_path / "half", lora, "--data", "--jsonl").out.splitlines()
    assert [json.loads(row) for row in rows] == ran.json["tensors"]
    other = f"{STEM.format(1, 'o')}.weight"
    touched = tensors[other].copy()
    touched[5, 5] ^= 0x4000
    saved(tmp_path / "other", {"model_type": "llama", **SIZES}, {**tensors, other: touched})
    ran = inspect("diff", folder, tmp_path / "other", lora, "--data", "--json")
    assert (ran.code, ran.json["others"]) == (1, [other])


def test_one_number_that_is_not_the_sum_is_found(base: tuple[Path, dict[str, Array]], tmp_path: Path) -> None:
    """If one sign of a merged weight is flipped, only that weight is different."""
    folder, numbers = base
    lora, factors = adapter(tmp_path / "lora", {"lora_alpha": 8})
    tensors = merged(tmp_path / "merged", numbers, factors, 2.0)
    name = f"{ADAPTED[1]}.weight"
    tensors[name][7, 9] ^= 0x8000
    saved(tmp_path / "wrong", {"model_type": "llama", **SIZES}, tensors)
    found = {
        each.base.tensor.name: each.merged and each.merged.status for each in effects(folder, lora, tmp_path / "wrong")
    }
    assert [each for each, status in found.items() if status == "different"] == [name]


def test_diff_data_of_an_adapter_shows_how_large_the_changes_are(
    inspect: Run, base: tuple[Path, dict[str, Array]], tmp_path: Path
) -> None:
    """A column by role, and a note on untrained weights; without a known scale one line says so."""
    lora, _ = adapter(tmp_path / "lora", {"lora_alpha": 8})
    ran = inspect("diff", base[0], lora, "--data")
    assert ran.code == 1
    assert "‖ΔW‖ / ‖W‖" in ran.out
    assert "1 weight of these stay unchanged" in ran.out
    assert "‖ΔW‖" not in inspect("diff", base[0], lora).out
    silent, _ = adapter(tmp_path / "silent", {})
    reported = "values of 4 weights not compared: the adapter does not state its lora_alpha"
    assert reported in inspect("diff", base[0], silent, "--data").out


def test_an_adapter_among_three_needs_the_values(
    inspect: Run, base: tuple[Path, dict[str, Array]], tmp_path: Path
) -> None:
    lora, _ = adapter(tmp_path / "lora", {"lora_alpha": 8})
    ran = inspect("diff", base[0], base[0], lora)
    assert (ran.code, "add --data" in ran.err) == (2, True)
    ran = inspect("diff", base[0], lora, lora, "--data")
    assert (ran.code, "with one adapter" in ran.err.replace("\n", " ")) == (2, True)


def test_the_rank_of_a_merged_adapter_is_seen_beneath_rounding(
    base: tuple[Path, dict[str, Array]], tmp_path: Path
) -> None:
    """--rank of the base and the merged model finds 4 for each weight, and none for untrained ones."""
    folder, numbers = base
    _, factors = adapter(tmp_path / "lora", {"lora_alpha": 8})
    merged(tmp_path / "merged", numbers, factors, 2.0)
    result = inspector.diff(folder, tmp_path / "merged", data=True)
    from inspector.api import ranks

    found = {pair.key: rank.rank for pair, rank in ranks(result)}
    assert list(found.values()) == [RANK] * 3
