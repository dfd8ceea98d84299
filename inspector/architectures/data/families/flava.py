"""FLAVA: encoders for words, for images and for both together, and heads for each task of its training."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.table import Family, Row

PRETRAINING = "ForPreTraining"
TEXT, IMAGE, BOTH = "text_config.", "image_config.", "multimodal_config."
CODEBOOK, ASKED = "image_codebook_config.", "init_codebook"
#: Blocks a group of which the table has rows; the published codebook has two.
MOST_BLOCKS = 4


def linear(role: str, name: str, shape: str, tower: str = "text", group: str = "") -> Row:
    return Row(role, name, shape, bias="True", tower=tower, group=group)


def encoder(name: str, config: str, tower: str) -> Iterator[Row]:
    """Layers with their norms before, a last norm and a pooler."""
    at = f"flava.{name}."
    layer = f"{at}encoder.layer.{{layer<{config}num_hidden_layers}}."
    width, wider = config + "hidden_size", config + "intermediate_size"
    yield linear("input_layernorm", layer + "layernorm_before", width, tower)
    heads = f"{config}num_attention_heads * ({width} // {config}num_attention_heads)"
    for role, word in (("q_proj", "query"), ("k_proj", "key"), ("v_proj", "value")):
        projection = f"{layer}attention.attention.{word}"
        yield Row(role, projection, f"{heads}, {width}", bias=config + "qkv_bias", tower=tower)
    yield linear("o_proj", layer + "attention.output.dense", f"{width}, {width}", tower)
    yield linear("post_attention_layernorm", layer + "layernorm_after", width, tower)
    yield linear("up_proj", layer + "intermediate.dense", f"{wider}, {width}", tower)
    yield linear("down_proj", layer + "output.dense", f"{width}, {wider}", tower)
    yield linear("norm", at + "layernorm", width, tower)
    yield linear("pooler", at + "pooler.dense", f"{width}, {width}", tower)


def text_embeddings() -> Iterator[Row]:
    at, width = "flava.text_model.embeddings.", TEXT + "hidden_size"
    yield Row("embed_tokens", at + "word_embeddings", f"{TEXT}vocab_size, {width}")
    yield Row("embed_positions", at + "position_embeddings", f"{TEXT}max_position_embeddings, {width}")
    yield Row("embed_token_types", at + "token_type_embeddings", f"{TEXT}type_vocab_size, {width}")
    yield linear("embed_norm", at + "LayerNorm", width)


def image_embeddings() -> Iterator[Row]:
    at, width, patch = "flava.image_model.embeddings.", IMAGE + "hidden_size", IMAGE + "patch_size"
    places = f"({IMAGE}image_size // {patch}) ** 2 + 1"
    shape = f"{width}, {IMAGE}num_channels, {patch}, {patch}"
    yield Row("embed_class", at + "cls_token", f"1, 1, {width}", leaf="", tower="vision")
    yield Row("embed_mask", at + "mask_token", f"1, 1, {width}", when=IMAGE + "mask_token", leaf="", tower="vision")
    yield Row("embed_positions", at + "position_embeddings", f"1, {places}, {width}", leaf="", tower="vision")
    yield linear("embed_patches", at + "patch_embeddings.projection", shape, "vision")


def head(name: str, config: str) -> Iterator[Row]:
    """The head that tells masked tokens of a vocabulary: its bias is also beside the layer."""
    width, words = config + "hidden_size", config + "vocab_size"
    for role, word, shape in (
        ("dense", "transform.dense", f"{width}, {width}"),
        ("norm", "transform.LayerNorm", width),
        ("decoder", "decoder", f"{words}, {width}"),
    ):
        group = "norm" if role == "norm" else "head"
        yield Row(f"{name}_{role}", f"{name}_head.{word}", shape, bias="True", heads=PRETRAINING, group=group)
    yield Row(
        f"{name}_bias",
        f"{name}_head",
        words,
        heads=PRETRAINING,
        tied="tie_word_embeddings",
        leaf="bias",
        group="head",
    )


def convolution(role: str, name: str, out: str, into: str, kernel: int, when: str = "") -> Row:
    """A convolution of the codebook."""
    return Row(
        role,
        "image_codebook.blocks." + name,
        f"{out}, {into}, {kernel}, {kernel}",
        bias="True",
        when=f"{ASKED} and {when}" if when else ASKED,
        heads=PRETRAINING,
        tower="codebook",
        group="convolution",
    )


def codebook() -> Iterator[Row]:
    """DALL-E's encoder: groups each of which, after the first, is twice as wide as the one before."""
    width = CODEBOOK + "hidden_size"
    yield convolution("conv_in", "input", width, CODEBOOK + "input_channels", 7)
    for group in range(1, 5):
        before, out = f"{2 ** max(group - 2, 0)} * {width}", f"{2 ** (group - 1)} * {width}"
        for block in range(1, MOST_BLOCKS + 1):
            into = before if block == 1 else out
            role, at = f"group{group}_block{block}", f"group_{group}.group.block_{block}."
            when = f"{CODEBOOK}num_blocks_per_group >= {block}"
            if into != out:
                yield convolution(role + "_shortcut", at + "id_path", out, into, 1, when)
            narrow = f"{out} // 4"
            for number, (wide, source, kernel) in enumerate(
                ((narrow, into, 3), (narrow, narrow, 3), (narrow, narrow, 3), (out, narrow, 1)), 1
            ):
                name = f"{at}res_path.path.conv_{number}"
                yield convolution(f"{role}_conv{number}", name, wide, source, kernel, when)
    yield convolution("conv_out", "output.conv", CODEBOOK + "vocab_size", f"8 * {width}", 1)


