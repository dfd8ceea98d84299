"""Layers that are missing with a shard: the finding asks for the file that has them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from loopback import samples

import inspector

CONFIG = {
    "model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 8, "intermediate_size": 16,
    "vocab_size": 10, "num_hidden_layers": 4, "num_attention_heads": 2,
}  # fmt: skip
FILES = [f"model-{number:05}-of-00003.safetensors" for number in (1, 2, 3)]


def written(folder: Path, *, index: bool) -> None:
    """Four layers in three shards, each of nine weights: four of attention, three of the feed-forward part, two norms."""
    specs = [*samples.llama(4, 8, 16, 10)]
    (folder / "config.json").write_text(json.dumps(CONFIG))
    places: dict[str, str] = {}
    for number, file in enumerate(FILES):  # layers 0 and 1, 2, 3, with what belongs to none in the first
        own = [each for each in specs if min(2, max(0, _layer(each[0]) - 1)) == number]
        samples.safetensors(folder / file, own)
        places |= {name: file for name, *_ in own}
    if index:
        (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": places}))


def _layer(name: str) -> int:
    return int(name.split(".")[2]) if ".layers." in name else 0


@pytest.mark.parametrize("index", [True, False])
@pytest.mark.parametrize(("lost", "layer"), [(1, 2), (2, 3)])
def test_the_shard_that_has_them(lost: int, layer: int, tmp_path: Path, *, index: bool) -> None:
    written(tmp_path, index=index)
    (tmp_path / FILES[lost]).unlink()
    found = [each.message for each in inspector.reconcile(inspector.open(tmp_path)).findings if each.rule == "missing"]
    assert found == [f"layer {layer} predicted and not stored, with 9 tensors: {FILES[lost]}?"]


def test_of_several_only_the_index_knows(tmp_path: Path) -> None:
    written(tmp_path, index=True)
    for file in FILES[1:]:
        (tmp_path / file).unlink()
    found = [each.message for each in inspector.reconcile(inspector.open(tmp_path)).findings if each.rule == "missing"]
    assert found == [f"layers 2–3 predicted and not stored, with 18 tensors: {FILES[1]}?"]
    (tmp_path / "model.safetensors.index.json").unlink()
    found = [each.message for each in inspector.reconcile(inspector.open(tmp_path)).findings if each.rule == "missing"]
    assert found == ["layers 2–3 predicted and not stored, with 18 tensors"]
