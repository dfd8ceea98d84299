"""Single files in their authors' names against diffusers, which converts them: names and shapes, and nothing left over.

    python -m zoo.check_original_names [--write]

A configuration of each type is predicted, tensors of these names and shapes are made on the meta device, and diffusers'
own functions convert them (`loaders/single_file_utils.py`). What comes out must be what diffusers' classes hold. With
`--write` those that are go into fixtures/cases.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import cases
import diffusers
import torch
from diffusers.loaders import single_file_utils as single

from inspector.architectures import model_types
from inspector.architectures.prediction import predict
from inspector.model import Config
from zoo.build_diffusers_models import build, shapes

Tensors = dict[str, torch.Tensor]
Shapes = dict[str, tuple[int, ...]]


class Part(NamedTuple):
    """The part of a single file that belongs to one of diffusers' classes."""

    convert: Callable[..., Any]
    cls: str
    arguments: Mapping[str, Any]
    prefix: str = ""  # of the names that are its own
    configured: bool = False  # whether the function asks for the class's configuration
    keeps: bool = False  # whether the function looks for its names under the prefix


class Single(NamedTuple):
    """A single file: its type, the fields that set it apart, and its parts."""

    model_type: str
    fields: Mapping[str, Any]
    parts: tuple[Part, ...]


UNET = "model.diffusion_model."
VAE = {
    "block_out_channels": [128, 256, 512, 512],
    "down_block_types": ["DownEncoderBlock2D"] * 4,
    "up_block_types": ["UpDecoderBlock2D"] * 4,
    "layers_per_block": 2,
}
PLAIN = {**VAE, "latent_channels": 16, "use_quant_conv": False, "use_post_quant_conv": False}
CROSS, DOWN, UP_CROSS, UP = "CrossAttnDownBlock2D", "DownBlock2D", "CrossAttnUpBlock2D", "UpBlock2D"
XL = {"use_linear_projection": True, "addition_embed_type": "text_time"}
SD2 = {"cross_attention_dim": 1024, "attention_head_dim": [5, 10, 20, 20], "use_linear_projection": True}
SDXL = {
    **XL,
    "block_out_channels": [320, 640, 1280],
    "down_block_types": [DOWN, CROSS, CROSS],
    "up_block_types": [UP_CROSS, UP_CROSS, UP],
    "transformer_layers_per_block": [1, 2, 10],
    "attention_head_dim": [5, 10, 20],
    "cross_attention_dim": 2048,
    "addition_time_embed_dim": 256,
    "projection_class_embeddings_input_dim": 2816,
}
REFINER = {
    **XL,
    "block_out_channels": [384, 768, 1536, 1536],
    "down_block_types": [DOWN, CROSS, CROSS, DOWN],
    "up_block_types": [UP, UP_CROSS, UP_CROSS, UP],
    "transformer_layers_per_block": 4,
    "attention_head_dim": [6, 12, 24, 24],
    "cross_attention_dim": 1280,
    "addition_time_embed_dim": 256,
    "projection_class_embeddings_input_dim": 2560,
}
WAN = {"attention_head_dim": 128, "num_attention_heads": 2, "ffn_dim": 640, "num_layers": 2}
WAN_FIELDS = {"dim": 256, "ffn_dim": 640, "num_layers": 2}


def unet(arguments: Mapping[str, Any]) -> Part:
    """The denoiser of Stable Diffusion 1, 2 and XL."""
    return Part(single.convert_ldm_unet_checkpoint, "UNet2DConditionModel", arguments, UNET, True, True)


def vae(arguments: Mapping[str, Any], prefix: str = "first_stage_model.") -> Part:
    """The autoencoder."""
    return Part(single.convert_ldm_vae_checkpoint, "AutoencoderKL", arguments, prefix, True, True)


def control(arguments: Mapping[str, Any]) -> Part:
    """ControlNet."""
    return Part(single.convert_controlnet_checkpoint, "ControlNetModel", arguments, "control_model.", True, True)


