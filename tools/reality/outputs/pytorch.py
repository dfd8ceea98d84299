"""Transformers, PyTorch and Accelerate: whole, in shards, by rank, as state dictionaries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .small import count, llama, output, outputs, plain_config, small


def _saved(folder: Path, kind: str = "LlamaForCausalLM", shards: str = "5GB", **changed: Any) -> int:
    model = small(kind, **changed)
    model.save_pretrained(folder, max_shard_size=shards)
    return count(model)


def _dumped(folder: Path, kind: str, name: str = "pytorch_model.bin", **changed: Any) -> int:
    """A state dictionary beside a configuration that names no class."""
    import torch

    model = small(kind, **changed)
    torch.save(model.state_dict(), folder / name)
    plain_config(model, folder)
    return count(model)


outputs(
    _saved,
    transformers_shards={"shards": "100KB"},
    transformers_tied={"tie_word_embeddings": True},
    transformers_vision={"kind": "ViTForImageClassification"},
)
outputs(
    _dumped,
    torch_bert_masked={"kind": "BertForMaskedLM"},
    torch_bert_classifier={"kind": "BertForSequenceClassification", "num_labels": 3},
    torch_bert_tokens={"kind": "BertForTokenClassification", "num_labels": 3, "name": "model.pt"},
    torch_roberta_masked={"kind": "RobertaForMaskedLM"},
    torch_vit_classifier={"kind": "ViTForImageClassification"},
    torch_distilbert_classifier={"kind": "DistilBertForSequenceClassification"},
)


@output
def torch_whole_module(folder: Path) -> int:
    import torch

    model = llama()
    torch.save(model, folder / "model.pt")
    return count(model)


@output
def torch_many_layers(folder: Path) -> int:
    """A module whose activation and settings are shared by more than eight others."""
    import torch

    shared = torch.nn.ReLU()
    shared.settings = {"a": [1, 2]}
    model = torch.nn.Sequential(*(torch.nn.Sequential(torch.nn.Linear(8, 8), shared) for _ in range(20)))
    torch.save(model, folder / "model.pth")
    return count(model)


@output
def torch_averaged(folder: Path) -> int:
    import torch

    model = torch.optim.swa_utils.AveragedModel(llama())
    torch.save(model.state_dict(), folder / "model.pt")
    return count(model)


@output
def torch_script(folder: Path) -> int:
    import torch

    model = torch.nn.Sequential(*(torch.nn.Conv1d(4, 4, 3) for _ in range(20)))
    torch.jit.script(model).save(str(folder / "model.pt"))
    return count(model)


@output
def torch_training(folder: Path) -> int:
    import torch

    model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4))
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.randn(8, 16)).square().mean().backward()
        optimizer.step()
    torch.save(
        {
            "epoch": 3,
            "state_dict": model.state_dict(),
            "optimizer": optimizer.state_dict(),
            "best_acc1": torch.tensor(71.5),
        },
        folder / "model_best.pth.tar",
    )
    return count(model)


@output
def torch_nanogpt(folder: Path) -> int:
    import torch

    model = torch.nn.ModuleDict(
        {"wte": torch.nn.Embedding(65, 32), "h": torch.nn.ModuleList(torch.nn.Linear(32, 32) for _ in range(4))}
    )
    state = {
        "model": model.state_dict(),
        "model_args": {"n_layer": 4},
        "iter_num": 20,
        "best_val_loss": torch.tensor(1.5),
        "config": {"out_dir": "out"},
    }
    torch.save(state, folder / "ckpt.pt")
    return count(model)


@output
def torch_distributed(folder: Path) -> int:
    from torch.distributed.checkpoint import save

    model = llama()
    save(model.state_dict(), checkpoint_id=str(folder), no_dist=True)
    return count(model)


@output
def torch_distributed_hugging_face(folder: Path) -> int:
    from torch.distributed.checkpoint import HuggingFaceStorageWriter, save

    model = llama()
    names = {name: 1 + number % 2 for number, name in enumerate(model.state_dict())}
    save(
        model.state_dict(),
        storage_writer=HuggingFaceStorageWriter(str(folder), fqn_to_index_mapping=names),
        no_dist=True,
    )
    return count(model)


@output
def torch_consolidated(folder: Path) -> int:
    from torch.distributed.checkpoint import save
    from torch.distributed.checkpoint.format_utils import dcp_to_torch_save

    model = llama()
    save({"model": model.state_dict()}, checkpoint_id=str(folder.parent / "ranks"), no_dist=True)
    dcp_to_torch_save(str(folder.parent / "ranks"), str(folder / "pytorch_model.bin"))
    plain_config(model, folder)
    return count(model)


@output
def safetensors_tied(folder: Path) -> int:
    from safetensors.torch import save_model

    model = llama(tie_word_embeddings=True)
    save_model(model, str(folder / "model.safetensors"))
    return count(model)


@output
def accelerate_shards(folder: Path) -> int:
    from accelerate import Accelerator

    model = llama()
    Accelerator(cpu=True).save_model(model, str(folder), max_shard_size="100KB")
    return count(model)


@output
def accelerate_state(folder: Path) -> int:
    from accelerate import Accelerator

    accelerator = Accelerator(cpu=True)
    model = accelerator.prepare(llama())
    accelerator.save_state(str(folder))
    return count(model)
