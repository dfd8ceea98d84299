"""OmDet-Turbo: a detector for classes in words, over Swin's features and CLIP's text model.

timm/models/swin_transformer.py: the configuration only names the backbone, so its sizes stand here.
"""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families.deformable_detr import sampling
from inspector.architectures.data.families.detr import linear
from inspector.architectures.data.families.shared import batch_norm
from inspector.architectures.table import Family, Include, Row

SWIN = "vision_backbone.vision_backbone._backbone."
SWIN_WIDTH, WINDOW = 96, 7
WIDTH = "decoder_hidden_dim"
DECODER = "decoder.layers.{layer<decoder_num_layers}."
LEVELS = "len(encoder_in_channels)"


def swin_stage(number: int) -> Iterator[Row]:
    """The blocks of a stage of windowed attention, after what halves the image."""
    width, heads = SWIN_WIDTH * 2**number, 3 * 2**number
    at = f"{SWIN}layers_{number}."
    block = f"{at}blocks.{{block<swin_depths[{number}]}}."

    def row(role: str, name: str, shape: str, group: str, bias: str = "True", leaf: str = "weight") -> Row:
        return Row(f"stage{number}_{role}", name, shape, bias=bias, tower="vision", leaf=leaf, group=group)

    if number:
        yield row("downsample_norm", at + "downsample.norm", str(2 * width), "norm")
        yield row("downsample", at + "downsample.reduction", f"{width}, {2 * width}", "convolution", "")
    yield row("norm1", block + "norm1", str(width), "norm")
    positions = f"{(2 * WINDOW - 1) ** 2}, {heads}"
    yield row("positions", block + "attn.relative_position_bias_table", positions, "attention", "", "")
    yield row("qkv", block + "attn.qkv", f"{3 * width}, {width}", "attention")
    yield row("proj", block + "attn.proj", f"{width}, {width}", "attention")
    yield row("norm2", block + "norm2", str(width), "norm")
    yield row("up", block + "mlp.fc1", f"{4 * width}, {width}", "feed_forward")
    yield row("down", block + "mlp.fc2", f"{width}, {4 * width}", "feed_forward")


def vision() -> Iterator[Row]:
    """Swin, and a norm after each stage that is used."""
    shape = f"{SWIN_WIDTH}, backbone_config.num_channels or 3, 4, 4"
    yield Row("embed_patches", SWIN + "patch_embed.proj", shape, bias="True", tower="vision")
    yield Row("embed_norm", SWIN + "patch_embed.norm", str(SWIN_WIDTH), bias="True", tower="vision")
    for number in range(4):
        yield from swin_stage(number)
    name = f"vision_backbone.layer_norms.{{layer<{LEVELS}}}"
    yield Row("layer_norms", name, "encoder_in_channels[layer]", bias="True", tower="vision")


def convolution(role: str, name: str, out: str, before: str, kernel: int, when: str = "") -> Iterator[Row]:
    """A convolution and its batch norm."""
    shape = f"{out}, {before}, {kernel}, {kernel}"
    yield Row(role, name + ".conv", shape, when=when, tower="encoder", group="convolution")
    yield from batch_norm(f"{role}_norm", name + ".norm", out, when=when, tower="encoder")


def projections(tower: str, channels: str, width: str) -> Iterator[Row]:
    """Features of every level at one width; the convolution and its norm go by one role."""
    name = f"{tower}.channel_projection_layers.{{layer<len({channels})}}."
    shape = f"{width}, {channels}[layer], 1, 1"
    yield Row("channel_projection", name + "0", shape, tower=tower, group="convolution")
    yield from batch_norm("channel_projection", name + "1", width, tower=tower)


def join(word: str) -> Iterator[Row]:
    """What joins two levels: three blocks beside one convolution."""
    at, inner = f"encoder.{word}.{{layer<{LEVELS} - 1}}.", "scaled(d_model, hidden_expansion)"
    yield from convolution(f"{word}_conv1", at + "conv1", inner, "2 * d_model", 1)
    yield from convolution(f"{word}_conv2", at + "conv2", inner, "2 * d_model", 1)
    block = at + "bottlenecks.{block<3}."
    yield from convolution(f"{word}_block_conv1", block + "conv1", inner, inner, 3)
    yield from convolution(f"{word}_block_conv2", block + "conv2", inner, inner, 1)
    yield from convolution(f"{word}_conv3", at + "conv3", "d_model", inner, 1, f"{inner} != d_model")


def attention(at: str, width: str, tower: str) -> Iterator[Row]:
    for role, word in (("q_proj", "query"), ("k_proj", "key"), ("v_proj", "value"), ("o_proj", "out_proj")):
        yield linear(role, f"{at}self_attn.{word}", f"{width}, {width}", tower)


