"""Checkpoints of which each rank of a run wrote a part: each tensor is whole, with every byte explained."""

from __future__ import annotations

import hashlib
import json
from contextlib import closing
from math import prod
from pathlib import Path

import pytest
import torch_files
from every import every
from hostile.torch_files import Saved, Tensors, torch_zip

import inspector
from inspector.errors import InspectorError
from inspector.measuring.stored import Stored
from inspector.model import Reconciliation

#: Width 8, 2 layers, 4 heads, 10 words, 16 hidden units: each of two ranks' parts, as cut by fairscale.
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


#: Files of real ranks, with the whole tensors (fixtures/makers/rank_files.py).
WRITTEN = {case["case"]: case for case in torch_files.cases(torch_files.FIXTURES.with_name("rank_files.jsonl"))}
#: In these, FSDP's flat parameters hold several weights each, and a file has all of the names or none.
_OTHERWISE = {"fully sharded, full", "fully sharded, local", "zero 1", "zero 2"}


@every("name", sorted(WRITTEN.keys() - _OTHERWISE))
def test_parts_are_put_together_as_torch_does(name: str, tmp_path: Path) -> None:
    """DTensor in one and two dimensions, FSDP, torch.distributed.checkpoint, ZeRO's third stage, Meta's shards.

    Each weight has the shape, dtype and bytes that its writer had. What a single file has whole is compared by shape.
    """
    target = torch_files.unpack(WRITTEN[name], tmp_path)
    parts = torch_files.wholes(target)
    listed = {each.tensor.name: each.tensor for each in reconciled(target).tensors}
    for tensor, dtype, shape, _, sha in WRITTEN[name]["tensors"]:
        if tensor in parts:
            assert parts[tensor] == (dtype, tuple(shape), sha), tensor
        assert (listed[tensor].dtype, listed[tensor].shape) == (dtype, tuple(shape))
    assert parts or len(WRITTEN[name]["files"]) == 1
    assert not [each for each in inspector.open(target).all_findings if each.severity == "error"]


@pytest.mark.parametrize("name", ["zero 1", "zero 2"])
def test_zero_keeps_the_weights_and_shares_out_the_rest(name: str, tmp_path: Path) -> None:
    """Stages 1 and 2: weights in BF16 with their names; full-width copies and moments in flat groups are state."""
    target = torch_files.unpack(WRITTEN[name], tmp_path)
    result = reconciled(target)
    state = next(step for step in result.steps if step.cause == "training_state")
    ranks = len(WRITTEN[name]["files"]) - 2  # the weights and `latest`
    for kind in ("exp_avg", "exp_avg_sq", "master weights"):
        assert f"{ranks} × {kind}" in state.detail.split(", ")
    expected = {tensor: (dtype, tuple(shape)) for tensor, dtype, shape, _, _ in WRITTEN[name]["tensors"]}
    listed = {each.tensor.name: (each.tensor.dtype, each.tensor.shape) for each in result.tensors if each.parameters}
    assert listed == expected
    assert result.logical == 66 + 2 * 42 + 7 + 6 + 3  # an embedding, two layers with biases, and the buffer
    assert result.dtype == "BF16"


def test_flat_parameters_of_fsdp_are_counted(tmp_path: Path) -> None:
    """FSDP's local state: three flat tensors in parts, of 66, 49 and 48 parameters, padded for three ranks."""
    result = reconciled(torch_files.unpack(WRITTEN["fully sharded, local"], tmp_path))
    shapes = {each.tensor.name: each.tensor.shape for each in result.tensors}
    assert {name.rpartition(".")[2] for name in shapes} == {"_flat_param", "freq"}
    assert 66 + 49 + 48 <= result.logical <= 66 + 49 + 48 + 3 * 2 + 3


@every("name", sorted(WRITTEN))
def test_ranks_files_add_up(name: str, tmp_path: Path) -> None:
    """For any files of ranks, the steps add up to the bytes on disk."""
    result = reconciled(torch_files.unpack(WRITTEN[name], tmp_path))
    start = result.nominal.bytes if result.nominal else result.predicted or 0
    assert start + sum(step.bytes for step in result.steps) + result.unexplained_bytes == result.on_disk


def test_a_rank_of_zero_that_is_missing_is_reported(tmp_path: Path) -> None:
    """Without the last rank's file, each weight lacks that rank's share."""
    target = torch_files.unpack(WRITTEN["zero 3"], tmp_path)
    for path in target.rglob("*zero_pp_rank_2_*"):
        path.unlink()
    found = [each for each in inspector.open(target).all_findings if each.severity == "error"]
    assert ("missing-shard", "embed.weight") in {(each.rule, each.tensor) for each in found}
    assert "its parts have 44 of 66 elements" in found[0].message


def test_a_file_of_a_collective_that_is_missing_is_reported(tmp_path: Path) -> None:
    target = torch_files.unpack(WRITTEN["fully sharded, collective"], tmp_path)
    (target / "__2_0.distcp").unlink()
    found = [each for each in inspector.open(target).all_findings if each.severity == "error"]
    assert "__2_0.distcp" in found[0].message and found[0].path == ".metadata"


def reconciled(target: Path) -> Reconciliation:
    return inspector.reconcile(inspector.open(target))


