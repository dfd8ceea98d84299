"""Checkpoints of distributed training: one file a rank, and what each library joins them into."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from .small import count, llama, output, plain_config


def _alone() -> None:
    """A process group of this process."""
    import torch

    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0", "RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0"}
    if not torch.distributed.is_initialized():
        store = torch.distributed.HashStore()
        torch.distributed.init_process_group("gloo", store=store, rank=0, world_size=1)


def _sharded() -> Any:
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    _alone()
    model = llama()
    mesh = init_device_mesh("cpu", (1,))
    for layer in model.model.layers:
        fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    return model


@output
def fsdp_ranks(folder: Path) -> int:
    """FSDP2's parameters as `torch.distributed.checkpoint` writes them, under Accelerate's name for the folder."""
    from torch.distributed.checkpoint import save

    model = _sharded()
    save({"model": model.state_dict()}, checkpoint_id=str(folder / "pytorch_model_fsdp_0"))
    return count(model)


@output
def fsdp_merged(folder: Path) -> int:
    from accelerate.utils import merge_fsdp_weights
    from torch.distributed.checkpoint import save

    model = _sharded()
    save({"model": model.state_dict()}, checkpoint_id=str(folder.parent / "ranks"))
    merge_fsdp_weights(str(folder.parent / "ranks"), str(folder))
    return count(model)


@output
def fsdp_gathered(folder: Path) -> int:
    import torch
    from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict

    model = _sharded()
    state = get_model_state_dict(model, options=StateDictOptions(full_state_dict=True, cpu_offload=True))
    torch.save(state, folder / "pytorch_model_fsdp.bin")
    return count(model)


@output
def dcp_training(folder: Path) -> int:
    """A step of torchtitan's kind: the model, its optimizer, the data's position."""
    import torch
    from torch.distributed.checkpoint import save

    model = llama()
    optimizer = torch.optim.AdamW(model.parameters())
    model(input_ids=torch.ones(1, 4, dtype=torch.long)).logits.mean().backward()
    optimizer.step()
    state = {
        **model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "train_state": {"step": 10},
        "dataloader": {"dp_rank_0": b"\x80\x04N."},
    }
    save(state, checkpoint_id=str(folder / "step-10"), no_dist=True)
    return count(model)


def _zero(folder: Path, stage: int) -> Any:
    import deepspeed
    import torch

    _alone()
    os.environ["DS_ACCELERATOR"] = "cpu"
    deepspeed.comm.torch.build_shm_op = lambda: None
    model = llama()
    config = {
        "train_batch_size": 1,
        "zero_optimization": {"stage": stage},
        "zero_allow_untested_optimizer": True,
        "bf16": {"enabled": True},
    }
    engine, *_ = deepspeed.initialize(model=model, optimizer=torch.optim.AdamW(model.parameters()), config=config)
    engine.backward(engine(input_ids=torch.ones(1, 4, dtype=torch.long)).logits.mean())
    engine.step()
    engine.save_checkpoint(str(folder))
    return model


@output
def deepspeed_stage_2(folder: Path) -> int:
    return count(_zero(folder, 2))


@output
def deepspeed_consolidated(folder: Path) -> int:
    from deepspeed.utils.zero_to_fp32 import convert_zero_checkpoint_to_fp32_state_dict

    model = _zero(folder.parent / "zero", 2)
    convert_zero_checkpoint_to_fp32_state_dict(str(folder.parent / "zero"), str(folder), safe_serialization=True)
    plain_config(model, folder)
    return count(model)


@output
def deepspeed_consolidated_pickled(folder: Path) -> int:
    from deepspeed.utils.zero_to_fp32 import convert_zero_checkpoint_to_fp32_state_dict

    model = _zero(folder.parent / "zero", 2)
    convert_zero_checkpoint_to_fp32_state_dict(str(folder.parent / "zero"), str(folder), max_shard_size="200KB")
    return count(model)


@output
def megatron_rank(folder: Path) -> int:
    """Megatron-LM's own layout of one rank, by hand: its names, its arguments, its version."""
    import torch

    width, inner, words = 64, 128, 256
    shapes: dict[str, tuple[int, ...]] = {"embedding.word_embeddings.weight": (words, width)}
    for at in range(2):
        start = f"decoder.layers.{at}."
        shapes |= {
            f"{start}self_attention.linear_qkv.layer_norm_weight": (width,),
            f"{start}self_attention.linear_qkv.weight": (3 * width, width),
            f"{start}self_attention.linear_proj.weight": (width, width),
            f"{start}mlp.linear_fc1.layer_norm_weight": (width,),
            f"{start}mlp.linear_fc1.weight": (2 * inner, width),
            f"{start}mlp.linear_fc2.weight": (width, inner),
        }
    shapes |= {"decoder.final_layernorm.weight": (width,), "output_layer.weight": (words, width)}
    state = {name: torch.randn(shape, dtype=torch.bfloat16) * 0.02 for name, shape in shapes.items()}
    there = folder / "iter_0000010" / "mp_rank_00"
    there.mkdir(parents=True)
    arguments = argparse.Namespace(num_layers=2, hidden_size=width, num_attention_heads=4, padded_vocab_size=words)
    torch.save(
        {
            "args": arguments,
            "checkpoint_version": 3.0,
            "iteration": 10,
            "model": state,
            "num_floating_point_operations": 1,
        },
        there / "model_optim_rng.pt",
    )
    (folder / "latest_checkpointed_iteration.txt").write_text("10")
    return sum(each.numel() for each in state.values())
