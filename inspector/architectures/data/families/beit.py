"""BEiT, and data2vec's vision model, which is the same under its own name.

A backbone's names have no `beit.` before them, but for those outside its layers, which keep it.
"""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families.shared import batch_norm, vit_layers
from inspector.architectures.data.families.upernet import (
    HEAD_DEFAULTS,
    SEGMENTATION,
    Words,
    auxiliary_head,
    pyramid_head,
)
from inspector.architectures.table import Family, Row

IMAGES, MASKED, BACKBONE = "ForImageClassification", "ForMaskedImageModeling", "Backbone"

#: A bias for each offset within the window, and for those from and to the class token.
RELATIVE_POSITIONS = "(2 * (image_size // patch_size) - 1) ** 2 + 3, num_attention_heads"
TABLE = "relative_position_bias.relative_position_bias_table"


def body(prefix: str, pooled: str) -> Iterator[Row]:
    """The vision transformer; `pooled` are the classes that average its patches."""
    layer = prefix + "encoder.layer.{layer<num_hidden_layers}"
    embeddings = prefix + "embeddings."
    yield Row("embed_class", embeddings + "cls_token", "1, 1, hidden_size", leaf="")
    yield Row(
        "embed_patches",
        embeddings + "patch_embeddings.projection",
        "hidden_size, num_channels, patch_size, patch_size",
        bias="True",
    )
    yield Row(
        "embed_positions",
        embeddings + "position_embeddings",
        "1, (image_size // patch_size) ** 2 + 1, hidden_size",
        when="use_absolute_position_embeddings",
        leaf="",
    )
    yield Row(
        "mask_token", embeddings + "mask_token", "1, 1, hidden_size", when="use_mask_token", leaf="", group="embedding"
    )
    for row in vit_layers(layer, bias="True", attention="num_attention_heads * head_dim"):
        yield row._replace(bias="") if row.role == "k_proj" else row
    for word in ("lambda_1", "lambda_2"):
        yield Row(word, f"{layer}.{word}", "hidden_size", when="layer_scale_init_value > 0", leaf="")
    yield Row(
        "relative_position_bias_table",
        f"{layer}.attention.attention.{TABLE}",
        RELATIVE_POSITIONS,
        when="use_relative_position_bias",
        leaf="",
        group="attention",
    )
    yield Row(
        "layernorm", prefix + "pooler.layernorm", "hidden_size", bias="True", when="use_mean_pooling", heads=pooled
    )
    yield Row("classifier", "classifier", "num_labels, hidden_size", bias="True", heads=IMAGES)


def outside(prefix: str, norm: str, heads: str = "", also: str = "") -> Iterator[Row]:
    """What the body has beside its layers; `also` are classes that have the shared table, and the norm elsewhere."""
    yield Row(norm, prefix + "layernorm", "hidden_size", bias="True", when="not use_mean_pooling", heads=heads)
    yield Row(
        "relative_position_bias_table",
        f"{prefix}encoder.{TABLE}",
        RELATIVE_POSITIONS,
        when="use_shared_relative_position_bias",
        heads=f"{heads} {also}".strip(),
        leaf="",
    )


def pyramid(heads: str, when: str = "") -> Iterator[Row]:
    """Features four times and twice as fine as the patches."""
    for role, name in (("fpn1", "fpn1.0"), ("fpn1", "fpn1.3"), ("fpn2", "fpn2.0")):
        shape = "hidden_size, hidden_size, 2, 2"
        yield Row(role, name, shape, bias="True", when=when, heads=heads, group="convolution")
    yield from batch_norm("fpn1", "fpn1.1", "hidden_size", when=when, heads=heads)


def segmentation(words: Words) -> Iterator[Row]:
    """UPerNet's head and the second one, over features as wide as the body."""
    yield from pyramid(SEGMENTATION)
    yield from pyramid_head("hidden_size", "hidden_size", "hidden_size", words, SEGMENTATION)
    yield from auxiliary_head("hidden_size", words, SEGMENTATION)


DEFAULTS = {
    **HEAD_DEFAULTS,
    "hidden_size": 768,
    "image_size": 224,
    "intermediate_size": 3072,
    "layer_scale_init_value": 0.1,
    "num_attention_heads": 12,
    "num_channels": 3,
    "num_hidden_layers": 12,
    "patch_size": 16,
    "use_absolute_position_embeddings": False,
    "use_mask_token": False,
    "use_mean_pooling": True,
    "use_relative_position_bias": False,
    "use_shared_relative_position_bias": False,
}
DERIVED = {"head_dim": "hidden_size // num_attention_heads"}

#: All but the backbone.
NORMED = "body Model ForImageClassification ForMaskedImageModeling ForSemanticSegmentation"

FAMILY = Family(
    name="beit",
    types={"beit": {}},
    rows=(
        *body("beit.", f"Model {IMAGES}"),
        Row("norm", "layernorm", "hidden_size", bias="True", when="not use_mean_pooling", heads="Model"),
        Row("norm", "layernorm", "hidden_size", bias="True", heads=MASKED),
        *outside("beit.", "body_norm", f"{IMAGES} {SEGMENTATION} {MASKED}", "Model"),
        *outside("beit.beit.", "body_norm", BACKBONE),
        *pyramid(BACKBONE, "add_fpn"),
        *segmentation(Words()),
        Row("lm_head", "lm_head", "vocab_size, hidden_size", bias="True", heads=MASKED),
    ),
    prefix="beit.",
    prefixes={BACKBONE: ""},
    classes={"BeitBackbone": BACKBONE},
    defaults={**DEFAULTS, "add_fpn": False, "vocab_size": 8192},
    derived=DERIVED,
    head="Model",
)
