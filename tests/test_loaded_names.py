"""The rule `tensor-names` warns where Transformers leaves weights out whose tensors are stored under other names."""

from __future__ import annotations

import json
import re
from math import prod
from pathlib import Path
from typing import Any

import cases
import hostile
import pytest
import rule_words
from every import every

from inspector.auditing.catalogue import all_rules
from inspector.auditing.loading import loaded_names

RECORDED = Path(__file__).parents[1] / "fixtures" / "loaded_names.jsonl"
ROWS = [json.loads(line) for line in RECORDED.read_text().splitlines()]


def stated(config: dict[str, Any], shapes: dict[str, Any], folder: Path, **more: Any) -> list[tuple[str, str | None]]:
    """What the rule says about a model of these tensors: message and tensor."""
    size = sum(map(prod, shapes.values())) * 2
    weights = hostile.files.Hole(hostile.safetensors(shapes, data=False), size)  # names alone are looked at
    files = {"config.json": config, "model.safetensors": weights} | more
    subject = rule_words.subject_of(folder, files)
    return [(each.message, each.tensor) for each in all_rules()["tensor-names"].findings(subject)]


@every("row", ROWS, ids=[f"{row['case']} {row['change']}" for row in ROWS])
@pytest.mark.gate
def test_as_transformers_loads_the_names(row: dict[str, Any], tmp_path: Path) -> None:
    """Changed names of sound models: a warning exactly where `output_loading_info` has missing and unknown tensors."""
    case = cases.load(cases.FOLDER / f"{row['case']}.txt")[row["number"]]
    pattern, other = row["change"]
    shapes = {re.sub(pattern, other, name): list(shape) for name, shape in case.shapes.items()}
    assert bool(stated(case.config, shapes, tmp_path)) == (row["missing"] > 0 and row["unknown"] > 0)


def test_the_rows_are_of_many_families_and_of_both_kinds() -> None:
    """At least 50 model types, with a change that Transformers loads and one that it does not."""
    assert len({row["case"] for row in ROWS}) >= 50
    assert sum(row["missing"] > 0 for row in ROWS) * 2 == len(ROWS)


def test_a_configuration_without_a_class_is_loaded_by_its_type(tmp_path: Path) -> None:
    """Names in memory (`ViTForImageClassification.state_dict()`, Transformers 5.24) under a config.json that names no
    class, as `model.config.save_pretrained` leaves it: from_pretrained reports no missing and no unexpected keys."""
    config = {"model_type": "vit", "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1}
    config |= {"num_attention_heads": 4, "image_size": 8, "patch_size": 4, "num_labels": 3}
    layer = "vit.layers.0"
    shapes = {f"{layer}.attention.{each}_proj.weight": [16, 16] for each in "qkvo"}
    shapes |= {f"{layer}.attention.{each}_proj.bias": [16] for each in "qkvo"}
    shapes |= {
        f"{layer}.layernorm_{where}.{kind}": [16] for where in ("before", "after") for kind in ("weight", "bias")
    }
    shapes |= {f"{layer}.mlp.fc1.weight": [32, 16], f"{layer}.mlp.fc1.bias": [32]}
    shapes |= {f"{layer}.mlp.fc2.weight": [16, 32], f"{layer}.mlp.fc2.bias": [16]}
    shapes |= {"vit.embeddings.cls_token": [1, 1, 16], "vit.embeddings.position_embeddings": [1, 5, 16]}
    shapes |= {"vit.embeddings.patch_embeddings.projection.weight": [16, 3, 4, 4]}
    shapes |= {"vit.embeddings.patch_embeddings.projection.bias": [16]}
    shapes |= {"vit.layernorm.weight": [16], "vit.layernorm.bias": [16], "classifier.weight": [3, 16]}
    shapes |= {"classifier.bias": [3]}
    assert stated(config, shapes, tmp_path) == []
    mine = {name.replace("vit.layers.", "vit.blocks."): shape for name, shape in shapes.items()}
    assert stated(config, mine, tmp_path)


MODEL = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 64, "intermediate_size": 64}
MODEL |= {"num_hidden_layers": 1, "num_attention_heads": 4, "vocab_size": 32, "tie_word_embeddings": False}


def llama(prefix: str = "", **more: list[int]) -> dict[str, list[int]]:
    """A layer of Llama, with more tensors (`__` for a dot)."""
    layer = "model.layers.0"
    shapes = {f"{layer}.self_attn.{kind}_proj.weight": [64, 64] for kind in "qkvo"}
    shapes |= {f"{layer}.mlp.{kind}_proj.weight": [64, 64] for kind in ("gate", "up", "down")}
    shapes |= {f"{layer}.{kind}_layernorm.weight": [64] for kind in ("input", "post_attention")}
    shapes |= {"model.embed_tokens.weight": [32, 64], "model.norm.weight": [64], "lm_head.weight": [32, 64]}
    return {prefix + name: shape for name, shape in shapes.items()} | {
        name.replace("__", "."): shape for name, shape in more.items()
    }


def test_a_missing_tensor_is_not_a_misnamed_one(tmp_path: Path) -> None:
    """A tensor that is lost, and another whose name and sizes are those of none, are two things."""
    shapes = llama(model__layers__0__self_attn__rotary_emb__inv_freq=[8])
    del shapes["model.layers.0.self_attn.q_proj.weight"]
    assert stated(MODEL, shapes, tmp_path) == []


