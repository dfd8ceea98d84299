"""Model type mistral3: text_config, vision_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="mistral3",
    types={"mistral3": {}},
    rows=(
        Include("text_config", "language_model.model.", head="Model", default_type="mistral"),
        Include("vision_config", "vision_tower.", tower="vision", head="Model", default_type="pixtral"),
        Row(
            "linear_1",
            "multi_modal_projector.linear_1",
            "text_config.hidden_size, vision_config.hidden_size",
            bias="multimodal_projector_bias",
            tower="projector",
        ),
        Row(
            "linear_2",
            "multi_modal_projector.linear_2",
            "text_config.hidden_size, text_config.hidden_size",
            bias="multimodal_projector_bias",
            tower="projector",
        ),
        Row("norm", "multi_modal_projector.norm", "vision_config.hidden_size", tower="projector"),
        Row(
            "merging_layer",
            "multi_modal_projector.patch_merger.merging_layer",
            "vision_config.hidden_size, vision_config.hidden_size * spatial_merge_size * spatial_merge_size",
            tower="projector",
        ),
        Row(
            "lm_head",
            "language_model.lm_head",
            "text_config.vocab_size, text_config.hidden_size",
            heads="ForConditionalGeneration",
            tied="tie_word_embeddings",
        ),
    ),
    defaults={
        "multimodal_projector_bias": False,
        "spatial_merge_size": 2,
        "text_config": {"hidden_size": 5120, "vocab_size": 131072},
        "tie_word_embeddings": True,
        "vision_config": {"hidden_size": 1024},
    },
    gguf=("mistral3",),
    head="ForConditionalGeneration",
)
