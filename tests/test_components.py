"""Repositories of several models: each part has its line, the repository its sum, and every file its kind."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sparse

import inspector

FOLDER = Path(sparse.__file__).parent / "composite"
NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))


def recipe(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text())
    return loaded


@pytest.mark.parametrize("name", NAMES)
def test_each_part_is_counted(name: str, tmp_path: Path) -> None:
    """The parts are those that the library saved, each with as many parameters as PyTorch counted.

    BERT's and CLIP's position ids are buffers; the parameters are told without them.
    """
    made = recipe(name)
    result = inspector.reconcile(inspector.open(sparse.make(made, tmp_path / "model")))
    assert {part.name: part.parameters for part in result.components} == made["expected"]


def test_each_part_is_predicted_from_its_own_configuration(tmp_path: Path) -> None:
    """A denoiser, an autoencoder and a text encoder, each by the table of its own class, with no byte unexplained."""
    made = recipe("stable-diffusion")
    folder = sparse.make(made, tmp_path / "model")
    result = inspector.reconcile(inspector.open(folder))
    assert {part.name: part.predicted for part in result.components} == made["expected"]
    for name in made["expected"]:
        part = inspector.reconcile(inspector.open(folder / name))
        assert part.unexplained_bytes == 0
        assert not part.unexplained
        assert {step.cause for step in part.steps} <= {"header", "buffer", "mixed_dtype"}


def test_a_class_without_a_table_is_said_to_have_none(tmp_path: Path, inspect: Callable[..., Any]) -> None:
    """A configuration of diffusers is named by its class, also where nothing is predicted from it."""
    made = recipe("stable-diffusion")
    made["beside"]["unet/config.json"]["_class_name"] = "NewTransformer2DModel"
    out = inspect(sparse.make(made, tmp_path / "model") / "unet").out
    assert "no prediction for model_type 'NewTransformer2DModel'" in out
    assert "NewTransformer2DModel: no prediction" in out


def test_older_names_of_an_autoencoders_attention(tmp_path: Path) -> None:
    """`query` and `proj_attn`, as Stable Diffusion's first files have them, are `to_q` and `to_out.0`."""
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


def test_bytes_of_a_pipeline_are_told_apart(tmp_path: Path, inspect: Callable[..., Any]) -> None:
    """Parts, second copies and configurations: the kinds sum to all that lies beside the inspected weights."""
    folder = sparse.make(recipe("stable-diffusion"), tmp_path / "model")
    document = inspect(folder, "--json").json
    kinds = {each["kind"]: each["size"] for each in document["repository"]["other"]}
    sizes = {path.relative_to(folder).as_posix(): path.stat().st_size for path in folder.rglob("*") if path.is_file()}
    assert kinds["duplicate"] == sum(size for path, size in sizes.items() if ".fp16." in path)
    assert kinds["component"] == sum(part["size"] for part in document["components"] if part["name"] != "unet")
    assert document["repository"]["size"] == sum(sizes.values())
    assert sum(kinds.values()) + document["reconciliation"]["on_disk"] == sum(sizes.values())
    assert {part["name"]: part["class"] for part in document["components"]} == {
        "unet": "UNet2DConditionModel",
        "vae": "AutoencoderKL",
        "text_encoder": "CLIPTextModel",
    }


def test_the_overview_has_a_line_a_part_and_their_sum(tmp_path: Path, inspect: Callable[..., Any]) -> None:
    """The sum of a sentence-transformers model has its dense layer in it."""
    out = inspect(sparse.make(recipe("sentence-transformer"), tmp_path / "model")).out
    assert "2_Dense" in out
    assert "24,048" in out


@pytest.mark.parametrize(
    "index", ["", "[", "[" * 5000, "7", '{"unet": 3, "vae": []}', '[{"path": "../../etc", "type": "a.B"}, 4]']
)
def test_a_senseless_index_of_parts_is_as_none(index: str, tmp_path: Path) -> None:
    """An index of parts that cannot be read hides nothing of the weights that are there."""
    folder = sparse.make(recipe("stable-diffusion"), tmp_path / "model")
    (folder / "model_index.json").write_text(index)
    result = inspector.reconcile(inspector.open(folder))
    assert result.components == ()
    assert result.on_disk


def test_a_damaged_part_is_counted_as_unreadable(tmp_path: Path) -> None:
    """One part's broken file leaves the others counted."""
    folder = sparse.make(recipe("stable-diffusion"), tmp_path / "model")
    (folder / "vae" / "diffusion_pytorch_model.safetensors").write_bytes(b"\x00" * 7)
    result = inspector.reconcile(inspector.open(folder))
    parts = {part.name: part for part in result.components}
    assert (parts["vae"].parameters, parts["vae"].size) == (0, 7)
    assert parts["unet"].parameters == recipe("stable-diffusion")["expected"]["unet"]
