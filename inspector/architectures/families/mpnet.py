"""Model type mpnet.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "mpnet.encoder.layer.{layer<num_hidden_layers}"

FAMILY = Family(
    name="mpnet",
    types={"mpnet": {}},
    rows=(
        Row("embed_tokens", "mpnet.embeddings.word_embeddings", "vocab_size, hidden_size"),
        Row("embed_positions", "mpnet.embeddings.position_embeddings", "max_position_embeddings, hidden_size"),
        Row("embed_norm", "mpnet.embeddings.LayerNorm", "hidden_size", bias="True"),
        Row(
            "q",
            LAYER + ".attention.attn.q",
            "hidden_size, hidden_size",
            bias="True",
            tower="encoder",
            group="attention",
        ),
        Row(
            "k",
            LAYER + ".attention.attn.k",
            "hidden_size, hidden_size",
            bias="True",
            tower="encoder",
            group="attention",
        ),
        Row(
            "v",
            LAYER + ".attention.attn.v",
            "hidden_size, hidden_size",
            bias="True",
            tower="encoder",
            group="attention",
        ),
        Row(
            "o",
            LAYER + ".attention.attn.o",
            "hidden_size, hidden_size",
            bias="True",
            tower="encoder",
            group="attention",
        ),
        Row("LayerNorm", LAYER + ".attention.LayerNorm", "hidden_size", bias="True", tower="encoder", group="norm"),
        Row("up_proj", LAYER + ".intermediate.dense", "intermediate_size, hidden_size", bias="True", tower="encoder"),
        Row("down_proj", LAYER + ".output.dense", "hidden_size, intermediate_size", bias="True", tower="encoder"),
        Row("post_feedforward_layernorm", LAYER + ".output.LayerNorm", "hidden_size", bias="True", tower="encoder"),
        Row(
            "relative_attention_bias",
            "mpnet.encoder.relative_attention_bias",
            "relative_attention_num_buckets, num_attention_heads",
            tower="encoder",
        ),
        Row("lm_head", "lm_head", "vocab_size", heads="ForMaskedLM", leaf="bias"),
        Row("mlm_dense", "lm_head.dense", "hidden_size, hidden_size", bias="True", heads="ForMaskedLM"),
        Row("mlm_norm", "lm_head.layer_norm", "hidden_size", bias="True", heads="ForMaskedLM"),
        Row("pooler", "mpnet.pooler.dense", "hidden_size, hidden_size", bias="True", heads="Model ForMultipleChoice"),
        Row("classifier", "classifier", "1, hidden_size", bias="True", heads="ForMultipleChoice"),
        Row("classifier", "classifier", "num_labels, hidden_size", bias="True", heads="ForTokenClassification"),
        Row("qa_outputs", "qa_outputs", "num_labels, hidden_size", bias="True", heads="ForQuestionAnswering"),
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
            "lm_head.decoder",
            "vocab_size, hidden_size",
            bias="True",
            heads="ForMaskedLM",
            tied="tie_word_embeddings",
            tower="decoder",
        ),
    ),
    prefix="mpnet.",
    defaults={
        "hidden_size": 768,
        "intermediate_size": 3072,
        "max_position_embeddings": 512,
        "num_attention_heads": 12,
        "num_hidden_layers": 12,
        "relative_attention_num_buckets": 32,
        "tie_word_embeddings": True,
        "vocab_size": 30527,
    },
    head="ForMaskedLM",
)