FILES = (
    Single(
        "stable-diffusion-1",
        {"has_vae": True, "vae_quant": True, "has_clip_l": True},
        (unet({"cross_attention_dim": 768}), vae(VAE)),
    ),
    Single("stable-diffusion-1", {"in_channels": 9}, (unet({"in_channels": 9, "cross_attention_dim": 768}),)),
    Single(
        "stable-diffusion-2",
        {"has_vae": True, "vae_quant": True, "has_open_clip": True},
        (unet(SD2), vae(VAE)),
    ),
    Single("stable-diffusion-xl", {"has_vae": True, "vae_quant": True}, (unet(SDXL), vae(VAE))),
    Single("stable-diffusion-xl-refiner", {"has_vae": True, "vae_quant": True}, (unet(REFINER), vae(VAE))),
    Single(
        "stable-diffusion-3",
        {
            "depth": 3,
            "hidden_size": 128,
            "mlp_width": 512,
            "places": 144,
            "context_dim": 96,
            "pooled_dim": 80,
            "has_vae": True,
        },
        (
            Part(
                single.convert_sd3_transformer_checkpoint_to_diffusers,
                "SD3Transformer2DModel",
                {"num_layers": 3, "num_attention_heads": 2, "caption_projection_dim": 128, "pos_embed_max_size": 12}
                | {"joint_attention_dim": 96, "pooled_projection_dim": 80},
                UNET,
            ),
            vae(PLAIN),
        ),
    ),
    Single(
        "stable-diffusion-3",
        {"depth": 4, "hidden_size": 128, "mlp_width": 512, "places": 144, "dual_layers": 2, "qk_norm": True},
        (
            Part(
                single.convert_sd3_transformer_checkpoint_to_diffusers,
                "SD3Transformer2DModel",
                {"num_layers": 4, "num_attention_heads": 2, "caption_projection_dim": 128, "pos_embed_max_size": 12}
                | {"qk_norm": "rms_norm", "dual_attention_layers": [0, 1]},
                UNET,
            ),
        ),
    ),
    Single("ldm-autoencoder", {"vae_quant": True}, (vae(VAE, ""),)),
    Single("ldm-autoencoder", {"vae_z_channels": 16}, (vae(PLAIN, ""),)),
    Single("controlnet", {}, (control({"cross_attention_dim": 768}),)),
    Single("controlnet-sd2", {}, (control(SD2),)),
    *(
        Single(
            "flux",
            {"depth": 2, "depth_single_blocks": 3, "guidance_embed": guided, "in_channels": channels},
            (
                Part(
                    single.convert_flux_transformer_checkpoint_to_diffusers,
                    "FluxTransformer2DModel",
                    {"num_layers": 2, "num_single_layers": 3, "guidance_embeds": guided, "in_channels": channels}
                    | {"out_channels": 64},
                ),
            ),
        )
        for guided, channels in ((True, 64), (False, 384))
    ),
    Single(
        "chroma",
        {"depth": 2, "depth_single_blocks": 3},
        (
            Part(
                single.convert_chroma_transformer_checkpoint_to_diffusers,
                "ChromaTransformer2DModel",
                {"num_layers": 2, "num_single_layers": 3},
            ),
        ),
    ),
    Single(
        "hunyuan_video",
        {"depth": 2, "depth_single_blocks": 3, "guidance_embed": True},
        (
            Part(
                single.convert_hunyuan_video_transformer_to_diffusers,
                "HunyuanVideoTransformer3DModel",
                {"num_layers": 2, "num_single_layers": 3},
            ),
        ),
    ),
    Single("wan", WAN_FIELDS, (Part(single.convert_wan_transformer_to_diffusers, "WanTransformer3DModel", WAN),)),
    Single(
        "wan",
        {**WAN_FIELDS, "in_dim": 36, "has_image": True},
        (
            Part(
                single.convert_wan_transformer_to_diffusers,
                "WanTransformer3DModel",
                {**WAN, "in_channels": 36, "out_channels": 16, "image_dim": 1280, "added_kv_proj_dim": 256},
            ),
        ),
    ),
    Single(
        "wan",
        {**WAN_FIELDS, "num_layers": 4, "vace_layers": 2},
        (
            Part(
                single.convert_wan_transformer_to_diffusers,
                "WanVACETransformer3DModel",
                {**WAN, "num_layers": 4, "vace_layers": [0, 2], "vace_in_channels": 96},
            ),
        ),
    ),
    Single("wan-vae", {}, (Part(single.convert_wan_vae_to_diffusers, "AutoencoderKLWan", {}),)),
    Single(
        "z_image",
        {"num_layers": 3},
        (
            Part(
                single.convert_z_image_transformer_checkpoint_to_diffusers, "ZImageTransformer2DModel", {"n_layers": 3}
            ),
        ),
    ),
    Single(
        "lumina2",
        {"num_layers": 3, "dim": 2304, "qkv_width": 3840, "head_dim": 96, "ffn_dim": 9216, "caption_dim": 2304},
        (
            Part(
                single.convert_lumina2_to_diffusers,
                "Lumina2Transformer2DModel",
                {"num_layers": 3, "cap_feat_dim": 2304, "num_kv_heads": 8},
            ),
        ),
    ),
)


def predicted(model_type: str, fields: Mapping[str, Any]) -> Shapes:
    """The tensors of a single file according to the table."""
    found = predict(Config({"model_type": model_type, **fields}, "config.json"))
    return {row.name_of(key): row.shape for row in found.expected for key in row.keys()}


def difference(part: Part, held: Shapes) -> str:
    """Tensors that only diffusers' conversion, or only its class has; "" if they agree."""
    own = {n if part.keeps else n.removeprefix(part.prefix): s for n, s in held.items() if n.startswith(part.prefix)}
    model = build(getattr(diffusers, part.cls), dict(part.arguments))
    made = {name: torch.empty(shape, device="meta") for name, shape in own.items()}
    options = {"config": dict(model.config)} if part.configured else {}
    converted = part.convert(made, **options)
    got = {name: tuple(tensor.shape) for name, tensor in converted.items()}
    wanted = shapes(model)
    if got != wanted:
        lacking, extra = sorted(wanted.keys() - got.keys()), sorted(got.keys() - wanted.keys())
        other = [(n, got[n], wanted[n]) for n in got if n in wanted and got[n] != wanted[n]]
        return (
            f"lacking {len(lacking)} {lacking[:2]}, too much {len(extra)} {extra[:2]}, other {len(other)} {other[:2]}"
        )
    used = sum(torch.Size(shape).numel() for shape in own.values())
    return "" if used == sum(torch.Size(shape).numel() for shape in wanted.values()) else "elements left over"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    right: dict[str, list[cases.Case]] = {}
    for each in FILES:
        held = predicted(each.model_type, each.fields)
        reported = [f"{part.cls}: {why}" for part in each.parts if (why := difference(part, held))]
        print(
            f"{each.model_type} {dict(each.fields)}: {'; '.join(reported) or 'as diffusers has it'}"[:400], flush=True
        )
        if not reported:
            source = f"diffusers {diffusers.__version__}, converted to {', '.join(part.cls for part in each.parts)}"
            config = {"model_type": each.model_type, **each.fields}
            right.setdefault(model_types()[each.model_type], []).append(cases.Case(source, config, held))
    for table, found in right.items() if arguments.write else ():
        (cases.FOLDER / f"{table}.txt").write_text("\n".join(map(cases.text, found)))


if __name__ == "__main__":
    main()
