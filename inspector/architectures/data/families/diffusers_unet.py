"""Stable Diffusion's denoiser (1.x, 2.x, XL): a U of convolutions, with transformers in some of its blocks.

After diffusers' `models/unets/unet_2d_condition.py` and `unet_2d_blocks.py`. Blocks of other kinds than
`DownBlock2D`, `CrossAttnDownBlock2D` and what mirrors them are counted as these.
"""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.table import Family, Row

#: Side of the U → what its blocks are called, how many layers each has, and the words for its sizes.
DOWN = "down_blocks.{block<blocks}"
UP = "up_blocks.{block<blocks}"
MID = "mid_block"


def _resnets(place: str, bound: str, inputs: str, outputs: str, tower: str, when: str = "") -> Iterator[Row]:
    """Two convolutions with a projection of the time step between them."""
    name = f"{place}.resnets.{{at<{bound}}}"
    yield Row("resnet_norm1", name + ".norm1", inputs, bias="True", tower=tower, when=when)
    yield Row("resnet_conv1", name + ".conv1", f"{outputs}, {inputs}, 3, 3", bias="True", tower=tower, when=when)
    shift = f"({outputs}) * (2 if resnet_time_scale_shift == 'scale_shift' else 1)"
    yield Row("time_emb_proj", name + ".time_emb_proj", f"{shift}, time_width", bias="True", tower=tower, when=when)
    yield Row("resnet_norm2", name + ".norm2", outputs, bias="True", tower=tower, when=when)
    yield Row("resnet_conv2", name + ".conv2", f"{outputs}, {outputs}, 3, 3", bias="True", tower=tower, when=when)
    other = f"({inputs}) != ({outputs})" + (f" and {when}" if when else "")
    shortcut = f"{outputs}, {inputs}, 1, 1"
    yield Row("conv_shortcut", name + ".conv_shortcut", shortcut, bias="True", tower=tower, when=other)


def _transformers(place: str, bound: str, depth: str, width: str, context: str, tower: str, when: str) -> Iterator[Row]:
    """Self-attention, attention to the text, and a gated feed-forward, between two projections."""
    name = f"{place}.attentions.{{at<{bound}}}"
    inner = f"{name}.transformer_blocks.{{depth<{depth}}}"
    yield Row("norm", name + ".norm", width, bias="True", tower=tower, when=when)
    for role in ("proj_in", "proj_out"):
        linear = f"{when} and use_linear_projection"
        yield Row(role, f"{name}.{role}", f"{width}, {width}", bias="True", tower=tower, when=linear)
        convolved = f"{when} and not use_linear_projection"
        yield Row(role, f"{name}.{role}", f"{width}, {width}, 1, 1", bias="True", tower=tower, when=convolved)
    norms = {"input_layernorm": "norm1", "cross_attention_norm": "norm2", "post_attention_layernorm": "norm3"}
    for role, word in norms.items():
        yield Row(role, f"{inner}.{word}", width, bias="True", tower=tower, when=when, group="norm")
    for prefix, attention, source in (("", "attn1", width), ("cross_", "attn2", context)):
        path = f"{inner}.{attention}"
        yield Row(prefix + "q_proj", path + ".to_q", f"{width}, {width}", tower=tower, when=when)
        yield Row(prefix + "k_proj", path + ".to_k", f"{width}, {source}", tower=tower, when=when)
        yield Row(prefix + "v_proj", path + ".to_v", f"{width}, {source}", tower=tower, when=when)
        yield Row(prefix + "o_proj", path + ".to_out.0", f"{width}, {width}", bias="True", tower=tower, when=when)
    gated = f"8 * ({width}), {width}"
    yield Row("gate_up_proj", inner + ".ff.net.0.proj", gated, bias="True", tower=tower, when=when)
    yield Row("down_proj", inner + ".ff.net.2", f"{width}, 4 * ({width})", bias="True", tower=tower, when=when)


WIDTH, LAST = "block_out_channels[block]", "block_out_channels[blocks - 1]"
UP_WIDTH = "block_out_channels[blocks - 1 - block]"
DOWN_INPUTS = f"block_out_channels[max(block - 1, 0)] if at == 0 else {WIDTH}"
UP_INPUTS = (
    f"(block_out_channels[min(blocks - block, blocks - 1)] if at == 0 else {UP_WIDTH}) + "
    f"(block_out_channels[max(blocks - 2 - block, 0)] if at == up_layers[block] - 1 else {UP_WIDTH})"
)
DOWN_ATTENDS, UP_ATTENDS = "'CrossAttn' in down_block_types[block]", "'CrossAttn' in up_block_types[block]"
MID_ATTENDS = "mid_block_type == 'UNetMidBlock2DCrossAttn'"
EACH = "for stage in range(blocks)]"

