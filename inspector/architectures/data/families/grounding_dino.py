"""Grounding DINO, and MM Grounding DINO: things are found that a text names, the two mixed in every layer."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.data.families.rt_detr import DETECTION, feed_forward, layer_norms, linear, perceptron
from inspector.architectures.table import Family, Include, Row

ENCODER = "model.encoder.layers.{layer<encoder_layers}."
DECODER = "model.decoder.layers.{layer<decoder_layers}."
SQUARE = "d_model, d_model"
MM = "is_mm"
#: MM Grounding DINO has two stages even where it does not use both.
STAGES = f"two_stage or {MM}"
#: Where one scale is asked for, Grounding DINO takes the backbone's coarsest.
SINGLE = f"(num_feature_levels == 1 and not {MM})"
#: The towers' width where they are mixed.
INNER = "encoder_ffn_dim // 2"
BOX = "d_model, d_model, 4"


def attention(prefix: str, tower: str, before: str = "") -> Iterator[Row]:
    for role, word in {"q_proj": "query", "k_proj": "key", "v_proj": "value", "o_proj": "out_proj"}.items():
        yield linear(before + role, f"{prefix}.{word}", SQUARE, tower, group="attention")


def deformable_attention(prefix: str, heads: str, tower: str, before: str = "") -> Iterator[Row]:
    """Each head looks at so many points of each scale, and weighs them."""
    for word, factor in {"sampling_offsets": " * 2", "attention_weights": ""}.items():
        yield linear(before + word, f"{prefix}.{word}", f"{heads}{factor}, d_model", tower, group="attention")
    for role, word in {"v_proj": "value_proj", "o_proj": "output_proj"}.items():
        yield linear(before + role, f"{prefix}.{word}", SQUARE, tower, group="attention")


def text_layer() -> Iterator[Row]:
    name = ENCODER + "text_enhancer_layer."
    yield from attention(name + "self_attn", "encoder", "text_")
    yield linear("text_up_proj", name + "fc1", f"{INNER}, d_model", "encoder")
    yield linear("text_down_proj", name + "fc2", f"d_model, {INNER}", "encoder")
    for role, word in {"attention": "before", "feedforward": "after"}.items():
        yield linear(f"text_post_{role}_layernorm", f"{name}layer_norm_{word}", "d_model", "encoder", group="norm")


def fusion_layer() -> Iterator[Row]:
    """Text and picture look at each other with the same scores."""
    name = ENCODER + "fusion_layer."
    for word in ("vision", "text"):
        yield linear(f"fusion_{word}_layernorm", f"{name}layer_norm_{word}", "d_model", "encoder", group="norm")
        for role, of in {"qk_proj": "{}_proj", "v_proj": "values_{}_proj"}.items():
            path = f"{name}attn.{of.format(word)}"
            yield linear(f"fusion_{word}_{role}", path, f"{INNER}, d_model", "encoder", group="attention")
        path = f"{name}attn.out_{word}_proj"
        yield linear(f"fusion_{word}_o_proj", path, f"d_model, {INNER}", "encoder", group="attention")
        yield Row(f"fusion_{word}_scale", f"{name}{word}_param", "d_model", leaf="", tower="encoder", group="attention")


def picture_layer() -> Iterator[Row]:
    name = ENCODER + "deformable_layer."
    points = "encoder_attention_heads * num_feature_levels * encoder_n_points"
    yield from deformable_attention(name + "self_attn", points, "encoder")
    yield from feed_forward(name, "d_model", "encoder_ffn_dim", "encoder")
    yield from layer_norms(name, "d_model", "encoder")


def decoder_layer() -> Iterator[Row]:
    yield from attention(DECODER + "self_attn", "decoder")
    yield from attention(DECODER + "encoder_attn_text", "decoder", "text_cross_")
    yield linear("text_cross_layernorm", DECODER + "encoder_attn_text_layer_norm", "d_model", "decoder", group="norm")
    points = "decoder_attention_heads * num_feature_levels * decoder_n_points"
    yield from deformable_attention(DECODER + "encoder_attn", points, "decoder", "cross_")
    yield linear("cross_layernorm", DECODER + "encoder_attn_layer_norm", "d_model", "decoder", group="norm")
    yield from feed_forward(DECODER, "d_model", "decoder_ffn_dim", "decoder")
    yield from layer_norms(DECODER, "d_model", "decoder")


def input_projections() -> Iterator[Row]:
    """A convolution and a norm a scale; coarser ones than the backbone's are made of its last, and of each other."""
    channels = "backbone_config.channels"
    given = f"len({channels})"
    name = f"model.input_proj_vision.{{layer<1 if {SINGLE} else max(num_feature_levels, {given})}}."
    before = f"{channels}[-1] if {SINGLE} else d_model if layer > {given} else {channels}[min(layer, {given} - 1)]"
    size = f"1 if layer < {given} else 3"
    yield Row("input_projection", name + "0", f"d_model, {before}, {size}, {size}", bias="True", group="convolution")
    yield Row("input_projection_norm", name + "1", "d_model", bias="True")


