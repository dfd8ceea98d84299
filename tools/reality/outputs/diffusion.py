"""Diffusers' pipelines and their components."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .small import count, output, tokenizer


def _diffusion(folder: Path) -> Any:
    import diffusers
    import transformers

    unet = diffusers.UNet2DConditionModel(
        sample_size=8,
        in_channels=4,
        out_channels=4,
        layers_per_block=1,
        block_out_channels=(32, 64),
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
        cross_attention_dim=32,
    )
    vae = diffusers.AutoencoderKL(
        block_out_channels=(32, 64),
        down_block_types=("DownEncoderBlock2D",) * 2,
        up_block_types=("UpDecoderBlock2D",) * 2,
        latent_channels=4,
    )
    text = transformers.CLIPTextModel(
        transformers.CLIPTextConfig(
            hidden_size=32,
            intermediate_size=37,
            num_attention_heads=4,
            num_hidden_layers=2,
            vocab_size=300,
            bos_token_id=1,
            eos_token_id=2,
        )
    )
    return diffusers.StableDiffusionPipeline(
        unet=unet,
        vae=vae,
        text_encoder=text,
        tokenizer=tokenizer(folder),
        scheduler=diffusers.DDIMScheduler(),
        safety_checker=None,
        feature_extractor=None,
        requires_safety_checker=False,
    )


@output
def diffusers_pipeline(folder: Path) -> int:
    pipeline = _diffusion(folder)
    pipeline.save_pretrained(folder)
    return count(pipeline.unet) + count(pipeline.vae) + count(pipeline.text_encoder)


@output
def diffusers_pickled(folder: Path) -> int:
    pipeline = _diffusion(folder)
    pipeline.save_pretrained(folder, safe_serialization=False)
    return count(pipeline.unet) + count(pipeline.vae) + count(pipeline.text_encoder)


@output
def diffusers_all_pickled(folder: Path) -> int:
    """As pipelines of 2022 are: the text encoder in PyTorch's format, too."""
    import torch

    pipeline = _diffusion(folder)
    pipeline.save_pretrained(folder, safe_serialization=False)
    (folder / "text_encoder/model.safetensors").unlink(missing_ok=True)
    torch.save(pipeline.text_encoder.state_dict(), folder / "text_encoder/pytorch_model.bin")
    return count(pipeline.unet) + count(pipeline.vae) + count(pipeline.text_encoder)


@output
def diffusers_averaged(folder: Path) -> int:
    import diffusers
    from diffusers.training_utils import EMAModel

    unet = _diffusion(folder).unet
    EMAModel(unet.parameters(), model_cls=diffusers.UNet2DConditionModel, model_config=unet.config).save_pretrained(
        folder
    )
    return count(unet)
