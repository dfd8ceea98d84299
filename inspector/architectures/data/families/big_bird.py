"""BigBird: BERT with sparse attention."""

from __future__ import annotations

from inspector.architectures.data.families.shared import bert_cross_attention, bert_layer
from inspector.architectures.table import Family, Row

LAYER = "bert.encoder.layer.{layer<num_hidden_layers}"

FAMILY = Family(
    name="big_bird",
    types={"big_bird": {}},
    rows=(
        Row("embed_tokens", "bert.embeddings.word_embeddings", "vocab_size, hidden_size"),
        Row("embed_positions", "bert.embeddings.position_embeddings", "max_position_embeddings, hidden_size"),
        Row("embed_token_types", "bert.embeddings.token_type_embeddings", "type_vocab_size, hidden_size"),
        Row("embed_norm", "bert.embeddings.LayerNorm", "hidden_size", bias="True"),
        *bert_layer(LAYER, qkv_bias="use_bias"),
        *bert_cross_attention(LAYER, qkv_bias="use_bias"),
        Row(
            "pooler",
            "bert.pooler",
            "hidden_size, hidden_size",
            bias="True",
            heads="ForCausalLM ForMaskedLM ForPreTraining Model ForMultipleChoice ForSequenceClassification ForTokenClassification",
        ),
        Row("mlm_bias", "cls.predictions", "vocab_size", heads="ForCausalLM ForMaskedLM ForPreTraining", leaf="bias"),
        Row(
            "mlm_dense",
            "cls.predictions.transform.dense",
            "hidden_size, hidden_size",
            bias="True",
            heads="ForCausalLM ForMaskedLM ForPreTraining",
        ),
        Row(
            "mlm_norm",
            "cls.predictions.transform.LayerNorm",
            "hidden_size",
            bias="True",
            heads="ForCausalLM ForMaskedLM ForPreTraining",
        ),
        Row("classifier", "classifier", "1, hidden_size", bias="True", heads="ForMultipleChoice"),
        Row("classifier", "classifier", "num_labels, hidden_size", bias="True", heads="ForTokenClassification"),
        Row("nsp_head", "cls.seq_relationship", "2, hidden_size", bias="True", heads="ForPreTraining"),
        Row(
            "up_proj",
            "qa_classifier.intermediate.dense",
            "intermediate_size, hidden_size",
            bias="True",
            heads="ForQuestionAnswering",
        ),
        Row(
            "down_proj",
            "qa_classifier.output.dense",
            "hidden_size, intermediate_size",
            bias="True",
            heads="ForQuestionAnswering",
        ),
        Row(
            "post_feedforward_layernorm",
            "qa_classifier.output.LayerNorm",
            "hidden_size",
            bias="True",
            heads="ForQuestionAnswering",
        ),
        Row(
            "qa_outputs",
            "qa_classifier.qa_outputs",
            "num_labels, hidden_size",
            bias="True",
            heads="ForQuestionAnswering",
        ),
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
            heads="ForCausalLM ForMaskedLM ForPreTraining",
            tied="tie_word_embeddings",
        ),
    ),
    prefix="bert.",
    defaults={
        "add_cross_attention": False,
        "hidden_size": 768,
        "intermediate_size": 3072,
        "max_position_embeddings": 4096,
        "num_hidden_layers": 12,
        "tie_word_embeddings": True,
        "type_vocab_size": 2,
        "use_bias": True,
        "vocab_size": 50358,
    },
)
