"""BridgeTower: a text and a vision tower, and layers on top in which each looks at the other."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families.shared import bert_cross_attention, bert_layer
from inspector.architectures.table import Family, Row

BODY = "bridgetower."
TEXT = BODY + "text_model."
TEXT_LAYER = TEXT + "encoder.layer.{layer<text_config.num_hidden_layers}"
TEXT_WIDTH = "text_config.hidden_size"
VISUAL = BODY + "vision_model.visual."
BLOCK = (
    VISUAL
    + "transformer.resblocks.{layer<vision_config.num_hidden_layers - (1 if vision_config.remove_last_layer else 0)}."
)
WIDTH = "vision_config.hidden_size"


def vision() -> Iterator[Row]:
    """The vision tower: CLIP's."""
    for role, name, shape, bias in (
        (
            "embed_patches",
            VISUAL + "embeddings.patch_embedding",
            f"{WIDTH}, vision_config.num_channels, vision_config.patch_size, vision_config.patch_size",
            "",
        ),
        (
            "embed_positions",
            VISUAL + "embeddings.position_embedding",
            f"(vision_config.image_size // vision_config.patch_size) ** 2 + 1, {WIDTH}",
            "",
        ),
        ("embed_norm", VISUAL + "ln_pre", WIDTH, "True"),
        ("input_layernorm", BLOCK + "ln_1", WIDTH, "True"),
        ("o_proj", BLOCK + "attn.out_proj", f"{WIDTH}, {WIDTH}", "True"),
        ("post_attention_layernorm", BLOCK + "ln_2", WIDTH, "True"),
        ("up_proj", BLOCK + "mlp.c_fc", f"4 * {WIDTH}, {WIDTH}", "True"),
        ("down_proj", BLOCK + "mlp.c_proj", f"{WIDTH}, 4 * {WIDTH}", "True"),
        ("norm", VISUAL + "ln_post", WIDTH, "True"),
    ):
        yield Row(role, name, shape, bias=bias, tower="vision")
    yield Row("embed_class", VISUAL + "embeddings.class_embedding", WIDTH, tower="vision", leaf="")
    yield Row("qkv_proj", BLOCK + "attn.in_proj_weight", f"3 * {WIDTH}, {WIDTH}", bias="True", tower="vision", leaf="")
    yield Row(
        "ln_separate",
        VISUAL + "ln_separate.{layer<vision_config.num_hidden_layers}",
        WIDTH,
        bias="True",
        when="not vision_config.share_layernorm",
        tower="vision",
    )


SHARED_TRANSFORM, SHARED_LINK = "share_cross_modal_transformer_layers", "share_link_tower_layers"


def cross_modal(side: str, width: str) -> Iterator[Row]:
    """The layers on top of a tower of this width."""
    at, tower = f"{BODY}cross_modal_{side}_", f"cross_modal_{side}"
    layer = at + "layers.{layer<num_hidden_layers}"
    own = f"hidden_size, {width}"
    yield Row("transform", at + "transform", own, bias="True", when=SHARED_TRANSFORM, tower=tower)
    yield Row(
        "transform",
        at + "transform.{layer<num_hidden_layers}",
        own,
        bias="True",
        when=f"not {SHARED_TRANSFORM}",
        tower=tower,
    )
    for row in (*bert_layer(layer, "text_config."), *bert_cross_attention(layer, "text_config.", "")):
        yield row._replace(tower=tower)
    yield Row("norm", at + "layernorm", "hidden_size", bias="True", tower=tower)
    yield Row("pooler", at + "pooler.dense", "hidden_size, hidden_size", bias="True", tower=tower)
    for link, when in (
        (at + "link_tower", SHARED_LINK),
        (at + "link_tower.{layer<max(num_hidden_layers - 1, 0)}", f"not {SHARED_LINK}"),
    ):
        yield Row("link_norm", link + ".LayerNorm", "hidden_size", bias="True", when=when, tower=tower)
        for word, kind in (("scaled_factor", "scaled_add"), ("beta", "interpolate")):
            yield Row(
                f"link_{word}",
                f"{link}.{word}",
                "",
                when=f"link_tower_type == '{kind}' and {'' if when == SHARED_LINK else 'not '}{SHARED_LINK}",
                tower=tower,
                leaf="",
            )


MASKED, CONTRASTED = "ForMaskedLM", "ForContrastiveLearning"

FAMILY = Family(
    name="bridgetower",
    types={"bridgetower": {}},
    rows=(
        Row("embed_tokens", TEXT + "embeddings.word_embeddings", f"text_config.vocab_size, {TEXT_WIDTH}"),
        Row(
            "embed_positions",
            TEXT + "embeddings.position_embeddings",
            f"text_config.max_position_embeddings, {TEXT_WIDTH}",
        ),
        Row(
            "embed_token_types", TEXT + "embeddings.token_type_embeddings", f"text_config.type_vocab_size, {TEXT_WIDTH}"
        ),
        Row("embed_norm", TEXT + "embeddings.LayerNorm", TEXT_WIDTH, bias="True"),
        *bert_layer(TEXT_LAYER, "text_config."),
        *bert_cross_attention(TEXT_LAYER, "text_config.", "text_config.add_cross_attention"),
        Row("pooler", TEXT + "pooler.dense", f"{TEXT_WIDTH}, {TEXT_WIDTH}", bias="True"),
        *vision(),
        Row("embed_modality", BODY + "token_type_embeddings", "2, hidden_size", tower="cross_modal"),
        *cross_modal("text", TEXT_WIDTH),
        *cross_modal("image", WIDTH),
        Row("mlm_dense", "mlm_score.transform.dense", "hidden_size, hidden_size", bias="True", heads=MASKED),
        Row("mlm_norm", "mlm_score.transform.LayerNorm", "hidden_size", bias="True", heads=MASKED),
        Row("mlm_bias", "mlm_score", "text_config.vocab_size", leaf="bias", heads=MASKED),
        Row(
            "lm_head",
            "mlm_score.decoder",
            "text_config.vocab_size, hidden_size",
            heads=MASKED,
            tied="tie_word_embeddings",
        ),
        Row(
            "itm_score",
            "itm_score.fc",
            "2, 2 * hidden_size",
            bias="True",
            heads="ForImageAndTextRetrieval",
            group="head",
        ),
        *(
            Row(
                f"itc_{side}_head",
                f"itc_{side}_head.fc",
                f"contrastive_hidden_size, {width}",
                bias="True",
                heads=CONTRASTED,
            )
            for side, width in (("text", "hidden_size"), ("image", "hidden_size"), ("cross_modal", "2 * hidden_size"))
        ),
        Row("logit_scale", "logit_scale", "", heads=CONTRASTED, leaf=""),
    ),
    prefix=BODY,
    defaults={
        "hidden_size": 768,
        "link_tower_type": "add",
        "num_hidden_layers": 6,
        "share_cross_modal_transformer_layers": True,
        "share_link_tower_layers": False,
        "text_config": {
            "add_cross_attention": False,
            "hidden_size": 768,
            "intermediate_size": 3072,
            "max_position_embeddings": 514,
            "num_hidden_layers": 12,
            "type_vocab_size": 1,
            "vocab_size": 50265,
        },
        "tie_word_embeddings": False,
        "vision_config": {
            "hidden_size": 768,
            "image_size": 288,
            "num_channels": 3,
            "num_hidden_layers": 12,
            "patch_size": 16,
            "remove_last_layer": False,
            "share_layernorm": True,
        },
    },
    head="Model",
)
