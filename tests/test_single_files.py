"""Single files of diffusion models under their authors' names: recognised by these, counted and predicted."""

from __future__ import annotations

import json
import re
from functools import cache
from math import prod
from pathlib import Path
from typing import Any

import cases
import folders
import pytest
import sparse
from every import every

import inspector
from inspector.architectures.data.roles import ROLES
from inspector.architectures.facts import facts
from inspector.architectures.store import store

#: Prefixes of names that are the same for all writers of the file.
OWN = ("text_encoders.", "vae.", "model.", "first_stage_model.", "cond_stage_model.", "conditioner.", "control_model.")


@cache
def signed() -> list[Any]:
    """The cases whose types are recognised by names, as written by their authors and by ComfyUI."""
    found = []
    typed = re.compile(rf'"model_type": "({"|".join(map(re.escape, store().signs))})"')
    for path in sorted(cases.FOLDER.glob("*.txt")):
        if not typed.search(path.read_text()):  # there are few, and reading all takes seconds
            continue
        for number, case in enumerate(cases.load(path)):
            if case.config.get("model_type") not in store().signs:
                continue
            found.append(pytest.param(case, "", id=f"{path.stem}-{number}"))
            if not any(name.startswith(("model.", "control_model.", "encoder.")) for name in case.shapes):
                found.append(pytest.param(case, "model.diffusion_model.", id=f"{path.stem}-{number}-comfyui"))
    return found


@every(("case", "beginning"), signed, parts=6)
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


#: Single files with diffusers' names: the class, its fields, the prefix of the names. ComfyUI stores
#: Qwen-Image in this way, and HunyuanVideo's authors their autoencoder.
AS_DIFFUSERS: list[tuple[dict[str, Any], str]] = [
    ({"_class_name": "QwenImageTransformer2DModel", "num_layers": 2}, "model.diffusion_model."),
    ({"_class_name": "AutoencoderKLHunyuanVideo"}, ""),
]


@pytest.mark.parametrize(("fields", "beginning"), AS_DIFFUSERS)
def test_diffusers_names_without_a_configuration(fields: dict[str, Any], beginning: str, tmp_path: Path) -> None:
    predicted = inspector.predict(fields).expected
    names = {row.name_of(key): row.shape for row in predicted for key in row.keys()}
    path = tmp_path / "model.safetensors"
    sparse.write_safetensors(path, [("BF16", list(shape), beginning + name) for name, shape in names.items()])
    report = inspector.reconcile(inspector.open(path))
    assert report.prediction is not None
    assert report.prediction.config.model_type == fields["_class_name"]
    assert report.unexplained == ()
    assert report.logical == report.prediction.parameters == sum(map(prod, names.values()))


def test_averaged_weights_beside_the_denoiser(tmp_path: Path) -> None:
    """Stable Diffusion's first files hold each weight of the denoiser again, averaged, in a name without dots."""
    predicted = inspector.predict({"model_type": "stable-diffusion-1", "has_vae": True, "vae_quant": True}).expected
    names = {row.name_of(key): row.shape for row in predicted for key in row.keys()}
    denoiser = {name: shape for name, shape in names.items() if name.startswith("model.")}
    averages = {f"model_ema.{name.removeprefix('model.').replace('.', '')}": each for name, each in denoiser.items()}
    stored = {**names, **averages, "model_ema.decay": (), "model_ema.num_updates": ()}
    assert (len(denoiser), "model_ema.diffusion_modelinput_blocks00weight" in stored) == (686, True)
    path = tmp_path / "model.safetensors"
    sparse.write_safetensors(path, [("F32", list(shape), name) for name, shape in stored.items()])
    report = inspector.reconcile(inspector.open(path))
    assert report.unexplained == ()
    assert report.logical == 859_520_964 + 83_653_863  # the denoiser and the autoencoder, each once


#: Parameters as in the models' repositories, or as sums over diffusers' models.
PUBLISHED: dict[str, tuple[dict[str, Any], int]] = {
    "Stable Diffusion 1's denoiser": ({"model_type": "stable-diffusion-1"}, 859_520_964),
    "Stable Diffusion 2's denoiser": ({"model_type": "stable-diffusion-2"}, 865_910_724),
    "Stable Diffusion XL's denoiser": ({"model_type": "stable-diffusion-xl"}, 2_567_463_684),
    "their autoencoder": ({"model_type": "ldm-autoencoder", "vae_quant": True}, 83_653_863),
    "FLUX.1 dev": ({"model_type": "flux", "guidance_embed": True}, 11_901_408_320),
    "Qwen-Image": ({"_class_name": "QwenImageTransformer2DModel"}, 20_430_401_088),
    "HunyuanVideo": ({"model_type": "hunyuan_video", "guidance_embed": True}, 12_821_012_544),
    "Wan 2.1's autoencoder": ({"model_type": "wan-vae"}, 126_892_531),
    "Wan 2.2's autoencoder": ({"model_type": "wan-2.2-vae"}, 704_688_668),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_counts(name: str) -> None:
    fields, parameters = PUBLISHED[name]
    assert inspector.predict(fields).parameters == parameters


def test_a_sentence_models_longest_input_is_its_own(tmp_path: Path) -> None:
    """sentence-transformers cuts at its own file's length, whatever positions the model has: 256 of all-MiniLM's 512."""
    folders.model(tmp_path)
    values = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**values, "max_position_embeddings": 512}))
    for text, context in (('{"max_seq_length": 256}', 256), ('{"max_seq_length": null}', 512), ("[", 512)):
        (tmp_path / "sentence_bert_config.json").write_text(text)
        config = inspector.open(tmp_path).config
        assert {fact.name: fact.value for fact in facts(config)}["context"] == context
