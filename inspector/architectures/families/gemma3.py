"""Model type gemma3: text_config, vision_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="gemma3",
    types={"gemma3": {}},
    rows=(
        Include(
            "text_config",
            "language_model.",
            head="ForCausalLM",
            default_type="gemma3_text",
            heads="ForConditionalGeneration ForSequenceClassification",
        ),
        Include("text_config", "language_model.model.", head="Model", default_type="gemma3_text", heads="Model"),
        Include("vision_config", "vision_tower.", tower="vision", head="Model", default_type="siglip_vision_model"),
        Row(
            "language_model_lm_head",
            "language_model.lm_head",
            "text_config.vocab_size, text_config.hidden_size",
            when="text_config.tie_word_embeddings",
            tied="tie_word_embeddings",
        ),
        Row(
            "mm_input_projection_weight",
            "multi_modal_projector.mm_input_projection_weight",
            "vision_config.hidden_size, text_config.hidden_size",
            tower="projector",
            leaf="",
        ),
        Row(
            "mm_soft_emb_norm", "multi_modal_projector.mm_soft_emb_norm", "vision_config.hidden_size", tower="projector"
        ),
        Row("score", "score", "num_labels, text_config.hidden_size", heads="ForSequenceClassification"),
    ),
    defaults={
        "text_config": {"hidden_size": 2304, "tie_word_embeddings": True, "vocab_size": 262208},
        "tie_word_embeddings": True,
        "vision_config": {"hidden_size": 768},
    },
    head="ForConditionalGeneration",
)
