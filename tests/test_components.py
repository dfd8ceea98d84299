"""Repositories of several models: each part has its line, the repository a sum, and every file a kind."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cases
import pytest
import sparse

import inspector
from inspector.report.text import first_lines

FOLDER = Path(sparse.__file__).parent / "composite"
NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))


def recipe(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text())
    return loaded


@pytest.mark.parametrize("name", NAMES)
def test_each_part_is_counted(name: str, tmp_path: Path) -> None:
    """The parts are those that the library saved, each with the number of parameters that PyTorch counted.

    BERT's and CLIP's position ids are buffers; parameters are stated without them.
    """
    made = recipe(name)
    result = inspector.reconcile(inspector.open(sparse.make(made, tmp_path / "model")))
    assert {part.name: part.parameters for part in result.components} == made["expected"]


def test_each_part_is_predicted_from_its_own_configuration(tmp_path: Path) -> None:
    """A denoiser, an autoencoder and a text encoder are each predicted by the table of their class, to the byte."""
    made = recipe("stable-diffusion")
    folder = sparse.make(made, tmp_path / "model")
    result = inspector.reconcile(inspector.open(folder))
    assert {part.name: part.predicted for part in result.components} == made["expected"]
    for name in made["expected"]:
        part = inspector.reconcile(inspector.open(folder / name))
        assert part.unexplained_bytes == 0
        assert not part.unexplained
        assert {step.cause for step in part.steps} <= {"header", "buffer", "mixed_dtype"}


def test_a_class_without_a_table_is_reported(tmp_path: Path, inspect: Callable[..., Any]) -> None:
    """A configuration of diffusers is named by its class, and read as the class whose fields and tensors it has."""
    made = recipe("stable-diffusion")
    made["beside"]["unet/config.json"]["_class_name"] = "NewTransformer2DModel"
    out = inspect(sparse.make(made, tmp_path / "model") / "unet", "--full").out
    assert "no table for NewTransformer2DModel; read as UNet2DConditionModel" in out
    assert "as is stored" in out


def test_older_names_of_an_autoencoders_attention(tmp_path: Path) -> None:
    """`query` and `proj_attn`, as in Stable Diffusion's first files, are `to_q` and `to_out.0`."""
    made = recipe("stable-diffusion")
    path = "vae/diffusion_pytorch_model.safetensors"
    words = {".to_q.": ".query.", ".to_k.": ".key.", ".to_v.": ".value.", ".to_out.{0..0}.": ".proj_attn."}
    for entry in made["files"][path]["tensors"]:
        for new, old in words.items():
            entry[2] = entry[2].replace(new, old)
    assert any("proj_attn" in entry[2] for entry in made["files"][path]["tensors"])
    result = inspector.reconcile(inspector.open(sparse.make(made, tmp_path / "model") / "vae"))
    assert result.logical == made["expected"]["vae"]
    assert {step.cause for step in result.steps} == {"header"}


def test_bytes_of_a_pipeline_are_separate(tmp_path: Path, inspect: Callable[..., Any]) -> None:
    """Second copies and configurations have kinds, which sum to all that lies beside the weights of the parts."""
    folder = sparse.make(recipe("stable-diffusion"), tmp_path / "model")
    document = inspect(folder, "--json").json
    kinds = {each["kind"]: each["size"] for each in document["repository"]["other"]}
    sizes = {path.relative_to(folder).as_posix(): path.stat().st_size for path in folder.rglob("*") if path.is_file()}
    assert kinds["duplicate"] == sum(size for path, size in sizes.items() if ".fp16." in path)
    assert "component" not in kinds
    assert document["reconciliation"]["on_disk"] == sum(part["size"] for part in document["components"])
    assert document["repository"]["size"] == sum(sizes.values())
    assert sum(kinds.values()) + document["reconciliation"]["on_disk"] == sum(sizes.values())
    assert {part["name"]: part["class"] for part in document["components"]} == {
        "unet": "UNet2DConditionModel",
        "vae": "AutoencoderKL",
        "text_encoder": "CLIPTextModel",
    }


def test_the_overview_has_a_line_a_part_and_their_sum(tmp_path: Path, inspect: Callable[..., Any]) -> None:
    """The sum of a sentence-transformers model includes its dense layer."""
    out = inspect(sparse.make(recipe("sentence-transformer"), tmp_path / "model"), "--full").out
    assert "2_Dense" in out
    assert "24,048" in out


