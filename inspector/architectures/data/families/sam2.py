"""Segment Anything 2, and EdgeTAM: masks of what points, boxes or masks ask for; in a video the frames before are remembered."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families.convolutions import convolution
from inspector.architectures.table import Family, Include, Row

PROMPT, MASK, VISION = "prompt_encoder_config.", "mask_decoder_config.", "vision_config."
#: Suffixes of the classes that remember: the video model, and the same as a part of another.
REMEMBERS = "Model Part"
#: The memory's width where it is looked at is in no configuration.
MEMORY_WIDTH = 64
EDGE = "is_edge"


def linear(role: str, name: str, shape: str, *, group: str = "", heads: str = "", tower: str = "decoder") -> Row:
    return Row(role, name, shape, bias="True", group=group, heads=heads, tower=tower)


def table(role: str, name: str, shape: str, *, heads: str = "", when: str = "", tower: str = "decoder") -> Row:
    """Learned numbers that no module wraps."""
    return Row(role, name, shape, heads=heads, when=when, leaf="", tower=tower, group="embedding")


def widened(role: str, name: str, before: str, after: str, when: str = "", tower: str = "decoder") -> Iterator[Row]:
    """A convolution that doubles the resolution: in, out, height, width."""
    shape = f"{before}, {after}, 2, 2"
    yield Row(role, name, shape, when=when, tower=tower, group="convolution")
    yield Row(role, name, after, when=when, leaf="bias", tower=tower, group="convolution")


def perceptron(role: str, name: str, widths: str, layers: str, heads: str = "", group: str = "head") -> Iterator[Row]:
    """Linear layers in a row: of so many layers, and the widths before, within and after it."""
    before, inside, after = (width.strip() for width in widths.split(","))
    yield linear(role + "_in", name + ".proj_in", f"{inside}, {before}", heads=heads, group=group)
    inner = f"{name}.layers.{{part<max({layers} - 2, 0)}}"
    yield linear(role, inner, f"{inside}, {inside}", heads=heads, group=group)
    yield linear(role + "_out", name + ".proj_out", f"{after}, {inside}", heads=heads, group=group)


def attention(
    before: str, name: str, width: str, inner: str, keys: str = "", heads: str = "", tower: str = "decoder"
) -> Iterator[Row]:
    """Attention of an inner width; `keys` is the width of what is looked at, where it is another."""
    for role, of in {"q_proj": width, "k_proj": keys or width, "v_proj": keys or width}.items():
        shape = f"{inner}, {of}"
        yield linear(before + role, f"{name}.{role}", shape, heads=heads, group="attention", tower=tower)
    yield linear(before + "o_proj", name + ".o_proj", f"{width}, {inner}", heads=heads, group="attention", tower=tower)


def prompt_encoder(prefix: str) -> Iterator[Row]:
    """Points and boxes as embeddings, masks through three convolutions; places as frequencies drawn once."""
    width, channels = PROMPT + "hidden_size", PROMPT + "mask_input_channels"
    for role, name in (
        ("frequencies", "shared_image_embedding"),
        ("prompt_frequencies", "prompt_encoder.shared_embedding"),
    ):
        path = f"{prefix}{name}.positional_embedding"
        yield Row(role, path, f"2, {width} // 2", leaf="", buffer=True, persistent=True, tower="encoder")
    name = prefix + "prompt_encoder."
    for number, shape in {
        1: f"{channels} // 4, 1, 2, 2",
        2: f"{channels}, {channels} // 4, 2, 2",
        3: f"{width}, {channels}, 1, 1",
    }.items():
        path = f"{name}mask_embed.conv{number}"
        yield convolution(f"mask_convolution{number}", path, shape, bias="True", tower="encoder")
    for number, size in {1: f"{channels} // 4", 2: f"{channels} // 4 * 4"}.items():
        yield linear(f"mask_norm{number}", f"{name}mask_embed.layer_norm{number}", size, tower="encoder")
    for word, rows in {"no_mask": "1", "point": PROMPT + "num_point_embeddings", "not_a_point": "1"}.items():
        yield Row(f"embed_{word}", f"{name}{word}_embed", f"{rows}, {width}", tower="encoder")


def mask_decoder(prefix: str) -> Iterator[Row]:
    """A transformer in which prompts and picture look at each other, and what makes masks and scores of it."""
    width, tokens = MASK + "hidden_size", MASK + "num_multimask_outputs + 1"
    inner = f"{width} // {MASK}attention_downsample_rate"
    name = prefix + "mask_decoder."
    for word, rows in {"iou": "1", "mask": tokens, "obj_score": "1"}.items():
        path = f"{name}{word}_tokens" if word == "mask" else f"{name}{word}_token"
        yield Row(f"embed_{word}", path, f"{rows}, {width}", tower="decoder")
    layer = f"{name}transformer.layers.{{layer<{MASK}num_hidden_layers}}."
    yield from attention("", layer + "self_attn", width, width)
    yield from attention("cross_", layer + "cross_attn_token_to_image", width, inner)
    yield from attention("image_cross_", layer + "cross_attn_image_to_token", width, inner)
    widths = f"{width}, {MASK}mlp_dim, {width}"
    yield from perceptron("feed_forward", layer + "mlp", widths, MASK + "num_hidden_layers", group="feed_forward")
    for number in (1, 2, 3, 4):
        yield linear(f"layernorm{number}", f"{layer}layer_norm{number}", width)
    yield from attention("final_", name + "transformer.final_attn_token_to_image", width, inner)
    yield linear("norm", name + "transformer.layer_norm_final_attn", width)
    yield from widened("upscale1", name + "upscale_conv1", width, f"{width} // 4")
    yield from widened("upscale2", name + "upscale_conv2", f"{width} // 4", f"{width} // 8")
    yield linear("upscale_norm", name + "upscale_layer_norm", f"{width} // 4")
    for number, part in ((0, 8), (1, 4)):
        shape = f"{width} // {part}, {width}, 1, 1"
        yield convolution(f"fine_features{number}", f"{name}conv_s{number}", shape, bias="True", tower="decoder")
    mlps = f"{name}output_hypernetworks_mlps.{{layer<{tokens}}}"
    yield from perceptron("mask_predictor", mlps, f"{width}, {width}, {width} // 8", "3")
    widths = f"{width}, {MASK}iou_head_hidden_dim, {tokens}"
    yield from perceptron("iou_predictor", name + "iou_prediction_head", widths, MASK + "iou_head_depth")
    yield from perceptron("score_predictor", name + "pred_obj_score_head", f"{width}, {width}, 1", "3")


def memory_feed_forward(layer: str, words: tuple[str, str], inner: str, when: str) -> Iterator[Row]:
    width, (up, down) = "memory_attention_hidden_size", words
    for role, word, shape in (("up_proj", up, f"{inner}, {width}"), ("down_proj", down, f"{width}, {inner}")):
        yield Row(role, layer + word, shape, bias="True", when=when, heads=REMEMBERS, tower="memory")


def memory_attention(prefix: str) -> Iterator[Row]:
    """The picture looks at itself and at what was remembered."""
    width, inner = "memory_attention_hidden_size", "memory_attention_hidden_size // memory_attention_downsample_rate"
    name = prefix + "memory_attention."
    layer = name + "layers.{layer<memory_attention_num_layers}."
    yield from attention("", layer + "self_attn", width, inner, "", REMEMBERS, "memory")
    yield from attention("cross_", layer + "cross_attn_image", width, inner, str(MEMORY_WIDTH), REMEMBERS, "memory")
    yield from memory_feed_forward(
        layer, ("linear1", "linear2"), "memory_attention_feed_forward_hidden_size", f"not ({EDGE})"
    )
    yield from memory_feed_forward(layer, ("mlp.up_proj", "mlp.down_proj"), "memory_attention_mlp_hidden_size", EDGE)
    for number, role in enumerate(("input_layernorm", "cross_layernorm", "pre_feedforward_layernorm"), 1):
        path = f"{layer}layer_norm{number}"
        yield linear(role, path, width, heads=REMEMBERS, tower="memory", group="norm")
    yield linear("norm", name + "layer_norm", width, heads=REMEMBERS, tower="memory")


def memory_convolution(role: str, name: str, shape: str) -> Row:
    return convolution(role, name, shape, bias="True", heads=REMEMBERS, tower="memory")


def memory_encoder(prefix: str) -> Iterator[Row]:
    """A frame's features and its mask, which is made smaller step by step, as what is remembered."""
    name = prefix + "memory_encoder."
    step = name + "mask_downsampler.layers.{layer<mask_steps}."
    kernel, stride = "mask_downsampler_kernel_size", "mask_downsampler_stride"
    channels = f"{stride} ** (2 * layer + 2), {stride} ** (2 * layer)"
    yield memory_convolution("mask_downsample", step + "conv", f"{channels}, {kernel}, {kernel}")
    size = f"{stride} ** (2 * layer + 2)"
    yield linear("mask_downsample_norm", step + "layer_norm", size, heads=REMEMBERS, tower="memory")
    shape = f"mask_downsampler_embed_dim, {stride} ** (2 * mask_steps), 1, 1"
    yield memory_convolution("mask_projection", name + "mask_downsampler.final_conv", shape)
    width = "memory_encoder_hidden_size"
    yield memory_convolution("feature_projection", name + "feature_projection", f"{width}, {width}, 1, 1")
    yield memory_convolution("output_projection", name + "projection", f"memory_encoder_output_channels, {width}, 1, 1")
    fuser = name + "memory_fuser.layers.{layer<memory_fuser_num_layers}."
    width, inner, kernel = "memory_fuser_embed_dim", "memory_fuser_intermediate_dim", "memory_fuser_kernel_size"
    yield memory_convolution("fuser_depthwise", fuser + "depthwise_conv", f"{width}, 1, {kernel}, {kernel}")
    yield linear("fuser_norm", fuser + "layer_norm", width, heads=REMEMBERS, tower="memory")
    for role, word, shape in (
        ("fuser_up_proj", "pointwise_conv1", f"{inner}, {width}"),
        ("fuser_down_proj", "pointwise_conv2", f"{width}, {inner}"),
    ):
        yield linear(role, fuser + word, shape, heads=REMEMBERS, tower="memory")
    yield Row("fuser_scale", fuser + "scale", width, heads=REMEMBERS, leaf="", tower="memory")


