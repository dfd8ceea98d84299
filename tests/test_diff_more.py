"""An adapter on its base, two models with a common base, ranks of differences, and merges."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import save_file
from test_diff_data import llama, saved

import inspector
from inspector import api
from inspector.report import diff as report

if TYPE_CHECKING:
    from conftest import Ran

Array = NDArray[Any]
RANK = 4


def lora(folder: Path, shapes: Mapping[str, tuple[int, int]], config: Mapping[str, object] | None = None) -> Path:
    """LoRA factors of modules, each [out, in], in both layers."""
    folder.mkdir()
    tensors: dict[str, Array] = {}
    for layer in (0, 1):
        for module, (out, into) in shapes.items():
            name = f"base_model.model.model.layers.{layer}.{module}"
            tensors[f"{name}.lora_A.weight"] = np.zeros((RANK, into), np.float32)
            tensors[f"{name}.lora_B.weight"] = np.zeros((out, RANK), np.float32)
    save_file(tensors, folder / "adapter_model.safetensors")
    names = sorted({module.rpartition(".")[2] for module in shapes})
    fields = {"peft_type": "LORA", "r": RANK, "target_modules": names, **(config or {})}
    (folder / "adapter_config.json").write_text(json.dumps(fields))
    return folder


def test_an_adapter_says_which_modules_it_changes(tmp_path: Path, inspect: Callable[..., Ran]) -> None:
    """Two modules in two layers: 4 weights, and 4 · (64 + 64) + 4 · (96 + 64) parameters a layer."""
    base = saved(tmp_path / "base", llama())
    adapter = lora(tmp_path / "adapter", {"self_attn.q_proj": (64, 64), "mlp.up_proj": (96, 64)})
    ran = inspect("diff", base, adapter, "--json")
    added = 2 * RANK * (64 + 64 + 96 + 64)
    reported = {"method": "lora", "ranks": [4], "modules": 4, "parameters": added, "fits": True}
    assert (ran.code, ran.json["adapter"]) == (1, reported)
    assert ran.json["counts"] == {"same": 0, "dtype": 0, "shape": 0, "only_a": 0, "only_b": 8, "data": None}
    rows = [json.loads(line) for line in inspect("diff", base, adapter, "--jsonl").out.splitlines()]
    assert [row["b_name"] for row in rows] == [each["b"]["name"] for each in ran.json["tensors"]]
    assert rows[0]["a_shape"] == [64, 64] or rows[0]["a_shape"] == [96, 64]
    assert api.attachment(base, adapter).to_arrow().column_names == list(rows[0])
    text = inspect("diff", adapter, base).out.splitlines()  # either way round
    assert text[0].startswith("fits: 4 weights changed, 2,304 parameters added")
    assert any(line.split() == ["up_proj,", "layers", "0–1", "4", "96×64", "1,280"] for line in text)


def test_shapes_that_do_not_fit_the_base(tmp_path: Path, inspect: Callable[..., Ran]) -> None:
    """The factor of a wider model reads 80 inputs and fits no weight of 64; a fourth layer does not exist."""
    base = saved(tmp_path / "base", llama())
    adapter = lora(tmp_path / "adapter", {"self_attn.q_proj": (64, 80), "mlp.gate_proj": (96, 64)})
    result = api.attachment(base, adapter)
    wrong = [each for each in result.tensors if not each.fits]
    assert [(each.piece.tensor.shape, each.expected) for each in wrong] == [((RANK, 80), (RANK, 64))] * 2
    other = lora(tmp_path / "other", {"mlp.gate_proj": (96, 64)})
    (other / "adapter_model.safetensors").unlink()
    far = {f"base_model.model.model.layers.9.mlp.up_proj.lora_{ab}.weight": np.zeros((4, 64), np.float32) for ab in "A"}
    save_file(far, other / "adapter_model.safetensors")
    ran = inspect("diff", base, other)
    assert ran.out.splitlines()[0] == "does not fit: 1 of 1 tensor"
    assert "base_model.model.model.layers.9.mlp.up_proj.lora_A.weight: the base has no such weight" in ran.out


def test_three_ways(tmp_path: Path, inspect: Callable[..., Ran]) -> None:
    """One tensor changed by a, one by b, one by both alike, one by each differently; one that is missing in a."""
    base = llama()
    a, b = dict(base), dict(base)
    names = {role: f"model.layers.0.mlp.{role}.weight" for role in ("gate_proj", "up_proj", "down_proj")}
    a["model.norm.weight"] = base["model.norm.weight"] + 1
    b[names["gate_proj"]] = base[names["gate_proj"]] + 1
    a[names["up_proj"]] = b[names["up_proj"]] = base[names["up_proj"]] * 2
    a[names["down_proj"]], b[names["down_proj"]] = base[names["down_proj"]] * 2, base[names["down_proj"]] * 3
    del a["lm_head.weight"]
    folders = [saved(tmp_path / name, tensors) for name, tensors in (("base", base), ("a", a), ("b", b))]
    ran = inspect("diff", *folders, "--data", "--json")
    assert (ran.code, ran.json["counts"]) == (1, {"same": 16, "a": 2, "b": 1, "alike": 1, "apart": 1})
    changes = {each["role"]: each["change"] for each in ran.json["tensors"] if each["change"] != "same"}
    assert changes == {"norm": "a", "gate_proj": "b", "up_proj": "alike", "down_proj": "apart", "lm_head": "a"}
    rows = [json.loads(line) for line in inspect("diff", *folders, "--data", "--jsonl").out.splitlines()]
    assert [(row["role"], row["change"]) for row in rows] == [
        (row["role"], row["change"]) for row in ran.json["tensors"]
    ]
    assert next((row["a_status"], row["b_status"]) for row in rows if row["role"] == "lm_head") == ("only_a", "same")
    own, other = (api.diff(folders[0], folder, data=True) for folder in folders[1:])
    assert api.three(own, other, data=True).to_polars().rows(named=True) == rows
    text = [line.split() for line in inspect("diff", *folders, "--data").out.splitlines()]
    assert ["only", "a", "lm_head", "removed", "equal"] in text


def factors(shape: tuple[int, int], rank: int, seed: int) -> Array:
    """A matrix of a given rank, a tenth as large as `llama`'s."""
    draw = np.random.default_rng(seed)
    product: Array = draw.standard_normal((shape[0], rank)) @ draw.standard_normal((rank, shape[1]))
    scaled: Array = product * 0.1 / np.sqrt(rank)
    return scaled


