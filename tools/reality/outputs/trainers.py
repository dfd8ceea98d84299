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


def _by_trl(kind: str, folder: Path, **more: Any) -> Any:
    import datasets
    import trl

    words = tokenizer(folder)
    words.eos_token = "[SEP]"
    rows = {
        "SFT": [{"text": "w1 w2 w3"}] * 4,
        "Reward": [{"chosen": "w1 w2", "rejected": "w3"}] * 4,
        "DPO": [{"prompt": "w1", "chosen": "w2", "rejected": "w3"}] * 4,
    }[kind]
    settings = getattr(trl, f"{kind}Config")(
        output_dir=str(folder), max_steps=2, save_steps=1, per_device_train_batch_size=2, report_to=[], use_cpu=True,
        disable_tqdm=True,
    )  # fmt: skip
    trainer = getattr(trl, f"{kind}Trainer")(
        args=settings, train_dataset=datasets.Dataset.from_list(rows), processing_class=words, **more
    )
    trainer.train()
    trainer.save_model()
    return trainer.model


@output
def trl_finetuned(folder: Path) -> int:
    return count(_by_trl("SFT", folder, model=llama()))


@output
def trl_adapter(folder: Path) -> int:
    import peft

    config = peft.LoraConfig(r=4, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM")
    model = _by_trl("DPO", folder, model=llama(), peft_config=config)
    return int(model.num_parameters(only_trainable=True))


@output
def trl_reward(folder: Path) -> int:
    import transformers

    model = transformers.LlamaForSequenceClassification(llama().config)
    model.config.num_labels, model.config.pad_token_id = 1, 0
    return count(_by_trl("Reward", folder, model=transformers.LlamaForSequenceClassification(model.config)))


@output
def skorch_parameters(folder: Path) -> int:
    import numpy as np
    import skorch
    import torch

    net = skorch.NeuralNet(
        torch.nn.Sequential(torch.nn.Linear(8, 4), torch.nn.Softmax(-1)),
        torch.nn.NLLLoss,
        max_epochs=1,
        verbose=0,
        train_split=None,
    )
    net.fit(np.random.rand(16, 8).astype("f4"), np.arange(16) % 4)
    net.save_params(
        f_params=folder / "model.pt", f_optimizer=folder / "optimizer.pt", f_history=folder / "history.json"
    )
    return count(net.module_)


@output
def ignite_checkpoint(folder: Path) -> int:
    import torch
    from ignite.engine import Engine
    from ignite.handlers import Checkpoint, DiskSaver

    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Linear(16, 4))
    engine = Engine(lambda *_: None)
    saver = Checkpoint({"model": model, "trainer": engine}, DiskSaver(folder, create_dir=True))
    engine.run([0], 1)
    saver(engine)
    return count(model)


@output
def smp_folder(folder: Path) -> int:
    import segmentation_models_pytorch as smp

    model = smp.Unet("resnet18", encoder_weights=None, classes=2)
    model.save_pretrained(str(folder))
    return count(model)


@output
def ema_wrapped(folder: Path) -> int:
    """lucidrains' EMA: the model that is trained, and its average, in one state dictionary; they are one model."""
    import torch
    from ema_pytorch import EMA

    model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.Linear(32, 4))
    torch.save(EMA(model).state_dict(), folder / "ema.pt")
    return count(model)


@output
def speechbrain_step(folder: Path) -> None:
    import torch
    from speechbrain.utils.checkpoints import Checkpointer

    model = torch.nn.Linear(16, 4)
    Checkpointer(str(folder), {"model": model, "optimizer": torch.optim.Adam(model.parameters())}).save_checkpoint()


@output
def ultralytics_detector(folder: Path) -> int:
    import torch
    from ultralytics.nn.tasks import DetectionModel

    model = DetectionModel("yolov8n.yaml", ch=3, nc=2, verbose=False)
    torch.save(
        {"epoch": -1, "model": model.half(), "ema": None, "optimizer": None, "train_args": {}}, folder / "best.pt"
    )
    return count(model)


@output
def setfit_head(folder: Path) -> None:
    from setfit import SetFitModel

    from .sentences import _sentences

    SetFitModel(
        model_body=_sentences(folder),
        model_head=__import__("sklearn.linear_model")
        .linear_model.LogisticRegression()
        .fit([[0.0] * 64, [1.0] * 64], [0, 1]),
    ).save_pretrained(str(folder))
