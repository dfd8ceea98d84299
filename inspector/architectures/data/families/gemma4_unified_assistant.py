"""Gemma 4's assistants, which guess ahead for a larger model and read its keys and values."""

from __future__ import annotations

from inspector.architectures.table import Family, Include, Row

FAMILY = Family(
    name="gemma4_unified_assistant",
    types={"gemma4_assistant": {"backbone_hidden_size": 1536}, "gemma4_unified_assistant": {}},
    rows=(
        Include("text_config", "model.", strip="model.", head="Model", default_type="gemma4_unified_text"),
        Row("pre_projection", "pre_projection", "text_config.hidden_size, 2 * backbone_hidden_size", group="other"),
        Row("post_projection", "post_projection", "backbone_hidden_size, text_config.hidden_size", group="other"),
        Row(
            "centroids",
            "masked_embedding.centroids",
            "num_centroids, text_config.hidden_size",
            when="use_ordered_embeddings",
            group="embedding",
        ),
        Row(
            "token_ordering",
            "masked_embedding.token_ordering",
            "text_config.vocab_size",
            when="use_ordered_embeddings",
            leaf="",
            buffer=True,
            persistent=True,
        ),
        Row("lm_head", "lm_head", "text_config.vocab_size, text_config.hidden_size", tied="tie_word_embeddings"),
    ),
    defaults={
        "backbone_hidden_size": 3840,
        "num_centroids": 2048,
        "text_config": {"hidden_size": 2304, "vocab_size": 262144},
        "tie_word_embeddings": True,
        "use_ordered_embeddings": False,
    },
)
