"""Model type modernvbert: text_config, vision_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="modernvbert",
    types={"modernvbert": {}},
    rows=(
        Include("text_config", "model.text_model.", head="Model", default_type="modernbert"),
        Include(
            "vision_config", "model.vision_model.", tower="vision", head="Model", default_type="siglip_vision_model"
        ),
        Row(
            "modality_projection",
            "model.connector.modality_projection",
            "text_config.hidden_size, vision_config.hidden_size * pixel_shuffle_factor * pixel_shuffle_factor",
            tower="projector",
        ),
        Row(
            "dense",
            "projection_head.dense",
            "text_config.hidden_size, text_config.hidden_size",
            bias="text_config.classifier_bias",
            heads="ForMaskedLM",
            group="feed_forward",
        ),
        Row(
            "projection_head_norm",
            "projection_head.norm",
            "text_config.hidden_size",
            bias="text_config.norm_bias",
            heads="ForMaskedLM",
        ),
        Row(
            "lm_head",
            "lm_head",
            "text_config.vocab_size, text_config.hidden_size",
            heads="ForMaskedLM",
            tied="tie_word_embeddings",
        ),
        Row(
            "lm_head",
            "lm_head",
            "text_config.vocab_size",
            when="text_config.decoder_bias",
            heads="ForMaskedLM",
            leaf="bias",
        ),
        Row(
            "head_dense",
            "head.dense",
            "text_config.hidden_size, text_config.hidden_size",
            heads="ForSequenceClassification ForTokenClassification",
        ),
        Row(
            "head_norm",
            "head.norm",
            "text_config.hidden_size",
            heads="ForSequenceClassification ForTokenClassification",
        ),
        Row(
            "classifier",
            "classifier",
            "num_labels, text_config.hidden_size",
            bias="True",
            heads="ForSequenceClassification ForTokenClassification",
        ),
    ),
    prefix="model.",
    defaults={
        "pixel_shuffle_factor": 4,
        "text_config": {
            "classifier_bias": False,
            "decoder_bias": True,
            "hidden_size": 768,
            "norm_bias": False,
            "vocab_size": 50368,
        },
        "tie_word_embeddings": False,
        "vision_config": {"hidden_size": 768},
    },
    head="ForMaskedLM",
)
