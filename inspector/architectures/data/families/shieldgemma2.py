"""ShieldGemma 2: Gemma 3 that says yes or no to an image, wrapped whole."""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

BODY = "model.model."
HEAD = "text_config.vocab_size, text_config.hidden_size"
PROJECTOR = BODY + "multi_modal_projector."

FAMILY = Family(
    name="shieldgemma2",
    types={"shieldgemma2": {}},
    rows=(
        Include("text_config", BODY + "language_model.model.", "model.", head="Model", default_type="gemma3_text"),
        Include(
            "vision_config", BODY + "vision_tower.", tower="vision", head="Model", default_type="siglip_vision_model"
        ),
        Row("mm_soft_emb_norm", PROJECTOR + "mm_soft_emb_norm", "vision_config.hidden_size", tower="projector"),
        Row(
            "mm_input_projection",
            PROJECTOR + "mm_input_projection_weight",
            "vision_config.hidden_size, text_config.hidden_size",
            tower="projector",
            leaf="",
        ),
        Row("lm_head", "model.lm_head", HEAD, heads="ForImageClassification", tied="tie_word_embeddings"),
        Row("lm_head", "lm_head", HEAD, heads="ForConditionalGeneration", tied="tie_word_embeddings"),
    ),
    prefix=BODY,
    prefixes={"ForConditionalGeneration": "model."},  # the class of Gemma 3 that it wraps
    head="ForImageClassification",
    defaults={"text_config": {}, "vision_config": {}},
)
