"""Depth Pro: DINOv2 over the picture and over patches of it at several scales, fused; a third tells the field of view."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families.convolutions import convolution
from inspector.architectures.data.families.dpt import DEPTH, FUSED, FUSION_BIAS, fusion_layer
from inspector.architectures.table import Family, Include, Row

ENCODER, NECK = "depth_pro.encoder.", "depth_pro.neck."
UPSAMPLE = NECK + "feature_upsample."
VIEW = "fov_model."
SEES_VIEW = "use_fov_model"


def transformer(scope: str, name: str, tower: str, heads: str = "", when: str = "") -> Include:
    return Include(scope, name, tower=tower, head="Model", default_type="dinov2", heads=heads, when=when)


def upsampled() -> Iterator[Row]:
    """A convolution to a width, and transposed ones (in, out, height, width) that double the resolution."""
    first = "scaled_images_feature_dims[0]"
    name = UPSAMPLE + "image_block.layers.0"
    yield convolution("image_upsample", name, f"image_model_config.hidden_size, {first}, 2, 2")
    yield Row("image_upsample", name, first, leaf="bias", group="convolution")
    width, given = "scaled_images_feature_dims[layer]", "patch_model_config.hidden_size"
    name = UPSAMPLE + "scaled_images.{layer<len(scaled_images_feature_dims)}.layers.{part<2}"
    size = "1 if part == 0 else 2"
    yield convolution("scaled_upsample", name, f"{width}, {given} if part == 0 else {width}, {size}, {size}")
    # The further from the last layer, the more often.
    width = "intermediate_feature_dims[layer]"
    middle = f"({FUSED} if layer == 0 else {width})"
    name = UPSAMPLE + "intermediate.{layer<len(intermediate_feature_dims)}.layers.{part<3 + layer}"
    shape = f"{middle} if part < 2 else {width}, {given} if part == 0 else {width}, {size}, {size}"
    yield convolution("intermediate_upsample", name, shape)


def neck() -> Iterator[Row]:
    yield from upsampled()
    first = "scaled_images_feature_dims[0]"
    yield convolution("image_fusion", NECK + "fuse_image_with_low_res", f"{first}, 2 * {first}, 1, 1", bias="True")
    yield convolution(
        "feature_projection",
        NECK + "feature_projection.projections.{layer<len(feature_dims)}",
        f"{FUSED}, feature_dims[layer], 3, 3",
        when=f"layer < len(feature_dims) - 1 or feature_dims[layer] != {FUSED}",
    )


def fusion() -> Iterator[Row]:
    stage = "fusion_stage."
    layers = "len(intermediate_hook_ids) + len(scaled_images_ratios) - 1"
    layer = f"{stage}intermediate.{{layer<{layers}}}."
    yield from fusion_layer(layer, DEPTH)
    yield convolution("fusion_upsample", layer + "deconv", f"{FUSED}, {FUSED}, 2, 2", heads=DEPTH)
    yield from fusion_layer(stage + "final.", DEPTH, "final_fusion")


def head() -> Iterator[Row]:
    """To half the width, to twice the resolution, to 32 channels, to one."""
    half = f"{FUSED} // 2"
    shapes = {0: f"{half}, {FUSED}, 3, 3", 1: f"{half}, {half}, 2, 2", 2: f"32, {half}, 3, 3", 4: "1, 32, 1, 1"}
    for part, shape in shapes.items():
        yield Row("head_layer", f"head.layers.{part}", shape, bias="True", heads=DEPTH, group="head")


def view() -> Iterator[Include | Row]:
    """The field of view: convolutions that halve width and resolution, the last over all that is left."""
    yield transformer("fov_model_config", VIEW + "fov_encoder.model.", "view", DEPTH, SEES_VIEW)
    shape = f"{FUSED} // 2, fov_model_config.hidden_size"
    name = VIEW + "fov_encoder.neck"
    yield Row("view_projection", name, shape, bias="True", when=SEES_VIEW, heads=DEPTH, tower="view")
    shape = f"{FUSED} // 2, {FUSED}, 3, 3"
    yield convolution("view_convolution", VIEW + "conv", shape, bias="True", when=SEES_VIEW, heads=DEPTH, tower="view")
    # Convolutions and activations stand in one list.
    last = "part == 2 * num_fov_head_layers"
    width, kernel = f"ceil({FUSED} / 2 ** (part // 2 + 2))", f"view_size if {last} else 3"
    yield Row(
        "view_head_layer",
        VIEW + "head.layers.{part<2 * num_fov_head_layers + 1}",
        f"1 if {last} else {width}, ceil({FUSED} / 2 ** (part // 2 + 1)), {kernel}, {kernel}",
        bias="True",
        when=f"{SEES_VIEW} and part % 2 == 0",
        heads=DEPTH,
        tower="view",
        group="head",
    )


PICTURE = {"image_size": 384}

FAMILY = Family(
    name="depth_pro",
    types={"depth_pro": {}},
    rows=(
        transformer("image_model_config", ENCODER + "image_encoder.model.", "vision"),
        transformer("patch_model_config", ENCODER + "patch_encoder.model.", "patches"),
        *neck(),
        *fusion(),
        *head(),
        *view(),
    ),
    prefix="depth_pro.",
    head=DEPTH,
    defaults={
        "image_model_config": PICTURE,
        "patch_model_config": PICTURE,
        "fov_model_config": PICTURE,
        "fusion_hidden_size": 256,
        "intermediate_hook_ids": [11, 5],
        "intermediate_feature_dims": [256, 256],
        "scaled_images_ratios": [0.25, 0.5, 1],
        "scaled_images_feature_dims": [1024, 1024, 512],
        "use_batch_norm_in_fusion_residual": False,
        "use_bias_in_fusion_residual": True,
        "use_fov_model": False,
        "num_fov_head_layers": 2,
    },
    derived={
        "feature_dims": "scaled_images_feature_dims + intermediate_feature_dims",
        "fusion_bias": FUSION_BIAS,
        "view_size": "int((image_model_config.image_size // image_model_config.patch_size - 1)"
        " / 2 ** num_fov_head_layers + 1)",
    },
)
