"""The autoencoder of Stable Diffusion and Flux: pixels to latents and back, in convolutions.

After diffusers' `models/autoencoders/autoencoder_kl.py` and `vae.py`.
"""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.table import Family, Row


def _resnets(name: str, inputs: str, outputs: str, tower: str) -> Iterator[Row]:
    yield Row("resnet_norm1", name + ".norm1", inputs, bias="True", tower=tower)
    yield Row("resnet_conv1", name + ".conv1", f"{outputs}, {inputs}, 3, 3", bias="True", tower=tower)
    yield Row("resnet_norm2", name + ".norm2", outputs, bias="True", tower=tower)
    yield Row("resnet_conv2", name + ".conv2", f"{outputs}, {outputs}, 3, 3", bias="True", tower=tower)
    if inputs != outputs:
        shortcut = f"{outputs}, {inputs}, 1, 1"
        other = f"({inputs}) != ({outputs})"
        yield Row("conv_shortcut", name + ".conv_shortcut", shortcut, bias="True", tower=tower, when=other)


def _middle(tower: str) -> Iterator[Row]:
    """Two residual blocks around one attention, which `mid_block_add_attention` leaves out."""
    yield from _resnets(f"{tower}.mid_block.resnets.{{at<2}}", LAST, LAST, tower)
    path, when = f"{tower}.mid_block.attentions.{{layer<1}}", "mid_block_add_attention"
    yield Row("norm", path + ".group_norm", LAST, bias="True", tower=tower, when=when, group="norm")
    for role, word in {"q_proj": "to_q", "k_proj": "to_k", "v_proj": "to_v"}.items():
        yield Row(role, f"{path}.{word}", f"{LAST}, {LAST}", bias="True", tower=tower, when=when)
    older = f"{tower}.mid_block.attentions.{{layer}}.proj_attn"
    shape = f"{LAST}, {LAST}"
    yield Row("o_proj", path + ".to_out.0", shape, bias="True", tower=tower, when=when, older=older)


WIDTH, FIRST, LAST = "block_out_channels[block]", "block_out_channels[0]", "block_out_channels[blocks - 1]"
UP_WIDTH = "block_out_channels[blocks - 1 - block]"
DOWN, UP = "encoder.down_blocks.{block<blocks}", "decoder.up_blocks.{block<blocks}"
NOT_LAST = "block < blocks - 1"

FAMILY = Family(
    name="diffusers_vae",
    types={"AutoencoderKL": {}},
    rows=(
        Row("conv_in", "encoder.conv_in", f"{FIRST}, in_channels, 3, 3", bias="True", tower="encoder"),
        *_resnets(
            DOWN + ".resnets.{at<layers_per_block}",
            f"block_out_channels[max(block - 1, 0)] if at == 0 else {WIDTH}",
            WIDTH,
            "encoder",
        ),
        Row(
            "downsampler",
            DOWN + ".downsamplers.0.conv",
            f"{WIDTH}, {WIDTH}, 3, 3",
            bias="True",
            tower="encoder",
            when=NOT_LAST,
        ),
        *_middle("encoder"),
        Row("conv_norm_out", "encoder.conv_norm_out", LAST, bias="True", tower="encoder"),
        Row("conv_out", "encoder.conv_out", f"2 * latent_channels, {LAST}, 3, 3", bias="True", tower="encoder"),
        Row(
            "quant_conv",
            "quant_conv",
            "2 * latent_channels, 2 * latent_channels, 1, 1",
            bias="True",
            tower="encoder",
            when="use_quant_conv",
        ),
        Row(
            "post_quant_conv",
            "post_quant_conv",
            "latent_channels, latent_channels, 1, 1",
            bias="True",
            tower="decoder",
            when="use_post_quant_conv",
        ),
        Row("conv_in", "decoder.conv_in", f"{LAST}, latent_channels, 3, 3", bias="True", tower="decoder"),
        *_middle("decoder"),
        *_resnets(
            UP + ".resnets.{at<layers_per_block + 1}",
            f"block_out_channels[min(blocks - block, blocks - 1)] if at == 0 else {UP_WIDTH}",
            UP_WIDTH,
            "decoder",
        ),
        Row(
            "upsampler",
            UP + ".upsamplers.0.conv",
            f"{UP_WIDTH}, {UP_WIDTH}, 3, 3",
            bias="True",
            tower="decoder",
            when=NOT_LAST,
        ),
        Row("conv_norm_out", "decoder.conv_norm_out", FIRST, bias="True", tower="decoder"),
        Row("conv_out", "decoder.conv_out", f"out_channels, {FIRST}, 3, 3", bias="True", tower="decoder"),
    ),
    head="Model",
    defaults={
        "in_channels": 3,
        "out_channels": 3,
        "latent_channels": 4,
        "block_out_channels": [64],
        "layers_per_block": 1,
        "use_quant_conv": True,
        "use_post_quant_conv": True,
        "mid_block_add_attention": True,
    },
    derived={"blocks": "len(block_out_channels)"},
)