def rounded(values: Array) -> Array:
    """Round to the nearest BF16."""
    found: Array = ((values.astype(np.float32).view(np.uint32) + 0x8000) & 0xFFFF0000).view(np.float32)
    return found


@pytest.mark.parametrize("rank", [1, 3, 8])
def test_the_rank_of_a_change(rank: int, tmp_path: Path) -> None:
    """Factors of a known rank were added to the keys and the gate: that rank is found, with NumPy's singular values."""
    base = llama()
    targets = ["model.layers.0.self_attn.k_proj.weight", "model.layers.1.mlp.gate_proj.weight"]
    tuned = {
        **base,
        **{
            name: base[name] + factors(base[name].shape, rank, at).astype(np.float32) for at, name in enumerate(targets)
        },
    }
    result = inspector.diff(saved(tmp_path / "a", base), saved(tmp_path / "b", tuned), data=True)
    found = {pair.a.tensors[0].tensor.name: each for pair, each in api.ranks(result) if pair.a}
    assert {name: each.rank for name, each in found.items()} == dict.fromkeys(targets, rank)
    for name in targets:
        values = np.linalg.svd((tuned[name] - base[name]).astype(np.float64), compute_uv=False)
        assert found[name].values[:rank] == pytest.approx(values[:rank], rel=1e-3)


