"""Model type tapas.

Answers are picked from a table's cells and columns, and added up by a classifier.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "tapas.encoder.layer.{layer<num_hidden_layers}"

FAMILY = Family(
    name="tapas",
    types={"tapas": {}},
    rows=(
        Row("embed_tokens", "tapas.embeddings.word_embeddings", "vocab_size, hidden_size"),
        Row("embed_positions", "tapas.embeddings.position_embeddings", "max_position_embeddings, hidden_size"),
        Row("token_type_embeddings_0", "tapas.embeddings.token_type_embeddings_0", "type_vocab_sizes[0], hidden_size"),
        Row("token_type_embeddings_1", "tapas.embeddings.token_type_embeddings_1", "type_vocab_sizes[1], hidden_size"),
        Row("token_type_embeddings_2", "tapas.embeddings.token_type_embeddings_2", "type_vocab_sizes[1], hidden_size"),
        Row("token_type_embeddings_3", "tapas.embeddings.token_type_embeddings_3", "type_vocab_sizes[3], hidden_size"),
        Row("token_type_embeddings_4", "tapas.embeddings.token_type_embeddings_4", "type_vocab_sizes[1], hidden_size"),
        Row("token_type_embeddings_5", "tapas.embeddings.token_type_embeddings_5", "type_vocab_sizes[1], hidden_size"),
        Row("token_type_embeddings_6", "tapas.embeddings.token_type_embeddings_6", "type_vocab_sizes[-1], hidden_size"),
        Row("embed_norm", "tapas.embeddings.LayerNorm", "hidden_size", bias="True"),
        Row("q_proj", LAYER + ".attention.self.query", "hidden_size, hidden_size", bias="True", tower="encoder"),
        Row("k_proj", LAYER + ".attention.self.key", "hidden_size, hidden_size", bias="True", tower="encoder"),
        Row("v_proj", LAYER + ".attention.self.value", "hidden_size, hidden_size", bias="True", tower="encoder"),
        Row("o_proj", LAYER + ".attention.output.dense", "hidden_size, hidden_size", bias="True", tower="encoder"),
        Row(
            "cross_q_proj",
            LAYER + ".crossattention.self.query",
            "hidden_size, hidden_size",
            bias="True",
            when="add_cross_attention",
            tower="encoder",
        ),
        Row(
            "cross_k_proj",
            LAYER + ".crossattention.self.key",
            "hidden_size, hidden_size",
            bias="True",
            when="add_cross_attention",
            tower="encoder",
        ),
        Row(
            "cross_v_proj",
            LAYER + ".crossattention.self.value",
            "hidden_size, hidden_size",
            bias="True",
            when="add_cross_attention",
            tower="encoder",
        ),
        Row(
            "cross_down_proj",
            LAYER + ".crossattention.output.dense",
            "hidden_size, hidden_size",
            bias="True",
            when="add_cross_attention",
            tower="encoder",
        ),
        Row(
            "cross_post_feedforward_layernorm",
            LAYER + ".crossattention.output.LayerNorm",
            "hidden_size",
            bias="True",
            when="add_cross_attention",
            tower="encoder",
        ),
        Row(
            "post_attention_layernorm",
            LAYER + ".attention.output.LayerNorm",
            "hidden_size",
            bias="True",
            tower="encoder",
        ),
        Row("up_proj", LAYER + ".intermediate.dense", "intermediate_size, hidden_size", bias="True", tower="encoder"),
        Row("down_proj", LAYER + ".output.dense", "hidden_size, intermediate_size", bias="True", tower="encoder"),
        Row("post_feedforward_layernorm", LAYER + ".output.LayerNorm", "hidden_size", bias="True", tower="encoder"),
        Row("mlm_bias", "cls.predictions", "vocab_size", heads="ForMaskedLM", leaf="bias"),
        Row(
            "mlm_dense", "cls.predictions.transform.dense", "hidden_size, hidden_size", bias="True", heads="ForMaskedLM"
        ),
        Row("mlm_norm", "cls.predictions.transform.LayerNorm", "hidden_size", bias="True", heads="ForMaskedLM"),
        Row(
            "pooler",
            "tapas.pooler.dense",
            "hidden_size, hidden_size",
            bias="True",
            heads="Model ForQuestionAnswering ForSequenceClassification",
        ),
        Row("output_weights", "output_weights", "hidden_size", heads="ForQuestionAnswering", leaf="", group="head"),
        Row("output_bias", "output_bias", "", heads="ForQuestionAnswering", leaf="", group="head"),
        Row(
            "column_output_weights",
            "column_output_weights",
            "hidden_size",
            heads="ForQuestionAnswering",
            leaf="",
            group="head",
        ),
        Row("column_output_bias", "column_output_bias", "", heads="ForQuestionAnswering", leaf="", group="head"),
        Row(
            "aggregation_classifier",
            "aggregation_classifier",
            "num_aggregation_labels, hidden_size",
            bias="True",
            when="num_aggregation_labels > 0",
            heads="ForQuestionAnswering",
        ),
        Row("classifier", "classifier", "num_labels, hidden_size", bias="True", heads="ForSequenceClassification"),
        Row(
            "lm_head",
            "cls.predictions.decoder",
            "vocab_size, hidden_size",
            bias="True",
            heads="ForMaskedLM",
            tied="tie_word_embeddings",
            tower="decoder",
        ),
    ),
    prefix="tapas.",
    defaults={
        "num_aggregation_labels": 0,
        "add_cross_attention": False,
        "hidden_size": 768,
        "intermediate_size": 3072,
        "max_position_embeddings": 1024,
        "num_hidden_layers": 12,
        "tie_word_embeddings": True,
        "type_vocab_sizes": [3, 256, 256, 2, 256, 256, 10],
        "vocab_size": 30522,
    },
    head="ForMaskedLM",
)
