"""Checkpoints of which each rank writes its part, with the whole tensors: fixtures/rank_files.jsonl.

Needs torch, and DeepSpeed for ZeRO's (without it, its cases stay as they are):

    python tools/make_rank_fixtures.py

Real processes write them, over gloo on this machine. A line is a case, as in tools/make_torch_fixtures.py: the files, and
each whole tensor's name, dtype, shape and the SHA-256 of its elements.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import socket
import sys
import tempfile
import warnings
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from make_torch_fixtures import row
from torch import distributed, multiprocessing, nn

OUT = Path(__file__).parents[1] / "fixtures" / "rank_files.jsonl"


class Small(nn.Module):
    """Sizes that no number of ranks divides, a buffer, and weights that are not trained."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(11, 6)
        self.layers = nn.ModuleList([nn.Linear(6, 7), nn.Linear(7, 6)])
        self.register_buffer("freq", torch.arange(3.0))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.embed(x)
        for layer in self.layers:
            x = layer(x)
        return x


def seeded() -> Small:
    torch.manual_seed(0)
    return Small()


def trained(model: nn.Module) -> torch.optim.Optimizer:
    optimizer = torch.optim.AdamW(model.parameters())
    model(torch.zeros(2, dtype=torch.long)).sum().backward()
    optimizer.step()
    return optimizer


# --- what each rank writes, and what is whole then: on rank 0 ----------------------------------------

Whole = dict[str, torch.Tensor]


def dtensors(rank: int, world: int, folder: Path) -> Whole:
    """`torch.save` of DTensors, cut along rows, columns, both, and not at all."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor

    mesh = init_device_mesh("cpu", (2, world // 2)) if world > 2 else init_device_mesh("cpu", (world,))
    whole = {
        "rows": torch.randn(7, 4),
        "columns": torch.randn(3, 6),
        "copies": torch.randn(5),
        "short": torch.randn(1, 2),
    }
    cuts = {"rows": [Shard(0)], "columns": [Shard(1)], "copies": [Replicate()], "short": [Shard(0)]}
    if world > 2:
        whole["both"], whole["twice"] = torch.randn(5, 9), torch.randn(11, 2)
        cuts = {
            name: [*cut, Replicate()] for name, cut in cuts.items()
        } | {"both": [Shard(0), Shard(1)], "twice": [Shard(0), Shard(0)]}  # fmt: skip
    state = {name: distribute_tensor(whole[name], mesh, cuts[name]) for name in whole}
    torch.save(state, folder / f"model_rank{rank}.pt")
    return whole


def two_dimensional(rank: int, world: int, folder: Path) -> Whole:
    """FSDP over tensor parallelism, by torch.distributed.checkpoint and by each rank itself."""
    from torch.distributed import checkpoint
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

    mesh = init_device_mesh("cpu", (2, world // 2), mesh_dim_names=("dp", "tp"))
    model = seeded()
    whole = {name: each.detach().clone() for name, each in model.state_dict().items()}
    plan = {"layers.0": ColwiseParallel(), "layers.1": RowwiseParallel()}
    parallelize_module(model, mesh["tp"], plan)
    fully_shard(model, mesh=mesh["dp"])
    state = model.state_dict()
    torch.save(state, folder / f"model_rank{rank}.pt")
    checkpoint.save({"model": state}, checkpoint_id=folder.with_name("two dimensions, collective"))
    return whole


def fully_sharded(kind: str) -> Callable[[int, int, Path], Whole]:
    """FSDP's first version, in one of its three ways to save."""

    def write(rank: int, world: int, folder: Path) -> Whole:
        from torch.distributed import checkpoint
        from torch.distributed.fsdp import FullyShardedDataParallel, StateDictType
        from torch.distributed.fsdp.wrap import ModuleWrapPolicy

        model = FullyShardedDataParallel(
            seeded(), device_id=torch.device("cpu"), auto_wrap_policy=ModuleWrapPolicy({nn.Linear})
        )
        optimizer = trained(model)
        with FullyShardedDataParallel.state_dict_type(model, StateDictType.FULL_STATE_DICT):
            whole = {name: each.clone() for name, each in model.state_dict().items()}
        with FullyShardedDataParallel.state_dict_type(model, StateDictType[f"{kind.upper()}_STATE_DICT"]):
            state = model.state_dict()
            if kind == "sharded":
                optim = FullyShardedDataParallel.optim_state_dict(model, optimizer)
                beside = folder.with_name("fully sharded, collective")
                checkpoint.save({"model": state, "optimizer": optim}, checkpoint_id=beside)
        torch.save(state, folder / f"pytorch_model_fsdp_rank{rank}.bin")
        if kind != "local":
            return whole
        return {name: torch.zeros(0) for name in state}  # flat parameters: their names are what is known

    return write


