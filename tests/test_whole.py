"""The bridge around the join: files, labels, claims, sums, pipelines; on files of a few hundred bytes."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import sparse
from every import every
from saved import LLAMA, PARAMETERS, SOUND, checkpoint, expected, header, save, steps, together

import inspector
from inspector.architectures.naming import Namer, Names
from inspector.bridge import labels, ledger, reconciliation, summary
from inspector.bridge.forecast import forecast
from inspector.bridge.identify import Stored, identify
from inspector.bridge.join import Kind, kinds_of
from inspector.bridge.ledger import Ledger, book_files
from inspector.model import (
    Adapter,
    Claim,
    Config,
    DtypeSum,
    Header,
    Index,
    Model,
    Origin,
    PackedSum,
    Packing,
    Prediction,
    Tensor,
)

# --- files ----------------------------------------------------------------------------------------


def booked(*files: Header) -> dict[str, tuple[int, str]]:
    ledger = Ledger()
    book_files(ledger, files)
    return {step.cause: (step.bytes, step.detail) for step in ledger.steps()}


def test_a_header_is_its_length_and_its_text() -> None:
    assert booked(SOUND) == {"header": (100, "1 safetensors header")}


def test_headers_are_counted_by_format() -> None:
    other = header(40, ("header", 0, 24), ("tensors", 24, 40), claims=[(24, 16)], format="gguf")
    assert booked(SOUND, SOUND, other) == {"header": (224, "2 safetensors headers, 1 gguf header")}


@pytest.mark.parametrize(
    ("region", "cause"),
    [
        ("metadata", "metadata"),
        ("tokenizer", "tokenizer"),
        ("tensor table", "tensor_table"),
        ("padding", "alignment"),
        ("hole", "trailing"),
        ("trailing", "trailing"),
        ("unreadable", "unreadable"),
    ],
)
def test_each_region_has_its_cause(region: str, cause: str) -> None:
    """30 bytes of a region are a step of 30 bytes, described by the cause's meaning."""
    steps = booked(header(30, (region, 0, 30)))
    assert {name: nbytes for name, (nbytes, _) in steps.items()} == {cause: 30}
    assert steps[cause][1]


def test_bytes_beyond_the_end_are_truncated() -> None:
    """Of a tensor that ends 30 bytes beyond the end, 30; of one that begins there, all of its 20."""
    cut = header(150, ("header", 0, 100), ("tensors", 100, 150), claims=[(100, 80), (180, 20)])
    assert booked(cut)["truncated"] == (-50, "50 bytes beyond the end of a.safetensors")
    assert "overlap" not in booked(cut)


def test_one_byte_beyond_the_end() -> None:
    cut = header(109, ("header", 0, 100), ("tensors", 100, 109), claims=[(100, 10)])
    assert booked(cut)["truncated"] == (-1, "1 byte beyond the end of a.safetensors")


def test_bytes_that_two_tensors_claim_are_overlap() -> None:
    """40 bytes, claimed twice."""
    twice = header(140, ("header", 0, 100), ("tensors", 100, 140), claims=[(100, 40), (100, 40)])
    assert booked(twice)["overlap"] == (-40, "bytes that several tensors claim")
    assert "truncated" not in booked(twice)


def test_overlap_and_truncation_in_one_file() -> None:
    """Bytes 100–140 exist. One tensor claims them, another the same and 20 more: −40 claimed twice, −20 missing."""
    both = header(140, ("header", 0, 100), ("tensors", 100, 140), claims=[(100, 40), (100, 60)])
    steps = booked(both)
    assert (steps["overlap"][0], steps["truncated"][0]) == (-40, -20)


# --- what lies in the files -----------------------------------------------------------------------


def plain(*names: str, metadata: dict[str, Any] | None = None, kind: Any = "safetensors") -> Header:
    tensors = tuple(Tensor(name, "F32", (2,), 8 * at, 8) for at, name in enumerate(names))
    return Header("model", kind, 0, tensors, (), metadata or {})


