"""Mistral Large 4: Pixtral's vision tower and the text model, under the names that Mistral publishes."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.table import Family, Include, Row

WIDTH = "vision_config.hidden_size"
TEXT_WIDTH = "text_config.hidden_size"


def vision(at: str, heads: str) -> Iterator[Row]:
    """The vision tower."""
    layer = at + "transformer.layers.{layer<vision_config.num_hidden_layers}."
    square, up, down = (
        f"{WIDTH}, {WIDTH}",
        f"vision_config.intermediate_size, {WIDTH}",
        f"{WIDTH}, vision_config.intermediate_size",
    )
    for role, name, shape in (
        (
            "embed_patches",
            at + "patch_conv",
            f"{WIDTH}, vision_config.num_channels, vision_config.patch_size, vision_config.patch_size",
        ),
        ("embed_norm", at + "ln_pre", WIDTH),
        ("input_layernorm", layer + "attention_norm", WIDTH),
        ("q_proj", layer + "attention.wq", square),
        ("k_proj", layer + "attention.wk", square),
        ("v_proj", layer + "attention.wv", square),
        ("o_proj", layer + "attention.wo", square),
        ("post_attention_layernorm", layer + "ffn_norm", WIDTH),
        ("gate_proj", layer + "feed_forward.w1", up),
        ("up_proj", layer + "feed_forward.w3", up),
        ("down_proj", layer + "feed_forward.w2", down),
    ):
        yield Row(role, name, shape, heads=heads, tower="vision")


def projector(norm: str, merger: str, first: str, second: str, heads: str) -> Iterator[Row]:
    """From the vision tower into the text model."""
    bias = "multimodal_projector_bias"
    for role, name, shape, biased in (
        ("norm", norm, WIDTH, ""),
        ("merging_layer", merger + ".merging_layer", f"{WIDTH}, spatial_merge_size ** 2 * {WIDTH}", ""),
        ("linear_1", first, f"{TEXT_WIDTH}, count(vision_feature_layer) * {WIDTH}", bias),
        ("linear_2", second, f"{TEXT_WIDTH}, {TEXT_WIDTH}", bias),
    ):
        yield Row(role, name, shape, bias=biased, heads=heads, tower="projector")


WHOLE, BODY = "ForConditionalGeneration", "Model"

FAMILY = Family(
    name="mistral_large4",
    types={"mistral_large4": {}},
    rows=(
        *vision("vision_encoder.", WHOLE),
        *vision("vision_tower.", BODY),
        *projector(
            "pre_mm_projector_norm",
            "patch_merger",
            "vision_language_adapter.w_in",
            "vision_language_adapter.w_out",
            WHOLE,
        ),
        *projector(
            "multi_modal_projector.norm",
            "multi_modal_projector.patch_merger",
            "multi_modal_projector.linear_1",
            "multi_modal_projector.linear_2",
            BODY,
        ),
        Include(
            "text_config",
            "",
            head="Published",
            default_type="mistral_large4_text",
            heads=WHOLE,
            tied="tie_word_embeddings",
        ),
        Include("text_config", "language_model.", head="Nested", default_type="mistral_large4_text", heads=BODY),
    ),
    defaults={
        "multimodal_projector_bias": False,
        "spatial_merge_size": 2,
        "tie_word_embeddings": False,
        "vision_feature_layer": -1,
        "vision_config": {
            "hidden_size": 2048,
            "intermediate_size": 6144,
            "num_channels": 3,
            "num_hidden_layers": 30,
            "patch_size": 14,
        },
        "text_config": {},
    },
    head=WHOLE,
)
