"""Several models in one folder are each audited, by their own configuration or by their tensors."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spoilt
from conftest import Ran
from every import every

from inspector.auditing.run import audit
from inspector.model import Finding

Run = Callable[..., Ran]
UP = "model.layers.1.mlp.up_proj.weight"


def llama(path: Path, hidden: int = 64, *, without: str = "", damaged: bool = False) -> dict[str, Any]:
    """A small Llama in one file; its configuration."""
    model = spoilt.Drawn(hidden, path.parent)
    model.hidden, model.inner, model.layers, model.dtype = hidden, 3 * hidden, 3, "BF16"
    sizes = {"hidden_size": hidden, "intermediate_size": 3 * hidden, "num_hidden_layers": 3}
    tensors = model.llama()
    if damaged:
        tensors["model.layers.2.self_attn.q_proj.weight"] = tensors["model.layers.0.self_attn.q_proj.weight"]
    path.parent.mkdir(parents=True, exist_ok=True)
    spoilt.safetensors(path, {name: spoilt.bf16(values) for name, values in tensors.items() if name != without})
    return {**model.config, **sizes}


def gpt2(path: Path, *, without: str = "") -> dict[str, Any]:
    draw, size = np.random.default_rng(8), 48
    shapes = {"wte.weight": (300, size), "wpe.weight": (64, size), "ln_f.weight": (size,), "ln_f.bias": (size,)}
    for layer in range(2):
        stem = f"h.{layer}."
        shapes |= {f"{stem}ln_{n}.{part}": (size,) for n in (1, 2) for part in ("weight", "bias")}
        for name, rows, columns in (
            ("attn.c_attn", size, 3 * size),
            ("attn.c_proj", size, size),
            ("mlp.c_fc", size, 4 * size),
            ("mlp.c_proj", 4 * size, size),
        ):
            shapes |= {f"{stem}{name}.weight": (rows, columns), f"{stem}{name}.bias": (columns,)}
    tensors = {name: draw.normal(0, 0.02, shape).astype("<f4") for name, shape in shapes.items() if name != without}
    spoilt.safetensors(path, tensors)
    sizes = {"n_embd": size, "n_layer": 2, "n_head": 4, "n_positions": 64, "vocab_size": 300}
    return {"model_type": "gpt2", "architectures": ["GPT2Model"], **sizes}


def lora(path: Path) -> object:
    draw = np.random.default_rng(4)
    stem = "base_model.model.model.layers.0.self_attn.q_proj.lora_"
    tensors = {f"{stem}A.weight": draw.normal(0, 0.1, (8, 64)), f"{stem}B.weight": np.zeros((64, 8))}
    return spoilt.safetensors(path, {name: values.astype("<f4") for name, values in tensors.items()})


def document(path: Path, config: dict[str, Any]) -> int:
    return path.write_text(json.dumps(config))


def found(folder: Path, *, data: bool = False) -> list[Finding]:
    """Errors and warnings of the folder as one target."""
    checked = audit([folder], data=data).checkpoints
    return [finding for each in checked for finding in each.findings if finding.severity != "info"]


def halves(folder: Path) -> None:
    """Two files that are the model only together: pieces, not models of their own."""
    document(folder / "config.json", llama(folder / "whole.safetensors"))
    raw = (folder / "whole.safetensors").read_bytes()
    (folder / "whole.safetensors").unlink()
    length = int.from_bytes(raw[:8], "little")
    entries = json.loads(raw[8 : 8 + length])
    entries.pop("__metadata__")
    names = list(entries)
    for name, part in (("first", names[:12]), ("second", names[12:])):
        tensors = {each: raw[slice(*(8 + length + at for at in entries[each]["data_offsets"]))] for each in part}
        spoilt.safetensors(
            folder / f"{name}.safetensors",
            {
                each: np.frombuffer(data, "<u2").view(spoilt.BF16).reshape(entries[each]["shape"])
                for each, data in tensors.items()
            },
        )


Make = Callable[[Path], object]


def both(folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    return llama(folder / "a.safetensors"), gpt2(folder / "b.safetensors")


SOUND: dict[str, Make] = {
    "no configuration": both,
    "the first one's": lambda folder: document(folder / "config.json", both(folder)[0]),
    "the second one's": lambda folder: document(folder / "config.json", both(folder)[1]),
    "one of each name": lambda folder: [
        document(folder / f"{name}.json", config) for name, config in zip("ab", both(folder), strict=True)
    ],
    "two of one kind": lambda folder: (
        document(folder / "config.json", llama(folder / "a.safetensors")),
        llama(folder / "b.safetensors", 96),
    ),
    "a file twice": lambda folder: (
        llama(folder / "a.safetensors"),
        shutil.copy(folder / "a.safetensors", folder / "b.safetensors"),
    ),
    "adapters": lambda folder: [lora(folder / f"{name}.safetensors") for name in ("style", "voice")],
    "an adapter beside a model": lambda folder: (
        document(folder / "config.json", llama(folder / "model.safetensors")),
        lora(folder / "style.safetensors"),
    ),
    "halves of one model": halves,
}


@every("make", SOUND.values(), ids=SOUND)
def test_models_that_lie_together_are_sound(make: Make, tmp_path: Path) -> None:
    make(tmp_path)
    assert found(tmp_path) == []


BROKEN: dict[str, tuple[Make, tuple[str, str, str]]] = {
    "the second is incomplete": (
        lambda folder: (llama(folder / "a.safetensors"), gpt2(folder / "b.safetensors", without="h.1.mlp.c_fc.weight")),
        ("missing", "b.safetensors", "transformer.h.1.mlp.c_fc.weight"),
    ),
    "the first is incomplete": (
        lambda folder: (llama(folder / "a.safetensors", without=UP), gpt2(folder / "b.safetensors")),
        ("missing", "a.safetensors", UP),
    ),
    "the one beside is incomplete": (
        lambda folder: (
            document(folder / "config.json", llama(folder / "model.safetensors")),
            llama(folder / "other.safetensors", 96, without=UP),
        ),
        ("missing", "other.safetensors", UP),
    ),
    "another's name has another's configuration": (
        lambda folder: document(folder / "a.json", {**both(folder)[0], "intermediate_size": 128}),
        ("shape", "a.safetensors", "model.layers.0.mlp.gate_proj.weight"),
    ),
}


@pytest.mark.parametrize(("make", "expected"), BROKEN.values(), ids=BROKEN)
def test_each_is_judged(make: Make, expected: tuple[str, str, str], tmp_path: Path) -> None:
    """Each fact has one finding, which names the file."""
    make(tmp_path)
    findings = found(tmp_path)
    assert [(each.rule, each.path) for each in findings[:1]] == [expected[:2]], findings
    assert expected in {(each.rule, each.path, each.tensor) for each in findings}


def test_data_is_judged_beside_its_own_model(tmp_path: Path) -> None:
    """A query was overwritten in the second model; the first one's layers are not compared with it."""
    llama(tmp_path / "a.safetensors", 96)
    llama(tmp_path / "b.safetensors", 64, damaged=True)
    (finding,) = found(tmp_path, data=True)
    assert (finding.rule, finding.path) == ("repeated-tensor", "b.safetensors")


def test_a_verdict_does_not_contradict_what_is_missing(tmp_path: Path, inspect: Run) -> None:
    """The library opens each shard that is there, and nothing else is reported."""
    document(tmp_path / "config.json", llama(tmp_path / "model-00001-of-00002.safetensors", without="lm_head.weight"))
    ran = inspect("audit", tmp_path)
    assert ran.code == 1
    assert "safetensors opens the 1 file that is present" in ran.out
    assert "safetensors opens it" not in ran.out