def perceiver_part(
    role: str, name: str, shape: str, bias: str = "", group: str = "", leaf: str = "weight", when: str = EDGE
) -> Row:
    return Row(role, name, shape, bias=bias, when=when, heads=REMEMBERS, leaf=leaf, tower="perceiver", group=group)


def perceiver(prefix: str) -> Iterator[Row]:
    """EdgeTAM remembers a few latents, some of the whole frame and some of places in it."""
    width, inner = "perceiver_resampler_hidden_size", "perceiver_resampler_mlp_intermediate_size"
    heads = "perceiver_resampler_num_attention_heads * perceiver_resampler_attention_head_dim"
    name = prefix + "spatial_perceiver."
    for word, number in {"1d": "perceiver_resampler_num_latents", "2d": "perceiver_resampler_num_latents_2d"}.items():
        role, when = f"latents_{word}", f"{EDGE} and {number} > 0"
        yield perceiver_part(role, name + role, f"{number}, {width}", group="embedding", leaf="", when=when)
    layer = name + "layers.{layer<perceiver_resampler_num_layers}."
    for before, block, mlp in (("cross_", "cross_attention", "mlp"), ("", "self_attention", "self_mlp")):
        for role in ("q_proj", "k_proj", "v_proj"):
            yield perceiver_part(before + role, f"{layer}{block}.{role}", f"{heads}, {width}")
        yield perceiver_part(before + "o_proj", f"{layer}{block}.o_proj", f"{width}, {heads}")
        yield perceiver_part(before + "up_proj", f"{layer}{mlp}.up_proj", f"{inner}, {width}", group="feed_forward")
        yield perceiver_part(before + "down_proj", f"{layer}{mlp}.down_proj", f"{width}, {inner}", group="feed_forward")
        role = before + "pre_feedforward_layernorm"
        yield perceiver_part(role, f"{layer}{mlp}.layer_norm", width, "True", "norm")
    for word in ("input", "latents", "self"):
        yield perceiver_part(f"{word}_layernorm", f"{layer}layer_norm_{word}", width, "True", "norm")
    yield perceiver_part("norm", name + "layer_norm", width, "True", "norm")