FAMILY = Family(
    name="flava",
    types={"flava": {}},
    rows=(
        Row("logit_scale", "flava.logit_scale", "", leaf="", group="other"),
        *text_embeddings(),
        *encoder("text_model", TEXT, "text"),
        *image_embeddings(),
        *encoder("image_model", IMAGE, "vision"),
        Row(
            "embed_class",
            "flava.multimodal_model.cls_token",
            f"1, 1, {BOTH}hidden_size",
            when=BOTH + "use_cls_token",
            leaf="",
            tower="multimodal",
        ),
        *encoder("multimodal_model", BOTH, "multimodal"),
        linear("image_projection", "flava.image_projection", f"projection_dim, {IMAGE}hidden_size", "projector"),
        linear("text_projection", "flava.text_projection", f"projection_dim, {TEXT}hidden_size", "projector"),
        linear(
            "image_to_mm_projection",
            "flava.image_to_mm_projection",
            f"{BOTH}hidden_size, {IMAGE}hidden_size",
            "projector",
        ),
        linear(
            "text_to_mm_projection",
            "flava.text_to_mm_projection",
            f"{BOTH}hidden_size, {TEXT}hidden_size",
            "projector",
        ),
        *codebook(),
        *head("mim", IMAGE),
        *head("mlm", TEXT),
        *head("mmm_image", IMAGE),
        *head("mmm_text", TEXT),
        Row("itm_pooler", "itm_head.pooler.dense", "hidden_size, hidden_size", bias="True", heads=PRETRAINING),
        Row("itm_head", "itm_head.seq_relationship", "2, hidden_size", bias="True", heads=PRETRAINING, group="head"),
    ),
    prefix="flava.",
    head="Model",
    defaults={
        "hidden_size": 768,
        "image_codebook_config": {
            "hidden_size": 256,
            "input_channels": 3,
            "num_blocks_per_group": 2,
            "vocab_size": 8192,
        },
        "image_config": {
            "hidden_size": 768,
            "image_size": 224,
            "intermediate_size": 3072,
            "mask_token": True,
            "num_attention_heads": 12,
            "num_channels": 3,
            "num_hidden_layers": 12,
            "patch_size": 16,
            "qkv_bias": True,
            "vocab_size": 8192,
        },
        "init_codebook": True,
        "multimodal_config": {
            "hidden_size": 768,
            "intermediate_size": 3072,
            "num_attention_heads": 12,
            "num_hidden_layers": 6,
            "qkv_bias": True,
            "use_cls_token": True,
        },
        "projection_dim": 768,
        "text_config": {
            "hidden_size": 768,
            "intermediate_size": 3072,
            "max_position_embeddings": 512,
            "num_attention_heads": 12,
            "num_hidden_layers": 12,
            "qkv_bias": True,
            "type_vocab_size": 2,
            "vocab_size": 30522,
        },
        "tie_word_embeddings": True,
    },
)
