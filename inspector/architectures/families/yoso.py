"""Model type yoso.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "yoso.encoder.layer.{layer<num_hidden_layers}"

FAMILY = Family(
    name="yoso",
    types={"yoso": {}},
    rows=(
        Row("embed_tokens", "yoso.embeddings.word_embeddings", "vocab_size, hidden_size"),
        Row("embed_positions", "yoso.embeddings.position_embeddings", "max_position_embeddings + 2, hidden_size"),
        Row("embed_token_types", "yoso.embeddings.token_type_embeddings", "type_vocab_size, hidden_size"),
        Row("embed_norm", "yoso.embeddings.LayerNorm", "hidden_size", bias="True"),
        Row("q_proj", LAYER + ".attention.self.query", "hidden_size, hidden_size", bias="True", tower="encoder"),
        Row("k_proj", LAYER + ".attention.self.key", "hidden_size, hidden_size", bias="True", tower="encoder"),
        Row("v_proj", LAYER + ".attention.self.value", "hidden_size, hidden_size", bias="True", tower="encoder"),
        Row("o_proj", LAYER + ".attention.output.dense", "hidden_size, hidden_size", bias="True", tower="encoder"),
        Row(
            "conv",
            LAYER + ".attention.self.conv",
            "num_attention_heads, 1, conv_window, 1",
            when="conv_window is not None",
            tower="encoder",
            group="attention",
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
        Row("pre_classifier", "pre_classifier", "hidden_size, hidden_size", bias="True", heads="ForMultipleChoice"),
        Row("classifier", "classifier", "1, hidden_size", bias="True", heads="ForMultipleChoice"),
        Row("classifier", "classifier", "num_labels, hidden_size", bias="True", heads="ForTokenClassification"),
        Row("qa_outputs", "qa_outputs", "2, hidden_size", bias="True", heads="ForQuestionAnswering"),
        Row(
            "dense",
            "classifier.dense",
            "hidden_size, hidden_size",
            bias="True",
            heads="ForSequenceClassification",
            group="head",
        ),
        Row(
            "out_proj", "classifier.out_proj", "num_labels, hidden_size", bias="True", heads="ForSequenceClassification"
        ),
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
    prefix="yoso.",
    defaults={
        "conv_window": None,
        "hidden_size": 768,
        "intermediate_size": 3072,
        "max_position_embeddings": 4096,
        "num_attention_heads": 12,
        "num_hidden_layers": 12,
        "tie_word_embeddings": True,
        "type_vocab_size": 1,
        "vocab_size": 50265,
    },
    head="ForMaskedLM",
)