@pytest.mark.parametrize("embedding", [(10, 4), (5, 8)], ids=["width", "vocabulary"])
def test_metas_shards_are_whole_matrices(embedding: tuple[int, int], tmp_path: Path) -> None:
    """Llama 1 and 2 split the embedding along its width, Llama 3 along the vocabulary.

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
    """One file stands for its set; `alone` reads only the file."""
    folder = meta(tmp_path / "llama", (5, 8))
    one = folder / "consolidated.01.pth"
    assert len(inspector.open(one).files) == 2
    assert [header.path for header in inspector.open(one, alone=True).files] == [one.name]


def test_a_missing_rank_is_reported(tmp_path: Path) -> None:
    """The finding names rank 1 of three."""
    folder = meta(tmp_path / "llama", (5, 8), ranks=3)
    (folder / "consolidated.01.pth").unlink()
    messages = [finding.message for finding in inspector.open(folder).findings if finding.rule == "missing-shard"]
    assert messages == ["1 rank before the last one missing: 1"]


def test_biases_go_with_outputs(tmp_path: Path) -> None:
    """The bias of a split first projection is split, that of a last projection is on every rank."""
    tensors: Tensors = {
        "layers.0.attention.wq.bias": Saved((4,), "0"),
        "layers.0.attention.wo.bias": Saved((8,), "1"),
        "layers.0.attention_norm.weight": Saved((8,), "2"),
    }
    for rank in range(2):
        (tmp_path / f"consolidated.0{rank}.pth").write_bytes(torch_zip(tensors))
    shapes = {each.tensor.name: each.tensor.shape for each in reconciled(tmp_path).tensors}
    assert (shapes["layers.0.attention.wq.bias"], shapes["layers.0.attention.wo.bias"]) == ((8,), (8,))


@pytest.mark.parametrize("name", ["two dimensions", "fully sharded, collective", "zero 3", "meta, width"])
def test_values_of_whole_tensors(name: str, tmp_path: Path) -> None:
    """Readers of values get a whole tensor, from any element to any other."""
    target = torch_files.unpack(WRITTEN[name], tmp_path)
    result = reconciled(target)
    listed = {each.tensor.name: each for each in result.tensors}
    with closing(Stored(result.checkpoint)) as data:
        for tensor, _, shape, _, sha in WRITTEN[name]["tensors"]:
            each = listed[tensor]
            raw = data.raw(each.tensor, each.file)
            assert hashlib.sha256(raw).hexdigest()[:16] == sha
            width, total = len(raw) // prod(shape), prod(shape)
            assert (
                data.raw(each.tensor, each.file, total // 3, total // 2) == raw[total // 3 * width : total // 2 * width]
            )


# --- audits ---------------------------------------------------------------------------------------


@every("name", sorted(WRITTEN))
def test_files_of_real_ranks_have_no_errors_or_warnings(name: str, tmp_path: Path) -> None:
    """There are neither errors nor warnings; a note says that they are pickles."""
    target = torch_files.unpack(WRITTEN[name], tmp_path)
    reported = [each for model in inspector.audit([target]).checkpoints for each in model.findings]
    assert not [each for each in reported if each.severity != "info"]


def test_a_malicious_list_is_reported_and_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`.metadata` is unpickled by whoever loads the folder. Here nothing runs, and the audit reports what would."""
    monkeypatch.chdir(tmp_path)
    target = torch_files.unpack(WRITTEN["fully sharded, collective"], tmp_path / "model")
    (target / ".metadata").write_bytes(b"cos\nmkdir\n(S'ran'\ntR.")
    reported = [each for model in inspector.audit([target]).checkpoints for each in model.findings]
    assert ("pickle", ".metadata", "error") in {(each.rule, each.path, each.severity) for each in reported}
    with pytest.raises(InspectorError, match="metadata of torch"):
        inspector.open(target)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("cut", range(1, 8))
def test_a_damaged_list_is_one_line(cut: int, tmp_path: Path) -> None:
    target = torch_files.unpack(WRITTEN["two dimensions, collective"], tmp_path)
    path = target / ".metadata"
    path.write_bytes(path.read_bytes()[: path.stat().st_size * cut // 8])
    with pytest.raises(InspectorError, match=r"\.metadata"):
        inspector.open(target)
    assert "error" in {each.severity for model in inspector.audit([target]).checkpoints for each in model.findings}


def test_keys_that_are_not_names(tmp_path: Path) -> None:
    """Lists as keys, and in the paths to tensors: an error in one line, or they are skipped."""
    for keys in (b"]K\x01", b"X\x01\x00\x00\x00a]K\x01\x86"):
        state = (
            b"}(X\x13\x00\x00\x00state_dict_metadata}X\x0c\x00\x00\x00storage_data}X\x0c\x00\x00\x00planner_data}"
            + keys
            + b"su"
        )
        (tmp_path / ".metadata").write_bytes(
            b"\x80\x02ctorch.distributed.checkpoint.metadata\nMetadata\n)\x81" + state + b"b."
        )
        try:
            assert inspector.open(tmp_path).files == ()
        except InspectorError as error:
            assert "\n" not in str(error)


@pytest.mark.parametrize("keep", [0.2, 0.6, 0.95])
def test_a_ranks_file_that_is_cut_off(keep: float, tmp_path: Path) -> None:
    """The missing tensors are reported, and the sums hold."""
    target = torch_files.unpack(WRITTEN["two dimensions, collective"], tmp_path)
    path = target / "__1_0.distcp"
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * keep)])
    result = reconciled(target)
    assert "error" in {each.severity for each in result.findings}
    assert sum(step.bytes for step in result.steps) + result.unexplained_bytes == result.on_disk