def zero(stage: int) -> Callable[[int, int, Path], Whole]:
    """DeepSpeed's ZeRO, with weights that are not trained; what its own script makes whole."""

    def write(rank: int, world: int, folder: Path) -> Whole:
        import deepspeed
        from deepspeed.utils.zero_to_fp32 import get_fp32_state_dict_from_zero_checkpoint

        # What it leaves out needs a compiler, and is for speed alone.
        vars(sys.modules["deepspeed.comm.torch"])["build_shm_op"] = lambda: None
        model = seeded()
        model.layers[1].requires_grad_(False)
        settings = {
            "train_micro_batch_size_per_gpu": 1,
            "zero_optimization": {"stage": stage, "stage3_param_persistence_threshold": 0, "sub_group_size": 60},
            "bf16": {"enabled": True},
            "optimizer": {"type": "AdamW", "params": {"torch_adam": True}},
        }
        parameters = [each for each in model.parameters() if each.requires_grad]
        engine, *_ = deepspeed.initialize(model=model, model_parameters=parameters, config=settings)
        engine.backward(engine(torch.zeros(2, dtype=torch.long)).float().sum())
        engine.step()
        engine.save_checkpoint(folder, tag="global_step1")
        for path in folder.glob("*.py"):
            path.unlink(missing_ok=True)
        if rank:
            return {}
        if stage == 3:
            return dict(get_fp32_state_dict_from_zero_checkpoint(folder))
        saved = torch.load(folder / "global_step1" / "mp_rank_00_model_states.pt", weights_only=False)
        return dict(saved["module"])

    return write


def metas(vocabulary: bool) -> Callable[[int, int, Path], Whole]:
    """Meta's shards: what fairscale's layers hold of each matrix."""

    def write(rank: int, world: int, folder: Path) -> Whole:
        torch.manual_seed(0)
        width, hidden, words = 16, 48, 24
        cuts: dict[str, tuple[list[int], int | None]] = {
            "tok_embeddings": ([words, width], 0 if vocabulary else 1), "norm": ([width], None), "output": ([words, width], 0),
            **{f"layers.0.attention.{name}": ([width, width], 0) for name in ("wq", "wk", "wv")},
            "layers.0.attention.wo": ([width, width], 1), "layers.0.feed_forward.w1": ([hidden, width], 0),
            "layers.0.feed_forward.w2": ([width, hidden], 1), "layers.0.feed_forward.w3": ([hidden, width], 0),
            "layers.0.attention_norm": ([width], None), "layers.0.ffn_norm": ([width], None),
        }  # fmt: skip
        whole = {f"{name}.weight": torch.randn(shape).bfloat16() for name, (shape, _) in cuts.items()}
        own = {
            f"{name}.weight": whole[f"{name}.weight"]
            if axis is None
            else whole[f"{name}.weight"].chunk(world, axis)[rank].clone()
            for name, (_, axis) in cuts.items()
        }
        torch.save(own, folder / f"consolidated.{rank:02d}.pth")
        return whole

    return write


CASES: dict[str, tuple[int, Callable[[int, int, Path], Whole]]] = {
    "dtensors, two ranks": (2, dtensors),
    "dtensors, four ranks": (4, dtensors),
    "two dimensions": (4, two_dimensional),
    "fully sharded": (3, fully_sharded("sharded")),
    "fully sharded, full": (2, fully_sharded("full")),
    "fully sharded, local": (3, fully_sharded("local")),
    "meta, width": (4, metas(vocabulary=False)),
    "meta, vocabulary": (2, metas(vocabulary=True)),
    "zero 1": (2, zero(1)),
    "zero 2": (3, zero(2)),
    "zero 3": (3, zero(3)),
}


def run(rank: int, world: int, port: int, name: str, folder: Path) -> None:
    warnings.simplefilter("ignore")
    os.environ.update(
        MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), RANK=str(rank), WORLD_SIZE=str(world), LOCAL_RANK=str(rank),
        DS_ACCELERATOR="cpu",
    )  # fmt: skip
    if not name.startswith("zero"):
        distributed.init_process_group("gloo", rank=rank, world_size=world)
    torch.manual_seed(0)
    whole = CASES[name][1](rank, world, folder)
    if rank == 0:
        rows = [row(key, each.detach().cpu()) for key, each in whole.items()]
        (folder / "rows.json").write_text(json.dumps(sorted(rows)))
    distributed.barrier()


def line(name: str, folder: Path, rows: list[Any]) -> str:
    packed = {
        str(path.relative_to(folder)): base64.b85encode(zlib.compress(path.read_bytes(), 9)).decode()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    return json.dumps({"case": name, "tensors": rows, "files": packed})


def main() -> None:
    known = {json.loads(each)["case"]: each for each in OUT.read_text().splitlines()} if OUT.exists() else {}
    top = Path(tempfile.mkdtemp())
    for name, (world, _) in CASES.items():
        folder = top / name
        folder.mkdir()
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        try:
            multiprocessing.spawn(run, (world, port, name, folder), world)
        except Exception as error:
            print(f"{name}: {str(error).strip().splitlines()[-1]}", file=sys.stderr)
            continue
        rows = json.loads((folder / "rows.json").read_text())
        (folder / "rows.json").unlink()
        known[name] = line(name, folder, rows)
        if (
            beside := top / f"{name.split(',')[0]}, collective"
        ).exists() and f"{name.split(',')[0]}, collective" not in CASES:
            known[beside.name] = line(beside.name, beside, rows)
    OUT.write_text("".join(f"{each}\n" for each in known.values()))
    shutil.rmtree(top)


if __name__ == "__main__":
    main()