@pytest.mark.parametrize(
    "index", ["", "[", "[" * 5000, "7", '{"unet": 3, "vae": []}', '[{"path": "../../etc", "type": "a.B"}, 4]']
)
def test_a_senseless_index_of_parts_is_as_none(index: str, tmp_path: Path) -> None:
    """An unreadable index of parts does not hide the weights that are there."""
    folder = sparse.make(recipe("stable-diffusion"), tmp_path / "model")
    (folder / "model_index.json").write_text(index)
    result = inspector.reconcile(inspector.open(folder))
    assert result.components == ()
    assert result.on_disk


def test_a_damaged_part_is_counted_as_unreadable(tmp_path: Path) -> None:
    """The other parts are still counted when one part's file is broken."""
    folder = sparse.make(recipe("stable-diffusion"), tmp_path / "model")
    (folder / "vae" / "diffusion_pytorch_model.safetensors").write_bytes(b"\x00" * 7)
    result = inspector.reconcile(inspector.open(folder))
    parts = {part.name: part for part in result.components}
    assert (parts["vae"].parameters, parts["vae"].size) == (0, 7)
    assert parts["unet"].parameters == recipe("stable-diffusion")["expected"]["unet"]


@pytest.mark.parametrize("name", NAMES)
def test_the_headline_is_the_whole_pipeline(name: str, tmp_path: Path, inspect: Callable[..., Any]) -> None:
    """Parameters, files, roles and tensors are those of all parts, as counted by PyTorch; each part is a tower."""
    made = recipe(name)
    folder = sparse.make(made, tmp_path / "model")
    document = inspect(folder, "--json", "--tensors").json
    total = sum(made["expected"].values())
    assert document["parameters"]["logical"] == total
    assert sum(role["parameters"] for role in document["roles"]) == total
    assert sum(tensor["parameters"] for tensor in document["tensors"]) == total
    assert len(document["files"]) == len(document["components"])
    assert sum(file["size"] for file in document["files"]) == document["reconciliation"]["on_disk"]
    bridge = document["reconciliation"]
    steps = sum(step["bytes"] for step in bridge["steps"])
    assert (bridge["predicted"] or 0) + steps + bridge["unexplained"]["bytes"] == bridge["on_disk"]
    towers = {role["tower"] for role in document["roles"]}
    assert {part["name"] for part in document["components"]} == {tower.split()[0] for tower in towers}
    assert {(t["role"] or "other", t["tower"]) for t in document["tensors"]} <= {
        (role["role"], role["tower"]) for role in document["roles"]
    }
    shown = inspect(folder, "--full").out
    assert f"{len(document['components'])} models together: " in shown
    (headline,) = [line for line in shown.splitlines() if line.startswith("parameters ")]
    assert headline.split()[1] == f"{total:,}"


def test_one_part_of_a_pipeline_is_inspected_alone(tmp_path: Path, inspect: Callable[..., Any]) -> None:
    """A part is selected by its path, or by `--include`."""
    made = recipe("stable-diffusion")
    folder = sparse.make(made, tmp_path / "model")
    for arguments in ([folder / "vae"], [folder, "--include", "vae/*"]):
        document = inspect(*arguments, "--json").json
        assert document["parameters"]["logical"] == made["expected"]["vae"]
        assert len(document["files"]) == 1


def test_the_safety_checker_is_not_a_whole_clip(tmp_path: Path) -> None:
    """As Stable Diffusion 1.x publishes it: CLIP's vision under its older name, concepts, thresholds, position ids."""
    case = next(case for case in cases.load(cases.FOLDER / "clip.txt") if "SafetyChecker" in case.source)
    names = {
        name.replace("vision_model.", "vision_model.vision_model.", 1): shape for name, shape in case.shapes.items()
    }
    entries = [("F32", list(shape), name) for name, shape in names.items()]
    entries.append(("I64", [1, 17], "vision_model.vision_model.embeddings.position_ids"))
    sparse.write_safetensors(tmp_path / "model.safetensors", entries)
    (tmp_path / "config.json").write_text(json.dumps(case.config))
    result = inspector.reconcile(inspector.open(tmp_path))
    assert result.prediction is not None
    assert result.logical == result.prediction.parameters == 23_124  # as counted by PyTorch
    assert ({step.cause for step in result.steps}, result.findings) == ({"buffer", "header"}, ())


def test_a_pipeline_is_called_by_its_class(tmp_path: Path) -> None:
    """The title is that of model_index.json, not of one of its parts."""
    recipe = json.loads((FOLDER / "stable-diffusion.json").read_text())
    result = inspector.reconcile(inspector.open(sparse.make(recipe, tmp_path / "sd")))
    assert result.checkpoint.composite == "StableDiffusionPipeline"
    assert first_lines(result)[0].startswith("1.69M parameters, StableDiffusionPipeline, F32, 6.81 MB: complete")
