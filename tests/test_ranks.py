"""Checkpoints of which each rank of a run wrote its part: one tensor each, whole, with every byte explained."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hostile.torch_files import Saved, Tensors, torch_zip

import inspector
from inspector.model import Reconciliation

#: Width 8, 2 layers, 4 heads, 10 words, 16 hidden units: what each of two ranks has, as fairscale cuts it.
CUT: dict[str, tuple[int, ...]] = {
    "attention.wq": (4, 8),
    "attention.wk": (4, 8),
    "attention.wv": (4, 8),
    "attention.wo": (8, 4),
    "feed_forward.w1": (8, 8),
    "feed_forward.w2": (8, 8),
    "feed_forward.w3": (8, 8),
    "attention_norm": (8,),
    "ffn_norm": (8,),
}
PARAMS = {
    "dim": 8,
    "n_layers": 2,
    "n_heads": 4,
    "vocab_size": 10,
    "multiple_of": 8,
    "ffn_dim_multiplier": 0.76,
    "norm_eps": 1e-5,
}


def meta(folder: Path, embedding: tuple[int, int], ranks: int = 2) -> Path:
    shapes: dict[str, tuple[int, ...]] = {"tok_embeddings": embedding, "norm": (8,), "output": (5, 8)}
    shapes |= {f"layers.{layer}.{name}": shape for layer in range(2) for name, shape in CUT.items()}
    tensors: Tensors = {
        f"{name}.weight": Saved(shape, str(at), "BFloat16Storage") for at, (name, shape) in enumerate(shapes.items())
    }
    folder.mkdir()
    for rank in range(ranks):
        (folder / f"consolidated.{rank:02d}.pth").write_bytes(torch_zip(tensors))
    (folder / "params.json").write_text(json.dumps(PARAMS))
    return folder


def reconciled(target: Path) -> Reconciliation:
    return inspector.reconcile(inspector.open(target))


@pytest.mark.parametrize("embedding", [(10, 4), (5, 8)], ids=["width", "vocabulary"])
def test_metas_shards_are_whole_matrices(embedding: tuple[int, int], tmp_path: Path) -> None:
    """Llama 1 and 2 cut the embedding along its width, Llama 3 along the vocabulary.

    2 × (4 × 8 × 8 + 3 × 16 × 8 + 2 × 8) + 2 × 10 × 8 + 8 parameters; the second rank's five norms are copies.
    """
    result = reconciled(meta(tmp_path / "llama", embedding))
    shapes = {each.tensor.name: each.tensor.shape for each in result.tensors}
    assert shapes["tok_embeddings.weight"] == shapes["output.weight"] == (10, 8)
    assert shapes["layers.1.attention.wq.weight"] == shapes["layers.1.attention.wo.weight"] == (8, 8)
    assert (shapes["layers.0.feed_forward.w1.weight"], shapes["layers.0.feed_forward.w2.weight"]) == ((16, 8), (8, 16))
    assert shapes["norm.weight"] == (8,)
    assert result.logical == 2 * (4 * 64 + 3 * 128 + 16) + 160 + 8 == result.prediction.parameters  # type: ignore[union-attr]
    steps = {step.cause: step.bytes for step in result.steps}
    assert (steps["duplicate"], result.unexplained_bytes, "shape" in steps) == (5 * 8 * 2, 0, False)
    assert not [finding for finding in result.findings if finding.severity == "error"]


def test_one_shard_stands_for_all(tmp_path: Path) -> None:
    """Named by one file, the set is what is looked at; `alone`, the file."""
    folder = meta(tmp_path / "llama", (5, 8))
    one = folder / "consolidated.01.pth"
    assert len(inspector.open(one).files) == 2
    assert [header.path for header in inspector.open(one, alone=True).files] == [one.name]


def test_a_missing_rank_is_told(tmp_path: Path) -> None:
    """Rank 1 of three."""
    folder = meta(tmp_path / "llama", (5, 8), ranks=3)
    (folder / "consolidated.01.pth").unlink()
    messages = [finding.message for finding in inspector.open(folder).findings if finding.rule == "missing-shard"]
    assert messages == ["1 rank before the last one not there: 1"]


def test_biases_go_with_outputs(tmp_path: Path) -> None:
    """A first projection's bias is cut, a last one's is every rank's."""
    tensors: Tensors = {
        "layers.0.attention.wq.bias": Saved((4,), "0"),
        "layers.0.attention.wo.bias": Saved((8,), "1"),
        "layers.0.attention_norm.weight": Saved((8,), "2"),
    }
    for rank in range(2):
        (tmp_path / f"consolidated.0{rank}.pth").write_bytes(torch_zip(tensors))
    shapes = {each.tensor.name: each.tensor.shape for each in reconciled(tmp_path).tensors}
    assert (shapes["layers.0.attention.wq.bias"], shapes["layers.0.attention.wo.bias"]) == ((8,), (8,))
