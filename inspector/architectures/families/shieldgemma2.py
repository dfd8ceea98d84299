"""Model type shieldgemma2: text_config, vision_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="shieldgemma2",
    types={"shieldgemma2": {}},
    rows=(
        Include(
            "text_config",
            "model.language_model.model.",
            head="Model",
            default_type="gemma3_text",
            heads="ForConditionalGeneration",
        ),
        Include(
            "text_config",
            "model.model.language_model.",
            head="ForCausalLM",
            default_type="gemma3_text",
            heads="ForImageClassification",
        ),
        Include(
            "vision_config",
            "model.vision_tower.",
            tower="vision",
            head="Model",
            default_type="siglip_vision_model",
            heads="ForConditionalGeneration",
        ),
        Include(
            "vision_config",
            "model.model.vision_tower.",
            tower="vision",
            head="Model",
            default_type="siglip_vision_model",
            heads="ForImageClassification",
        ),
        Row(
            "lm_head_67",
            "lm_head",
            "text_config.vocab_size, text_config.hidden_size",
            heads="ForConditionalGeneration",
            tied="tie_word_embeddings",
        ),
        Row(
            "mm_input_projection_weight",
            "model.multi_modal_projector.mm_input_projection_weight",
            "vision_config.hidden_size, text_config.hidden_size",
            heads="ForConditionalGeneration",
            tower="projector",
            leaf="",
        ),
        Row(
            "mm_soft_emb_norm",
            "model.multi_modal_projector.mm_soft_emb_norm",
            "vision_config.hidden_size",
            heads="ForConditionalGeneration",
            tower="projector",
        ),
        Row(
            "multi_modal_projector_mm_input_projection_weight",
            "model.model.multi_modal_projector.mm_input_projection_weight",
            "vision_config.hidden_size, text_config.hidden_size",
            heads="ForImageClassification",
            tower="projector",
            leaf="",
        ),
        Row(
            "multi_modal_projector_mm_soft_emb_norm",
            "model.model.multi_modal_projector.mm_soft_emb_norm",
            "vision_config.hidden_size",
            heads="ForImageClassification",
            tower="projector",
        ),
    ),
    prefix="model.",
    defaults={
        "text_config": {"hidden_size": 2304, "tie_word_embeddings": True, "vocab_size": 262208},
        "vision_config": {"hidden_size": 768},
    },
    head="ForConditionalGeneration",
)
