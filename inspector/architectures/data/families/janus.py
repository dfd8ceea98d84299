"""Janus: Llama that sees through SigLIP's tower, and paints with tokens of a codebook."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.architectures.table import Family, Include, Row


def perceptron(at: str, into: str, width: str, depth: str, before: str = "") -> Iterator[Row]:
    """Layers that lead into the text model, as many as `depth`."""
    yield Row(before + "linear_1", f"{at}.fc1", f"{width}, {into}", bias="True", tower="projector", group="other")
    hidden = f"{at}.hidden_layers.{{layer<max({depth} - 1, 0)}}"
    yield Row(before + "hidden_layers", hidden, f"{width}, {width}", bias="True", tower="projector", group="other")


FAMILY = Family(
    name="janus",
    types={"janus": {}},
    rows=(
        Include("text_config", "model.language_model.", "model.", head="Model", default_type="llama"),
        Include(
            "vision_config", "model.vision_model.", tower="vision", head="Model", default_type="janus_vision_model"
        ),
        *perceptron(
            "model.aligner", "vision_config.hidden_size", "vision_config.projection_dim", "vision_config.depth"
        ),
        Include("vq_config", "model.vqmodel.", tower="vq", head="Model", default_type="janus_vqgan"),
        Row("generation_embeddings", "model.generation_embeddings", "vq_config.num_embeddings, vq_config.embed_dim"),
        *perceptron(
            "model.generation_aligner",
            "vq_config.embed_dim",
            "vq_config.projection_dim",
            "vq_config.num_hidden_layers",
            "generation_",
        ),
        Row(
            "generation_head_proj",
            "model.generation_head.proj_out",
            "vq_config.projection_dim, vq_config.image_token_embed_dim",
            bias="True",
        ),
        Row(
            "generation_head",
            "model.generation_head.vision_head",
            "vq_config.num_embeddings, vq_config.projection_dim",
            bias="True",
        ),
        Row(
            "lm_head",
            "lm_head",
            "text_config.vocab_size, text_config.hidden_size",
            heads="ForConditionalGeneration",
            tied="tie_word_embeddings",
        ),
    ),
    prefix="model.",
    head="ForConditionalGeneration",
    defaults={"text_config": {}, "tie_word_embeddings": True, "vision_config": {}, "vq_config": {}},
)
