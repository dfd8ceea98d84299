"""Pipelines of several models: their sums, their parts' towers, and the files beside them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import sparse_torch
from conftest import write
from saved import LLAMA, PARAMETERS, SOUND, checkpoint, save, steps, together

import inspector
from inspector.bridge import pipeline
from inspector.model import (
    Component,
    DtypeSum,
    Finding,
    OtherFiles,
    PackedSum,
)


def test_a_pipeline_is_the_sum_of_its_models(tmp_path: Path) -> None:
    """Two models, one of them two layers deep: parameters, bytes, tensors and roles of both, each in its tower."""
    deep = {**LLAMA, "num_hidden_layers": 2, "torch_dtype": "float32"}
    layer = PARAMETERS - 2 * 80 - 8
    result = inspector.reconcile(
        inspector.open(together(tmp_path / "p", "transformer", "text_encoder", kinds={"text_encoder": deep}))
    )
    assert result.is_pipeline
    assert result.logical == 2 * PARAMETERS + layer == result.active
    assert result.prediction and result.prediction.parameters == result.logical
    assert result.predicted == 2 * PARAMETERS + 4 * (PARAMETERS + layer)
    assert steps(result)["mixed_dtype"] == -2 * (PARAMETERS + layer)
    assert (
        result.on_disk == sum(part.size for part in result.components) == sum(f.size for f in result.checkpoint.files)
    )
    assert [(part.name, part.parameters, part.predicted) for part in result.components] == [
        ("transformer", PARAMETERS, PARAMETERS),
        ("text_encoder", PARAMETERS + layer, PARAMETERS + layer),
    ]
    assert {(role.tower, role.tensors) for role in result.roles if role.role == "q_proj"} == {
        ("transformer", 1),
        ("text_encoder", 2),
    }
    assert all(role.parameters == role.predicted_parameters for role in result.roles)
    assert [(d.dtype, d.tensors, d.elements, d.bytes) for d in result.dtypes] == [
        ("BF16", 12 + 21, result.logical, 2 * result.logical)
    ]
    assert len(result.tensors) == 33
    towers = [each.key.tower for each in result.tensors]
    assert towers == ["transformer"] * 12 + ["text_encoder"] * 21
    assert result.tensors[-1].key.tower == "text_encoder"
    assert [each.tensor for each in result.tensors[11:13]] == [result.tensors[11].tensor, result.tensors[12].tensor]
    assert not result.findings


def test_parts_in_pytorchs_own_format_are_counted(tmp_path: Path) -> None:
    """As diffusers writes them with `safe_serialization=False`: every part, or all but the text encoder."""
    for pickled in (["unet"], ["unet", "text_encoder"]):
        folder = together(tmp_path / str(len(pickled)), "unet", "text_encoder")
        rows = [(name, "BF16", row.shape) for row in inspector.predict(LLAMA).expected for name in row.names()]
        for part in pickled:
            (folder / part / "model.safetensors").unlink()
            sparse_torch.write(folder / part / "pytorch_model.bin", rows)
        (folder / "unet/training_args.bin").write_bytes(b"no weights")
        result = inspector.reconcile(inspector.open(folder))
        assert (result.logical, [part.name for part in result.components]) == (2 * PARAMETERS, ["unet", "text_encoder"])
        assert result.unexplained_bytes == 0


def test_a_linear_layer_after_sentences_is_predicted(tmp_path: Path) -> None:
    """LaBSE's layout, with Dense in either format: 8 × 4 and 4 numbers more than the body."""
    for suffix in ("safetensors", "bin"):
        folder = tmp_path / suffix
        save(folder, LLAMA)
        modules = [
            {"path": "", "type": "sentence_transformers.models.Transformer"},
            {"path": "2_Dense", "type": "sentence_transformers.models.Dense"},
        ]
        (folder / "modules.json").write_text(json.dumps(modules))
        (folder / "2_Dense").mkdir()
        own = {
            "in_features": 8,
            "out_features": 4,
            "bias": True,
            "activation_function": "torch.nn.modules.activation.Tanh",
        }
        (folder / "2_Dense/config.json").write_text(json.dumps(own))
        rows = [("linear.weight", "F32", (4, 8)), ("linear.bias", "F32", (4,))]
        if suffix == "bin":
            sparse_torch.write(folder / "2_Dense/pytorch_model.bin", rows)
        else:
            header = {
                "linear.weight": {"dtype": "F32", "shape": [4, 8], "data_offsets": [0, 128]},
                "linear.bias": {"dtype": "F32", "shape": [4], "data_offsets": [128, 144]},
            }
            write(folder / "2_Dense/model.safetensors", header, 144)
        result = inspector.reconcile(inspector.open(folder))
        assert result.prediction and result.prediction.parameters == result.logical == PARAMETERS + 36
        assert result.unexplained_bytes == 0


def test_three_models_in_a_pipeline(tmp_path: Path) -> None:
    result = inspector.reconcile(inspector.open(together(tmp_path / "p", "transformer", "vae", "text_encoder")))
    assert (len(result.tensors), result.logical) == (36, 3 * PARAMETERS)
    assert [result.tensors[at].key.tower for at in (0, 12, 35)] == ["transformer", "vae", "text_encoder"]
    with pytest.raises(IndexError):
        result.tensors[36]