def queries() -> Iterator[Row]:
    """Where the decoder starts: at what the encoder finds, in two stages, or at what was learned."""
    learned = "embedding_init_target or not two_stage"
    yield Row("level_embed", "model.level_embed", "num_feature_levels, d_model", leaf="")
    yield Row("embed_queries", "model.query_position_embeddings", "num_queries, d_model", when=learned)
    yield Row("reference_points", "model.reference_points", "num_queries, 4", when=f"not ({STAGES})", group="embedding")
    yield Row("encoder_output", "model.enc_output", SQUARE, bias="True", when=STAGES, group="head")
    yield Row("encoder_output_norm", "model.enc_output_norm", "d_model", bias="True", when=STAGES)
    yield perceptron("encoder_bbox_predictor", "model.encoder_output_bbox_embed", BOX, "3", when=STAGES)
    yield Row("encoder_class_bias", "model.encoder_output_class_embed", "", when=MM, leaf="bias", group="head")


def predictors() -> Iterator[Row]:
    """One box and class predictor for all layers, or one for each, and both once more within the decoder."""
    tied = "tie_word_embeddings"
    for role, name, copy in (("", "", ""), ("decoder_", "model.decoder.", tied)):
        # Where the first is tied to the others, these are not stored.
        at = "{layer<decoder_layers}"
        first = f"layer == 0 or not {tied} or not"
        yield perceptron(
            role + "bbox_predictor",
            f"{name}bbox_embed.{at}",
            BOX,
            "3",
            heads=DETECTION,
            tied=copy,
            when=f"{first} decoder_bbox_embed_share",
        )
        yield Row(
            role + "class_bias",
            f"{name}class_embed.{at}",
            "",
            heads=DETECTION,
            tied=copy,
            when=f"{MM} and ({first} decoder_cls_embed_share)",
            leaf="bias",
            group="head",
        )


BACKBONE = {"out_indices": [2, 3, 4]}
TEXT = {
    "hidden_size": 768,
    "num_hidden_layers": 12,
    "intermediate_size": 3072,
    "max_position_embeddings": 512,
    "vocab_size": 30522,
    "type_vocab_size": 2,
}

FAMILY = Family(
    name="grounding_dino",
    types={"grounding-dino": {}, "mm-grounding-dino": {"is_mm": True}},
    rows=(
        Include(
            "backbone_config",
            "model.backbone.conv_encoder.model.",
            tower="vision",
            head="Backbone",
            default_type="swin",
        ),
        *(
            Row(
                f"{word}_embeddings",
                f"model.backbone.position_embedding.{word}_embeddings",
                "50, d_model // 2",
                when="position_embedding_type == 'learned'",
                group="embedding",
            )
            for word in ("row", "column")
        ),
        *input_projections(),
        Include("text_config", "model.text_backbone.", strip="bert.", default_type="bert", defaults=TEXT),
        Row("text_projection", "model.text_projection", "d_model, text_config.hidden_size", bias="True"),
        *text_layer(),
        *fusion_layer(),
        *picture_layer(),
        *queries(),
        *decoder_layer(),
        linear("norm", "model.decoder.layer_norm", "d_model", "decoder"),
        perceptron(
            "query_position",
            "model.decoder.reference_points_head",
            "query_dim // 2 * d_model, d_model, d_model",
            "2",
            tower="decoder",
        ),
        *predictors(),
    ),
    prefix="model.",
    head=DETECTION,
    defaults={
        "is_mm": False,
        "backbone_config": BACKBONE,
        "text_config": TEXT,
        "num_queries": 900,
        "encoder_layers": 6,
        "encoder_ffn_dim": 2048,
        "encoder_attention_heads": 8,
        "decoder_layers": 6,
        "decoder_ffn_dim": 2048,
        "decoder_attention_heads": 8,
        "d_model": 256,
        "position_embedding_type": "sine",
        "num_feature_levels": 4,
        "encoder_n_points": 4,
        "decoder_n_points": 4,
        "two_stage": True,
        "embedding_init_target": True,
        "query_dim": 4,
        "decoder_bbox_embed_share": True,
        "decoder_cls_embed_share": True,
    },
    fields={"hidden_size": "d_model", "num_attention_heads": "encoder_attention_heads"},
)
