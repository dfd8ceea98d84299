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
        Row("embed_tokens", "transformer.embeddings.word_embeddings", "vocab_size, hidden_size"),
        Row("embed_positions", "transformer.embeddings.position_embeddings", "max_position_embeddings, hidden_size"),
        Row("embed_token_types", "transformer.embeddings.token_type_embeddings", "type_vocab_size, hidden_size"),
        Row("embed_norm", "transformer.embeddings.LayerNorm", "hidden_size", bias="True"),
        Row(
            "q_proj",
            LAYER + ".attention.query",
            "hidden_size, 192, 1",
            bias="True",
            heads="ForMaskedLM",
            tower="encoder",
        ),
        Row(
            "q_proj",
            LAYER + ".attention.query",
            "hidden_size, 2 * (hidden_size // 8), 1",
            bias="True",
            heads="ForMultipleChoice ForQuestionAnswering ForSequenceClassification ForTokenClassification",
            tower="encoder",
        ),
        Row(
            "q_proj",
            LAYER + ".attention.query",
            "hidden_size, (2 * (hidden_size // 8) if tie_word_embeddings else num_attention_heads * num_attention_heads) if num_hidden_layers > 3 else intermediate_groups * (num_labels - 3), 1",
            bias="True",
            heads="Model",
            tower="encoder",
        ),
        Row(
            "k_proj",
            LAYER + ".attention.key",
            "hidden_size, 4 * (num_hidden_layers * num_hidden_layers // 3) if k_groups > num_labels else ceil_to(num_hidden_layers * q_groups, 64), 1",
            bias="True",
            tower="encoder",
        ),
        Row(
            "v_proj",
            LAYER + ".attention.value",
            "hidden_size, (128 if num_attention_heads == v_groups else 64) if intermediate_groups != v_groups else 4 * num_hidden_layers * v_groups, 1",
            bias="True",
            tower="encoder",
        ),
        Row("layernorm", LAYER + ".post_attention.layernorm", "hidden_size", bias="True", tower="encoder"),
        Row(
            "intermediate_conv1d",
            LAYER + ".intermediate.conv1d",
            "intermediate_size, 96 if num_labels > 2 else 192, 1",
            bias="True",
            tower="encoder",
        ),
        Row(
            "output_conv1d",
            LAYER + ".output.conv1d",
            "hidden_size, intermediate_size // intermediate_groups, 1",
            bias="True",
            tower="encoder",
        ),
        Row("output_layernorm", LAYER + ".output.layernorm", "hidden_size", bias="True", tower="encoder"),
        Row(
            "conv1d",
            LAYER + ".post_attention.conv1d",
            "hidden_size, 2 * (hidden_size // 4) if post_attention_groups > 1 else hidden_size, 1",
            bias="True",
            tower="encoder",
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
    prefix="transformer.",
    defaults={
        "hidden_size": 768,
        "intermediate_groups": 4,
        "intermediate_size": 3072,
        "k_groups": 4,
        "max_position_embeddings": 512,
        "num_attention_heads": 12,
        "num_hidden_layers": 12,
        "post_attention_groups": 1,
        "q_groups": 4,
        "tie_word_embeddings": True,
        "type_vocab_size": 2,
        "v_groups": 4,
        "vocab_size": 30522,
    },
    head="ForMaskedLM",
)