def test_the_files_of_all_parts_are_the_weights() -> None:
    """Files beside them belong to no part; the finding that parts are not counted is dropped, others are kept."""
    vae = checkpoint(files=(SOUND._replace(path="vae"),), findings=(Finding("hole", "info", "of the vae"),))
    main = checkpoint(
        files=(SOUND,),
        findings=(Finding("several-checkpoints", "info", ""), Finding("view", "info", "of the main")),
        other=(OtherFiles("component", 1, 200), OtherFiles("config", 2, 30)),
    )
    parts = [
        pipeline.Part(Component("unet", "UNet", main), main, True),
        pipeline.Part(Component("vae", "VAE", vae), vae, False),
    ]
    whole = pipeline.whole(main, parts)
    assert [each.path for each in whole.files] == ["a.safetensors", "vae"]
    assert [each.message for each in whole.findings] == ["of the main", "of the vae"]
    assert whole.other == (OtherFiles("config", 2, 30),)
    assert pipeline.whole(main._replace(other=None), parts).other is None


def test_types_of_a_pipeline_are_summed_the_largest_first(tmp_path: Path) -> None:
    """A small part in BF16 before a larger one in F32; each part has its class, files, copies and types."""
    folder = together(tmp_path / "p", "transformer", "text_encoder")
    save(folder / "text_encoder", {**LLAMA, "num_hidden_layers": 3}, dtype="F32")
    shutil.copy(folder / "transformer" / "model.safetensors", folder / "transformer" / "model.fp16.safetensors")
    result = inspector.reconcile(inspector.open(folder))
    layer = PARAMETERS - 2 * 80 - 8
    assert result.dtypes == (
        DtypeSum("F32", 30, PARAMETERS + 2 * layer, 4 * (PARAMETERS + 2 * layer)),
        DtypeSum("BF16", 12, PARAMETERS, 2 * PARAMETERS),
    )
    small, large = result.components
    size = (folder / "transformer" / "model.safetensors").stat().st_size
    assert (small.kind, small.files, small.size, small.copies, small.dtypes) == (
        "LlamaForCausalLM",
        1,
        size,
        size,
        ("BF16",),
    )
    assert (large.copies, large.dtypes) == (0, ("F32",))


def test_a_tied_head_in_a_pipeline_is_in_its_tower(tmp_path: Path) -> None:
    tied = {**LLAMA, "tie_word_embeddings": True}
    result = inspector.reconcile(
        inspector.open(together(tmp_path / "p", "transformer", "text_encoder", kinds={"text_encoder": tied}))
    )
    assert result.prediction is not None
    assert [(row.role, row.tower) for row in result.prediction.tied] == [("lm_head", "text_encoder")]
    assert result.logical == result.prediction.parameters == 2 * PARAMETERS - 80


def test_packed_weights_of_a_pipeline_are_summed(tmp_path: Path) -> None:
    """One part in bitsandbytes' int8: its 8×8 projection and the other part's plain ones."""
    folder = together(tmp_path / "p", "transformer", "text_encoder")
    header = {
        "model.layers.0.self_attn.q_proj.weight": {"dtype": "I8", "shape": [8, 8], "data_offsets": [0, 64]},
        "model.layers.0.self_attn.q_proj.SCB": {"dtype": "F32", "shape": [8], "data_offsets": [64, 96]},
    }
    write(folder / "text_encoder" / "model.safetensors", header, 96)
    result = inspector.reconcile(inspector.open(folder))
    assert result.packed == PackedSum(64, 64, 32)
    assert result.packing and result.packing.scheme == "bitsandbytes-int8"
    assert result.logical == PARAMETERS + 64


def test_a_pipelines_part_without_a_table(tmp_path: Path) -> None:
    """The whole has no prediction; the bridge starts from the predicted parts, and every other byte is named."""
    folder = together(tmp_path / "pipe-7B", "transformer", "text_encoder")
    (folder / "text_encoder" / "config.json").write_text(json.dumps({"model_type": "unheard"}))
    result = inspector.reconcile(inspector.open(folder))
    assert (result.prediction, result.predicted, result.active) == (None, 1456, None)
    assert (result.logical, result.unexplained_bytes, len(result.unexplained)) == (2 * PARAMETERS, 1456, 12)
    assert result.nominal is None  # "7B" cannot be compared with a sum that is only partly known
    assert result.family == "llama"
    assert steps(result)


def test_a_pipeline_is_its_parts_and_not_the_file_beside_them(tmp_path: Path) -> None:
    """`v1-5-pruned.safetensors` beside the folders of the same model: Diffusers loads the folders."""
    folder = together(tmp_path / "p", "transformer", "text_encoder")
    save(folder, LLAMA, name="whole")
    result = inspector.reconcile(inspector.open(folder))
    assert result.is_pipeline
    assert result.logical == 2 * PARAMETERS
    assert [part.parameters for part in result.components] == [PARAMETERS, PARAMETERS]
    alone = inspector.reconcile(inspector.open(folder / "whole.safetensors"))
    assert (alone.logical, len(alone.checkpoint.files), alone.components) == (PARAMETERS, 1, ())
    assert pipeline.parts_of(alone.checkpoint) == ()


def test_towers_of_a_part_bear_its_name(tmp_path: Path) -> None:
    both = {"model_type": "bart", "d_model": 8, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2}
    both |= {"decoder_attention_heads": 2, "encoder_ffn_dim": 12, "decoder_ffn_dim": 12, "vocab_size": 10}
    both |= {"max_position_embeddings": 6, "architectures": ["BartModel"]}
    result = inspector.reconcile(
        inspector.open(together(tmp_path / "p", "transformer", "captioner", kinds={"captioner": both}))
    )
    towers = {role.tower for role in result.roles}
    assert {"transformer", "captioner encoder", "captioner decoder"} <= towers
    assert all(tower.split()[0] in ("transformer", "captioner") for tower in towers)
    rows = result.prediction.expected if result.prediction else ()
    assert {row.tower for row in rows} == towers - {"captioner"} | ({"captioner"} & {row.tower for row in rows})
