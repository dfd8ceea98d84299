"""Write fixtures/predictions/diffusers-*.json: what diffusers has in its models under small configurations.

pip install torch diffusers
python tools/make_diffusers_fixtures.py
"""

from __future__ import annotations

import json
from typing import Any

import diffusers
import torch
from make_fixtures import FIXTURES, write

CROSS, PLAIN = "CrossAttnDownBlock2D", "DownBlock2D"
UP_CROSS, UP_PLAIN = "CrossAttnUpBlock2D", "UpBlock2D"
SMALL = {"block_out_channels": [32, 64], "cross_attention_dim": 48, "norm_num_groups": 8}
TWO = {"down_block_types": [CROSS, PLAIN], "up_block_types": [UP_PLAIN, UP_CROSS]}
AUTOENCODER = {
    "block_out_channels": [32, 64],
    "norm_num_groups": 8,
    "down_block_types": ["DownEncoderBlock2D"] * 2,
    "up_block_types": ["UpDecoderBlock2D"] * 2,
}
SD3 = {
    "num_layers": 3,
    "num_attention_heads": 2,
    "attention_head_dim": 16,
    "caption_projection_dim": 32,
    "joint_attention_dim": 24,
    "pooled_projection_dim": 40,
    "sample_size": 8,
    "pos_embed_max_size": 12,
}
FLUX = {
    "num_layers": 2,
    "num_single_layers": 3,
    "num_attention_heads": 2,
    "attention_head_dim": 16,
    "axes_dims_rope": [4, 4, 8],
    "in_channels": 12,
    "joint_attention_dim": 24,
    "pooled_projection_dim": 40,
}
XL = {
    "down_block_types": [PLAIN, CROSS, CROSS],
    "up_block_types": [UP_CROSS, UP_CROSS, UP_PLAIN],
    "block_out_channels": [32, 64, 96],
    "transformer_layers_per_block": [1, 2, 3],
    "use_linear_projection": True,
    "addition_embed_type": "text_time",
    "addition_time_embed_dim": 8,
    "projection_class_embeddings_input_dim": 56,
}
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "unet": ("UNet2DConditionModel", {**SMALL, **TWO}),
    "unet-xl": ("UNet2DConditionModel", {**SMALL, **XL}),
    "unet-distilled": ("UNet2DConditionModel", {**SMALL, **TWO, "time_cond_proj_dim": 24, "in_channels": 9}),
    "unet-upscaler": ("UNet2DConditionModel", {**SMALL, **TWO, "num_class_embeds": 10, "layers_per_block": 1}),
    "unet-without-middle": ("UNet2DConditionModel", {**SMALL, **TWO, "mid_block_type": None}),
    "unet-lists": (
        "UNet2DConditionModel",
        {
            **SMALL,
            "cross_attention_dim": [24, 40],
            "layers_per_block": [1, 3],
            "down_block_types": [CROSS, CROSS],
            "up_block_types": [UP_CROSS, UP_CROSS],
            "resnet_time_scale_shift": "scale_shift",
        },
    ),
    "vae": ("AutoencoderKL", {**AUTOENCODER, "layers_per_block": 2}),
    "vae-flux": (
        "AutoencoderKL",
        {**AUTOENCODER, "latent_channels": 16, "use_quant_conv": False, "use_post_quant_conv": False},
    ),
    "vae-without-attention": ("AutoencoderKL", {**AUTOENCODER, "mid_block_add_attention": False}),
    "flux": ("FluxTransformer2DModel", FLUX),
    "flux-guided": ("FluxTransformer2DModel", {**FLUX, "guidance_embeds": True, "out_channels": 8, "patch_size": 2}),
    "sd3": ("SD3Transformer2DModel", SD3),
    "sd3-dual": ("SD3Transformer2DModel", {**SD3, "qk_norm": "rms_norm", "dual_attention_layers": [0, 1]}),
}


def main() -> None:
    for name, (kind, settings) in MODELS.items():
        with torch.device("meta"):
            model = getattr(diffusers, kind)(**settings)
        config = {**json.loads(model.to_json_string()), "_class_name": kind}
        tensors = [[list(tensor.shape), key] for key, tensor in model.state_dict().items()]
        write(FIXTURES / "predictions" / f"diffusers-{name}.json", {"config": config, "tensors": tensors})


if __name__ == "__main__":
    main()