def test_code_of_the_downloads_own_may_have_other_names(tmp_path: Path) -> None:
    """With `auto_map` only a prefix before the names that the table knows is reported."""
    own = MODEL | {"auto_map": {"AutoModelForCausalLM": "modeling.LlamaForCausalLM"}}
    renamed = {name.replace("self_attn", "attention"): shape for name, shape in llama().items()}
    assert stated(own, renamed, tmp_path / "a") == []
    (found,) = stated(own, llama("_orig_mod."), tmp_path / "b")
    assert found == (
        "Transformers looks for lm_head.weight; of 12 tensors it does not know 12",
        "_orig_mod.lm_head.weight",
    )


def test_names_of_packed_weights(tmp_path: Path) -> None:
    """A packed weight is loaded by its module's name: GPTQ's `qweight` under a prefix of training is not found."""
    own = MODEL | {"quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 64, "desc_act": False}}

    def packed(prefix: str) -> bytes:
        tensors: dict[str, tuple[str, list[int]]] = {}
        for name, shape in llama(prefix).items():
            if not name.endswith("_proj.weight"):
                tensors[name] = ("F16", shape)
                continue
            stem = name.removesuffix(".weight")
            tensors |= {f"{stem}.qweight": ("I32", [8, 64]), f"{stem}.qzeros": ("I32", [1, 8])}
            tensors |= {f"{stem}.scales": ("F16", [1, 64]), f"{stem}.g_idx": ("I32", [64])}
        head: dict[str, Any] = {}
        end = 0
        for name, (dtype, shape) in tensors.items():
            size = {"F16": 2, "I32": 4}[dtype] * prod(shape)
            head[name] = {"dtype": dtype, "shape": shape, "data_offsets": [end, end + size]}
            end += size
        return hostile.files.framed(hostile.dump(head), end)

    rule = all_rules()["tensor-names"]
    for prefix, expected in (("", []), ("module.", ["Transformers looks for lm_head.weight; of 12 tensors it does not know 12"])):  # fmt: skip
        files = {"config.json": own, "model.safetensors": packed(prefix)}
        subject = rule_words.subject_of(tmp_path / (prefix or "sound"), files)
        assert [each.message for each in rule.findings(subject)] == expected


@pytest.mark.parametrize(
    ("stored", "found"),
    [
        ("a.1.q.weight", "a.1.q.weight"),
        ("x.a.1.q.weight", "x.a.1.q.weight"),
        ("a.1.inner.q.weight", "a.1.inner.q.weight"),
        ("a.1.q.kernel", "a.1.q.kernel"),
        ("b.1.k.weight", None),  # two places differ
        ("a.2.q.weight", None),  # another layer
        ("q.w.e.r.a.1.q.weight", None),  # too many parts
    ],
)
def test_names_that_differ_in_one_place(stored: str, found: str | None) -> None:
    assert loaded_names._Alike([(stored, (4, 2))]).most_like("a.1.q.weight", (2, 4)) == found
    assert loaded_names._Alike([(stored, (4, 3))]).most_like("a.1.q.weight", (2, 4)) is None


def test_a_head_may_stand_for_the_embedding_that_is_tied_to_it(tmp_path: Path) -> None:
    """safetensors' `save_model` keeps the first name of two: Transformers 5.24 reports no missing keys and the tied
    model's bytes, and without the tie it misses the embedding (`output_loading_info`)."""
    shapes = llama()
    del shapes["model.embed_tokens.weight"]
    weights = hostile.files.Hole(hostile.safetensors(shapes, data=False), sum(map(prod, shapes.values())) * 2)
    for tied, missing in ((True, []), (False, ["model.embed_tokens.weight"])):
        files = {"config.json": MODEL | {"tie_word_embeddings": tied}, "model.safetensors": weights}
        subject = rule_words.subject_of(tmp_path / str(tied), files)
        assert subject.result is not None
        assert [each.tensor for each in subject.result.findings if each.rule == "missing"] == missing
        assert subject.result.logical == sum(map(prod, shapes.values()))
        found = [each.tensor for each in all_rules()["tensor-names"].findings(subject)]
        assert found == (["lm_head.weight"] if tied else [])


@every(("rows", "columns", "found"), [(48, 16, 0), (16, 48, 1)])
def test_experts_in_one_tensor_have_their_rows_first(rows: int, columns: int, found: int, tmp_path: Path) -> None:
    """Mixtral in memory: `down_proj` of 4 experts, 16 × 24 each, and `gate_up_proj` of 48 × 16; Transformers 5.24 refuses
    it the other way round ("size mismatch")."""
    config = MODEL | {"model_type": "mixtral", "architectures": ["MixtralForCausalLM"], "num_local_experts": 4}
    config |= {"hidden_size": 16, "intermediate_size": 24, "num_attention_heads": 2, "num_key_value_heads": 2}
    mlp = "model.layers.0.mlp"
    shapes = {f"model.layers.0.self_attn.{kind}_proj.weight": [16, 16] for kind in "qkvo"}
    shapes |= {f"{mlp}.gate.weight": [4, 16], f"{mlp}.experts.down_proj": [4, 16, 24]}
    shapes |= {f"{mlp}.experts.gate_up_proj": [4, rows, columns], "model.norm.weight": [16]}
    shapes |= {f"model.layers.0.{kind}_layernorm.weight": [16] for kind in ("input", "post_attention")}
    shapes |= {"model.embed_tokens.weight": [32, 16], "lm_head.weight": [32, 16]}
    weights = hostile.files.Hole(hostile.safetensors(shapes, data=False), sum(map(prod, shapes.values())) * 2)
    subject = rule_words.subject_of(tmp_path, {"config.json": config, "model.safetensors": weights})
    messages = [each.message for each in all_rules()["transposed"].findings(subject)]
    assert messages == ["4×16×48 stored, 4×48×16 predicted"] * found
