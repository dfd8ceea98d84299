"""Model type lfm3_vl: text_config, vision_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="lfm3_vl",
    types={"lfm3_vl": {}},
    rows=(
        Include("text_config", "model.language_model.", head="Model", default_type="lfm3"),
        Include(
            "vision_config",
            "model.vision_tower.",
            tower="vision",
            head="Model",
            default_type="lfm3_vl_vision",
            without="patchifier",
        ),
        Row(
            "patchifier",
            "model.vision_tower.patchifier",
            "vision_config.hidden_size, vision_config.in_channels * vision_config.patch_size ** 2 * vision_config.temporal_patch_size",
            tower="vision",
        ),
        Row(
            "layer_norm",
            "model.multi_modal_projector.layer_norm",
            "vision_config.hidden_size",
            bias="True",
            tower="projector",
        ),
        Row(
            "linear_1",
            "model.multi_modal_projector.linear_1",
            "projector_hidden_size, vision_config.hidden_size * vision_config.spatial_merge_size ** 2",
            bias="projector_bias",
            tower="projector",
        ),
        Row(
            "linear_2",
            "model.multi_modal_projector.linear_2",
            "text_config.hidden_size, projector_hidden_size",
            bias="projector_bias",
            tower="projector",
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
    defaults={
        "projector_bias": True,
        "projector_hidden_size": 4096,
        "text_config": {"hidden_size": 2048, "vocab_size": 128000},
        "tie_word_embeddings": True,
        "vision_config": {
            "hidden_size": 1024,
            "in_channels": 3,
            "patch_size": 16,
            "spatial_merge_size": 2,
            "temporal_patch_size": 2,
        },
    },
    head="ForConditionalGeneration",
)
