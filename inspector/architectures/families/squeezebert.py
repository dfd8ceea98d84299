"""Model type squeezebert.

Made by tools/zoo from Transformers' own models.
"""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "transformer.encoder.layers.{layer<num_hidden_layers}"

FAMILY = Family(
    name="squeezebert",
    types={"squeezebert": {}},
    rows=(
        Row("embed_tokens", "transformer.embeddings.word_embeddings", "vocab_size, embedding_size"),
        Row("embed_positions", "transformer.embeddings.position_embeddings", "max_position_embeddings, embedding_size"),
        Row("embed_token_types", "transformer.embeddings.token_type_embeddings", "type_vocab_size, embedding_size"),
        Row("embed_norm", "transformer.embeddings.LayerNorm", "hidden_size", bias="True"),
        Row("q_proj", LAYER + ".attention.query", "hidden_size, hidden_size // q_groups, 1", bias="True"),
        Row("k_proj", LAYER + ".attention.key", "hidden_size, hidden_size // k_groups, 1", bias="True"),
        Row("v_proj", LAYER + ".attention.value", "hidden_size, hidden_size // v_groups, 1", bias="True"),
        Row("layernorm", LAYER + ".post_attention.layernorm", "hidden_size", bias="True"),
        Row(
            "intermediate_conv1d",
            LAYER + ".intermediate.conv1d",
            "intermediate_size, hidden_size // intermediate_groups, 1",
            bias="True",
        ),
        Row(
            "output_conv1d", LAYER + ".output.conv1d", "hidden_size, intermediate_size // output_groups, 1", bias="True"
        ),
        Row("output_layernorm", LAYER + ".output.layernorm", "hidden_size", bias="True"),
        Row(
            "conv1d",
            LAYER + ".post_attention.conv1d",
            "hidden_size, hidden_size // post_attention_groups, 1",
            bias="True",
        ),
        Row("pooler", "transformer.pooler.dense", "hidden_size, hidden_size", bias="True"),
        Row("mlm_bias", "cls.predictions", "vocab_size", heads="ForMaskedLM", leaf="bias"),
        Row(
            "mlm_dense", "cls.predictions.transform.dense", "hidden_size, hidden_size", bias="True", heads="ForMaskedLM"
        ),
        Row("mlm_norm", "cls.predictions.transform.LayerNorm", "hidden_size", bias="True", heads="ForMaskedLM"),
        Row("classifier", "classifier", "1, hidden_size", bias="True", heads="ForMultipleChoice"),
        Row(
            "classifier",
            "classifier",
            "num_labels, hidden_size",
            bias="True",
            heads="ForSequenceClassification ForTokenClassification",
        ),
        Row("qa_outputs", "qa_outputs", "num_labels, hidden_size", bias="True", heads="ForQuestionAnswering"),
    ),
    prefix="transformer.",
    defaults={
        "embedding_size": 768,
        "hidden_size": 768,
        "intermediate_groups": 4,
        "intermediate_size": 3072,
        "k_groups": 4,
        "max_position_embeddings": 512,
        "num_hidden_layers": 12,
        "output_groups": 4,
        "post_attention_groups": 1,
        "q_groups": 4,
        "type_vocab_size": 2,
        "v_groups": 4,
        "vocab_size": 30522,
    },
    head="ForMaskedLM",
)
