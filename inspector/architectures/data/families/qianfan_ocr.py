"""Qianfan OCR: InternViT, a projector, Qwen3.

Today's Transformers writes `encoder.layers` for the text model's `layers` too: conversion_mapping.py, whose renames
for the vision tower are not bound to it.
"""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.table import Family, Include, Row

WHOLE, BODY = "ForConditionalGeneration", "Model"
WIDTH, TEXT_WIDTH = "vision_config.hidden_size", "text_config.hidden_size"
HEADS_WIDTH = "(vision_config.hidden_size // vision_config.num_attention_heads) * vision_config.num_attention_heads"
PATCHES = "(vision_config.image_size[0] // vision_config.patch_size[0]) * (vision_config.image_size[1] // vision_config.patch_size[1])"


def text(at: str, heads: str) -> Iterator[Row | Include]:
    """The text model at a path."""
    yield Row("embed_tokens", at + "embed_tokens", f"text_config.vocab_size, {TEXT_WIDTH}", heads=heads)
    yield Include(
        "text_config", at + "encoder.", head="Model", default_type="qwen3", heads=heads, without="embed_tokens norm"
    )
    yield Row("norm", at + "norm", TEXT_WIDTH, heads=heads)


def vision(at: str, heads: str) -> Iterator[Row]:
    """The vision tower at a path."""
    layer = at + "encoder.layers.{layer<vision_config.num_hidden_layers}."
    within = "vision_config.intermediate_size"
    for role, name, shape, when in (
        ("embed_class", "class_embedding", f"1, 1, {WIDTH}", ""),
        ("mask_token", "mask_token", f"1, 1, {WIDTH}", "vision_config.use_mask_token"),
        (
            "embed_positions",
            "position_embedding",
            f"1, {PATCHES} + 1, {WIDTH}",
            "vision_config.use_absolute_position_embeddings",
        ),
    ):
        yield Row(
            role,
            f"{at}embeddings.{name}",
            shape,
            when=when,
            heads=heads,
            tower="vision",
            leaf="",
            group="embedding",
        )
    for role, name, shape, bias, when in (
        (
            "embed_patches",
            at + "embeddings.patch_embedding",
            f"{WIDTH}, vision_config.num_channels, vision_config.patch_size[0], vision_config.patch_size[1]",
            "True",
            "",
        ),
        ("input_layernorm", layer + "norm1", WIDTH, "True", ""),
        ("qkv_proj", layer + "attn.qkv", f"3 * {HEADS_WIDTH}, {WIDTH}", "vision_config.attention_bias", ""),
        ("q_norm", layer + "attention.q_norm", WIDTH, "", "vision_config.use_qk_norm"),
        ("k_norm", layer + "attention.k_norm", WIDTH, "", "vision_config.use_qk_norm"),
        ("o_proj", layer + "attn.proj", f"{WIDTH}, {WIDTH}", "True", ""),
        ("post_attention_layernorm", layer + "norm2", WIDTH, "True", ""),
        ("up_proj", layer + "mlp.fc1", f"{within}, {WIDTH}", "True", ""),
        ("down_proj", layer + "mlp.fc2", f"{WIDTH}, {within}", "True", ""),
        ("norm", at + "layernorm", WIDTH, "True", "not vision_config.use_mean_pooling"),
    ):
        yield Row(role, name, shape, bias=bias, when=when, heads=heads, tower="vision")
    for scale in ("ls1", "ls2"):
        yield Row(scale, layer + scale, WIDTH, heads=heads, tower="vision", leaf="")


#: Pixels that lie beside each other go side by side.
SHUFFLED = f"int(1 / downsample_ratio) ** 2 * {WIDTH}"
#: Place in the list of classes with a head, name in the body alone, shape.
PROJECTOR = (
    (0, "layer_norm", SHUFFLED),
    (1, "linear_1", f"{TEXT_WIDTH}, {SHUFFLED}"),
    (3, "linear_2", f"{TEXT_WIDTH}, {TEXT_WIDTH}"),
)

FAMILY = Family(
    name="qianfan_ocr",
    types={"qianfan_ocr": {}},
    rows=(
        *vision("vision_model.", WHOLE),
        *vision("vision_tower.", BODY),
        *(
            Row(role, name, shape, bias="True", heads=heads, tower="projector")
            for at, word, shape in PROJECTOR
            for role, name, heads in (("mlp1", f"mlp1.{at}", WHOLE), (word, f"multi_modal_projector.{word}", BODY))
        ),
        *text("language_model.model.", WHOLE),
        *text("language_model.", BODY),
        Row(
            "lm_head",
            "language_model.lm_head",
            f"text_config.vocab_size, {TEXT_WIDTH}",
            heads=WHOLE,
            tied="tie_word_embeddings",
        ),
    ),
    defaults={
        "downsample_ratio": 0.5,
        "text_config": {"hidden_size": 4096, "vocab_size": 151936},
        "tie_word_embeddings": False,
        "vision_config": {
            "attention_bias": True,
            "hidden_size": 1024,
            "image_size": [448, 448],
            "intermediate_size": 4096,
            "num_attention_heads": 16,
            "num_channels": 3,
            "num_hidden_layers": 24,
            "patch_size": [14, 14],
            "use_absolute_position_embeddings": True,
            "use_mask_token": False,
            "use_mean_pooling": True,
            "use_qk_norm": False,
        },
    },
    head=WHOLE,
)
