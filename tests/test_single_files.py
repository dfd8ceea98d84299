"""Single files of the diffusion world in their authors' names: known by these, counted, predicted, without a configuration."""

from __future__ import annotations

from math import prod
from pathlib import Path
from typing import Any

import cases
import pytest
import sparse

import inspector
from inspector.architectures.data.roles import ROLES
from inspector.architectures.store import store

#: Beginnings of names that are the same whoever stores the file.
OWN = ("text_encoders.", "vae.", "model.", "first_stage_model.", "cond_stage_model.", "conditioner.", "control_model.")


def signed() -> list[Any]:
    """The cases whose types are known by their names, each as its authors write it and as ComfyUI does."""
    found = []
    for path in sorted(cases.FOLDER.glob("*.txt")):
        for number, case in enumerate(cases.load(path)):
            if case.config.get("model_type") not in store().signs:
                continue
            found.append(pytest.param(case, "", id=f"{path.stem}-{number}"))
            if not any(name.startswith(("model.", "control_model.", "encoder.")) for name in case.shapes):
                found.append(pytest.param(case, "model.diffusion_model.", id=f"{path.stem}-{number}-comfyui"))
    return found


@pytest.mark.parametrize(("case", "beginning"), signed())
def test_a_file_alone_is_known_by_its_names(case: cases.Case, beginning: str, tmp_path: Path) -> None:
    """Each tensor has a role, all are predicted from a few of them, and none is left over."""
    alone = {name if name.startswith(OWN) else beginning + name: shape for name, shape in case.shapes.items()}
    path = tmp_path / "model.safetensors"
    sparse.write_safetensors(path, [("F16", list(shape), name) for name, shape in alone.items()])
    report = inspector.reconcile(inspector.open(path))
    assert report.unexplained == ()
    assert [each.tensor.name for each in report.tensors if each.key.role not in ROLES.keys() - {"other"}] == []
    assert report.prediction is not None
    assert report.prediction.config.model_type == case.config["model_type"]
    weights = [shape for name, shape in alone.items() if not name.endswith("pos_embed")]
    assert report.logical == report.prediction.parameters == sum(map(prod, weights))


def test_diffusers_names_without_a_configuration(tmp_path: Path) -> None:
    """ComfyUI stores Qwen-Image under diffusers' names, behind a beginning of its own."""
    predicted = inspector.predict({"_class_name": "QwenImageTransformer2DModel", "num_layers": 2}).expected
    names = {row.name_of(key): row.shape for row in predicted for key in row.keys()}
    path = tmp_path / "model.safetensors"
    entries = [("BF16", list(shape), f"model.diffusion_model.{name}") for name, shape in names.items()]
    sparse.write_safetensors(path, entries)
    report = inspector.reconcile(inspector.open(path))
    assert report.prediction is not None
    assert report.prediction.config.model_type == "QwenImageTransformer2DModel"
    assert report.unexplained == ()
    assert report.logical == report.prediction.parameters == sum(map(prod, names.values()))


#: Parameters as the models' repositories, or sums over diffusers' models, have them.
PUBLISHED: dict[str, tuple[dict[str, Any], int]] = {
    "Stable Diffusion 1's denoiser": ({"model_type": "stable-diffusion-1"}, 859_520_964),
    "Stable Diffusion 2's denoiser": ({"model_type": "stable-diffusion-2"}, 865_910_724),
    "Stable Diffusion XL's denoiser": ({"model_type": "stable-diffusion-xl"}, 2_567_463_684),
    "their autoencoder": ({"model_type": "ldm-autoencoder", "vae_quant": True}, 83_653_863),
    "FLUX.1 dev": ({"model_type": "flux", "guidance_embed": True}, 11_901_408_320),
    "Qwen-Image": ({"_class_name": "QwenImageTransformer2DModel"}, 20_430_401_088),
    "HunyuanVideo": ({"model_type": "hunyuan_video", "guidance_embed": True}, 12_821_012_544),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_counts(name: str) -> None:
    fields, parameters = PUBLISHED[name]
    assert inspector.predict(fields).parameters == parameters
