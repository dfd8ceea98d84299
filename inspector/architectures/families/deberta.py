"""Model type deberta.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "deberta.encoder.layer.{layer<num_hidden_layers}"

FAMILY = Family(
    name="deberta",
    types={"deberta": {}},
    rows=(
        Row("embed_tokens", "deberta.embeddings.word_embeddings", "vocab_size, hidden_size"),
        Row(
            "embed_positions",
            "deberta.embeddings.position_embeddings",
            "max_position_embeddings, hidden_size",
            when="position_biased_input",
        ),
        Row("embed_norm", "deberta.embeddings.LayerNorm", "hidden_size", bias="True"),
        Row("embed_token_types", "deberta.embeddings.token_type_embeddings", "1, hidden_size", when="type_vocab_size"),
        Row(
            "rel_embeddings",
            "deberta.encoder.rel_embeddings",
            "2 * max_position_embeddings, hidden_size",
            when="relative_attention",
            tower="encoder",
        ),
        Row("o_proj", LAYER + ".attention.output.dense", "hidden_size, hidden_size", bias="True", tower="encoder"),
        Row(
            "q_bias",
            LAYER + ".attention.self.q_bias",
            "hidden_size // num_attention_heads * num_attention_heads",
            tower="encoder",
            leaf="",
            group="attention",
        ),
        Row(
            "v_bias",
            LAYER + ".attention.self.v_bias",
            "hidden_size // num_attention_heads * num_attention_heads",
            tower="encoder",
            leaf="",
            group="attention",
        ),
        Row(
            "in_proj",
            LAYER + ".attention.self.in_proj",
            "3 * (hidden_size // num_attention_heads) * num_attention_heads, hidden_size",
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
        Row("lm_head", "lm_predictions.lm_head", "vocab_size", when="not legacy", heads="ForMaskedLM", leaf="bias"),
        Row(
            "mlm_dense",
            "lm_predictions.lm_head.dense",
            "hidden_size, hidden_size",
            bias="True",
            when="not legacy",
            heads="ForMaskedLM",
        ),
        Row(
            "LayerNorm",
            "lm_predictions.lm_head.LayerNorm",
            "hidden_size",
            bias="True",
            when="not legacy",
            heads="ForMaskedLM",
            group="norm",
        ),
        Row("mlm_bias", "cls.predictions", "vocab_size", when="legacy", heads="ForMaskedLM", leaf="bias"),
        Row(
            "dense_mlm_dense",
            "cls.predictions.transform.dense",
            "hidden_size, hidden_size",
            bias="True",
            when="legacy",
            heads="ForMaskedLM",
            group="head",
        ),
        Row(
            "mlm_norm",
            "cls.predictions.transform.LayerNorm",
            "hidden_size",
            bias="True",
            when="legacy",
            heads="ForMaskedLM",
        ),
        Row("qa_outputs", "qa_outputs", "num_labels, hidden_size", bias="True", heads="ForQuestionAnswering"),
        Row(
            "pooler",
            "pooler.dense",
            "pooler_hidden_size, pooler_hidden_size",
            bias="True",
            heads="ForSequenceClassification",
        ),
        Row(
            "classifier",
            "classifier",
            "num_labels, hidden_size",
            bias="True",
            heads="ForSequenceClassification ForTokenClassification",
        ),
        Row(
            "lm_head",
            "cls.predictions.decoder",
            "vocab_size, hidden_size",
            bias="True",
            when="legacy",
            heads="ForMaskedLM",
            tied="tie_word_embeddings",
            tower="decoder",
        ),
    ),
    prefix="deberta.",
    defaults={
        "hidden_size": 768,
        "intermediate_size": 3072,
        "legacy": True,
        "max_position_embeddings": 512,
        "num_attention_heads": 12,
        "num_hidden_layers": 12,
        "position_biased_input": True,
        "relative_attention": False,
        "tie_word_embeddings": True,
        "type_vocab_size": 0,
        "vocab_size": 50265,
    },
    derived={"pooler_hidden_size": "hidden_size"},
    head="ForMaskedLM",
)
