"""Model type electra.

Its embeddings are projected where they are narrower than its layers.
"""

from __future__ import annotations

from inspector.architectures.data.families.shared import SUMMARY_DEFAULTS, summary
from inspector.architectures.table import Family, Row

LAYER = "electra.encoder.layer.{layer<num_hidden_layers}"

FAMILY = Family(
    name="electra",
    types={"electra": {}},
    rows=(
        Row("embed_tokens", "electra.embeddings.word_embeddings", "vocab_size, embedding_size"),
        Row("embed_positions", "electra.embeddings.position_embeddings", "max_position_embeddings, embedding_size"),
        Row("embed_token_types", "electra.embeddings.token_type_embeddings", "type_vocab_size, embedding_size"),
        Row("embed_norm", "electra.embeddings.LayerNorm", "embedding_size", bias="True"),
        Row(
            "embeddings_project",
            "electra.embeddings_project",
            "hidden_size, embedding_size",
            bias="True",
            when="embedding_size != hidden_size",
        ),
        Row(
            "q_proj",
            LAYER + ".attention.self.query",
            "hidden_size // num_attention_heads * num_attention_heads, hidden_size",
            bias="True",
        ),
        Row(
            "k_proj",
            LAYER + ".attention.self.key",
            "hidden_size // num_attention_heads * num_attention_heads, hidden_size",
            bias="True",
        ),
        Row(
            "v_proj",
            LAYER + ".attention.self.value",
            "hidden_size // num_attention_heads * num_attention_heads, hidden_size",
            bias="True",
        ),
        Row("o_proj", LAYER + ".attention.output.dense", "hidden_size, hidden_size", bias="True"),
        Row(
            "cross_q_proj",
            LAYER + ".crossattention.self.query",
            "hidden_size // num_attention_heads * num_attention_heads, hidden_size",
            bias="True",
            when="add_cross_attention",
        ),
        Row(
            "cross_k_proj",
            LAYER + ".crossattention.self.key",
            "hidden_size // num_attention_heads * num_attention_heads, hidden_size",
            bias="True",
            when="add_cross_attention",
        ),
        Row(
            "cross_v_proj",
            LAYER + ".crossattention.self.value",
            "hidden_size // num_attention_heads * num_attention_heads, hidden_size",
            bias="True",
            when="add_cross_attention",
        ),
        Row(
            "cross_down_proj",
            LAYER + ".crossattention.output.dense",
            "hidden_size, hidden_size",
            bias="True",
            when="add_cross_attention",
        ),
        Row(
            "cross_post_feedforward_layernorm",
            LAYER + ".crossattention.output.LayerNorm",
            "hidden_size",
            bias="True",
            when="add_cross_attention",
        ),
        Row("post_attention_layernorm", LAYER + ".attention.output.LayerNorm", "hidden_size", bias="True"),
        Row("up_proj", LAYER + ".intermediate.dense", "intermediate_size, hidden_size", bias="True"),
        Row("down_proj", LAYER + ".output.dense", "hidden_size, intermediate_size", bias="True"),
        Row("post_feedforward_layernorm", LAYER + ".output.LayerNorm", "hidden_size", bias="True"),
        Row(
            "LayerNorm",
            "generator_predictions.LayerNorm",
            "embedding_size",
            bias="True",
            heads="ForCausalLM ForMaskedLM",
            group="norm",
        ),
        Row(
            "dense",
            "generator_predictions.dense",
            "embedding_size, hidden_size",
            bias="True",
            heads="ForCausalLM ForMaskedLM",
            group="head",
        ),
        Row(
            "lm_head",
            "generator_lm_head",
            "vocab_size, embedding_size",
            heads="ForCausalLM ForMaskedLM",
            tied="tie_word_embeddings",
        ),
        Row("lm_head", "generator_lm_head", "vocab_size", heads="ForCausalLM ForMaskedLM", leaf="bias"),
        summary("sequence_summary", "hidden_size", "ForMultipleChoice"),
        Row("classifier", "classifier", "1, hidden_size", bias="True", heads="ForMultipleChoice"),
        Row("classifier", "classifier", "num_labels, hidden_size", bias="True", heads="ForTokenClassification"),
        Row(
            "discriminator_predictions_dense",
            "discriminator_predictions.dense",
            "hidden_size, hidden_size",
            bias="True",
            heads="ForPreTraining",
            group="head",
        ),
        Row(
            "dense_prediction",
            "discriminator_predictions.dense_prediction",
            "1, hidden_size",
            bias="True",
            heads="ForPreTraining",
            group="head",
        ),
        Row("qa_outputs", "qa_outputs", "num_labels, hidden_size", bias="True", heads="ForQuestionAnswering"),
        Row(
            "classifier_dense",
            "classifier.dense",
            "hidden_size, hidden_size",
            bias="True",
            heads="ForSequenceClassification",
        ),
        Row(
            "out_proj", "classifier.out_proj", "num_labels, hidden_size", bias="True", heads="ForSequenceClassification"
        ),
    ),
    prefix="electra.",
    defaults={
        **SUMMARY_DEFAULTS,
        "add_cross_attention": False,
        "embedding_size": 128,
        "hidden_size": 256,
        "intermediate_size": 1024,
        "max_position_embeddings": 512,
        "num_attention_heads": 4,
        "num_hidden_layers": 12,
        "tie_word_embeddings": True,
        "type_vocab_size": 2,
        "vocab_size": 30522,
    },
)
