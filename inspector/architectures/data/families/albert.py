"""ALBERT: one layer's weights for all layers, and embeddings narrower than the layers."""

from __future__ import annotations

from inspector.architectures.table import Family, Row

ENCODER_ALBERT_LAYER_GROUPS = "albert.encoder.albert_layer_groups.{layer<num_hidden_groups}"
ALBERT_LAYER_GROUPS_ALBERT_LAYERS = (
    "albert.encoder.albert_layer_groups.{layer<num_hidden_groups}.albert_layers.{albert_layer<inner_group_num}"
)

FAMILY = Family(
    name="albert",
    types={"albert": {}},
    rows=(
        Row("embed_tokens", "albert.embeddings.word_embeddings", "vocab_size, embedding_size"),
        Row("embed_positions", "albert.embeddings.position_embeddings", "max_position_embeddings, embedding_size"),
        Row("embed_token_types", "albert.embeddings.token_type_embeddings", "type_vocab_size, embedding_size"),
        Row("embed_norm", "albert.embeddings.LayerNorm", "embedding_size", bias="True"),
        Row(
            "embedding_hidden_mapping_in",
            "albert.encoder.embedding_hidden_mapping_in",
            "hidden_size, embedding_size",
            bias="True",
            tower="encoder",
        ),
        Row(
            "q_proj",
            ALBERT_LAYER_GROUPS_ALBERT_LAYERS + ".attention.query",
            "hidden_size // num_attention_heads * num_attention_heads, hidden_size",
            bias="True",
            tower="encoder",
        ),
        Row(
            "k_proj",
            ALBERT_LAYER_GROUPS_ALBERT_LAYERS + ".attention.key",
            "hidden_size // num_attention_heads * num_attention_heads, hidden_size",
            bias="True",
            tower="encoder",
        ),
        Row(
            "v_proj",
            ALBERT_LAYER_GROUPS_ALBERT_LAYERS + ".attention.value",
            "hidden_size // num_attention_heads * num_attention_heads, hidden_size",
            bias="True",
            tower="encoder",
        ),
        Row(
            "o_proj",
            ALBERT_LAYER_GROUPS_ALBERT_LAYERS + ".attention.dense",
            "hidden_size, hidden_size",
            bias="True",
            tower="encoder",
        ),
        Row(
            "full_layer_layer_norm",
            ALBERT_LAYER_GROUPS_ALBERT_LAYERS + ".full_layer_layer_norm",
            "hidden_size",
            bias="True",
            tower="encoder",
        ),
        Row(
            "LayerNorm",
            ALBERT_LAYER_GROUPS_ALBERT_LAYERS + ".attention.LayerNorm",
            "hidden_size",
            bias="True",
            tower="encoder",
            group="norm",
        ),
        Row(
            "ffn",
            ALBERT_LAYER_GROUPS_ALBERT_LAYERS + ".ffn",
            "intermediate_size, hidden_size",
            bias="True",
            tower="encoder",
        ),
        Row(
            "ffn_output",
            ALBERT_LAYER_GROUPS_ALBERT_LAYERS + ".ffn_output",
            "hidden_size, intermediate_size",
            bias="True",
            tower="encoder",
        ),
        Row("predictions", "predictions", "vocab_size", heads="ForMaskedLM ForPreTraining", leaf="bias", group="head"),
        Row(
            "LayerNorm",
            "predictions.LayerNorm",
            "embedding_size",
            bias="True",
            heads="ForMaskedLM ForPreTraining",
            group="norm",
        ),
        Row(
            "dense",
            "predictions.dense",
            "embedding_size, hidden_size",
            bias="True",
            heads="ForMaskedLM ForPreTraining",
            group="head",
        ),
        Row(
            "pooler",
            "albert.pooler",
            "hidden_size, hidden_size",
            bias="True",
            heads="ForPreTraining Model ForMultipleChoice ForSequenceClassification",
        ),
        Row("classifier", "classifier", "1, hidden_size", bias="True", heads="ForMultipleChoice"),
        Row(
            "classifier",
            "classifier",
            "num_labels, hidden_size",
            bias="True",
            heads="ForSequenceClassification ForTokenClassification",
        ),
        Row(
            "sop_classifier_classifier",
            "sop_classifier.classifier",
            "num_labels, hidden_size",
            bias="True",
            heads="ForPreTraining",
        ),
        Row("qa_outputs", "qa_outputs", "num_labels, hidden_size", bias="True", heads="ForQuestionAnswering"),
        Row(
            "lm_head",
            "predictions.decoder",
            "vocab_size, embedding_size",
            bias="True",
            heads="ForMaskedLM ForPreTraining",
            tied="tie_word_embeddings",
            tower="decoder",
        ),
    ),
    prefix="albert.",
    defaults={
        "embedding_size": 128,
        "hidden_size": 4096,
        "inner_group_num": 1,
        "intermediate_size": 16384,
        "max_position_embeddings": 512,
        "num_attention_heads": 64,
        "num_hidden_groups": 1,
        "tie_word_embeddings": True,
        "type_vocab_size": 2,
        "vocab_size": 30000,
    },
    head="ForMaskedLM",
)
