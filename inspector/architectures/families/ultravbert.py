"""Model type ultravbert: text_config, vision_config by their own types' tables.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="ultravbert",
    types={"ultravbert": {}},
    rows=(
        Include("text_config", "model.text_model.", head="Model", default_type="ultrabert"),
        Include(
            "vision_config", "model.vision_model.", tower="vision", head="Model", default_type="siglip_vision_model"
        ),
        Row(
            "modality_projection",
            "model.connector.modality_projection",
            "text_config.hidden_size, vision_config.hidden_size * pixel_shuffle_factor * pixel_shuffle_factor",
            tower="projector",
        ),
        Row("norm", "model.connector.norm", "text_config.hidden_size", tower="projector"),
        Row(
            "linear1",
            "head.linear1",
            "text_config.prediction_head_size, text_config.hidden_size",
            heads="ForMaskedLM",
            group="head",
        ),
        Row(
            "linear2",
            "head.linear2",
            "text_config.hidden_size, text_config.prediction_head_size",
            heads="ForMaskedLM",
            group="head",
        ),
        Row(
            "classifier",
            "classifier",
            "num_labels, text_config.hidden_size",
            bias="True",
            heads="ForSequenceClassification ForTokenClassification",
        ),
        Row(
            "decoder",
            "head.decoder",
            "text_config.vocab_size, text_config.hidden_size",
            heads="ForMaskedLM",
            tied="tie_word_embeddings",
            tower="decoder",
            group="head",
        ),
    ),
    prefix="model.",
    defaults={
        "pixel_shuffle_factor": 4,
        "text_config": {"hidden_size": 4096, "prediction_head_size": 768, "vocab_size": 32000},
        "tie_word_embeddings": False,
        "vision_config": {"hidden_size": 768},
    },
    head="ForMaskedLM",
)