def remembered(prefix: str) -> Iterator[Row]:
    """What stands for frames, places and things in the memory."""
    width, memory = VISION + "fpn_hidden_size", "memory_encoder_output_channels"
    yield table("no_memory", prefix + "no_memory_embedding", f"1, 1, {width}")
    for role, name, shape, when in (
        ("no_memory_positions", "no_memory_positional_encoding", f"1, 1, {width}", ""),
        ("memory_positions", "memory_temporal_positional_encoding", f"num_maskmem, 1, 1, {memory}", ""),
        ("no_object", "no_object_pointer", f"1, {width}", ""),
        (
            "occlusion",
            "occlusion_spatial_embedding_parameter",
            f"1, {memory}",
            "enable_occlusion_spatial_embedding",
        ),
    ):
        yield table(role, prefix + name, shape, heads=REMEMBERS, when=when, tower="memory")
    yield memory_convolution("pointer_mask_downsample", prefix + "mask_downsample", "1, 1, 4, 4")
    widths = f"{width}, {width}, {width}"
    yield from perceptron("object_pointer", prefix + "object_pointer_proj", widths, "3", REMEMBERS, "other")
    yield Row(
        "pointer_positions",
        prefix + "temporal_positional_encoding_projection_layer",
        f"{memory}, {width}",
        bias="True",
        when="enable_temporal_pos_encoding_for_object_pointers",
        heads=REMEMBERS,
        tower="memory",
    )


