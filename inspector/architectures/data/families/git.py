"""GIT: a decoder of text that reads CLIP's features of an image through one projection."""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

LAYER = "git.encoder.layer.{layer<num_hidden_layers}."
SQUARE = "hidden_size, hidden_size"

FAMILY = Family(
    name="git",
    types={"git": {}},
    rows=(
        Row("embed_tokens", "git.embeddings.word_embeddings", "vocab_size, hidden_size"),
        Row("embed_positions", "git.embeddings.position_embeddings", "max_position_embeddings, hidden_size"),
        Row("embed_norm", "git.embeddings.LayerNorm", "hidden_size", bias="True"),
        Include(
            "vision_config",
            "git.image_encoder.vision_model.",
            tower="vision",
            head="Model",
            default_type="git_vision_model",
        ),
        Row("q_proj", LAYER + "attention.self.query", SQUARE, bias="True"),
        Row("k_proj", LAYER + "attention.self.key", SQUARE, bias="True"),
        Row("v_proj", LAYER + "attention.self.value", SQUARE, bias="True"),
        Row("o_proj", LAYER + "attention.output.dense", SQUARE, bias="True"),
        Row("post_attention_layernorm", LAYER + "attention.output.LayerNorm", "hidden_size", bias="True"),
        Row("up_proj", LAYER + "intermediate.dense", "intermediate_size, hidden_size", bias="True"),
        Row("down_proj", LAYER + "output.dense", "hidden_size, intermediate_size", bias="True"),
        Row("post_feedforward_layernorm", LAYER + "output.LayerNorm", "hidden_size", bias="True"),
        Row(
            "visual_projection",
            "git.visual_projection.visual_projection.0",
            "hidden_size, vision_config.hidden_size",
            bias="True",
            tower="projector",
        ),
        Row(
            "visual_projection_norm",
            "git.visual_projection.visual_projection.1",
            "hidden_size",
            bias="True",
            tower="projector",
        ),
        Row(
            "img_temporal_embedding",
            "git.img_temporal_embedding.{frame<num_image_with_embedding}",
            "1, 1, vision_config.hidden_size",
            when="num_image_with_embedding is not None",
            leaf="",
            group="embedding",
        ),
        Row("lm_head", "output", "vocab_size, hidden_size", heads="ForCausalLM", tied="tie_word_embeddings"),
        Row("lm_head", "output", "vocab_size", heads="ForCausalLM", leaf="bias"),
    ),
    prefix="git.",
    defaults={
        "hidden_size": 768,
        "intermediate_size": 3072,
        "max_position_embeddings": 1024,
        "num_hidden_layers": 6,
        "num_image_with_embedding": None,
        "tie_word_embeddings": False,
        "vision_config": {},
        "vocab_size": 30522,
    },
)
