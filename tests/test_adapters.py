"""Adapters: which weights they change, their ranks, and their size from their own configuration and the base's."""

from __future__ import annotations

import json
from collections.abc import Callable
from math import prod
from pathlib import Path
from typing import Any

import pytest
import sparse
import sparse_torch
from every import every
from saved import LLAMA, PARAMETERS

import inspector
from inspector.adapters.metadata import BASES
from inspector.adapters.methods import factors
from inspector.adapters.prediction import predict
from inspector.adapters.tensors import adapter_of
from inspector.errors import ConfigError
from inspector.model import Reconciliation, Tensor

FOLDER = Path(sparse.__file__).parent / "adapters"
NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))
#: Files that carry no metadata.
UNPREDICTED = {"kohya-names", "diffusers-names"}
#: Parameters stored again for a tied head, which only the base's configuration reveals.
STORED_AGAIN = {"trainable-tokens-of-gpt2": 3 * 128}
#: First word of a fixture's name → the method, where they differ; "kohya" and "diffusers" are naming schemes.
METHODS = {
    **dict.fromkeys(("prompt", "prefix", "multitask", "cartridge", "cpt"), "prompt"),
    **dict.fromkeys(("kohya", "diffusers"), "lora"),
    "ln": "ln_tuning",
    "trainable": "trainable_tokens",
}


def recipe(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text())
    return loaded


def reconciled(made: dict[str, Any], folder: Path, *, base: bool = True) -> Reconciliation:
    """The adapter's folder; its base's configuration lies beside it under the name in the adapter, or is given."""
    if base and "base" in made and "beside" not in made:
        named = folder / "base.json"
        named.write_text(json.dumps(made["base"]))
        return inspector.reconcile(inspector.open(sparse.make(made, folder / "adapter"), config=named))
    if base and "base" in made:
        (folder / "adapter" / "base").mkdir(parents=True)
        (folder / "adapter" / "base" / "config.json").write_text(json.dumps(made["base"]))
    return inspector.reconcile(inspector.open(sparse.make(made, folder / "adapter")))


@every("name", sorted(set(NAMES) - UNPREDICTED), parts=5)
def test_predicted_to_the_parameter(name: str, tmp_path: Path) -> None:
    """The two configurations predict as many parameters as PEFT trains, and no byte is unexplained."""
    made = recipe(name)
    result = reconciled(made, tmp_path)
    assert result.prediction is not None
    assert result.logical == result.prediction.parameters == made["expected"]["parameters"]
    assert result.unexplained_bytes == 0
    assert not result.unexplained
    assert {step.cause for step in result.steps} <= {"header", "duplicate", "buffer", "tied_embeddings"}
    assert result.prediction.base is not None
    assert result.prediction.base.parameters == made["expected"]["base_parameters"]


