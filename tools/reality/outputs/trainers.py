"""Trainers, hubs and merges: what training code leaves behind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .small import count, llama, output, tokenizer


@output
def timm_folder(folder: Path) -> int:
    import timm
    from timm.models import save_for_hf

    model = timm.create_model("resnet18", num_classes=5)
    save_for_hf(model, str(folder))
    return count(model)


@output
def open_clip_folder(folder: Path) -> int:
    import open_clip
    from open_clip.push_to_hf_hub import save_for_hf

    sizes = {"embed_dim": 64, "vision_cfg": {"image_size": 32, "layers": 2, "width": 64, "patch_size": 8}}
    config = {**sizes, "text_cfg": {"context_length": 16, "vocab_size": 300, "width": 64, "heads": 4, "layers": 2}}
    model = open_clip.CLIP(**config)
    model.visual.image_mean = model.visual.image_std = (0.5, 0.5, 0.5)
    words = open_clip.tokenizer.HFTokenizer.__new__(open_clip.tokenizer.HFTokenizer)
    words.tokenizer = tokenizer(folder)
    save_for_hf(model, words, config, str(folder))
    return count(model)


@output
def torchvision_weights(folder: Path) -> int:
    import torch
    import torchvision

    model = torchvision.models.mobilenet_v3_small(num_classes=4)
    torch.save(model.state_dict(), folder / "model.pth")
    return count(model)


@output
def lightning_checkpoint(folder: Path) -> int:
    import lightning
    import torch

    class Model(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.save_hyperparameters({"width": 32})
            self.net = torch.nn.Sequential(*(torch.nn.Linear(32, 32) for _ in range(4)))

        def training_step(self, batch: Any, _: int) -> Any:
            return self.net(batch).square().mean()

        def configure_optimizers(self) -> Any:
            return torch.optim.Adam(self.parameters())

    model = Model()
    trainer = lightning.Trainer(
        max_steps=3,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(model, torch.utils.data.DataLoader(torch.randn(12, 32), batch_size=4))
    trainer.save_checkpoint(folder / "last.ckpt")
    return count(model)


@output
def lightning_hydra(folder: Path) -> int:
    """A checkpoint whose hyperparameters are OmegaConf's, as Hydra's templates save them."""
    import torch
    from omegaconf import OmegaConf

    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Linear(16, 2))
    settings = OmegaConf.create({"model": {"width": 16, "rates": [0.1, 0.2], "name": "net", "deep": {"on": True}}})
    torch.save(
        {"state_dict": model.state_dict(), "hyper_parameters": settings, "epoch": 4, "global_step": 100},
        folder / "epoch=4.ckpt",
    )
    return count(model)


@output
def fastai_learner(folder: Path) -> int:
    import torch

    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.BatchNorm1d(16), torch.nn.Linear(16, 2))
    torch.save(
        {"model": model.state_dict(), "opt": torch.optim.Adam(model.parameters()).state_dict()}, folder / "stage-1.pth"
    )
    return count(model)


@output
def mergekit_linear(folder: Path) -> int:
    import torch
    from mergekit.config import MergeConfiguration
    from mergekit.merge import MergeOptions, run_merge

    model = llama()
    for name in "ab":
        llama().to(torch.bfloat16).save_pretrained(folder.parent / name)
    parts = [{"model": str(folder.parent / name), "parameters": {"weight": 0.5}} for name in "ab"]
    run_merge(
        MergeConfiguration.model_validate({"merge_method": "linear", "models": parts, "dtype": "bfloat16"}),
        str(folder),
        MergeOptions(copy_tokenizer=False),
    )
    return count(model)
