"""A type without a table, read as a known one by analogy: by its configuration's fields, or by the tensors that are there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from conftest import write
from every import every

import inspector
from inspector.architectures.relatives import likeness, nearest
from inspector.architectures.store import store
from inspector.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Ran

#: A Llama under a name that no table has; its tensors and their number by hand.
CONFIG = {
    "model_type": "unheard_of",
    "architectures": ["UnheardForCausalLM"],
    "hidden_size": 64,
    "intermediate_size": 128,
    "vocab_size": 100,
    "num_hidden_layers": 2,
    "num_attention_heads": 8,
    "num_key_value_heads": 8,
    "tie_word_embeddings": False,
}
PARAMETERS = 2 * 100 * 64 + 2 * (4 * 64 * 64 + 3 * 64 * 128 + 2 * 64) + 64
LAYER = {
    **{f"self_attn.{each}_proj": [64, 64] for each in "qkvo"},
    "mlp.gate_proj": [128, 64],
    "mlp.up_proj": [128, 64],
    "mlp.down_proj": [64, 128],
    "input_layernorm": [64],
    "post_attention_layernorm": [64],
}


def saved(folder: Path, **more: list[int]) -> Path:
    """The model's files, with more tensors."""
    shapes = {f"model.layers.{layer}.{name}.weight": shape for layer in (0, 1) for name, shape in LAYER.items()}
    shapes |= {"model.embed_tokens.weight": [100, 64], "lm_head.weight": [100, 64], "model.norm.weight": [64], **more}
    header, end = {}, 0
    for name, shape in shapes.items():
        size = 4 * shape[0] * (shape[1] if len(shape) > 1 else 1)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [end, end + size]}
        end += size
    folder.mkdir(exist_ok=True)
    write(folder / "model.safetensors", header, end)
    (folder / "config.json").write_text(json.dumps(CONFIG))
    return folder


def test_a_configuration_is_read_as_its_relative(inspect: Callable[..., Ran]) -> None:
    """By its fields alone, and marked as such."""
    found = inspector.predict(CONFIG)
    assert (found.parameters, found.config.relative) == (PARAMETERS, "llama")
    assert "for unheard_of by analogy" in repr(found)


def test_files_are_read_as_the_relative_that_has_their_tensors(tmp_path: Path, inspect: Callable[..., Ran]) -> None:
    """The line says how far the sizes are apart; roles and formulas are the relative's; it is never complete."""
    folder = saved(tmp_path / "model", **{"model.layers.0.self_attn.gate.weight": [8, 64]})
    shown = inspect(folder, "--full").out
    assert "no table for unheard_of; read as llama: 95.04K, 0.5 % less than is stored" in shown
    assert "unheard_of (UnheardForCausalLM): read as llama, by analogy" in shown
    found = inspect(folder, "--json").json
    assert found["knowledge"]["relative"] == "llama"
    assert found["knowledge"]["checked_against"] is None
    assert found["verdict"]["state"] == "unknown"
    assert (found["parameters"]["predicted"], found["parameters"]["logical"]) == (PARAMETERS, PARAMETERS + 512)
    assert {each["rule"] for each in found["findings"]} <= {"no-prediction", "misaligned"}
    exact = inspect(saved(tmp_path / "same"), "--json").json["verdict"]
    assert exact == {"state": "unknown", "sentence": "no table for unheard_of; read as llama: 95.04K, as is stored"}
    assert "no table for unheard_of: read as llama, by analogy" in inspect("memory", folder).out


def test_small_norms_and_biases_decide_between_relatives(tmp_path: Path, inspect: Callable[..., Ran]) -> None:
    """Norms of queries and keys are a thousandth of a model, and make it a Qwen3; biases of three projections, a Qwen2."""
    norms = {f"model.layers.{layer}.self_attn.{each}_norm.weight": [8] for layer in (0, 1) for each in "qk"}
    found = inspect(saved(tmp_path / "model", **norms), "--json").json
    assert found["knowledge"]["relative"] == "qwen3"
    assert found["parameters"]["predicted"] == PARAMETERS + 2 * 2 * 8
    biases = {f"model.layers.{layer}.self_attn.{each}_proj.bias": [64] for layer in (0, 1) for each in "qkv"}
    found = inspect(saved(tmp_path / "biased", **biases), "--json").json
    assert found["knowledge"]["relative"] == "qwen2"
    assert found["parameters"]["predicted"] == PARAMETERS + 2 * 3 * 64


def test_an_audit_does_not_judge_by_analogy(tmp_path: Path, inspect: Callable[..., Ran]) -> None:
    """A tensor that the relative lacks, or has, is not a fault of the files."""
    found = inspect("audit", saved(tmp_path / "model"), "--json").json["checkpoints"][0]["findings"]
    assert [each["message"] for each in found if each["rule"] == "no-prediction"] == [
        "no prediction for model_type 'unheard_of': there is no table for its architecture"
    ]


def test_other_tensors_are_not_read_as_the_nearest_by_fields(tmp_path: Path) -> None:
    """Fields may be alike where tensors are not."""
    folder = tmp_path / "model"
    folder.mkdir()
    header = {"wave.filters": {"dtype": "F32", "shape": [64, 64], "data_offsets": [0, 16384]}}
    write(folder / "model.safetensors", header, 16384)
    (folder / "config.json").write_text(json.dumps(CONFIG))
    assert inspector.reconcile(inspector.open(folder)).prediction is None


MIXTURE = {**CONFIG, "num_local_experts": 4, "num_experts_per_tok": 2}
REFUSED: dict[str, dict[str, Any]] = {
    "no fields": {"model_type": "odd"},
    "no type": {**CONFIG, "model_type": None},
    "a number that is the relative's own": {key: value for key, value in CONFIG.items() if key != "vocab_size"},
    "others that are as near are ten thousand times as large": {
        "model_type": "odd",
        "hidden_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "vocab_size": 100,
        "intermediate_size": 128,
        "image_size": 32,
        "patch_size": 8,
        "num_channels": 3,
    },
    "a few fields of many": {**{f"odd_{name}": value for name, value in CONFIG.items()}, **CONFIG, "kv_lora_rank": 8},
}


@every("config", REFUSED.values(), ids=REFUSED)
def test_a_configuration_without_a_relative_is_refused(config: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        inspector.predict(config)


def test_a_mixture_is_read_as_one() -> None:
    """A relative that does not use the count of experts is passed over."""
    found = inspector.predict(MIXTURE)
    assert any(row.experts == 4 or row.stacked == 4 for row in found.expected)


def test_the_refusal_of_an_unknown_type_lists_ways_out(inspect: Callable[..., Ran], tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "odd"}')
    error = inspect("predict", tmp_path / "config.json").err
    assert all(word in error for word in ("--ask", "inspect DIR", "--tables DIR", "a newer version"))


def test_names_and_fields_that_are_near() -> None:
    """A generation of a name is not a difference; rare fields say more than frequent ones."""
    assert likeness("hy_v4_vl", "hy_v4") > likeness("hy_v4_vl", "hyperclovax")
    assert likeness("qwen7", "qwen3") == 1
    latent = {"kv_lora_rank": 16, "q_lora_rank": 8, "qk_rope_head_dim": 4, "qk_nope_head_dim": 4, "v_head_dim": 4}
    tables = [each.table for each in nearest(store(), {**CONFIG, **latent})]
    assert "llama" not in tables[:3]
    assert tables != [each.table for each in nearest(store(), CONFIG)]
