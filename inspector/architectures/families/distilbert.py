"""Model type distilbert.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "distilbert.transformer.layer.{layer<n_layers}"

FAMILY = Family(
    name="distilbert",
    types={"distilbert": {}},
    rows=(
        Row("embed_tokens", "distilbert.embeddings.word_embeddings", "vocab_size, dim"),
        Row("embed_positions", "distilbert.embeddings.position_embeddings", "max_position_embeddings, dim"),
        Row("embed_norm", "distilbert.embeddings.LayerNorm", "dim", bias="True"),
        Row("q_lin", LAYER + ".attention.q_lin", "dim, dim", bias="True", group="attention"),
        Row("k_lin", LAYER + ".attention.k_lin", "dim, dim", bias="True", group="attention"),
        Row("v_lin", LAYER + ".attention.v_lin", "dim, dim", bias="True", group="attention"),
        Row("out_lin", LAYER + ".attention.out_lin", "dim, dim", bias="True", group="attention"),
        Row("sa_layer_norm", LAYER + ".sa_layer_norm", "dim", bias="True"),
        Row("lin1", LAYER + ".ffn.lin1", "hidden_dim, dim", bias="True", group="feed_forward"),
        Row("lin2", LAYER + ".ffn.lin2", "dim, hidden_dim", bias="True", group="feed_forward"),
        Row("output_layer_norm", LAYER + ".output_layer_norm", "dim", bias="True"),
        Row("vocab_transform", "vocab_transform", "dim, dim", bias="True", heads="ForMaskedLM"),
        Row("vocab_layer_norm", "vocab_layer_norm", "dim", bias="True", heads="ForMaskedLM"),
        Row("vocab_projector", "vocab_projector", "vocab_size, dim", heads="ForMaskedLM", tied="tie_word_embeddings"),
        Row("vocab_projector", "vocab_projector", "vocab_size", heads="ForMaskedLM", leaf="bias"),
        Row(
            "pre_classifier",
            "pre_classifier",
            "dim, dim",
            bias="True",
            heads="ForMultipleChoice ForSequenceClassification",
        ),
        Row("classifier", "classifier", "1, dim", bias="True", heads="ForMultipleChoice"),
        Row(
            "classifier",
            "classifier",
            "num_labels, dim",
            bias="True",
            heads="ForSequenceClassification ForTokenClassification",
        ),
        Row("qa_outputs", "qa_outputs", "num_labels, dim", bias="True", heads="ForQuestionAnswering"),
    ),
    prefix="distilbert.",
    defaults={
        "dim": 768,
        "hidden_dim": 3072,
        "max_position_embeddings": 512,
        "n_layers": 6,
        "tie_word_embeddings": True,
        "vocab_size": 30522,
    },
    fields={"hidden_size": "dim", "num_hidden_layers": "n_layers"},
    head="ForMaskedLM",
)