def masks(prefix: str) -> Iterator[Row]:
    """All but the vision tower."""
    yield from prompt_encoder(prefix)
    yield from mask_decoder(prefix)
    yield from remembered(prefix)
    yield from memory_attention(prefix)
    yield from memory_encoder(prefix)
    yield from perceiver(prefix)


DEFAULTS = {
    "is_edge": False,
    "vision_config": {"fpn_hidden_size": 256},
    "prompt_encoder_config": {"hidden_size": 256, "mask_input_channels": 16, "num_point_embeddings": 4},
    "mask_decoder_config": {
        "hidden_size": 256,
        "mlp_dim": 2048,
        "num_hidden_layers": 2,
        "attention_downsample_rate": 2,
        "num_multimask_outputs": 3,
        "iou_head_depth": 3,
        "iou_head_hidden_dim": 256,
    },
    "num_maskmem": 7,
    "enable_occlusion_spatial_embedding": True,
    "enable_temporal_pos_encoding_for_object_pointers": True,
    "memory_attention_hidden_size": 256,
    "memory_attention_num_layers": 4,
    "memory_attention_downsample_rate": 1,
    "memory_attention_feed_forward_hidden_size": 2048,
    "memory_attention_mlp_hidden_size": 2048,
    "memory_encoder_hidden_size": 256,
    "memory_encoder_output_channels": 64,
    "mask_downsampler_embed_dim": 256,
    "mask_downsampler_kernel_size": 3,
    "mask_downsampler_stride": 2,
    "mask_downsampler_total_stride": 16,
    "memory_fuser_num_layers": 2,
    "memory_fuser_embed_dim": 256,
    "memory_fuser_intermediate_dim": 1024,
    "memory_fuser_kernel_size": 7,
    "perceiver_resampler_num_latents": 256,
    "perceiver_resampler_num_latents_2d": 256,
    "perceiver_resampler_hidden_size": 64,
    "perceiver_resampler_mlp_intermediate_size": 256,
    "perceiver_resampler_num_attention_heads": 1,
    "perceiver_resampler_attention_head_dim": 64,
    "perceiver_resampler_num_layers": 2,
}
#: As often as the stride goes into what the mask is made smaller by.
DERIVED = {
    "mask_steps": "sum([1 if mask_downsampler_stride ** (step + 1) <= mask_downsampler_total_stride else 0"
    " for step in range(16)])"
}

FAMILY = Family(
    name="sam2",
    types={"sam2": {}, "sam2_video": {}, "edgetam_video": {"is_edge": True, "memory_attention_num_layers": 2}},
    rows=(
        Include("vision_config", "vision_encoder.", tower="vision", head="Model", default_type="sam2_vision_model"),
        *masks(""),
    ),
    # The model of pictures is of the video model's type too, and remembers nothing.
    classes={"Sam2Model": "Picture", "EdgeTamModel": "Picture"},
    head="Picture",
    defaults=DEFAULTS,
    derived=DERIVED,
)