def test_a_full_change_is_of_no_low_rank(tmp_path: Path, inspect: Callable[..., Ran]) -> None:
    """After a fine-tune of all weights every singular value is needed, and no adapter is suggested."""
    base = llama()
    draw = np.random.default_rng(9)
    name = "model.layers.0.mlp.up_proj.weight"
    tuned = {**base, name: base[name] + draw.standard_normal(base[name].shape).astype(np.float32) * np.float32(0.01)}
    ran = inspect("diff", saved(tmp_path / "a", base), saved(tmp_path / "b", tuned), "--rank", "--json")
    (found,) = ran.json["ranks"]
    assert (found["rank"], found["full"], found["role"]) == (64, 64, "up_proj")
    assert "as an adapter" not in inspect("diff", tmp_path / "a", tmp_path / "b", "--rank").out


def test_a_linear_merge_and_what_is_none(tmp_path: Path, inspect: Callable[..., Ran]) -> None:
    """0.7 of one and 0.3 of the other, rounded to BF16; a third model is not a sum of the two."""
    first, second = llama(1), llama(2)
    merged = {name: rounded(0.7 * first[name] + 0.3 * second[name]) for name in first}
    p, q, m = (saved(tmp_path / name, each) for name, each in (("p", first), ("q", second), ("m", merged)))
    ran = inspect("diff", p, m, "--parents", p, q, "--json")
    merge = ran.json["merge"]
    assert merge["weights"] == pytest.approx([0.7, 0.3], abs=1e-3)
    assert merge["is_merge"] and merge["residual"] < 2**-8
    found = api.merge(saved(tmp_path / "other", llama(3)), p, q)
    assert found is not None and not found.is_merge and found.residual > 0.9
    reported = inspect("diff", p, m, "--parents", p, q).out.splitlines()
    assert any(line.startswith("b is a linear merge: the nearest sum is 0.7") for line in reported)


def test_the_wrong_number_of_targets(tmp_path: Path, inspect: Callable[..., Ran]) -> None:
    """One or four targets are a usage error, exit code 2."""
    base = saved(tmp_path / "a", llama())
    assert inspect("diff", base).code == inspect("diff", base, base, base, base).code == 2


def test_on_a_narrow_terminal_what_changed_is_still_there(tmp_path: Path) -> None:
    """Lists of layers and bytes shrink before dtypes; of a long field the end is shown, of a value all."""
    name = "model.layers.{}.mlp.down_proj.weight"
    for side, kind in (("a", np.float32), ("b", np.float16)):
        folder = tmp_path / side
        folder.mkdir()
        numbers = [(name.format(at), np.ones((8, 8), kind if at % 3 else np.float32)) for at in range(80)]
        save_file(dict(numbers), folder / "model.safetensors")
        deep = {"weights": {"num_bits" if side == "b" else "other": "eight"}}
        config = {"model_type": "llama", "quantization_config": {"config_groups": {"group_0": deep}}}
        (folder / "config.json").write_text(json.dumps(config))
    result = inspector.diff(tmp_path / "a", tmp_path / "b")
    counted = [line for line in report.lines(result, width=80) if "F32 → F16" in line]
    assert len(counted) == 1 and "down_proj, 53 layers" in counted[0]
    narrow = list(report.lines(result, full=True, width=80))
    reported = [
        line for text in narrow[1:-1] for line in text.splitlines()
    ]  # the last is a sentence, folded when printed
    assert reported and max(map(len, reported)) <= 80
    assert [line for line in reported if "F32 → F16" in line and "down_proj, layers 1–2, 4–5" in line]
    (field,) = (line.split() for line in reported if "num_bits" in line)
    assert field[-3:] == ["absent", "→", "eight"]
    wide = [line for text in report.lines(result) for line in text.splitlines()]
    assert [line for line in wide if "76–77, 79" in line and "quantization_config" not in line]