def test_labels_by_what_changes_the_head(tmp_path: Path) -> None:
    """T5 calls its classifier by none of the names that PEFT saves, so it is adapted: 5 labels of 32, at rank 4."""
    own = {"peft_type": "LORA", "task_type": "SEQ_CLS", "r": 4, "target_modules": ["out_proj"]}
    sizes = {"vocab_size": 128, "d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4}
    head = "base_model.model.classification_head.out_proj"
    made = {
        "base": {"model_type": "t5", "architectures": ["T5ForConditionalGeneration"], **sizes},
        "beside": {"adapter_config.json": {**own, "base_model_name_or_path": "base"}},
        "files": {
            "adapter_model.safetensors": {
                "tensors": [["F32", [4, 32], f"{head}.lora_A.weight"], ["F32", [5, 4], f"{head}.lora_B.weight"]]
            }
        },
    }
    result = reconciled(made, tmp_path)
    assert result.prediction is not None
    assert result.logical == result.prediction.parameters == 4 * 32 + 5 * 4
    assert not result.unexplained
    assert not [each for each in result.findings if each.severity == "error"]


@every("task", ["SEQ_CLS", "FEATURE_EXTRACTION", "NEW_TASK", 7, ["SEQ_CLS"]])
def test_a_task_that_the_adapter_does_not_show(task: Any, tmp_path: Path) -> None:
    """Whatever an adapter's task is, what it changes in the body is predicted."""
    made = recipe("lora")
    made.setdefault("beside", {})
    config = made["beside"]["adapter_config.json"]
    made["beside"]["adapter_config.json"] = {**config, "task_type": task}
    result = reconciled(made, tmp_path)
    assert result.prediction is not None
    assert result.logical == result.prediction.parameters == made["expected"]["parameters"]


@every("name", NAMES)
def test_an_adapter_without_its_base(name: str, tmp_path: Path) -> None:
    """The names show what an adapter changes: a role of the base, the group `adapter`, every byte claimed."""
    made = recipe(name)
    result = reconciled(made, tmp_path, base=False)
    assert result.adapter is not None
    assert result.unexplained_bytes == 0
    adapted = [role for role in result.roles if role.group == "adapter"]
    assert all(role.role != "other" for role in adapted)
    counted = sum(role.parameters for role in adapted)
    whole = sum(role.parameters for role in result.roles if role.group != "adapter")
    assert counted + whole == made["expected"]["parameters"] + STORED_AGAIN.get(name, 0)


@every("name", NAMES)
def test_method_by_name(name: str, tmp_path: Path) -> None:
    """The method is the one that made the file."""
    result = reconciled(recipe(name), tmp_path, base=False)
    assert result.adapter is not None
    first = name.partition("-")[0]
    assert result.adapter.method == METHODS.get(first, first)


def test_an_adapters_matrix_of_a_module_it_does_not_target_is_unexplained(tmp_path: Path) -> None:
    """A matrix of a module that is not targeted: 4 × 256 numbers in 32 bits, which no step hides."""
    made = recipe("lora")
    name = "base_model.model.model.layers.0.mlp.gate_proj.lora_A.weight"
    made["files"]["adapter_model.safetensors"]["tensors"].append(["F32", [4, 256], name])
    result = reconciled(made, tmp_path)
    assert result.unexplained_bytes == 4 * 256 * 4
    assert result.unexplained == (name,)


@pytest.mark.parametrize("ends", ["new_spectrum", "new_layers.weight", "new_theta"])
def test_a_method_that_no_table_has(ends: str, tmp_path: Path) -> None:
    """The configuration names the method; the tensors are the adapter's, and none of the base's counts as missing."""
    made = recipe("lora")
    made["beside"]["adapter_config.json"]["peft_type"] = "NEWTUNING"
    made["files"]["adapter_model.safetensors"]["tensors"] = [
        ["F32", [256], f"base_model.model.model.layers.{{0..1}}.self_attn.q_proj.{ends}"]
    ]
    result = reconciled(made, tmp_path)
    assert result.adapter is not None
    assert (result.adapter.method, result.logical) == ("newtuning", 512)
    assert {role.role for role in result.roles} == {"q_proj"}
    assert {finding.rule for finding in result.findings} == {"no-prediction"}
    assert not result.unexplained


#: Of no token, of what lies beyond the highest rank.
MAY_BE_EMPTY = frozenset({"trainable_tokens_delta", *(f"osf_svd_params.{factor}_low" for factor in "SUV")})
SENSELESS: tuple[Any, ...] = (None, -1, 10**30, float("inf"), "x", [], {"q_proj": []}, [[0, 10**12]])


@every("name", sorted(set(NAMES) - UNPREDICTED), parts=3)
@pytest.mark.gate
def test_no_field_of_any_method_makes_a_traceback(name: str) -> None:
    """Each field replaced by a senseless value gives another prediction, or a ConfigError that says why."""
    made = recipe(name)
    if "beside" not in made:
        return
    base, config = inspector.predict(made["base"]), made["beside"]["adapter_config.json"]
    for field in config:
        for value in SENSELESS:
            try:
                predicted = predict({**config, field: value}, base)
            except ConfigError as error:
                assert str(error)
            else:
                rows = [row for row in predicted.expected if row.part not in MAY_BE_EMPTY]
                assert all(dim > 0 for row in rows for dim in row.shape)


def test_an_empty_rank_or_list_leaves_tensors_without_elements() -> None:
    """As PEFT 0.21.2 saves them: OSF keeps what lies beyond the rank, and no token is trained."""
    base = inspector.predict(LLAMA)
    width = 8
    beyond = predict({"peft_type": "OSF", "target_modules": ["o_proj"], "effective_rank": width + 1}, base)
    assert {row.shape for row in beyond.expected} == {(0,), (width, 0), (0, width)}
    for none in ({"peft_type": "TRAINABLE_TOKENS", "token_indices": []},
                 {"peft_type": "LORA", "r": 2, "target_modules": [], "trainable_token_indices": []}):  # fmt: skip
        assert [row.shape for row in predict(none, base).expected] == [(0, width)]
    with pytest.raises(ConfigError, match="gives 0 for `r`"):
        predict({"peft_type": "LORA", "r": 0, "target_modules": ["o_proj"]}, base)


def test_adalora_shows_which_ranks_are_left() -> None:
    """A trained adapter's `rank_pattern` lists each module's ranks: 5 of 12 ranks are 7 · (256 + 256 + 1) fewer."""
    made = recipe("adalora")
    base, config = inspector.predict(made["base"]), made["beside"]["adapter_config.json"]
    left = {"model.layers.1.self_attn.q_proj.lora_E": [True] * 5 + [False] * 7}
    fewer = predict({**config, "rank_pattern": left}, base)
    assert predict(config, base).parameters - fewer.parameters == 7 * (256 + 256 + 1)


#: Modules of a denoiser, as reported by sd-scripts.
KOHYA = {"sd_v1": 192, "sdxl_base_v1-0": 722}


@pytest.mark.parametrize("version", KOHYA)
def test_kohyas_metadata_names_the_base(version: str, tmp_path: Path) -> None:
    """A lone file is predicted from its `ss_base_model_version`; XL's names are those of the original code."""
    stated = {"ss_network_module": "networks.lora", "ss_network_dim": "4", "ss_base_model_version": version}
    entries: list[list[Any]] = []
    base = inspector.predict({"_class_name": "UNet2DConditionModel", **BASES[version]})
    for row in base.expected:
        for name in row.names() if ".attentions." in row.name and row.part == "weight" and len(row.shape) > 1 else ():
            block = name.removesuffix(".weight")
            if version.startswith("sdxl"):
                for down in (1, 2):
                    for at in (0, 1):
                        block = block.replace(
                            f"down_blocks.{down}.attentions.{at}", f"input_blocks.{1 + 3 * down + at}.1"
                        )
                for up in (0, 1):
                    for at in (0, 1, 2):
                        block = block.replace(f"up_blocks.{up}.attentions.{at}", f"output_blocks.{3 * up + at}.1")
                block = block.replace("mid_block.attentions.0", "middle_block.1")
            joined = "lora_unet_" + block.replace(".", "_")
            ones = [1] * (len(row.shape) - 2)
            entries += [
                ["F16", [4, row.shape[1], *ones], f"{joined}.lora_down.weight"],
                ["F16", [row.shape[0], 4, *ones], f"{joined}.lora_up.weight"],
                ["F16", [], f"{joined}.alpha"],
            ]
    made = {"files": {"kohya.safetensors": {"tensors": entries, "metadata": stated}}}
    result = reconciled(made, tmp_path)
    assert result.adapter is not None
    assert result.adapter.ranks == {4: KOHYA[version]}
    assert result.prediction is not None
    stored = sum(prod(shape) for _, shape, name in entries if not name.endswith(".alpha"))
    assert result.prediction.parameters == result.logical == stored
    assert {step.cause for step in result.steps} == {"header", "buffer"}


def test_lycoris_names_are_joined_as_kohyas_are() -> None:
    """`LycorisNetwork.LORA_PREFIX` before a module's name with underscores; its scale is not a parameter."""
    stem = "lycoris_model_layers_0_mlp_down_proj"
    shapes = {"hada_w1_a": (64, 4), "hada_w1_b": (4, 128), "hada_w2_a": (64, 4), "hada_w2_b": (4, 128), "alpha": ()}
    adapter = adapter_of([Tensor(f"{stem}.{end}", "F16", shape, 0, 0) for end, shape in shapes.items()], None)
    assert adapter is not None
    assert (adapter.method, adapter.ranks) == ("loha", {4: 1})
    assert set(adapter.served.values()) == {"model_layers.0.mlp.down_proj.weight"}
    assert adapter.constants == {f"{stem}.alpha"}


@pytest.mark.parametrize(
    "metadata",
    [
        {"lora_adapter_metadata": "["},
        {"lora_adapter_metadata": "[" * 5000},
        {"lora_adapter_metadata": '{"unet.r": "x", "unet.target_modules": 3}'},
        {"ss_network_module": "networks.lora", "ss_network_dim": "9" * 40},
        {"ss_network_module": "networks.lora", "ss_network_args": '{"conv_dim": []}'},
        {"ss_network_module": "lycoris.kohya", "ss_network_dim": "4"},
    ],
)
def test_hostile_metadata(metadata: dict[str, str], tmp_path: Path) -> None:
    """Senseless metadata of an adapter leads to no prediction, and to no traceback."""
    made = recipe("kohya-metadata")
    made["files"]["lora.safetensors"]["metadata"] = metadata
    result = reconciled(made, tmp_path)
    assert result.prediction is None
    assert {finding.rule for finding in result.findings} == {"no-prediction"}
    assert result.start + sum(step.bytes for step in result.steps) + result.unexplained_bytes == result.on_disk


def test_ranks_and_share_are_shown(tmp_path: Path, inspect: Callable[..., Any]) -> None:
    """Ranks with their modules are shown, and the adapter's size relative to its base."""
    made = recipe("lora-embedding")
    reconciled(made, tmp_path)
    out = inspect(tmp_path / "adapter").out
    assert "rank 8 in 5 modules, rank 16 in 2 modules" in out
    assert "18.014% of its base's 1,692,928 parameters" in out
    document = inspect(tmp_path / "adapter", "--json").json
    assert document["adapter"] == {
        "method": "lora",
        "ranks": [{"rank": 8, "modules": 5}, {"rank": 16, "modules": 2}],
        "base": "base",
        "base_parameters": 1_692_928,
    }


def test_a_missing_piece_is_missed(tmp_path: Path) -> None:
    """A module without its `lora_B` is a finding, and a step of the bridge."""
    made = recipe("lora")
    file = made["files"]["adapter_model.safetensors"]
    file["tensors"] = [entry for entry in file["tensors"] if "q_proj.lora_B" not in entry[2]]
    result = reconciled(made, tmp_path)
    assert {finding.rule for finding in result.findings} == {"missing"}
    assert {step.cause: step.bytes for step in result.steps}["missing"] == -4 * 2 * 256 * 8


@every(
    "fields",
    [
        {"r": "8"},
        {"r": -1},
        {"r": 10**30},
        {"r": None},
        {"target_modules": ["(a+)+$"]},
        {"target_modules": 7},
        {"target_modules": None},
        {"rank_pattern": {"q_proj": []}},
        {"rank_pattern": 3},
        {"layers_to_transform": [[], {}, "x"]},
        {"peft_type": "\x1b[31m"},
        {"peft_type": []},
        {"base_model_name_or_path": "\x00"},
        {"base_model_name_or_path": "a" * 5000},
        {"modules_to_save": {"a": 1}},
    ],
)
def test_hostile_configurations(fields: dict[str, Any], tmp_path: Path) -> None:
    """Senseless fields give no prediction, or another, and never a traceback."""
    made = recipe("lora")
    made["beside"]["adapter_config.json"].update(fields)
    result = reconciled(made, tmp_path)
    assert result.start + sum(step.bytes for step in result.steps) + result.unexplained_bytes == result.on_disk


@pytest.mark.parametrize(("size", "expected"), [(512, (16, 32)), (256, (16, 16)), (127, (1, 127)), (250, (10, 25))])
def test_kronecker_factors(size: int, expected: tuple[int, int]) -> None:
    """A dimension is split into two factors as near to its root as possible: the cases that LyCORIS documents."""
    assert factors(size) == expected


def test_the_base_is_found_in_the_hubs_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is looked up under the name in the adapter; a name that leads out of the cache finds nothing."""
    made = recipe("lora")
    commit = "c" * 40
    store = tmp_path / "hub" / "models--org--base"
    (store / "snapshots" / commit).mkdir(parents=True)
    (store / "refs").mkdir()
    (store / "refs" / "main").write_text(commit)
    (store / "snapshots" / commit / "config.json").write_text(json.dumps(made["base"]))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    own = made["beside"]["adapter_config.json"]
    own["base_model_name_or_path"] = "org/base"
    result = reconciled(made, tmp_path, base=False)
    assert result.prediction is not None
    assert result.prediction.parameters == result.logical == made["expected"]["parameters"]
    for name in ("org/other", "../org/base", "org/..", "a/b/c"):
        own["base_model_name_or_path"] = name
        folder = tmp_path / name.replace("/", "_")
        folder.mkdir()
        assert reconciled(made, folder, base=False).prediction is None


def test_the_state_of_a_whole_peft_model_is_the_model_and_its_adapter(tmp_path: Path) -> None:
    """`torch.save(get_peft_model(…).state_dict())`: each weight once, under PEFT's modules or not, whatever share is LoRA."""
    for targets in (
        ("q_proj", "v_proj"),
        ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"),
    ):
        rows, adapter = [], 0
        for row in inspector.predict(LLAMA).expected:
            for name in row.names():
                stem = "base_model.model." + name.removesuffix(".weight")
                if row.role not in targets:
                    rows.append((f"{stem}.weight", "F32", row.shape))
                    continue
                rows.append((f"{stem}.base_layer.weight", "F32", row.shape))
                rows.append((f"{stem}.lora_A.default.weight", "F32", (2, row.shape[1])))
                rows.append((f"{stem}.lora_B.default.weight", "F32", (row.shape[0], 2)))
                adapter += 2 * sum(row.shape)
        folder = tmp_path / str(len(targets))
        folder.mkdir()
        sparse_torch.write(folder / "model.pt", rows)
        (folder / "config.json").write_text(json.dumps(LLAMA))
        result = inspector.reconcile(inspector.open(folder))
        assert (result.logical, result.adapter, result.unexplained_bytes) == (PARAMETERS + adapter, None, 0)
        assert {step.cause: step.bytes for step in result.steps if step.cause in ("adapter", "duplicate")} == {
            "adapter": 4 * adapter
        }