def encoder() -> Iterator[Row]:
    """Attention over the smallest levels, then convolutions down and up again."""
    yield from projections("encoder", "encoder_in_channels", "d_model")
    layer = "encoder.encoder.{at<len(encoder_projection_indices)}.layers.{layer<encoder_layers}."
    yield from attention(layer, "d_model", "encoder")
    yield linear("post_attention_layernorm", layer + "self_attn_layer_norm", "d_model", "encoder")
    yield linear("up_proj", layer + "fc1", "encoder_dim_feedforward, d_model", "encoder")
    yield linear("down_proj", layer + "fc2", "d_model, encoder_dim_feedforward", "encoder")
    yield linear("post_feedforward_layernorm", layer + "final_layer_norm", "d_model", "encoder")
    for word, kernel, blocks in (("lateral_convs", 1, "fpn_blocks"), ("downsample_convs", 3, "pan_blocks")):
        yield from convolution(word, f"encoder.{word}.{{layer<{LEVELS} - 1}}", "d_model", "d_model", kernel)
        yield from join(blocks)


def head(role: str, name: str, shape: str) -> Row:
    return Row(role, f"decoder.{name}", shape, bias="True", tower="decoder", group="head")


def decoder() -> Iterator[Row]:
    """Deformable attention over all levels; classes are found by their distance to words."""
    yield from projections("decoder", "vision_features_channels", WIDTH)
    yield head("task_up", "task_encoder.mlp.linear1", "task_encoder_hidden_dim, class_embed_dim")
    yield head("task_down", "task_encoder.mlp.linear2", "class_embed_dim, task_encoder_hidden_dim")
    yield linear("task_norm", "decoder.task_encoder.res1.norm1", "class_embed_dim", "decoder")
    task = head("task_project", "task_project", f"{WIDTH}, class_embed_dim")
    yield task._replace(when=f"class_embed_dim != {WIDTH}")
    yield from attention(DECODER, WIDTH, "decoder")
    yield linear("post_attention_layernorm", DECODER + "norm1", WIDTH, "decoder")
    yield from sampling(DECODER + "cross_attn", "decoder", "decoder_num_heads", "decoder_num_points", "cross_")
    yield linear("cross_layernorm", DECODER + "norm2", WIDTH, "decoder", group="norm")
    yield linear("up_proj", DECODER + "linear1", f"decoder_dim_feedforward, {WIDTH}", "decoder")
    yield linear("down_proj", DECODER + "linear2", f"{WIDTH}, decoder_dim_feedforward", "decoder")
    yield linear("post_feedforward_layernorm", DECODER + "norm3", WIDTH, "decoder")
    yield Row(
        "tgt_embed",
        "decoder.tgt_embed",
        f"num_queries, {WIDTH}",
        when="learn_initial_query",
        tower="decoder",
        group="embedding",
    )
    places = f"{WIDTH} if layer == 1 else 2 * {WIDTH}, 4 if layer == 0 else 2 * {WIDTH}"
    yield head("query_position_head", "query_position_head.layers.{layer<2}", places)
    yield head("encoder_vision_features", "encoder_vision_features.0", f"{WIDTH}, {WIDTH}")
    yield head("encoder_vision_norm", "encoder_vision_features.1", WIDTH)._replace(group="norm")
    kind, box = f"{WIDTH}, class_embed_dim", f"4 if at == 2 else {WIDTH}, {WIDTH}"
    yield head("encoder_class_head", "encoder_class_head", kind)
    yield head("encoder_bbox_head", "encoder_bbox_head.layers.{at<3}", box)
    yield head("decoder_class_head", "decoder_class_head.{layer<decoder_num_layers}", kind)
    yield head("decoder_bbox_head", "decoder_bbox_head.{layer<decoder_num_layers}.layers.{at<3}", box)


FAMILY = Family(
    name="omdet-turbo",
    types={"omdet-turbo": {}},
    rows=(
        *vision(),
        Include("text_config", "language_backbone.model.", head="Model", default_type="clip_text_model"),
        Row(
            "text_projection",
            "language_backbone.text_projection",
            "text_projection_in_dim, text_projection_out_dim",
            leaf="",
            group="head",
        ),
        *encoder(),
        *decoder(),
    ),
    defaults={
        "backbone": "swin_tiny_patch4_window7_224",
        "backbone_config": {},
        "class_embed_dim": 512,
        "d_model": 256,
        "decoder_dim_feedforward": 2048,
        "decoder_hidden_dim": 256,
        "decoder_num_heads": 8,
        "decoder_num_layers": 6,
        "decoder_num_points": 4,
        "encoder_dim_feedforward": 2048,
        "encoder_in_channels": [192, 384, 768],
        "encoder_layers": 1,
        "encoder_projection_indices": [2],
        "hidden_expansion": 1,
        "learn_initial_query": False,
        "num_feature_levels": 3,
        "num_queries": 900,
        "task_encoder_hidden_dim": 1024,
        "text_projection_in_dim": 512,
        "text_projection_out_dim": 512,
        "vision_features_channels": [256, 256, 256],
    },
    derived={
        "backbone_name": "backbone_config.backbone"
        " or (backbone if backbone_config.model_type in (None, 'timm_backbone') else backbone_config.model_type)",
        "swin_depths": "[2, 2, 6, 2] if backbone_name == 'swin_tiny_patch4_window7_224'"
        " else depths_of_this_timm_architecture",
    },
    fields={"encoder_hidden_dim": "d_model"},
    head="ForObjectDetection",
)
