"""DPT: a vision transformer, whose layers' features are brought to four resolutions and fused from the coarsest on."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families.convolutions import batch_norm, convolution
from inspector.architectures.table import Family, Include, Row

LAYER = "dpt.encoder.layer.{layer<num_hidden_layers}."
DEPTH, CLASSES = "ForDepthEstimation", "ForSemanticSegmentation"
SQUARE = "hidden_size, hidden_size"
HYBRID, PLAIN = "is_hybrid", "not is_hybrid"
#: Depth may be told from another model's features instead of one's own transformer's.
OTHERS = "not is_hybrid and backbone_config is not None"
FUSED = "fusion_hidden_size"


def linear(role: str, name: str, shape: str, heads: str, when: str, bias: str = "True") -> Row:
    return Row(role, name, shape, bias=bias, heads=heads, when=when)


def both(*conditions: str) -> str:
    return " and ".join(filter(None, conditions))


def body(heads: str, when: str = "") -> Iterator[Row]:
    """The transformer, over patches, or over what a convolutional network makes of the picture."""
    name = "dpt.embeddings."
    patches = "(image_size // patch_size) ** 2 + 1"
    yield Row("embed_class", name + "cls_token", "1, 1, hidden_size", heads=heads, when=when, leaf="")
    places = f"1, {patches}, hidden_size"
    yield Row("embed_positions", name + "position_embeddings", places, heads=heads, when=when, leaf="")
    shape = "hidden_size, num_channels, patch_size, patch_size"
    yield linear("embed_patches", name + "patch_embeddings.projection", shape, heads, both(when, PLAIN))
    shape = "hidden_size, backbone_featmap_shape[1], 1, 1"
    yield linear("embed_features", name + "projection", shape, heads, both(when, HYBRID))
    for role, word in {"q_proj": "query", "k_proj": "key", "v_proj": "value"}.items():
        yield linear(role, f"{LAYER}attention.attention.{word}", SQUARE, heads, when, "qkv_bias")
    yield linear("o_proj", LAYER + "attention.output.dense", SQUARE, heads, when)
    yield linear("up_proj", LAYER + "intermediate.dense", "intermediate_size, hidden_size", heads, when)
    yield linear("down_proj", LAYER + "output.dense", "hidden_size, intermediate_size", heads, when)
    yield linear("input_layernorm", LAYER + "layernorm_before", "hidden_size", heads, when)
    yield linear("post_attention_layernorm", LAYER + "layernorm_after", "hidden_size", heads, when)
    yield linear("norm", "dpt.layernorm", "hidden_size", heads, when)


def neck() -> Iterator[Row]:
    """The features are told of the class token, brought to their widths and resolutions, and fused."""
    heads = f"{DEPTH} {CLASSES}"
    stage = "neck.reassemble_stage."
    # A hybrid takes its first two features from the convolutional network, Swin's are at their resolutions already.
    here = "(not is_hybrid or layer > 1) and backbone_config.model_type != 'swinv2'"
    readout = stage + "readout_projects.{layer<len(neck_hidden_sizes)}.0"
    told = both(here, "readout_type == 'project'")
    yield Row("readout_projection", readout, "neck_width, 2 * neck_width", bias="True", heads=heads, when=told)
    layer = stage + "layers.{layer<min(len(neck_hidden_sizes), len(reassemble_factors))}."
    width, factor = "neck_hidden_sizes[layer]", "reassemble_factors[layer]"
    shape = f"{width}, neck_width, 1, 1"
    yield convolution("projection", layer + "projection", shape, bias="True", heads=heads, when=here)
    size = f"int({factor}) if {factor} > 1 else 3"
    shape = f"{width}, {width}, {size}, {size}"
    yield convolution("resize", layer + "resize", shape, bias="True", heads=heads, when=both(here, f"{factor} != 1"))
    name = "neck.convs.{layer<len(neck_hidden_sizes)}"
    yield convolution("neck_convolution", name, f"{FUSED}, {width}, 3, 3", heads=heads)
    yield from fusion_layer("neck.fusion_stage.layers.{layer<len(neck_hidden_sizes)}.", heads)


def fusion_layer(name: str, heads: str, role: str = "fusion") -> Iterator[Row]:
    """Features joined with those of the next resolution: two blocks of two convolutions, and one more."""
    shape = f"{FUSED}, {FUSED}, 1, 1"
    yield convolution(role + "_projection", name + "projection", shape, bias="True", heads=heads)
    for block in (1, 2):
        for part in (1, 2):
            convolved, path = f"{role}{block}_convolution{part}", f"{name}residual_layer{block}."
            shape = f"{FUSED}, {FUSED}, 3, 3"
            yield convolution(convolved, f"{path}convolution{part}", shape, bias="fusion_bias", heads=heads)
            when = "use_batch_norm_in_fusion_residual"
            yield from batch_norm(f"{convolved}_norm", f"{path}batch_norm{part}", FUSED, when=when, heads=heads)


def depth_head() -> Iterator[Row]:
    """Three convolutions, to one channel."""
    name = "head.projection"
    yield convolution("head_projection", name, "256, 256, 3, 3", bias="True", when="add_projection", heads=DEPTH)
    for part, shape in {0: f"{FUSED} // 2, {FUSED}, 3, 3", 2: f"32, {FUSED} // 2, 3, 3", 4: "1, 32, 1, 1"}.items():
        yield Row("head_layer", f"head.head.{part}", shape, bias="True", heads=DEPTH)


def class_head(role: str, name: str, when: str = "") -> Iterator[Row]:
    """A convolution, a norm, and a channel a class."""
    yield Row(role, name + ".0", f"{FUSED}, {FUSED}, 3, 3", when=when, heads=CLASSES, group="head")
    yield from batch_norm(f"{role}_norm", name + ".1", FUSED, when=when, heads=CLASSES)
    yield Row(role, name + ".4", f"num_labels, {FUSED}, 1, 1", bias="True", when=when, heads=CLASSES, group="head")


FUSION_BIAS = (
    "not use_batch_norm_in_fusion_residual if use_bias_in_fusion_residual is None else use_bias_in_fusion_residual"
)

FAMILY = Family(
    name="dpt",
    types={"dpt": {}},
    rows=(
        Include("backbone_config", "dpt.embeddings.backbone.", tower="vision", default_type="bit", when=HYBRID),
        Include("backbone_config", "backbone.", tower="vision", head="Backbone", heads=DEPTH, when=OTHERS),
        *body(f"body Model {CLASSES}"),
        *body(DEPTH, f"not ({OTHERS})"),
        Row("pooler", "dpt.pooler.dense", "pooler_output_size or hidden_size, hidden_size", bias="True", heads="Model"),
        *neck(),
        *depth_head(),
        *class_head("head_layer", "head.head"),
        *class_head("auxiliary_head_layer", "auxiliary_head.head", "use_auxiliary_head"),
    ),
    prefix="dpt.",
    head="Model",
    defaults={
        "backbone_config": None,
        "hidden_size": 768,
        "num_hidden_layers": 12,
        "intermediate_size": 3072,
        "image_size": 384,
        "patch_size": 16,
        "num_channels": 3,
        "is_hybrid": False,
        "qkv_bias": True,
        "readout_type": "project",
        "reassemble_factors": [4, 2, 1, 0.5],
        "neck_hidden_sizes": [96, 192, 384, 768],
        "fusion_hidden_size": 256,
        "use_batch_norm_in_fusion_residual": False,
        "use_bias_in_fusion_residual": None,
        "add_projection": False,
        "use_auxiliary_head": True,
        "backbone_featmap_shape": [1, 1024, 24, 24],
        "pooler_output_size": None,
    },
    derived={
        "neck_width": "backbone_config.hidden_size or hidden_size",
        "fusion_bias": FUSION_BIAS,
    },
)