@every(
    ("metadata", "shared"),
    [
        ({}, {}),
        ({"format": "pt"}, {}),
        ({"format": "pt", "b": "a"}, {"a": ("b",)}),
        ({"b": "a", "c": "a"}, {"a": ("b", "c")}),
        ({"b": "nowhere"}, {}),
        ({"a": "d"}, {}),  # both are stored
        ({"b": ["a"]}, {}),
        ({"title": "a model"}, {}),
    ],
)
def test_names_of_one_tensor(metadata: dict[str, Any], shared: dict[str, tuple[str, ...]]) -> None:
    """`{"other name": "stored name"}` in `__metadata__`, as written by `safetensors.torch.save_model`."""
    assert identify((plain("a", "d", metadata=metadata),), None).shared == shared


def test_a_gguf_does_not_state_shared_tensors() -> None:
    assert identify((plain("a", metadata={"b": "a"}, kind="gguf"),), None).shared == {}


def test_plain_tensors_are_as_they_are() -> None:
    stored = identify((plain("a", "b"), plain("c")), None)
    assert (stored.names, stored.shapes, stored.adapter, stored.packing) == (("a", "b", "c"), [(2,)] * 3, None, None)


def test_a_packed_file_may_say_what_it_shares() -> None:
    """Names of one tensor are also taken from the file if weights are packed: GPTQ's, eight in a word."""
    config = Config({"quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 8}}, "config.json")
    shapes = {
        "l.qweight": ("I32", (1, 8)),
        "l.scales": ("F16", (1, 8)),
        "l.qzeros": ("I32", (1, 1)),
        "e.weight": ("F16", (4, 4)),
    }
    listed = [Tensor(name, kind, shape, 0, 0) for name, (kind, shape) in shapes.items()]
    stored = identify((Header("a", "safetensors", 0, listed, (), {"head.weight": "e.weight"}, ()),), config)
    assert stored.packing and stored.packing.shapes == {"l.qweight": (8, 8)}
    assert stored.shared == {"e.weight": ("head.weight",)}


# --- predictions ----------------------------------------------------------------------------------


def test_a_configuration_is_predicted_from() -> None:
    prediction, found = forecast(Config(LLAMA, "config.json"))
    assert prediction is not None
    assert (prediction.parameters, found) == (PARAMETERS, ())


@pytest.mark.parametrize(
    ("config", "why"),
    [
        (None, "no prediction: there is no configuration, and no known family explains the tensors"),
        (Config({"model_type": "unheard"}, "config.json", "here"), "no prediction for model_type 'unheard': "),
        (
            Config({**LLAMA, "architectures": ["LlamaForCausalLMEagle3"]}, "config.json", "here"),
            "LlamaForCausalLMEagle3 is a draft for speculative decoding, not a model of its type",
        ),
    ],
)
def test_why_nothing_is_predicted(config: Config | None, why: str) -> None:
    prediction, (found,) = forecast(config)
    assert prediction is None
    assert (found.rule, found.severity, found.path) == ("no-prediction", "info", config and "here")
    assert found.message.startswith(why)


@pytest.mark.parametrize("config", [None, Config(LLAMA, "config.json")])
def test_an_adapter_needs_two_configurations(config: Config | None) -> None:
    prediction, (found,) = forecast(config, Adapter("lora", {}, {}, {}))
    assert prediction is None
    assert found.message.startswith("an adapter: its size is predicted if its own configuration and its base's")


# --- names, labels, claims ------------------------------------------------------------------------


@every(
    ("fields", "names"),
    [
        ({}, ["a.safetensors", "folder-7b"]),
        ({"files": (SOUND, SOUND)}, ["folder-7b"]),
        (
            {"files": tuple(SOUND._replace(path=f"a/b-3b-Q4_0-0000{at}-of-00002.gguf") for at in (1, 2))},
            ["b-3b-Q4_0", "folder-7b"],
        ),
        ({"other": None}, ["a.safetensors"]),
        ({"other": None, "origin": Origin("hub", "x")}, ["a.safetensors", "folder-7b"]),
        ({"files": (SOUND._replace(path="unet/b.safetensors"),)}, ["b.safetensors", "folder-7b"]),
        (
            {"config": Config({"_name_or_path": "org-2t/model-3b/"}, "config.json")},
            ["a.safetensors", "folder-7b", "model-3b"],
        ),
        ({"files": (SOUND._replace(path="a/b/c.safetensors"),)}, ["c.safetensors", "folder-7b"]),
        ({"config": Config({"_name_or_path": "/a/b/modelX"}, "config.json")}, ["a.safetensors", "folder-7b", "modelX"]),
        ({"config": Config({"_name_or_path": 7}, "config.json")}, ["a.safetensors", "folder-7b"]),
        # Named after the model that they draft for.
        ({"config": Config({"model_type": "eagle3"}, "config.json")}, []),
        ({"config": Config({"model_type": "gemma4_assistant"}, "config.json")}, []),
        ({"config": Config({**LLAMA, "architectures": ["LlamaForCausalLMEagle"]}, "config.json")}, []),
        ({"config": Config({"model_type": "clip", "gguf.projector": "gemma3"}, "gguf")}, []),
    ],
)
def test_names_in_which_a_size_may_be(fields: dict[str, Any], names: list[str]) -> None:
    assert list(labels.names_of(checkpoint(**fields))) == names


def test_totals_of_an_index_stand_beside_what_was_counted() -> None:
    index = Index("i", {}, {"total_size": 100.0, "total_parameters": "77", "other": 3})
    found = list(reconciliation.claims(checkpoint(index=index), 55, "F32"))
    assert found == [Claim("total_size", "100.0", 100), Claim("total_parameters", "77", 55)]
    assert list(reconciliation.claims(checkpoint(), 55, "F32")) == []


@pytest.mark.parametrize(
    ("name", "claimed", "elements", "note"),
    [
        ("general.parameter_count", "132", 132, "32 stored elements are not parameters"),
        ("general.parameter_count", "100", 132, ""),
        ("general.parameter_count", "100", 100, ""),
        ("general.name", "132", 132, ""),
    ],
)
def test_a_claim_that_counts_constants_says_so(name: str, claimed: str, elements: int, note: str) -> None:
    assert reconciliation.with_note(Claim(name, claimed, 100), elements, 100) == Claim(name, claimed, 100, note)


# --- sums -----------------------------------------------------------------------------------------


def test_dtypes_are_summed_the_largest_first() -> None:
    groups = [{Kind("F32", (2, 3), 24, 6): 2, Kind("BF16", (4,), 8, 4): 1}, {Kind("BF16", (50,), 100, 50): 3}]
    assert summary.dtypes(map(Counter, groups)) == (
        DtypeSum("BF16", 4, 154, 308),
        DtypeSum("F32", 2, 12, 48),
    )


def test_the_usual_dtype_has_most_elements() -> None:
    """Not the most bytes."""
    assert summary.most_common([DtypeSum("F32", 1, 10, 40), DtypeSum("F8", 1, 30, 30)]) == "F8"
    assert summary.most_common([DtypeSum("F32", 1, 30, 120), DtypeSum("F8", 1, 10, 10)]) == "F32"
    assert summary.most_common([]) is None


def test_packed_weights_with_what_serves_them() -> None:
    tensors = [Tensor("q", "I32", (2,), 0, 8), Tensor("s", "F16", (4,), 8, 8), Tensor("norm", "F16", (4,), 16, 8)]
    packing = Packing("gptq", 4, shapes={"q": (4, 4)}, side={"s": "q"})
    assert summary.packed(Stored(tensors, Names(["q", "s", "norm"]), [], packing=packing)) == PackedSum(16, 8, 8)
    assert PackedSum(16, 8, 8).bits == 8
    assert PackedSum(0, 8, 8).bits == 0
    assert summary.packed(Stored(tensors, Names(), [], packing=Packing("Q4_0", 4))) is None
    assert summary.packed(Stored(tensors, Names(), [])) is None


def test_active_parameters_are_those_of_one_token() -> None:
    """One expert of four is 12 of 48; all of a dense model is active; without a prediction nothing is known."""
    sparse, dense = expected(active=1), expected(experts=None)
    config = Config({}, "config.json")
    assert summary.active(Prediction(config, "f", "", (sparse,)), 999) == 12
    assert summary.active(Prediction(config, "f", "", (dense,)), 999) == 999
    assert summary.active(None, 999) is None


def test_roles_count_bytes_that_hold_no_parameters_apart() -> None:
    """Two norms of 4 F32, one a second copy: 32 bytes, of which 16 are weights, at 32 bits."""
    tensors = [Tensor(f"model.layers.{at}.input_layernorm.weight", "F32", (4,), 0, 16) for at in (0, 0)]
    stored = Stored(tensors, Names(each.name for each in tensors), [(4,), (4,)])
    named = Namer().name(stored.names)
    (role,) = summary.roles(stored, named, kinds_of(tensors, named.groups), [4, 0], None, {})
    assert (role.role, role.group, role.tensors, role.parameters, role.bytes) == ("input_layernorm", "norm", 2, 4, 32)
    assert (role.weight_bytes, role.bits_per_weight, role.predicted_parameters, role.formula) == (16, 32, None, None)
    assert (role.dtypes, role.explained, role.dimensions) == (("F32",), "", ())


def test_roles_stand_in_the_predictions_order_also_those_that_are_not_stored() -> None:
    row = expected(role="gate_proj", experts=None, name="model.layers.{layer}.mlp.gate_proj.weight")
    prediction = Prediction(Config({}, "config.json"), "f", "", (row,))
    tensors = [Tensor("model.norm.weight", "BF16", (4,), 0, 8), Tensor("unheard", "F32", (2,), 8, 8)]
    stored = Stored(tensors, Names(each.name for each in tensors), [(4,), (2,)])
    named = Namer().name(stored.names)
    gate, norm, other = summary.roles(stored, named, kinds_of(tensors, named.groups), [4, 2], prediction, {})
    assert (gate.role, gate.tensors, gate.parameters, gate.predicted_parameters) == ("gate_proj", 0, 0, 12)
    assert (gate.formula, gate.dimensions, gate.bits_per_weight) == ("a × b", None, None)
    assert (norm.role, norm.parameters, norm.predicted_parameters, norm.bits_per_weight) == ("norm", 4, 0, 16)
    assert (other.role, other.group) == ("other", "other")


def test_tensors_with_their_keys_are_a_sequence() -> None:
    files = (plain("model.norm.weight"), plain("a.weight", "lm_head.weight")._replace(path="two"))
    names = [each.name for each in (*files[0].tensors, *files[1].tensors)]
    labels = summary.Labels(files, Namer().name(names), [2, 3, 4])
    assert [each.tensor.name for each in labels] == names
    assert (labels[0].file, labels[1].file, labels[-1].file, len(labels)) == ("model", "two", "two", 3)
    assert (labels[-1].key.role, labels[-1].group, labels[-1].parameters) == ("lm_head", "head", 4)
    assert [each.parameters for each in labels[1:]] == [3, 4]
    with pytest.raises(IndexError):
        labels[3]


# --- all of it ------------------------------------------------------------------------------------


def test_from_a_label_to_the_disk(tmp_path: Path) -> None:
    """ "1k" at 2 bytes is 2,000; 728 parameters are 1,456; the rest of the file is its header."""
    result = inspector.reconcile(inspector.open(save(tmp_path / "m", LLAMA)), "1k")
    assert PARAMETERS == 728
    assert result.nominal and (result.nominal.label, result.nominal.bytes, result.start) == ("1k", 2000, 2000)
    assert (result.predicted, result.dtype, result.logical, result.active) == (1456, "BF16", 728, 728)
    assert steps(result) == {"label_rounding": -544, "header": result.on_disk - 1456}
    assert (result.stored_elements, result.family, result.weight_bytes) == (728, "llama", 1456)
    assert not result.findings
    assert not result.is_pipeline


def test_the_label_is_in_the_name(tmp_path: Path) -> None:
    """Of 728 parameters "2M" is not the size, which is reported; a label that was asked for is taken as given."""
    checkpoint = inspector.open(save(tmp_path / "small-2M", LLAMA))
    result = inspector.reconcile(checkpoint)
    stated = '"2M" in the name is not its size, which is 728 parameters'
    assert (result.nominal, result.steps[0][:2], result.steps[0].detail) == (None, ("label_rounding", 0), stated)
    result = inspector.reconcile(checkpoint, "2M")
    assert result.nominal and result.nominal.label == "2M"
    assert steps(result)["label_rounding"] == 1456 - 4_000_000


def test_without_a_label_the_bridge_begins_at_the_prediction(tmp_path: Path) -> None:
    """The configuration says BF16, the file is F32: as many bytes again."""
    result = inspector.reconcile(inspector.open(save(tmp_path / "m", LLAMA, dtype="F32")))
    assert (result.nominal, result.start) == (None, 1456)
    assert steps(result)["mixed_dtype"] == 1456


def test_without_a_dtype_in_the_configuration_the_usual_one_is_counted_with(tmp_path: Path) -> None:
    config = {key: value for key, value in LLAMA.items() if key != "torch_dtype"}
    result = inspector.reconcile(inspector.open(save(tmp_path / "m", config, dtype="F32")))
    assert (result.dtype, result.predicted) == ("F32", 2912)
    assert set(steps(result)) == {"header"}


def test_without_a_configuration_the_dimensions_are_inferred(tmp_path: Path) -> None:
    sizes = {"hidden_size": 128, "head_dim": 64, "num_attention_heads": 2, "num_key_value_heads": 1, "vocab_size": 300}
    known = save(tmp_path / "m", {**LLAMA, **sizes})
    (known / "config.json").unlink()
    result = inspector.reconcile(inspector.open(known))
    assert result.checkpoint.config and result.checkpoint.config.kind == "inferred"
    assert result.prediction and result.prediction.parameters == result.logical


def test_an_unknown_architecture_is_all_unexplained(tmp_path: Path) -> None:
    """All bytes of tensors are unexplained without a relative; their sizes are explained by the fields that exist."""
    folder = save(tmp_path / "m", LLAMA)
    (folder / "config.json").write_text(json.dumps({**LLAMA, "model_type": "unheard", "architectures": None}))
    result = reconciliation.reconcile(inspector.open(folder), analogy=False)
    assert (result.prediction, result.predicted, result.start, result.family) == (None, None, 0, None)
    assert (result.unexplained_bytes, len(result.unexplained), result.active) == (1456, 12, None)
    assert {finding.rule for finding in result.findings} == {"no-prediction"}
    assert next(role.explained for role in result.roles if role.role == "up_proj") == "intermediate_size × hidden_size"


# --- other files of the same model ----------------------------------------------------------------


@pytest.mark.parametrize(("extra", "bits"), [(0, 16), (PARAMETERS * 2, 32), (PARAMETERS * 7, None)])
def test_bits_of_another_file_of_the_model(tmp_path: Path, extra: int, bits: int | None) -> None:
    """As large, twice as wide; and so large that it is another model: 72 bits are more than any number has."""
    folder = save(tmp_path / "m", LLAMA)
    own = (folder / "model.safetensors").read_bytes()
    (folder / "consolidated.safetensors").write_bytes(own + bytes(extra))
    result = inspector.reconcile(inspector.open(folder))
    inspected, other = result.checkpoint.variants
    assert result.bits_of(inspected) == 16
    assert result.bits_of(other) == bits
    assert (result.has(inspected), result.has(other)) == (True, False)


def test_parts_of_a_pipeline_have_no_bits_of_the_whole(tmp_path: Path) -> None:
    result = inspector.reconcile(inspector.open(together(tmp_path / "p", "transformer", "text_encoder")))
    assert [result.bits_of(each) for each in result.checkpoint.variants] == [None, None]
    assert all(map(result.has, result.checkpoint.variants))


def test_every_cause_is_explained_in_words() -> None:
    """Each once, in one line and the glossary; every region of a file and every separate group leads to one of them."""
    names = [cause.name for cause in ledger.CAUSES]
    assert len(set(names)) == len(names) == len(ledger.ORDER)
    assert all(cause.meaning and "\n" not in cause.meaning for cause in ledger.CAUSES)
    assert set(ledger.REGION_CAUSES.values()) < set(names)
    rows = [f"| {cause.plain} | `{cause.name}` | {cause.meaning} |" for cause in ledger.CAUSES]
    glossary = Path(__file__).parent.parent / "docs" / "glossary.md"
    assert [line for line in glossary.read_text("utf-8").splitlines() if line.startswith("| ")][1:] == rows
    assert sorted(names, key=ledger.ORDER.__getitem__) == names


# --- adapters -------------------------------------------------------------------------------------

LORA = "base_model.model.model.layers.0.self_attn.q_proj"


def adapter(folder: Path, *entries: tuple[str, list[int], str], **config: Any) -> Path:
    folder.mkdir()
    usual = {"peft_type": "LORA", "r": 2, "target_modules": ["q_proj"], "lora_alpha": 4}
    (folder / "adapter_config.json").write_text(json.dumps({**usual, **config}))
    sparse.write_safetensors(folder / "adapter_model.safetensors", entries)
    (folder / "base.json").write_text(json.dumps(LLAMA))
    return folder


A, B = ("F32", [2, 8], LORA + ".lora_A.weight"), ("F32", [8, 2], LORA + ".lora_B.weight")


def test_an_adapter_beside_its_bases_configuration(tmp_path: Path) -> None:
    """Rank 2 on 8×8: 32 parameters under the role that they change, and the base's own count."""
    folder = adapter(tmp_path / "a", A, B)
    result = inspector.reconcile(inspector.open(folder, config=folder / "base.json"))
    assert result.prediction and result.prediction.base
    assert (result.logical, result.prediction.parameters, result.prediction.base.parameters) == (32, 32, PARAMETERS)
    assert steps(result) == {"header": result.on_disk - 32 * 4}
    assert [(role.role, role.group, role.tensors, role.parameters) for role in result.roles] == [
        ("q_proj", "adapter", 2, 32)
    ]
    assert [each.key.part for each in result.tensors] == ["lora_A", "lora_B"]
    assert (result.nominal, result.counts, result.dtype) == (None, (), "F32")
    assert not result.findings


def test_a_whole_module_saved_with_an_adapter(tmp_path: Path) -> None:
    """`modules_to_save`: the head under its own role, with as many parameters as the base's."""
    head = ("F32", [10, 8], "base_model.model.lm_head.weight")
    folder = adapter(tmp_path / "a", A, B, head, modules_to_save=["lm_head"])
    result = inspector.reconcile(inspector.open(folder, config=folder / "base.json"))
    assert {(role.role, role.group): role.parameters for role in result.roles} == {
        ("q_proj", "adapter"): 32,
        ("lm_head", "head"): 80,
    }
    assert result.logical == 112


def test_an_adapter_alone_says_what_it_needs(tmp_path: Path) -> None:
    result = inspector.reconcile(inspector.open(adapter(tmp_path / "a-7b", A, B)))
    assert (result.prediction, result.predicted, result.logical, result.nominal) == (None, None, 32, None)
    assert [finding.rule for finding in result.findings] == ["no-prediction"]
    assert steps(result)["adapter"] == 32 * 4


def test_an_adapters_scale_is_a_constant(tmp_path: Path) -> None:
    """kohya's `alpha` beside each pair is on disk, and no parameter."""
    name = "lora_te_text_model_encoder_layers_0_self_attn_q_proj"
    entries = [("F32", [2, 8], f"{name}.lora_down.weight"), ("F32", [8, 2], f"{name}.lora_up.weight")]
    sparse.write_safetensors(tmp_path / "lora.safetensors", [*entries, ("F32", [], f"{name}.alpha")])
    result = inspector.reconcile(inspector.open(tmp_path / "lora.safetensors"))
    assert result.logical == 32
    assert {each.key.part: (each.group, each.parameters) for each in result.tensors} == {
        "lora_A": ("adapter", 16),
        "lora_B": ("adapter", 16),
        "alpha": ("buffer", 0),
    }
    assert steps(result)["buffer"] == 4


def test_a_reconciliation_has_what_its_model_has() -> None:
    result = inspector.reconcile(inspector.open("fixtures/real/safetensors/burn/complex_nested.safetensors"))
    own = set(Model._fields) - {"config", "bits", "findings"}
    assert {name for name in own if getattr(result, name) is getattr(result.model, name)} == own
    assert result.findings == (*result.checkpoint.all_findings, *result.model.findings)
    assert (result.on_disk, result.stored_elements) == (9248, sum(each.elements for each in result.dtypes))


def test_a_configuration_is_looked_up_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its family by the first who asks for it, whoever else does; a changed configuration's again."""
    folder, asked, find = save(tmp_path / "m", LLAMA), list[Any](), Config.find_family

    def found(values: Any) -> Any:
        asked.append(values)
        return find(values)

    monkeypatch.setattr(Config, "find_family", found)
    config = inspector.reconcile(inspector.open(folder)).checkpoint.config
    assert config and config.family.name == "llama"
    assert len(asked) == 1
    assert config._replace(values={"model_type": "gpt2"}).family.name == "gpt2"