FAMILY = Family(
    name="diffusers_unet",
    types={"UNet2DConditionModel": {}},
    rows=(
        Row(
            "conv_in",
            "conv_in",
            "block_out_channels[0], in_channels, conv_in_kernel, conv_in_kernel",
            bias="True",
            tower="image",
        ),
        Row("time_linear_1", "time_embedding.linear_1", "time_width, block_out_channels[0]", bias="True", tower="time"),
        Row("time_linear_2", "time_embedding.linear_2", "time_width, time_width", bias="True", tower="time"),
        Row(
            "cond_proj",
            "time_embedding.cond_proj",
            "block_out_channels[0], time_cond_proj_dim",
            tower="time",
            when="time_cond_proj_dim",
        ),
        Row(
            "class_embedding",
            "class_embedding",
            "num_class_embeds, time_width",
            tower="time",
            when="num_class_embeds and class_embed_type is None",
        ),
        Row(
            "add_linear_1",
            "add_embedding.linear_1",
            "time_width, projection_class_embeddings_input_dim",
            bias="True",
            tower="time",
            when="addition_embed_type == 'text_time'",
        ),
        Row(
            "add_linear_2",
            "add_embedding.linear_2",
            "time_width, time_width",
            bias="True",
            tower="time",
            when="addition_embed_type == 'text_time'",
        ),
        *_resnets(DOWN, "layers[block]", DOWN_INPUTS, WIDTH, "down"),
        *_transformers(DOWN, "layers[block]", "depths[block]", WIDTH, "contexts[block]", "down", DOWN_ATTENDS),
        Row(
            "downsampler",
            DOWN + ".downsamplers.0.conv",
            f"{WIDTH}, {WIDTH}, 3, 3",
            bias="True",
            tower="down",
            when="block < blocks - 1",
        ),
        *_resnets(MID, "2", LAST, LAST, "mid", MID_ATTENDS),
        *_transformers(MID, "1", "depths[blocks - 1]", LAST, "contexts[blocks - 1]", "mid", MID_ATTENDS),
        *_resnets(UP, "up_layers[block]", UP_INPUTS, UP_WIDTH, "up"),
        *_transformers(
            UP,
            "up_layers[block]",
            "depths[blocks - 1 - block]",
            UP_WIDTH,
            "contexts[blocks - 1 - block]",
            "up",
            UP_ATTENDS,
        ),
        Row(
            "upsampler",
            UP + ".upsamplers.0.conv",
            f"{UP_WIDTH}, {UP_WIDTH}, 3, 3",
            bias="True",
            tower="up",
            when="block < blocks - 1",
        ),
        Row("conv_norm_out", "conv_norm_out", "block_out_channels[0]", bias="True", tower="image"),
        Row(
            "conv_out",
            "conv_out",
            "out_channels, block_out_channels[0], conv_out_kernel, conv_out_kernel",
            bias="True",
            tower="image",
        ),
    ),
    head="Model",
    defaults={
        "in_channels": 4,
        "out_channels": 4,
        "block_out_channels": [320, 640, 1280, 1280],
        "down_block_types": ["CrossAttnDownBlock2D"] * 3 + ["DownBlock2D"],
        "up_block_types": ["UpBlock2D"] + ["CrossAttnUpBlock2D"] * 3,
        "mid_block_type": "UNetMidBlock2DCrossAttn",
        "layers_per_block": 2,
        "transformer_layers_per_block": 1,
        "cross_attention_dim": 1280,
        "conv_in_kernel": 3,
        "conv_out_kernel": 3,
        "use_linear_projection": False,
        "resnet_time_scale_shift": "default",
        "time_cond_proj_dim": None,
        "num_class_embeds": None,
        "class_embed_type": None,
        "addition_embed_type": None,
    },
    derived={
        "blocks": "len(block_out_channels)",
        "time_width": "time_embedding_dim or 4 * block_out_channels[0]",
        "time_embedding_dim": "0",
        "layers": f"[layers_per_block[stage] if count(layers_per_block) > 1 else layers_per_block {EACH}",
        "up_layers": f"[layers[blocks - 1 - stage] + 1 {EACH}",
        "depths": (
            "[transformer_layers_per_block[stage] if count(transformer_layers_per_block) > 1 "
            f"else transformer_layers_per_block {EACH}"
        ),
        "contexts": f"[cross_attention_dim[stage] if count(cross_attention_dim) > 1 else cross_attention_dim {EACH}",
    },
)
